//! Section 3: seeds, cold start, backing, flow.

use super::*;

#[test]
fn a_vouch_by_the_reader_is_most_of_its_own_weight() {
    // share = r(ONE / 8) = 15 << 23; 850,000,000 + r(share * 17 / 20) = 850,000,000 + (13 << 23) is 14.3 of
    // 1 << 26.
    let (mut s, me, [key, ..]) = Story::vouched::<8>();
    let views = s.at(DAY(1));
    assert_eq!((views.authors[&me].weight, views.authors[&key].weight), (FULL, Fixed(14 << 26)));
}

#[test]
fn a_use_by_the_reader_is_a_seed_too() {
    let (mut s, me, _) = Story::vouched::<3>();
    let author = s.key();
    let post = s.post(author, DAY(2));
    s.used(me, post, DAY(3));
    // 850,000,000 / 2, and 0.8 of 3.8 of the reader's backing: a share of 13 << 24, of which r(17 / 20) is
    // 11 << 24. Together 9.1 of 1 << 26.
    assert_eq!(s.author_at(author, DAY(3)).trust, Fixed(9 << 26));
}

#[test]
fn the_latest_vouch_counts_on_whichever_announce() {
    let (mut s, me, [key]) = Story::vouched();
    s.announce(key, None, DAY(2));
    s.unvouch(me, key, DAY(3));
    assert_eq!(s.author_at(key, DAY(3)).trust, Fixed::ZERO);
    s.vouch(me, key, DAY(4));
    assert_eq!(s.author_at(key, DAY(4)).trust, FULL);
}

#[test]
fn a_late_unvouch_that_was_written_earlier_changes_nothing() {
    let (mut s, me, [key]) = Story::vouched();
    s.vouch(me, key, DAY(4));
    let unvouch = s.unvouch(me, key, DAY(3));
    s.received(unvouch, DAY(5));
    assert_eq!(s.author_at(key, DAY(5)).trust, FULL);
}

#[test]
fn a_loop_of_vouches_lifts_nobody_above_the_reader() {
    let (mut s, me, [a, b]) = Story::vouched();
    s.vouch(a, b, DAY(2));
    s.vouch(b, a, DAY(2));
    let views = s.at(DAY(3));
    assert!([me, a, b].iter().all(|k| views.authors[k].trust == FULL));
}

#[test]
fn strangers_who_vouch_for_each_other_have_no_trust() {
    let (mut s, _, _) = Story::vouched::<3>();
    let clique: [KeyId; 5] = s.keys();
    for a in clique {
        for b in clique.iter().filter(|b| **b != a) {
            s.vouch(a, *b, DAY(2));
        }
    }
    let post = s.post(clique[0], DAY(3));
    clique[1..].iter().for_each(|k| {
        s.confirm(*k, post, DAY(4));
    });
    let views = s.at(DAY(40));
    assert!(clique.iter().all(|k| views.authors[k].weight == Fixed::ZERO));
    let view = &views.posts[&post];
    assert_eq!((view.status, view.score, view.counts), (Status::Unverified, Fixed::ZERO, NONE));
}

#[test]
fn trust_passes_three_hands() {
    let (mut s, _, [a]) = Story::vouched();
    let chain: [KeyId; 3] = s.keys();
    for (from, to) in [(a, chain[0]), (chain[0], chain[1]), (chain[1], chain[2])] {
        s.vouch(from, to, DAY(2));
    }
    let views = s.at(DAY(2));
    let trust = chain.map(|k| views.authors[&k].trust);
    // a's seed reaches the third of the chain in three hops; the reader's own reaches the second only.
    // share = r(ONE), so each hop takes 850,000,000 to r(0.85 * 1.00663296) of it: 738,197,504, then
    // 603,979,776, then 503,316,480.
    assert_eq!(trust, [FULL, FULL, Fixed(503_316_480)]);
    let fourth = s.key();
    s.vouch(chain[2], fourth, DAY(3));
    assert_eq!(s.author_at(fourth, DAY(3)).trust, Fixed::ZERO);
}

#[test]
fn a_protege_sends_no_trust_back() {
    let (mut s, _, [a, ..]) = Story::vouched::<8>();
    let protege = s.key();
    s.vouch(a, protege, DAY(2));
    let alone = s.author_at(a, DAY(2)).trust;
    s.vouch(protege, a, DAY(3));
    assert_eq!(s.author_at(a, DAY(3)).trust, alone);
}

#[test]
fn within_a_group_only_a_vouch_backs() {
    let (mut s, _, [a, ..]) = Story::vouched::<3>();
    let ally = s.key();
    s.announce(a, Some(OwnerId(1)), DAY(2));
    s.announce(ally, Some(OwnerId(1)), DAY(2));
    let post = s.post(ally, DAY(3));
    s.confirm(a, post, DAY(4));
    assert_eq!(s.author_at(ally, DAY(4)).trust, Fixed::ZERO);
    s.vouch(a, ally, DAY(5));
    assert!(s.author_at(ally, DAY(5)).trust > Fixed::ZERO);
}

#[test]
fn backing_fades_with_its_signals() {
    let (mut s, _, [a, ..]) = Story::vouched::<3>();
    let author = s.key();
    let post = s.post(author, DAY(3));
    s.confirm(a, post, DAY(3));
    let trust = s.author_at(author, DAY(3)).trust;
    assert!(trust > Fixed::ZERO);
    // It is all that a backs, so its share stays whole until nothing is left.
    assert_eq!(s.author_at(author, DAY(3 + 1500)).trust, trust);
    assert_eq!(s.author_at(author, DAY(3 + 1800)).trust, Fixed::ZERO);
}

#[test]
fn a_key_without_trust_has_a_floor_after_a_week() {
    let mut s = Story::new();
    s.profile();
    let key = s.key();
    s.post(key, DAY(10));
    assert_eq!(s.author_at(key, before(DAY(18))).floor, Fixed::ZERO);
    assert_eq!(s.author_at(key, DAY(18)).floor, Fixed(434_782));
    assert_eq!(s.author_at(key, DAY(28)).floor, Fixed(4_782_608));
    assert_eq!(s.author_at(key, DAY(40)).floor, Fixed(10_000_000));
    assert_eq!(s.author_at(key, DAY(400)).weight, Fixed(10_000_000));
}

#[test]
fn the_floor_sinks_as_the_reader_gets_to_know_others() {
    let mut s = Story::new();
    let (me, [key, author, other]) = (s.profile(), s.keys());
    s.post(key, DAY(1));
    assert_eq!(s.author_at(key, DAY(40)).floor, Fixed(10_000_000));
    // S is 0.85 / 2, then 0.85 * 2 / 3, then 0.425 more; 16 * (1 - S) is 9, then 6, then 0.
    for (day, of, floor) in [(41, author, 5_625_000), (42, author, 3_750_000), (43, other, 0)] {
        let post = s.post(of, DAY(day));
        s.used(me, post, DAY(day));
        assert_eq!(s.author_at(key, DAY(day)).floor, Fixed(floor));
    }
}

#[test]
fn the_first_vouch_takes_strangers_below_the_weight_that_counts() {
    let (mut s, me, [_]) = Story::vouched();
    let [key, worker] = s.keys();
    s.post(key, DAY(1));
    let event = s.post(worker, DAY(1));
    s.event(event).work = 200;
    // Two sixteenths are left of 10,000,000, and of half as much again: less than W_MIN.
    let views = s.at(DAY(40));
    assert_eq!([key, worker].map(|k| views.authors[&k].weight), [Fixed(1_250_000), Fixed(1_872_568)]);
    let second = s.key();
    s.vouch(me, second, DAY(41));
    assert_eq!(s.author_at(key, DAY(41)).floor, Fixed::ZERO);
}

#[test]
fn who_relied_on_others_once_does_not_grow_cold_by_silence() {
    let mut s = Story::new();
    let (me, [stranger, one, two]) = (s.profile(), s.keys());
    s.post(stranger, DAY(1));
    for k in [one, two] {
        let ask = s.ask(me, DAY(1));
        let answer = s.answer(k, ask, DAY(1));
        s.accept(me, answer, DAY(2));
    }
    // S is 0.85: two sixteenths, while the accepts are fresh and when nothing is left of them.
    for day in [40, 4000] {
        assert_eq!(s.author_at(stranger, DAY(day)).floor, Fixed(1_250_000));
    }
    assert_eq!(s.author_at(one, DAY(4000)).trust, Fixed::ZERO);
}

#[test]
fn work_raises_the_floor_by_half_at_most() {
    let mut s = Story::new();
    s.profile();
    s.config.networks[0].pow_bits = 4;
    let [worker, miner] = s.keys();
    let event = s.post(worker, DAY(1));
    s.event(event).work = 14;
    // 10,000,000 * 1023 / 1279 / 2.
    assert_eq!(s.author_at(worker, DAY(40)).floor, Fixed(13_999_218));
    // One event's work counts 65,536 at most.
    let event = s.post(miner, DAY(40));
    s.event(event).work = 200;
    assert_eq!(s.author_at(miner, DAY(80)).floor, Fixed(10_000_000 + 10_000_000 * 65_536 / 65_792 / 2));
}

#[test]
fn a_key_is_as_old_as_its_first_arrival() {
    let mut s = Story::new();
    s.profile();
    let key = s.key();
    let post = s.post(key, DAY(1));
    s.received(post, DAY(100));
    assert_eq!(s.author_at(key, DAY(106)).floor, Fixed::ZERO);
    // A copy that came earlier proves it older.
    s.received(post, DAY(70));
    assert_eq!(s.author_at(key, DAY(106)).floor, Fixed(10_000_000));
}

#[test]
fn own_profiles_have_no_floor() {
    let mut s = Story::new();
    let me = s.profile();
    s.post(me, DAY(1));
    let view = s.author_at(me, DAY(100));
    assert_eq!((view.floor, view.trust), (Fixed::ZERO, FULL));
}
