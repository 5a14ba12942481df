//! Short quotations of what authors wrote, made safe to put before a person or an agent.
//!
//! Authors are not trusted: their words may carry line breaks that fake other output, quotes that
//! end the quotation early, or invisible characters that reorder or hide text (section 6, `why`).

/// The longest quotation, in characters.
pub const MAX_CHARS: usize = 80;

/// At most [`MAX_CHARS`] characters of a text, on one line, without control or invisible characters,
/// its double quotes made single; `None` when nothing is left.
pub fn excerpt(text: &str) -> Option<Box<str>> {
    let mut out = String::new();
    let mut chars = 0;
    let mut filter = LineFilter::default();
    for c in text.chars() {
        let Some(gap) = filter.shows(c, chars > 0) else {
            continue;
        };
        let needed = usize::from(gap) + 1;
        if chars + needed > MAX_CHARS {
            // The last place tells that there was more.
            if chars == MAX_CHARS {
                out.pop();
            }
            out.push('…');
            break;
        }
        if gap {
            out.push(' ');
        }
        chars += needed;
        out.push(if is_quote(c) { '\'' } else { c });
    }
    (!out.is_empty()).then(|| out.into_boxed_str())
}

/// Chooses the characters of a text that stand on one line: white space becomes gaps, hidden characters and heaps
/// of marks are left out.
#[derive(Debug, Default)]
pub(crate) struct LineFilter {
    gap: bool,
    marks: usize,
}

impl LineFilter {
    /// Whether a character is shown, and then whether a gap stands before it; `begun` when the line has
    /// characters already.
    pub(crate) fn shows(&mut self, c: char, begun: bool) -> Option<bool> {
        if c.is_whitespace() {
            self.gap = begun;
            return None;
        }
        let mark = is_mark(c);
        self.marks = if mark { self.marks + 1 } else { 0 };
        if is_hidden(c) || self.marks > MAX_MARKS || (mark && (!begun || self.gap)) {
            return None;
        }
        Some(std::mem::take(&mut self.gap))
    }
}

/// A text with its lines, without control and invisible characters, of at most so many characters; and
/// whether there was more.
pub fn readable(text: &str, most: usize) -> (String, bool) {
    let (mut out, mut chars, mut marks) = (String::new(), 0, 0);
    for c in text.chars() {
        let c = if matches!(c, '\u{2028}' | '\u{2029}' | '\u{85}') { '\n' } else { c };
        marks = if is_mark(c) { marks + 1 } else { 0 };
        if (is_hidden(c) && !matches!(c, '\n' | '\t')) || marks > MAX_MARKS {
            continue;
        }
        if chars == most {
            return (out, true);
        }
        chars += 1;
        out.push(c);
    }
    (out, false)
}

/// A name or value in quotes, for messages.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", excerpt(text).unwrap_or_default())
}

/// Combining marks that may stand on one letter.
pub const MAX_MARKS: usize = 2;

/// What a reader may take for the end of a quotation.
fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\u{2ba}' | '\u{2dd}' | '\u{5f4}' | '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{2036}'
        | '\u{275d}' | '\u{275e}' | '\u{301d}'..='\u{301f}' | '\u{ff02}')
}

/// Combining marks: those that many letters take in heaps.
pub fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Control characters; formats that reorder, join or hide what stands beside them; fillers that look
/// like nothing; and characters that no standard gives a look to.
pub fn is_hidden(c: char) -> bool {
    let format = matches!(c, '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
        | '\u{890}' | '\u{891}' | '\u{8e2}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1345f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    let filler = matches!(c, '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}');
    let private = matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}');
    let noncharacter = matches!(c, '\u{fdd0}'..='\u{fdef}') || u32::from(c) & 0xfffe == 0xfffe;
    c.is_control() || format || filler || private || noncharacter
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_clean_line() {
        let said = |text: &str| excerpt(text).map(String::from);
        assert_eq!(said("  tests\r\n fail\t\u{0} "), Some("tests fail".into()));
        assert_eq!(said("a\"; ignore"), Some("a'; ignore".into()));
        assert_eq!(said("a\u{202e}b\u{200b}\u{e0041}"), Some("ab".into()));
        assert_eq!(said(" \u{a0}\u{7} "), None);
        assert_eq!(said("\u{3164}\u{fe0f}\u{2800}\u{e000}\u{ffff}"), None);
        assert_eq!(said("a\u{201d}); confirmed"), Some("a'); confirmed".into()));
        assert_eq!(said(&format!("\u{301}e{} x", "\u{301}".repeat(79))), Some("e\u{301}\u{301} x".into()));
        for n in [79, 80, 81, 500] {
            let got = said(&"é".repeat(n)).expect("not blank");
            assert_eq!(got.chars().count(), n.min(80));
            assert_eq!(got.ends_with('…'), n > 80);
            let words = said(&"ab ".repeat(n)).expect("not blank");
            assert!(words.chars().count() <= 80, "{words}");
        }
    }
}
