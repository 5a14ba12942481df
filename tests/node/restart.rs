//! A node that is started again, on a store that fared in some way meanwhile.

use super::http::{LINES, get, post, post_lines, try_call};
use super::node::{Running, generated, network, open, post_of, secret};
use super::views::{differ, shown};
use rocksdb::{DB, Options};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use wats::doctor;
use wats_event::{Hex32, Rules};
use wats_model::ids::Millis;
use wats_node::NodeError;
use wats_store::{Appender, SCHEMA, StoreError, TickMark, ViewBatch};

/// A node with a generated log, and its reader.
fn with_log(name: &str, seed: u64, events: u64) -> (Running, Vec<String>) {
    let (plan, events) = generated(seed, events);
    let node = Running::with(name, |settings| {
        settings.config.networks = Some(vec![network("main", plan.reader())]);
    });
    assert_eq!(post_lines(node.address(), &events.join("\n")).status, 200);
    node.check();
    (node, events)
}

fn views(node: &Running) -> serde_json::Value {
    shown(&node.store().read(), "main").expect("views")
}

#[test]
fn a_restart_keeps_everything_and_goes_on() {
    let (mut node, events) = with_log("restart", 21, 800);
    let (before, last, id) = (views(&node), node.store().last().expect("a sequence"), node.store().id());
    node.stop();
    node.start().expect("it starts");
    assert_eq!((node.store().last().expect("a sequence"), node.store().id()), (last, id));
    assert_eq!(differ(&before, &views(&node)), None);
    assert_eq!(post(node.address(), &events[0]).status, 200);
    let (_, more) = post_of(2, node.now(), "more");
    assert_eq!(post(node.address(), &more).json()["seq"], last.0 + 1);
    node.check();
    // Time goes on from where it was, even when the clock does not.
    node.settings.clock.set(Millis(node.now().0 - Millis::DAY.0));
    let before = node.store().read().ticked().expect("a tick").now;
    node.stop();
    node.start().expect("it starts");
    assert_eq!(node.store().read().ticked().expect("a tick").now, before);
    node.check();
}

#[test]
fn lost_and_wrong_views_are_corrected() {
    let (mut node, _) = with_log("corrected", 22, 800);
    let before = views(&node);
    node.stop();
    let open = |node: &Running| super::node::open(&node.settings.store);
    open(&node).forget_views().expect("forgotten");
    assert_eq!(open(&node).read().posts("main").expect("readable"), []);
    node.start().expect("it starts");
    node.check();
    assert_eq!(differ(&before, &views(&node)), None);
    node.stop();
    let store = open(&node);
    let (posts, authors) = {
        let reader = store.read();
        (reader.posts("main").expect("posts"), reader.authors("main").expect("authors"))
    };
    let mut wrong = ViewBatch::default();
    let mut better = posts[0].1.clone();
    better.score.0 += 1;
    wrong.post("main", posts[0].0, Some(&better)).expect("a record");
    wrong.post("main", posts[1].0, None).expect("a record");
    wrong.post("main", Hex32([7; 32]), Some(&better)).expect("a record");
    wrong.author("elsewhere", authors[0].0, Some(&authors[0].1)).expect("a record");
    wrong
        .entry("main", posts[2].0, true, Some(&wats_store::EntryRecord { threads: vec![posts[0].0] }))
        .expect("a record");
    store.publish(&wrong, TickMark::default()).expect("written");
    drop(store);
    node.start().expect("it starts");
    node.check();
    assert_eq!(differ(&before, &views(&node)), None);
    assert_eq!(node.store().read().authors("elsewhere").expect("readable"), []);
}

/// Writes the version of the schema.
fn database(store: &Path) -> DB {
    let (options, path) = (Options::default(), store.join("db"));
    let families = DB::list_cf(&options, &path).expect("families");
    DB::open_cf(&options, &path, families).expect("a database")
}

fn set_schema(store: &Path, version: u32) {
    database(store).put(b"schema", version.to_le_bytes()).expect("written");
}

/// From a damaged record nothing can be made again, and what there is must not be thrown away for it.
#[test]
fn a_repair_throws_nothing_away_where_the_sequence_is_damaged() {
    let (mut node, _) = with_log("repair", 29, 300);
    let ids: Vec<Hex32> =
        node.store().read().posts("main").expect("views").iter().map(|(id, _)| *id).collect();
    node.stop();
    let db = database(&node.settings.store);
    let family = |name: &str| db.cf_handle(name).expect("a family");
    db.put_cf(family("sequence"), 7u64.to_be_bytes(), b"not a record").expect("written");
    db.delete_cf(family("events"), ids[0].0).expect("written");
    drop(db);
    let store = Arc::new(open(&node.settings.store));
    let before = ids.iter().filter(|id| store.held(**id).expect("readable").is_some()).count();
    let found = doctor::sequence(&store, doctor::Mode::Repair).expect("readable");
    assert!(found.iter().all(|finding| finding.state == doctor::State::Bad), "{found:?}");
    let after = ids.iter().filter(|id| store.held(**id).expect("readable").is_some()).count();
    assert_eq!((before, after), (ids.len() - 1, ids.len() - 1));
}

#[test]
fn an_older_schema_is_migrated_and_a_newer_one_refused() {
    let (mut node, _) = with_log("schema", 23, 400);
    let before = views(&node);
    node.stop();
    set_schema(&node.settings.store, SCHEMA - 1);
    node.start().expect("it starts");
    node.check();
    assert_eq!(differ(&before, &views(&node)), None);
    node.stop();
    set_schema(&node.settings.store, SCHEMA + 1);
    let refused = node.start().expect_err("too new");
    let NodeError::Store(StoreError::Newer { found, .. }) = &refused else { panic!("{refused}") };
    assert_eq!(*found, SCHEMA + 1);
    assert!(refused.to_string().contains("use the newer wats, or restore a backup"), "{refused}");
    set_schema(&node.settings.store, SCHEMA);
    node.start().expect("it starts");
    node.check();
}

/// Event text that the fifth edition took and the sixth refuses: a number beyond 2^53 - 1. Its id is the hash of
/// what RFC 8785 makes of it.
fn of_an_earlier_edition(author: Hex32, at: Millis) -> (Hex32, String) {
    let canonical = format!(
        r#"{{"author":"{author}","created_at":{},"data":{{"n":1e+300}},"kind":"post","net":"main","text":"x","v":1}}"#,
        at.0
    );
    let id = Hex32(*blake3::hash(canonical.as_bytes()).as_bytes());
    let sig = "0".repeat(128);
    let text = canonical.replace(r#""kind""#, &format!(r#""id":"{id}","sig":"{sig}","kind""#));
    (id, text)
}

#[test]
fn an_event_that_an_earlier_edition_took_stays_and_is_left_out() {
    let (mut node, _) = with_log("edition", 24, 400);
    let before = views(&node);
    node.stop();
    let (id, text) = {
        let store = Arc::new(open(&node.settings.store));
        let (_, valid) = post_of(2, node.now(), "taken then");
        let mut event = wats_event::parse(valid.as_bytes(), &Rules::any()).expect("valid");
        let (id, text) = of_an_earlier_edition(event.author, node.now());
        event.id = id;
        let mut appender = Appender::new(store).expect("a store");
        appender.event(&event, node.now(), &text).expect("taken");
        appender.commit().expect("durable");
        (id, text)
    };
    assert!(wats_event::parse(text.as_bytes(), &Rules::any()).is_err());
    node.start().expect("it starts");
    assert_eq!(differ(&before, &views(&node)), None);
    assert!(node.store().held(id).expect("readable").is_some(), "nothing acknowledged is lost");
    node.check();
    node.stop();
    let store = Arc::new(open(&node.settings.store));
    let found = doctor::sequence(&store, doctor::Mode::Repair).expect("readable");
    assert!(found.iter().all(|finding| finding.state == doctor::State::Good), "{found:?}");
    // A bit of it that changes is damage all the same.
    let changed = text.replace("1e+300", "1e+301");
    assert_eq!(wats_event::log::read_stored(&text, id, &Rules::any()), Ok(None));
    assert!(wats_event::log::read_stored(&changed, id, &Rules::any()).is_err());
}

#[test]
fn a_second_process_is_told_who_holds_the_store() {
    let mut node = Running::new("locked");
    let second = wats_node::Node::start(node.settings.clone()).expect_err("locked");
    let me = std::process::id();
    assert!(matches!(second, NodeError::Store(StoreError::Locked { pid: Some(pid), .. }) if pid == me));
    // From another process, by the command line: the directory of the node is one above its store.
    let run = || {
        std::process::Command::new(env!("CARGO_BIN_EXE_wats"))
            .args(["node", "--dir", node.dir.to_str().expect("UTF-8"), "--listen", "127.0.0.1:0"])
            .output()
            .expect("wats runs")
    };
    let output = run();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains(&format!("is in use by process {me}")), "{words}");
    // The one that runs is not disturbed.
    assert_eq!(post(node.address(), &post_of(2, node.now(), "still here").1).status, 201);
    assert!(node.settings.socket.exists());
    node.check();
    node.stop();
    node.start().expect("it starts");
}

#[test]
fn a_stop_under_load_loses_nothing_acknowledged() {
    let mut node = Running::new("stop");
    for round in 0..4u16 {
        let address = node.address();
        let acknowledged = Mutex::new(BTreeSet::new());
        thread::scope(|scope| {
            for client in 0..3u16 {
                let (acknowledged, at) = (&acknowledged, node.now());
                scope.spawn(move || {
                    for n in 0.. {
                        let say = |i| post_of(10 + client, at, &format!("{round} {n} {i}"));
                        let lines: Vec<String> = (0..20).map(|i| say(i).1).collect();
                        let body = lines.join("\n");
                        let Ok(answer) = try_call(address, "POST", "/v1/events", &[LINES], body.as_bytes())
                        else {
                            return;
                        };
                        let taken = answer.lines().into_iter().filter(|l| l["outcome"] == "accepted");
                        let ids = taken.map(|l| l["id"].as_str().expect("an id").to_owned());
                        acknowledged.lock().expect("a set").extend(ids);
                        if answer.status != 200 {
                            return;
                        }
                    }
                });
            }
            node.until("some load", |node| {
                node.core().durable.load(std::sync::atomic::Ordering::Relaxed) > 300
            });
            thread::sleep(std::time::Duration::from_millis(40 * u64::from(round)));
            node.stop();
        });
        node.start().expect("it starts");
        let acknowledged = acknowledged.into_inner().expect("a set");
        assert!(!acknowledged.is_empty());
        for id in acknowledged {
            let id = Hex32::parse(&id).expect("hex");
            assert!(node.store().event(id).expect("readable").is_some(), "{id} was acknowledged and is lost");
        }
        node.check();
    }
}

#[test]
fn a_network_that_is_not_carried_for_a_while_comes_back() {
    let mut node = Running::with("removed", |settings| {
        let side = network("side", secret(1).public());
        settings.config.networks.as_mut().expect("networks").push(side);
    });
    let from = get(node.address(), "/v1/wait?network=side&timeout=0").json()["cursor"].clone();
    let from = from.as_str().expect("a cursor").to_owned();
    let (main, text) = post_of(2, node.now(), "in main");
    assert_eq!(post(node.address(), &text).status, 201);
    let say = serde_json::json!({ "kind": "post", "text": "in side" });
    let (side, in_side) = super::node::signed_in("side", 2, node.now(), say);
    assert_eq!(post(node.address(), &in_side).status, 201);
    node.check();
    let waited = get(node.address(), &format!("/v1/wait?network=side&timeout=0&cursor={from}")).json();
    assert_eq!(waited["events"][0]["id"], side.to_string());
    let before = shown(&node.store().read(), "side").expect("views");
    let all = node.settings.config.networks.clone();
    node.stop();
    node.settings.config.networks.as_mut().expect("networks").pop();
    node.start().expect("it starts");
    node.check();
    let none = serde_json::json!({ "posts": {}, "authors": {}, "entries": [] });
    assert_eq!(shown(&node.store().read(), "side").expect("views"), none);
    assert!(node.store().event(side).expect("readable").is_some());
    assert_eq!(get(node.address(), &format!("/v1/events/{side}")).status, 404);
    assert_eq!(get(node.address(), &format!("/v1/threads/{side}")).status, 404);
    let waited = get(node.address(), &format!("/v1/wait?network=side&timeout=0&cursor={from}"));
    assert_eq!(waited.short(), (404, "wrong_network".into()));
    assert_eq!(get(node.address(), &format!("/v1/events/{main}")).status, 200);
    assert_eq!(post(node.address(), &in_side).short(), (422, "wrong_network".into()));
    node.stop();
    node.settings.config.networks = all;
    node.start().expect("it starts");
    node.check();
    assert_eq!(differ(&before, &shown(&node.store().read(), "side").expect("views")), None);
    assert_eq!(post(node.address(), &in_side).status, 200);
}
