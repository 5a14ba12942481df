//! What a generated event says, written as canonical bytes at once.
//!
//! Members are written in the order of RFC 8785 to begin with, so that nothing is sorted or parsed:
//! the id is the hash of the text, and the signed event is the same text with two members put in.

use super::agent::Agent;
use std::borrow::Cow;
use std::io::Write;
use wats_event::canonical;
use wats_event::json::Json;
use wats_event::{Hex32, fields::DIGEST};

/// An event's members, but for those that every event has. What is empty is left out.
#[derive(Clone, Debug, Default)]
pub(super) struct Says<'a> {
    pub kind: &'a str,
    pub attachments: &'a [Attachment],
    pub data: Data<'a>,
    pub nonce: Option<u64>,
    pub parent: Option<Hex32>,
    pub refs: &'a [Hex32],
    pub tags: &'a [&'a str],
    pub text: &'a str,
    pub thread: Option<Hex32>,
    pub title: &'a str,
    pub to: &'a [Hex32],
}

/// A blob that an event attaches.
#[derive(Clone, Debug)]
pub(super) struct Attachment {
    pub blob: Hex32,
    pub size: u64,
    pub name: &'static str,
}

/// `data`, of any kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Data<'a> {
    pub accept: Option<bool>,
    pub evidence: Option<Evidence<'a>>,
    pub label: Option<&'a str>,
    pub owner: Option<&'a str>,
    pub still_valid: Option<bool>,
    pub supersedes: Option<Hex32>,
    pub used: Option<bool>,
    pub value: Option<i8>,
}

/// `data.evidence`, in the shapes that agents give it.
#[derive(Clone, Debug)]
pub(super) enum Evidence<'a> {
    /// The recommended object.
    Object { blob: Option<Hex32>, detail: &'a str, kind: &'a str },
    /// A plain string.
    Text(&'a str),
    /// Canonical JSON of any other shape.
    Raw(&'a str),
}

impl<'a> Says<'a> {
    /// A post-like event that is not a reply.
    pub(crate) fn root(kind: &'a str, title: &'a str, text: &'a str) -> Says<'a> {
        Says { kind, title, text, ..Says::default() }
    }

    /// A post in reply to another event of a thread.
    pub(crate) fn reply(parent: Hex32, thread: Hex32, text: &'a str) -> Says<'a> {
        Says { parent: Some(parent), thread: Some(thread), ..Says::root("post", "", text) }
    }

    /// A digest of sources.
    pub(crate) fn digest(title: &'a str, text: &'a str, refs: &'a [Hex32]) -> Says<'a> {
        Says { refs, ..Says::root(DIGEST, title, text) }
    }

    /// A react on a target.
    pub(crate) fn react(target: Hex32, data: Data<'a>) -> Says<'a> {
        Says { kind: "react", parent: Some(target), data, ..Says::default() }
    }

    /// An announce, with an owner where there is one.
    pub(crate) fn announce(owner: Option<&'a str>, text: &'a str) -> Says<'a> {
        Says { kind: "announce", text, data: Data { owner, ..Data::default() }, ..Says::default() }
    }

    /// Writes the canonical bytes; gives where `id` and `sig` go.
    pub(crate) fn write(&self, net: &str, by: &Agent, created_at: u64, out: &mut Vec<u8>) -> (usize, usize) {
        let mut w = Writer::open(out);
        if !self.attachments.is_empty() {
            w.list("attachments", self.attachments, attachment);
        }
        w.string("author", &by.hex);
        w.plain("created_at", created_at);
        self.data.write(&mut w);
        w.comma();
        let id_at = w.out.len();
        w.first = true;
        w.string("kind", self.kind);
        w.string("net", net);
        w.optional("nonce", self.nonce);
        w.name("parent", self.parent.as_ref());
        if !self.refs.is_empty() {
            w.list("refs", self.refs, quoted);
        }
        w.comma();
        let sig_at = w.out.len();
        w.first = true;
        if !self.tags.is_empty() {
            w.list("tags", self.tags, |tag, out| write_string(tag, out));
        }
        w.text("text", self.text);
        w.name("thread", self.thread.as_ref());
        w.text("title", self.title);
        if !self.to.is_empty() {
            w.list("to", self.to, quoted);
        }
        w.plain("v", 1);
        w.close();
        (id_at, sig_at)
    }
}

impl Data<'_> {
    fn is_empty(&self) -> bool {
        self.accept.is_none()
            && self.evidence.is_none()
            && self.label.is_none()
            && self.owner.is_none()
            && self.still_valid.is_none()
            && self.supersedes.is_none()
            && self.used.is_none()
            && self.value.is_none()
    }

    fn write(&self, event: &mut Writer<'_>) {
        if self.is_empty() {
            return;
        }
        event.member("data");
        let mut w = Writer::open(event.out);
        w.optional("accept", self.accept);
        if let Some(evidence) = &self.evidence {
            w.member("evidence");
            evidence.write(w.out);
        }
        w.text("label", self.label.unwrap_or_default());
        w.text("owner", self.owner.unwrap_or_default());
        w.optional("still_valid", self.still_valid);
        w.name("supersedes", self.supersedes.as_ref());
        w.optional("used", self.used);
        w.optional("value", self.value);
        w.close();
    }
}

impl Evidence<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Evidence::Text(text) => write_string(text, out),
            Evidence::Raw(json) => out.extend_from_slice(json.as_bytes()),
            Evidence::Object { blob, detail, kind } => {
                let mut w = Writer::open(out);
                w.name("blob", blob.as_ref());
                w.text("detail", detail);
                w.text("type", kind);
                w.close();
            }
        }
    }
}

/// Writes an object's members; the caller keeps their order.
struct Writer<'o> {
    out: &'o mut Vec<u8>,
    first: bool,
}

impl<'o> Writer<'o> {
    fn open(out: &'o mut Vec<u8>) -> Writer<'o> {
        out.push(b'{');
        Writer { out, first: true }
    }

    fn close(self) {
        self.out.push(b'}');
    }

    fn comma(&mut self) {
        if !std::mem::take(&mut self.first) {
            self.out.push(b',');
        }
    }

    fn member(&mut self, name: &str) {
        self.comma();
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    fn string(&mut self, name: &str, value: &str) {
        self.member(name);
        write_string(value, self.out);
    }

    /// A string, unless it is empty.
    fn text(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.string(name, value);
        }
    }

    fn plain(&mut self, name: &str, value: impl std::fmt::Display) {
        self.member(name);
        // Writing to a vector cannot fail.
        let _ = write!(self.out, "{value}");
    }

    fn optional(&mut self, name: &str, value: Option<impl std::fmt::Display>) {
        if let Some(value) = value {
            self.plain(name, value);
        }
    }

    fn name(&mut self, name: &str, value: Option<&Hex32>) {
        if let Some(value) = value {
            self.member(name);
            quoted(value, self.out);
        }
    }

    fn list<T>(&mut self, name: &str, items: &[T], write: impl Fn(&T, &mut Vec<u8>)) {
        self.member(name);
        for (i, item) in items.iter().enumerate() {
            self.out.push(if i == 0 { b'[' } else { b',' });
            write(item, self.out);
        }
        self.out.push(b']');
    }
}

fn attachment(of: &Attachment, out: &mut Vec<u8>) {
    let mut w = Writer::open(out);
    w.name("blob", Some(&of.blob));
    w.string("name", of.name);
    w.plain("size", of.size);
    w.string("type", "text/plain");
    w.close();
}

fn quoted(name: &Hex32, out: &mut Vec<u8>) {
    let _ = write!(out, "\"{name}\"");
}

fn write_string(text: &str, out: &mut Vec<u8>) {
    canonical::write(&Json::Str(Cow::Borrowed(text)), out);
}
