//! Section 3: groups, origins, classes, sponsors, and how a crowd is counted.

use super::*;
use wats_model::ids::{GroupId, NetworkId};

fn confirm_each(s: &mut Story, keys: &[KeyId], post: EventId, at: Millis) {
    keys.iter().for_each(|k| {
        s.confirm(*k, post, at);
    });
}

#[test]
fn the_proteges_of_one_key_are_one_voice() {
    let (mut s, _, [author, sponsor]) = Story::vouched();
    let crowd: [KeyId; 12] = s.keys();
    crowd.iter().for_each(|k| {
        s.vouch(sponsor, *k, DAY(2));
    });
    let post = s.post(author, DAY(3));
    confirm_each(&mut s, &crowd, post, DAY(4));
    let views = s.at(DAY(4));
    assert_eq!(views.posts[&post].counts.confirmations, 1);
    let voice = views.authors[&crowd[0]].voice;
    assert_eq!(views.posts[&post].score, voice.times(Fixed(600_000_000)).rounded());
    for k in crowd {
        assert_eq!(views.authors[&k].class, GroupId::Alone(sponsor));
    }
    s.confirm(sponsor, post, DAY(5));
    assert_eq!(s.post_at(post, DAY(5)).counts.confirmations, 1);
}

#[test]
fn a_half_independent_puppet_makes_no_third_voice() {
    let (mut s, _, [author, master, other]) = Story::vouched();
    let puppet = s.key();
    s.vouch_each(&[master, other], puppet, DAY(2));
    let crowd: [KeyId; 6] = s.keys();
    for k in crowd {
        s.vouch_each(&[master, puppet], k, DAY(3));
    }
    let post = s.post(author, DAY(4));
    confirm_each(&mut s, &crowd, post, DAY(5));
    confirm_each(&mut s, &[master, puppet], post, DAY(5));
    let views = s.at(DAY(5));
    let group = GroupId::Alone;
    assert_eq!(&views.authors[&crowd[0]].origins[..], [group(master), group(other)]);
    assert_eq!(views.posts[&post].counts.confirmations, 2);
}

#[test]
fn a_false_owner_merges_nobody() {
    let (mut s, _, [author, one, two, sponsor]) = Story::vouched();
    s.announce(one, Some(OwnerId(1)), DAY(2));
    s.announce(two, Some(OwnerId(2)), DAY(2));
    let post = s.post(author, DAY(3));
    confirm_each(&mut s, &[one, two], post, DAY(4));
    assert_eq!(s.post_at(post, DAY(4)).counts.confirmations, 2);
    // Two puppets claim the owners of both.
    let puppets: [KeyId; 2] = s.keys();
    for (k, owner) in puppets.into_iter().zip([1, 2]) {
        s.vouch(sponsor, k, DAY(5));
        s.announce(k, Some(OwnerId(owner)), DAY(6));
    }
    confirm_each(&mut s, &puppets, post, DAY(6));
    assert_eq!(s.post_at(post, DAY(6)).counts.confirmations, 2);
}

#[test]
fn keys_of_one_owner_are_one_voice() {
    let (mut s, _, [author, one, two]) = Story::vouched();
    let post = s.post(author, DAY(3));
    confirm_each(&mut s, &[one, two], post, DAY(3));
    assert_eq!(s.post_at(post, DAY(3)).counts.confirmations, 2);
    s.announce(one, Some(OwnerId(1)), DAY(4));
    s.announce(two, Some(OwnerId(1)), DAY(4));
    let view = s.post_at(post, DAY(4));
    assert_eq!((view.counts.confirmations, view.score), (1, full(600_000_000)));
    // The latest announce says who owns a key, and may say nobody.
    s.announce(two, None, DAY(5));
    assert_eq!(s.post_at(post, DAY(5)).counts.confirmations, 2);
}

#[test]
fn who_declares_the_readers_owner_is_the_readers() {
    let (mut s, me, [friend]) = Story::vouched();
    s.announce(me, Some(OwnerId(1)), DAY(2));
    s.announce(friend, Some(OwnerId(1)), DAY(2));
    assert_eq!(s.author_at(friend, DAY(2)).group, GroupId::Profiles(NetworkId(0)));
    let post = s.post(me, DAY(3));
    s.confirm(friend, post, DAY(3));
    assert_eq!(s.post_at(post, DAY(3)).counts, NONE);
}

#[test]
fn two_sponsors_leave_a_key_its_own_class() {
    let (mut s, _, [one, two]) = Story::vouched();
    let key = s.key();
    s.vouch(one, key, DAY(2));
    assert_eq!(s.author_at(key, DAY(2)).class, GroupId::Alone(one));
    s.vouch(two, key, DAY(3));
    assert_eq!(s.author_at(key, DAY(3)).class, GroupId::Alone(key));
    s.unvouch(two, key, DAY(4));
    assert_eq!(s.author_at(key, DAY(4)).class, GroupId::Alone(one));
}

#[test]
fn a_sponsor_speaks_of_its_protege_but_not_the_other_way_round() {
    let (mut s, _, [sponsor]) = Story::vouched();
    let protege = s.key();
    s.vouch(sponsor, protege, DAY(2));
    let (by_sponsor, by_protege) = (s.post(sponsor, DAY(3)), s.post(protege, DAY(3)));
    s.confirm(sponsor, by_protege, DAY(4));
    s.confirm(protege, by_sponsor, DAY(4));
    let views = s.at(DAY(4));
    assert_eq!(views.posts[&by_protege].status, Status::Confirmed);
    assert_eq!(views.posts[&by_sponsor].status, Status::Unverified);
}

#[test]
fn proteges_of_one_key_do_not_confirm_each_other() {
    let (mut s, _, [sponsor, other]) = Story::vouched();
    let [one, two] = s.keys();
    s.vouch(sponsor, one, DAY(2));
    s.vouch(sponsor, two, DAY(2));
    let post = s.post(one, DAY(3));
    s.confirm(two, post, DAY(4));
    assert_eq!(s.status(post, DAY(4)), Status::Unverified);
    // With a second sponsor it is no longer anybody's creature.
    s.vouch(other, two, DAY(5));
    assert_eq!(s.status(post, DAY(5)), Status::Confirmed);
}

#[test]
fn sixteen_sponsors_let_a_key_speak_for_itself() {
    let (mut s, _, anchors) = Story::vouched::<16>();
    let key = s.key();
    s.vouch_each(&anchors[..15], key, DAY(2));
    assert_eq!(s.author_at(key, DAY(2)).origins.len(), 15);
    s.vouch(anchors[15], key, DAY(3));
    assert_eq!(&s.author_at(key, DAY(3)).origins[..], [GroupId::Alone(key)]);
}

#[test]
fn origins_spread_three_rounds() {
    let (mut s, _, [anchor]) = Story::vouched();
    let chain: [KeyId; 4] = s.keys();
    s.vouch(anchor, chain[0], DAY(2));
    for pair in chain.windows(2) {
        s.vouch(pair[0], pair[1], DAY(2));
    }
    let views = s.at(DAY(2));
    let origins = chain.map(|k| views.authors[&k].origins.len());
    assert_eq!(origins, [1, 1, 1, 0]);
    assert_eq!(views.authors[&chain[2]].class, GroupId::Alone(anchor));
    assert_eq!(views.authors[&chain[3]].class, GroupId::Alone(chain[3]));
}

#[test]
fn what_the_reader_used_once_is_first_hand() {
    let (mut s, me, [sponsor, _]) = Story::vouched();
    let key = s.key();
    s.vouch(sponsor, key, DAY(2));
    let post = s.post(key, DAY(3));
    assert_eq!(&s.author_at(key, DAY(3)).origins[..], [GroupId::Alone(sponsor)]);
    s.confirm(me, post, DAY(4));
    assert_eq!(&s.author_at(key, DAY(4)).origins[..], [GroupId::Alone(key)]);
    s.vote(me, post, 0, DAY(5));
    assert_eq!(&s.author_at(key, DAY(5)).origins[..], [GroupId::Alone(sponsor)]);
}

#[test]
fn light_signals_count_by_class() {
    let (mut s, _, [author, sponsor, other]) = Story::vouched();
    let crowd: [KeyId; 3] = s.keys();
    crowd.iter().for_each(|k| {
        s.vouch(sponsor, *k, DAY(2));
    });
    let post = s.post(author, DAY(3));
    crowd.iter().for_each(|k| {
        s.vote(*k, post, 1, DAY(4));
    });
    assert_eq!(s.post_at(post, DAY(4)).counts, Counts { votes_up: 1, ..NONE });
    s.vote(other, post, 1, DAY(5));
    assert_eq!(s.post_at(post, DAY(5)).counts, Counts { votes_up: 2, ..NONE });
}
