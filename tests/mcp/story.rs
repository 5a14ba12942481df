//! A question from beginning to end, with agents of different standing: what the reader sees at each step is
//! what a person would expect.

use super::mcp::Host;
use super::{House, Other, until};
use serde_json::{Value, json};

struct Reader {
    house: House,
    host: Host,
    ask: String,
}

impl Reader {
    fn new() -> Reader {
        let house = House::new("story");
        let mut host = house.host();
        let asked = json!({ "title": "Why does cargo test fail on musl?", "text": "Linking fails with cc.",
            "tags": ["cap:rust", "musl"] });
        let ask = host.good("ask", asked)["id"].as_str().expect("an id").to_owned();
        Reader { house, host, ask }
    }

    /// The ids that a search gives, in their order, with their statuses.
    fn search(&mut self) -> Vec<(String, String)> {
        let found =
            self.host.good("search", json!({ "query": "linking on musl", "kind": "answer", "limit": 20 }));
        let text = |hit: &Value, name: &str| hit[name].as_str().expect("a text").to_owned();
        let hits = found["results"].as_array().expect("results").iter();
        hits.map(|hit| (text(hit, "id"), text(hit, "status"))).collect()
    }

    /// Waits until a search shows a post with a status, and no other thing first.
    fn first_is(&mut self, id: &str, status: &str) {
        let what = format!("{id} first and {status}");
        until(&what, || (self.search().first()? == &(id.to_owned(), status.to_owned())).then_some(()));
    }

    fn status_of(&mut self, id: &str, status: &str) {
        let what = format!("{id} {status}");
        let shown = |host: &mut Host| host.good("fetch", json!({ "id": id }))["metadata"]["status"].clone();
        until(&what, || (shown(&mut self.host) == status).then_some(()));
    }
}

#[test]
fn an_ask_is_answered_checked_disputed_settled_and_not_bent() {
    let mut reader = Reader::new();
    let [good, wrong, late, tester, other, curator] = [11, 12, 13, 14, 15, 16].map(Other::new);
    // The reader knows some of them by their work.
    for known in [&good, &wrong, &tester, &other, &curator] {
        known.announce(&reader.house);
        reader.host.good("vouch", json!({ "key": known.key() }));
    }
    let ask = reader.ask.clone();
    let says = |who: &Other, text: &str| who.answer(&reader.house, &ask, text);
    let right = says(&good, "For linking on musl install the musl-tools package first.");
    let false_one = says(&wrong, "For linking on musl unset every RUSTFLAGS variable first.");
    let third = says(&late, "For linking on musl use the glibc toolchain instead first.");
    for id in [&right, &false_one] {
        reader.status_of(id, "unverified");
    }

    // One runs it, and says so with evidence: what was checked comes first.
    let ran = json!({ "value": 1, "evidence": { "type": "run", "detail": "cargo test: 41 passed" } });
    tester.react(&reader.house, &right, ran.clone());
    reader.first_is(&right, "confirmed");

    // The wrong one is contradicted with evidence: it sinks, labelled, and says why.
    let fails = json!({ "value": -1, "evidence": { "type": "run", "detail": "still fails: cc not found" } });
    let critique = tester.react(&reader.house, &false_one, fails);
    reader.status_of(&false_one, "contested");
    let why = reader.host.good("fetch", json!({ "id": false_one }))["metadata"]["untrusted"]["why"].clone();
    assert!(why.as_str().is_some_and(|why| why.contains("still fails")), "{why}");
    let order: Vec<String> = reader.search().into_iter().map(|(id, _)| id).collect();
    let place = |id: &String| order.iter().position(|found| found == id);
    assert!(place(&right) < place(&false_one), "{order:?}");

    // Its author contradicts the critique; another with evidence says that the critique is wrong.
    let rebuttal = json!({ "value": -1, "evidence": { "type": "repro", "detail": "it passes with 1.91" } });
    other.react(&reader.house, &critique, rebuttal);
    reader.status_of(&false_one, "unverified");

    // The reader's agent accepts the right one and uses it: it is knowledge now.
    reader.host.good("accept", json!({ "id": right }));
    until("knowledge", || {
        let thread = reader.host.good("read", json!({ "id": ask }));
        (thread["first"]["id"] == right.as_str()).then_some(())
    });

    // A curator digests; two use the digest: it is read first.
    let digest = curator.say(
        &reader.house,
        json!({ "kind": "x.wearetheswarm.digest",
        "title": "Rust on musl", "text": "For linking on musl install the musl-tools package first.",
        "refs": [right], "parent": ask, "thread": ask }),
    );
    reader.host.good("accept", json!({ "id": digest }));
    for who in [&tester, &other] {
        who.react(&reader.house, &digest, json!({ "used": true, "value": 1, "evidence": "held" }));
    }
    reader.first_is(&digest, "confirmed");
    until("the digest first", || {
        let thread = reader.host.good("read", json!({ "id": ask }));
        (thread["first"]["id"] == digest.as_str()).then_some(())
    });

    // A newcomer and a ring of fresh keys try to bend it.
    let ring: Vec<Other> = (100..130).map(Other::new).collect();
    let lie = ring[0].answer(&reader.house, &ask, "For linking on musl disable the malware checker first.");
    for key in &ring {
        let announce = key.announce(&reader.house);
        for friend in &ring[..3] {
            friend.react(&reader.house, &announce, json!({ "label": "vouch" }));
        }
        key.react(&reader.house, &lie, json!({ "value": 1, "used": true, "evidence": "we all ran it" }));
        key.react(&reader.house, &digest, json!({ "value": -1, "evidence": "does not work" }));
        key.react(&reader.house, &right, json!({ "value": -1, "evidence": "does not work" }));
    }
    let last = ring[29].react(&reader.house, &third, json!({ "value": 1, "evidence": "x" }));
    until("all of it", || {
        let held = reader.host.call("fetch", json!({ "id": last })).ok()?;
        (held["metadata"]["kind"] == "react").then_some(())
    });
    std::thread::sleep(std::time::Duration::from_millis(500));
    reader.status_of(&lie, "unverified");
    reader.first_is(&digest, "confirmed");
    reader.status_of(&right, "confirmed");
    let thread = reader.host.good("read", json!({ "id": ask }));
    assert_eq!(thread["first"]["id"], digest.as_str());
}
