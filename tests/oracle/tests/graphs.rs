//! Fixed small graphs: what the shared vectors do not show, and one of each kind besides.

use wats_model::facts::{Evidence, React};
use wats_model::fixed::{Fixed, ONE};
use wats_model::ids::{BlobId, EventId, GroupId, KeyId, Millis, NetworkId, OwnerId};
use wats_model::views::{MAX_SUGGESTED, NetworkLabel, Status, Why};
use wats_oracle::build::{Build, react};

const DAY: fn(u64) -> Millis = Millis::days;

/// A reader that vouches for some keys, and a post by the first of them.
fn vouched<const N: usize>(b: &mut Build) -> (KeyId, [KeyId; N], EventId) {
    let me = b.profile();
    let keys = std::array::from_fn(|_| b.key());
    for k in keys {
        b.vouch(me, k, DAY(1));
    }
    let post = b.post(keys[0], DAY(2));
    (me, keys, post)
}

#[test]
fn a_clique_of_fresh_keys_has_no_trust() {
    let mut b = Build::new();
    let me = b.profile();
    b.announce(me, None, DAY(0));
    let clique: Vec<KeyId> = (0..5).map(|_| b.key()).collect();
    let post = b.post(clique[0], DAY(1));
    for &k in &clique[1..] {
        b.vouch(k, clique[0], DAY(1));
        b.confirm(k, post, DAY(2));
    }
    let views = b.views(DAY(3));
    assert_eq!(views.posts[&post].status, Status::Unverified);
    assert_eq!(views.posts[&post].score, Fixed::ZERO);
    assert!(clique.iter().all(|k| views.authors[k].weight == Fixed::ZERO));
    // In time they have a floor, which confirms nothing worth an entry.
    let views = b.views(DAY(60));
    assert_eq!(views.authors[&clique[1]].floor, Fixed(10_000_000));
    assert_eq!(views.authors[&clique[1]].trust, Fixed::ZERO);
}

#[test]
fn an_owner_that_a_profile_declares_is_the_profiles() {
    let mut b = Build::new();
    let (me, [a, c], _) = vouched(&mut b);
    b.announce(a, Some(OwnerId(0)), DAY(3));
    assert_eq!(b.views(DAY(4)).authors[&a].group, GroupId::Owner(OwnerId(0)));
    b.announce(me, Some(OwnerId(0)), DAY(5));
    b.announce(c, Some(OwnerId(0)), DAY(5));
    b.announce(c, None, DAY(6));
    let views = b.views(DAY(7));
    assert_eq!(views.authors[&a].group, GroupId::Profiles(NetworkId(0)));
    assert_eq!(views.authors[&c].group, GroupId::Alone(c));
}

#[test]
fn why_names_the_earliest_argument_with_evidence() {
    let mut b = Build::new();
    let (_, [_, one, two, _], post) = vouched(&mut b);
    // A reasoned reply comes first in time, and behind evidence.
    b.reply(one, post, post, DAY(3));
    b.vote(one, post, -1, DAY(3));
    let evidence = b.contradict(two, post, DAY(4));
    let why = b.views(DAY(5)).posts[&post].why;
    let expected =
        Why::Contradicted { keys: 2, evidence: true, argument: evidence, rebuttals: 0, stands: true };
    assert_eq!(why, Some(expected));
}

#[test]
fn why_counts_rebuttals_that_stand() {
    let mut b = Build::new();
    let (_, [_, critic, friend, other], post) = vouched(&mut b);
    let critique = b.contradict(critic, post, DAY(3));
    b.contradict(friend, critique, DAY(4));
    let standing = b.contradict(other, post, DAY(5));
    let view = b.views(DAY(6)).posts[&post].clone();
    assert_eq!(view.status, Status::Contested);
    let expected =
        Why::Contradicted { keys: 1, evidence: true, argument: standing, rebuttals: 1, stands: true };
    assert_eq!(view.why, Some(expected));

    // The other is rebutted too, by a reply without evidence, and somebody confirms.
    b.reply(friend, standing, post, DAY(7));
    b.vote(friend, standing, -1, DAY(7));
    b.used(friend, post, DAY(7));
    let view = b.views(DAY(8)).posts[&post].clone();
    assert_eq!(view.status, Status::Confirmed);
    assert_eq!(view.why, Some(Why::Rebutted { evidence: true }));
}

#[test]
fn three_who_argue_in_a_circle_are_undecided() {
    let mut b = Build::new();
    let (_, [_, one, two, three], _) = vouched(&mut b);
    let [first, second, third] = [one, two, three].map(|k| b.post(k, DAY(3)));
    // Each reacts -1 on another's post and names its own: the react rests on that.
    let mut against = |by, target, own| {
        let (value, refs) = (Some(-1), [own].into());
        b.react(by, React { value, refs, ..react(target) }, DAY(4));
        let views = b.views(DAY(5));
        [first, second, third].map(|post| match views.posts[&post].why {
            Some(Why::Contradicted { stands, .. }) => Some(stands),
            _ => None,
        })
    };
    assert_eq!(against(two, first, second), [Some(true), None, None]);
    assert_eq!(against(three, second, third), [None, Some(true), None]);
    assert_eq!(against(one, third, first), [Some(false); 3]);
}

#[test]
fn support_is_stale_when_it_has_decayed() {
    let mut b = Build::new();
    let (_, [_, friend], post) = vouched(&mut b);
    b.confirm(friend, post, DAY(3));
    // Live while steps <= 32: until, but not at, 33 sixteenths of 180 days.
    let end = DAY(3).after(Millis(DAY(180).0 * 33 / 16));
    let before = Millis(end.0 - 1);
    assert_eq!(b.views(before).posts[&post].status, Status::Confirmed);
    assert_eq!(b.views(end).posts[&post].status, Status::Stale);
    b.renew(friend, post, before);
    assert_eq!(b.views(end).posts[&post].status, Status::Confirmed);
}

#[test]
fn an_accepted_and_confirmed_answer_makes_an_entry_that_a_digest_covers() {
    let mut b = Build::new();
    let (_, [asker, helper, checker, curator], _) = vouched(&mut b);
    let ask = b.ask(asker, DAY(2));
    let answer = b.answer(helper, ask, DAY(3));
    b.accept(asker, answer, DAY(4));
    assert!(b.views(DAY(5)).entries.is_empty());
    b.confirm(checker, answer, DAY(5));
    let views = b.views(DAY(6));
    let entry = views.entries.first().expect("the thread is an entry");
    assert_eq!((entry.entry, entry.digest, &entry.threads[..]), (answer, false, &[ask][..]));
    assert_eq!(views.canonical[&ask], answer);
    assert!(views.covers.is_empty());

    let digest = b.digest(curator, &[answer], DAY(6));
    b.confirm(checker, digest, DAY(7));
    b.confirm(helper, digest, DAY(7));
    let views = b.views(DAY(8));
    let entry = views.entries.first().expect("the digest is an entry");
    assert_eq!(views.entries.len(), 1);
    assert_eq!((entry.entry, entry.digest, &entry.threads[..]), (digest, true, &[ask][..]));
    assert_eq!((views.canonical[&ask], views.covers[&ask]), (answer, digest));
}

#[test]
fn blobs_rank_by_their_best_holder() {
    let mut b = Build::new();
    let (me, [_, friend], post) = vouched(&mut b);
    let stranger = b.key();
    let [held, attached, shown, strange, own] = [0, 1, 2, 3, 4].map(BlobId);
    b.blobs.push(held);
    b.post_mut(post).blobs = [attached].into();
    let attach = |blob: BlobId, target| React { blobs: [blob].into(), ..react(target) };
    let evidence = |blob: BlobId, target| React {
        value: Some(1),
        evidence: Evidence::Blob(blob),
        ..attach(blob, target)
    };
    b.react(friend, evidence(shown, post), DAY(3));
    b.react(stranger, evidence(strange, post), DAY(3));
    let mine = b.post(me, DAY(3));
    b.react(me, attach(own, mine), DAY(4));

    let blobs = b.views(DAY(5)).blobs;
    assert_eq!(blobs[&held].rank, None);
    // The blob is not held, so the evidence is text.
    let score = ONE.rounded().times(Fixed(600_000_000)).rounded();
    assert_eq!(blobs[&attached].rank, Some((score, false, DAY(2))));
    assert_eq!(blobs[&shown].rank, blobs[&attached].rank);
    assert!(!blobs[&shown].pinned && !blobs.contains_key(&strange));
    assert_eq!(blobs[&own].rank, Some((Fixed::ZERO, false, DAY(3))));
    assert!(blobs[&own].pinned);
}

#[test]
fn a_profiles_attachment_counts_among_its_latest_reacts_only() {
    let mut b = Build::new();
    let me = b.profile();
    let post = b.post(me, DAY(1));
    let blobs = [BlobId(0)].into();
    b.react(me, React { blobs, ..react(post) }, DAY(2));
    for _ in 0..63 {
        b.renew(me, post, DAY(3));
    }
    assert!(b.views(DAY(4)).blobs.contains_key(&BlobId(0)));
    b.renew(me, post, DAY(3));
    assert!(b.views(DAY(4)).blobs.is_empty());
}

/// The label of the network, and whom it suggests.
fn label(b: &Build, now: Millis) -> Option<(NetworkLabel, Vec<KeyId>)> {
    let view = b.views(now).networks.get(&NetworkId(0)).cloned();
    view.map(|view| (view.label, view.suggested))
}

#[test]
fn a_network_is_cold_until_the_reader_relies_on_others_and_lonely_when_that_is_long_ago() {
    let mut b = Build::new();
    assert_eq!(label(&b, DAY(0)), None);
    let me = b.profile();
    assert_eq!(label(&b, DAY(0)), Some((NetworkLabel::Cold, vec![])));
    let helpers: [KeyId; 3] = std::array::from_fn(|_| b.key());
    let posts = helpers.map(|k| b.post(k, DAY(1)));
    b.used(me, posts[0], DAY(2));
    b.used(me, posts[1], DAY(2));
    // Both have as much trust, and no vouch.
    assert_eq!(label(&b, DAY(3)), Some((NetworkLabel::Cold, helpers[..2].to_vec())));
    b.used(me, posts[2], DAY(2));
    assert_eq!(label(&b, DAY(3)), None);
    // Nothing is left of the uses, and the network does not grow cold.
    assert_eq!(label(&b, DAY(3000)), Some((NetworkLabel::Alone, vec![])));
}

#[test]
fn those_who_are_suggested_have_the_most_trust_of_all_that_a_vouch_could_help() {
    let mut b = Build::new();
    let (_, [friend], _) = vouched(&mut b);
    let more: Vec<KeyId> = (0..MAX_SUGGESTED).map(|_| b.key()).collect();
    for &k in &more {
        b.vouch(friend, k, DAY(2));
    }
    assert_eq!(label(&b, DAY(3)), Some((NetworkLabel::Cold, more.clone())));
    b.config.networks[0].distrusted.push(more[3]);
    let others = || more.iter().copied().filter(|k| *k != more[3]);
    assert_eq!(label(&b, DAY(3)), Some((NetworkLabel::Cold, others().collect())));
    // One more than can be named.
    for _ in 0..2 {
        let k = b.key();
        b.vouch(friend, k, DAY(2));
    }
    assert_eq!(label(&b, DAY(3)), Some((NetworkLabel::Cold, vec![])));
}

#[test]
fn who_accuses_a_critic_and_is_refuted_pays_half() {
    let mut b = Build::new();
    let (_, [_, critic, accuser, defender], post) = vouched(&mut b);
    let critique = b.contradict(critic, post, DAY(3));
    let accusation = b.contradict(accuser, critique, DAY(3));
    let before = b.views(DAY(3)).authors[&accuser].clone();
    assert_eq!(before.reputation, before.weight.rounded());
    b.contradict(defender, accusation, DAY(3));
    let after = b.views(DAY(3)).authors[&accuser].clone();
    let lost = after.weight.times(Fixed(600_000_000).saturated()).scale(1, 2);
    assert_eq!(after.reputation, (after.weight - lost).rounded());
}

#[test]
fn a_contested_post_is_contradicted_by_as_many_keys_as_it_has_voices_against() {
    let mut b = Build::new();
    let (_, [_, one, two], post) = vouched(&mut b);
    b.announce(one, Some(OwnerId(0)), DAY(2));
    b.announce(two, Some(OwnerId(0)), DAY(2));
    b.contradict(one, post, DAY(3));
    b.contradict(two, post, DAY(3));
    let view = b.views(DAY(4)).posts[&post].clone();
    assert_eq!(view.counts.contradictions, 1);
    assert!(matches!(view.why, Some(Why::Contradicted { keys: 1, .. })));
}
