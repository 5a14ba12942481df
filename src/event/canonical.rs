//! Canonical bytes: RFC 8785 (JCS), the text that is hashed and signed.
//!
//! Canonical bytes are for hashing, not for sending: RFC 8785 prints the double `1e16` as
//! `10000000000000000`, an integer literal beyond 2^53 - 1, which section 1 refuses anywhere. [`text`]
//! differs from the canonical bytes in these numbers alone, and reads back as the same value.

use super::hex::Hex32;
use super::json::{Json, MAX_INTEGER, Members};
use std::io::Write;

/// Appends the canonical bytes of a value.
pub fn write(value: &Json<'_>, out: &mut Vec<u8>) {
    Writer { out, to_send: false }.value(value);
}

/// The JSON text of an object, fit to be sent: canonical, except that no number that was not written
/// as an integer becomes an integer literal beyond +-(2^53 - 1).
pub fn text(members: &Members<'_>) -> String {
    let mut out = Vec::with_capacity(1024);
    Writer { out: &mut out, to_send: true }.object(members, &[]);
    // The writer appends strings and ASCII, so this is UTF-8.
    String::from_utf8(out).unwrap_or_default()
}

/// Appends the canonical bytes of an object without the members named in `without`.
pub fn write_object(members: &Members<'_>, without: &[&str], out: &mut Vec<u8>) {
    Writer { out, to_send: false }.object(members, without);
}

/// The id of an event: BLAKE3-256 of its canonical bytes without `id` and `sig` (section 1).
///
/// `scratch` is overwritten; passing the same one again saves an allocation an event.
pub fn event_id(members: &Members<'_>, scratch: &mut Vec<u8>) -> Hex32 {
    scratch.clear();
    write_object(members, &["id", "sig"], scratch);
    Hex32(*blake3::hash(scratch).as_bytes())
}

struct Writer<'o> {
    out: &'o mut Vec<u8>,
    to_send: bool,
}

impl Writer<'_> {
    fn value(&mut self, value: &Json<'_>) {
        match value {
            Json::Null => self.out.extend_from_slice(b"null"),
            Json::Bool(true) => self.out.extend_from_slice(b"true"),
            Json::Bool(false) => self.out.extend_from_slice(b"false"),
            Json::Int(i) => self.integer(*i),
            Json::Float(x) => self.float(*x),
            Json::Str(s) => write_string(s, self.out),
            Json::Array(items) => self.array(items),
            Json::Object(members) => self.object(members, &[]),
        }
    }

    fn object(&mut self, members: &Members<'_>, without: &[&str]) {
        self.out.push(b'{');
        let mut first = true;
        for (name, value) in members.iter() {
            if without.contains(&name) {
                continue;
            }
            if !first {
                self.out.push(b',');
            }
            first = false;
            write_string(name, self.out);
            self.out.push(b':');
            self.value(value);
        }
        self.out.push(b'}');
    }

    fn array(&mut self, items: &[Json<'_>]) {
        self.out.push(b'[');
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.out.push(b',');
            }
            self.value(item);
        }
        self.out.push(b']');
    }

    fn integer(&mut self, i: i64) {
        // Within 2^53, ECMAScript prints the digits as they are. Writing to a vector cannot fail.
        let _ = write!(self.out, "{i}");
    }

    fn float(&mut self, x: f64) {
        if self.to_send && x.abs() > MAX_INTEGER as f64 {
            let _ = write!(self.out, "{x:e}");
            return;
        }
        let mut buffer = ryu_js::Buffer::new();
        self.out.extend_from_slice(buffer.format_finite(x).as_bytes());
    }
}

fn write_string(s: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = s.as_bytes();
    while let Some(at) = rest.iter().position(|&b| b < 0x20 || b == b'"' || b == b'\\') {
        out.extend_from_slice(&rest[..at]);
        write_escape(rest[at], out);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

fn write_escape(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        0x08 => b'b',
        0x09 => b't',
        0x0a => b'n',
        0x0c => b'f',
        0x0d => b'r',
        _ => {
            let _ = write!(out, "\\u{byte:04x}");
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}
