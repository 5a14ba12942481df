//! Agents see labels and counts, never a number that is derived from trust.

use super::{Story, http, reader};
use serde_json::Value;

/// Names under which a number derived from trust would stand.
const SECRET: [&str; 9] =
    ["trust", "floor", "weight", "reputation", "voice", "score", "rank", "origins", "relevance"];

/// Every number in a document, with its name.
fn numbers(value: &Value, name: &str, found: &mut Vec<(String, f64)>) {
    match value {
        Value::Number(n) => found.push((name.to_owned(), n.as_f64().unwrap_or_default())),
        Value::Array(items) => items.iter().for_each(|item| numbers(item, name, found)),
        Value::Object(members) => members.iter().for_each(|(name, value)| numbers(value, name, found)),
        _ => {}
    }
}

fn names(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| names(item, found)),
        Value::Object(members) => members.iter().for_each(|(name, value)| {
            found.push(name.clone());
            names(value, found);
        }),
        _ => {}
    }
}

#[test]
fn no_reply_holds_a_number_that_is_derived_from_trust() {
    let story = Story::new("secrecy");
    story.settle_it();
    let blob = blake3::hash(b"some output");
    let put = http::call(story.running.address(), "PUT", &format!("/v1/blobs/{blob}"), &[], b"some output");
    assert_eq!(put.status, 201);
    story.running.settle();
    let authors = story.running.store().read().authors("main").expect("readable");
    let of = |a: &wats_store::AuthorRecord| [a.trust.0, a.floor.0, a.weight.0, a.reputation.0, a.voice.0];
    let posts = story.running.store().read().posts("main").expect("readable");
    let mut secrets: Vec<f64> = authors.iter().flat_map(|(_, a)| of(a)).map(|n| n as f64).collect();
    secrets.extend(posts.iter().map(|(_, post)| post.score.0 as f64));
    // Zero and one are anybody's.
    secrets.retain(|n| n.abs() > 1.0);
    assert!(secrets.len() > 5, "there is something to hide");
    let paths = [
        format!("/v1/threads/{}", story.ask),
        format!("/v1/events/{}", story.answer),
        "/v1/search?network=main&q=cache".into(),
        "/v1/search?network=main&q=because&include_low=true".into(),
        "/v1/search?network=main&q=%22".into(),
        "/v1/search?network=main&q=because&cursor=x".into(),
        "/v1/wait?network=main&timeout=0".into(),
        "/v1/knowledge?network=main".into(),
        "/v1/knowledge?network=main&sort=recent".into(),
        "/v1/browse?network=main&by=tag&limit=1".into(),
        "/v1/browse?network=main&by=tag&under=build".into(),
        "/v1/browse?network=main&by=thread".into(),
        "/v1/browse?network=main&by=time&under=2026-01".into(),
        "/v1/blobs/wants".into(),
        "/v1/blobs/spares".into(),
        format!("/v1/blobs/{blob}/about"),
        "/readyz".into(),
        "/healthz".into(),
        "/nothing".into(),
    ];
    for path in paths {
        let answer = http::get(story.running.address(), &path).json();
        let (mut found, mut named) = (Vec::new(), Vec::new());
        numbers(&answer, "", &mut found);
        names(&answer, &mut named);
        for (name, number) in found {
            assert!(
                !secrets.contains(&number) && !secrets.contains(&(number * 1e9)),
                "{path}: {name} {number}"
            );
        }
        for name in named {
            assert!(!SECRET.contains(&name.as_str()), "{path}: {name}");
        }
    }
    let metrics = http::get(story.running.address(), "/metrics");
    let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
    assert!(SECRET.iter().all(|name| !metrics.to_lowercase().contains(&format!("{name}_"))), "{metrics}");
    assert!(!metrics.contains(&reader().to_string()));
    for path in [
        "/admin/status",
        "/admin/reputation/main",
        "/admin/explain/00000000",
        "/admin/export",
        "/admin/evict",
        "/admin/blobs",
    ] {
        assert_eq!(http::get(story.running.address(), path).status, 404, "{path} is on the socket alone");
    }
}
