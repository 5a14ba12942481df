//! Section 4: what stands.

use super::*;
use wats_model::views::Why;

/// An author, a critic who contradicts its post with evidence, and others.
fn contested<const N: usize>() -> (Story, EventId, EventId, KeyId, [KeyId; N]) {
    let (mut s, _, keys) = Story::vouched::<N>();
    let post = s.post(keys[0], DAY(2));
    let critique = s.contradict(keys[1], post, DAY(3));
    assert_eq!(s.status(post, DAY(3)), Status::Contested);
    (s, post, critique, keys[0], keys)
}

#[test]
fn a_third_party_rebuts() {
    let (mut s, post, critique, _, [_, _, friend]) = contested();
    s.contradict(friend, critique, DAY(4));
    let view = s.post_at(post, DAY(4));
    assert_eq!((view.status, view.counts.contradictions, view.score), (Status::Unverified, 0, Fixed::ZERO));
    s.used(friend, post, DAY(5));
    assert_eq!(s.post_at(post, DAY(5)).why, Some(Why::Rebutted { evidence: true }));
}

#[test]
fn the_author_does_not_rebut_its_critic() {
    let (mut s, post, critique, author, [_, _]) = contested();
    s.contradict(author, critique, DAY(4));
    assert_eq!(s.status(post, DAY(4)), Status::Contested);
}

#[test]
fn the_critic_does_not_have_the_last_word() {
    let (mut s, post, critique, _, [_, critic, friend, other]) = contested();
    let rebuttal = s.contradict(friend, critique, DAY(4));
    s.contradict(critic, rebuttal, DAY(5));
    assert_eq!(s.status(post, DAY(5)), Status::Unverified);
    // Somebody else may take its side.
    s.contradict(other, rebuttal, DAY(6));
    assert_eq!(s.status(post, DAY(6)), Status::Contested);
}

#[test]
fn a_protege_does_not_rebut_for_the_author() {
    let (mut s, post, critique, author, [_, _, other]) = contested();
    let protege = s.key();
    s.vouch(author, protege, DAY(4));
    s.contradict(protege, critique, DAY(4));
    assert_eq!(s.status(post, DAY(4)), Status::Contested);
    s.vouch(other, protege, DAY(5));
    // It was heavy enough before, and is nobody's creature any more.
    assert_eq!(s.status(post, DAY(5)), Status::Unverified);
}

#[test]
fn the_reader_may_argue_in_its_own_cause() {
    let (mut s, me, [critic]) = Story::vouched();
    let post = s.post(me, DAY(2));
    let critique = s.contradict(critic, post, DAY(3));
    assert_eq!(s.status(post, DAY(3)), Status::Contested);
    s.contradict(me, critique, DAY(4));
    assert_eq!(s.status(post, DAY(4)), Status::Unverified);
}

#[test]
fn a_light_key_contradicts_nobody_much_heavier() {
    let mut s = Story::new();
    let (me, [author, light]) = (s.profile(), s.keys());
    let (post, own) = (s.post(author, DAY(1)), s.post(light, DAY(1)));
    // The reader has used one post: S is 425,000,000, and nine sixteenths of a floor are left.
    s.used(me, post, DAY(1));
    s.contradict(light, post, DAY(50));
    let views = s.at(DAY(50));
    let floor = Fixed(5_625_000);
    assert_eq!([author, light].map(|k| views.authors[&k].weight), [FULL + floor, floor]);
    assert_eq!(views.posts[&post].status, Status::Confirmed);
    s.contradict(author, own, DAY(51));
    assert_eq!(s.status(own, DAY(51)), Status::Contested);
}

#[test]
fn many_may_do_together_what_one_may_not() {
    let (mut s, _, [author, one, two, three]) = Story::vouched();
    // Each sponsor has eight proteges: none has half of the author's weight.
    let proteges: [[KeyId; 8]; 3] = std::array::from_fn(|_| s.keys());
    for (sponsor, proteges) in [one, two, three].into_iter().zip(proteges) {
        proteges.iter().for_each(|k| {
            s.vouch(sponsor, *k, DAY(2));
        });
    }
    let post = s.post(author, DAY(3));
    let views = s.at(DAY(3));
    let weight = views.authors[&proteges[0][0]].weight;
    assert!(2 * 3 * weight.0 < FULL.0, "{weight:?}");
    // All of one sponsor's count once.
    proteges[0].iter().for_each(|k| {
        s.contradict(*k, post, DAY(4));
    });
    assert_eq!(s.status(post, DAY(4)), Status::Unverified);
    // Three classes are still too light.
    s.contradict(proteges[1][0], post, DAY(5));
    s.contradict(proteges[2][0], post, DAY(5));
    assert_eq!(s.status(post, DAY(5)), Status::Unverified);
    // Who vouches for one alone gives it more.
    for (sponsor, proteges) in [one, two, three].into_iter().zip(proteges) {
        proteges[1..].iter().for_each(|k| {
            s.unvouch(sponsor, *k, DAY(6));
        });
    }
    let views = s.at(DAY(6));
    let joint: i64 = proteges.iter().map(|of| views.authors[&of[0]].trust.0).sum();
    assert_eq!(views.posts[&post].status == Status::Contested, 2 * joint >= FULL.0);
    assert_eq!(views.posts[&post].status, Status::Contested);
}

#[test]
fn nobody_argues_for_ever() {
    let (mut s, post, first, _, [_, critic, friend]) = contested();
    let more: Vec<EventId> = (4..7).map(|day| s.contradict(critic, post, DAY(day))).collect();
    s.contradict(friend, first, DAY(8));
    more.iter().for_each(|critique| {
        s.contradict(friend, *critique, DAY(8));
    });
    assert_eq!(s.status(post, DAY(8)), Status::Unverified);
    // A fifth argument, back-dated, is none: the four that came first are.
    let fifth = s.contradict(critic, post, DAY(4));
    s.received(fifth, DAY(9));
    assert_eq!(s.status(post, DAY(9)), Status::Unverified);
}

#[test]
fn chatter_takes_no_place_from_evidence() {
    let (mut s, _, [author, critic, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    s.vote(critic, post, -1, DAY(3));
    let lines: Vec<EventId> = (0..4).map(|_| s.reply(critic, post, post, DAY(3))).collect();
    lines.iter().for_each(|line| {
        s.contradict(friend, *line, DAY(4));
    });
    assert_eq!(s.status(post, DAY(4)), Status::Unverified);
    s.contradict(critic, post, DAY(5));
    assert_eq!(s.status(post, DAY(5)), Status::Contested);
}

#[test]
fn to_refute_the_post_is_to_refute_what_rests_on_it() {
    let (mut s, _, [author, critic, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    let [first, second] = [2, 3].map(|day| s.post(critic, DAY(day)));
    s.contradict_naming(critic, post, &[first, second], DAY(4));
    assert_eq!(s.status(post, DAY(4)), Status::Contested);
    // It rests on the first that it names.
    s.contradict(friend, second, DAY(5));
    assert_eq!(s.status(post, DAY(5)), Status::Contested);
    s.contradict(friend, first, DAY(6));
    assert_eq!(s.status(post, DAY(6)), Status::Unverified);
}

#[test]
fn who_becomes_impartial_rebuts_what_rests_on_the_post_too() {
    let (mut s, me, [author, critic]) = Story::vouched();
    let (post, own) = (s.post(author, DAY(2)), s.post(critic, DAY(2)));
    s.contradict_naming(critic, post, &[own], DAY(3));
    let friend = s.key();
    s.vouch(author, friend, DAY(3));
    s.contradict(friend, own, DAY(4));
    let views = s.at(DAY(4));
    assert_eq!(views.authors[&friend].weight, FULL);
    assert_eq!(views.posts[&post].status, Status::Contested);
    // As heavy as before, but no longer the author's creature.
    s.vouch(me, friend, DAY(5));
    assert_eq!(s.status(post, DAY(5)), Status::Unverified);
}

#[test]
fn evidence_rests_on_nothing() {
    let (mut s, _, [author, critic, friend]) = Story::vouched();
    let post = s.post(author, DAY(2));
    let own = s.post(critic, DAY(3));
    let (value, evidence, refs) = (Some(-1), Evidence::Text, [own].into());
    s.react(critic, React { value, evidence, refs, ..react(post) }, DAY(4));
    s.contradict(friend, own, DAY(5));
    assert_eq!(s.status(post, DAY(5)), Status::Contested);
}

#[test]
fn a_false_owner_silences_no_critic() {
    let (mut s, post, _, author, [_, critic]) = contested();
    s.announce(critic, Some(OwnerId(1)), DAY(4));
    s.announce(author, Some(OwnerId(1)), DAY(4));
    let view = s.post_at(post, DAY(4));
    assert_eq!((view.status, view.counts.contradictions), (Status::Contested, 1));
    assert_eq!(view.score, -full(600_000_000));
}

#[test]
fn a_discredited_key_has_no_veto() {
    let (mut s, post, _, _, [_, critic, one, two]) = contested();
    for day in 4..14 {
        let wrong = s.post(critic, DAY(day));
        s.contradict(one, wrong, DAY(day));
        s.contradict(two, wrong, DAY(day));
    }
    // Each loses it FULL * 6 / 7.
    let views = s.at(DAY(14));
    assert!(views.authors[&critic].reputation < Fixed::ZERO);
    assert_eq!(views.authors[&critic].voice, Fixed::ZERO);
    let view = &views.posts[&post];
    assert_eq!((view.status, view.counts, view.score), (Status::Unverified, NONE, Fixed::ZERO));
}

#[test]
fn two_who_contradict_each_other_stay_contested() {
    let (mut s, _, [one, two]) = Story::vouched();
    let [first, second] = [one, two].map(|k| s.post(k, DAY(2)));
    s.contradict_naming(one, second, &[first], DAY(3));
    s.contradict_naming(two, first, &[second], DAY(3));
    let views = s.at(DAY(3));
    assert!([first, second].iter().all(|p| views.posts[p].status == Status::Contested));
}

#[test]
fn three_in_a_circle_are_undecided_and_cost_nobody_anything() {
    let (mut s, _, [one, two, three]) = Story::vouched();
    let posts @ [first, second, third] = [one, two, three].map(|k| s.post(k, DAY(2)));
    s.contradict_naming(two, first, &[second], DAY(3));
    s.contradict_naming(three, second, &[third], DAY(3));
    s.contradict_naming(one, third, &[first], DAY(3));
    let views = s.at(DAY(3));
    for post in posts.map(|p| &views.posts[&p]) {
        assert!(matches!(post.why, Some(Why::Contradicted { stands: false, keys: 1, .. })));
        assert_eq!((post.counts.contradictions, post.score), (1, Fixed::ZERO));
        assert_eq!(views.authors[&post.author].reputation, FULL);
    }
}

#[test]
fn one_may_take_a_contradiction_back() {
    let (mut s, post, _, _, [_, critic]) = contested();
    s.vote(critic, post, 1, DAY(4));
    let view = s.post_at(post, DAY(4));
    assert_eq!((view.status, view.counts), (Status::Unverified, Counts { votes_up: 1, ..NONE }));
}

#[test]
fn arguments_are_seen_three_steps_deep() {
    let (mut s, post, critique, _, [_, _, a, b, c]) = contested();
    let rebuttal = s.contradict(a, critique, DAY(4));
    let reply = s.contradict(b, rebuttal, DAY(5));
    assert_eq!(s.status(post, DAY(5)), Status::Contested);
    // The answer to that is a fourth step from the post, and decides about the critique only.
    s.contradict(c, reply, DAY(6));
    assert_eq!(s.status(post, DAY(6)), Status::Contested);
}
