//! What must hold of a replay of any log: it does not panic, each tick's changes fit what was there,
//! and what they add up to is the oracle's answer.
#![allow(dead_code, reason = "each test takes what it needs")]

use crate::dice::Dice;
use crate::engine::{apply, differences};
use crate::facts::Facts;
use crate::{signed, vectors};
use wats_config::Config;
use wats_engine::replay::{Bounds, Place, Replay};
use wats_event::sign;
use wats_model::facts::{Body, EventFact};
use wats_model::ids::{EventId, KeyId, Millis};
use wats_oracle::Views;
use wats_oracle::build::Build;
use wats_oracle::world::{Tick, World};

/// The largest integer that JSON carries exactly.
const LAST: u64 = (1 << 53) - 1;

/// Makes the log that these choices give and checks its replay; gives the number of posts held at the
/// end.
pub(crate) fn check(mut dice: Dice<'_>) -> usize {
    let world = World::from_seed(dice.roll(), 10 + dice.below(110));
    let world = World { pow_bits: 0, ..world };
    let config = Config::parse(&signed::toml(&world.config()), "wats.toml").expect("a configuration");
    let mut ticks = world.ticks();
    if dice.below(2) == 0 {
        let facts: Vec<&mut EventFact> =
            ticks.iter_mut().flat_map(|t| &mut t.events).filter(|e| e.1 > 0).map(|e| &mut e.0).collect();
        facts.into_iter().for_each(|fact| change_fact(fact, &mut dice));
    }
    let mut lines: Vec<Vec<u8>> = signed::log(&ticks).into_iter().map(String::into_bytes).collect();
    for _ in 0..dice.below(30) {
        change_lines(&mut lines, &mut dice);
    }
    let bounds = Bounds { records: 1 + dice.below(80), span: Millis(dice.roll() >> dice.below(64)) };
    let until = (dice.below(4) == 0).then(|| Millis(time(&mut dice)));
    check_log(&lines.join(&b'\n'), &config, until, 1 + dice.below(2), bounds)
}

/// A replay of these bytes.
pub(crate) fn check_log(
    log: &[u8],
    config: &Config,
    until: Option<Millis>,
    workers: usize,
    bounds: Bounds,
) -> usize {
    let lines = vectors::judge(log.to_vec(), config);
    let mut views = Views::default();
    let mut replay = Replay::start(config, until, workers, bounds).expect("the engine starts");
    for line in &lines {
        let place = Place { log: 0, line: line.line };
        if let Some(ticked) = replay.take(place, line.clone()).expect("the engine runs") {
            apply(&mut views, &ticked.changes);
        }
    }
    apply(&mut views, &replay.end().expect("the engine runs").changes);
    let facts = Facts::of(config, &lines, until);
    let found = differences(&facts.views(), &views);
    assert!(found.is_empty(), "{} differences\n{}", found.len(), found.join("\n"));
    assert_eq!(replay.now(), facts.now, "the time");
    // The document holds the same, and can be written.
    let mut networks = Vec::new();
    let written = replay.document.write_networks(&mut networks, &replay.intake, "\n");
    written.expect("memory can be written");
    let got: serde_json::Value = serde_json::from_slice(&networks).expect("JSON");
    assert_eq!(got, facts.document()["networks"], "the document");
    views.posts.len()
}

/// Posts that each contradict the last, and reacts that contradict each other, in long chains.
pub(crate) fn check_chain(length: u64) {
    let mut b = Build::new();
    let me = b.profile();
    let keys: [KeyId; 5] = std::array::from_fn(|_| b.key());
    keys.iter().for_each(|k| {
        b.vouch(me, *k, Millis(0));
    });
    let mut last = b.post(keys[0], Millis(1));
    let mut last_react = last;
    for n in 2..length {
        let (by, at) = (keys[n as usize % 5], Millis(n));
        let post = b.reply(by, last, last, at);
        b.vote(by, last, -1, at);
        last_react = b.contradict(keys[(n as usize + 2) % 5], last_react, at);
        last = post;
    }
    let events = b.events.iter().map(|event| (event.clone(), 1)).collect();
    let log = signed::log(&[Tick { now: Millis(0), events, blobs: Vec::new() }]).join("\n").into_bytes();
    let config = Config::parse(&signed::toml(&b.config), "wats.toml").expect("a configuration");
    for (workers, records) in [(1, 1000), (2, 97)] {
        check_log(&log, &config, None, workers, Bounds { records, span: Millis(u64::MAX) });
    }
}

/// A time: usual, or anything.
fn time(dice: &mut Dice<'_>) -> u64 {
    match dice.below(4) {
        0 => dice.below(3) as u64,
        1 => LAST - dice.below(3) as u64,
        2 => dice.roll() & LAST,
        _ => 1_750_000_000_000 + dice.below(200_000_000_000) as u64,
    }
}

/// Changes what is signed: times, and more names than anybody would write.
fn change_fact(fact: &mut EventFact, dice: &mut Dice<'_>) {
    match dice.below(40) {
        0 => fact.stamp.created_at = Millis(time(dice)),
        1 => fact.received_at = Millis(time(dice)),
        2 => {
            let at = Millis(time(dice));
            (fact.stamp.created_at, fact.received_at) = (at, at);
        }
        3 => {
            let names = (0..dice.below(65)).map(|_| EventId(dice.below(340) as u32)).collect();
            match &mut fact.body {
                Body::Post(post) => post.refs = names,
                Body::React(react) => react.refs = names,
                Body::Announce { .. } | Body::Other { .. } => {}
            }
        }
        _ => {}
    }
}

/// One change of the log's lines.
fn change_lines(lines: &mut Vec<Vec<u8>>, dice: &mut Dice<'_>) {
    if lines.is_empty() {
        return;
    }
    let (at, other) = (dice.below(lines.len()), dice.below(lines.len()));
    match dice.below(10) {
        0 => lines.swap(at, other),
        1 => lines.insert(other, lines[at].clone()),
        2 => drop(lines.remove(at)),
        3 => lines[at].truncate(other * 3),
        4 => lines.insert(at, Vec::new()),
        5 => {
            let (line, place) = (&mut lines[at], other);
            if let Some(byte) = line.get_mut(place) {
                *byte ^= 1 << dice.below(8);
            }
        }
        6 => lines.insert(at, blob(dice)),
        7 => dice.shuffle(lines),
        8 => {
            // The same event, received at another time.
            let line = String::from_utf8_lossy(&lines[at]).into_owned();
            if let Some((_, event)) = line.split_once(r#","event":"#) {
                let event = event.strip_suffix('}').unwrap_or(event);
                lines.insert(other, signed::record(time(dice), event).into_bytes());
            }
        }
        _ => lines.insert(other, resigned(&lines[at], dice)),
    }
}

fn blob(dice: &mut Dice<'_>) -> Vec<u8> {
    let blob = signed::blob_name(wats_model::ids::BlobId(dice.below(4) as u32));
    let present = dice.below(2) == 0;
    format!(r#"{{"received_at":{},"blob":"{blob}","present":{present}}}"#, time(dice)).into_bytes()
}

/// The event of a line with a member that is something else, signed again by somebody; a line that is
/// no event stays.
fn resigned(line: &[u8], dice: &mut Dice<'_>) -> Vec<u8> {
    let values =
        ["null", "1", "-1", "true", "\"vouch\"", "[]", "{}", "9007199254740991", "1e16", "[\"\"]", "0.5"];
    let members = ["created_at", "parent", "thread", "refs", "data", "kind", "attachments", "net", "text"];
    let data = ["value", "accept", "used", "still_valid", "label", "evidence", "owner", "supersedes"];
    let Ok(serde_json::Value::Object(mut record)) = serde_json::from_slice(line) else {
        return line.to_vec();
    };
    let at = record.get("received_at").and_then(serde_json::Value::as_u64).unwrap_or_default();
    let Some(mut event) = record.remove("event") else {
        return line.to_vec();
    };
    let value: serde_json::Value =
        serde_json::from_str(values[dice.below(values.len())]).expect("the values above are JSON");
    match (dice.below(2), event.get_mut("data")) {
        (0, Some(serde_json::Value::Object(members))) => {
            members.insert(data[dice.below(data.len())].to_owned(), value);
        }
        _ => event[members[dice.below(members.len())]] = value,
    }
    if let Some(event) = event.as_object_mut() {
        event.remove("author");
    }
    let secret = signed::secret(KeyId(dice.below(10) as u32));
    match sign(&secret, event.to_string().as_bytes()) {
        Ok(event) => signed::record(at, &event).into_bytes(),
        // What cannot be signed is worth a try unsigned.
        Err(_) => event.to_string().into_bytes(),
    }
}
