//! What the node says of its API, held against what it does.

use super::api::Api;
use super::node::network;
use super::{Running, Story, http, reader, signed_in, stray};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Members that the schemas name and no answer below has: a second page of entries needs more of them than
/// one, `retry_after` a node that is flooded, and the `key` of a label the owner's socket.
const UNSEEN: [&str; 3] = ["after", "retry_after", "key"];

/// Every answer that these requests get is described, and every part of the description is seen.
#[test]
fn answers_are_as_the_document_describes_them() {
    let story = Story::on(Running::with("described", |settings| {
        // Nobody is trusted there.
        settings.config.networks.as_mut().expect("networks").push(network("side", reader()));
    }));
    let elsewhere = json!({ "kind": "ask", "title": "Is anybody here?" });
    let elsewhere = story.send(signed_in("side", 5, story.running.now(), elsewhere));
    let contradiction = json!({ "value": -1, "evidence": { "type": "run", "detail": "it fails here" } });
    story.send(super::react_of(2, story.running.now(), story.other, contradiction));
    story.settle_it();
    let digest = json!({ "kind": "x.wearetheswarm.digest", "title": "Caches", "text": "Clear them.",
        "tags": ["build"], "refs": [story.answer], "to": [reader()],
        "attachments": [{ "blob": "ab".repeat(32), "size": 1, "name": "log", "type": "text/plain" }], "nonce": 1 });
    let digest = story.send(signed_in("main", 3, story.running.now(), digest));
    for key in [1, 2] {
        let holds = json!({ "used": true, "value": 1, "evidence": "held" });
        story.send(super::react_of(key, story.running.now(), digest, holds));
    }
    story.running.settle();
    story.running.until("the digest is indexed", |node| {
        let path = format!(
            "/v1/search?network=main&kind=digest&include_low=true&author={}",
            super::node::secret(3).public()
        );
        http::get(node.address(), &path).json()["hits"] != json!([])
    });
    let api = Api::of(story.running.address());
    let (ask, other) = (story.ask, story.other);
    let requests = [
        ("getEvent", format!("/v1/events/{ask}")),
        ("getEvent", format!("/v1/events/{other}")),
        ("getEvent", format!("/v1/events/{digest}")),
        ("getEvent", "/v1/events/x".into()),
        ("getEvent", "/v1/events/%FF".into()),
        ("getEvent", format!("/v1/events/{}", "0".repeat(64))),
        ("readThread", format!("/v1/threads/{ask}")),
        ("readThread", format!("/v1/threads/{ask}?limit=1")),
        ("readThread", format!("/v1/threads/{ask}?limits=1")),
        ("readThread", format!("/v1/threads/{ask}?cursor=x")),
        ("search", "/v1/search?network=main&q=cache&include_low=true".into()),
        ("search", "/v1/search?network=main&q=because%20caches&limit=1".into()),
        ("search", "/v1/search?network=main&min_status=contested&include_low=true".into()),
        ("search", "/v1/search?network=main&q=%22".into()),
        ("search", "/v1/search?q=cache".into()),
        ("search", "/v1/search?network=main&q=cache&limit=-1".into()),
        ("search", "/v1/search?network=other&q=cache".into()),
        ("listKnowledge", "/v1/knowledge?network=main".into()),
        ("listKnowledge", "/v1/knowledge?network=main&limit=1&sort=recent".into()),
        ("listKnowledge", "/v1/knowledge?network=main&sort=best".into()),
        ("listKnowledge", "/v1/knowledge?network=other".into()),
        ("listKnowledge", format!("/v1/knowledge?network=main&after={}", "0".repeat(64))),
        ("browse", "/v1/browse?network=main&by=tag".into()),
        ("browse", "/v1/browse?network=main&by=tag&limit=1".into()),
        ("browse", "/v1/browse?network=main&by=tag&under=build".into()),
        ("browse", "/v1/browse?network=main&by=tag&under=nothing".into()),
        ("browse", "/v1/browse?network=main&by=title".into()),
        ("browse", "/v1/browse?network=main&by=title&under=WHY".into()),
        ("browse", "/v1/browse?network=main&by=thread&top=0".into()),
        ("browse", format!("/v1/browse?network=main&by=thread&under={ask}")),
        ("browse", "/v1/browse?network=main&by=time".into()),
        ("browse", "/v1/browse?network=main&by=time&under=2026-01".into()),
        ("browse", "/v1/browse?network=main&by=time&under=2026-01-01".into()),
        ("browse", "/v1/browse?network=main&by=time&under=yesterday".into()),
        ("browse", "/v1/browse?network=main&by=tag&cursor=x".into()),
        ("browse", "/v1/browse?network=other&by=tag".into()),
        ("browse", "/v1/browse?network=main".into()),
        ("getEvent", format!("/v1/events/{elsewhere}")),
        ("readThread", format!("/v1/threads/{elsewhere}")),
        ("search", "/v1/search?network=side&q=cache".into()),
        ("listKnowledge", "/v1/knowledge?network=side".into()),
        ("browse", "/v1/browse?network=side&by=tag".into()),
        ("wait", "/v1/wait?network=side&timeout=0".into()),
        ("wait", "/v1/wait?network=main&timeout=0".into()),
        ("wait", "/v1/wait?network=other&timeout=0".into()),
        ("wait", "/v1/wait?network=main&min_status=good".into()),
        ("wait", format!("/v1/wait?network=main&timeout=0&cursor={}", "x".repeat(52))),
        ("health", "/healthz".into()),
        ("ready", "/readyz".into()),
        ("metrics", "/metrics".into()),
        ("describe", "/v1/openapi.json".into()),
    ];
    let (mut members, mut statuses) = (BTreeSet::new(), BTreeSet::new());
    let mut see = |operation: &str, answer: &http::Answer, asked: &str| {
        let operation = api.operation(operation);
        api.check(&operation, answer, asked);
        statuses.insert(answer.status);
        let media = answer.header("content-type").unwrap_or_default();
        if operation.path != "/v1/openapi.json" && media.ends_with("json") {
            let each = if media.contains("ndjson") { answer.lines() } else { vec![answer.json()] };
            each.iter().for_each(|body| collect(body, &mut members));
        }
    };
    for (operation, path) in requests {
        see(operation, &http::get(story.running.address(), &path), &path);
    }
    // From the beginning: everything, and what is first in the thread.
    let start = story.get("/v1/wait?network=main&timeout=0")["cursor"].as_str().expect("a cursor").to_owned();
    let start = format!("{}{}{}", &start[..20], "0".repeat(16), "f".repeat(16));
    let path = format!("/v1/wait?network=main&timeout=0&thread={ask}&include_low=true&cursor={start}");
    see("wait", &http::get(story.running.address(), &path), &path);
    let path = format!("/v1/wait?network=main&timeout=0&include_low=true&cursor={start}");
    see("wait", &http::get(story.running.address(), &path), &path);
    let (_, event) = stray(&story, "described");
    for body in [&event, &event, "{", &"x".repeat(300_000)] {
        see("postEvents", &http::post(story.running.address(), body), body.get(..20).unwrap_or(body));
    }
    let lines = [stray(&story, "lines").1, event, "{".into(), "x".repeat(300_000)].join("\n");
    see("postEvents", &http::post_lines(story.running.address(), &lines), "lines");
    let plain = [("Content-Type", "text/plain")];
    let answer = http::call(story.running.address(), "POST", "/v1/events", &plain, b"");
    see("postEvents", &answer, "text/plain");
    let blob = format!("/v1/blobs/{}", blake3::hash(b"some output"));
    let part = [("Content-Range", "bytes 0-3/11")];
    for (headers, body) in [(&part[..], &b"some"[..]), (&[], b"else"), (&[], b"some output"), (&[], b"")] {
        see("putBlob", &http::call(story.running.address(), "PUT", &blob, headers, body), &blob);
    }
    story.running.settle();
    for range in ["bytes=0-3", "bytes=99-", "none"] {
        let asked = [("Range", range)];
        see("getBlob", &http::call(story.running.address(), "GET", &blob, &asked, b""), &blob);
    }
    let nobody = "0".repeat(64);
    for (operation, path) in [
        ("getBlob", format!("/v1/blobs/{nobody}")),
        ("aboutBlob", format!("{blob}/about")),
        ("aboutBlob", format!("/v1/blobs/{nobody}/about")),
        ("listWants", "/v1/blobs/wants".into()),
        ("listWants", "/v1/blobs/wants?after=x".into()),
        ("listSpares", "/v1/blobs/spares".into()),
        ("listSpares", "/v1/blobs/spares?limit=x".into()),
    ] {
        see(operation, &http::get(story.running.address(), &path), &path);
    }
    assert_eq!(Vec::from_iter(statuses), [200, 201, 202, 206, 400, 404, 410, 413, 415, 416, 422]);
    let mut named = BTreeSet::new();
    properties(&api.0["components"]["schemas"], &mut named);
    let unseen: Vec<_> = named.difference(&members).filter(|name| !UNSEEN.contains(&name.as_str())).collect();
    assert!(unseen.is_empty(), "described, and in no answer: {unseen:?}");
}

/// Every path of the document is answered, and what it does not name is not there.
#[test]
fn the_document_has_every_route_and_no_other() {
    let story = Story::new("routes");
    let node = story.running.address();
    let api = Api::of(node);
    let blob = blake3::hash(b"some output").to_string();
    assert_eq!(http::call(node, "PUT", &format!("/v1/blobs/{blob}"), &[], b"some output").status, 201);
    for operation in api.operations() {
        let path = operation.path.replace("{id}", &story.ask.to_string()).replace("{hash}", &blob);
        for method in ["GET", "POST", "PUT", "DELETE", "PATCH"] {
            let described = !api.0["paths"][operation.path][method.to_ascii_lowercase()].is_null();
            let asked =
                if path.ends_with("wait") { format!("{path}?network=main&timeout=0") } else { path.clone() };
            let answer = http::call(node, method, &asked, &[], b"");
            assert_eq!(answer.status != 405 && answer.status != 404, described, "{method} {path}");
            if !described {
                assert_eq!(
                    answer.header("content-type"),
                    Some("application/problem+json"),
                    "{method} {path}"
                );
            }
        }
    }
    let sources = [
        include_str!("../../crates/node/src/http/mod.rs"),
        include_str!("../../crates/node/src/http/blobs.rs"),
    ];
    let served: usize = sources.iter().map(|source| source.matches(".route(\"").count()).sum();
    let paths = api.0["paths"].as_object().expect("paths").len();
    assert_eq!(served, paths, "routes and described paths");
}

/// A browser's page of another origin gets no leave to read or to write.
#[test]
fn other_origins_get_no_leave() {
    let story = Story::new("origins");
    let page = [("Origin", "https://example.org"), ("Access-Control-Request-Method", "POST")];
    for (method, path) in [("GET", "/healthz"), ("OPTIONS", "/v1/events"), ("OPTIONS", "/v1/search")] {
        let answer = http::call(story.running.address(), method, path, &page, b"");
        assert!(!answer.head.to_ascii_lowercase().contains("access-control-"), "{}", answer.head);
    }
}

fn collect(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, into)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            into.insert(name.clone());
            collect(value, into);
        }),
        _ => {}
    }
}

/// The names of the members that a schema describes.
fn properties(schema: &Value, into: &mut BTreeSet<String>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| properties(item, into)),
        Value::Object(members) => {
            if let Some(Value::Object(described)) = members.get("properties") {
                into.extend(described.keys().cloned());
            }
            members.values().for_each(|value| properties(value, into));
        }
        _ => {}
    }
}
