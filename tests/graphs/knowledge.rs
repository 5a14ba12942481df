//! Section 7: knowledge entries.

use super::*;
use wats_oracle::Views;

/// The entries: what, whether a digest, and its threads.
fn entries(views: &Views) -> Vec<(EventId, bool, Vec<EventId>)> {
    views.entries.iter().map(|e| (e.entry, e.digest, e.threads.clone())).collect()
}

/// Five keys; the first asked, and the second answered.
fn asked() -> (Story, EventId, EventId, [KeyId; 5]) {
    let (mut s, _, keys) = Story::vouched();
    let ask = s.ask(keys[0], DAY(2));
    let answer = s.answer(keys[1], ask, DAY(3));
    (s, ask, answer, keys)
}

#[test]
fn an_accept_alone_makes_no_entry_and_a_confirm_beside_it_does() {
    let (mut s, ask, answer, [asker, _, checker, ..]) = asked();
    s.accept(asker, answer, DAY(4));
    assert!(entries(&s.at(DAY(4))).is_empty());
    s.used(checker, answer, DAY(5));
    let views = s.at(DAY(5));
    assert_eq!(entries(&views), [(answer, false, vec![ask])]);
    assert_eq!(views.canonical[&ask], answer);
}

#[test]
fn the_asker_does_not_confirm_beside_its_own_accept() {
    let (mut s, _, answer, [asker, _, ally, ..]) = asked();
    s.accept(asker, answer, DAY(4));
    s.confirm(asker, answer, DAY(4));
    assert!(s.at(DAY(4)).entries.is_empty());
    // Nor does one of its group, nor its protege.
    s.announce(asker, Some(OwnerId(1)), DAY(5));
    s.announce(ally, Some(OwnerId(1)), DAY(5));
    s.confirm(ally, answer, DAY(5));
    let protege = s.key();
    s.vouch(asker, protege, DAY(5));
    s.confirm(protege, answer, DAY(5));
    assert!(s.at(DAY(5)).entries.is_empty());
    s.announce(ally, None, DAY(6));
    assert_eq!(s.at(DAY(6)).entries.len(), 1);
}

#[test]
fn two_independent_confirms_make_an_answer_canonical_and_two_uses_do_not() {
    let (mut s, ask, answer, [_, _, one, two, _]) = asked();
    s.used(one, answer, DAY(4));
    s.used(two, answer, DAY(4));
    assert!(s.at(DAY(4)).canonical.is_empty());
    s.confirm(one, answer, DAY(5));
    s.confirm(two, answer, DAY(5));
    assert_eq!(s.at(DAY(5)).canonical[&ask], answer);
}

#[test]
fn proteges_of_one_key_are_no_two_independent_voices() {
    let (mut s, _, answer, [_, _, sponsor, ..]) = asked();
    for k in s.keys::<4>() {
        s.vouch(sponsor, k, DAY(4));
        s.confirm(k, answer, DAY(4));
    }
    s.confirm(sponsor, answer, DAY(4));
    let views = s.at(DAY(4));
    assert_eq!(views.posts[&answer].status, Status::Confirmed);
    assert!(views.entries.is_empty());
}

#[test]
fn of_the_answers_that_qualify_the_best_is_canonical() {
    let (mut s, ask, first, [_, _, one, two, other]) = asked();
    let second = s.answer(other, ask, DAY(3));
    for k in [one, two] {
        s.confirm(k, first, DAY(4));
        s.confirm(k, second, DAY(4));
    }
    // As good as each other: the one received first, whatever they claim.
    s.event(second).stamp.created_at = DAY(2);
    s.received(second, DAY(3).after(MS));
    assert_eq!(s.at(DAY(4)).canonical[&ask], first);
    s.used(one, second, DAY(5));
    assert_eq!(s.at(DAY(5)).canonical[&ask], second);
}

#[test]
fn an_entry_goes_when_its_answer_is_contested_and_comes_back() {
    let (mut s, ask, answer, [asker, _, checker, critic, friend]) = asked();
    s.accept(asker, answer, DAY(4));
    s.confirm(checker, answer, DAY(4));
    assert_eq!(s.at(DAY(4)).entries.len(), 1);
    let critique = s.contradict(critic, answer, DAY(5));
    let views = s.at(DAY(5));
    assert!(views.entries.is_empty() && views.canonical.is_empty());
    s.contradict(friend, critique, DAY(6));
    assert_eq!(entries(&s.at(DAY(6))), [(answer, false, vec![ask])]);
}

#[test]
fn an_entry_goes_when_its_support_is_stale() {
    let (mut s, _, answer, [asker, _, checker, ..]) = asked();
    s.accept(asker, answer, DAY(4));
    s.confirm(checker, answer, DAY(4));
    assert_eq!(s.at(DAY(300)).entries.len(), 1);
    s.renew(checker, answer, DAY(370));
    // The confirm is live; the accept no longer holds.
    let views = s.at(DAY(400));
    assert_eq!(views.posts[&answer].status, Status::Confirmed);
    assert!(views.entries.is_empty());
    s.renew(asker, answer, DAY(401));
    assert_eq!(s.at(DAY(401)).entries.len(), 1);
}

#[test]
fn a_floor_mints_no_knowledge() {
    let mut s = Story::new();
    s.profile();
    let [asker, helper, checker, other] = s.keys();
    let ask = s.ask(asker, DAY(1));
    let answer = s.answer(helper, ask, DAY(1));
    s.post(checker, DAY(1));
    s.post(other, DAY(1));
    s.accept(asker, answer, DAY(50));
    s.confirm(checker, answer, DAY(50));
    s.confirm(other, answer, DAY(50));
    let views = s.at(DAY(50));
    assert_eq!(views.posts[&answer].status, Status::Confirmed);
    assert!(views.entries.is_empty());
}

#[test]
fn the_accept_of_the_answerers_protege_does_not_hold() {
    let (mut s, _, [helper, checker, other]) = Story::vouched();
    let asker = s.key();
    s.vouch(helper, asker, DAY(2));
    let ask = s.ask(asker, DAY(2));
    let answer = s.answer(helper, ask, DAY(3));
    s.accept(asker, answer, DAY(4));
    s.used(checker, answer, DAY(4));
    assert!(s.at(DAY(4)).entries.is_empty());
    s.vouch(other, asker, DAY(5));
    assert_eq!(s.at(DAY(5)).entries.len(), 1);
}

#[test]
fn a_digest_needs_sources_and_two_voices() {
    let (mut s, ask, answer, [_, _, one, two, curator]) = asked();
    let digests = [s.digest(curator, &[answer], DAY(4)), s.digest(curator, &[], DAY(4))];
    for digest in digests {
        s.used(one, digest, DAY(5));
    }
    assert!(s.at(DAY(5)).entries.is_empty());
    for digest in digests {
        s.used(two, digest, DAY(6));
    }
    assert_eq!(entries(&s.at(DAY(6))), [(digests[0], true, vec![ask])]);
}

#[test]
fn a_digest_that_answers_and_is_accepted_qualifies() {
    let (mut s, ask, answer, [asker, _, _, _, curator]) = asked();
    let digest = s.digest(curator, &[answer], DAY(4));
    s.post_mut(digest).reply = Some(wats_model::facts::Reply { parent: ask, thread: ask });
    s.accept(asker, digest, DAY(5));
    let views = s.at(DAY(5));
    assert_eq!(entries(&views), [(digest, true, vec![ask])]);
    assert_eq!(views.covers[&ask], digest);
}

#[test]
fn a_thin_digest_hides_no_well_supported_thread() {
    let (mut s, ask, answer, [_, _, one, two, curator]) = asked();
    let (me, third) = (s.config.networks[0].profiles[0], s.key());
    s.vouch(me, third, DAY(3));
    [one, two, third].iter().for_each(|k| {
        s.confirm(*k, answer, DAY(4));
    });
    let digest = s.digest(curator, &[answer], DAY(5));
    s.confirm(one, digest, DAY(6));
    s.confirm(two, digest, DAY(6));
    let mut both = entries(&s.at(DAY(6)));
    both.sort();
    assert_eq!(both, [(answer, false, vec![ask]), (digest, true, vec![])]);
    s.confirm(third, digest, DAY(7));
    assert_eq!(entries(&s.at(DAY(7))), [(digest, true, vec![ask])]);
}

#[test]
fn a_digest_supersedes_by_the_same_author_or_by_score_and_voices() {
    let (mut s, _, answer, [_, other, one, two, curator]) = asked();
    let old = s.digest(curator, &[answer], DAY(4));
    let [own, rival] = [curator, other].map(|k| s.digest(k, &[answer], DAY(5)));
    for digest in [old, own, rival] {
        s.confirm(one, digest, DAY(6));
        s.confirm(two, digest, DAY(6));
    }
    let digests = |views: &Views| views.entries.iter().map(|e| e.entry).collect::<Vec<_>>();
    assert_eq!(digests(&s.at(DAY(6))), [old, own, rival]);
    // A rival with less support names it in vain.
    s.used(one, old, DAY(7));
    s.post_mut(rival).supersedes = Some(old);
    assert_eq!(digests(&s.at(DAY(7))), [old, own, rival]);
    s.used(one, rival, DAY(8));
    assert_eq!(digests(&s.at(DAY(8))), [own, rival]);
    s.post_mut(own).supersedes = Some(rival);
    s.post_mut(rival).supersedes = None;
    assert_eq!(digests(&s.at(DAY(9))), [old, own, rival]);
    s.post_mut(own).supersedes = Some(old);
    assert_eq!(digests(&s.at(DAY(10))), [own, rival]);
}

#[test]
fn of_several_digests_the_best_is_shown() {
    let (mut s, ask, answer, [_, other, one, two, curator]) = asked();
    let digests = [curator, other].map(|k| s.digest(k, &[answer], DAY(4)));
    for digest in digests {
        s.confirm(one, digest, DAY(5));
        s.confirm(two, digest, DAY(5));
    }
    s.used(one, digests[0], DAY(6));
    assert_eq!(s.at(DAY(6)).covers[&ask], digests[0]);
    s.used(one, digests[1], DAY(7));
    s.used(two, digests[1], DAY(7));
    let views = s.at(DAY(7));
    assert_eq!((views.covers[&ask], views.entries.len()), (digests[1], 2));
}

#[test]
fn a_source_without_a_parent_is_a_root_itself() {
    let (mut s, _, [author, one, two, curator]) = Story::vouched();
    let lone = s.post(author, DAY(2));
    let lost = s.answer(author, EventId(900), DAY(2));
    let digest = s.digest(curator, &[lone, lost, EventId(901)], DAY(3));
    s.used(one, digest, DAY(4));
    s.used(two, digest, DAY(4));
    // What claims a thread that it is not in gives none.
    assert_eq!(entries(&s.at(DAY(4))), [(digest, true, vec![lone])]);
}
