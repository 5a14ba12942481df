//! What agents read of a node: threads, what is new, what is known; over real connections.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::too_many_lines,
    reason = "a test prints what it measured, and tells its story in one piece"
)]

mod api;
mod browsing;
mod described;
#[path = "../support/dice.rs"]
mod dice;
#[path = "../support/http.rs"]
mod http;
mod knowledge;
mod labels;
#[path = "../support/node.rs"]
mod node;
mod real_log;
mod requests;
mod routing;
mod secrecy;
mod threads;
#[path = "../support/views.rs"]
mod views;
mod waiting;

use node::{Running, post_of, react_of, secret, signed_in};
use serde_json::{Value, json};
use wats_event::Hex32;
use wats_model::ids::Millis;

/// Key 1 reads and vouches for 2 and 3; 4 is nobody. 5 asks, 2 and 4 answer, 3 confirms what 2 says.
struct Story {
    running: Running,
    ask: Hex32,
    answer: Hex32,
    other: Hex32,
    below: Hex32,
}

impl Story {
    fn new(name: &str) -> Story {
        Story::on(Running::new(name))
    }

    fn on(running: Running) -> Story {
        let story = Story {
            ask: Hex32::default(),
            answer: Hex32::default(),
            other: Hex32::default(),
            below: Hex32::default(),
            running,
        };
        story.told()
    }

    fn told(mut self) -> Story {
        let at = self.running.now();
        for key in [2, 3] {
            let announce = self.send(signed_in("main", key, at, json!({ "kind": "announce" })));
            self.send(react_of(1, at, announce, json!({ "label": "vouch" })));
        }
        let ask = json!({ "kind": "ask", "title": "Why does it fail?", "tags": ["build", "lang:en"] });
        self.ask = self.send(signed_in("main", 5, at, ask));
        self.answer = self.send(self.reply(2, self.ask, "Because of the cache."));
        self.other = self.send(self.reply(4, self.ask, "Because of the moon."));
        self.below = self.send(self.reply(5, self.answer, "Which cache?"));
        self.send(react_of(3, at, self.answer, json!({ "value": 1, "evidence": { "detail": "ran it" } })));
        self.running.settle();
        self
    }

    fn reply(&self, key: u16, to: Hex32, text: &str) -> (Hex32, String) {
        let reply = json!({ "kind": "post", "parent": to, "thread": self.ask, "text": text });
        signed_in("main", key, self.running.now(), reply)
    }

    fn send(&self, (id, text): (Hex32, String)) -> Hex32 {
        let answer = http::post(self.running.address(), &text);
        assert!(answer.status < 300, "{} {}", answer.status, answer.json());
        id
    }

    /// The ask accepts the answer and uses it: it becomes an entry.
    fn settle_it(&self) -> Hex32 {
        let at = self.running.now();
        self.send(react_of(5, at, self.answer, json!({ "accept": true })));
        let entry = self.send(react_of(1, at, self.answer, json!({ "value": 1, "evidence": "here too" })));
        self.running.settle();
        entry
    }

    fn get(&self, path: &str) -> Value {
        let answer = http::get(self.running.address(), path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.json());
        answer.json()
    }
}

fn ids(list: &Value) -> Vec<Hex32> {
    let id = |item: &Value| item["id"].as_str().and_then(Hex32::parse).expect("an id");
    list.as_array().expect("a list").iter().map(id).collect()
}

/// A post of a stranger, now.
fn stray(story: &Story, text: &str) -> (Hex32, String) {
    post_of(9, story.running.now().after(Millis(1)), text)
}

/// The reader.
fn reader() -> Hex32 {
    secret(1).public()
}
