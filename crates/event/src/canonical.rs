//! Canonical bytes: RFC 8785 (JCS), the text that is hashed and signed.
//!
//! Every number is within 2^53 - 1 (section 1), so canonical bytes are valid text again: what is sent is
//! what is hashed, with `id` and `sig`.

use super::hex::Hex32;
use super::json::{Json, Members};
use std::io::Write;

/// Appends the canonical bytes of a value.
pub fn write(value: &Json<'_>, out: &mut Vec<u8>) {
    match value {
        Json::Null => out.extend_from_slice(b"null"),
        Json::Bool(true) => out.extend_from_slice(b"true"),
        Json::Bool(false) => out.extend_from_slice(b"false"),
        Json::Int(i) => write_integer(*i, out),
        Json::Float(x) => out.extend_from_slice(ryu_js::Buffer::new().format_finite(*x).as_bytes()),
        Json::Str(s) => write_string(s, out),
        Json::Array(items) => write_array(items, out),
        Json::Object(members) => write_object(members, &[], out),
    }
}

/// The JSON text of an object, as it is sent: its canonical bytes.
pub fn text(members: &Members<'_>) -> String {
    let mut out = Vec::with_capacity(1024);
    write_object(members, &[], &mut out);
    // Strings and ASCII alone were appended, so this is UTF-8.
    String::from_utf8(out).unwrap_or_default()
}

/// Appends the canonical bytes of an object without the members named in `without`.
pub fn write_object(members: &Members<'_>, without: &[&str], out: &mut Vec<u8>) {
    out.push(b'{');
    let mut first = true;
    for (name, value) in members.iter().filter(|(name, _)| !without.contains(name)) {
        if !first {
            out.push(b',');
        }
        first = false;
        write_string(name, out);
        out.push(b':');
        write(value, out);
    }
    out.push(b'}');
}

/// The id of an event: BLAKE3-256 of its canonical bytes without `id` and `sig` (section 1).
///
/// `scratch` is overwritten; passing the same one again saves an allocation an event.
pub fn event_id(members: &Members<'_>, scratch: &mut Vec<u8>) -> Hex32 {
    scratch.clear();
    write_object(members, &["id", "sig"], scratch);
    Hex32(*blake3::hash(scratch).as_bytes())
}

fn write_array(items: &[Json<'_>], out: &mut Vec<u8>) {
    out.push(b'[');
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(b']');
}

fn write_integer(i: i64, out: &mut Vec<u8>) {
    // Within 2^53, ECMAScript prints the digits as they are. Writing to a vector cannot fail.
    let _ = write!(out, "{i}");
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
