//! Search beside plain top-k in the same run: `cargo bench --bench search -- [POSTS] [QUERY]...`.
//!
//! A store of generated posts with views is indexed; then the same queries are answered as agents ask
//! them, and as the index alone would: the ten best by BM25, nothing read of views. Prints a table; judges
//! nothing.
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wats_event::{Content, Hex32, Rules, parse};
use wats_generate::{Generator, Plan, Said};
use wats_model::fixed::Fixed;
use wats_model::ids::Millis;
use wats_model::views::{Counts, Status};
use wats_search::{Index, Request, Search, catch_up};
use wats_store::{AppendOutcome, Appender, PostRecord, Seq, Sizes, Store, TickMark, ViewBatch};

/// Views of one batch, and events of one sync.
const BATCH: usize = 10_000;
/// How often each query is asked.
const ROUNDS: usize = 20;
/// For the store to end the work that filling it left.
const REST: Duration = Duration::from_secs(5);

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let mut posts = 100_000;
    if let Some(given) = arguments.first().and_then(|first| first.parse().ok()) {
        posts = given;
        arguments.remove(0);
    }
    if arguments.is_empty() {
        arguments = QUERIES.map(str::to_owned).to_vec();
    }
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bench-search");
    let _ = std::fs::remove_dir_all(&dir);
    let store = Arc::new(Store::open(&dir.join("store"), Sizes::default()).expect("a store"));
    let network = fill(&store, posts);
    let index = Arc::new(Index::open(&dir.join("index"), store.id()).expect("an index"));
    let begun = Instant::now();
    let followed = catch_up(&store, &index).expect("an index");
    let took = begun.elapsed();
    let size: u64 = std::fs::read_dir(dir.join("index"))
        .expect("the index")
        .filter_map(|file| file.ok()?.metadata().ok())
        .map(|file| file.len())
        .sum();
    println!(
        "{} events indexed in {took:.1?}: {:.0}/s; {} bytes each on the disk",
        followed.events,
        followed.events as f64 / took.as_secs_f64(),
        size / followed.events.max(1)
    );
    std::thread::sleep(REST);
    measure(&store, &index, &network, &arguments);
    let _ = std::fs::remove_dir_all(&dir);
}

/// Posts with views; the name of their network.
fn fill(store: &Arc<Store>, posts: u64) -> String {
    let plan = Plan { events: 4 * posts, posts: Some(posts), signed: false, ..Plan::default() };
    let mut appender = Appender::new(store.clone()).expect("a store");
    let mut views = ViewBatch::default();
    let (mut left, mut stored) = (posts, 0);
    for record in Generator::new(&plan) {
        let Said::Event(text) = &record.said else { continue };
        // Three events of four are reacts, which nobody finds: to store them too would take most of the time.
        if text.contains(r#""kind":"react""#) {
            continue;
        }
        let event = parse(text.as_bytes(), &Rules::any()).expect("a generated event");
        let added = appender.event(&event, record.received_at, text).expect("a store");
        if !matches!(added, AppendOutcome::New(_)) {
            continue;
        }
        if event.title.is_some() || event.quote.is_some() {
            views.post(&plan.network, event.id, Some(&view(&event.id, event.author))).expect("a view");
            left -= u64::from(matches!(event.content, Content::Post(_)));
            if left == 0 {
                break;
            }
        }
        stored += 1;
        if stored % BATCH == 0 {
            appender.commit().expect("a store");
            publish(store, &mut views);
        }
    }
    appender.commit().expect("a store");
    publish(store, &mut views);
    plan.network
}

fn publish(store: &Store, views: &mut ViewBatch) {
    let ticked = TickMark { tick: 1, now: Millis(0), through: Seq(0) };
    store.publish(&std::mem::take(views), ticked).expect("a store");
}

fn view(id: &Hex32, author: Hex32) -> PostRecord {
    let chance = id.0[0];
    let status = match chance {
        0..=9 => Status::Contested,
        10..=59 => Status::Confirmed,
        60..=69 => Status::Stale,
        _ => Status::Unverified,
    };
    PostRecord {
        author,
        status,
        score: Fixed(i64::from(id.0[1]) * 1_000_000),
        counts: Counts::default(),
        replicas: 1,
        why: None,
    }
}

const QUERIES: [&str; 16] = [
    "cargo",
    "linker error",
    "cargo fails with a linker error",
    "hangs at the end of the tests in docker",
    "musl alpine memory",
    "the default changed in the last release",
    "café",
    "順序",
    "\"lock file\"",
    "\"known race\" join",
    "rocksdb -docker",
    "cargo tag:ci",
    "kind:ask proxy",
    "x86_64",
    "rounds differently on arm64",
    "tz=utc",
];

fn measure(store: &Arc<Store>, index: &Arc<Index>, network: &str, queries: &[String]) {
    let search = Search::new(store.clone(), index.clone(), Fixed::ZERO);
    let (mut plain, mut whole, mut deep) = (Vec::new(), Vec::new(), Vec::new());
    println!("{:<44} {:>10} {:>10} {:>6} hits", "query (medians)", "plain", "search", "ratio");
    for query in queries {
        let request = Request { network: network.into(), query: query.clone(), ..Request::default() };
        let (mut plainly, mut wholly, mut hits) = (Vec::new(), Vec::new(), 0);
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            let top = search.plain(&request, 10).expect("an answer");
            plainly.push(begun.elapsed());
            let begun = Instant::now();
            let page = search.search(&request).expect("an answer");
            wholly.push(begun.elapsed());
            assert_eq!(top.is_empty(), page.hits.is_empty(), "{query}");
            hits = page.hits.len();
            if let Some(cursor) = page.cursor {
                let request = Request { cursor: Some(cursor), ..request.clone() };
                let begun = Instant::now();
                search.search(&request).expect("an answer");
                deep.push(begun.elapsed());
            }
        }
        let (p, w) = (quantile(&mut plainly, 50), quantile(&mut wholly, 50));
        println!(
            "{query:<44.44} {:>10} {:>10} {:>6.2} {hits:>4}",
            ms(p),
            ms(w),
            w.as_secs_f64() / p.as_secs_f64()
        );
        plain.append(&mut plainly);
        whole.append(&mut wholly);
    }
    for (percent, name) in [(50, "p50"), (99, "p99")] {
        let (p, w) = (quantile(&mut plain, percent), quantile(&mut whole, percent));
        let ratio = w.as_secs_f64() / p.as_secs_f64();
        println!("{name:<44} {:>10} {:>10} {ratio:>6.2}", ms(p), ms(w));
    }
    println!("second pages: p50 {}, p99 {}", ms(quantile(&mut deep, 50)), ms(quantile(&mut deep, 99)));
}

fn quantile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times.get((times.len() * percent / 100).min(times.len().saturating_sub(1))).copied().unwrap_or_default()
}

fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}
