//! The part of a text that shows best why it was found, made safe to put before a person or an agent.

use crate::tokenizer::Scanner;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use wats_event::line::LineWriter;

/// The longest snippet, in characters.
pub const MAX_CHARS: usize = 240;
/// Characters shown before the first word that was found, about.
const LEAD: usize = 40;
/// Words found in a text that are looked at; what follows them is not shown.
const MAX_FOUND: usize = 2_000;

/// A part of a text on one line, without control characters and what reorders or hides text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Snippet {
    /// The words; `…` where something was left out before or after them.
    pub text: String,
    /// The characters of `text` that were looked for: from, and up to, in Unicode scalar values.
    pub highlights: Vec<(usize, usize)>,
}

/// The best part of a text: where most of the words are, of which `words` are the tokens.
pub fn snippet(text: &str, words: &HashSet<String>) -> Snippet {
    let found = find(text, words);
    let start = begin(text, best(&found));
    let mut out = LineWriter::new(MAX_CHARS);
    if start > 0 {
        out.put('…');
    }
    let mut next = found.iter().map(|(range, _)| range).filter(|range| range.end > start).peekable();
    for (offset, c) in text[start..].char_indices() {
        let at = start + offset;
        while next.next_if(|range| range.end <= at).is_some() {}
        let lit = next.peek().is_some_and(|range| range.contains(&at));
        if !out.write(c, lit) {
            break;
        }
    }
    let (text, highlights) = out.done();
    Snippet { text, highlights }
}

/// Where the words are, and which: their ranges go up and do not overlap.
fn find(text: &str, words: &HashSet<String>) -> Vec<(Range<usize>, usize)> {
    let mut found: Vec<(Range<usize>, usize)> = Vec::new();
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut scanner = Scanner::default();
    while found.len() < MAX_FOUND
        && !words.is_empty()
        && let Some(chunk) = scanner.next(text)
    {
        let first = found.len();
        for (token, folded) in chunk.tokens() {
            let Some(word) = words.get(folded) else {
                continue;
            };
            let count = numbers.len();
            let number = *numbers.entry(word.as_str()).or_insert(count);
            // Whole and parts, and pairs of neighbours: together they are one.
            match found[first..].last_mut() {
                Some((last, _)) if token.from.start < last.end => last.end = last.end.max(token.from.end),
                _ => found.push((token.from.clone(), number)),
            }
        }
    }
    found
}

/// The place from which a window shows the most different words, then the most words.
fn best(found: &[(Range<usize>, usize)]) -> usize {
    let mut seen: HashMap<usize, usize> = HashMap::new();
    let (mut to, mut most, mut at) = (0, (0, 0), 0);
    for (from, (range, number)) in found.iter().enumerate() {
        while let Some((next, number)) = found.get(to)
            && next.end <= range.start + MAX_CHARS - LEAD
        {
            *seen.entry(*number).or_default() += 1;
            to += 1;
        }
        let now = (seen.len(), to.saturating_sub(from));
        if now > most {
            (most, at) = (now, range.start);
        }
        if to <= from {
            // A word longer than the window is passed over.
            to = from + 1;
        } else if let Some(count) = seen.get_mut(number) {
            *count -= 1;
            if *count == 0 {
                seen.remove(number);
            }
        }
    }
    at
}

/// Where to begin so that a little is seen before `at`: after white space, where there is some.
fn begin(text: &str, at: usize) -> usize {
    let before = &text[..at];
    let Some((start, _)) = before.char_indices().rev().take(LEAD).last() else {
        return 0;
    };
    if start == 0 {
        return 0;
    }
    let space = text[start..at].char_indices().find(|(_, c)| c.is_whitespace());
    space.map_or(start, |(offset, c)| start + offset + c.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wats_event::excerpt::is_hidden;
    use wats_event::line::line;

    fn words(words: &[&str]) -> HashSet<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// The highlighted parts.
    fn lit(snippet: &Snippet) -> Vec<String> {
        let chars: Vec<char> = snippet.text.chars().collect();
        snippet.highlights.iter().map(|&(from, to)| chars[from..to].iter().collect()).collect()
    }

    #[test]
    fn the_words_are_highlighted() {
        let got = snippet("Use Cargo,\n  or rather `cargo_test`.", &words(&["cargo", "test", "cargotest"]));
        assert_eq!(got.text, "Use Cargo, or rather `cargo_test`.");
        assert_eq!(lit(&got), ["Cargo", "cargo_test"]);
    }

    #[test]
    fn the_best_part_of_a_long_text_is_shown() {
        let text = format!("a linker {} the musl linker fails {}", "word ".repeat(200), "more ".repeat(200));
        let got = snippet(&text, &words(&["musl", "linker"]));
        assert!(got.text.starts_with('…') && got.text.ends_with('…'), "{}", got.text);
        assert!(got.text.contains("the musl linker fails"), "{}", got.text);
        assert_eq!(lit(&got), ["musl", "linker"]);
        assert!(got.text.chars().count() <= MAX_CHARS);
    }

    #[test]
    fn what_hides_or_reorders_is_taken_out() {
        let got = snippet("a\u{202e}b \u{0}\u{7}lin\u{200b}ker\u{e0041}\r\nx", &words(&["linker"]));
        assert_eq!(got.text, "ab linker x");
        assert_eq!(lit(&got), ["linker"]);
        assert_eq!(snippet("", &words(&["x"])), Snippet::default());
        assert_eq!(line(" \u{202e} ", 10), None);
        assert_eq!(line("a  title\nof two lines", 12).as_deref(), Some("a title of…"));
    }

    #[test]
    fn pairs_of_neighbours_are_one_highlight() {
        let got = snippet("これは設定の、順序です", &words(&["設定", "定の", "順序"]));
        assert_eq!(lit(&got), ["設定の", "順序"]);
    }

    proptest! {
        #[test]
        fn any_text_gives_a_clean_snippet(text in any::<String>(), word in "[a-z]{1,2}") {
            let got = snippet(&text, &words(&[&word, "a", "0"]));
            let chars: Vec<char> = got.text.chars().collect();
            prop_assert!(chars.len() <= MAX_CHARS);
            prop_assert!(chars.iter().all(|&c| !is_hidden(c)));
            let mut last = 0;
            for &(from, to) in &got.highlights {
                prop_assert!(last <= from && from < to && to <= chars.len());
                last = to;
            }
        }
    }
}
