//! Section 6: statuses, scores, counts.

use super::*;
use wats_model::views::Why;

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

/// A contradiction that has decayed, its critic, three anchors, and whom the first of these brought in.
fn decayed<const N: usize>() -> (Story, EventId, KeyId, [KeyId; 3], [KeyId; N]) {
    let (mut s, _, [author, critic, anchors @ ..]) = Story::vouched::<5>();
    let proteges: [KeyId; N] = s.keys();
    proteges.iter().for_each(|k| {
        s.vouch(anchors[0], *k, DAY(2));
    });
    let post = s.post(author, DAY(2));
    s.contradict(critic, post, DAY(3));
    (s, post, critic, anchors, proteges)
}

#[test]
fn a_whisper_outlives_nothing() {
    let (mut s, post, critic, [_, other, _], proteges) = decayed::<4>();
    for k in proteges {
        s.used(k, post, DAY(400));
    }
    let views = s.at(DAY(400));
    let voice = |k: KeyId| views.authors[&k].voice.0;
    assert!(voice(critic) > 2 * voice(proteges[0]) && voice(proteges[0]) > 0);
    // Of one class they have no more voice together.
    assert_eq!(views.posts[&post].status, Status::Contested);
    s.used(other, post, DAY(401));
    assert_eq!(s.status(post, DAY(401)), Status::Confirmed);
}

#[test]
fn half_of_the_critics_voice_outlives() {
    let (mut s, post, critic, [_, _, anchor], [less, _]) = decayed::<2>();
    s.used(less, post, DAY(400));
    // share = 15 << 25; of 850,000,000 and of 10 << 24 that the reader's vouch passes on, r(17 / 20 of it)
    // is 11 << 25 and 9 << 23: 13 << 25 together.
    let views = s.at(DAY(400));
    assert_eq!([critic, less].map(|k| views.authors[&k].voice), [Fixed(15 << 26), Fixed(13 << 25)]);
    assert_eq!(views.posts[&post].status, Status::Contested);
    // The third whom an anchor's trust reaches has just half.
    let chain: [KeyId; 3] = s.keys();
    for (from, to) in [(anchor, chain[0]), (chain[0], chain[1]), (chain[1], chain[2])] {
        s.vouch(from, to, DAY(401));
    }
    s.used(chain[2], post, DAY(401));
    let views = s.at(DAY(401));
    assert_eq!(views.authors[&chain[2]].voice, Fixed(15 << 25));
    assert_eq!(views.posts[&post].status, Status::Confirmed);
}

#[test]
fn many_outlive_together_what_none_does_alone() {
    let (mut s, post, critic, anchors, []) = decayed();
    let proteges: [[KeyId; 3]; 3] = std::array::from_fn(|_| s.keys());
    for (anchor, proteges) in anchors.into_iter().zip(proteges) {
        proteges.iter().for_each(|k| {
            s.vouch(anchor, *k, DAY(399));
        });
    }
    // A third each: 8 << 25, of which two are more than half of 15 << 26.
    for (n, status) in [(0, Status::Contested), (1, Status::Confirmed)] {
        s.used(proteges[n][0], post, DAY(400));
        let views = s.at(DAY(400));
        assert_eq!([critic, proteges[n][0]].map(|k| views.authors[&k].voice), [FULL, Fixed(8 << 25)]);
        assert_eq!(views.posts[&post].status, status);
    }
}

#[test]
fn only_keys_with_weight_move_a_score() {
    let (mut s, me, [author]) = Story::vouched();
    let strangers: [KeyId; 30] = s.keys();
    strangers.iter().for_each(|k| {
        s.post(*k, DAY(1));
    });
    let post = s.post(author, DAY(2));
    for k in strangers {
        s.used(k, post, DAY(50));
        s.vote(k, post, 1, DAY(50));
    }
    let views = s.at(DAY(50));
    // Two sixteenths of 10,000,000.
    assert_eq!(views.authors[&strangers[0]].voice, Fixed(10 << 17));
    let view = &views.posts[&post];
    assert_eq!((view.score, view.counts), (Fixed::ZERO, NONE));
    s.vouch(me, strangers[0], DAY(51));
    assert_eq!(s.post_at(post, DAY(51)).counts, Counts { uses: 1, votes_up: 1, ..NONE });
}

#[test]
fn a_score_below_zero_keeps_four_bits_like_one_above() {
    let (mut s, _, [author, friend, critic]) = Story::vouched();
    let posts = [s.post(author, DAY(2)), s.post(author, DAY(2))];
    s.confirm(friend, posts[0], DAY(3));
    s.contradict(critic, posts[1], DAY(3));
    // 0.6 of 15 << 26, decayed: 9, 8.6, 8.3, and 7.9 of 1 << 26.
    for (step, score) in [9 << 26, 9 << 26, 8 << 26, 16 << 25].into_iter().enumerate() {
        let views = s.at(DAY(3).after(Millis(DAY(180).0 / 16 * step as u64)));
        let scores = posts.map(|p| views.posts[&p].score);
        assert_eq!(scores, [Fixed(score), Fixed(-score)]);
    }
}

#[test]
fn why_counts_the_voices_that_counts_counts() {
    let (mut s, _, [author, one, two, three]) = Story::vouched();
    let post = s.post(author, DAY(2));
    for critic in [one, two, three] {
        s.announce(critic, Some(OwnerId(1)), DAY(2));
        s.contradict(critic, post, DAY(3));
    }
    let view = s.post_at(post, DAY(3));
    assert_eq!(view.counts, Counts { contradictions: 1, ..NONE });
    assert!(matches!(view.why, Some(Why::Contradicted { keys: 1, .. })));
    s.announce(three, None, DAY(4));
    let view = s.post_at(post, DAY(4));
    assert_eq!(view.counts, Counts { contradictions: 2, ..NONE });
    assert!(matches!(view.why, Some(Why::Contradicted { keys: 2, .. })));
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
