//! Asks that name keys or capabilities, and who hears of them when.

use super::{Story, http, ids, stray};
use crate::node::{Running, secret, signed_in};
use serde_json::{Value, json};
use std::thread::{self, JoinHandle};
use wats_event::Hex32;
use wats_model::ids::Millis;

/// The head start that nobody configured.
const HEAD_START: Millis = Millis(10_000);

fn cursor(story: &Story, rest: &str) -> String {
    story.get(&format!("/v1/wait?network=main&timeout=0{rest}"))["cursor"]
        .as_str()
        .expect("a cursor")
        .to_owned()
}

/// What is new for somebody, and where to go on.
fn look(story: &Story, from: &str, rest: &str) -> (Vec<Hex32>, String) {
    let page = story.get(&format!("/v1/wait?network=main&timeout=0&cursor={from}{rest}"));
    (ids(&page["events"]), page["cursor"].as_str().expect("a cursor").to_owned())
}

fn wait_in_a_thread(story: &Story, rest: &str) -> JoinHandle<Vec<Hex32>> {
    let before = story.running.node().core().waiters.count();
    let (address, path) = (story.running.address(), format!("/v1/wait?network=main&timeout=50{rest}"));
    let waiting = thread::spawn(move || ids(&http::get(address, &path).json()["events"]));
    story.running.until("one more who waits", |node| node.core().waiters.count() == before + 1);
    waiting
}

fn announce(story: &Story, key: u16, tags: &[&str]) {
    let announce = json!({ "kind": "announce", "tags": tags });
    story.send(signed_in("main", key, story.running.now(), announce));
    story.running.settle();
}

fn ask(story: &Story, title: &str, rest: &Value) -> Hex32 {
    let mut ask = json!({ "kind": "ask", "title": title });
    rest.as_object().expect("members").iter().for_each(|(name, value)| ask[name] = value.clone());
    story.send(signed_in("main", 6, story.running.now(), ask))
}

fn key(n: u16) -> Hex32 {
    secret(n).public()
}

#[test]
fn an_ask_reaches_those_it_is_for_at_once_and_everybody_after_a_head_start() {
    let story = Story::new("head-start");
    announce(&story, 7, &["cap:rust", "lang:fr"]);
    announce(&story, 8, &["cap:rust", "cap:gpu"]);
    let from = cursor(&story, "");
    let rust = ask(&story, "rust?", &json!({ "tags": ["cap:rust", "x"] }));
    let both = ask(&story, "both?", &json!({ "tags": ["cap:gpu", "cap:rust"] }));
    let named = ask(&story, "you?", &json!({ "to": [key(9)] }));
    let plain = ask(&story, "anybody?", &json!({ "tags": ["x"] }));
    let post = story.send(signed_in(
        "main",
        6,
        story.running.now(),
        json!({ "kind": "post", "text": "x", "tags": ["cap:rust"] }),
    ));
    story.running.settle();
    for (who, want) in [
        (format!("&as={}", key(7)), vec![rust, plain, post]),
        (format!("&as={}", key(8)), vec![rust, both, plain, post]),
        (format!("&as={}", key(9)), vec![named, plain, post]),
        // The asker knows its own asks.
        (format!("&as={}", key(6)), vec![rust, both, named, plain, post]),
        // Whoever waits for just these says who it is thereby.
        (format!("&to={}", key(9)), vec![named]),
        ("&tag=cap:rust".into(), vec![rust, post]),
        ("&tag=cap:gpu".into(), vec![]),
        ("&tag=x".into(), vec![plain]),
        (String::new(), vec![plain, post]),
    ] {
        assert_eq!(look(&story, &from, &who).0, want, "{who}");
    }
    // It is read and found by anybody meanwhile.
    assert_eq!(http::get(story.running.address(), &format!("/v1/events/{rust}")).status, 200);
    let (_, held) = look(&story, &from, "");
    story.running.pass(Millis(HEAD_START.0 - 1));
    assert_eq!(look(&story, &held, "").0, []);
    story.running.pass(Millis(1));
    assert_eq!(look(&story, &held, "").0, [rust, both, named]);
    assert_eq!(look(&story, &from, "").0, [rust, both, named, plain, post], "from before, in their order");
}

#[test]
fn what_is_held_back_is_neither_lost_nor_told_twice() {
    let story = Story::new("held-back");
    announce(&story, 7, &["cap:rust"]);
    let (everybody, capable) = (String::new(), format!("&as={}", key(7)));
    let start = cursor(&story, "");
    let mut sent = Vec::new();
    let mut told = [(start.clone(), Vec::new()), (start, Vec::new())];
    // More asks than a cursor holds, at different times, among other events; looked at in small pages.
    for n in 0..60u64 {
        sent.push(match n % 3 {
            0 => story.send(stray(&story, &format!("post {n}"))),
            _ => ask(&story, &format!("ask {n}"), &json!({ "tags": ["cap:rust"] })),
        });
        story.running.settle();
        story.running.pass(Millis(n % 7 * 100));
        if n % 4 == 0 {
            for ((cursor, all), who) in told.iter_mut().zip([&everybody, &capable]) {
                let (events, next) = look(&story, cursor, &format!("{who}&limit=3"));
                all.extend(events);
                *cursor = next;
            }
        }
    }
    story.running.pass(HEAD_START);
    for ((mut cursor, mut all), who) in told.into_iter().zip([&everybody, &capable]) {
        loop {
            let (events, next) = look(&story, &cursor, &format!("{who}&limit=7"));
            if events.is_empty() {
                break;
            }
            all.extend(events);
            cursor = next;
        }
        assert_eq!(cursor.len(), 52, "nothing is held back any more");
        if who == &capable {
            assert_eq!(all, sent, "who is capable hears of everything in its order");
        }
        all.sort_unstable();
        let mut want = sent.clone();
        want.sort_unstable();
        assert_eq!(all, want, "each once: {who}");
    }
}

#[test]
fn one_who_learns_or_forgets_a_capability_meanwhile_hears_of_each_ask_once() {
    let story = Story::new("learns");
    announce(&story, 7, &["cap:rust"]);
    let who = format!("&as={}", key(7));
    let from = cursor(&story, &who);
    let rust = ask(&story, "rust?", &json!({ "tags": ["cap:rust"] }));
    let gpu = ask(&story, "gpu?", &json!({ "tags": ["cap:gpu"] }));
    story.running.settle();
    let (first, next) = look(&story, &from, &who);
    assert_eq!(first, [rust]);
    story.running.pass(Millis(1));
    announce(&story, 7, &["cap:gpu"]);
    let (second, next) = look(&story, &next, &format!("{who}&kind=ask"));
    assert_eq!(second, [gpu]);
    story.running.pass(HEAD_START);
    assert_eq!(look(&story, &next, &format!("{who}&kind=ask")).0, []);
}

#[test]
fn those_who_wait_are_woken_by_an_ask_for_them_and_the_others_when_it_is_for_all() {
    let story = Story::new("routed");
    announce(&story, 7, &["cap:rust"]);
    let capable = wait_in_a_thread(&story, &format!("&as={}&kind=ask", key(7)));
    let named = wait_in_a_thread(&story, &format!("&as={}", key(9)));
    let other = wait_in_a_thread(&story, &format!("&as={}", key(8)));
    let plain = wait_in_a_thread(&story, "");
    let asked = ask(&story, "rust?", &json!({ "tags": ["cap:rust"], "to": [key(9)] }));
    assert_eq!(capable.join().expect("an answer"), [asked]);
    assert_eq!(named.join().expect("an answer"), [asked]);
    assert_eq!(story.running.node().core().waiters.count(), 2, "the others wait on");
    assert!(!other.is_finished() && !plain.is_finished());
    story.running.pass(HEAD_START);
    assert_eq!(other.join().expect("an answer"), [asked]);
    assert_eq!(plain.join().expect("an answer"), [asked]);
}

#[test]
fn an_ask_that_nobody_waited_for_is_found_by_the_next_wait_after_a_restart_too() {
    let mut story = Story::new("nobody-waits");
    let from = cursor(&story, "");
    let asked = ask(&story, "you?", &json!({ "to": [key(9)] }));
    story.running.settle();
    let (none, held) = look(&story, &from, "");
    assert_eq!(none, []);
    story.running.stop();
    story.running.start().expect("it starts again");
    assert_eq!(look(&story, &from, &format!("&as={}", key(9))).0, [asked]);
    // Whoever was held back from it before the restart is woken after the head start.
    let waiting = wait_in_a_thread(&story, &format!("&cursor={held}"));
    story.running.pass(HEAD_START);
    story.running.settle();
    story.send(stray(&story, "something that wakes"));
    assert_eq!(waiting.join().expect("an answer")[0], asked);
}

#[test]
fn without_a_head_start_an_ask_is_for_everybody_at_once() {
    let at_once =
        Running::with("no-head-start", |settings| settings.limits.head_start = std::time::Duration::ZERO);
    let story = Story::on(at_once);
    let from = cursor(&story, "");
    let asked = ask(&story, "you?", &json!({ "to": [key(9)], "tags": ["cap:rust"] }));
    story.running.settle();
    assert_eq!(look(&story, &from, "").0, [asked]);
}
