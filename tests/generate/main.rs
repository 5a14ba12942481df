//! Generated logs: valid, reproducible, with every feature, and attacks that change nothing.

mod answers;
mod features;

use answers::Log;
use features::{FEATURES, features};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use wats_config::Config;
use wats_event::Hex32;
use wats_generate::{Attack, Generator, Plan, Record, Said};
use wats_model::views::{PostView, Status};

fn text(plan: &Plan) -> String {
    let mut out = Vec::new();
    Generator::new(plan).for_each(|record| record.write(&mut out));
    String::from_utf8(out).expect("UTF-8")
}

#[test]
fn the_same_plan_gives_the_same_bytes() {
    let plan = Plan { events: 1_500, seed: 11, ..Plan::default() };
    assert_eq!(text(&plan), text(&plan));
    let other = Plan { seed: 12, ..plan.clone() };
    assert_ne!(text(&plan), text(&other));
    assert_ne!(plan.reader(), other.reader());
}

/// Every figure that was measured on a generated log hangs on these bytes: change them knowingly, and
/// run `scripts/make-sample`.
#[test]
fn the_sample_is_what_the_generator_makes() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let config = std::fs::read_to_string(dir.join("wats.toml")).expect("readable");
    assert_eq!(config, Plan::default().config());
    assert!(sample() == text(&Plan::default()).as_bytes());
}

/// The sample log of the repository.
fn sample() -> Vec<u8> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/sample.jsonl.zst");
    let packed = std::fs::read(file).expect("scripts/make-sample makes it");
    zstd::decode_all(&packed[..]).expect("zstd")
}

#[test]
fn without_signatures_only_the_signatures_differ() {
    let signed = Plan { events: 600, ..Plan::default() };
    let unsigned = Plan { signed: false, ..signed.clone() };
    let without = |plan| -> Vec<Record> {
        let mut records: Vec<Record> = Generator::new(plan).collect();
        for record in &mut records {
            if let Said::Event(event) = &mut record.said {
                let at = event.find("\"sig\":\"").expect("a signature") + 7;
                event.replace_range(at..at + 128, "");
            }
        }
        records
    };
    assert_eq!(without(&signed), without(&unsigned));
}

#[test]
fn as_many_events_authors_and_posts_as_asked_for() {
    let plan = Plan { events: 4_000, authors: Some(50), posts: Some(100), signed: false, ..Plan::default() };
    let log = text(&plan);
    let features = features(&log);
    assert_eq!(log.matches("\"event\":").count(), 4_000);
    let of = |kind| features.get(kind).copied().unwrap_or_default();
    let posts = of("ask") + of("post") + of("digest");
    assert!((90..=100).contains(&posts), "{posts} posts");
    assert!((45..=50).contains(&features["authors"]), "{features:?}");
}

#[test]
fn the_smallest_plans_end() {
    for events in [0, 1, 2, 20] {
        let plan =
            Plan { events, authors: Some(0), posts: Some(0), days: 0, signed: false, ..Plan::default() };
        assert_eq!(text(&plan).matches("\"event\":").count() as u64, events);
    }
}

#[test]
fn every_record_of_a_signed_log_is_valid_and_every_status_comes_up() {
    let plan = Plan { events: 6_000, seed: 3, ..Plan::default() };
    let log = Log::of(&plan);
    let views = log.views(log.now);
    check_rich(&views);
}

/// Every status, verdict and kind of entry is there.
fn check_rich(views: &wats_oracle::Views) {
    let mut statuses = BTreeMap::new();
    for view in views.posts.values() {
        *statuses.entry(view.status).or_insert(0) += 1;
    }
    for status in [Status::Confirmed, Status::Contested, Status::Stale, Status::Unverified] {
        assert!(statuses.get(&status) >= Some(&10), "{statuses:?}");
    }
    let digests = views.entries.iter().filter(|entry| entry.digest).count();
    assert!(digests >= 3, "{digests} of {}", views.entries.len());
    assert!(views.entries.len() > digests + 3);
    let rebutted = |view: &&PostView| view.status == Status::Confirmed && view.why.is_some();
    assert!(views.posts.values().filter(rebutted).count() >= 3);
}

#[test]
fn the_sample_has_every_feature() {
    let log = sample();
    let plan = Plan::default();
    let config = Config::parse(&plan.config(), "wats.toml").expect("a configuration");
    let features = features(std::str::from_utf8(&log).expect("UTF-8"));
    let missing: Vec<&str> =
        FEATURES.iter().copied().filter(|feature| !features.contains_key(feature)).collect();
    assert!(missing.is_empty(), "{missing:?} among {features:#?}");
    let log = Log::read(std::io::Cursor::new(log), &config, true);
    check_rich(&log.views(log.now));
}

#[test]
fn attacks_are_found_by_their_names() {
    for attack in Attack::ALL {
        assert_eq!(attack.name().parse(), Ok(attack));
        assert!(attack.size() >= 2_000 && !attack.about().is_empty());
    }
    let error = "vouch".parse::<Attack>().expect_err("no such attack");
    assert!(error.to_string().contains("vouch-chain, vouch-star"));
}

/// How large attacks are in the test below: enough for each array and cycle to close.
const SMALL: u64 = 260;

#[test]
fn attacks_change_no_status_of_the_honest() {
    for attack in Attack::ALL {
        let plan = |events| Plan { events, attack: Some(attack), ..Plan::default() };
        let (quiet, loud) = (Log::of(&plan(0)), Log::of(&plan(SMALL)));
        let now = loud.now;
        let (before, after) = (quiet.views(now), loud.views(now));
        let posts = loud.posts(&after);
        let honest = quiet.posts(&before);
        assert!(honest.len() > 20 && posts.len() >= honest.len(), "{attack}");
        let mut statuses = BTreeSet::new();
        for (id, was) in honest.iter().filter(|(id, _)| !is_page(&honest, id)) {
            let is = &posts[id];
            statuses.insert(was.status);
            assert_eq!(is.status, was.status, "{attack}: {id}");
            assert_eq!(is.why.is_some(), was.why.is_some(), "{attack}: {id}");
            assert_eq!(
                (is.counts.accepts, is.counts.confirmations, is.counts.contradictions),
                (was.counts.accepts, was.counts.confirmations, was.counts.contradictions),
                "{attack}: {id}"
            );
        }
        assert_eq!(statuses.len(), 4, "{attack}: the scene has every status");
        let entries = |log: &Log, views: &wats_oracle::Views| -> BTreeSet<Hex32> {
            let of_honest = views.entries.iter().map(|entry| log.name(entry.entry));
            of_honest.filter(|id| honest.contains_key(id)).collect()
        };
        assert_eq!(entries(&loud, &after), entries(&quiet, &before), "{attack}");
        assert!(!before.entries.is_empty());
    }
}

/// Whether a post of the scene is by one of those who turn: they do with it as they please. Each of
/// the twenty wrote one post; the honest wrote several.
fn is_page(posts: &BTreeMap<Hex32, PostView>, id: &Hex32) -> bool {
    let author = posts[id].author;
    posts.values().filter(|view| view.author == author).count() == 1
}

#[test]
fn keys_that_the_reader_trusts_do_have_a_say_among_themselves() {
    let statuses = |attack| {
        let plan = Plan { events: SMALL, attack: Some(attack), ..Plan::default() };
        let log = Log::of(&plan);
        let views = log.views(log.now);
        let contested = |view: &&PostView| view.status == Status::Contested;
        views.posts.values().filter(contested).count()
    };
    assert!(statuses(Attack::ContradictionChain) > 100);
    let n = statuses(Attack::ContradictionCycle);
    assert!(n >= 17, "{n}: the 17 posts of {SMALL} arguments");
}
