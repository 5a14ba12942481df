//! What is held is a function of the set of records, in whatever order they come (section 1.2).

use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::BTreeMap;
use wats_config::{Config, Network};
use wats_engine::interner::{Change, Ingested, Interner};
use wats_event::{Event, Hex32, Rules, Secret};
use wats_model::facts::{Body, EventFact};
use wats_model::ids::{EventId, Millis};

fn blob(n: u8) -> Hex32 {
    Hex32([n; 32])
}

fn parse(author: u8, members: &str) -> Event {
    let text = wats_event::sign(&Secret::from_seed([author; 32]), format!("{{{members}}}").as_bytes());
    wats_event::parse(text.expect("an event").as_bytes(), &Rules::any()).expect("valid")
}

/// A few events that name one another, in two networks.
fn events() -> Vec<Event> {
    let mut all: Vec<Event> = Vec::new();
    for net in ["main", "side"] {
        let post = parse(1, &format!(r#""net":"{net}","kind":"ask","created_at":50,"text":"how?""#));
        let (id, at) = (post.id, blob(1));
        all.push(post);
        all.push(parse(2, &format!(r#""net":"{net}","kind":"post","created_at":60,"parent":"{id}","thread":"{id}","refs":["{id}","{at}"]"#)));
        all.push(parse(3, &format!(
            r#""net":"{net}","kind":"react","created_at":70,"parent":"{id}","attachments":[{{"blob":"{at}","size":1}}],"data":{{"value":1,"evidence":{{"blob":"{at}"}}}}"#
        )));
        all.push(parse(
            3,
            &format!(r#""net":"{net}","kind":"announce","created_at":80,"data":{{"owner":"o"}}"#),
        ));
        all.push(parse(4, &format!(r#""net":"{net}","kind":"x.a.b","created_at":90"#)));
    }
    all
}

#[derive(Clone, Debug)]
enum Input {
    Event(Index, u64),
    Blob(u8, u64, bool),
}

fn input() -> impl Strategy<Value = Input> {
    prop_oneof![
        4 => (any::<Index>(), 0..6u64).prop_map(|(event, at)| Input::Event(event, at)),
        1 => (0..3u8, 0..4u64, any::<bool>()).prop_map(|(blob, at, present)| Input::Blob(blob, at, present)),
    ]
}

/// The sum of the changes, in terms of names instead of integers.
fn held(inputs: &[Input], events: &[Event]) -> BTreeMap<String, i64> {
    let mut intake = Interner::new(&Config::default()).expect("room");
    let mut changes = Vec::new();
    for input in inputs {
        match input {
            Input::Event(index, at) => {
                intake.event(index.get(events), Millis(*at), &mut changes).expect("room");
            }
            Input::Blob(n, at, present) => {
                intake.blob(blob(*n), *present, Millis(*at), &mut changes).expect("room");
            }
        }
    }
    let mut sum = BTreeMap::new();
    for change in changes {
        let (name, by) = match change {
            Change::Event(fact, by) => (in_names(&intake, &fact), by),
            Change::Blob(id, by) => (format!("{:?}", intake.blob_name(id)), by),
        };
        *sum.entry(name).or_default() += by;
    }
    sum.retain(|_, n| *n != 0);
    sum
}

fn in_names(intake: &Interner, fact: &EventFact) -> String {
    let event = |id: EventId| intake.event_name(id).expect("a name").to_string();
    let body = match &fact.body {
        Body::Post(p) => format!(
            "{:?}",
            (p.reply.map(|r| event(r.parent)), p.refs.iter().map(|r| event(*r)).collect::<Vec<_>>())
        ),
        Body::React(r) => format!(
            "{} {:?}",
            event(r.target),
            r.blobs.iter().map(|b| intake.blob_name(*b)).collect::<Vec<_>>()
        ),
        Body::Announce { owner } => format!("{:?}", owner.and_then(|o| intake.owner_name(o))),
        Body::Other { reply } => format!("{:?}", reply.is_some()),
    };
    let (network, author) = (intake.network_name(fact.network), intake.key_name(fact.author));
    assert_eq!(intake.key_network(fact.author), Some(fact.network));
    format!("{} {network:?} {author:?} {} {body}", event(fact.id), fact.received_at.0)
}

proptest! {
    #[test]
    fn the_order_of_records_does_not_matter(
        (inputs, shuffled) in prop::collection::vec(input(), 0..40)
            .prop_flat_map(|inputs| (Just(inputs.clone()), Just(inputs).prop_shuffle())),
    ) {
        let events = events();
        let sum = held(&inputs, &events);
        prop_assert_eq!(&sum, &held(&shuffled, &events));
        // Each is held once, as first received.
        prop_assert!(sum.values().all(|n| *n == 1));
        let mut first: BTreeMap<Hex32, u64> = BTreeMap::new();
        for input in &inputs {
            if let Input::Event(index, at) = input {
                let first = first.entry(index.get(&events).id).or_insert(*at);
                *first = (*first).min(*at);
            }
        }
        for (id, at) in first {
            let starts = sum.keys().filter(|name| name.starts_with(&id.to_string())).count();
            prop_assert_eq!(starts, 1);
            let at = format!(" {at} ");
            prop_assert!(sum.keys().any(|name| name.starts_with(&id.to_string()) && name.contains(&at)));
        }
    }
}

#[test]
fn an_earlier_copy_replaces_the_fact() {
    let mut intake = Interner::new(&Config::default()).expect("room");
    let mut changes = Vec::new();
    let event = events().remove(0);
    let mut take = |intake: &mut Interner, at| intake.event(&event, Millis(at), &mut changes).expect("room");
    let Ingested::New(id) = take(&mut intake, 9) else { panic!("new") };
    assert_eq!(take(&mut intake, 9), Ingested::Duplicate(id));
    assert_eq!(take(&mut intake, 10), Ingested::Duplicate(id));
    assert_eq!(take(&mut intake, 4), Ingested::Earlier(id));
    assert_eq!(take(&mut intake, 9), Ingested::Duplicate(id));
    let got: Vec<(u64, i64)> = changes
        .iter()
        .map(|change| match change {
            Change::Event(fact, by) => (fact.received_at.0, *by),
            Change::Blob(..) => panic!("an event"),
        })
        .collect();
    assert_eq!(got, [(9, 1), (9, -1), (4, 1)]);
    assert_eq!(intake.held(id).map(|held| held.received_at), Some(Millis(4)));
}

#[test]
fn the_last_word_on_a_blob_counts_and_absence_breaks_ties() {
    let mut intake = Interner::new(&Config::default()).expect("room");
    let mut word = |present, at| {
        let mut changes = Vec::new();
        intake.blob(blob(1), present, Millis(at), &mut changes).expect("room");
        changes.into_iter().map(|change| if let Change::Blob(_, by) = change { by } else { 0 }).sum::<i64>()
    };
    assert_eq!(word(true, 5), 1);
    assert_eq!(word(false, 4), 0, "an older word");
    assert_eq!(word(true, 5), 0, "said before");
    assert_eq!(word(false, 5), -1, "a tie");
    assert_eq!(word(true, 5), 0, "a tie, the other way round");
    assert_eq!(word(false, 6), 0);
    assert_eq!(word(true, 7), 1);
}

#[test]
fn own_profiles_and_networks_have_names_from_the_start() {
    let network = |id: &str| Network {
        id: id.into(),
        profiles: vec![blob(7), blob(8)],
        distrusted: Vec::new(),
        pow_bits: 3,
    };
    let config = Config { networks: Some(vec![network("main"), network("side")]), ..Config::default() };
    let intake = Interner::new(&config).expect("room");
    let names: Vec<&str> = intake.networks().map(|(_, name)| name).collect();
    assert_eq!(names, ["main", "side"]);
    for (id, _) in intake.networks() {
        let keys: Vec<_> = intake.config().profiles(id).iter().map(|key| intake.key_name(*key)).collect();
        assert_eq!(keys, [Some(blob(7)), Some(blob(8))]);
        assert_eq!(intake.config().pow_bits(id), 3);
        assert!(intake.find_key(id, blob(9)).is_none());
    }
    let ids: Vec<_> = intake.networks().map(|(id, _)| intake.find_key(id, blob(7))).collect();
    assert_ne!(ids[0], ids[1], "nothing crosses networks");
}
