//! The search index beside the store, after a crash and after damage: whatever becomes of it, what the store
//! holds is found, and nothing else.

use super::dice::Dice;
use super::http::{get, post_lines};
use super::kill::{Acknowledged, ROUND, load_and_kill, prepare, rounds};
use super::node::{Running, network, open, post_of, scratch, secret};
use super::process::Process;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wats_event::Hex32;
use wats_model::fixed::Fixed;
use wats_model::ids::Millis;
use wats_search::document::Document;
use wats_search::{CANDIDATES, Filter, Index, MAX_BAND, Request, Search, catch_up};
use wats_store::{Seq, SequenceRecord, Store};

/// How long a test waits before it fails.
const LONG: Duration = Duration::from_secs(60);

/// Queries whose answers two indexes of one store must agree on.
const QUERIES: [&str; 6] =
    ["linker", "error", "\"the file\"", "fails -linux", "kind:answer the", "cargo OR musl"];

/// What is found by a query, page by page.
fn found(search: &Search, request: Request) -> Vec<Hex32> {
    let mut all = Vec::new();
    let mut request = Request { limit: 50, include_low: true, ..request };
    loop {
        let page = search.search(&request).expect("an answer");
        all.extend(page.hits.iter().map(|hit| hit.id));
        match page.cursor {
            Some(cursor) => request.cursor = Some(cursor),
            None => return all,
        }
    }
}

/// What an index finds: for each event of the store that is one to be found, whether it is.
fn check_found(store: &Arc<Store>, index: &Arc<Index>, round: usize) -> BTreeSet<Hex32> {
    let search = Search::new(store.clone(), index.clone(), Fixed::ZERO);
    let mut held = BTreeSet::new();
    for item in store.records(Seq(0)) {
        let (_, SequenceRecord::Event { id, text, .. }) = item.expect("readable") else { continue };
        let Some(event) = Document::read(&text) else { continue };
        let filter = Filter {
            author: Some(event.author.to_string()),
            since: Some(event.created_at),
            before: Some(Millis(event.created_at.0 + 1)),
            ..Filter::default()
        };
        let request = Request { network: event.network.clone(), filter, ..Request::default() };
        assert!(found(&search, request).contains(&id), "round {round}: {id} is held and is not found");
        held.insert(id);
    }
    assert_eq!(index.events(), held.len() as u64, "round {round}: of each event there is one document");
    held
}

/// The index of a stopped node against one that is made anew from the same store, and its files against those
/// that it names.
pub(crate) fn check_index(dir: &Path, acknowledged: &Acknowledged, round: usize) {
    let store = Arc::new(open(&dir.join("store")));
    let index = Arc::new(Index::open(&dir.join("index"), store.id()).expect("it opens, or is made again"));
    let from = index.mark();
    let followed = catch_up(&store, &index).expect("it catches up");
    assert_eq!(from.through.0 + followed.records, store.last().expect("a sequence").0, "round {round}");
    let held = check_found(&store, &index, round);
    for id in acknowledged.lock().expect("a set").iter() {
        let text = store.event(*id).expect("readable").expect("acknowledged").text;
        assert!(Document::read(&text).is_none() || held.contains(id), "round {round}: {id}");
    }
    // Several tests do this at a time.
    let name = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let again = scratch(&format!("{name}_search_again"));
    let anew = Arc::new(Index::open(&again, store.id()).expect("an index"));
    catch_up(&store, &anew).expect("it catches up");
    let [one, other] = [&index, &anew].map(|index| Search::new(store.clone(), index.clone(), Fixed::ZERO));
    for query in QUERIES {
        let ask = || Request { network: "main".into(), query: query.into(), ..Request::default() };
        let (one, other) = (found(&one, ask()), found(&other, ask()));
        assert_eq!(one.len(), other.len(), "round {round}: {query}");
        // Of those on the edge of a band, or of all candidates, that are as relevant as each other some are taken,
        // in the order in which they lie in the files.
        let differ = one.iter().zip(&other).position(|(one, other)| one != other);
        assert!(
            one.len() > MAX_BAND || differ.is_none(),
            "round {round}: {query}: they differ at {differ:?}"
        );
        let sets = [&one, &other].map(BTreeSet::from_iter);
        assert!(one.len() == CANDIDATES || sets[0] == sets[1], "round {round}: {query}: others are found");
    }
    drop((one, other, index, anew));
    check_files(&dir.join("index"), round);
}

/// Files that no segment of the last commit names are orphans.
fn check_files(index: &Path, round: usize) {
    let opened = tantivy::Index::open_in_dir(index).expect("an index");
    let named = opened.load_metas().expect("segments").list_segment_files();
    let own = ["meta.json", ".managed.json", ".tantivy-writer.lock", ".tantivy-meta.lock"];
    let there = fs::read_dir(index).expect("files").map(|file| file.expect("a file").file_name());
    let orphans: Vec<_> =
        there.filter(|name| !named.contains(Path::new(name)) && own.iter().all(|own| name != own)).collect();
    assert!(orphans.is_empty(), "round {round}: {orphans:?}");
}

#[test]
fn what_was_acknowledged_is_found_after_it_was_killed() {
    let (dir, rounds) = (scratch("search_kill"), rounds(10));
    let (_, events) = prepare(&dir, 61, rounds);
    let (mut dice, acknowledged) = (Dice::new(61), Acknowledged::default());
    for (round, events) in events.chunks(ROUND).enumerate() {
        let mut process = Process::start(&dir, &[]);
        let to = process.address;
        std::thread::scope(|scope| {
            // Searches go on meanwhile, until the node is gone.
            scope.spawn(move || while super::http::try_call(to, "GET", QUERY, &[], b"").is_ok() {});
            load_and_kill(&mut process, events, &mut dice, &acknowledged);
        });
        // Otherwise the node itself is the first to open what the crash left.
        if round % 2 == 0 {
            check_index(&dir, &acknowledged, round);
        }
    }
    // A node finds it all by itself.
    let node = Process::start(&dir, &[]);
    indexed(node.address);
    node.stop();
    check_index(&dir, &acknowledged, usize::MAX);
    println!("{rounds} rounds, {} events acknowledged", acknowledged.into_inner().expect("a set").len());
}

const QUERY: &str = "/v1/search?network=main&q=linker";

/// Waits until a node's index has taken in all that is durable.
fn indexed(node: SocketAddr) {
    let began = Instant::now();
    while get(node, "/readyz").json()["to_index"] != 0 {
        assert!(began.elapsed() < LONG, "it does not catch up");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A node with some posts, stopped; and their ids.
fn stopped(name: &str) -> (Running, BTreeSet<Hex32>) {
    let mut node = Running::with(name, |settings| {
        settings.config.networks = Some(vec![network("main", secret(1).public())]);
    });
    let posts = (0..30).map(|n| post_of(2 + n % 5, node.now(), &format!("the linker says {n}")));
    let (ids, texts): (BTreeSet<Hex32>, Vec<String>) = posts.unzip();
    assert_eq!(post_lines(node.address(), &texts.join("\n")).status, 200);
    node.settle();
    indexed(node.address());
    node.stop();
    (node, ids)
}

/// What a running node finds.
fn linkers(node: SocketAddr) -> BTreeSet<Hex32> {
    indexed(node);
    let page = get(node, "/v1/search?network=main&q=linker&limit=50&include_low=true").json();
    let id = |hit: &Value| Hex32::parse(hit["id"].as_str().expect("an id")).expect("an id");
    page["hits"].as_array().expect("hits").iter().map(id).collect()
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).expect("a directory");
    for file in fs::read_dir(from).expect("files") {
        let file = file.expect("a file");
        fs::copy(file.path(), to.join(file.file_name())).expect("copied");
    }
}

#[test]
fn whatever_becomes_of_the_index_a_node_finds_what_its_store_holds() {
    let (mut node, ids) = stopped("search_damage");
    let (index, kept) = (node.settings.index.clone(), scratch("search_damage_kept"));
    copy(&index, &kept);
    let largest = || {
        let files = fs::read_dir(&kept).expect("files").map(|file| file.expect("a file"));
        let files = files.filter(|file| file.path().extension().is_some_and(|e| e != "json" && e != "lock"));
        files.max_by_key(|file| file.metadata().expect("a file").len()).expect("a segment").file_name()
    };
    let largest = largest();
    let flip = |name: &Path| {
        let mut bytes = fs::read(name).expect("a file");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x20;
        fs::write(name, bytes).expect("written");
    };
    let change = |from: &str, to: &str| {
        let meta = index.join("meta.json");
        let text = fs::read_to_string(&meta).expect("a file");
        assert!(text.contains(from), "{text}");
        fs::write(&meta, text.replace(from, to)).expect("written");
    };
    let cut = |length: u64| {
        let file = fs::OpenOptions::new().write(true).open(index.join(&largest)).expect("a file");
        file.set_len(length).expect("cut");
    };
    type Harm<'h> = (&'static str, Box<dyn Fn() + 'h>);
    let harms: [Harm<'_>; 11] = [
        ("none", Box::new(|| {})),
        ("the directory is gone", Box::new(|| fs::remove_dir_all(&index).expect("removed"))),
        (
            "the directory is empty",
            Box::new(|| {
                fs::remove_dir_all(&index).expect("removed");
                fs::create_dir(&index).expect("made");
            }),
        ),
        ("a segment is cut to nothing", Box::new(|| cut(0))),
        ("a segment is cut to three bytes", Box::new(|| cut(3))),
        ("a segment is cut to seven bytes", Box::new(|| cut(7))),
        ("a segment is cut to a hundred bytes", Box::new(|| cut(100))),
        ("a segment has a wrong bit", Box::new(|| flip(&index.join(&largest)))),
        ("a segment is gone", Box::new(|| fs::remove_file(index.join(&largest)).expect("removed"))),
        ("garbage", Box::new(|| fs::write(index.join("meta.json"), b"\0\xffgarbage").expect("written"))),
        ("another version", Box::new(|| change("wats 1 ", "wats 0 "))),
    ];
    for (harm, strike) in harms {
        copy(&kept, &index);
        strike();
        node.start().expect("the node starts");
        assert_eq!(linkers(node.address()), ids, "{harm}");
        node.stop();
        check_files(&index, 0);
    }
}

#[test]
fn an_index_of_another_store_or_ahead_of_its_own_is_made_again_and_the_log_says_so() {
    let (mut node, ids) = stopped("search_ahead");
    let early = node.dir.join("early");
    let store = open(&node.settings.store);
    store.checkpoint(&early).expect("a copy");
    drop(store);
    node.start().expect("it starts");
    let (late, text) = post_of(3, node.now(), "the linker, once more");
    assert_eq!(post_lines(node.address(), &text).status, 200);
    node.settle();
    assert!(linkers(node.address()).contains(&late));
    node.stop();
    // The store lost what was not synced, and the index did not.
    fs::remove_dir_all(&node.settings.store).expect("removed");
    fs::rename(&early, &node.settings.store).expect("put back");
    node.start().expect("it starts");
    assert_eq!(linkers(node.address()), ids);
    // What comes to stand in the same place is found, and not what stood there before.
    let (other, text) = post_of(4, node.now(), "the linker, otherwise");
    assert_eq!(post_lines(node.address(), &text).status, 200);
    node.settle();
    let mut now = ids.clone();
    now.insert(other);
    assert_eq!(linkers(node.address()), now);
    node.stop();
    // The index of another store.
    let (elsewhere, others) = stopped("search_elsewhere");
    copy(&elsewhere.settings.index, &node.settings.index);
    assert_eq!(others, ids, "the same events in another store");
    let config = "[[network]]\nid = \"main\"\n";
    fs::write(node.dir.join("wats.toml"), config).expect("a configuration");
    let mut process = Process::start(&node.dir, &[]);
    assert_eq!(linkers(process.address), now);
    let said = process.said();
    assert!(said.iter().any(|line| line.contains("the index is made again from the store")), "{said:#?}");
    process.stop();
}
