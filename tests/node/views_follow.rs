//! The views follow what was accepted, a whole tick at a time.

use super::http::{get, post, post_lines};
use super::node::{Running, generated, network, post_of, secret};
use super::views::{assert_views, shown};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use wats_api::client::Client;
use wats_event::Hex32;
use wats_model::ids::Millis;
use wats_store::Order;

/// Sends events from several clients at once, some of them twice.
fn send(node: &Running, events: &[String], clients: usize) {
    let share = events.len().div_ceil(clients);
    thread::scope(|scope| {
        for part in events.chunks(share) {
            scope.spawn(move || {
                for some in part.chunks(97) {
                    let answer = post_lines(node.address(), &some.join("\n"));
                    assert_eq!(answer.status, 200);
                }
            });
        }
    });
}

#[test]
fn views_are_what_a_replay_of_the_export_gives() {
    let (plan, events) = generated(5, 3_000);
    let node = Running::with("replay", |settings| {
        settings.config.networks = Some(vec![network("main", plan.reader())]);
    });
    send(&node, &events, 3);
    node.check();
    // Again, everything: duplicates, and nothing changes.
    let before = node.store().last().expect("a sequence");
    send(&node, &events, 2);
    assert_eq!(node.store().last().expect("a sequence"), before);
    node.pass(Millis::days(40));
    node.check();
    // There is something to browse, and of what is no longer so nothing is left behind.
    let reader = node.store().read();
    let tags = reader.groups("main", Order::Tags, &[], |_| true, None, usize::MAX).expect("readable");
    assert!(tags.iter().any(|(_, tag)| tag.entries > 0));
    drop(reader);
    let mut node = node;
    node.stop();
    let store = Arc::new(super::node::open(&node.settings.store));
    let views = wats::doctor::views(&store, &node.settings.config, wats::doctor::Mode::Look);
    let views = views.expect("the store can be examined");
    assert_eq!(views.state, wats::doctor::State::Good, "{}", views.detail);
}

#[test]
fn the_log_of_another_node_gives_the_views_of_that_node() {
    let (plan, events) = generated(6, 1_500);
    let read_by = |settings: &mut wats_node::Settings| {
        settings.config.networks = Some(vec![network("main", plan.reader())]);
    };
    let (one, other) = (Running::with("imported_from", read_by), Running::with("imported_into", read_by));
    for some in events.chunks(200) {
        one.pass(Millis::days(2));
        assert_eq!(post_lines(one.address(), &some.join("\n")).status, 200);
    }
    one.check();
    other.settings.clock.set(one.now());
    let log = super::views::exported(one.store());
    // What it held before is held since the earlier of the two times.
    send(&other, &events[..100], 1);
    let mut owner =
        Client::connect(wats_api::client::Node::Socket(other.settings.socket.clone())).expect("a socket");
    let outcomes = owner.lines("/admin/import", log.into_bytes()).expect("outcomes");
    assert!(outcomes.iter().all(|l| l["outcome"] == "accepted" || l["outcome"] == "duplicate"));
    other.check();
    let views = |node: &Running| shown(&node.store().read(), "main").expect("views");
    assert_eq!(super::views::differ(&views(&one), &views(&other)), None);
    let mut whole = Vec::new();
    let mut owner =
        Client::connect(wats_api::client::Node::Socket(one.settings.socket.clone())).expect("a socket");
    owner.copy("/admin/export", &mut whole).expect("an export");
    assert_eq!(String::from_utf8(whole).expect("UTF-8"), super::views::exported(one.store()));
}

#[test]
fn networks_of_one_node_know_nothing_of_each_other() {
    let (plan, main) = generated(7, 900);
    let (side_plan, _) = generated(8, 1);
    let side_plan = wats_generate::Plan { events: 900, network: "side".into(), ..side_plan };
    let side: Vec<String> = wats_generate::Generator::new(&side_plan)
        .filter_map(|r| match r.said {
            wats_generate::Said::Event(text) => Some(text),
            wats_generate::Said::Blob { .. } => None,
        })
        .collect();
    let networks = [network("main", plan.reader()), network("side", side_plan.reader())];
    let start = |name: &str, which: &[usize]| {
        Running::with(name, |settings| {
            settings.config.networks = Some(which.iter().map(|&n| networks[n].clone()).collect());
        })
    };
    let both = start("both", &[0, 1]);
    let mixed: Vec<String> = main.iter().zip(&side).flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
    send(&both, &mixed, 2);
    both.check();
    for (name, which, events) in [("main", 0, &main), ("side", 1, &side)] {
        let alone = start(&format!("alone_{name}"), &[which]);
        send(&alone, events, 1);
        alone.check();
        let views = |node: &Running| shown(&node.store().read(), name).expect("views");
        assert_eq!(super::views::differ(&views(&alone), &views(&both)), None);
        // What the other network says is refused here.
        let other = if which == 0 { &side } else { &main };
        assert_eq!(post(alone.address(), &other[0]).short(), (422, "wrong_network".into()));
    }
}

#[test]
fn a_reader_sees_whole_ticks() {
    let node = Running::new("atomic");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for key in 2..5 {
            let (node, done) = (&node, &done);
            scope.spawn(move || {
                let mut n = 0;
                while !done.load(Ordering::Relaxed) {
                    let lines: Vec<String> =
                        (0..7).map(|i| post_of(key, node.now(), &format!("{n} {i}")).1).collect();
                    n += 1;
                    assert_eq!(post_lines(node.address(), &lines.join("\n")).status, 200);
                }
            });
        }
        let store = node.store();
        let mut looked = BTreeMap::new();
        while looked.len() < 60 {
            let reader = store.read();
            let ticked = reader.ticked().expect("a tick");
            let posts = reader.posts("main").expect("posts").len() as u64;
            // Each record is a post: as many are shown as the tick took in.
            assert_eq!(posts, ticked.through.0);
            looked.insert(ticked.tick, posts);
        }
        done.store(true, Ordering::Relaxed);
    });
    node.check();
}

#[test]
fn an_accepted_react_shows_in_the_status() {
    let node = Running::new("react");
    let at = node.now();
    let (post_id, text) = post_of(2, at, "try this");
    assert_eq!(post(node.address(), &text).status, 201);
    node.settle();
    assert_eq!(node.status(post_id), "unverified");
    let (_, react) =
        super::node::react_of(1, at, post_id, json!({ "value": 1, "evidence": "it works here" }));
    assert_eq!(post(node.address(), &react).status, 201);
    node.settle();
    assert_eq!(node.status(post_id), "confirmed");
    let answer = get(node.address(), &format!("/v1/events/{post_id}")).json();
    assert_eq!((&answer["status"], &answer["counts"]["confirmations"]), (&json!("confirmed"), &json!(1)));
    // What is derived from trust is for the reader's own eyes.
    assert!(answer.get("score").is_none());
    let reader: Hex32 = secret(1).public();
    assert!(node.store().read().author("main", reader).expect("readable").is_some());
    assert_views(node.store(), &node.settings.config);
}
