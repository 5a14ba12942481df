//! Section 6: statuses, scores, counts.

use super::*;
use wats_dataflows::views::Why;

#[test]
fn light_support_confirms_nothing() {
    let (mut s, _, [author, friend, other]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.vote(friend, post, 1, DAY(3));
    s.post_citing(other, &[post], DAY(3));
    let view = s.post_at(post, DAY(3));
    assert_eq!((view.status, view.why), (Status::Unverified, None));
    assert_eq!(view.score, full(100_000_000) + full(300_000_000));
}

#[test]
fn the_accept_of_an_asker_without_weight_confirms_nothing() {
    let (mut s, me, [helper]) = Story::vouched();
    let asker = s.key();
    let ask = s.ask(asker, DAY(2));
    let answer = s.answer(helper, ask, DAY(3));
    s.accept(asker, answer, DAY(4));
    assert_eq!(s.status(answer, DAY(4)), Status::Unverified);
    s.vouch(me, asker, DAY(5));
    assert_eq!(s.status(answer, DAY(5)), Status::Confirmed);
}

#[test]
fn contested_goes_before_confirmed() {
    let (mut s, _, [author, friend, critic]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.confirm(friend, post, DAY(3));
    assert_eq!(s.post_at(post, DAY(3)).why, None);
    let critique = s.contradict(critic, post, DAY(4));
    let view = s.post_at(post, DAY(4));
    assert_eq!((view.status, view.score), (Status::Contested, Fixed::ZERO));
    let why = Why::Contradicted { keys: 1, evidence: true, argument: critique, rebuttals: 0, stands: true };
    assert_eq!(view.why, Some(why));
}

#[test]
fn a_contradiction_is_outlived_by_later_support_once_it_has_decayed() {
    let (mut s, _, [author, friend, critic]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.contradict(critic, post, DAY(3));
    s.confirm(friend, post, DAY(100));
    assert_eq!(s.status(post, DAY(100)), Status::Contested);
    // It is live until 33 sixteenths of its half-life have passed.
    let end = DAY(3).after(Millis(DAY(180).0 * 33 / 16));
    assert_eq!(s.status(post, before(end)), Status::Contested);
    let view = s.post_at(post, end);
    assert_eq!((view.status, view.counts.contradictions, view.why), (Status::Confirmed, 0, None));
}

#[test]
fn earlier_support_outlives_nothing() {
    let (mut s, _, [author, friend, critic]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.used(friend, post, DAY(3));
    s.contradict(critic, post, DAY(3).after(MS));
    assert_eq!(s.status(post, DAY(500)), Status::Contested);
    // The same support, renewed, is later.
    s.renew(friend, post, DAY(501));
    assert_eq!(s.status(post, DAY(501)), Status::Confirmed);
}

#[test]
fn stale_support_may_outlive_too() {
    let (mut s, _, [author, friend, critic]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.contradict(critic, post, DAY(3));
    s.used(friend, post, DAY(4));
    assert_eq!(s.status(post, DAY(1000)), Status::Stale);
}

#[test]
fn a_renewed_contradiction_is_not_outlived() {
    let (mut s, _, [author, friend, critic]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.contradict(critic, post, DAY(3));
    s.used(friend, post, DAY(400));
    assert_eq!(s.status(post, DAY(400)), Status::Confirmed);
    s.renew(critic, post, DAY(401));
    assert_eq!(s.status(post, DAY(401)), Status::Contested);
}

#[test]
fn a_protege_of_the_author_may_speak_against_but_not_for_it() {
    let (mut s, _, [author]) = Story::vouched();
    let protege = s.key();
    s.vouch(author, protege, DAY(2));
    let [up, down] = [3, 3].map(|day| s.post(author, DAY(day)));
    s.vote(protege, up, 1, DAY(4));
    s.vote(protege, down, -1, DAY(4));
    let views = s.at(DAY(4));
    assert_eq!(views.posts[&up].counts, NONE);
    assert_eq!(views.posts[&down].counts, Counts { votes_down: 1, ..NONE });
}

#[test]
fn a_sponsor_in_trouble_takes_nobody_down_with_it() {
    let (mut s, _, [sponsor, one, two]) = Story::vouched();
    let protege = s.key();
    s.vouch(sponsor, protege, DAY(2));
    let weight = s.author_at(protege, DAY(2)).weight;
    for day in 3..13 {
        let wrong = s.post(sponsor, DAY(day));
        s.contradict(one, wrong, DAY(day));
        s.contradict(two, wrong, DAY(day));
    }
    let views = s.at(DAY(13));
    assert_eq!(views.authors[&sponsor].voice, Fixed::ZERO);
    // Trust is the reader's to give and take: words do not change it.
    assert_eq!(views.authors[&protege].weight, weight);
}

#[test]
fn who_lost_its_voice_supports_nothing() {
    let (mut s, _, [author, friend, one, two]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.confirm(friend, post, DAY(2));
    assert_eq!(s.status(post, DAY(2)), Status::Confirmed);
    for day in 3..13 {
        let wrong = s.post(friend, DAY(day));
        s.contradict(one, wrong, DAY(day));
        s.contradict(two, wrong, DAY(day));
    }
    let view = s.post_at(post, DAY(13));
    assert_eq!((view.status, view.counts, view.score), (Status::Unverified, NONE, Fixed::ZERO));
}

#[test]
fn a_score_adds_the_largest_signal_of_each_voice() {
    let (mut s, _, [author, one, two, critic]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.vote(critic, post, -1, DAY(3));
    s.confirm(one, post, DAY(3));
    s.used(one, post, DAY(3));
    s.vote(two, post, 1, DAY(3));
    let score = full(800_000_000) + full(100_000_000) - full(100_000_000);
    assert_eq!(s.post_at(post, DAY(3)).score, score);
}
