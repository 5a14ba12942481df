//! Sections 2 and 2.1: origins, clocks, decay.

use super::*;

/// A sixteenth of the half-life of most signals.
const STEP: Millis = Millis(DAY_MS * 180 / 16);
const DAY_MS: u64 = Millis::DAY.0;

#[test]
fn a_signal_steps_down_a_sixteenth_of_a_half_life_at_a_time() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.used(friend, post, DAY(3));
    let steps = |n: u64| DAY(3).after(Millis(STEP.0 * n));
    // FULL is 15 << 26, and so many of 1 << 26 are left, rounded: 12, 11.5, 6.3, 6 and 5.7; below eight by
    // halves.
    for (at, decay, score) in [
        (before(steps(1)), 1_000_000_000, 24 << 25),
        (steps(1), 957_603_281, 22 << 25),
        (steps(15), 522_136_891, 13 << 25),
        (steps(16), 500_000_000, 12 << 25),
        (steps(17), 957_603_281 / 2, 11 << 25),
    ] {
        let value = Fixed(800_000_000).times(Fixed(decay));
        let got = s.post_at(post, at).score;
        assert_eq!((got, got), (full(value.0), Fixed(score)));
    }
}

#[test]
fn after_ten_half_lives_support_is_worth_nothing_and_stale() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.used(friend, post, DAY(3));
    let view = s.post_at(post, DAY(3 + 1799));
    assert!(view.score > Fixed::ZERO && view.status == Status::Stale);
    let view = s.post_at(post, DAY(3 + 1800));
    assert_eq!((view.score, view.status, view.counts.uses), (Fixed::ZERO, Status::Stale, 1));
}

#[test]
fn votes_fade_in_a_month() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.vote(friend, post, 1, DAY(3));
    assert_eq!(s.post_at(post, DAY(33)).score, full(50_000_000));
    assert_eq!(s.post_at(post, DAY(63)).score, full(25_000_000));
}

#[test]
fn a_vote_is_as_old_as_its_latest_react() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.vote(friend, post, 1, DAY(3));
    s.vote(friend, post, 1, DAY(33));
    assert_eq!(s.post_at(post, DAY(33)).score, full(100_000_000));
}

#[test]
fn a_renewal_counts_thirty_days_after_the_last() {
    for (at, fresh) in [(before(DAY(33)), false), (DAY(33), true)] {
        let (mut s, _, [author, friend]) = Story::vouched();
        let post = s.post(author, DAY(2));
        s.used(friend, post, DAY(3));
        s.renew(friend, post, at);
        let score = s.post_at(post, DAY(33)).score;
        assert_eq!(score == full(800_000_000), fresh);
    }
}

#[test]
fn renewals_are_taken_in_order_each_thirty_days_after_the_last_that_counted() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.confirm(friend, post, DAY(10));
    for day in [30, 50, 70] {
        // Confirming again with evidence renews too.
        s.confirm(friend, post, DAY(day));
    }
    // The clock stands at day 50: day 30 is too early, and so is day 70 after it.
    let decayed = Fixed(600_000_000).times(Fixed(957_603_281));
    assert_eq!(s.post_at(post, DAY(70)).score, full(decayed.0));
}

#[test]
fn the_earlier_of_claim_and_arrival_dates_a_signal() {
    let (mut s, _, [author, friend, other]) = Story::vouched();
    let post = s.post(author, DAY(2));
    // Back-dated: as old as it says.
    let old = s.used(friend, post, DAY(3));
    s.received(old, DAY(183));
    assert_eq!(s.post_at(post, DAY(183)).score, full(400_000_000));
    // Future-dated: as old as its arrival.
    let ahead = s.used(other, post, DAY(183).after(Millis(600_000)));
    s.received(ahead, DAY(183));
    assert_eq!(s.post_at(post, DAY(183)).score, together(&[400_000_000, 800_000_000]));
    assert_eq!(s.post_at(post, DAY(363)).score, together(&[200_000_000, 400_000_000]));
}

#[test]
fn a_copy_that_was_received_earlier_makes_a_signal_older() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    let used = s.used(friend, post, DAY(183));
    assert_eq!(s.post_at(post, DAY(183)).score, full(800_000_000));
    // Impossible but for a clock that was wrong: received before it was written.
    s.received(used, DAY(3));
    assert_eq!(s.post_at(post, DAY(183)).score, full(400_000_000));
}

#[test]
fn a_cite_is_as_old_as_the_first_and_is_not_renewed() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.post_citing(friend, &[post], DAY(3));
    s.post_citing(friend, &[post], DAY(100));
    s.renew(friend, post, DAY(100));
    assert_eq!(s.post_at(post, DAY(183)).score, full(150_000_000));
}

#[test]
fn a_contradiction_is_renewed_by_evidence_not_by_votes() {
    let (mut s, _, [author, critic]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.contradict(critic, post, DAY(3));
    s.vote(critic, post, -1, DAY(100));
    assert_eq!(s.post_at(post, DAY(183)).score, -full(300_000_000));
    s.contradict(critic, post, DAY(183));
    assert_eq!(s.post_at(post, DAY(183)).score, -full(600_000_000));
}

#[test]
fn a_second_run_begins_a_new_clock() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.used(friend, post, DAY(3));
    s.react(friend, React { used: Some(false), ..react(post) }, DAY(170));
    s.used(friend, post, DAY(183));
    assert_eq!(s.post_at(post, DAY(183)).score, full(800_000_000));
}

#[test]
fn support_is_live_for_two_half_lives() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.used(friend, post, DAY(3));
    let end = DAY(3).after(Millis(STEP.0 * 33));
    assert_eq!(s.status(post, before(end)), Status::Confirmed);
    assert_eq!(s.status(post, end), Status::Stale);
    s.renew(friend, post, end);
    assert_eq!(s.status(post, end), Status::Confirmed);
}
