//! Starts that are refused, and what a node says before it is ready.

use super::http::{get, post};
use super::node::{Running, generated, network, post_of, scratch, settings};
use std::net::TcpListener;
use wats_config::Token;
use wats_node::{Node, NodeError, Phase};

#[test]
fn off_the_loopback_a_node_needs_a_token() {
    let mut settings = settings(&scratch("open"));
    for open in ["0.0.0.0:0", "[::]:0"] {
        settings.listen = open.parse().expect("an address");
        let refused = Node::start(settings.clone()).expect_err("open to anybody");
        assert!(matches!(refused, NodeError::Open(_)), "{refused}");
        assert!(refused.to_string().contains("token_file"), "{refused}");
    }
    assert!(!settings.store.exists());
    settings.listen = "0.0.0.0:0".parse().expect("an address");
    settings.token = Token::new("a-token-that-nobody-guesses");
    let node = Node::start(settings).expect("it starts");
    node.wait_ready().expect("ready");
    let address = ([127, 0, 0, 1], node.address().port()).into();
    assert_eq!(post(address, "{}").status, 401);
    node.stop().expect("it stops");
}

#[test]
fn an_address_in_use_leaves_nothing_behind() {
    let mut settings = settings(&scratch("in_use"));
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    settings.listen = taken.local_addr().expect("an address");
    for _ in 0..2 {
        let refused = Node::start(settings.clone()).expect_err("in use");
        assert!(matches!(&refused, NodeError::Listen { .. }), "{refused}");
    }
    // The store was let go of, or this would say that it is in use.
    settings.listen.set_port(0);
    let node = Node::start(settings).expect("it starts");
    node.wait_ready().expect("ready");
    node.stop().expect("it stops");
}

#[test]
fn while_it_loads_a_node_says_so() {
    let (plan, events) = generated(31, 4_000);
    let mut node = Running::with("loading", |settings| {
        settings.config.networks = Some(vec![network("main", plan.reader())]);
    });
    assert_eq!(super::http::post_lines(node.address(), &events.join("\n")).status, 200);
    node.check();
    let (_, event) = post_of(2, node.now(), "too early");
    let wait = "/v1/wait?network=main&timeout=0";
    let began = get(node.address(), wait).json()["cursor"].as_str().expect("a cursor").to_owned();
    let goes_on = format!("{wait}&cursor={began}");
    let mut refused = 0;
    for _ in 0..5 {
        node.stop();
        let loading = Node::start(node.settings.clone()).expect("it starts");
        let (answer, ready) = (post(loading.address(), &event), get(loading.address(), "/readyz"));
        let health = get(loading.address(), "/healthz");
        let waited = [wait, &goes_on].map(|path| get(loading.address(), path));
        if loading.core().phase() == Phase::Loading {
            refused += 1;
            assert_eq!(answer.short(), (503, "loading".into()));
            assert_eq!(answer.header("retry-after"), Some("10"));
            assert_eq!((ready.status, &ready.json()["phase"]), (503, &"loading".into()));
            assert_eq!(health.status, 200);
            for waited in waited {
                assert_eq!(waited.short(), (503, "loading".into()));
                assert_eq!(waited.header("retry-after"), Some("10"));
            }
        }
        // A stop in the middle of it is a stop.
        loading.stop().expect("it stops");
        node.start().expect("it starts");
    }
    assert!(refused > 0, "it was ready before anybody could ask");
    let ready = get(node.address(), "/readyz");
    assert_eq!((ready.status, &ready.json()["ready"]), (200, &true.into()));
    let page = get(node.address(), wait).json();
    assert_eq!(page["events"], serde_json::json!([]), "what was there before is no news");
    assert_eq!(page["more"], false);
    node.check();
}
