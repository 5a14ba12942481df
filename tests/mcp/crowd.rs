//! Many programs of many hosts on one node.

use super::{House, until};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const CLIENTS: usize = 20;
const WRITES: usize = 8;

/// Twenty at once, reading and writing, while the node is killed under them: none loses a write, and one
/// of them starts the node again.
#[test]
fn twenty_at_once_lose_no_write_though_their_node_dies() {
    let house = House::new("crowd");
    let (said, done) = (Mutex::new(BTreeSet::new()), AtomicUsize::new(0));
    thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (house, said, done) = (&house, &said, &done);
            scope.spawn(move || {
                let mut host = house.host();
                for write in 0..WRITES {
                    let title = format!("ask {write} of {client}");
                    let id = host.good("ask", json!({ "title": title, "tags": ["crowd"] }))["id"].clone();
                    let id = id.as_str().expect("an id").to_owned();
                    assert_eq!(host.good("fetch", json!({ "id": id }))["title"], title.as_str());
                    host.good("search", json!({ "query": "ask", "include_low": true }));
                    said.lock().expect("no panic").insert(id);
                    done.fetch_add(1, Ordering::Relaxed);
                }
                assert!(host.end().success());
            });
        }
        for share in [4, 2] {
            until("some writes", || (done.load(Ordering::Relaxed) >= CLIENTS * WRITES / share).then_some(()));
            house.kill();
        }
    });
    let said = said.into_inner().expect("no panic");
    assert_eq!(said.len(), CLIENTS * WRITES);
    let mut client = house.client();
    for id in &said {
        client.get(&format!("/v1/events/{id}")).expect("it is held");
    }
    let ready: Value = client.get("/readyz").expect("it runs");
    assert_eq!(ready["ready"], true);
}
