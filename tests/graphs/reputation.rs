//! Section 5: what a key earns and loses.

use super::*;

/// `FULL * sat(0.6)`: what one confirm or contradiction with text evidence by a full weight is worth.
const ONE_TEXT: i64 = 377_487_360;

#[test]
fn a_confirm_earns_and_does_not_raise_the_voice() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.confirm(friend, post, DAY(3));
    let view = s.author_at(author, DAY(3));
    assert_eq!((view.reputation, view.voice), (Fixed(FULL.0 + ONE_TEXT), FULL));
}

#[test]
fn a_standing_contradiction_costs() {
    let (mut s, _, [author, critic, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    let critique = s.contradict(critic, post, DAY(3));
    let views = s.at(DAY(3));
    let view = &views.authors[&author];
    assert_eq!((view.reputation, view.voice), (Fixed(FULL.0 - ONE_TEXT), Fixed(637_534_208)));
    // The critic earns half of that.
    assert_eq!(views.authors[&critic].reputation, Fixed(FULL.0 + ONE_TEXT / 2));
    // Rebutted, it costs and earns nothing; it costs the critic, whose react was contradicted, nothing
    // either, since only what is said of post-like events does.
    s.contradict(friend, critique, DAY(4));
    let views = s.at(DAY(4));
    assert_eq!([author, critic, friend].map(|k| views.authors[&k].reputation), [FULL; 3]);
}

#[test]
fn cites_earn_and_votes_do_not() {
    let (mut s, _, [author, friend, other]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.vote(other, post, 1, DAY(3));
    assert_eq!(s.author_at(author, DAY(3)).reputation, FULL);
    s.post_citing(friend, &[post], DAY(4));
    let earned = FULL.times(Fixed(300_000_000).saturated());
    assert_eq!(s.author_at(author, DAY(4)).reputation, FULL + earned);
}

#[test]
fn many_posts_earn_less_and_less() {
    let (mut s, _, [author, friend]) = Story::vouched();
    for n in 1..=4 {
        let post = s.post(author, DAY(2));
        s.confirm(friend, post, DAY(3));
        let earned = FULL.times(Fixed(600_000_000 * n).saturated());
        assert_eq!(s.author_at(author, DAY(3)).reputation, FULL + earned);
    }
}

#[test]
fn of_one_keys_signals_on_a_post_the_largest_counts() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.confirm(friend, post, DAY(3));
    s.used(friend, post, DAY(3));
    let earned = FULL.times(Fixed(800_000_000).saturated());
    assert_eq!(s.author_at(author, DAY(3)).reputation, FULL + earned);
}

#[test]
fn a_group_earns_a_key_no_more_than_one_member() {
    let (mut s, _, [author, one, two]) = Story::vouched();
    s.announce(one, Some(OwnerId(1)), DAY(2));
    s.announce(two, Some(OwnerId(1)), DAY(2));
    let post = s.post(author, DAY(3));
    s.confirm(one, post, DAY(3));
    s.confirm(two, post, DAY(3));
    assert_eq!(s.author_at(author, DAY(3)).reputation, Fixed(FULL.0 + ONE_TEXT));
}

#[test]
fn a_sponsors_proteges_earn_it_nothing() {
    let (mut s, _, [sponsor, _, _]) = Story::vouched();
    let post = s.post(sponsor, DAY(2));
    for k in s.keys::<5>() {
        s.vouch(sponsor, k, DAY(2));
        s.confirm(k, post, DAY(3));
    }
    assert_eq!(s.author_at(sponsor, DAY(3)).reputation, FULL);
}

#[test]
fn to_refute_ones_own_puppets_earns_nothing() {
    let (mut s, _, [key, _, _]) = Story::vouched();
    let [stranger, protege] = s.keys();
    s.vouch(key, protege, DAY(2));
    let posts = [stranger, protege].map(|k| s.post(k, DAY(2)));
    // A stranger has no weight.
    s.contradict(key, posts[0], DAY(3));
    assert_eq!(s.author_at(key, DAY(3)).reputation, FULL);
    // A protege has, and is partial.
    s.contradict(key, posts[1], DAY(4));
    let views = s.at(DAY(4));
    assert_eq!(views.posts[&posts[1]].status, Status::Contested);
    assert_eq!(views.authors[&key].reputation, FULL);
}

#[test]
fn the_readers_voice_is_its_weight_whatever_is_said_of_it() {
    let (mut s, me, [one, two]) = Story::vouched();
    for day in 2..12 {
        let post = s.post(me, DAY(day));
        s.contradict(one, post, DAY(day));
        s.contradict(two, post, DAY(day));
    }
    let view = s.author_at(me, DAY(12));
    assert!(view.reputation < Fixed::ZERO);
    assert_eq!(view.voice, FULL);
}

#[test]
fn losses_fade() {
    // With three the cold start has ended, and nobody has a floor beside trust.
    let (mut s, _, [author, critic, _]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.contradict(critic, post, DAY(3));
    let lost = FULL.times(Fixed(300_000_000).saturated());
    assert_eq!(s.author_at(author, DAY(183)).reputation, FULL - lost);
    assert_eq!(s.author_at(author, DAY(1803)).reputation, FULL);
}
