//! The index beside its store: damage, crashes, other stores, and who follows whom.

use crate::library::{Library, START, all, scratch, viewed};
use crossbeam::channel::bounded;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use wats_event::Hex32;
use wats_model::views::Status;
use wats_search::{Index, Indexer, catch_up};
use wats_store::{Seq, Sizes, Store};

/// The names of the files of segments, and of others than the index's own.
fn files(index: &Path) -> BTreeSet<String> {
    let names = fs::read_dir(index)
        .expect("a file")
        .map(|entry| entry.expect("a file").file_name().into_string().expect("a file"));
    names.filter(|name| !name.starts_with('.') && name != "meta.json").collect()
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).expect("a file");
    for entry in fs::read_dir(from).expect("a file") {
        let entry = entry.expect("a file");
        // A file may go between listing and copying, as in a crash.
        let _ = fs::copy(entry.path(), to.join(entry.file_name()));
    }
}

#[test]
fn an_index_goes_on_where_it_was() {
    let mut library = Library::new("goes_on");
    let first = library.post(2, "the linker");
    library.settle();
    let dir = library.dir.clone();
    drop(library);
    let mut library = Library::at(dir);
    assert_eq!((library.index.mark().through, library.index.events()), (Seq(1), 1));
    assert_eq!(library.find("linker"), [first]);
    let second = library.post(2, "another linker");
    library.commit();
    let followed = catch_up(&library.store, &library.index).expect("an index");
    assert_eq!((followed.records, followed.events), (1, 1), "what was indexed is not read again");
    assert_eq!(library.find("linker").len(), 2);
    assert!(library.find("another").contains(&second));
}

#[test]
fn a_damaged_index_is_made_again() {
    let mut library = Library::new("damaged");
    let post = library.post(2, "the linker");
    library.settle();
    let dir = library.dir.clone();
    drop(library);
    let kept = scratch("damaged_kept");
    copy(&dir.join("index"), &kept);
    let names: Vec<String> =
        files(&kept).into_iter().chain(["meta.json".into(), ".managed.json".into()]).collect();
    assert!(names.len() > 5, "{names:?}");
    for name in names {
        for damage in ["flip", "cut", "gone"] {
            copy(&kept, &dir.join("index"));
            let file = dir.join("index").join(&name);
            let mut bytes = fs::read(&file).expect("a file");
            match damage {
                "flip" => {
                    let at = bytes.len() / 3;
                    bytes[at] ^= 0x15;
                    fs::write(&file, bytes).expect("a file");
                }
                "cut" => fs::write(&file, &bytes[..bytes.len() / 2]).expect("a file"),
                _ => fs::remove_file(&file).expect("a file"),
            }
            let library = Library::at(dir.clone());
            catch_up(&library.store, &library.index).expect("an index");
            assert_eq!(library.find("linker"), [post], "{name}: {damage}");
            assert_eq!(library.index.events(), 1, "{name}: {damage}");
        }
    }
}

#[test]
fn an_index_of_another_store_or_state_is_made_again() {
    let mut library = Library::new("state");
    let first = library.post(2, "the first linker");
    library.settle();
    let early = scratch("state_early");
    fs::remove_dir(&early).expect("a file");
    library.store.checkpoint(&early).expect("a store");
    library.post(2, "the second linker");
    library.settle();
    let dir = library.dir.clone();
    drop(library);
    // Another store: its id differs.
    let other = Index::open(&dir.join("index"), Hex32([9; 32])).expect("an index");
    assert_eq!((other.events(), other.mark().through), (0, Seq(0)));
    drop(other);
    let library = Library::at(dir.clone());
    catch_up(&library.store, &library.index).expect("an index");
    assert_eq!(library.find("linker").len(), 2);
    drop(library);
    // The store of before: the index is ahead of it.
    fs::remove_dir_all(dir.join("store")).expect("a file");
    fs::rename(&early, dir.join("store")).expect("a file");
    let mut library = Library::at(dir);
    catch_up(&library.store, &library.index).expect("an index");
    assert_eq!(library.find("linker"), [first]);
    // And one that went on from there in another way.
    library.post(3, "the third linker");
    library.settle();
    assert_eq!(library.find("linker").len(), 2);
}

#[test]
fn what_a_crash_left_lying_about_is_removed() {
    let mut library = Library::new("orphans");
    let post = library.post(2, "the linker");
    library.settle();
    let dir = library.dir.clone();
    drop(library);
    let clean = files(&dir.join("index"));
    for name in
        ["0123456789abcdef0123456789abcdef.store", "0123456789abcdef0123456789abcdef.idx", ".tmpAbC123"]
    {
        fs::write(dir.join("index").join(name), b"half a segment").expect("a file");
    }
    let library = Library::at(dir.clone());
    assert_eq!(files(&dir.join("index")), clean);
    assert!(!dir.join("index/.tmpAbC123").exists());
    assert_eq!(library.find("linker"), [post]);
}

/// The directory as a crash at any moment would leave it: copied while commits and merges go on.
#[test]
fn a_crash_at_any_moment_loses_nothing_and_leaves_nothing() {
    let mut library = Library::new("crash");
    let (store, dir) = (library.store.clone(), library.dir.clone());
    let (tell, more) = bounded(1);
    let indexer = Indexer::new(store.clone(), library.index.clone());
    let thread = thread::spawn(move || indexer.run(&more));
    let began = Instant::now();
    let (mut said, mut copies) = (0, 0);
    while began.elapsed() < Duration::from_secs(4) {
        for _ in 0..40 {
            library.post(2, &format!("the linker number {said}"));
            said += 1;
        }
        library.commit();
        let _ = tell.try_send(());
        let crashed = scratch(&format!("crash_{copies}"));
        copy(&dir.join("index"), &crashed);
        copies += 1;
        thread::sleep(Duration::from_millis(70));
    }
    drop(tell);
    thread.join().expect("it ended");
    assert_eq!(library.index.events(), said);
    let mut gone_on = 0;
    for n in 0..copies {
        let crashed = scratch("crash").with_file_name(format!("crash_{n}"));
        let index = Arc::new(Index::open(&crashed, store.id()).expect("an index"));
        gone_on += u64::from(index.events() > 0);
        let left = files(&crashed);
        catch_up(&store, &index).expect("an index");
        assert_eq!(index.events(), said, "copy {n}");
        drop(index);
        let again = Index::open(&crashed, store.id()).expect("an index");
        assert_eq!(again.events(), said, "copy {n}");
        // Nothing lies about that is no segment's: a segment has at most seven files.
        let segments: BTreeSet<&str> = left.iter().filter_map(|name| name.split('.').next()).collect();
        assert!(left.len() <= 8 * segments.len().max(1));
    }
    assert!(gone_on > 0, "of {copies} copies none could be gone on from");
}

#[test]
fn an_event_is_findable_within_a_second() {
    let mut library = Library::new("latency");
    let (tell, more) = bounded(1);
    let indexer = Indexer::new(library.store.clone(), library.index.clone());
    let thread = thread::spawn(move || indexer.run(&more));
    let mut slowest = Duration::ZERO;
    for n in 0..12 {
        let post = library.post(2, &format!("unique{n}word"));
        library.commit();
        let _ = tell.try_send(());
        let began = Instant::now();
        while library.find(&format!("unique{n}word")) != [post] {
            assert!(began.elapsed() < Duration::from_secs(5), "number {n} is not found");
            thread::sleep(Duration::from_millis(2));
        }
        slowest = slowest.max(began.elapsed());
        thread::sleep(Duration::from_millis(n * 20));
    }
    println!("findable after at most {slowest:?}");
    drop(tell);
    thread.join().expect("it ended");
    assert!(slowest < Duration::from_secs(2), "{slowest:?}, on however busy a machine");
}

#[test]
fn networks_never_mix() {
    let mut library = Library::new("networks");
    let say = |library: &mut Library, network: &str, text: &str| {
        let event = serde_json::json!({"kind": "ask", "text": text, "title": text, "tags": ["ci"]});
        library.say_in(network, 2, event)
    };
    let here = say(&mut library, "main", "the linker");
    let there = say(&mut library, "side", "the linker");
    // Names that begin alike are different names.
    let third = say(&mut library, "mai", "the linker");
    library.settle();
    for (network, id) in [("main", here), ("side", there), ("mai", third)] {
        let author = crate::library::secret(2).public();
        let thread = format!("thread:{id}");
        for query in [
            "linker",
            "\"the linker\"",
            "tag:ci",
            "kind:ask",
            &format!("author:{author}"),
            &thread,
            "-absent",
        ] {
            let request = wats_search::Request { network: network.into(), ..all(query) };
            let found: Vec<Hex32> =
                library.ask(&request).expect("an answer").hits.iter().map(|hit| hit.id).collect();
            assert_eq!(found, [id], "{network}: {query}");
        }
        let request = wats_search::Request { network: "absent".into(), ..all(&thread) };
        assert_eq!(library.ask(&request).expect("an answer").hits, []);
    }
    assert_eq!(library.find(&format!("thread:{there}")), []);
}

/// What is said in one network moves nothing in another, not even the worth of a word.
#[test]
fn one_network_does_not_weigh_in_another() {
    let mut library = Library::new("weigh");
    for n in 0..30 {
        library.post(2, &format!("linker {}", "musl ".repeat(1 + n % 7)));
        library.post(3, &format!("allocator {}", "musl ".repeat(n % 5)));
    }
    library.settle();
    let before = library.find("linker musl allocator");
    for n in 0..500 {
        library.say_in(
            "side",
            2,
            serde_json::json!({"kind": "post", "text": format!("allocator of side {n}")}),
        );
    }
    library.settle();
    assert_eq!(library.find("linker musl allocator"), before);
    assert_eq!(before.len(), 50);
}

#[test]
fn a_post_that_the_views_do_not_know_yet_is_found() {
    let mut library = Library::new("unviewed");
    let post = library.post(2, "the linker");
    library.settle();
    let hits = library.hits("linker");
    assert_eq!((hits[0].id, hits[0].status), (post, Status::Unverified));
    assert_eq!(hits[0].created_at.0, START + 60_000);
    library.view(post, &viewed(2, Status::Confirmed, 1));
    library.publish();
    assert_eq!(library.hits("linker")[0].status, Status::Confirmed);
}

#[test]
fn a_rebuilt_index_finds_the_same() {
    let mut library = Library::new("rebuilt");
    for n in 0..300 {
        library.post(2 + (n % 5) as u8, &format!("number {n}: {}", "linker musl cargo ".repeat(n % 4)));
    }
    library.settle();
    let queries = ["linker", "musl number", "\"musl cargo\"", "-linker number", "number 7 OR 9"];
    let before = queries.map(|query| library.find(query));
    let other = Arc::new(Index::open(&scratch("rebuilt_other"), library.store.id()).expect("an index"));
    catch_up(&library.store, &other).expect("an index");
    library.search = wats_search::Search::new(library.store.clone(), other, Default::default());
    assert_eq!(queries.map(|query| library.find(query)), before);
    // A store that another directory holds is another store.
    let store = Store::open(&scratch("rebuilt_store"), Sizes::default()).expect("a store");
    assert_ne!(store.id(), library.store.id());
}
