//! Words out of texts that hold code and several languages; the same for documents and for queries.
//!
//! A text is cut into *chunks*: what stands between white space, brackets and commas. A chunk gives
//!
//! * its *atoms*, each at a position of its own: `std::vec::Vec` has `std`, `vec`, `vec`; `fooBarBaz` and
//!   `foo_bar_baz` have `foo`, `bar`, `baz`; `/usr/lib/x.so` has `usr`, `lib`, `x`, `so`; `E0382` is one;
//! * each identifier of several atoms, joined: `foobarbaz`;
//! * itself as a whole, where it has several identifiers or ends like `c++` and `c#`: `std::vec::vec`,
//!   `no-such-flag`, `1.2.3`.
//!
//! What is written without spaces between words gives single characters, and pairs of neighbours
//! (bigrams), without a dictionary. Case and accents are folded; what is neither letter nor digit
//! separates and is not found.

use std::ops::Range;
use tantivy::tokenizer::{AsciiFoldingFilter, RawTokenizer, TextAnalyzer, TokenStream};
use wats_event::excerpt::is_mark;

/// The longest token in bytes; what is longer is cut, in documents and queries alike.
pub const MAX_TOKEN_BYTES: usize = 80;

/// What a token is of its chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A piece that is not cut further.
    Atom,
    /// An identifier of several atoms.
    Joined,
    /// The whole chunk.
    Whole,
    /// A character of a script without spaces.
    Single,
    /// Two neighbours of a script without spaces.
    Pair,
}

/// A token of a chunk; its text is in [`Chunk`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub form: Form,
    /// Its position among the atoms and characters of the text, from 0.
    pub position: u32,
    /// The bytes of the text that it comes from.
    pub from: Range<usize>,
    text: Range<usize>,
}

/// The tokens of one chunk, in the order of their positions.
#[derive(Debug, Default)]
pub struct Chunk {
    tokens: Vec<Token>,
    folded: String,
}

impl Chunk {
    /// Each token, and its folded text.
    pub fn tokens(&self) -> impl Iterator<Item = (&Token, &str)> {
        self.tokens.iter().map(|token| (token, &self.folded[token.text.clone()]))
    }

    /// One of them.
    pub(super) fn get(&self, at: usize) -> Option<(&Token, &str)> {
        self.tokens.get(at).map(|token| (token, &self.folded[token.text.clone()]))
    }
}

/// Cuts a text, chunk by chunk.
pub struct Scanner {
    at: usize,
    position: u32,
    chunk: Chunk,
    atoms: Vec<Atom>,
    raw: String,
    folding: TextAnalyzer,
}

impl std::fmt::Debug for Scanner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scanner").field("at", &self.at).finish_non_exhaustive()
    }
}

impl Default for Scanner {
    fn default() -> Scanner {
        Scanner {
            at: 0,
            position: 0,
            chunk: Chunk::default(),
            atoms: Vec::new(),
            raw: String::new(),
            folding: TextAnalyzer::builder(RawTokenizer::default()).filter(AsciiFoldingFilter).build(),
        }
    }
}

/// An atom of the chunk in the making.
#[derive(Clone, Debug)]
struct Atom {
    from: Range<usize>,
    folded: Range<usize>,
    /// Whether a new identifier begins here, after which connector.
    begins: Option<Range<usize>>,
}

impl Scanner {
    /// Begins a text.
    pub fn start(&mut self, at: usize) {
        self.at = at;
        self.position = 0;
    }

    /// The next chunk of the text; none at its end.
    pub fn next(&mut self, text: &str) -> Option<&Chunk> {
        let mut chars = text[self.at..].char_indices();
        let skipped = chars.find(|(_, c)| c.is_alphanumeric() && !is_transparent(*c));
        let Some((skip, first)) = skipped else {
            self.at = text.len();
            return None;
        };
        self.at += skip;
        self.chunk.tokens.clear();
        self.chunk.folded.clear();
        match is_dense(first) {
            true => self.dense(text),
            false => self.spaced(text),
        }
        Some(&self.chunk)
    }

    /// The chunk that was found last.
    pub(super) fn chunk(&self) -> &Chunk {
        &self.chunk
    }

    /// A run of a script without spaces.
    fn dense(&mut self, text: &str) {
        let mut last: Option<Token> = None;
        for (offset, c) in text[self.at..].char_indices() {
            let from = self.at + offset..self.at + offset + c.len_utf8();
            if is_transparent(c) {
                continue;
            }
            if !(is_dense(c) && c.is_alphanumeric()) {
                break;
            }
            let begin = self.chunk.folded.len();
            self.chunk.folded.extend(c.to_lowercase());
            let single = Token {
                form: Form::Single,
                position: self.position,
                from: from.clone(),
                text: begin..self.chunk.folded.len(),
            };
            if let Some(last) = last {
                let pair = Token {
                    form: Form::Pair,
                    position: last.position,
                    from: last.from.start..from.end,
                    text: last.text.start..single.text.end,
                };
                self.chunk.tokens.push(pair);
            }
            self.chunk.tokens.push(single.clone());
            self.position += 1;
            last = Some(single);
        }
        self.at = last.map_or(text.len(), |last| last.from.end);
    }

    /// A chunk of a script with spaces.
    fn spaced(&mut self, text: &str) {
        self.atoms.clear();
        let mut begins = Some(self.at..self.at);
        let mut end = self.at;
        loop {
            end = self.word(text, end, begins.take());
            match connector(&text[end..]) {
                Some(0) | None => break,
                Some(gap) => {
                    // An underscore joins, anything else begins another identifier.
                    let joins = text[end..end + gap].bytes().all(|b| b == b'_');
                    begins = (!joins).then_some(end..end + gap);
                    end += gap;
                }
            }
        }
        // `c++`, `c#`: the signs belong to the name.
        let signs = suffix(&text[end..]);
        self.emit(text, end, signs);
        self.at = end + signs;
    }

    /// Reads letters and digits, cutting where the case changes; where they end.
    fn word(&mut self, text: &str, start: usize, mut begins: Option<Range<usize>>) -> usize {
        let mut chars = text[start..].char_indices().peekable();
        let (mut from, mut end) = (start, text.len());
        let mut before: Option<char> = None;
        self.raw.clear();
        while let Some((offset, c)) = chars.next() {
            if is_transparent(c) {
                continue;
            }
            if !c.is_alphanumeric() || is_dense(c) {
                end = start + offset;
                break;
            }
            let next = chars.peek().map(|(_, c)| *c);
            if before.is_some_and(|before| case_cuts(before, c, next)) {
                self.atom(from..start + offset, begins.take());
                from = start + offset;
            }
            if c.is_ascii() {
                self.raw.push(c.to_ascii_lowercase());
            } else {
                // Marks that lower case brings along are dropped too: `İ`.
                self.raw.extend(c.to_lowercase().filter(|c| !is_mark(*c)).map(plain));
            }
            before = Some(c);
        }
        self.atom(from..end, begins);
        end
    }

    /// Takes what was read as an atom.
    fn atom(&mut self, from: Range<usize>, begins: Option<Range<usize>>) {
        let begin = self.chunk.folded.len();
        if self.raw.is_ascii() {
            self.chunk.folded.push_str(&self.raw);
        } else {
            let mut stream = self.folding.token_stream(&self.raw);
            while stream.advance() {
                // Some signs are folded to several characters, `⑴` to `(1)`.
                let kept = stream.token().text.chars().filter(|c| c.is_alphanumeric());
                self.chunk.folded.extend(kept.map(|c| c.to_ascii_lowercase()));
            }
        }
        self.raw.clear();
        if self.chunk.folded.len() > begin {
            self.atoms.push(Atom { from, folded: begin..self.chunk.folded.len(), begins });
        }
    }

    /// The tokens of the atoms that were read.
    fn emit(&mut self, text: &str, end: usize, signs: usize) {
        let (start, first) = (self.at, self.position);
        let identifiers = self.atoms.iter().filter(|atom| atom.begins.is_some()).count();
        if identifiers > 1 || signs > 0 {
            let begin = self.chunk.folded.len();
            for (n, atom) in self.atoms.iter().enumerate() {
                if let Some(connector) = atom.begins.clone().filter(|_| n > 0) {
                    self.chunk.folded.push_str(&text[connector]);
                }
                self.chunk.folded.extend_from_within(atom.folded.clone());
            }
            self.chunk.folded.push_str(&text[end..end + signs]);
            self.push(Form::Whole, first, start..end + signs, begin..self.chunk.folded.len());
        }
        let atoms = std::mem::take(&mut self.atoms);
        let mut rest = atoms.as_slice();
        while let Some(atom) = rest.first() {
            let joined = 1 + rest[1..].iter().take_while(|atom| atom.begins.is_none()).count();
            if joined > 1 {
                // The atoms of an identifier lie side by side in the folded text.
                let (from, to) = (atom, &rest[joined - 1]);
                let (source, folded) = (from.from.start..to.from.end, from.folded.start..to.folded.end);
                self.push(Form::Joined, self.position, source, folded);
            }
            for atom in &rest[..joined] {
                self.push(Form::Atom, self.position, atom.from.clone(), atom.folded.clone());
                self.position += 1;
            }
            rest = &rest[joined..];
        }
        self.atoms = atoms;
    }

    fn push(&mut self, form: Form, position: u32, from: Range<usize>, mut text: Range<usize>) {
        if text.len() > MAX_TOKEN_BYTES {
            text.end = self.chunk.folded.floor_char_boundary(text.start + MAX_TOKEN_BYTES);
        }
        self.chunk.tokens.push(Token { form, position, from, text });
    }
}

/// Whether an identifier is cut between two characters: `fooBar`, `HTTPServer`.
fn case_cuts(before: char, c: char, next: Option<char>) -> bool {
    c.is_uppercase() && (!before.is_uppercase() || next.is_some_and(char::is_lowercase))
}

/// The length of what joins the identifiers of a chunk, if one follows: `::`, `/`, `.`, `_`.
fn connector(rest: &str) -> Option<usize> {
    let joins = |b: &u8| {
        matches!(
            b,
            b'.' | b':' | b'/' | b'\\' | b'-' | b'_' | b'@' | b'#' | b'+' | b'\'' | b'~' | b'$' | b'%'
        ) || matches!(b, b'&' | b'=' | b'?')
    };
    let gap = rest.bytes().take_while(joins).count();
    let follows = rest[gap..].chars().next()?;
    (follows.is_alphanumeric() && !is_dense(follows)).then_some(gap)
}

/// The signs of a name like `c++` or `f#`.
fn suffix(rest: &str) -> usize {
    let signs = rest.bytes().take_while(|b| matches!(b, b'+' | b'#')).count();
    let ends = rest[signs..].chars().next().is_none_or(|c| !c.is_alphanumeric());
    if ends && signs <= 2 { signs } else { 0 }
}

/// Scripts that put no space between words, and Korean, whose particles hang on its words.
fn is_dense(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17ff}' | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3100}'..='\u{318f}'
        | '\u{31a0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

/// What stands within a word and is not looked at: combining marks, and characters nobody sees.
fn is_transparent(c: char) -> bool {
    is_mark(c)
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{e47}'..='\u{e4e}' | '\u{ec8}'..='\u{ecd}' | '\u{17c9}'..='\u{17d3}')
}

/// Accents of Greek and Cyrillic letters; Latin ones are folded as whole words.
fn plain(c: char) -> char {
    match c {
        'ά' => 'α',
        'έ' => 'ε',
        'ή' => 'η',
        'ί' | 'ϊ' | 'ΐ' => 'ι',
        'ό' => 'ο',
        'ύ' | 'ϋ' | 'ΰ' => 'υ',
        'ώ' => 'ω',
        'ς' => 'σ',
        'ё' => 'е',
        'й' => 'и',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All tokens with their positions.
    fn all(text: &str) -> Vec<(String, u32)> {
        let mut scanner = Scanner::default();
        let mut found = Vec::new();
        while let Some(chunk) = scanner.next(text) {
            found.extend(chunk.tokens().map(|(token, folded)| (folded.to_owned(), token.position)));
        }
        found
    }

    fn words(text: &str) -> Vec<String> {
        all(text).into_iter().map(|(word, _)| word).collect()
    }

    #[test]
    fn code_is_found_whole_and_in_parts() {
        assert_eq!(words("fooBarBaz"), ["foobarbaz", "foo", "bar", "baz"]);
        assert_eq!(words("snake_case"), ["snakecase", "snake", "case"]);
        assert_eq!(words("SCREAMING_CASE"), ["screamingcase", "screaming", "case"]);
        assert_eq!(words("HTTPServer"), ["httpserver", "http", "server"]);
        assert_eq!(words("/usr/lib/x.so"), ["usr/lib/x.so", "usr", "lib", "x", "so"]);
        assert_eq!(words("error[E0382]:"), ["error", "e0382"]);
        assert_eq!(words("std::vec::Vec"), ["std::vec::vec", "std", "vec", "vec"]);
        assert_eq!(words("1.2.3"), ["1.2.3", "1", "2", "3"]);
        assert_eq!(words("--no-such-flag"), ["no-such-flag", "no", "such", "flag"]);
        assert_eq!(words("my_mod::fooBar"), ["mymod::foobar", "mymod", "my", "mod", "foobar", "foo", "bar"]);
        assert_eq!(words("__init__ x86_64"), ["init", "x8664", "x86", "64"]);
        assert_eq!(words("0x80070005 ORA-00942"), ["0x80070005", "ora-00942", "ora", "00942"]);
        assert_eq!(words("C++, c# and .NET; g++?"), ["c++", "c", "c#", "c", "and", "net", "g++", "g"]);
    }

    #[test]
    fn positions_are_those_of_atoms() {
        let want = [("fn", 0), ("foobar", 1), ("foo", 1), ("bar", 2), ("works", 3)];
        assert_eq!(all("fn fooBar() works."), want.map(|(word, at)| (word.to_owned(), at)));
    }

    #[test]
    fn sentences_lose_their_punctuation() {
        assert_eq!(words("It fails. (Why?) Don't!"), ["it", "fails", "why", "don't", "don", "t"]);
        assert_eq!(words("foo->bar, a,b"), ["foo", "bar", "a", "b"]);
        assert_eq!(words(" ... !? — «»"), [""; 0]);
    }

    #[test]
    fn case_and_accents_are_folded() {
        assert_eq!(words("Café CAFE\u{301} cafe"), ["cafe", "cafe", "cafe"]);
        assert_eq!(words("Straße Ærø İstanbul"), ["strasse", "aero", "istanbul"]);
        assert_eq!(words("Ёлка ΆΛΦΑ"), ["елка", "αλφα"]);
        assert_eq!(words("pass\u{200b}word"), ["password"]);
    }

    #[test]
    fn scripts_without_spaces_give_pairs() {
        assert_eq!(words("設定の順"), ["設", "設定", "定", "定の", "の", "の順", "順"]);
        assert_eq!(words("猫"), ["猫"]);
        let mixed = all("Rust言語 x");
        let want = [("rust", 0), ("言", 1), ("言語", 1), ("語", 2), ("x", 3)];
        let mut want = want.map(|(word, at)| (word.to_owned(), at)).to_vec();
        want.sort_by_key(|(word, at)| (*at, word.clone()));
        let mut mixed = mixed;
        mixed.sort_by_key(|(word, at)| (*at, word.clone()));
        assert_eq!(mixed, want);
    }

    #[test]
    fn emoji_separate_and_long_tokens_are_cut() {
        assert_eq!(words("ok👍🏽fine 👨‍👩‍👧 \u{fe0f}"), ["ok", "fine"]);
        let long = words(&"é".repeat(500));
        assert_eq!(long, ["e".repeat(MAX_TOKEN_BYTES)]);
        assert!(words(&"я".repeat(500))[0].len() <= MAX_TOKEN_BYTES);
    }

    proptest! {
        #[test]
        fn any_text_is_cut_within_its_bounds(text in any::<String>()) {
            let mut scanner = Scanner::default();
            let mut last = 0;
            while let Some(chunk) = scanner.next(&text) {
                for (token, folded) in chunk.tokens() {
                    prop_assert!(!folded.is_empty() && folded.len() <= MAX_TOKEN_BYTES.max(8));
                    prop_assert!(text.get(token.from.clone()).is_some(), "{token:?}");
                    prop_assert!(token.position >= last);
                    last = token.position;
                }
            }
        }

        #[test]
        fn a_folded_atom_is_its_own_token(text in "\\PC{0,40}") {
            let mut scanner = Scanner::default();
            let mut atoms = Vec::new();
            while let Some(chunk) = scanner.next(&text) {
                let found = chunk.tokens().filter(|(token, _)| token.form == Form::Atom);
                atoms.extend(found.map(|(_, folded)| folded.to_owned()));
            }
            for atom in atoms {
                prop_assert!(words(&atom).contains(&atom), "{atom} -> {:?}", words(&atom));
            }
        }
    }
}
