//! What a generated log holds, counted from its JSON.

use std::collections::{BTreeMap, BTreeSet};
use wats_generate::Plan;

/// What a log is to hold.
pub(crate) const FEATURES: &[&str] = &[
    "announce",
    "owner",
    "shared owner",
    "announce again",
    "ask",
    "tags",
    "to",
    "post",
    "reply",
    "citation",
    "attachment",
    "digest",
    "supersedes",
    "digest as answer",
    "digest without refs",
    "extension",
    "react",
    "vote up",
    "vote down",
    "confirm, text",
    "confirm, artifact",
    "use",
    "use with evidence",
    "accept",
    "accept taken back",
    "use taken back",
    "value taken back",
    "renewal",
    "contradiction, text",
    "contradiction, artifact",
    "contradiction by reply",
    "contradiction that names a post",
    "rebuttal",
    "vouch",
    "vouch by the reader",
    "unvouch",
    "other label",
    "empty evidence",
    "work",
    "blob present",
    "blob absent",
    "copy later",
    "copy earlier",
    "late parent",
    "created long before",
    "created after",
    "authors",
];

/// Counts what a log holds, by the words of [`FEATURES`].
pub(crate) fn features(log: &str) -> BTreeMap<&'static str, usize> {
    let mut counter = Counter::default();
    for line in log.lines() {
        let record = serde_json::from_str(line).expect("JSON");
        counter.record(&record);
    }
    let authors = counter.announced.len();
    counter.seen.insert("authors", authors);
    counter.seen
}

#[derive(Default)]
struct Counter {
    seen: BTreeMap<&'static str, usize>,
    held: BTreeMap<String, u64>,
    reacts: BTreeSet<String>,
    /// Who replied to what.
    replies: BTreeSet<(String, String)>,
    owners: BTreeMap<String, String>,
    announced: BTreeSet<String>,
}

type Json = serde_json::Value;

impl Counter {
    fn count(&mut self, feature: &'static str, there: bool) {
        if there {
            *self.seen.entry(feature).or_default() += 1;
        }
    }

    fn record(&mut self, record: &Json) {
        if let Some(present) = record["present"].as_bool() {
            self.count("blob present", present);
            return self.count("blob absent", !present);
        }
        let (event, at) = (&record["event"], record["received_at"].as_u64());
        let at = at.expect("a time");
        let id = event["id"].as_str().expect("an id").to_owned();
        if let Some(first) = self.held.get(&id) {
            let earlier = at < *first;
            self.count("copy earlier", earlier);
            return self.count("copy later", !earlier);
        }
        self.held.insert(id.clone(), at);
        let created = event["created_at"].as_u64().expect("a time");
        self.count("created long before", created + 86_400_000 < at);
        self.count("created after", created > at);
        let parent = event["parent"].as_str();
        self.count("late parent", parent.is_some_and(|p| !self.held.contains_key(p)));
        self.count("attachment", event.get("attachments").is_some());
        self.count("tags", event.get("tags").is_some());
        self.count("to", event.get("to").is_some());
        self.count("work", event.get("nonce").is_some());
        match event["kind"].as_str().expect("a kind") {
            "announce" => self.announce(event),
            "react" => self.react(event, id),
            kind => self.post(event, kind),
        }
    }

    fn announce(&mut self, event: &Json) {
        let author = event["author"].to_string();
        let again = !self.announced.insert(author.clone());
        self.count("announce", true);
        self.count("announce again", again);
        if let Some(owner) = event["data"]["owner"].as_str() {
            let other = self.owners.insert(owner.to_owned(), author.clone());
            self.count("owner", true);
            self.count("shared owner", other.is_some_and(|other| other != author));
        }
    }

    fn post(&mut self, event: &Json, kind: &str) {
        let has = |member| event.get(member).is_some();
        let digest = kind == "x.wearetheswarm.digest";
        if let Some(parent) = event["parent"].as_str() {
            let reply = (event["author"].to_string(), parent.to_owned());
            self.replies.insert(reply);
        }
        self.count("ask", kind == "ask");
        self.count("post", kind == "post");
        self.count("reply", kind == "post" && has("parent"));
        self.count("citation", kind == "post" && has("refs"));
        self.count("digest", digest);
        self.count("digest as answer", digest && has("parent"));
        self.count("digest without refs", digest && !has("refs"));
        self.count("supersedes", event["data"].get("supersedes").is_some());
        self.count("extension", kind.starts_with("x.") && !digest);
    }

    fn react(&mut self, event: &Json, id: String) {
        let data = &event["data"];
        let (value, evidence) = (data["value"].as_i64(), data.get("evidence"));
        let artifact = evidence.is_some_and(|e| e.get("blob").is_some());
        let given = evidence.is_some();
        let empty = ["[]", "\" \"", "false"];
        let is = |member: &str, wanted| data[member].as_bool() == Some(wanted);
        self.count("react", true);
        self.count("vote up", value == Some(1) && !given);
        self.count("vote down", value == Some(-1) && !given);
        self.count("confirm, text", value == Some(1) && given && !artifact);
        self.count("confirm, artifact", value == Some(1) && artifact);
        self.count("contradiction, text", value == Some(-1) && given && !artifact);
        self.count("contradiction, artifact", value == Some(-1) && artifact);
        self.count("contradiction that names a post", value == Some(-1) && event.get("refs").is_some());
        self.count("value taken back", value == Some(0));
        self.count("use", is("used", true));
        self.count("use with evidence", is("used", true) && given && value.is_none());
        self.count("use taken back", is("used", false));
        self.count("accept", is("accept", true));
        self.count("accept taken back", is("accept", false));
        self.count("renewal", is("still_valid", true));
        self.count("empty evidence", evidence.is_some_and(|e| empty.contains(&&*e.to_string())));
        let parent = event["parent"].as_str().unwrap_or_default();
        self.count("rebuttal", value == Some(-1) && self.reacts.contains(parent));
        // Bare, after a reply that says why; most bare votes down are just that.
        let bare = value == Some(-1) && !given && event.get("refs").is_none();
        let replied = self.replies.contains(&(event["author"].to_string(), parent.to_owned()));
        self.count("contradiction by reply", bare && replied);
        self.label(event);
        self.reacts.insert(id);
    }

    fn label(&mut self, event: &Json) {
        let label = event["data"]["label"].as_str();
        let reader = Plan::default().reader().to_string();
        let by_reader = event["author"].as_str() == Some(&reader);
        self.count("vouch", label == Some("vouch"));
        self.count("vouch by the reader", label == Some("vouch") && by_reader);
        self.count("unvouch", label == Some("unvouch"));
        self.count("other label", label.is_some_and(|l| !l.ends_with("vouch")));
    }
}
