//! What becomes of events, and how the node says it.

use super::http::{JSON, LINES, answer, call, connect, get, head, post, post_lines};
use super::node::{Running, START, network, post_of, react_of, secret, signed_in};
use serde_json::{Value, json};
use std::io::Write;
use std::net::Shutdown;
use wats_api::client::{Client, ClientError};
use wats_config::Network;
use wats_config::Token;
use wats_event::{MAX_BYTES, MAX_RECORD_BYTES};
use wats_model::ids::Millis;

/// Changes a member of a signed event.
fn tampered(event: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut event: Value = serde_json::from_str(event).expect("JSON");
    change(&mut event);
    event.to_string()
}

#[test]
fn an_event_is_accepted_once_and_then_a_duplicate() {
    let node = Running::new("accepted");
    let (id, event) = post_of(1, START, "hello");
    let first = post(node.address(), &event);
    assert_eq!(first.status, 201);
    assert_eq!(first.json(), json!({ "outcome": "accepted", "id": id, "seq": 1 }));
    let spaced = format!("\n{}\r\n", event.replace(",\"", " ,\n \""));
    for again in [event.clone(), spaced] {
        let again = post(node.address(), &again);
        assert_eq!((again.status, &again.json()["outcome"]), (200, &json!("duplicate")));
        assert_eq!(again.json()["seq"], 1);
    }
    let mut client =
        Client::connect(wats_api::client::Node::Socket(node.settings.socket.clone())).expect("a socket");
    assert_eq!(client.event(&event).expect("a success")["outcome"], "duplicate");
    node.check();
    let held = get(node.address(), &format!("/v1/events/{id}"));
    assert_eq!((held.status, &held.json()["event"]["text"]), (200, &json!("hello")));
    assert_eq!(held.json()["received_at"], START.0);
    assert_eq!(get(node.address(), &format!("/v1/events/{}", "0".repeat(64))).status, 404);
    assert_eq!(get(node.address(), "/v1/events/12").status, 400);
}

/// An event for each code of section 1.1, in their order.
fn refused() -> Vec<(&'static str, u16, String)> {
    let (_, good) = post_of(2, START, "good");
    let (on, _) = post_of(2, START, "on");
    let (_, react) = react_of(2, START, on, json!({ "value": 1 }));
    let flip = |e: &mut Value| {
        let sig = e["sig"].as_str().expect("a signature").to_owned();
        let first = if sig.starts_with('0') { "1" } else { "0" };
        e["sig"] = format!("{first}{}", &sig[1..]).into();
    };
    let late = Millis(START.0 + 10 * 60_000 + 1);
    vec![
        ("too_large", 413, tampered(&good, |e| e["text"] = "x".repeat(MAX_BYTES).into())),
        ("bad_json", 422, good[1..].to_owned()),
        ("bad_field", 422, tampered(&good, |e| e["v"] = 2.into())),
        ("wrong_network", 422, signed_in("elsewhere", 2, START, json!({ "kind": "post", "text": "x" })).1),
        ("bad_data", 422, tampered(&react, |e| e["data"]["value"] = "x".into())),
        ("bad_id", 422, tampered(&good, |e| e["text"] = "bad".into())),
        ("bad_signature", 422, tampered(&good, flip)),
        ("pow_too_low", 422, signed_in("hard", 2, START, json!({ "kind": "post", "text": "x" })).1),
        ("future", 422, post_of(2, late, "late").1),
    ]
}

fn with_hard(name: &str) -> Running {
    Running::with(name, |settings| {
        let hard = Network { pow_bits: 60, ..network("hard", secret(1).public()) };
        settings.config.networks.as_mut().expect("networks").push(hard);
    })
}

#[test]
fn each_refusal_has_its_code_and_status() {
    let node = with_hard("refused");
    for (code, status, event) in refused() {
        let answer = post(node.address(), &event);
        assert_eq!(answer.short(), (status, code.to_owned()));
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
        assert!(!answer.json()["detail"].as_str().expect("words").is_empty());
        assert_eq!(answer.header("retry-after"), None);
    }
    let mut client = Client::connect(wats_api::client::Node::Address(node.address())).expect("an address");
    let error = client.event("{}").expect_err("no event");
    assert!(matches!(error, ClientError::Refused { status: 422, .. }), "{error}");
    node.check();
    assert_eq!(node.store().last().expect("a sequence").0, 0);
    let metrics = String::from_utf8(get(node.address(), "/metrics").body).expect("UTF-8");
    for (code, _, _) in refused() {
        let line = format!("wats_ingest_events_total{{outcome=\"refused\",code=\"{code}\"}}");
        assert!(metrics.contains(&line), "{line} is not in\n{metrics}");
    }
}

#[test]
fn each_line_has_its_outcome_in_order() {
    let node = with_hard("lines");
    let (_, good) = post_of(2, START, "good");
    let mut lines = vec![String::new(), good.clone(), "  ".into(), good];
    let mut want = vec![(2, "accepted".to_owned()), (4, "duplicate".to_owned())];
    for (code, _, event) in refused() {
        lines.push(event);
        want.push((lines.len() as u64, code.to_owned()));
        lines.push(post_of(2, START, code).1);
        want.push((lines.len() as u64, "accepted".to_owned()));
    }
    // The last line has no end.
    let answer = post_lines(node.address(), &lines.join("\n"));
    let got: Vec<(u64, String)> = answer
        .lines()
        .iter()
        .map(|line| {
            let what = line["code"].as_str().or(line["outcome"].as_str()).expect("an outcome");
            (line["line"].as_u64().expect("a line"), what.to_owned())
        })
        .collect();
    assert_eq!((answer.status, got), (200, want));
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
    node.check();
    assert_eq!(post_lines(node.address(), "\n\n").lines().len(), 0);
}

#[test]
fn other_content_types_and_methods_are_refused() {
    let node = Running::new("types");
    let (_, event) = post_of(2, START, "good");
    let send =
        |kind: &str| call(node.address(), "POST", "/v1/events", &[("Content-Type", kind)], event.as_bytes());
    let refused = (415, "unsupported_media_type".to_owned());
    for kind in ["text/plain", "application/x-www-form-urlencoded", ""] {
        assert_eq!(send(kind).short(), refused, "{kind}");
    }
    assert_eq!(call(node.address(), "POST", "/v1/events", &[], event.as_bytes()).short(), refused);
    let packed = [("Content-Type", "application/json"), ("Content-Encoding", "gzip")];
    let answer = call(node.address(), "POST", "/v1/events", &packed, event.as_bytes());
    assert_eq!(answer.short(), refused, "what is packed is not taken for garbage");
    assert_eq!(send("Application/JSON; charset=utf-8").status, 201);
    assert_eq!(send("application/jsonl").status, 200);
    let other = call(node.address(), "DELETE", "/v1/events", &[], b"");
    assert_eq!(other.short(), (405, "method_not_allowed".into()));
    assert_eq!(get(node.address(), "/nothing").short(), (404, "not_found".into()));
    assert_eq!(get(node.address(), "/v1/events/12").short(), (400, "bad_request".into()));
    // The administration is on the socket alone.
    assert_eq!(get(node.address(), "/admin/status").status, 404);
    assert_eq!(get(node.address(), "/admin/export").status, 404);
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(get(node.address(), path).status, 200, "{path}");
    }
}

/// A post of so many bytes.
fn sized(key: u16, bytes: usize) -> String {
    let of = |fill: usize| {
        signed_in("main", key, START, json!({ "kind": "post", "text": "large", "fill": "x".repeat(fill) })).1
    };
    let event = of(bytes - of(0).len());
    assert_eq!(event.len(), bytes);
    event
}

#[test]
fn the_largest_event_comes_in_and_out_with_its_date() {
    let mut node = Running::new("largest");
    let (alone, line, record) = (sized(2, MAX_BYTES), sized(3, MAX_BYTES), sized(4, MAX_BYTES));
    let space = " \r\n\t".repeat(100_000);
    assert_eq!(post(node.address(), &format!("{space}{alone}{space}")).status, 201);
    let around = " ".repeat(300_000);
    let lines = post_lines(node.address(), &format!("{around}{line}{around}\r\n \t\n{{}}")).lines();
    assert_eq!((lines.len(), &lines[0]["outcome"], &lines[1]["line"]), (2, &json!("accepted"), &json!(3)));
    // White space within an event is part of it, and so is any other around it.
    let larger = alone.replacen("{\"", "{ \"", 1);
    assert_eq!(post(node.address(), &larger).short(), (413, "too_large".into()));
    assert_eq!(post_lines(node.address(), &larger).lines()[0]["code"], "too_large");
    assert_eq!(post(node.address(), &format!("{}\u{c}", post_of(2, START, "fed").1)).short().1, "bad_json");
    let mut owner =
        Client::connect(wats_api::client::Node::Socket(node.settings.socket.clone())).expect("a socket");
    let in_record = |event: &str, fill: usize| {
        format!("{around}{{\"received_at\":{},{}\"event\":{event}}}{around}", START.0 - 5, " ".repeat(fill))
    };
    let around_it = in_record("", 0).trim().len();
    let most = in_record(&record, MAX_RECORD_BYTES - MAX_BYTES - around_it);
    let over = in_record(&record, MAX_RECORD_BYTES - MAX_BYTES - around_it + 1);
    let body = [over, in_record(&larger, 0), larger, most].join("\n");
    let outcomes = owner.lines("/admin/import", body.into_bytes()).expect("outcomes");
    let codes: Vec<&str> = outcomes.iter().map(|o| o["code"].as_str().unwrap_or_default()).collect();
    assert_eq!(codes, ["too_large", "too_large", "too_large", ""]);
    assert_eq!(outcomes[3]["outcome"], "accepted");
    node.check();
    let exported = super::views::exported(node.store());
    for (at, event) in [(START.0, &alone), (START.0, &line), (START.0 - 5, &record)] {
        let want = format!("{{\"received_at\":{at},\"event\":{event}}}");
        assert!(exported.lines().any(|line| line == want), "{}", &want[..60]);
    }
    node.stop();
    node.start().expect("it starts");
    node.check();
}

#[test]
fn an_event_may_have_the_members_of_a_record() {
    let mut node = Running::new("members");
    let members =
        json!({ "kind": "post", "text": "odd", "received_at": 9, "event": { "x": 1.5 }, "blob": "b" });
    let (id, odd) = signed_in("main", 2, START, members);
    assert_eq!(post(node.address(), &odd).status, 201);
    for _ in 0..2 {
        node.check();
        let held = get(node.address(), &format!("/v1/events/{id}")).json();
        assert_eq!(held["event"], serde_json::from_str::<Value>(&odd).expect("JSON"));
        assert_eq!(held["received_at"], START.0);
        let want = format!("{{\"received_at\":{},\"event\":{odd}}}\n", START.0);
        assert_eq!(super::views::exported(node.store()), want);
        node.stop();
        node.start().expect("it starts");
    }
}

#[test]
fn numbers_are_judged_by_value_and_kept() {
    let node = Running::new("numbers");
    let (id, event) =
        signed_in("main", 2, START, json!({ "kind": "post", "text": "n", "x": [1000, 1.5, 0] }));
    // Written in other ways, the longest of which are no numbers to most readers.
    let (zeros, most) = ("0".repeat(65_536), "0".repeat(400));
    let written = event.replace("[1000,1.5,0]", &format!("[1e3,15{most}e-401,1{zeros}e-655360]"));
    assert_ne!(written, event);
    assert_eq!(post(node.address(), &written).status, 201);
    assert_eq!(post(node.address(), &event).status, 200);
    let held = get(node.address(), &format!("/v1/events/{id}")).json();
    assert_eq!(held["event"], serde_json::from_str::<Value>(&event).expect("JSON"));
    for beyond in ["1e16", "9007199254740992", "9007199254740991.5", "-1e16"] {
        let beyond = event.replace("1000", beyond);
        assert_eq!(post(node.address(), &beyond).short(), (422, "bad_json".into()), "{beyond}");
    }
    node.check();
}

#[test]
fn a_body_over_the_limit_keeps_what_came_before() {
    let node = Running::with("long", |settings| settings.limits.body_bytes = 64 << 10);
    let events: Vec<String> = (0..400).map(|n| post_of(2, START, &format!("number {n}")).1).collect();
    // Far more than sockets hold: the client is still sending when it is told.
    let body = format!("{}\n{}", events.join("\n"), "x".repeat(8 << 20));
    let answer = post_lines(node.address(), &body);
    assert_eq!(answer.status, 413);
    let lines = answer.lines();
    let (last, taken) = lines.split_last().expect("lines");
    assert_eq!((&last["outcome"], &last["code"]), (&json!("later"), &json!("body")));
    assert!(taken.len() > 50 && taken.iter().all(|line| line["outcome"] == "accepted"));
    assert_eq!(last["line"], taken.len() as u64 + 1);
    node.check();
    assert_eq!(node.store().last().expect("a sequence").0, taken.len() as u64);
    // One event of many lines is one event.
    assert_eq!(post(node.address(), &body).short(), (413, "too_large".into()));
}

#[test]
fn more_lines_than_allowed_are_not_taken() {
    let node = Running::with("many_lines", |settings| settings.limits.body_lines = 3);
    let events: Vec<String> = (0..5).map(|n| post_of(2, START, &format!("number {n}")).1).collect();
    let answer = post_lines(node.address(), &events.join("\n\n"));
    assert_eq!((answer.status, answer.lines().len()), (413, 4));
    assert_eq!(answer.lines()[3]["line"], 7);
    node.check();
    assert_eq!(node.store().last().expect("a sequence").0, 3);
}

#[test]
fn a_body_that_breaks_off_keeps_what_came_before() {
    let node = Running::new("broken");
    let events: Vec<String> = (0..20).map(|n| post_of(2, START, &format!("number {n}")).1).collect();
    let body = events.join("\n");
    let mut stream = connect(node.address());
    stream.write_all(head("POST", "/v1/events", &[LINES], body.len() + 1).as_bytes()).expect("sent");
    // Ten whole lines, and half of one.
    let part: usize = events[..10].iter().map(|e| e.len() + 1).sum::<usize>() + 50;
    stream.write_all(&body.as_bytes()[..part]).expect("sent");
    stream.shutdown(Shutdown::Both).expect("hung up");
    node.until("the tenth", |node| node.core().store.last().is_ok_and(|last| last.0 >= 10));
    node.check();
    assert_eq!(node.store().last().expect("a sequence").0, 10);
    let mut stream = connect(node.address());
    stream.write_all(head("POST", "/v1/events", &[JSON], 1000).as_bytes()).expect("sent");
    stream.write_all(&events[15].as_bytes()[..50]).expect("sent");
    stream.shutdown(Shutdown::Write).expect("half hung up");
    assert!(answer(stream).map_or(true, |answer| answer.status >= 400));
    // Everything again: what was taken is a duplicate, the rest is new.
    let again = post_lines(node.address(), &body).lines();
    let accepted = again.iter().filter(|line| line["outcome"] == "accepted").count();
    assert_eq!((again.len(), accepted), (20, 10));
}

#[test]
fn a_client_that_falls_silent_within_a_body_is_told_so() {
    let node = Running::new("silent");
    let (_, event) = post_of(2, START, "half of it");
    let [one, many] = [JSON, LINES].map(|kind| {
        let mut stream = connect(node.address());
        let begun = head("POST", "/v1/events", &[kind], event.len()) + &event[..50];
        stream.write_all(begun.as_bytes()).expect("sent");
        stream
    });
    let one = answer(one).expect("an answer");
    assert_eq!(one.short(), (408, "body".into()));
    assert_eq!(one.header("content-type"), Some("application/problem+json"));
    let many = answer(many).expect("an answer");
    assert_eq!((many.status, &many.lines()[0]["code"]), (408, &json!("body")));
    node.check();
    assert_eq!(node.store().last().expect("a sequence").0, 0);
}

#[test]
fn with_a_token_only_those_who_show_it_write() {
    let secret = "a-secret-of-the-owner";
    let node = Running::with("token", |settings| settings.token = Token::new(secret));
    let (id, event) = post_of(2, START, "good");
    let send = |headers: &[(&str, &str)]| {
        call(node.address(), "POST", "/v1/events", headers, event.as_bytes()).status
    };
    let refused = call(node.address(), "POST", "/v1/events", &[JSON], event.as_bytes());
    assert_eq!(refused.short(), (401, "unauthorized".into()));
    for wrong in ["Bearer a-secret-of-the-owneR", "Bearer ", "Basic a-secret-of-the-owner", secret] {
        assert_eq!(send(&[JSON, ("Authorization", wrong)]), 401, "{wrong}");
    }
    assert_eq!(node.store().last().expect("a sequence").0, 0);
    assert_eq!(send(&[JSON, ("Authorization", &format!("Bearer {secret}"))]), 201);
    let at = wats_api::client::Node::Address(node.address());
    let mut client = Client::connect(at).expect("an address").with_token(secret.into());
    assert_eq!(client.event(&event).expect("a success")["outcome"], "duplicate");
    // Reading needs none, and the owner none at all.
    assert_eq!(get(node.address(), &format!("/v1/events/{id}")).status, 200);
    let mut owner =
        Client::connect(wats_api::client::Node::Socket(node.settings.socket.clone())).expect("a socket");
    assert_eq!(owner.event(&event).expect("a success")["outcome"], "duplicate");
    assert_eq!(Token::new("short"), None);
}

#[test]
fn what_is_named_after_the_future_is_received_now() {
    let node = Running::new("import_future");
    let (id, event) = post_of(2, START, "from tomorrow");
    let tomorrow = START.0 + Millis::DAY.0;
    let (old, earlier) = post_of(2, Millis(START.0 - 5000), "from yesterday");
    let lines = format!(
        "{{\"received_at\":{tomorrow},\"event\":{event}}}\n{{\"received_at\":{},\"event\":{earlier}}}\n",
        START.0 - 1000
    );
    let mut owner =
        Client::connect(wats_api::client::Node::Socket(node.settings.socket.clone())).expect("a socket");
    let outcomes = owner.lines("/admin/import", lines.into_bytes()).expect("outcomes");
    assert!(outcomes.iter().all(|line| line["outcome"] == "accepted"), "{outcomes:?}");
    node.check();
    let held = |id| node.store().held(id).expect("readable").expect("held").received_at;
    assert_eq!((held(id), held(old).0), (START, START.0 - 1000));
    assert_eq!(node.store().read().ticked().expect("a tick").now, START);
}
