//! What people type: words, `"phrases"`, `tag:`, `author:`, `kind:`, `thread:`, `-not`, `+must`, `OR`.
//!
//! * A *word* may be in what is found; the more of the words and the rarer they are, the better. At least
//!   one must be there, unless a `+word` or a phrase must.
//! * `"in this order"`: these words, one after the other. `+word` must be there, `-word` must not;
//!   `-"so"` and `-tag:x` work as well. A word that begins with two hyphens is a word: `--release`.
//! * `tag:rust`, `author:` and a key or its first eight or more digits, `kind:ask`, `kind:post`,
//!   `kind:answer`, `kind:digest`, `thread:` and an id. What comes after any other `name:` is text, as in
//!   `std::vec` or `error: no`.
//! * `a OR b`: one of the two must be there. It joins its neighbours alone.
//!
//! There are no wildcards, no expressions and no brackets: no query costs more than its words. Nothing is
//! a syntax error that can be read as text, so that messages of programs can be pasted; what is left is
//! answered with where it is wrong.

use crate::tokenizer::Scanner;
use serde::Serialize;
use wats_event::Hex32;

/// The longest query, in bytes.
pub const MAX_QUERY_BYTES: usize = 2048;
/// The most words, pieces of words included, in one query.
pub const MAX_TERMS: usize = 64;
/// The least digits of a key in `author:`.
pub const MIN_AUTHOR_DIGITS: usize = 8;

/// Why a query cannot be answered, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("the query is wrong at character {}: {what}", at + 1)]
pub struct QueryError {
    /// The character where it is wrong, from 0, at most the length of the query.
    pub at: usize,
    /// The same in bytes.
    pub at_byte: usize,
    /// What is wrong there, and what to do.
    pub what: String,
}

/// Which events are looked for (section 1), as people speak of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An ask.
    Ask,
    /// A post that is no direct reply to the root of a thread.
    Post,
    /// A post that replies directly to the root of its thread. Looked for, digests that do so are answers
    /// too, as answers are posts.
    Answer,
    /// A digest.
    Digest,
}

impl Kind {
    /// Reads the name of a kind.
    pub fn parse(name: &str) -> Option<Kind> {
        match name {
            "ask" => Some(Kind::Ask),
            "post" => Some(Kind::Post),
            "answer" => Some(Kind::Answer),
            "digest" => Some(Kind::Digest),
            _ => None,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Ask => "ask",
            Kind::Post => "post",
            Kind::Answer => "answer",
            Kind::Digest => "digest",
        }
    }
}

/// One thing that is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// A word as it was typed: it may hold several identifiers.
    Word(String),
    /// Words in this order.
    Phrase(String),
    /// A tag.
    Tag(String),
    /// The first digits of a key.
    Author(String),
    /// A kind.
    Kind(Kind),
    /// All of a thread, by the id of its root.
    Thread(Hex32),
}

/// Whether something may, must or must not be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It may.
    May,
    /// It must.
    Must,
    /// It must not.
    Not,
}

/// A part of a query: at least one of the terms is needed, or none may be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// What is needed.
    pub need: Need,
    /// Of what; one term, unless they were joined by `OR`.
    pub terms: Vec<Term>,
}

/// A query that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Its parts.
    pub clauses: Vec<Clause>,
}

/// Reads a query. An empty one, or one of signs alone, has no clauses.
///
/// # Errors
/// Where and why it is wrong.
pub fn parse(text: &str) -> Result<Query, QueryError> {
    if text.len() > MAX_QUERY_BYTES {
        let at = text.floor_char_boundary(MAX_QUERY_BYTES);
        let what = format!("it is of {} bytes, and may be of {MAX_QUERY_BYTES}: leave words out", text.len());
        return Err(wrong(text, at, what));
    }
    let mut reader = Reader { text, at: 0, scanner: Scanner::default(), left: MAX_TERMS };
    let mut query = Query::default();
    // Where an `OR` stands that still wants what comes after it.
    let mut joins: Option<usize> = None;
    while let Some(part) = reader.part()? {
        let (begin, need, term) = match part {
            Part::Or(at) if joins.is_some() || query.clauses.is_empty() => {
                return Err(wrong(
                    text,
                    at,
                    "`OR` joins two terms, and none is before it: take it away, or quote it",
                ));
            }
            Part::Or(at) => {
                joins = Some(at);
                continue;
            }
            Part::Term(begin, need, term) => (begin, need, term),
        };
        if joins.take().is_none() {
            let need = need.unwrap_or(if matches!(term, Term::Word(_)) { Need::May } else { Need::Must });
            query.clauses.push(Clause { need, terms: vec![term] });
            continue;
        }
        match query.clauses.last_mut() {
            Some(last) if need != Some(Need::Not) && last.need != Need::Not => {
                last.need = Need::Must;
                last.terms.push(term);
            }
            _ => return Err(wrong(text, begin, "`OR` joins what may be there: take the `-` away")),
        }
    }
    match joins {
        Some(at) => {
            Err(wrong(text, at, "`OR` joins two terms, and none is after it: take it away, or quote it"))
        }
        None => Ok(query),
    }
}

fn wrong(text: &str, at_byte: usize, what: impl Into<String>) -> QueryError {
    let at = text.get(..at_byte).map_or(0, |before| before.chars().count());
    QueryError { at, at_byte, what: what.into() }
}

enum Part {
    Or(usize),
    Term(usize, Option<Need>, Term),
}

struct Reader<'q> {
    text: &'q str,
    at: usize,
    scanner: Scanner,
    left: usize,
}

impl<'q> Reader<'q> {
    fn rest(&self) -> &'q str {
        &self.text[self.at..]
    }

    fn wrong<T>(&self, at: usize, what: impl Into<String>) -> Result<T, QueryError> {
        Err(wrong(self.text, at, what))
    }

    /// The next part; words without a letter or digit are passed over.
    fn part(&mut self) -> Result<Option<Part>, QueryError> {
        loop {
            self.at += self.rest().len() - self.rest().trim_start().len();
            let begin = self.at;
            if self.rest().is_empty() {
                return Ok(None);
            }
            let need = self.sign();
            if let Some(term) = self.field()? {
                return Ok(Some(Part::Term(begin, need, term)));
            }
            if self.rest().starts_with('"') {
                let phrase = self.quoted()?;
                if self.count(phrase, begin)? == 0 {
                    return self.wrong(
                        begin,
                        "there is no word between the quotes: put one there, or take them away",
                    );
                }
                return Ok(Some(Part::Term(begin, need, Term::Phrase(phrase.to_owned()))));
            }
            let word = self.bare();
            if word == "OR" && need.is_none() {
                return Ok(Some(Part::Or(begin)));
            }
            if self.count(word, begin)? > 0 {
                return Ok(Some(Part::Term(begin, need, Term::Word(word.to_owned()))));
            }
        }
    }

    /// A sign, where something follows it.
    fn sign(&mut self) -> Option<Need> {
        let mut chars = self.rest().chars();
        let need = match chars.next()? {
            '-' => Need::Not,
            '+' => Need::Must,
            _ => return None,
        };
        let follows = chars.next().filter(|c| !c.is_whitespace() && !matches!(c, '-' | '+'))?;
        // `->`, `-=`: not a sign of ours.
        if !(follows.is_alphanumeric() || matches!(follows, '"' | '_' | '.' | '/' | '$')) {
            return None;
        }
        self.at += 1;
        Some(need)
    }

    fn field(&mut self) -> Result<Option<Term>, QueryError> {
        let begin = self.at;
        let fields = ["tag:", "author:", "kind:", "thread:"];
        let Some(field) = fields.into_iter().find(|field| self.rest().starts_with(field)) else {
            return Ok(None);
        };
        // `tag::new` is a path.
        if self.text[begin + field.len()..].starts_with(':') {
            return Ok(None);
        }
        self.at += field.len();
        let at = self.at;
        let value = if self.rest().starts_with('"') { self.quoted()? } else { self.bare() };
        if value.is_empty() {
            return self.wrong(at, format!("`{field}` says nothing: put its value right after the colon"));
        }
        self.spend(1, begin)?;
        let term = match field {
            "tag:" => Term::Tag(value.to_lowercase()),
            "kind:" => match Kind::parse(value) {
                Some(kind) => Term::Kind(kind),
                None => return self.wrong(at, "a kind is `ask`, `post`, `answer` or `digest`"),
            },
            "thread:" => match Hex32::parse(value) {
                Some(root) => Term::Thread(root),
                None => {
                    return self
                        .wrong(at, "a thread is named by the id of its root: 64 lower-case hex digits");
                }
            },
            _ => match is_key_digits(value) {
                true => Term::Author(value.to_owned()),
                false => {
                    let form = "an author is named by a key, or its first 8 or more lower-case hex digits";
                    return self.wrong(at, form);
                }
            },
        };
        Ok(Some(term))
    }

    /// What stands between quotes.
    fn quoted(&mut self) -> Result<&'q str, QueryError> {
        let begin = self.at;
        let inside = &self.text[begin + 1..];
        match inside.find('"') {
            Some(end) => {
                self.at = begin + end + 2;
                Ok(&inside[..end])
            }
            None => self.wrong(begin, "the quote is not closed: close it, or take it away"),
        }
    }

    /// What stands before the next white space.
    fn bare(&mut self) -> &'q str {
        let rest = self.rest();
        let word = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    /// How many words a text has, which count for [`MAX_TERMS`].
    fn count(&mut self, text: &str, at: usize) -> Result<usize, QueryError> {
        self.scanner.start(0);
        let mut words = 0;
        while let Some(chunk) = self.scanner.next(text) {
            let last = chunk.tokens().map(|(token, _)| token.position + 1).max().unwrap_or(0) as usize;
            words = last;
        }
        self.spend(words, at)?;
        Ok(words)
    }

    fn spend(&mut self, words: usize, at: usize) -> Result<(), QueryError> {
        match self.left.checked_sub(words) {
            Some(left) => self.left = left,
            None => return self.wrong(at, format!("here are more than {MAX_TERMS} words: leave some out")),
        }
        Ok(())
    }
}

/// Whether a text is the beginning of a key, long enough to name it.
pub(super) fn is_key_digits(text: &str) -> bool {
    let digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    (MIN_AUTHOR_DIGITS..=64).contains(&text.len()) && text.bytes().all(digit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Vec<(Need, Vec<Term>)> {
        let query = parse(text).expect("a query");
        query.clauses.into_iter().map(|clause| (clause.need, clause.terms)).collect()
    }

    fn word(text: &str) -> Term {
        Term::Word(text.into())
    }

    #[test]
    fn words_phrases_fields_and_signs() {
        use Need::{May, Must, Not};
        assert_eq!(read("linker error"), [(May, vec![word("linker")]), (May, vec![word("error")])]);
        assert_eq!(read(r#""linker error""#), [(Must, vec![Term::Phrase("linker error".into())])]);
        assert_eq!(read("+musl -glibc"), [(Must, vec![word("musl")]), (Not, vec![word("glibc")])]);
        assert_eq!(read(r#"-"a b""#), [(Not, vec![Term::Phrase("a b".into())])]);
        assert_eq!(read("tag:cap:Rust"), [(Must, vec![Term::Tag("cap:rust".into())])]);
        assert_eq!(read(r#"-tag:"two words""#), [(Not, vec![Term::Tag("two words".into())])]);
        assert_eq!(read("kind:ask"), [(Must, vec![Term::Kind(Kind::Ask)])]);
        assert_eq!(read("author:0123abcd"), [(Must, vec![Term::Author("0123abcd".into())])]);
        let id = Hex32([7; 32]);
        assert_eq!(read(&format!("thread:{id}")), [(Must, vec![Term::Thread(id)])]);
        assert_eq!(read("a OR b c"), [(Must, vec![word("a"), word("b")]), (May, vec![word("c")])]);
    }

    #[test]
    fn what_can_be_text_is_text() {
        let text = "--release std::vec error: (foo) && tag::new -> a-b #[derive] 'x' http://a.b/c?d=e or";
        let found = read(text);
        assert!(found.iter().all(|(need, terms)| *need == Need::May && matches!(terms[..], [Term::Word(_)])));
        assert_eq!(found.len(), 10, "{found:?}");
        assert_eq!(read(" \t "), []);
        assert_eq!(read("!!! ?? 👍 - + --"), []);
    }

    #[test]
    fn an_error_says_where_and_what() {
        let at = |text: &str| parse(text).map_err(|e| (e.at, e.at_byte)).expect_err(text);
        assert_eq!(at("é \"never closed"), (2, 3));
        assert_eq!(at("a tag: b"), (6, 6));
        assert_eq!(at("kind:question"), (5, 5));
        assert_eq!(at("x author:0123"), (9, 9));
        assert_eq!(at("author:0123ABCD"), (7, 7));
        assert_eq!(at("thread:abc"), (7, 7));
        assert_eq!(at("OR a"), (0, 0));
        assert_eq!(at("a OR"), (2, 2));
        assert_eq!(at("a OR OR b"), (5, 5));
        assert_eq!(at("a OR -b"), (5, 5));
        assert_eq!(at(r#"a "..." b"#), (2, 2));
        assert_eq!(at(&"ab ".repeat(65)), (192, 192));
        assert_eq!(at(&"é".repeat(2000)), (1024, 2048));
        let message = parse("kind:question").map_err(|e| e.to_string());
        let want = "the query is wrong at character 6: a kind is `ask`, `post`, `answer` or `digest`";
        assert_eq!(message, Err(want.to_owned()));
    }

    /// Pieces that queries are made of, put together at random.
    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("\"".to_owned()),
            Just("-".to_owned()),
            Just("+".to_owned()),
            Just(" ".to_owned()),
            Just("OR".to_owned()),
            Just("tag:".to_owned()),
            Just("author:".to_owned()),
            Just("kind:".to_owned()),
            Just("thread:".to_owned()),
            Just("ask".to_owned()),
            Just("0123abcd".to_owned()),
            "\\PC{0,6}",
            any::<String>(),
        ];
        proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_text_is_a_query_or_wrong_somewhere_in_it(text in pieces()) {
            match parse(&text) {
                Ok(query) => prop_assert!(query.clauses.iter().all(|clause| !clause.terms.is_empty())),
                Err(e) => {
                    prop_assert!(text.is_char_boundary(e.at_byte));
                    prop_assert_eq!(text[..e.at_byte].chars().count(), e.at);
                }
            }
        }
    }
}
