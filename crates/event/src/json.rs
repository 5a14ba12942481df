//! A strict reader of I-JSON, made for hostile bytes.
//!
//! A general JSON library would have to be talked out of several habits: it keeps the last of two
//! equal member names, it takes numbers of any size, it replaces lone surrogates or passes them on.
//! This reader is small because it does one thing: it gives a borrowed tree whose objects are already
//! in canonical order, or says at which byte the text stops being I-JSON. Nesting is limited before
//! the first recursive call, and all takes time in proportion to the text.

use std::borrow::Cow;
use std::cmp::Ordering;

/// The largest magnitude of a number, 2^53 - 1 (section 1).
pub const MAX_INTEGER: i64 = (1 << 53) - 1;

/// A JSON value, borrowing from the text where it can.
#[derive(Clone, Debug, PartialEq)]
pub enum Json<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// An integer within [`MAX_INTEGER`], however it is written: `1.0` and `1e0` are 1.
    Int(i64),
    /// A number that is no integer, within [`MAX_INTEGER`].
    Float(f64),
    /// A string, its escapes resolved.
    Str(Cow<'a, str>),
    /// An array.
    Array(Vec<Json<'a>>),
    /// An object.
    Object(Members<'a>),
}

impl Json<'_> {
    /// The value as an integer, judged by value (section 1).
    pub fn as_integer(&self) -> Option<i64> {
        match *self {
            Json::Int(i) => Some(i),
            _ => None,
        }
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::Str(s) => Some(s),
            _ => None,
        }
    }

    /// What kind of value it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Int(_) | Json::Float(_) => "a number",
            Json::Str(_) => "a string",
            Json::Array(_) => "an array",
            Json::Object(_) => "an object",
        }
    }
}

/// The members of an object, in the order of RFC 8785, no name twice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Members<'a>(Vec<(Cow<'a, str>, Json<'a>)>);

impl<'a> Members<'a> {
    /// The member of that name.
    pub fn get(&self, name: &str) -> Option<&Json<'a>> {
        self.position(name).ok().map(|at| &self.0[at].1)
    }

    /// The members, in canonical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json<'a>)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value))
    }

    /// Sets a member, in its place.
    pub fn set(&mut self, name: &'a str, value: Json<'a>) {
        match self.position(name) {
            Ok(at) => self.0[at].1 = value,
            Err(at) => self.0.insert(at, (Cow::Borrowed(name), value)),
        }
    }

    /// Adds a member that comes after all others.
    pub fn push(&mut self, name: Cow<'a, str>, value: Json<'a>) {
        debug_assert!(self.0.last().is_none_or(|(last, _)| utf16_order(last, &name).is_lt()));
        self.0.push((name, value));
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) -> Option<Json<'a>> {
        self.position(name).ok().map(|at| self.0.remove(at).1)
    }

    fn position(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(n, _)| utf16_order(n, name))
    }
}

/// Compares by UTF-16 code units, as RFC 8785 orders member names, without converting.
///
/// The order of UTF-8 bytes is that of code points. It differs from UTF-16 only where one side has a
/// code point above U+FFFF (lead byte F0 and up, which UTF-16 spells with D800..DFFF) and the other
/// one of U+E000..U+FFFF (lead byte EE or EF): lifting these two lead bytes above F4 mends it.
pub fn utf16_order(a: &str, b: &str) -> Ordering {
    let lift = |byte: u8| {
        if matches!(byte, 0xee | 0xef) { byte + 0x10 } else { byte }
    };
    match a.bytes().zip(b.bytes()).find(|(x, y)| x != y) {
        Some((x, y)) => lift(x).cmp(&lift(y)),
        None => a.len().cmp(&b.len()),
    }
}

/// Where and why a text is not I-JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not I-JSON at byte {at}: {what}")]
pub struct JsonError {
    /// The byte, from 0.
    pub at: usize,
    /// What is wrong there.
    pub what: Cow<'static, str>,
}

fn wrong<T>(at: usize, what: impl Into<Cow<'static, str>>) -> Result<T, JsonError> {
    Err(JsonError { at, what: what.into() })
}

/// A text without the white space around it, as JSON knows white space.
pub fn trim(text: &[u8]) -> &[u8] {
    trim_end(trim_start(text))
}

/// A text without the white space before it.
pub fn trim_start(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|&b| !is_space(b)).unwrap_or(text.len());
    &text[start..]
}

/// A text without the white space after it.
pub fn trim_end(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|&b| !is_space(b)).map_or(0, |at| at + 1);
    &text[..end]
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// How deep brackets nest in a text, JSON or not, at most `limit + 1`: in one pass, without a stack.
///
/// Exact for JSON. For a text that is not JSON the number means little, and need not: section 1.1
/// lets a text that is both too deep and not JSON be either.
pub fn depth(text: &[u8], limit: usize) -> usize {
    let (mut now, mut most) = (0usize, 0);
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'{' | b'[' => {
                now += 1;
                most = most.max(now);
                if most > limit {
                    break;
                }
            }
            b'}' | b']' => now = now.saturating_sub(1),
            b'"' => skip_string(&mut bytes),
            _ => {}
        }
    }
    most
}

fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}

/// Reads one I-JSON value that fills the text, nested no deeper than `max_depth`.
///
/// # Errors
/// Says at which byte the text is not I-JSON (or is nested deeper: callers that must tell the two
/// apart ask [`depth`] first).
pub fn parse(text: &[u8], max_depth: usize) -> Result<Json<'_>, JsonError> {
    let text = match std::str::from_utf8(text) {
        Ok(text) => text,
        Err(e) => return wrong(e.valid_up_to(), "invalid UTF-8"),
    };
    if text.starts_with('\u{feff}') {
        return wrong(0, "a byte-order mark");
    }
    whole(Parser::new(text), max_depth)
}

/// Reads a text as editions of the specification before the sixth did: with numbers of any magnitude.
///
/// # Errors
/// As [`parse`].
pub fn parse_of_old(text: &str, max_depth: usize) -> Result<Json<'_>, JsonError> {
    whole(Parser { any_magnitude: true, ..Parser::new(text) }, max_depth)
}

fn whole(mut parser: Parser<'_>, max_depth: usize) -> Result<Json<'_>, JsonError> {
    let value = parser.value(max_depth)?;
    parser.space();
    match parser.peek() {
        None => Ok(value),
        Some(_) => wrong(parser.at, "more text after the value"),
    }
}

/// The text of a member's value as it is written, of a text that [`parse`] reads as an object.
pub fn member_text<'a>(object: &'a str, name: &str, max_depth: usize) -> Option<&'a str> {
    let mut parser = Parser::new(object);
    if !parser.take(b'{') || max_depth == 0 {
        return None;
    }
    loop {
        parser.space();
        let found = parser.peek() == Some(b'"') && parser.string().ok()? == name;
        if !parser.take(b':') {
            return None;
        }
        parser.space();
        let start = parser.at;
        parser.value(max_depth - 1).ok()?;
        if found {
            return Some(&object[start..parser.at]);
        }
        if !parser.take(b',') {
            return None;
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    /// Numbers beyond +-(2^53 - 1) are read too, as long as they are finite.
    any_magnitude: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Parser<'a> {
        Parser { text, bytes: text.as_bytes(), at: 0, any_magnitude: false }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    /// Skips space, then takes `byte` if it is next.
    fn take(&mut self, byte: u8) -> bool {
        self.space();
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn value(&mut self, depth: usize) -> Result<Json<'a>, JsonError> {
        self.space();
        match self.peek() {
            Some(b'{' | b'[') if depth == 0 => wrong(self.at, "nested too deep"),
            Some(b'{') => self.object(depth - 1).map(Json::Object),
            Some(b'[') => self.array(depth - 1).map(Json::Array),
            Some(b'"') => self.string().map(Json::Str),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(_) => wrong(self.at, "a value is expected"),
            None => wrong(self.at, "the text ends where a value is expected"),
        }
    }

    fn word(&mut self, word: &str, value: Json<'a>) -> Result<Json<'a>, JsonError> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return wrong(self.at, "a value is expected");
        }
        self.at += word.len();
        Ok(value)
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Json<'a>>, JsonError> {
        self.at += 1;
        let mut items = Vec::new();
        if self.take(b']') {
            return Ok(items);
        }
        loop {
            items.push(self.value(depth)?);
            if self.take(b']') {
                return Ok(items);
            }
            if !self.take(b',') {
                return wrong(self.at, "`,` or `]` is expected");
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Members<'a>, JsonError> {
        let start = self.at;
        self.at += 1;
        let mut members = Vec::new();
        if self.take(b'}') {
            return Ok(Members(members));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return wrong(self.at, "a member name is expected");
            }
            let name = self.string()?;
            if !self.take(b':') {
                return wrong(self.at, "`:` is expected");
            }
            members.push((name, self.value(depth)?));
            if self.take(b'}') {
                return in_order(start, members);
            }
            if !self.take(b',') {
                return wrong(self.at, "`,` or `}` is expected");
            }
        }
    }

    /// A number: the double nearest to the literal, within +-(2^53 - 1).
    fn number(&mut self) -> Result<Json<'a>, JsonError> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        let leading_zero = self.peek() == Some(b'0');
        if self.digits()? > 1 && leading_zero {
            return wrong(start, "a number with a leading zero");
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        match nearest(&self.text[start..self.at]) {
            Some(x) if self.any_magnitude && x.is_finite() && x.abs() > MAX_INTEGER as f64 => {
                Ok(Json::Float(x))
            }
            Some(x) if x.abs() > MAX_INTEGER as f64 => wrong(start, "a number beyond +-(2^53 - 1)"),
            Some(x) if x.fract() == 0.0 => Ok(Json::Int(x as i64)),
            Some(x) => Ok(Json::Float(x)),
            None => wrong(start, "a number is expected"),
        }
    }

    fn digits(&mut self) -> Result<usize, JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            return wrong(start, "a digit is expected");
        }
        Ok(self.at - start)
    }

    fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        self.at += 1;
        let start = self.at;
        self.plain()?;
        let run = &self.text[start..self.at];
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(run));
        }
        let mut string = String::from(run);
        loop {
            if self.peek() == Some(b'"') {
                self.at += 1;
                return Ok(Cow::Owned(string));
            }
            string.push(self.escape()?);
            let start = self.at;
            self.plain()?;
            string.push_str(&self.text[start..self.at]);
        }
    }

    /// Moves to the next quote or backslash; both are ASCII, so slices end on characters.
    fn plain(&mut self) -> Result<(), JsonError> {
        let rest = &self.bytes[self.at..];
        let stop = rest.iter().position(|&b| b < 0x20 || b == b'"' || b == b'\\');
        self.at += stop.unwrap_or(rest.len());
        match self.peek() {
            Some(b'"' | b'\\') => Ok(()),
            Some(_) => wrong(self.at, "a control character in a string"),
            None => wrong(self.at, "the text ends within a string"),
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let start = self.at;
        self.at += 2;
        let c = match self.bytes.get(start + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(start),
            _ => return wrong(start, "an unknown escape"),
        };
        Ok(c)
    }

    fn unicode_escape(&mut self, start: usize) -> Result<char, JsonError> {
        let mut code = self.four_hex()?;
        if (0xd800..0xdc00).contains(&code) && self.bytes[self.at..].starts_with(b"\\u") {
            self.at += 2;
            let low = self.four_hex()?;
            if (0xdc00..0xe000).contains(&low) {
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            }
        }
        match char::from_u32(code) {
            Some(c) => Ok(c),
            None => wrong(start, "a lone surrogate"),
        }
    }

    fn four_hex(&mut self) -> Result<u32, JsonError> {
        let digits = self.bytes.get(self.at..self.at + 4).unwrap_or_default();
        let mut code = 0;
        for &digit in digits {
            match char::from(digit).to_digit(16) {
                Some(value) => code = code << 4 | value,
                None => return wrong(self.at, "four hex digits are expected"),
            }
        }
        if digits.is_empty() {
            return wrong(self.at, "four hex digits are expected");
        }
        self.at += 4;
        Ok(code)
    }
}

/// The double nearest to a literal, infinite where that is beyond all doubles.
fn nearest(literal: &str) -> Option<f64> {
    let long = literal.split_once(['e', 'E']).filter(|(_, exponent)| exponent.len() > 5);
    long.and_then(|(digits, exponent)| far(digits, exponent)).or_else(|| literal.parse().ok())
}

/// The double nearest to a literal with a long exponent, where its order of magnitude alone tells.
///
/// The standard library reads exponents up to 655359, and of a larger one the first five digits: `e655360` is
/// `e65536` to it. That is infinite too, unless tens of thousands of zeros stand before the exponent. What is left
/// to it here has a smaller one: an event has no room for more zeros.
fn far(digits: &str, exponent: &str) -> Option<f64> {
    let digits = digits.trim_start_matches('-');
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let above = whole.trim_start_matches('0').len();
    let below = fraction.len() - fraction.trim_start_matches('0').len();
    if above == 0 && below == fraction.len() {
        return Some(0.0);
    }
    let size = exponent.trim_start_matches(['+', '-']).trim_start_matches('0');
    let size = if size.is_empty() { 0 } else { size.parse().unwrap_or(i64::MAX / 2) };
    let exponent = if exponent.starts_with('-') { -size } else { size };
    let order = exponent + if above > 0 { above as i64 } else { -(below as i64) };
    match order {
        400.. => Some(f64::INFINITY),
        ..=-400 => Some(0.0),
        _ => None,
    }
}

/// Sorts members canonically, which brings equal names together.
fn in_order<'a>(start: usize, mut members: Vec<(Cow<'a, str>, Json<'a>)>) -> Result<Members<'a>, JsonError> {
    members.sort_unstable_by(|(a, _), (b, _)| utf16_order(a, b));
    match members.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        None => Ok(Members(members)),
        Some(pair) => {
            wrong(start, format!("an object with two members {}", crate::excerpt::quoted(&pair[0].0)))
        }
    }
}
