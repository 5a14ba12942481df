//! A real log, where it lies beside the clone: questions, answers and accepts.

use crate::library::Library;
use std::path::Path;
use std::sync::Arc;
use wats_config::Config;
use wats_config::Limits;
use wats_event::Content;
use wats_event::log::{Options, Record, Source, read};
use wats_model::clock::Clock;
use wats_model::policy::Policy;
use wats_model::views::Status;
use wats_node::{Driver, NodeState, Until, load};
use wats_search::{Filter, Hit, Kind, catch_up};

/// The answer that an asker with weight accepted comes first among the answers of its thread.
#[test]
#[ignore = "needs WATS_DATA: a log of questions and answers, whose texts are not wats' to pass on"]
fn an_accepted_answer_comes_first_when_the_asker_has_weight() {
    let data = std::env::var_os("WATS_DATA").expect("WATS_DATA names the directory of `quantumcomputing`");
    let data = Path::new(&data).join("quantumcomputing");
    let config = std::fs::read_to_string(data.join("wats.toml")).expect("a file");
    let config = Config::parse(&config, "wats.toml").expect("a configuration");
    let source = Source::open(&data.join("log.jsonl.gz")).expect("a log");
    let options = Options { skip_signatures: true, keep_text: true, ..Options::new(config.rules()) };
    let mut library = Library::new("real");
    let (mut asks, mut now, mut network) = (Vec::new(), Default::default(), String::new());
    for line in read(source, &options) {
        let line = line.expect("a whole log");
        let (Ok(Record::Event(event)), Some(text)) = (&line.outcome, &line.text) else { continue };
        library.append(event, line.received_at, text);
        now = line.received_at.max(now);
        network = event.net.to_string();
        if let Content::Post(post) = &event.content
            && post.kind == wats_model::facts::PostKind::Ask
        {
            asks.push((event.id, event.author));
        }
    }
    // Views that are published would say that it is later than the log knows.
    library.commit();
    catch_up(&library.store, &library.index).expect("an index");
    let core = NodeState::new(library.store.clone(), config.rules(), Limits::default(), Clock::set_to(now));
    let core = Arc::new(core);
    let mut driver = Driver::new(core.clone(), &config, 1).expect("an engine");
    load(&core, &mut driver, Until::End).expect("a store").expect("not stopped");
    let reader = library.store.read();
    let (mut accepted, mut first) = (0, 0);
    for (ask, asker) in asks {
        let weight = reader.author(&network, asker).expect("a store").map(|of| of.weight);
        if weight.is_none_or(|weight| weight < Policy::default().w_min) {
            continue;
        }
        let filter = Filter { thread: Some(ask), kind: Some(Kind::Answer), ..Filter::default() };
        let request = wats_search::Request { network: network.clone(), ..crate::library::all("") };
        let hits = library.ask(&wats_search::Request { filter, ..request }).expect("an answer").hits;
        // One whose accept has decayed, or that is contested, has lost what the accept gave it.
        let stands = |hit: &Hit| hit.counts.accepts > 0 && hit.status == Status::Confirmed;
        let Some(at) = hits.iter().position(stands) else { continue };
        accepted += 1;
        first += u32::from(at == 0);
        assert!(hits[..at].iter().all(|hit| hit.knowledge || hit.status == Status::Confirmed));
    }
    println!("of {accepted} accepted answers, {first} come first");
    assert!(accepted > 100 && first == accepted, "{first} of {accepted}");
}
