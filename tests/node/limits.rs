//! Backpressure, and limits on each of many: nobody is starved by somebody else.

use super::http::{Answer, LINES, answer, get, head, post, post_lines};
use super::node::{Running, post_of, signed_in};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use wats_api::client::Client;
use wats_model::ids::Millis;

/// A connection from another address of this machine.
fn connect_from(last: u8, to: SocketAddr) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        socket.bind(SocketAddr::from(([127, 0, 0, last], 0))).expect("an address of the loopback");
        socket.connect(to).await.expect("a node listens")
    });
    let stream = stream.into_std().expect("a stream");
    stream.set_nonblocking(false).expect("blocking");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
    stream
}

fn post_lines_from(last: u8, to: SocketAddr, lines: &str) -> Answer {
    let mut stream = connect_from(last, to);
    stream.write_all(head("POST", "/v1/events", &[LINES], lines.len()).as_bytes()).expect("sent");
    let _ = stream.write_all(lines.as_bytes());
    answer(stream).expect("an answer")
}

fn posts(key: u16, at: Millis, count: usize, what: &str) -> Vec<String> {
    (0..count).map(|n| post_of(key, at, &format!("{what} {n}")).1).collect()
}

/// How many lines had each outcome or code.
fn tally(lines: &[Value]) -> BTreeMap<String, usize> {
    let mut tally = BTreeMap::new();
    for line in lines {
        let what = line["code"].as_str().or(line["outcome"].as_str()).expect("an outcome");
        *tally.entry(what.to_owned()).or_default() += 1;
    }
    tally
}

#[test]
fn a_node_that_names_no_network_carries_some_and_never_too_many() {
    let mut node = Running::with("networks", |settings| settings.config.networks = None);
    let (carried, at) = (1_024, node.now());
    let event = |n: usize| signed_in(&format!("net-{n}"), 2, at, json!({ "kind": "announce" })).1;
    let events: Vec<String> = (0..carried + 40).map(event).collect();
    for part in events.chunks(300) {
        let _ = post_lines(node.address(), &part.join("\n"));
    }
    for _ in 0..2 {
        let again = tally(&post_lines(node.address(), &events[carried - 100..].join("\n")).lines());
        assert_eq!((again["duplicate"], again["wrong_network"]), (100, 40), "{again:?}");
        node.stop();
        node.start().expect("what was taken in can be carried");
    }
}

#[test]
fn a_source_that_sends_too_much_is_told_to_wait() {
    let node = Running::with("sources", |settings| {
        (settings.limits.source_per_second, settings.limits.source_burst) = (1, 8);
    });
    let events = posts(2, node.now(), 40, "many");
    let first = post_lines(node.address(), &events[..12].join("\n"));
    let tallied = tally(&first.lines());
    assert!(tallied["accepted"] >= 8 && tallied["source_limited"] >= 1, "{tallied:?}");
    assert_eq!((first.status, first.header("retry-after")), (200, Some("1")));
    assert!(first.lines().iter().filter(|l| l["outcome"] == "later").all(|l| l["retry_after"] == 1));
    let limited = (0..20).map(|n| post(node.address(), &events[12 + n])).find(|a| a.status != 201);
    let limited = limited.expect("a limit");
    assert_eq!(limited.short(), (429, "source_limited".into()));
    assert_eq!(limited.header("retry-after"), Some("1"));
    // Another source, and the owner, are not this one.
    let other = post_lines_from(2, node.address(), &events[33..36].join("\n"));
    assert_eq!(tally(&other.lines()), BTreeMap::from([("accepted".into(), 3)]));
    let mut owner =
        Client::connect(wats_api::client::Node::Socket(node.settings.socket.clone())).expect("a socket");
    let outcomes = owner.lines("/v1/events", events.join("\n").into_bytes()).expect("outcomes");
    assert_eq!(tally(&outcomes).get("source_limited"), None);
    node.check();
    assert_eq!(node.store().last().expect("a sequence").0, 40);
}

/// The same event under another signature.
fn forged(event: &str) -> String {
    let mut event: Value = serde_json::from_str(event).expect("JSON");
    event["sig"] = "ab".repeat(64).into();
    event.to_string()
}

#[test]
fn a_key_that_signs_too_much_is_told_to_wait_and_forgers_cannot_use_up_its_share() {
    let node = Running::with("keys", |settings| {
        (settings.limits.key_per_second, settings.limits.key_burst) = (1, 6);
    });
    let at = node.now();
    let mine = posts(3, at, 6, "mine");
    let forged: Vec<String> = posts(3, at, 50, "forged").iter().map(|event| forged(event)).collect();
    let answer = post_lines(node.address(), &forged.join("\n"));
    assert_eq!(tally(&answer.lines()), BTreeMap::from([("bad_signature".into(), 50)]));
    let answer = post_lines(node.address(), &mine.join("\n"));
    assert_eq!(tally(&answer.lines()), BTreeMap::from([("accepted".into(), 6)]));
    let answer = post_lines(node.address(), &posts(3, at, 30, "more").join("\n"));
    assert!(tally(&answer.lines())["key_limited"] >= 20);
    let limited = (0..20).map(|n| post(node.address(), &post_of(3, at, &format!("one {n}")).1));
    let limited = limited.into_iter().find(|a| a.status != 201).expect("a limit");
    assert_eq!(limited.short(), (429, "key_limited".into()));
    assert_eq!(limited.header("retry-after"), Some("1"));
    // A duplicate is no use of it, another key is not this one, and one with weight has more.
    assert_eq!(post(node.address(), &mine[0]).status, 200);
    assert_eq!(post(node.address(), &post_of(4, at, "other").1).status, 201);
    let reader = post_lines(node.address(), &posts(1, at, 60, "reader").join("\n"));
    assert_eq!(tally(&reader.lines()), BTreeMap::from([("accepted".into(), 60)]));
    node.check();
}

/// A node with little room for what waits, and no patience.
fn narrow(name: &str) -> Running {
    Running::with(name, |settings| {
        settings.limits.waiting_bytes = 1;
        settings.limits.patience = Duration::from_millis(1);
    })
}

/// Bytes that wait, as the metrics tell.
fn waiting(node: &Running) -> u64 {
    let metrics = String::from_utf8(get(node.address(), "/metrics").body).expect("UTF-8");
    let of = |name: &str| -> u64 {
        let line = metrics.lines().find(|l| l.starts_with(name)).expect("a gauge");
        line.rsplit(' ').next().and_then(|n| n.parse().ok()).expect("a number")
    };
    of("wats_waiting_weighty_bytes ") + of("wats_waiting_others_bytes ")
}

#[test]
fn without_room_a_client_is_told_to_come_again() {
    let node = narrow("busy");
    let at = node.now();
    let batches: Vec<Vec<String>> = (0..4).map(|k| posts(20 + k, at, 3_000, "load")).collect();
    let (mut most, mut busy, mut singles, mut n) = (0, 0, 0, 0);
    thread::scope(|scope| {
        let sent: Vec<_> =
            batches.iter().map(|b| scope.spawn(|| post_lines(node.address(), &b.join("\n")))).collect();
        while !sent.iter().all(thread::ScopedJoinHandle::is_finished) {
            most = most.max(waiting(&node));
            let one = post(node.address(), &post_of(19, at, &format!("one {n}")).1);
            n += 1;
            singles += u32::from(one.status == 201);
            if one.status != 201 {
                assert_eq!((one.short(), one.header("retry-after")), ((503, "busy".into()), Some("1")));
            }
        }
        for answer in sent.into_iter().map(|s| s.join().expect("an answer")) {
            let tallied = tally(&answer.lines());
            let told = tallied.get("busy").copied().unwrap_or_default();
            assert_eq!(told + tallied["accepted"], 3_000, "{tallied:?}");
            assert_eq!(answer.header("retry-after"), (told > 0).then_some("1"));
            busy += told;
        }
    });
    assert!(busy > 0, "there was always room");
    assert!(most <= 2 * wats_event::MAX_BYTES as u64, "{most} bytes waited");
    // What was not taken may be sent again, and what was taken too.
    for batch in &batches {
        for some in batch.chunks(100) {
            let mut left: Vec<&String> = some.iter().collect();
            while !left.is_empty() {
                let body: Vec<&str> = left.iter().map(|e| e.as_str()).collect();
                let lines = post_lines(node.address(), &body.join("\n")).lines();
                let again = lines.iter().zip(left).filter(|(line, _)| line["outcome"] == "later");
                left = again.map(|(_, event)| event).collect();
            }
        }
    }
    node.settle();
    assert_eq!(node.store().read().posts("main").expect("posts").len(), 12_000 + singles as usize);
}

/// Floods the node from some addresses while `work` goes on.
fn under_flood(node: &Running, flood: &(dyn Fn(u8, u16) -> Vec<String> + Sync), work: impl FnOnce()) {
    let (done, address) = (AtomicBool::new(false), node.address());
    thread::scope(|scope| {
        for source in 2..5u8 {
            let done = &done;
            scope.spawn(move || {
                for round in 0.. {
                    if done.load(Ordering::Relaxed) {
                        return;
                    }
                    post_lines_from(source, address, &flood(source, round).join("\n"));
                }
            });
        }
        work();
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_flood_by_fresh_keys_starves_nobody_who_has_weight() {
    let node = narrow("flood");
    let at = node.now();
    let fresh = |source: u8, round: u16| {
        let key = 1_000 + u16::from(source) * 1_000 + round % 1_000;
        posts(key, at, 600, &format!("flood {round}"))
    };
    under_flood(&node, &fresh, || {
        for n in 0..60 {
            let answer = post(node.address(), &post_of(1, at, &format!("reader {n}")).1);
            assert_eq!(answer.status, 201, "{:?}", answer.short());
        }
    });
    node.settle();
}

#[test]
fn a_flood_in_the_name_of_a_key_with_weight_starves_it_neither() {
    let node = narrow("forgers");
    let at = node.now();
    let fake = posts(1, at, 400, "fake").iter().map(|event| forged(event)).collect::<Vec<_>>();
    // Forgers are known by what they send.
    for source in 2..5 {
        assert_eq!(post_lines_from(source, node.address(), &fake[0]).status, 200);
    }
    under_flood(&node, &|_, _| fake.clone(), || {
        for n in 0..60 {
            let answer = post(node.address(), &post_of(1, at, &format!("reader {n}")).1);
            assert_eq!(answer.status, 201, "{:?}", answer.short());
        }
    });
    node.check();
    assert_eq!(node.store().last().expect("a sequence").0, 60);
}

#[test]
fn a_thousand_slow_connections_and_bodies_stop_nobody() {
    let node = Running::new("slow");
    let events = posts(2, node.now(), 40, "quick");
    // Some never say anything, some begin a body and go on as slowly as they may.
    let slow: Vec<TcpStream> = (0..1_100)
        .map(|n| {
            let mut stream = connect_from(2, node.address());
            if n % 3 > 0 {
                let head = head("POST", "/v1/events", &[LINES], 1 << 20);
                // Those who have their share are hung up on.
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(b"{\n"));
            }
            stream
        })
        .collect();
    let mut owner =
        Client::connect(wats_api::client::Node::Socket(node.settings.socket.clone())).expect("a socket");
    for event in &events[..20] {
        assert_eq!(post(node.address(), event).status, 201);
        assert_eq!(get(node.address(), "/readyz").status, 200);
        assert_eq!(owner.event(event).expect("a success")["outcome"], "duplicate");
    }
    drop(slow);
    node.until("the slow source", |node| {
        post_lines_from(2, node.address(), &events[20..].join("\n")).status == 200
    });
    node.check();
    assert_eq!(node.store().last().expect("a sequence").0, 40);
}

#[test]
fn whoever_watches_the_node_is_answered_while_slow_bodies_hold_every_place() {
    let node = Running::with("watched", |settings| settings.limits.requests = 4);
    let mut slow = Vec::new();
    // Of four places an address may have two; a request that asks for one may have it when a body comes.
    while get(node.address(), "/v1/openapi.json").status == 200 {
        assert!(slow.len() < 50, "there is always a place");
        let mut stream = connect_from(1, node.address());
        let begun = head("POST", "/v1/events", &[LINES], 1 << 20) + "{\n";
        stream.write_all(begun.as_bytes()).expect("sent");
        slow.push(stream);
    }
    let refused = get(node.address(), "/v1/openapi.json");
    assert_eq!(refused.short(), (503, "busy".into()));
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(get(node.address(), path).status, 200, "{path}");
    }
}

#[test]
fn of_many_copies_at_once_one_is_accepted() {
    let node = Running::new("copies");
    let events = posts(2, node.now(), 60, "same");
    let all: Vec<Vec<Value>> = thread::scope(|scope| {
        let send = |client: usize| {
            let (node, events) = (&node, &events);
            scope.spawn(move || {
                let one = events.iter().map(|event| post(node.address(), event).json());
                match client % 2 {
                    0 => one.collect(),
                    _ => post_lines(node.address(), &events.join("\n")).lines(),
                }
            })
        };
        let sent: Vec<_> = (0..8).map(send).collect();
        sent.into_iter().map(|client| client.join().expect("answers")).collect()
    });
    for n in 0..events.len() {
        let accepted = all.iter().filter(|answers| answers[n]["outcome"] == "accepted").count();
        let duplicate = all.iter().filter(|answers| answers[n]["outcome"] == "duplicate").count();
        assert_eq!((accepted, duplicate), (1, 7), "event {n}");
        let places: Vec<&Value> = all.iter().map(|answers| &answers[n]["seq"]).collect();
        assert!(places.iter().all(|place| *place == places[0]), "{places:?}");
    }
    node.check();
    assert_eq!(node.store().last().expect("a sequence").0, 60);
}
