//! Paging while statuses move, limits, and the order as a whole.

use crate::library::{Library, all, viewed};
use std::collections::BTreeSet;
use wats_event::Hex32;
use wats_model::views::Status;
use wats_search::{CANDIDATES, Filter, Request, SearchError};

const STATUSES: [Status; 4] = [Status::Contested, Status::Unverified, Status::Stale, Status::Confirmed];

/// Posts of several relevances, with views that follow from a number.
fn posts(library: &mut Library, count: usize) -> Vec<Hex32> {
    let filler =
        ["", "and some more words ", "which is what happens on every machine that was tried here so far "];
    (0..count)
        .map(|n| {
            library.post(2 + (n % 4) as u8, &format!("the linker fails {}", filler[n % 3].repeat(n % 9)))
        })
        .collect()
}

/// Status and score of a post at a turn.
fn view_of(n: usize, turn: usize) -> (Status, i64) {
    let mixed = (n * 7 + turn * 13) % 11;
    (STATUSES[mixed % 4], mixed as i64 - 4)
}

fn set_views(library: &mut Library, posts: &[Hex32], turn: usize) {
    for (n, post) in posts.iter().enumerate() {
        let (status, score) = view_of(n, turn);
        library.view(*post, &viewed(2 + (n % 4) as u8, status, score));
    }
    library.publish();
}

/// Turns all pages of a query while views change and posts come in; the hits, in order.
fn turn_pages(library: &mut Library, posts: &[Hex32], limit: usize) -> Vec<Hex32> {
    set_views(library, posts, 0);
    let mut request = Request { limit, ..all("linker") };
    let mut found = Vec::new();
    for turn in 1.. {
        let page = library.ask(&request).expect("an answer");
        found.extend(page.hits.iter().map(|hit| hit.id));
        let Some(cursor) = page.cursor else { break };
        if request.cursor.is_some() {
            let again = library.ask(&request).expect("an answer");
            assert_eq!(again.hits, page.hits, "the same cursor gives the same page");
        }
        request.cursor = Some(cursor);
        set_views(library, posts, turn);
        library.post(2, "the linker");
        library.settle();
    }
    found
}

#[test]
fn pages_neither_repeat_nor_skip_while_statuses_move() {
    let mut library = Library::new("moving");
    let posts = posts(&mut library, 120);
    library.settle();
    let found = turn_pages(&mut library, &posts, 7);
    assert_eq!(found.len(), posts.len(), "what came in meanwhile is not in the pages of before");
    assert_eq!(found.iter().collect::<BTreeSet<_>>(), posts.iter().collect());
}

/// More than are taken from the index at first, and of several bands.
#[test]
fn many_pages_neither_repeat_nor_skip() {
    let mut library = Library::new("many");
    let posts = posts(&mut library, 700);
    library.settle();
    let found = turn_pages(&mut library, &posts, 50);
    let set: BTreeSet<_> = found.iter().collect();
    assert_eq!(set.len(), found.len(), "none is repeated");
    assert!(posts.iter().all(|post| set.contains(post)), "none is skipped");
}

/// Within a band the order is that of a sort done the slow way.
#[test]
fn a_band_is_sorted_as_a_slow_sort_would() {
    let mut library = Library::new("slow");
    let posts: Vec<Hex32> = (0..45).map(|n| library.post(2 + (n % 4) as u8, "the linker fails")).collect();
    library.settle();
    set_views(&mut library, &posts, 5);
    let mut left: Vec<(usize, Hex32)> = posts.iter().copied().enumerate().collect();
    let mut want = Vec::new();
    while !left.is_empty() {
        let place = |n: usize| {
            let (status, score) = view_of(n, 5);
            let status = match status {
                Status::Confirmed => 0,
                Status::Unverified | Status::Stale => 1,
                Status::Contested => 2,
            };
            // The later the newer.
            (status, -score, usize::MAX - n)
        };
        let best = (0..left.len()).min_by_key(|at| place(left[*at].0)).expect("there is one");
        want.push(left.remove(best).1);
    }
    assert_eq!(library.find("linker"), want);
}

#[test]
fn all_pages_together_are_the_whole_order() {
    let mut library = Library::new("whole");
    let posts = posts(&mut library, 45);
    library.settle();
    set_views(&mut library, &posts, 3);
    let whole = library.find("linker fails");
    assert_eq!(whole.len(), 45);
    for limit in [1, 4, 44, 45] {
        let mut request = Request { limit, ..all("linker fails") };
        let mut found = Vec::new();
        loop {
            let page = library.ask(&request).expect("an answer");
            assert!(page.hits.len() <= limit && page.complete);
            found.extend(page.hits.iter().map(|hit| hit.id));
            let Some(cursor) = page.cursor else { break };
            assert_eq!(page.hits.len(), limit);
            request.cursor = Some(cursor);
        }
        assert_eq!(found, whole);
    }
}

/// A filter on statuses decides when a hit is ranked; pages that are turned later still show it.
#[test]
fn a_status_that_moves_away_while_paging_is_shown_as_it_is() {
    let mut library = Library::new("away");
    let posts: Vec<Hex32> = (0..6).map(|_| library.post(2, "the linker")).collect();
    library.settle();
    for post in &posts {
        library.view(*post, &viewed(2, Status::Confirmed, 0));
    }
    library.publish();
    let filter = Filter { min_status: Some(Status::Confirmed), ..Filter::default() };
    let mut request = Request { limit: 4, filter, ..all("linker") };
    let page = library.ask(&request).expect("an answer");
    for post in &posts {
        library.view(*post, &viewed(2, Status::Contested, 0));
    }
    library.publish();
    request.cursor = page.cursor;
    let rest = library.ask(&request).expect("an answer");
    assert_eq!(rest.hits.iter().map(|hit| hit.status).collect::<Vec<_>>(), [Status::Contested; 2]);
    request.cursor = None;
    assert_eq!(library.ask(&request).expect("an answer").hits, [], "asked anew, there is none");
}

#[test]
fn a_cursor_that_does_not_fit_is_told_so() {
    let mut library = Library::new("cursor");
    posts(&mut library, 20);
    library.settle();
    let first = Request { limit: 5, ..all("linker") };
    let cursor = library.ask(&first).expect("an answer").cursor;
    assert!(cursor.is_some());
    let with = |cursor: &str, query: &str| Request { cursor: Some(cursor.into()), limit: 5, ..all(query) };
    let cursor = cursor.expect("there is one");
    let fails = |request: &Request| library.ask(request).expect_err("it must not be answered");
    assert!(matches!(fails(&with(&cursor, "fails")), SearchError::OtherSearch));
    assert!(matches!(fails(&with("abc", "linker")), SearchError::NoCursor));
    let mut other = Library::new("cursor_other");
    posts(&mut other, 20);
    other.settle();
    assert!(matches!(other.ask(&with(&cursor, "linker")), Err(SearchError::OtherStore)));
    assert!(fails(&with("abc", "linker")).is_of_client());
    // After a restart nothing is remembered.
    let dir = library.dir.clone();
    drop(library);
    let library = Library::at(dir);
    assert!(matches!(library.ask(&with(&cursor, "linker")), Err(SearchError::TooOld)));
}

#[test]
fn limits_hold() {
    let mut library = Library::new("limits");
    for n in 0..CANDIDATES + 100 {
        library.post(2, &format!("the linker {n}"));
    }
    library.settle();
    assert!(matches!(library.ask(&all("")), Err(SearchError::Nothing)));
    assert!(matches!(library.ask(&all("?!")), Err(SearchError::Nothing)));
    assert!(matches!(library.ask(&all("\"open")), Err(SearchError::Query(e)) if e.at == 0));
    assert_eq!(library.ask(&Request { limit: 0, ..all("linker") }).expect("an answer").hits.len(), 10);
    assert_eq!(library.ask(&Request { limit: 9999, ..all("linker") }).expect("an answer").hits.len(), 50);
    for query in ["linker", "-absent"] {
        let (mut request, mut found) = (all(query), BTreeSet::new());
        loop {
            let page = library.ask(&request).expect("an answer");
            assert!(!page.complete, "there is more than is ranked");
            found.extend(page.hits.iter().map(|hit| hit.id));
            let Some(cursor) = page.cursor else { break };
            request.cursor = Some(cursor);
        }
        assert_eq!(found.len(), CANDIDATES);
    }
}
