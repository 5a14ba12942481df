//! `bad_field`: the members of section 1's table, each of its type, form and kind, within its limit.

use super::hex::{self, Hex32};
use super::json::{Json, Members};
use super::rules::{Code, Refusal};
use wats_model::ids::Millis;

/// The longest `text`, in bytes of UTF-8.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;
/// The longest `title`, in scalar values.
pub const MAX_TITLE_CHARS: usize = 300;
/// The most `refs`.
pub const MAX_REFS: usize = 64;
/// The most `tags`.
pub const MAX_TAGS: usize = 32;
/// The longest tag, in bytes of UTF-8; an empty one is refused too.
pub const MAX_TAG_BYTES: usize = 64;
/// The most `attachments`.
pub const MAX_ATTACHMENTS: usize = 16;
/// The most addressees, `to`.
pub const MAX_TO: usize = 16;
/// The longest `kind`, in bytes.
pub const MAX_KIND_BYTES: usize = 64;
/// The longest network name.
pub const MAX_NET_BYTES: usize = 64;

/// The extension kind that is post-like.
pub const DIGEST: &str = "x.wearetheswarm.digest";

/// The kinds of section 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `ask`
    Ask,
    /// `post`
    Post,
    /// `react`
    React,
    /// `announce`
    Announce,
    /// `x.wearetheswarm.digest`
    Digest,
    /// Any other `x.*` kind.
    Other,
}

impl Kind {
    /// Reads a kind: one of the four, or `x.` and at least two more labels of `[a-z0-9-]+`, 64 bytes at most.
    pub fn parse(text: &str) -> Option<Kind> {
        match text {
            "ask" => Some(Kind::Ask),
            "post" => Some(Kind::Post),
            "react" => Some(Kind::React),
            "announce" => Some(Kind::Announce),
            DIGEST => Some(Kind::Digest),
            _ => is_extension(text).then_some(Kind::Other),
        }
    }
}

fn is_extension(kind: &str) -> bool {
    let Some(labels) = kind.strip_prefix("x.") else {
        return false;
    };
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-'))
    };
    kind.len() <= MAX_KIND_BYTES && labels.contains('.') && labels.split('.').all(is_label)
}

/// The members of a well-formed event, as far as wats looks at them.
#[derive(Debug)]
pub struct Fields<'j> {
    /// Its network.
    pub net: &'j str,
    /// Its kind.
    pub kind: Kind,
    /// Its author.
    pub author: Hex32,
    /// The author's claim of when, in Unix milliseconds.
    pub created_at: Millis,
    /// The event it replies to or reacts on.
    pub parent: Option<Hex32>,
    /// The root of its thread.
    pub thread: Option<Hex32>,
    /// The events it cites.
    pub refs: Vec<Hex32>,
    /// Its title.
    pub title: Option<&'j str>,
    /// Its text.
    pub text: Option<&'j str>,
    /// Its tags.
    pub tags: Vec<&'j str>,
    /// The blobs of the attachments, in their order, no blob twice.
    pub blobs: Vec<Hex32>,
    /// What its kind holds besides.
    pub data: Option<&'j Members<'j>>,
    /// Its id.
    pub id: Hex32,
    /// Its signature.
    pub sig: [u8; 64],
}

/// Checks every member of the table, and gives them typed.
pub fn check<'j>(event: &'j Members<'j>) -> Result<Fields<'j>, Refusal> {
    if integer(event, "v")? != Some(1) {
        return bad("`v` must be 1");
    }
    let fields = Fields {
        net: network(event)?,
        kind: kind(event)?,
        author: required(hex32(event, "author")?, "author")?,
        created_at: created_at(event)?,
        parent: hex32(event, "parent")?,
        thread: hex32(event, "thread")?,
        refs: list(event, "refs", MAX_REFS, |_, item| item.as_str().and_then(Hex32::parse))?,
        title: limited(event, "title", MAX_TITLE_CHARS, "characters", |s| s.chars().count())?,
        text: limited(event, "text", MAX_TEXT_BYTES, "bytes", str::len)?,
        tags: list(event, "tags", MAX_TAGS, |_, item| {
            item.as_str().filter(|tag| (1..=MAX_TAG_BYTES).contains(&tag.len()))
        })?,
        blobs: attachments(event)?,
        data: object(event, "data")?,
        id: required(hex32(event, "id")?, "id")?,
        sig: signature(event)?,
    };
    list(event, "to", MAX_TO, |_, item| item.as_str().and_then(Hex32::parse))?;
    integer(event, "nonce")?;
    placement(&fields)?;
    Ok(fields)
}

/// Which kinds have a parent, and a thread (section 1's table).
fn placement(fields: &Fields<'_>) -> Result<(), Refusal> {
    let (parent, thread) = (fields.parent.is_some(), fields.thread.is_some());
    match fields.kind {
        Kind::React if !parent => bad("`parent` is missing: a react names what it reacts to"),
        Kind::React if thread => bad("`thread` is not allowed on a react"),
        Kind::Announce if parent => bad("`parent` is not allowed on an announce"),
        Kind::Announce if thread => bad("`thread` is not allowed on an announce"),
        Kind::React | Kind::Announce => Ok(()),
        _ if parent && !thread => bad("`thread` is missing: it goes with `parent`"),
        _ if thread && !parent => bad("`parent` is missing: it goes with `thread`"),
        _ => Ok(()),
    }
}

fn bad<T>(reason: impl Into<std::borrow::Cow<'static, str>>) -> Result<T, Refusal> {
    Refusal::err(Code::BadField, reason)
}

fn required<T>(value: Option<T>, name: &str) -> Result<T, Refusal> {
    value.ok_or_else(|| Refusal::new(Code::BadField, format!("`{name}` is missing")))
}

fn typed<T>(name: &str, wanted: &str, found: &Json<'_>, value: Option<T>) -> Result<Option<T>, Refusal> {
    match value {
        Some(value) => Ok(Some(value)),
        None => bad(format!("`{name}` must be {wanted}, and is {}", describe(found))),
    }
}

/// A value in a message: what kind of value, and which, where that is short.
pub fn describe(value: &Json<'_>) -> String {
    match value {
        Json::Str(s) if s.chars().count() <= 40 => super::excerpt::quoted(s),
        Json::Str(s) => format!("a string of {} bytes", s.len()),
        Json::Int(i) => i.to_string(),
        Json::Bool(b) => b.to_string(),
        other => other.kind().to_owned(),
    }
}

fn integer(event: &Members<'_>, name: &str) -> Result<Option<i64>, Refusal> {
    let Some(value) = event.get(name) else {
        return Ok(None);
    };
    typed(name, "an integer within +-(2^53 - 1)", value, value.as_integer())
}

fn string<'j>(event: &'j Members<'j>, name: &str) -> Result<Option<&'j str>, Refusal> {
    let Some(value) = event.get(name) else {
        return Ok(None);
    };
    typed(name, "a string", value, value.as_str())
}

fn object<'j>(event: &'j Members<'j>, name: &str) -> Result<Option<&'j Members<'j>>, Refusal> {
    match event.get(name) {
        None => Ok(None),
        Some(Json::Object(members)) => Ok(Some(members)),
        Some(other) => typed(name, "an object", other, None),
    }
}

fn hex32(event: &Members<'_>, name: &str) -> Result<Option<Hex32>, Refusal> {
    let Some(value) = event.get(name) else {
        return Ok(None);
    };
    let read = value.as_str().and_then(Hex32::parse);
    typed(name, "64 lower-case hex digits", value, read)
}

fn limited<'j>(
    event: &'j Members<'j>,
    name: &str,
    most: usize,
    unit: &str,
    measure: impl Fn(&str) -> usize,
) -> Result<Option<&'j str>, Refusal> {
    let value = string(event, name)?;
    match value.map(measure) {
        Some(size) if size > most => bad(format!("`{name}` is of {size} {unit}, and may be of {most}")),
        _ => Ok(value),
    }
}

/// Each item of an optional array, read by `read`, which gets its place and the value.
fn list<'j, T>(
    event: &'j Members<'j>,
    name: &str,
    most: usize,
    read: impl Fn(usize, &'j Json<'j>) -> Option<T>,
) -> Result<Vec<T>, Refusal> {
    let items = match event.get(name) {
        None => return Ok(Vec::new()),
        Some(Json::Array(items)) => items,
        Some(other) => return typed(name, "an array", other, None).map(Option::unwrap_or_default),
    };
    if items.len() > most {
        return bad(format!("`{name}` has {} items, and may have {most}", items.len()));
    }
    let form = match name {
        "tags" => "a string of 1 to 64 bytes",
        _ => "64 lower-case hex digits",
    };
    let item = |(place, item)| {
        let named = || format!("`{name}[{place}]` must be {form}, and is {}", describe(item));
        read(place, item).ok_or_else(|| Refusal::new(Code::BadField, named()))
    };
    items.iter().enumerate().map(item).collect()
}

fn network<'j>(event: &'j Members<'j>) -> Result<&'j str, Refusal> {
    let net = required(string(event, "net")?, "net")?;
    match is_network(net) {
        true => Ok(net),
        false => bad("`net` must be 1 to 64 of a-z, 0-9, `.`, `_` and `-`"),
    }
}

/// Whether a text has the form of a network's name.
pub fn is_network(net: &str) -> bool {
    let allowed = |b: u8| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-');
    (1..=MAX_NET_BYTES).contains(&net.len()) && net.bytes().all(allowed)
}

fn kind(event: &Members<'_>) -> Result<Kind, Refusal> {
    let kind = required(string(event, "kind")?, "kind")?;
    Kind::parse(kind).ok_or_else(|| {
        let form = "ask, post, react, announce, or `x.` and two or more labels of a-z, 0-9 and `-`, 64 bytes at most";
        let found = super::excerpt::quoted(kind);
        Refusal::new(Code::BadField, format!("`kind` must be {form}, and is {found}"))
    })
}

fn created_at(event: &Members<'_>) -> Result<Millis, Refusal> {
    let at = required(integer(event, "created_at")?, "created_at")?;
    match u64::try_from(at) {
        Ok(at) => Ok(Millis(at)),
        Err(_) => bad(format!("`created_at` must not be negative, and is {at}")),
    }
}

fn signature(event: &Members<'_>) -> Result<[u8; 64], Refusal> {
    let value = required(event.get("sig"), "sig")?;
    let read = value.as_str().and_then(hex::decode);
    required(typed("sig", "128 lower-case hex digits", value, read)?, "sig")
}

fn attachments(event: &Members<'_>) -> Result<Vec<Hex32>, Refusal> {
    let items = match event.get("attachments") {
        None => return Ok(Vec::new()),
        Some(Json::Array(items)) => items,
        Some(other) => {
            return typed("attachments", "an array", other, None).map(Option::unwrap_or_default);
        }
    };
    if items.len() > MAX_ATTACHMENTS {
        return bad(format!("`attachments` has {} items, and may have {MAX_ATTACHMENTS}", items.len()));
    }
    let mut blobs = Vec::with_capacity(items.len());
    for (place, item) in items.iter().enumerate() {
        let blob = attachment(item).map_err(|refusal| {
            Refusal::new(Code::BadField, format!("`attachments[{place}]`: {}", refusal.reason))
        })?;
        if !blobs.contains(&blob) {
            blobs.push(blob);
        }
    }
    Ok(blobs)
}

/// `{"blob": <blake3 hex>, "size": int, "name": string?, "type": string?}`; unknown members are kept.
fn attachment(item: &Json<'_>) -> Result<Hex32, Refusal> {
    let Json::Object(members) = item else {
        return bad(format!("must be an object, and is {}", describe(item)));
    };
    let blob = required(hex32(members, "blob")?, "blob")?;
    required(integer(members, "size")?, "size")?;
    string(members, "name")?;
    string(members, "type")?;
    Ok(blob)
}
