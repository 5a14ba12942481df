//! Events as a person reads them: a status in its colour, what is known, and the author's words made harmless.
//!
//! Authors are not trusted: nothing of theirs is written before it went through [`harmless`] or [`excerpt`].

use anstyle::{AnsiColor, Style};
use indicatif::BinaryBytes;
use serde_json::Value;
use std::fmt::{self, Write};
use std::io::{self, IsTerminal};
use wats_engine::labels::helped_by;
use wats_event::Hex32;
use wats_event::excerpt::{excerpt, readable};
use wats_event::fields::DIGEST;
use wats_model::views::NETWORK_LABEL;

/// What stands out.
pub(super) const HEAD: Style = Style::new().bold();
/// What stands back.
pub(super) const DIM: Style = Style::new().dimmed();

/// What is to be known before the rest.
const LABEL: Style = Style::new().fg_color(Some(anstyle::Color::Ansi(AnsiColor::Yellow)));

/// Digits of an id that are shown: enough to name it to `wats read`.
const DIGITS: usize = 12;
/// Where what belongs to a line begins under it.
const INDENT: &str = "           ";
/// Tags that are shown of an event.
const TAGS: usize = 8;
/// Ids that are shown of what something comes from.
const SOURCES: usize = 4;

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The first digits of an id or a key.
pub(super) fn short(id: &Value) -> &str {
    let digits = text(id).get(..DIGITS).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
    digits.unwrap_or_default()
}

/// A text with nothing in it that a terminal obeys, or that hides or reorders what stands beside it: of control
/// characters line ends stay, and a tab is made spaces.
fn harmless(text: &str) -> String {
    readable(text, usize::MAX).0.replace('\t', "    ")
}

/// A count and what is counted.
pub(super) fn plural(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// The colour of a status; those that say nothing have none.
fn colour(status: &str) -> Style {
    let colour = match status {
        "confirmed" => AnsiColor::Green,
        "contested" => AnsiColor::Red,
        "stale" => AnsiColor::Yellow,
        _ => return Style::new(),
    };
    Style::new().fg_color(Some(colour.into()))
}

/// A line about an event: its status, what it is, what it is about, its id and its author; under it how often it
/// was relied on, and why it is contested.
pub(super) fn headline(out: &mut String, indent: &str, event: &Value) -> fmt::Result {
    head(out, indent, event, &about(event))
}

fn head(out: &mut String, indent: &str, event: &Value, about: &str) -> fmt::Result {
    let status = text(&event["status"]);
    let style = colour(status);
    let kind = match text(&event["kind"]) {
        DIGEST => "digest".to_owned(),
        // Of an extension, whose name its author chose.
        kind => excerpt(kind).unwrap_or_default().into(),
    };
    let known = match &event["knowledge"] {
        Value::String(_) | Value::Bool(true) => format!("{HEAD}knowledge{HEAD:#} "),
        _ => String::new(),
    };
    let about = if about.is_empty() { String::new() } else { format!("{HEAD}{about}{HEAD:#}  ") };
    writeln!(
        out,
        "{indent}{style}{status:<10}{style:#} {kind:<8} {known}{about}{DIM}{} by {}{DIM:#}",
        short(&event["id"]),
        short(&event["author"])
    )?;
    let mut facts: Vec<String> = counts(&event["counts"]);
    let tags = event["tags"].as_array().into_iter().flatten().filter_map(|tag| excerpt(tag.as_str()?));
    facts.extend(tags.take(TAGS).map(|tag| format!("#{tag}")));
    if !facts.is_empty() {
        writeln!(out, "{indent}{INDENT}{DIM}{}{DIM:#}", facts.join(", "))?;
    }
    if let Some(why) = event["why"].as_str().and_then(line) {
        writeln!(out, "{indent}{INDENT}{style}{why}{style:#}")?;
    }
    Ok(())
}

/// One line without hidden characters, of any length.
fn line(text: &str) -> Option<String> {
    let line = harmless(text).replace('\n', " ");
    (!line.trim().is_empty()).then_some(line)
}

/// Tells the label of a network in a line of the node's own, before the results; nothing where it has none. In
/// a pipe the results stand alone, and it goes beside them.
pub(super) fn label(out: &mut String, network: &str, answer: &Value) -> fmt::Result {
    match label_line(network, answer) {
        Some(line) if io::stdout().is_terminal() => writeln!(out, "{LABEL}{line}{LABEL:#}"),
        Some(line) => {
            note(&line);
            Ok(())
        }
        None => Ok(()),
    }
}

/// A line beside what is printed.
pub(super) fn note(line: &str) {
    // Where standard error is closed there is nobody to tell.
    let _ = io::Write::write_fmt(&mut anstream::stderr(), format_args!("note: {line}\n"));
}

/// The same without a line end or a colour.
pub(super) fn label_line(network: &str, answer: &Value) -> Option<String> {
    let told = &answer[NETWORK_LABEL];
    let (label, advice) = (told["label"].as_str()?, told["advice"].as_str()?);
    let most = told["key"].as_str().map(helped_by);
    line(&format!("{network} is {label}: {advice}{}", most.unwrap_or_default()))
}

/// How many voices said what, in words.
fn counts(counts: &Value) -> Vec<String> {
    let word = |name: &str, count: u64| match (name, count) {
        ("accepts", 1) => "accept".to_owned(),
        ("confirmations", 1) => "confirmation".to_owned(),
        ("uses", 1) => "use".to_owned(),
        ("contradictions", 1) => "contradiction".to_owned(),
        ("cites", 1) => "citation or reply".to_owned(),
        ("cites", _) => "citations or replies".to_owned(),
        ("votes_up", 1) => "vote up".to_owned(),
        ("votes_down", 1) => "vote down".to_owned(),
        (name, _) => name.replace('_', " "),
    };
    let all = counts.as_object().into_iter().flatten();
    all.filter_map(|(name, count)| Some((name, count.as_u64().filter(|count| *count > 0)?)))
        .map(|(name, count)| format!("{count} {}", word(name, count)))
        .collect()
}

/// What an event is about: its title, or the first of its words; of a react what it says of which post.
fn about(event: &Value) -> String {
    match text(&event["kind"]) {
        "react" => format!("{} {}{}", says(&event["data"]), short(&event["parent"]), detail(&event["data"])),
        "announce" => {
            let owner = event["data"]["owner"].as_str().and_then(excerpt);
            let owner = owner.map(|owner| format!("owner {owner}"));
            let words = event["text"].as_str().and_then(excerpt).map(String::from);
            owner.into_iter().chain(words).collect::<Vec<_>>().join(": ")
        }
        _ => {
            let words = [&event["title"], &event["text"]];
            words.into_iter().filter_map(Value::as_str).find_map(excerpt).unwrap_or_default().into()
        }
    }
}

/// What a react says.
fn says(data: &Value) -> String {
    let shown = !data["evidence"].is_null();
    let mut all: Vec<&str> = Vec::new();
    all.extend(match (data["value"].as_i64(), shown) {
        (Some(1), true) => Some("confirms"),
        (Some(1), false) => Some("votes for"),
        (Some(-1), true) => Some("contradicts"),
        (Some(-1), false) => Some("votes against"),
        _ => None,
    });
    for (name, word) in [("used", "used"), ("accept", "accepts"), ("still_valid", "renews")] {
        all.extend((data[name] == true).then_some(word));
    }
    let label = data["label"].as_str().and_then(excerpt).unwrap_or_default();
    match (all.is_empty(), label.is_empty()) {
        (false, _) => all.join(", "),
        (true, false) => label.into(),
        (true, true) => "reacts on".to_owned(),
    }
}

/// What a react brings forward.
fn detail(data: &Value) -> String {
    let evidence = &data["evidence"];
    let detail = evidence["detail"].as_str().or(evidence.as_str()).and_then(excerpt);
    detail.map_or_else(String::new, |detail| format!(": {detail}"))
}

/// The words around what was found, with that in bold.
pub(super) fn snippet(out: &mut String, snippet: &Value) -> fmt::Result {
    let words: Vec<char> = text(&snippet["text"]).chars().collect();
    if words.is_empty() {
        return Ok(());
    }
    let part = |from: usize, to: usize| {
        let part: String = words[from..to].iter().collect();
        harmless(&part).replace('\n', " ")
    };
    out.push_str(INDENT);
    let mut at = 0;
    for range in snippet["highlights"].as_array().into_iter().flatten() {
        let place = |n: usize| {
            let place = range[n].as_u64().and_then(|n| usize::try_from(n).ok());
            place.unwrap_or(0).clamp(at, words.len())
        };
        let (from, to) = (place(0), place(1).max(place(0)));
        write!(out, "{}{HEAD}{}{HEAD:#}", part(at, from), part(from, to))?;
        at = to;
    }
    writeln!(out, "{}", part(at, words.len()))
}

/// What an entry comes from, and what to read before a thread.
pub(super) fn sources(out: &mut String, hit: &Value) -> fmt::Result {
    let all = hit["sources"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !all.is_empty() {
        let ids: Vec<&str> = all.iter().take(SOURCES).map(short).collect();
        let more = if all.len() > SOURCES { ", …" } else { "" };
        writeln!(out, "{INDENT}{DIM}of {}{more}{DIM:#}", ids.join(", "))?;
    }
    match hit["read_first"].is_string() {
        true => writeln!(out, "{INDENT}{DIM}read first: {}{DIM:#}", short(&hit["read_first"])),
        false => Ok(()),
    }
}

/// A post with its words and its evidence.
pub(super) fn post(out: &mut String, post: &Value, depth: usize) -> fmt::Result {
    let indent = "  ".repeat(depth);
    let title = post["title"].as_str().and_then(excerpt).unwrap_or_default();
    head(out, &indent, post, &title)?;
    for line in harmless(text(&post["text"])).lines() {
        writeln!(out, "{indent}    {line}")?;
    }
    attachments(out, &indent, post)?;
    for react in post["evidence"].as_array().into_iter().flatten() {
        let data = &react["data"];
        writeln!(out, "{indent}    {DIM}{} {}{}{DIM:#}", short(&react["author"]), says(data), detail(data))?;
        attachments(out, &indent, react)?;
    }
    Ok(())
}

/// The files of an event, by the names that `wats blob get` takes.
fn attachments(out: &mut String, indent: &str, event: &Value) -> fmt::Result {
    for file in event["attachments"].as_array().into_iter().flatten() {
        let Some(blob) = file["blob"].as_str().and_then(Hex32::parse) else { continue };
        let name = file["name"].as_str().and_then(excerpt).map(|name| format!(" {name}"));
        let size = BinaryBytes(file["size"].as_u64().unwrap_or(0));
        writeln!(out, "{indent}    {DIM}file{}, {size}: {blob}{DIM:#}", name.unwrap_or_default())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// What a terminal obeys, what reorders what stands beside it, and what fakes a line of ours.
    const EVIL: &str = "a\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}b\u{9b}31m\r\nconfirmed  ask";

    #[test]
    fn nothing_of_an_author_reaches_the_terminal_as_it_is() {
        let evil = json!({
            "id": "0".repeat(64), "author": "1".repeat(64), "kind": format!("x.{EVIL}"), "title": EVIL, "text": EVIL,
            "tags": [EVIL], "why": EVIL, "status": "contested", "counts": { "uses": 1 },
            "snippet": { "text": EVIL, "highlights": [[1, 3], [2, 900], [7, 5]] },
            "attachments": [{ "blob": "2".repeat(64), "size": 1, "name": EVIL }, { "blob": EVIL }],
            "evidence": [{ "author": EVIL, "data": { "value": 1, "evidence": { "detail": EVIL } } }],
        });
        let react = json!({ "kind": "react", "parent": EVIL, "data": { "label": EVIL, "evidence": EVIL } });
        let announce = json!({ "kind": "announce", "text": EVIL, "data": { "owner": EVIL } });
        let mut out = String::new();
        for event in [&evil, &react, &announce] {
            headline(&mut out, "", event).expect("memory");
        }
        snippet(&mut out, &evil["snippet"]).expect("memory");
        // Whatever a line of ours begins with, no line of an author does.
        let ours = |line: &str| ["contested", " "].iter().any(|start| line.starts_with(start));
        let shown = anstream::adapter::strip_str(&out).to_string();
        assert!(shown.lines().all(ours), "{shown}");
        post(&mut out, &evil, 1).expect("memory");
        // What is left without our own styles.
        let left = out.split("\u{1b}[").enumerate().map(|(n, part)| match (n, part.split_once('m')) {
            (1.., Some((style, rest))) if style.bytes().all(|b| b.is_ascii_digit()) => rest,
            _ => part,
        });
        let left: Vec<&str> = left.collect();
        let left = left.join("");
        assert!(!left.chars().any(|c| c != '\n' && (c.is_control() || c == '\u{202e}')), "{left:?}");
    }

    #[test]
    fn what_a_terminal_obeys_is_gone_and_lines_stay() {
        assert_eq!(harmless("a\r\n\tb\u{1b}[31mred\u{7}\u{9b}2J"), "a\n    b[31mred2J");
        assert_eq!(harmless("x\u{202e}y\u{2066}z\u{200b}\u{e0041}"), "xyz");
        assert_eq!(harmless("a\u{2028}b\u{85}c"), "a\nb\nc");
        assert_eq!(harmless(&format!("e{}", "\u{301}".repeat(50))), "e\u{301}\u{301}");
    }

    #[test]
    fn a_label_is_one_line_of_ours() {
        let told = json!({ "network_label": { "label": "cold", "advice": "vouch", "key": "7".repeat(64) } });
        let line = format!("main is cold: vouch; `wats vouch {}` would help most", "7".repeat(64));
        assert_eq!(label_line("main", &told), Some(line));
        assert_eq!(label_line("main", &json!({ "hits": [] })), None);
        let odd = json!({ "network_label": { "label": "cold", "advice": "vouch" } });
        assert_eq!(label_line("a\u{1b}[2J\nb", &odd).expect("a line"), "a[2J b is cold: vouch");
    }

    #[test]
    fn counts_are_told_as_what_they_count() {
        let all = counts(&json!({ "cites": 1, "uses": 2 }));
        assert_eq!(all, ["1 citation or reply", "2 uses"]);
        assert_eq!(counts(&json!({ "cites": 2 })), ["2 citations or replies"]);
    }

    #[test]
    fn a_react_is_told_in_words() {
        let said = |data: Value| says(&data);
        assert_eq!(said(json!({ "value": 1 })), "votes for");
        assert_eq!(said(json!({ "value": -1, "evidence": "ran it" })), "contradicts");
        assert_eq!(
            said(json!({ "value": 1, "used": true, "accept": true, "evidence": {} })),
            "confirms, used, accepts"
        );
        assert_eq!(said(json!({ "label": "vouch" })), "vouch");
        assert_eq!(said(json!({})), "reacts on");
    }
}
