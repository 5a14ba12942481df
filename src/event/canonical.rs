//! Canonical bytes: RFC 8785 (JCS), the text that is hashed and signed.

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
        Json::Float(x) => write_float(*x, out),
        Json::Str(s) => write_string(s, out),
        Json::Array(items) => write_array(items, out),
        Json::Object(members) => write_object(members, &[], out),
    }
}

/// Appends the canonical bytes of an object without the members named in `without`.
pub fn write_object(members: &Members<'_>, without: &[&str], out: &mut Vec<u8>) {
    out.push(b'{');
    let mut first = true;
    for (name, value) in members.iter() {
        if without.contains(&name) {
            continue;
        }
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

fn write_float(x: f64, out: &mut Vec<u8>) {
    let mut buffer = ryu_js::Buffer::new();
    out.extend_from_slice(buffer.format_finite(x).as_bytes());
}

fn write_string(s: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = s.as_bytes();
    while let Some(at) = rest
        .iter()
        .position(|&b| b < 0x20 || b == b'"' || b == b'\\')
    {
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
