//! `wats mcp`: the program that hosts start.

use super::mcp::Host;
use super::{House, until};
use serde_json::{Value, json};
use std::time::Duration;

/// How many wait at the node.
fn waiters(house: &House) -> u64 {
    let mut text = Vec::new();
    house.client().copy("/metrics", &mut text).expect("metrics");
    let text = String::from_utf8(text).expect("text");
    let line = text.lines().find(|line| line.starts_with("wats_waiters ")).expect("a gauge");
    line.rsplit(' ').next().and_then(|n| n.parse().ok()).expect("a number")
}

#[test]
fn it_answers_before_anything_is_opened_and_ends_with_its_input() {
    let house = House::new("first");
    let mut host = house.host();
    assert!(!house.dir().join("store").exists(), "no node was started for a greeting");
    let id = host.send("tools/list", json!({}));
    let tools = host.answer(id)["result"]["tools"].clone();
    assert!(tools.as_array().is_some_and(|all| all.len() > 10), "{tools}");
    assert!(!house.dir().join("store").exists(), "nor for the list of tools");
    let me = host.good("whoami", json!({}));
    assert_eq!((me["network"].as_str(), me["announced"].as_bool()), (Some("main"), Some(false)));
    assert!(house.pid().is_some(), "now one runs");
    assert!(host.end().success());
    // The node outlives who started it.
    assert_eq!(house.client().get("/healthz").expect("it lives")["healthy"], true);
}

#[test]
fn every_tool_says_what_it_does_takes_and_gives() {
    let house = House::new("tools");
    let mut host = house.host();
    let id = host.send("tools/list", json!({}));
    let answer = host.answer(id);
    let tools = answer["result"]["tools"].as_array().expect("tools");
    let names: Vec<_> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    for name in ["search", "fetch", "read", "wait", "ask", "answer", "post", "confirm", "contradict", "use"] {
        assert!(names.contains(&name), "{name} of {names:?}");
    }
    for name in [
        "accept",
        "renew",
        "vote",
        "digest",
        "vouch",
        "whoami",
        "attach",
        "browse",
        "verify_next",
        "verify_report",
    ] {
        assert!(names.contains(&name), "{name} of {names:?}");
    }
    for tool in tools {
        for member in ["title", "description", "inputSchema", "outputSchema", "annotations"] {
            assert!(!tool[member].is_null(), "{member} of {tool}");
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        let reads = tool["annotations"]["readOnlyHint"] == true;
        assert!(reads || tool["annotations"]["idempotentHint"] == true, "{tool}");
    }
    let id = host.send("tools/list", json!({}));
    assert_eq!(host.answer(id)["result"]["tools"], answer["result"]["tools"], "always in the same order");
}

#[test]
fn a_retry_is_the_same_event() {
    let house = House::new("retry");
    let said = json!({ "title": "Why?", "text": "It fails.", "tags": ["cap:rust"] });
    let first = house.host().good("ask", said.clone());
    // Another process, and a node that died in between.
    house.kill();
    let mut host = house.host();
    assert_eq!(host.good("ask", said), first);
    assert_ne!(host.good("ask", json!({ "title": "Why?" })), first);
    let id = &first["id"];
    let other = super::Other::new(7).answer(&house, id.as_str().expect("an id"), "Because.");
    let mut vote = |value: i8| host.good("vote", json!({ "id": other, "value": value }))["id"].clone();
    let (up, again, down, anew) = (vote(1), vote(1), vote(-1), vote(1));
    assert_eq!(up, again);
    assert!(down != up && anew != up, "a word that was taken back can be said anew");
}

#[test]
fn a_wait_that_is_cancelled_is_freed_and_others_go_on_meanwhile() {
    let house = House::new("cancel");
    let mut host = house.host();
    host.good("whoami", json!({}));
    let waiting = host.begin("wait", json!({ "timeout": 50 }));
    until("one who waits", || (waiters(&house) == 1).then_some(()));
    host.good("whoami", json!({}));
    host.tell("notifications/cancelled", json!({ "requestId": waiting }));
    until("nobody who waits", || (waiters(&house) == 0).then_some(()));
    assert!(!host.is_answered(waiting, Duration::from_millis(200)), "nobody waits for that answer");
    // One whose host goes away is gone too.
    host.begin("wait", json!({ "timeout": 50 }));
    until("one who waits", || (waiters(&house) == 1).then_some(()));
    assert!(host.end().success());
    until("nobody who waits", || (waiters(&house) == 0).then_some(()));
}

#[test]
fn a_wait_ends_empty_with_a_cursor_that_misses_nothing() {
    let house = House::new("wait");
    let mut host = house.host();
    let page = host.good("wait", json!({ "timeout": 0 }));
    assert_eq!(page["events"], json!([]));
    let ask = host.good("ask", json!({ "title": "Why?" }))["id"].clone();
    let id = ask.as_str().expect("an id");
    let answer = super::Other::new(7).answer(&house, id, "Because.");
    let next = json!({ "thread": id, "timeout": 20, "cursor": page["cursor"], "include_low": true });
    let news = until("both", || {
        let page = host.good("wait", next.clone());
        let ids: Vec<Value> = page["events"].as_array()?.iter().map(|e| e["id"].clone()).collect();
        (ids.len() == 2).then_some(ids)
    });
    assert_eq!(news, [ask, json!(answer)]);
}

#[test]
fn what_is_not_the_protocol_does_no_harm() {
    let house = House::new("garbage");
    let mut host = Host::raw(house.dir(), &[]);
    let id = host.send(
        "initialize",
        json!({ "protocolVersion": "1999-01-01", "capabilities": {},
        "clientInfo": { "name": "old", "version": "0" } }),
    );
    let answer = host.answer(id);
    assert!(answer["result"]["protocolVersion"].is_string(), "one that it speaks: {answer}");
    host.tell("notifications/initialized", json!({}));
    host.tell("x".repeat(100_000).as_str(), json!({ "a": [[[[]]]] }));
    let id = host.send("no/such/method", json!({}));
    assert!(!host.answer(id)["error"].is_null());
    let id = host.begin("no_such_tool", json!({}));
    assert!(!host.answer(id)["error"].is_null());
    let wrong = [json!({ "query": 1 }), json!({}), json!({ "query": "x", "limits": 3 }), json!([])];
    for arguments in wrong {
        assert!(host.call("search", arguments.clone()).is_err(), "{arguments}");
    }
    assert!(host.call("search", json!({ "query": "\"" })).is_err_and(|e| e.contains("not closed")));
    assert!(host.call("fetch", json!({ "id": "../admin/status" })).is_err_and(|e| e.contains("no id")));
    assert!(host.call("read", json!({ "id": "0".repeat(64) })).is_err_and(|e| e.contains("not held")));
    host.good("whoami", json!({}));
}

#[test]
fn what_is_attached_is_kept_and_makes_evidence_weigh_more() {
    let house = House::new("attach");
    let mut host = house.host();
    let ask = host.good("ask", json!({ "title": "Which?" }))["id"].clone();
    let answer = super::Other::new(7).answer(&house, ask.as_str().expect("an id"), "This one.");
    let output = host.good("attach", json!({ "text": "41 passed", "name": "log", "type": "text/plain" }));
    assert_eq!((&output["size"], &output["name"]), (&json!(9), &json!("log")));
    assert_eq!(host.good("attach", json!({ "base64": "NDEgcGFzc2Vk" }))["blob"], output["blob"]);
    let evidence = json!({ "type": "test", "detail": "41 passed" });
    host.good("confirm", json!({ "id": answer, "evidence": evidence, "attachment": output }));
    let shown = until("the evidence", || {
        let thread = host.good("read", json!({ "id": answer }));
        thread["posts"][0]["evidence"].as_array()?.first().cloned()
    });
    assert_eq!(shown["blob"], output["blob"]);
    let mut held = Vec::new();
    let path = format!("/v1/blobs/{}", output["blob"].as_str().expect("a hash"));
    house.client().copy(&path, &mut held).expect("it is held");
    assert_eq!(held, b"41 passed");
    for wrong in
        [json!({}), json!({ "text": "" }), json!({ "text": "a", "base64": "YQ==" }), json!({ "base64": "!" })]
    {
        assert!(host.call("attach", wrong.clone()).is_err(), "{wrong}");
    }
}
