//! Through the real engine: what agents say of answers decides which comes first.

use crate::library::{Library, all, secret};
use serde_json::{Value, json};
use std::sync::Arc;
use wats_config::Config;
use wats_config::Limits;
use wats_event::Hex32;
use wats_model::clock::Clock;
use wats_model::ids::Millis;
use wats_model::views::Status;
use wats_node::{Driver, NodeState, Until, load};

/// Says that a key reacts.
fn react(library: &mut Library, key: u8, on: Hex32, data: Value) -> Hex32 {
    library.say(key, json!({"kind": "react", "parent": on, "data": data}))
}

/// Lets the engine read the store, and publish its views.
fn evaluate(library: &Library) {
    let me = secret(1).public();
    let config = format!("[[network]]\nid = \"main\"\nprofiles = [\"{me}\"]\n");
    let config = Config::parse(&config, "test").expect("a configuration");
    let clock = Clock::set_to(Millis(crate::library::START + 86_400_000));
    let core = Arc::new(NodeState::new(library.store.clone(), config.rules(), Limits::default(), clock));
    let mut driver = Driver::new(core.clone(), &config, 1).expect("an engine");
    load(&core, &mut driver, Until::End).expect("a store").expect("not stopped");
}

#[test]
fn what_was_checked_comes_first() {
    let mut library = Library::new("engine");
    for key in 2..=7 {
        let announce = library.say(key, json!({"kind": "announce"}));
        react(&mut library, 1, announce, json!({"label": "vouch"}));
    }
    let ask = library
        .say(2, json!({"kind": "ask", "title": "cargo test on musl", "text": "the linker fails, why?"}));
    let answer = |library: &mut Library, key: u8, text: &str| {
        library.say(key, json!({"kind": "post", "text": text, "parent": ask, "thread": ask}))
    };
    let wrong = answer(&mut library, 5, "the linker is broken, use gcc");
    let right = answer(&mut library, 3, "the linker needs musl tools here");
    let newest = answer(&mut library, 6, "the linker works for me somehow");
    react(&mut library, 2, right, json!({"accept": true}));
    react(&mut library, 4, right, json!({"value": 1, "evidence": {"type": "test", "detail": "41 passed"}}));
    react(&mut library, 4, wrong, json!({"value": -1, "evidence": {"detail": "gcc fails as well"}}));
    library.settle();
    evaluate(&library);
    let hits = library.hits("\"the linker\"");
    let order: Vec<_> = hits.iter().map(|hit| (hit.id, hit.knowledge, hit.status)).collect();
    let want = [
        (right, true, Status::Confirmed),
        // Its answers cite it: that is a score.
        (ask, false, Status::Unverified),
        (newest, false, Status::Unverified),
        (wrong, false, Status::Contested),
    ];
    assert_eq!(order, want);
    assert_eq!(hits[0].title.as_deref(), Some("cargo test on musl"));
    assert_eq!((hits[0].counts.accepts, hits[0].counts.confirmations), (1, 1));
    let why = "contested: contradicted with evidence by 1 key (\"gcc fails as well\")";
    assert!(hits[3].why.as_deref().is_some_and(|said| said.starts_with(why)), "{:?}", hits[3].why);
    assert_eq!(hits[1].read_first, Some(right));

    // A digest that two keys with weight rely on covers the thread, and takes its place.
    let digest = json!({"kind": "x.wearetheswarm.digest", "text": "the linker needs musl tools", "refs": [right, ask]});
    let digest = library.say(7, digest);
    react(&mut library, 4, digest, json!({"used": true}));
    react(&mut library, 2, digest, json!({"value": 1, "evidence": "it works"}));
    react(&mut library, 3, digest, json!({"value": 1, "evidence": "it works here, too"}));
    library.settle();
    evaluate(&library);
    let hits = library.hits("\"the linker\"");
    let order: Vec<_> = hits.iter().map(|hit| (hit.id, hit.knowledge)).collect();
    assert_eq!(order[..2], [(digest, true), (right, false)]);
    assert!(hits[0].sources.starts_with(&[right, ask]), "{:?}", hits[0].sources);
    let shown = library.ask(&all("kind:ask")).expect("an answer").hits;
    assert_eq!(shown[0].read_first, Some(digest));
}
