//! Section 8: copies and blobs.

use super::*;

#[test]
fn a_post_is_copied_once_for_half_a_year_and_three_times_while_confirmed() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    assert_eq!(s.post_at(post, before(DAY(182))).replicas, 1);
    assert_eq!(s.post_at(post, DAY(182)).replicas, 0);
    s.used(friend, post, DAY(200));
    assert_eq!(s.post_at(post, DAY(200)).replicas, 3);
    // Two half-lives later it is stale, and nobody has spoken of it for half a year.
    assert_eq!(s.post_at(post, DAY(600)).replicas, 0);
}

#[test]
fn a_cite_keeps_one_copy_for_half_a_year() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.post_citing(friend, &[post], DAY(300));
    assert_eq!(s.post_at(post, DAY(300)).replicas, 1);
    assert_eq!(s.post_at(post, before(DAY(480))).replicas, 1);
    assert_eq!(s.post_at(post, DAY(480)).replicas, 0);
}

#[test]
fn a_mere_reply_keeps_no_copy() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.reply(friend, post, post, DAY(300));
    assert_eq!(s.post_at(post, DAY(300)).replicas, 0);
}

#[test]
fn votes_and_strangers_and_proteges_keep_nothing() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let [stranger, protege] = s.keys();
    s.vouch(author, protege, DAY(2));
    let post = s.post(author, DAY(2));
    s.vote(friend, post, 1, DAY(300));
    s.used(stranger, post, DAY(300));
    s.used(protege, post, DAY(300));
    assert_eq!(s.post_at(post, DAY(300)).replicas, 0);
}

#[test]
fn a_back_dated_post_is_as_old_as_it_says() {
    let (mut s, _, [author]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.received(post, DAY(200));
    assert_eq!(s.post_at(post, DAY(200)).replicas, 0);
}

#[test]
fn a_react_attaches_a_blob_only_with_weight() {
    let (mut s, me, [author, critic]) = Story::vouched();
    let stranger = s.key();
    let post = s.post(author, DAY(2));
    s.show(stranger, post, 1, BlobId(0), DAY(3));
    assert!(s.at(DAY(3)).blobs.is_empty());
    s.show(critic, post, -1, BlobId(1), DAY(4));
    let blob = s.at(DAY(4)).blobs[&BlobId(1)];
    assert_eq!((blob.pinned, blob.rank), (false, Some((-full(600_000_000), false, DAY(2)))));
    s.vouch(me, stranger, DAY(5));
    assert!(s.at(DAY(5)).blobs.contains_key(&BlobId(0)));
}

#[test]
fn a_held_blob_without_a_holder_ranks_below_all() {
    let (mut s, _, [author]) = Story::vouched();
    s.blobs.push(BlobId(0));
    assert_eq!(s.at(DAY(2)).blobs[&BlobId(0)].rank, None);
    let post = s.post(author, DAY(3));
    s.post_mut(post).blobs = [BlobId(0)].into();
    assert_eq!(s.at(DAY(3)).blobs[&BlobId(0)].rank, Some((Fixed::ZERO, false, DAY(3))));
    s.blobs.clear();
    assert!(s.at(DAY(4)).blobs.contains_key(&BlobId(0)));
}

#[test]
fn the_best_holder_ranks_a_blob() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let [old, new] = [2, 3].map(|day| s.post(author, DAY(day)));
    for post in [old, new] {
        s.post_mut(post).blobs = [BlobId(0)].into();
    }
    assert_eq!(s.at(DAY(3)).blobs[&BlobId(0)].rank, Some((Fixed::ZERO, false, DAY(3))));
    s.used(friend, old, DAY(4));
    assert_eq!(s.at(DAY(4)).blobs[&BlobId(0)].rank, Some((full(800_000_000), true, DAY(2))));
}

#[test]
fn what_the_reader_and_its_knowledge_hold_is_pinned() {
    let (mut s, me, [asker, helper, checker, critic]) = Story::vouched();
    let ask = s.ask(asker, DAY(2));
    let answer = s.answer(helper, ask, DAY(3));
    s.post_mut(answer).blobs = [BlobId(0)].into();
    let mine = s.post(me, DAY(3));
    s.post_mut(mine).blobs = [BlobId(1)].into();
    let pinned = |s: &mut Story, at| [0, 1].map(|b| s.at(at).blobs[&BlobId(b)].pinned);
    assert_eq!(pinned(&mut s, DAY(3)), [false, true]);
    s.accept(asker, answer, DAY(4));
    s.confirm(checker, answer, DAY(4));
    assert_eq!(pinned(&mut s, DAY(4)), [true, true]);
    // Once it is contested it is no entry.
    s.contradict(critic, answer, DAY(5));
    assert_eq!(pinned(&mut s, DAY(5)), [false, true]);
}
