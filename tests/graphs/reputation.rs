//! Section 5: what a key earns and loses.

use super::*;

/// `FULL * sat(0.6)`: what one confirm or contradiction with text evidence by a full weight is worth.
const ONE_TEXT: i64 = 377_487_360;

/// The reputation of a full weight that has earned or, below zero, lost so much.
fn earning(sum: i64) -> Fixed {
    Fixed(FULL.0 + sum).rounded()
}

/// What a full weight gives by signals of these values together.
fn gives(values: i64) -> i64 {
    FULL.times(Fixed(values).saturated()).0
}

#[test]
fn a_confirm_earns_and_does_not_raise_the_voice() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.confirm(friend, post, DAY(3));
    let view = s.author_at(author, DAY(3));
    assert_eq!((view.reputation, view.voice), (earning(ONE_TEXT), FULL));
}

#[test]
fn a_standing_contradiction_costs() {
    let (mut s, _, [author, critic, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    let critique = s.contradict(critic, post, DAY(3));
    let views = s.at(DAY(3));
    let view = &views.authors[&author];
    // 15 << 26, less 5.6 of 1 << 26.
    assert_eq!((view.reputation, view.voice), (earning(-ONE_TEXT), Fixed(9 << 26)));
    // The critic earns half of that.
    assert_eq!(views.authors[&critic].reputation, earning(ONE_TEXT / 2));
    // Rebutted, it costs its target nothing, and the critic what it would have earned. Who rebuts a react
    // earns nothing by it, since only what is said of post-like events does.
    s.contradict(friend, critique, DAY(4));
    let views = s.at(DAY(4));
    let reputations = [author, critic, friend].map(|k| views.authors[&k].reputation);
    assert_eq!(reputations, [FULL, Fixed(12 << 26), FULL]);
}

#[test]
fn cites_earn_and_votes_do_not() {
    let (mut s, _, [author, friend, other]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.vote(other, post, 1, DAY(3));
    assert_eq!(s.author_at(author, DAY(3)).reputation, FULL);
    s.post_citing(friend, &[post], DAY(4));
    assert_eq!(s.author_at(author, DAY(4)).reputation, earning(gives(300_000_000)));
}

#[test]
fn a_mere_reply_earns_nothing() {
    let (mut s, _, [author, friend, other]) = Story::vouched();
    let post = s.post(author, DAY(2));
    for day in 3..20 {
        s.reply(friend, post, post, DAY(day));
    }
    let thanks = s.reply(other, post, post, DAY(20));
    s.post_mut(thanks).refs = [post].into();
    assert_eq!(s.author_at(author, DAY(20)).reputation, FULL);
}

#[test]
fn who_is_refuted_pays_up_to_half_of_its_weight() {
    let (mut s, _, [author, critic, friend]) = Story::vouched();
    // u is 0.6 for each; 15 << 26 less half of sat(u) of it: 12.2, 10.9, 10.2, and 7.7 of 1 << 26.
    let left = [(1, 12 << 26), (2, 11 << 26), (3, 10 << 26), (40, 16 << 25)];
    let mut refuted = 0;
    for (many, voice) in left {
        for _ in refuted..many {
            let post = s.post(author, DAY(2));
            let critique = s.contradict(critic, post, DAY(3));
            s.contradict(friend, critique, DAY(4));
        }
        refuted = many;
        let view = s.author_at(critic, DAY(4));
        assert_eq!((view.reputation, view.voice), (Fixed(voice), Fixed(voice)));
    }
}

#[test]
fn who_accuses_a_react_and_is_refuted_pays_as_much() {
    let (mut s, _, [author, critic, accuser, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    let critique = s.contradict(critic, post, DAY(3));
    let accusation = s.contradict(accuser, critique, DAY(4));
    let voices = |s: &mut Story| {
        let views = s.at(DAY(5));
        [critic, accuser].map(|k| views.authors[&k].voice)
    };
    assert_eq!(voices(&mut s), [Fixed(12 << 26), FULL]);
    s.contradict(friend, accusation, DAY(5));
    assert_eq!(voices(&mut s), [FULL, Fixed(12 << 26)]);
}

#[test]
fn a_reputation_below_zero_keeps_four_bits_too() {
    let (mut s, _, [author, one, two, three]) = Story::vouched();
    for _ in 0..2 {
        let post = s.post(author, DAY(2));
        for critic in [one, two, three] {
            s.contradict(critic, post, DAY(3));
        }
    }
    // Each takes sat(1.2) of 15 << 26: 8.2 of 1 << 26. What is left is -9.5, rounded away from zero.
    let lost = 3 * gives(1_200_000_000);
    let reputation = s.author_at(author, DAY(3)).reputation;
    assert_eq!((reputation, reputation), (earning(-lost), Fixed(-(10 << 26))));
}

#[test]
fn many_posts_earn_less_and_less() {
    let (mut s, _, [author, friend]) = Story::vouched();
    for n in 1..=4usize {
        let post = s.post(author, DAY(2));
        s.confirm(friend, post, DAY(3));
        let earned = [10 << 27, 12 << 27, 12 << 27, 13 << 27][n - 1];
        assert_eq!(earning(gives(600_000_000 * n as i64)), Fixed(earned));
        assert_eq!(s.author_at(author, DAY(3)).reputation, Fixed(earned));
    }
}

#[test]
fn of_one_keys_signals_on_a_post_the_largest_counts() {
    let (mut s, _, [author, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.confirm(friend, post, DAY(3));
    s.used(friend, post, DAY(3));
    assert_eq!(s.author_at(author, DAY(3)).reputation, earning(gives(800_000_000)));
}

#[test]
fn a_group_earns_a_key_no_more_than_one_member() {
    let (mut s, _, [author, one, two]) = Story::vouched();
    s.announce(one, Some(OwnerId(1)), DAY(2));
    s.announce(two, Some(OwnerId(1)), DAY(2));
    let post = s.post(author, DAY(3));
    s.confirm(one, post, DAY(3));
    s.confirm(two, post, DAY(3));
    assert_eq!(s.author_at(author, DAY(3)).reputation, earning(ONE_TEXT));
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
    let (mut s, _, [author, critic, _]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.contradict(critic, post, DAY(3));
    assert_eq!(s.author_at(author, DAY(183)).reputation, earning(-gives(300_000_000)));
    assert_eq!(s.author_at(author, DAY(1803)).reputation, FULL);
}
