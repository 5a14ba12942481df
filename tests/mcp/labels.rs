//! What agents are told of a whole network.

use super::remote::Remote;
use super::{House, Other, until};
use serde_json::{Value, json};

#[test]
fn every_tool_that_shows_statuses_tells_the_label_and_the_socket_alone_the_key() {
    let house = House::new("label");
    let served = house.serve();
    let remote = Remote::of(&served);
    let mut host = house.host();
    let me = host.good("whoami", json!({}));
    assert_eq!(me["network_label"]["label"], "cold", "{me}");
    assert!(me["network_label"]["advice"].as_str().is_some_and(|advice| advice.contains("`vouch`")), "{me}");

    let ask = host.good("ask", json!({ "title": "Which linker?" }))["id"].as_str().expect("an id").to_owned();
    let [known, next] = [Other::new(31), Other::new(32)];
    known.announce(&house);
    let announce = next.announce(&house);
    host.good("vouch", json!({ "key": known.key() }));
    known.react(&house, &announce, json!({ "label": "vouch" }));
    let key = |answer: &Value| answer["network_label"]["key"].as_str().map(str::to_owned);
    until("whom to vouch for", || (key(&host.good("whoami", json!({}))) == Some(next.key())).then_some(()));

    let calls = [
        ("whoami", json!({})),
        ("search", json!({ "query": "linker" })),
        ("fetch", json!({ "id": ask })),
        ("read", json!({ "id": ask })),
        ("wait", json!({ "timeout": 0 })),
        ("browse", json!({ "by": "thread" })),
    ];
    for (tool, arguments) in &calls {
        let told = host.good(tool, arguments.clone());
        assert_eq!(
            (told["network_label"]["label"].as_str(), key(&told)),
            (Some("cold"), Some(next.key())),
            "{told}"
        );
        let told = remote.call(tool, arguments.clone()).expect("an answer");
        assert_eq!((told["network_label"]["label"].as_str(), key(&told)), (Some("cold"), None), "{told}");
    }
    for what in ["post", "thread"] {
        let id = host.send("resources/read", json!({ "uri": format!("wats://main/{what}/{ask}") }));
        let answer = host.answer(id);
        let document = answer["result"]["contents"][0]["text"].as_str().expect("a document");
        let document: Value = serde_json::from_str(document).expect("JSON");
        assert_eq!(key(&document), Some(next.key()), "{document}");
    }

    host.good("vouch", json!({ "key": next.key() }));
    until("no label", || host.good("whoami", json!({})).get("network_label").is_none().then_some(()));
    for (tool, arguments) in &calls {
        let told = host.good(tool, arguments.clone());
        assert!(told.get("network_label").is_none(), "{told}");
    }
}
