//! `GET /v1/wait`

use super::http;
use super::{Story, ids, stray};
use crate::node::{react_of, secret, signed_in};
use serde_json::{Value, json};
use std::thread;
use std::time::Duration;
use wats_model::ids::Millis;

fn cursor(story: &Story, filter: &str) -> String {
    let page = story.get(&format!("/v1/wait?network=main&timeout=0{filter}"));
    assert_eq!(page["events"], json!([]), "a wait begins now");
    page["cursor"].as_str().expect("a cursor").to_owned()
}

#[test]
fn what_is_new_comes_in_the_order_of_the_sequence_with_labels() {
    let story = Story::new("order");
    let from = cursor(&story, "");
    let sent: Vec<_> = (0..5).map(|n| story.send(stray(&story, &format!("news {n}")))).collect();
    story.running.settle();
    let page = story.get(&format!("/v1/wait?network=main&cursor={from}&limit=3"));
    assert_eq!((ids(&page["events"]), &page["more"]), (sent[..3].to_vec(), &json!(true)));
    assert_eq!(page["events"][0]["status"], "unverified");
    let next = page["cursor"].as_str().unwrap();
    let rest = story.get(&format!("/v1/wait?network=main&cursor={next}&limit=3"));
    assert_eq!((ids(&rest["events"]), &rest["more"]), (sent[3..].to_vec(), &json!(false)));
}

#[test]
fn a_page_of_large_news_ends_early_and_a_look_at_much_goes_on_later() {
    let story = Story::new("large-news");
    let (from, at) = (cursor(&story, ""), story.running.now());
    let large = |n: usize| {
        let post = json!({ "kind": "post", "text": format!("{n}"), "data": { "log": "x".repeat(240_000) } });
        signed_in("main", 9, at, post)
    };
    // More than one look reads.
    let sent: Vec<_> = (0..75).map(|n| story.send(large(n))).collect();
    story.running.settle();
    let pages = |filter: &str| {
        let (mut found, mut pages, mut next) = (Vec::new(), 0, from.clone());
        loop {
            let path = format!("/v1/wait?network=main&timeout=0&limit=100&cursor={next}{filter}");
            let answer = http::get(story.running.address(), &path);
            assert!(answer.body.len() < 2 << 20, "{} bytes", answer.body.len());
            let page = answer.json();
            found.extend(ids(&page["events"]));
            pages += 1;
            next = page["cursor"].as_str().expect("a cursor").to_owned();
            if page["more"] == false {
                return (found, pages);
            }
        }
    };
    let (found, few) = pages("");
    assert_eq!(found, sent, "each once, in their order");
    assert!(few > 10, "{few} pages");
    assert_eq!(pages("&tag=none"), (Vec::new(), 2));
}

#[test]
fn filters_choose_and_a_time_out_is_an_empty_page_with_the_cursor() {
    let story = Story::new("filters");
    let from = cursor(&story, "");
    let at = story.running.now();
    let to = secret(7).public();
    let ask = story.send(signed_in(
        "main",
        6,
        at,
        json!({ "kind": "ask", "title": "?", "to": [to], "tags": ["cap:rust"] }),
    ));
    let post = story.send(stray(&story, "a post"));
    let react = story.send(react_of(6, at, story.answer, json!({ "used": true })));
    // The ask's head start is over.
    story.running.pass(Millis(10_000));
    story.running.settle();
    for (filter, want) in [
        ("", vec![ask, post, react]),
        ("&kind=ask", vec![ask]),
        ("&tag=cap:rust", vec![ask]),
        (&format!("&to={to}"), vec![ask]),
        (&format!("&author={}", secret(9).public()), vec![post]),
        (&format!("&thread={}", story.ask), vec![react]),
        ("&min_status=unverified", vec![ask, post]),
        ("&min_status=confirmed", vec![]),
        ("&kind=announce", vec![]),
    ] {
        let page = story.get(&format!("/v1/wait?network=main&cursor={from}&timeout=0{filter}"));
        assert_eq!(ids(&page["events"]), want, "{filter}");
        let next = page["cursor"].as_str().unwrap();
        let none = story.get(&format!("/v1/wait?network=main&cursor={next}&timeout=0{filter}"));
        assert_eq!(none["events"], json!([]), "{filter}");
    }
    let path = format!("/v1/wait?network=side&cursor={from}&timeout=0");
    let elsewhere = http::get(story.running.address(), &path);
    assert_eq!(elsewhere.short(), (404, "wrong_network".into()));
}

#[test]
fn one_who_waits_is_woken_by_what_it_waits_for() {
    let story = Story::new("woken");
    let path = "/v1/wait?network=main&tag=mine&timeout=30";
    let address = story.running.address();
    let waiting = thread::spawn(move || http::get(address, path).json());
    story.running.until("somebody who waits", |node| node.core().waiters.count() == 1);
    story.send(stray(&story, "not for you"));
    let tagged = json!({ "kind": "post", "title": "for you", "tags": ["mine"] });
    let mine = story.send(signed_in("main", 6, story.running.now(), tagged));
    let page: Value = waiting.join().expect("an answer");
    assert_eq!(ids(&page["events"]), [mine]);
    story.running.until("nobody who waits", |node| node.core().waiters.count() == 0);
}

#[test]
fn one_who_waits_on_a_thread_hears_when_its_entry_changes() {
    let story = Story::new("entry");
    let filter = format!("&thread={}&kind=digest", story.ask);
    let from = cursor(&story, &filter);
    let path = format!("/v1/wait?network=main&cursor={from}&timeout=30{filter}");
    let address = story.running.address();
    let waiting = thread::spawn(move || http::get(address, &path).json());
    story.running.until("somebody who waits", |node| node.core().waiters.count() == 1);
    story.settle_it();
    let page: Value = waiting.join().expect("an answer");
    assert_eq!(page["knowledge"]["id"], story.answer.to_string());
    assert_eq!(page["events"], json!([]));
    // It loses its standing: key 2 is vouched for no more, nor is 3, and a contradiction of the reader stands.
    let next = page["cursor"].as_str().unwrap();
    story.send(react_of(
        1,
        story.running.now(),
        story.answer,
        json!({ "value": -1, "evidence": "it broke" }),
    ));
    let later = story.get(&format!("/v1/wait?network=main&cursor={next}&timeout=30{filter}"));
    assert_eq!(later["knowledge"]["id"], Value::Null);
}

#[test]
fn a_cursor_survives_a_restart_and_no_other_store() {
    let mut story = Story::new("survives");
    let from = cursor(&story, "");
    let sent = story.send(stray(&story, "before"));
    story.running.settle();
    story.running.stop();
    story.running.start().expect("it starts again");
    let page = story.get(&format!("/v1/wait?network=main&cursor={from}"));
    assert_eq!(ids(&page["events"]), [sent]);
    let other = Story::new("survives-other");
    let answer = http::get(other.running.address(), &format!("/v1/wait?network=main&cursor={from}"));
    assert_eq!(answer.short(), (410, "cursor_gone".into()));
    for wrong in ["cursor=x", "min_status=good", "to=zz", "nonsense=1"] {
        let answer = http::get(story.running.address(), &format!("/v1/wait?network=main&timeout=0&{wrong}"));
        assert_eq!(answer.status, 400, "{wrong}");
    }
}

#[test]
fn a_node_that_stops_lets_go_of_those_who_wait() {
    let mut story = Story::new("lets-go");
    let address = story.running.address();
    let waiting: Vec<_> = (0..20)
        .map(|_| thread::spawn(move || http::get(address, "/v1/wait?network=main&timeout=50").status))
        .collect();
    story.running.until("all who wait", |node| node.core().waiters.count() == 20);
    thread::sleep(Duration::from_millis(50));
    story.running.stop();
    for waiting in waiting {
        assert_eq!(waiting.join().expect("an answer"), 200);
    }
}
