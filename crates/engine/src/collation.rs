//! Titles in alphabetical order: case and accents count for nothing, nor does what stands before the
//! first letter or digit.

use unicode_normalization::UnicodeNormalization;
use wats_event::excerpt::is_mark;
use wats_model::ids::Initial;

/// The longest title to sort by, in bytes: what is cut is told apart by ids.
pub const MAX_BYTES: usize = 64;

/// A title as it is sorted.
pub fn folded(title: &str) -> String {
    let plain = title.nfkd().filter(|c| !is_mark(*c)).flat_map(char::to_lowercase);
    let mut folded = String::new();
    for c in plain.skip_while(|c| !c.is_alphanumeric()) {
        if folded.len() + c.len_utf8() > MAX_BYTES {
            break;
        }
        folded.push(c);
    }
    folded
}

/// Under which letter or digit it is sorted.
pub fn initial(title: &str) -> Initial {
    Initial(folded(title).chars().next().map_or(0, u32::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_accents_and_signs_count_for_nothing() {
        for (title, want) in [
            ("Étude d'un Cas", "etude d'un cas"),
            ("  \"Cargo\" fails", "cargo\" fails"),
            ("E\u{301}TUDE", "etude"),
            ("①st try", "1st try"),
            ("Ёлка", "елка"),
            ("順序", "順序"),
            ("…!", ""),
        ] {
            assert_eq!(folded(title), want);
            assert_eq!(initial(title).0, want.chars().next().map_or(0, u32::from));
        }
        assert!((MAX_BYTES - 3..=MAX_BYTES).contains(&folded(&"順".repeat(80)).len()));
    }
}
