//! One test for each sentence of the decision record's 3.2 and 5.2 that search is about.

use crate::library::{Library, all, viewed};
use serde_json::json;
use wats_model::views::{Counts, Status};
use wats_search::{Filter, Kind, Request};
use wats_store::Shown;

/// "Search ranks first by relevance (BM25)".
#[test]
fn relevance_comes_first() {
    let mut library = Library::new("relevance");
    let on_it =
        library.say(2, json!({"kind": "post", "title": "musl linker", "text": "the musl linker fails"}));
    let filler = "and many other words about other things ".repeat(20);
    let off_it = library.post(3, &format!("musl {filler}"));
    library.view(on_it, &viewed(2, Status::Unverified, 0));
    library.view(off_it, &viewed(3, Status::Confirmed, 9));
    library.settle();
    assert_eq!(library.find("musl linker"), [on_it, off_it], "far apart, the status does not matter");
}

/// "then within comparable relevance by score".
#[test]
fn comparable_relevance_goes_by_score() {
    let mut library = Library::new("score");
    let posts = [2, 3, 4].map(|key| library.post(key, "the musl linker fails"));
    for (post, (key, score)) in posts.iter().zip([(2, 5), (3, 7), (4, -1)]) {
        library.view(*post, &viewed(key, Status::Unverified, score));
    }
    library.settle();
    assert_eq!(library.find("musl linker"), [posts[1], posts[0], posts[2]]);
    library.view(posts[2], &viewed(4, Status::Unverified, 8));
    library.publish();
    assert_eq!(library.find("musl linker"), [posts[2], posts[1], posts[0]], "a change is seen at once");
}

/// "confirmed rises", "contested sinks, but stays visible and labelled", "unverified stays in the middle".
#[test]
fn confirmed_rises_contested_sinks_and_is_labelled() {
    let mut library = Library::new("statuses");
    let statuses = [Status::Contested, Status::Unverified, Status::Stale, Status::Confirmed];
    let posts =
        statuses.map(|status| (status, library.post(2, &format!("the musl linker fails {status:?}"))));
    for (n, (status, post)) in posts.iter().enumerate() {
        // The worse the status the better the score: it must not matter. Stale and unverified are alike.
        let score = if *status == Status::Stale { 50 } else { 10 - n as i64 };
        library.view(*post, &viewed(2, *status, score));
    }
    library.settle();
    let hits = library.hits("musl linker");
    let order: Vec<Status> = hits.iter().map(|hit| hit.status).collect();
    assert_eq!(order, [Status::Confirmed, Status::Stale, Status::Unverified, Status::Contested]);
    assert_eq!(hits[3].why.as_deref(), Some("contested: contradicted by 1 key"));
    assert!(hits[..3].iter().all(|hit| hit.why.is_none()));
    library.view(posts[1].1, &viewed(2, Status::Unverified, 60));
    library.publish();
    assert_eq!(library.hits("musl linker")[1].status, Status::Unverified, "by score among the two");
}

/// Those alike in all that: the newest first, and then in one order for ever.
#[test]
fn the_newest_comes_first_among_equals() {
    let mut library = Library::new("newest");
    let mut posts: Vec<_> = (0..5).map(|_| library.post(2, "the musl linker fails")).collect();
    let twins: Vec<_> = (3..8)
        .map(|key| {
            library.say(key, json!({"kind": "post", "text": "the musl linker fails", "created_at": 7}))
        })
        .collect();
    library.settle();
    posts.reverse();
    let found = library.find("linker");
    assert_eq!(found[..5], posts[..]);
    let mut by_id = twins.clone();
    by_id.sort_unstable();
    by_id.reverse();
    assert_eq!(found[5..], by_id[..]);
}

/// "authors below a node-set threshold are left out unless asked (include_low = true)".
#[test]
fn authors_of_low_reputation_are_left_out_unless_asked_for() {
    let mut library = Library::new("low");
    let posts = [2, 3, 4].map(|key| library.post(key, "the musl linker fails"));
    library.reputation(2, 0);
    library.reputation(3, -1);
    library.settle();
    let found = library.find("linker");
    assert_eq!(found.len(), 2);
    assert!(found.contains(&posts[0]) && found.contains(&posts[2]), "zero is not below zero: {found:?}");
    let page = library.ask(&Request { include_low: true, ..all("linker") }).expect("an answer");
    assert_eq!(page.hits.len(), 3);
}

/// "Each result line gains status, its short why when it is contested, and short counts"; "Agents see
/// labels and counts only, never reputation numbers".
#[test]
fn a_hit_has_labels_and_counts_and_no_number_of_trust() {
    let mut library = Library::new("numbers");
    let post = library.say(
        2,
        json!({"kind": "post", "title": "On musl", "text": "the musl linker fails",
        "tags": ["cap:rust"]}),
    );
    let mut view = viewed(2, Status::Contested, 123_456_789);
    view.counts = Counts { accepts: 1, confirmations: 2, uses: 3, contradictions: 4, ..Counts::default() };
    library.view(post, &view);
    library.reputation(2, 987_654_321);
    library.settle();
    let page = library.ask(&all("linker")).expect("an answer");
    let json = serde_json::to_value(&page).expect("an answer");
    let hit = &json["hits"][0];
    assert_eq!(hit["status"], "contested");
    assert_eq!(hit["why"], "contested: contradicted by 1 key");
    assert_eq!(hit["kind"], "post");
    assert_eq!(hit["title"], "On musl");
    assert_eq!(hit["tags"], json!(["cap:rust"]));
    assert_eq!(hit["counts"]["uses"], 3);
    assert_eq!(hit["snippet"], json!({"text": "the musl linker fails", "highlights": [[9, 15]]}));
    let said = json.to_string();
    assert!(!said.contains("123456789") && !said.contains("987654321"), "{said}");
    let names: Vec<&str> = hit.as_object().expect("there is one").keys().map(String::as_str).collect();
    let known = [
        "author",
        "counts",
        "created_at",
        "id",
        "kind",
        "knowledge",
        "snippet",
        "sources",
        "status",
        "tags",
        "thread",
        "title",
        "why",
    ];
    assert_eq!(names, known);
}

/// "search returns knowledge entries first (knowledge: true), each with its title, status and sources,
/// before other results of comparable relevance".
#[test]
fn knowledge_comes_first_with_its_sources() {
    let mut library = Library::new("knowledge");
    let ask = library.say(2, json!({"kind": "ask", "title": "Why does the linker fail?", "text": "on musl"}));
    let answer =
        library.say(3, json!({"kind": "post", "text": "linker: install it", "parent": ask, "thread": ask}));
    let other = library.post(4, "linker: do otherwise");
    let digest = library
        .say(5, json!({"kind": "x.wearetheswarm.digest", "text": "linker: as a whole", "refs": [other]}));
    library.view(other, &viewed(4, Status::Confirmed, 100));
    library.view(answer, &viewed(3, Status::Confirmed, 1));
    library.view(digest, &viewed(5, Status::Confirmed, 2));
    library.entry(answer, false, &[ask]);
    library.entry(digest, true, &[]);
    library.shown(ask, Shown::Canonical, answer);
    library.settle();
    let hits = library.hits("\"linker\" -fail");
    let order: Vec<_> = hits.iter().map(|hit| (hit.id, hit.knowledge)).collect();
    assert_eq!(order, [(digest, true), (answer, true), (other, false)], "by score, entries before others");
    assert_eq!(hits[0].sources, [other]);
    assert_eq!(hits[1].sources, [ask]);
    assert_eq!(hits[1].title.as_deref(), Some("Why does the linker fail?"), "a reply bears its thread's");
    assert_eq!(hits[1].kind, Kind::Answer);
    let asked = library.hits("fail").into_iter().find(|hit| hit.id == ask).expect("there is one");
    assert_eq!(asked.read_first, Some(answer), "whoever finds the ask is told of its answer");
}

/// "A digest is preferred over the thread fallback that it covers".
#[test]
fn a_digest_comes_before_the_thread_it_covers() {
    let mut library = Library::new("covers");
    let ask = library.say(2, json!({"kind": "ask", "text": "linker: why?"}));
    let answer = library.say(3, json!({"kind": "post", "text": "linker: so", "parent": ask, "thread": ask}));
    library.view(ask, &viewed(2, Status::Unverified, 0));
    library.view(answer, &viewed(3, Status::Confirmed, 90));
    library.entry(answer, false, &[ask]);
    library.settle();
    assert!(library.hits("linker")[0].knowledge);
    // The digest covers the thread, which is no entry of its own any more (section 7).
    let digest =
        library.say(5, json!({"kind": "x.wearetheswarm.digest", "text": "linker: all", "refs": [answer]}));
    library.view(digest, &viewed(5, Status::Confirmed, 2));
    library.entry(digest, true, &[ask]);
    library.shown(ask, Shown::Canonical, answer);
    library.shown(ask, Shown::Digest, digest);
    library.forget_entry(answer, false);
    library.settle();
    let hits = library.hits("linker");
    let order: Vec<_> = hits.iter().map(|hit| (hit.id, hit.knowledge)).collect();
    assert_eq!(order, [(digest, true), (answer, false), (ask, false)]);
    assert_eq!(hits[0].sources, [answer, ask]);
    assert_eq!(hits[2].read_first, Some(digest));
}

/// "An entry loses its status when it becomes contested or stale. The next best entry then takes over".
#[test]
fn an_entry_that_loses_its_standing_is_followed_by_the_next() {
    let mut library = Library::new("next");
    let ask = library.say(2, json!({"kind": "ask", "text": "why?"}));
    let answers = [3, 4].map(|key| {
        library.say(key, json!({"kind": "post", "text": "linker: so", "parent": ask, "thread": ask}))
    });
    library.view(answers[0], &viewed(3, Status::Confirmed, 9));
    library.view(answers[1], &viewed(4, Status::Confirmed, 5));
    library.entry(answers[0], false, &[ask]);
    library.settle();
    assert_eq!(library.find("linker"), answers);
    library.view(answers[0], &viewed(3, Status::Contested, 9));
    library.forget_entry(answers[0], false);
    library.entry(answers[1], false, &[ask]);
    library.publish();
    let hits = library.hits("linker");
    let order: Vec<_> = hits.iter().map(|hit| (hit.id, hit.knowledge, hit.status)).collect();
    assert_eq!(order, [(answers[1], true, Status::Confirmed), (answers[0], false, Status::Contested)]);
}

#[test]
fn filters_are_all_of_them() {
    let mut library = Library::new("filters");
    let ask = library.say(2, json!({"kind": "ask", "text": "linker why", "tags": ["cap:Rust", "ci"]}));
    let answer = library.say(3, json!({"kind": "post", "text": "linker so", "parent": ask, "thread": ask}));
    let deeper =
        library.say(2, json!({"kind": "post", "text": "linker no", "parent": answer, "thread": ask}));
    let digest = library.say(
        4,
        json!({"kind": "x.wearetheswarm.digest", "text": "linker all", "refs": [answer], "tags": ["ci"]}),
    );
    let statuses = [Status::Contested, Status::Unverified, Status::Stale, Status::Confirmed];
    for (status, (key, id)) in statuses.into_iter().zip([(2, ask), (3, answer), (2, deeper), (4, digest)]) {
        library.view(id, &viewed(key, status, 0));
    }
    library.settle();
    let find = |filter: Filter| {
        let mut found = library.find_with("linker", filter.clone());
        // A filter alone is a search too.
        let mut alone = library.find_with("", filter);
        found.sort_unstable();
        alone.sort_unstable();
        assert_eq!(found, alone);
        found
    };
    let set = |ids: &[wats_event::Hex32]| {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids
    };
    let none = Filter::default;
    let tags = |tags: &[&str]| Filter { tags: tags.iter().map(|tag| (*tag).to_owned()).collect(), ..none() };
    assert_eq!(find(tags(&["cap:rust"])), set(&[ask]));
    assert_eq!(find(tags(&["CI"])), set(&[ask, digest]));
    assert_eq!(find(tags(&["ci", "cap:rust"])), set(&[ask]));
    let kind = |kind| Filter { kind: Some(kind), ..none() };
    assert_eq!(find(kind(Kind::Ask)), set(&[ask]));
    assert_eq!(find(kind(Kind::Post)), set(&[answer, deeper]));
    assert_eq!(find(kind(Kind::Answer)), set(&[answer]));
    assert_eq!(find(kind(Kind::Digest)), set(&[digest]));
    assert_eq!(find(Filter { thread: Some(ask), ..none() }), set(&[ask, answer, deeper]));
    let author = crate::library::secret(2).public().to_string();
    for digits in [author.as_str(), &author[..8]] {
        assert_eq!(find(Filter { author: Some(digits.to_owned()), ..none() }), set(&[ask, deeper]));
        assert_eq!(library.find(&format!("-author:{digits} linker")).len(), 2);
    }
    let min = |status| Filter { min_status: Some(status), ..none() };
    assert_eq!(find(min(Status::Unverified)), set(&[answer, deeper, digest]));
    assert_eq!(find(min(Status::Stale)), set(&[deeper, digest]));
    assert_eq!(find(min(Status::Confirmed)), set(&[digest]));
    let statuses = vec![Status::Contested, Status::Stale];
    assert_eq!(find(Filter { statuses, ..none() }), set(&[ask, deeper]));
    let at = |n: u64| Some(wats_model::ids::Millis(crate::library::START + n * 60_000));
    assert_eq!(find(Filter { since: at(2), before: at(4), ..none() }), set(&[answer, deeper]));
    assert_eq!(find(Filter { since: at(4), ..none() }), set(&[digest]));
    assert_eq!(find(Filter { before: at(2), ..none() }), set(&[ask]));
}
