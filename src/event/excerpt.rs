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
    let mut gap = false;
    for c in text.chars() {
        if c.is_whitespace() {
            gap = chars > 0;
            continue;
        }
        if is_hidden(c) {
            continue;
        }
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
        gap = false;
        chars += needed;
        out.push(if c == '"' { '\'' } else { c });
    }
    (!out.is_empty()).then(|| out.into_boxed_str())
}

/// A name or value in quotes, for messages.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", excerpt(text).unwrap_or_default())
}

/// Control characters, and formats that reorder, join or hide what stands beside them.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
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
        for n in [79, 80, 81, 500] {
            let got = said(&"é".repeat(n)).expect("not blank");
            assert_eq!(got.chars().count(), n.min(80));
            assert_eq!(got.ends_with('…'), n > 80);
            let words = said(&"ab ".repeat(n)).expect("not blank");
            assert!(words.chars().count() <= 80, "{words}");
        }
    }
}
