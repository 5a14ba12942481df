//! Section 3, *Cold start*: what readers are told of a whole network, and whom a vouch would help most.

use super::*;
use wats_model::ids::NetworkId;
use wats_model::views::{MAX_SUGGESTED, NetworkLabel};

/// The label of the network, and whom it suggests.
fn label(s: &mut Story, now: Millis) -> Option<(NetworkLabel, Vec<KeyId>)> {
    let view = s.at(now).networks.remove(&NetworkId(0));
    view.map(|view| (view.label, view.suggested))
}

#[test]
fn a_network_is_cold_until_the_reader_trusts_somebody() {
    let mut s = Story::new();
    let me = s.profile();
    let [first, second, stranger] = s.keys();
    s.post(stranger, DAY(1));
    // Strangers are old, and nobody is suggested for that.
    assert_eq!(label(&mut s, DAY(50)), Some((NetworkLabel::Cold, vec![])));
    // After the first vouch two sixteenths are left, in which no stranger counts.
    s.vouch(me, first, DAY(51));
    assert_eq!(label(&mut s, DAY(51)), Some((NetworkLabel::Cold, vec![])));
    s.vouch(me, second, DAY(52));
    assert_eq!(label(&mut s, DAY(52)), None);
    s.unvouch(me, second, DAY(53));
    assert_eq!(label(&mut s, DAY(53)), Some((NetworkLabel::Cold, vec![])));
}

#[test]
fn whom_those_trust_whom_the_reader_trusts_is_suggested() {
    let (mut s, me, [friend]) = Story::vouched();
    let [near, far, stranger] = s.keys();
    s.vouch(friend, near, DAY(2));
    s.vouch(near, far, DAY(2));
    s.vouch(stranger, stranger, DAY(2));
    s.post(stranger, DAY(2));
    // Both carry as much as anybody can.
    assert_eq!(label(&mut s, DAY(3)), Some((NetworkLabel::Cold, vec![near, far])));
    let other = s.key();
    s.vouch(friend, other, DAY(4));
    s.vouch(stranger, other, DAY(4));
    s.unvouch(near, far, DAY(4));
    assert_eq!(label(&mut s, DAY(4)), Some((NetworkLabel::Cold, vec![near, other])));
    s.vouch(me, near, DAY(5));
    assert_eq!(label(&mut s, DAY(5)), None);
}

#[test]
fn a_reader_whose_reliance_has_decayed_is_alone() {
    let mut s = Story::new();
    let (me, [one, two, three]) = (s.profile(), s.keys());
    for k in [one, two, three] {
        let post = s.post(k, DAY(1));
        s.used(me, post, DAY(2));
    }
    assert_eq!(label(&mut s, DAY(3)), None);
    // Ten half-lives later nothing is left of it; the network does not grow cold again.
    assert_eq!(label(&mut s, before(DAY(1802))), None);
    assert_eq!(label(&mut s, DAY(1802)), Some((NetworkLabel::Alone, vec![])));
}

#[test]
fn whose_friends_have_all_lost_their_voices_is_alone() {
    let (mut s, me, [one, two]) = Story::vouched();
    assert_eq!(label(&mut s, DAY(2)), None);
    for (author, critic) in [(one, two), (two, one)] {
        for day in 4..14 {
            let wrong = s.post(author, DAY(day));
            s.contradict(me, wrong, DAY(day));
            s.contradict(critic, wrong, DAY(day));
        }
    }
    assert_eq!(label(&mut s, DAY(14)), Some((NetworkLabel::Alone, vec![])));
}

#[test]
fn too_many_who_are_trusted_alike_are_not_suggested() {
    let (mut s, _, [friend]) = Story::vouched();
    let mut many: Vec<KeyId> = (0..MAX_SUGGESTED).map(|_| s.key()).collect();
    for k in &many {
        s.vouch(friend, *k, DAY(2));
    }
    assert_eq!(label(&mut s, DAY(2)), Some((NetworkLabel::Cold, many.clone())));
    many.push(s.key());
    s.vouch(friend, many[MAX_SUGGESTED], DAY(3));
    assert_eq!(label(&mut s, DAY(3)), Some((NetworkLabel::Cold, vec![])));
}

#[test]
fn who_is_distrusted_is_not_suggested() {
    let (mut s, _, [friend]) = Story::vouched();
    let [outcast, other] = s.keys();
    s.config.networks[0].distrusted.push(outcast);
    s.vouch(friend, outcast, DAY(2));
    s.vouch(friend, other, DAY(2));
    assert_eq!(label(&mut s, DAY(2)), Some((NetworkLabel::Cold, vec![other])));
}
