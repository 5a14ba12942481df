//! Section 3, *Distrusted keys*: whom the reader will not hear, whoever vouches.

use super::*;
use wats_model::ids::GroupId;

/// A reader and two friends that it vouches for, and a key that it distrusts.
fn with_distrusted() -> (Story, KeyId, [KeyId; 2], KeyId) {
    let (mut s, me, friends) = Story::vouched();
    let outcast = s.key();
    s.config.networks[0].distrusted.push(outcast);
    (s, me, friends, outcast)
}

#[test]
fn a_distrusted_key_has_no_weight_whoever_vouches() {
    let (mut s, me, friends, outcast) = with_distrusted();
    s.vouch_each(&[me, friends[0], friends[1]], outcast, DAY(2));
    let (own, post) = (s.post(outcast, DAY(2)), s.post(friends[0], DAY(2)));
    // What is used of it is no seed either.
    s.used(me, own, DAY(3));
    s.contradict(outcast, post, DAY(3));
    let views = s.at(DAY(60));
    let view = &views.authors[&outcast];
    assert_eq!([view.trust, view.floor, view.weight, view.voice], [Fixed::ZERO; 4]);
    assert_eq!((view.class, view.origins.len()), (GroupId::Alone(outcast), 0));
    assert_eq!((views.posts[&post].status, views.posts[&post].score), (Status::Unverified, Fixed::ZERO));
    // What others say of its posts holds: they are confirmed as those of a stranger would be.
    assert_eq!(views.posts[&own].status, Status::Confirmed);
}

#[test]
fn nobody_has_trust_through_a_distrusted_key() {
    let (mut s, me, _, outcast) = with_distrusted();
    let [protege, author] = s.keys();
    s.vouch(me, outcast, DAY(2));
    s.vouch(outcast, protege, DAY(2));
    let post = s.post(author, DAY(2));
    s.used(outcast, post, DAY(3));
    let views = s.at(DAY(3));
    for k in [protege, author] {
        let view = &views.authors[&k];
        assert_eq!((view.trust, view.class, view.origins.len()), (Fixed::ZERO, GroupId::Alone(k), 0));
    }
}

#[test]
fn a_vouch_for_a_distrusted_key_takes_no_share_from_others() {
    let (mut s, me, [friend, _], outcast) = with_distrusted();
    let protege = s.key();
    s.vouch(friend, protege, DAY(2));
    let alone = s.author_at(protege, DAY(2)).trust;
    s.vouch(friend, outcast, DAY(3));
    s.vouch(me, outcast, DAY(3));
    assert_eq!(s.author_at(protege, DAY(3)).trust, alone);
    // A vouch for anybody else does.
    let other = s.key();
    s.vouch(friend, other, DAY(4));
    assert!(s.author_at(protege, DAY(4)).trust < alone);
}

#[test]
fn a_distrusted_key_does_not_end_the_cold_start_and_has_no_floor() {
    let mut s = Story::new();
    let (me, [outcast, stranger]) = (s.profile(), s.keys());
    s.config.networks[0].distrusted.push(outcast);
    s.vouch(me, outcast, DAY(1));
    s.post(stranger, DAY(1));
    let views = s.at(DAY(40));
    assert_eq!([outcast, stranger].map(|k| views.authors[&k].weight), [Fixed::ZERO, Fixed(10_000_000)]);
}

#[test]
fn what_a_distrusted_key_has_relied_on_makes_nothing_count_against_a_critic() {
    // As in `force`: of 67 contradictions that count none is heard.
    let (mut s, _, keys) = Story::vouched::<20>();
    let outcasts @ [one, two] = [keys[18], keys[19]];
    s.config.networks[0].distrusted.extend(outcasts);
    let post = s.post(keys[0], DAY(2));
    s.contradict(keys[1], post, DAY(3));
    for _ in 0..66 {
        let stranger = s.key();
        let spam = s.post(stranger, DAY(2));
        s.contradict(keys[1], spam, DAY(3));
        s.used(one, spam, DAY(4));
        s.used(two, spam, DAY(4));
    }
    assert_eq!(s.status(post, DAY(4)), Status::Contested);
}
