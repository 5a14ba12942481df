//! Labels of networks, in every answer that shows statuses: `cold` and `alone`.

use super::http;
use super::node::{Running, network, post_of, react_of, secret, signed_in};
use serde_json::{Value, json};
use wats_api::client::{Client, Node as Address};
use wats_event::Hex32;
use wats_model::ids::Millis;

const LABEL: &str = "network_label";

/// A node on which an ask has an answer.
struct Labelled {
    running: Running,
    ask: Hex32,
}

impl Labelled {
    fn new(name: &str) -> Labelled {
        Labelled::on(Running::new(name))
    }

    fn on(running: Running) -> Labelled {
        let mut all = Labelled { ask: Hex32::default(), running };
        all.ask =
            all.send(signed_in("main", 5, all.running.now(), json!({ "kind": "ask", "title": "Why?" })));
        let answer = json!({ "kind": "post", "parent": all.ask, "thread": all.ask, "text": "Because." });
        all.send(signed_in("main", 2, all.running.now(), answer));
        all.settle();
        all
    }

    fn send(&self, (id, text): (Hex32, String)) -> Hex32 {
        let answer = http::post(self.running.address(), &text);
        assert!(answer.status < 300, "{} {}", answer.status, answer.json());
        id
    }

    /// An announce, and a vouch for it.
    fn vouch(&self, by: u16, of: u16) {
        let at = self.running.now();
        let announce = self.send(signed_in("main", of, at, json!({ "kind": "announce" })));
        self.send(react_of(by, at, announce, json!({ "label": "vouch" })));
    }

    fn settle(&self) {
        self.running.check();
        self.running.until("it is indexed", |node| {
            let page = http::get(node.address(), "/v1/search?network=main&q=because&include_low=true").json();
            page["hits"] != json!([])
        });
    }

    fn paths(&self) -> Vec<String> {
        let ask = self.ask;
        vec![
            "/v1/search?network=main&q=because&include_low=true".into(),
            "/v1/search?network=main&q=nothing".into(),
            format!("/v1/threads/{ask}"),
            format!("/v1/events/{ask}"),
            "/v1/wait?network=main&timeout=0".into(),
            "/v1/knowledge?network=main".into(),
            "/v1/browse?network=main&by=tag".into(),
            format!("/v1/browse?network=main&by=thread&under={ask}"),
        ]
    }

    /// An answer, for a client by address.
    fn get(&self, path: &str) -> Value {
        let answer = http::get(self.running.address(), path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.json());
        answer.json()
    }

    /// An answer, for the owner.
    fn owner(&self, path: &str) -> Value {
        let socket = Address::Socket(self.running.settings.socket.clone());
        Client::connect(socket).expect("a node").get(path).expect("an answer")
    }

    /// That everybody is told the same label, or none, and that the key is for the owner alone.
    fn told(&self, label: Option<&str>, key: Option<u16>) {
        self.settle();
        let key = key.map(|key| secret(key).public().to_string());
        let seen = |told: &Value, key: Option<&str>, of: &str| {
            let Some(label) = label else {
                assert!(told.is_null(), "{of}: {told}");
                return;
            };
            assert_eq!((told["label"].as_str(), told["key"].as_str()), (Some(label), key), "{of}: {told}");
            assert!(told["advice"].as_str().is_some_and(|advice| advice.contains("`wats ")), "{of}: {told}");
            let members = told.as_object().expect("members").len();
            assert_eq!(members, 2 + usize::from(key.is_some()), "{of}: {told}");
        };
        for path in self.paths() {
            let answer = self.get(&path);
            seen(&answer[LABEL], None, &path);
            if let Some(key) = &key {
                assert!(!answer[LABEL].to_string().contains(key), "{path}: {answer}");
            }
            seen(&self.owner(&path)[LABEL], key.as_deref(), &path);
        }
        let status = self.owner("/admin/status");
        seen(&status["networks"][0][LABEL], key.as_deref(), "status");
        seen(&self.owner("/admin/label/main")[LABEL], key.as_deref(), "label");
        let explained = self.owner(&format!("/admin/explain/{}", self.ask));
        seen(&explained["explained"][0][LABEL], key.as_deref(), "why");
        let text = explained["text"].as_str().expect("a text");
        assert_eq!(text.contains(&format!("main is {}", label.unwrap_or("?"))), label.is_some(), "{text}");
    }
}

#[test]
fn a_network_is_cold_until_enough_others_are_trusted() {
    let all = Labelled::new("label-cold");
    all.told(Some("cold"), None);
    // One vouch is not enough. Whom that key vouches for is known at second hand: to vouch for it helps most.
    all.vouch(1, 2);
    all.told(Some("cold"), None);
    all.vouch(2, 3);
    all.told(Some("cold"), Some(3));
    all.vouch(1, 3);
    all.told(None, None);
    assert_eq!(http::get(all.running.address(), "/admin/label/main").status, 404, "on the socket alone");
    let socket = Address::Socket(all.running.settings.socket.clone());
    assert!(Client::connect(socket).expect("a node").get("/admin/label/other").is_err());
}

#[test]
fn a_key_that_has_announced_nothing_is_not_named_as_nobody_can_vouch_for_it() {
    let all = Labelled::new("label-silent");
    let post = all.send(post_of(4, all.running.now(), "It works like this."));
    all.send(react_of(1, all.running.now(), post, json!({ "used": true })));
    all.told(Some("cold"), None);
    all.send(signed_in("main", 4, all.running.now(), json!({ "kind": "announce" })));
    all.told(Some("cold"), Some(4));
}

#[test]
fn a_reader_is_alone_when_all_that_it_relied_on_has_decayed() {
    let all = Labelled::new("label-alone");
    let at = all.running.now();
    let mut posts = Vec::new();
    for (key, text) in [(2, "one"), (2, "two"), (3, "three"), (3, "four")] {
        posts.push(all.send(post_of(key, at, text)));
    }
    for post in &posts {
        all.send(react_of(1, at, *post, json!({ "used": true })));
    }
    all.told(None, None);
    all.running.pass(Millis::days(2_500));
    all.told(Some("alone"), None);
    // It did rely on others once, and does not grow cold by silence; it renews what still holds.
    all.send(react_of(1, all.running.now(), posts[0], json!({ "still_valid": true })));
    all.told(None, None);
}

#[test]
fn where_the_reader_has_no_key_it_is_told_to_make_one() {
    let mut all = Labelled::on(Running::with("label-side", |settings| {
        let mut side = network("side", secret(1).public());
        side.profiles.clear();
        settings.config.networks.as_mut().expect("networks").push(side);
    }));
    all.send(signed_in("side", 2, all.running.now(), json!({ "kind": "post", "text": "hello" })));
    all.settle();
    let told = |all: &Labelled| all.get("/v1/knowledge?network=side")[LABEL].clone();
    let advice = told(&all)["advice"].as_str().expect("a sentence").to_owned();
    assert!(
        told(&all)["label"] == "cold" && advice.contains("`profiles`") && !advice.contains("vouch"),
        "{advice}"
    );
    // The label of a network is its own, and the same after a start.
    all.vouch(1, 2);
    all.vouch(1, 3);
    all.told(None, None);
    assert_eq!(told(&all)["label"], "cold");
    all.running.stop();
    all.running.start().expect("it starts");
    all.told(None, None);
    assert_eq!(told(&all)["label"], "cold");
}
