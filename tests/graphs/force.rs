//! Section 4, *force*: who contradicts much is spread thin.

use super::*;

/// The weight of each of twenty keys that the reader vouches for.
const WEIGHT: Fixed = Fixed(13 << 26);

/// Of that weight, so many contradictions that count are heard, and not one more: `r(13 * 32 / 66)` is 6.5 and
/// `r(13 * 32 / 67)` is 6 of 1 << 26.
const HEARD: usize = 66;

/// A critic, and authors of a class each.
fn crowd() -> (Story, KeyId, Vec<KeyId>) {
    let (mut s, _, keys) = Story::vouched::<20>();
    let weights = s.at(DAY(1)).authors;
    assert!(keys.iter().all(|k| weights[k].weight == WEIGHT));
    (s, keys[0], keys[1..].to_vec())
}

/// So many posts, by each author in turn, that the critic contradicts at this time.
fn contradicted(s: &mut Story, critic: KeyId, authors: &[KeyId], many: usize, at: Millis) -> Vec<EventId> {
    let by = authors.iter().cycle().take(many);
    let posts: Vec<EventId> = by.map(|author| s.post(*author, DAY(2))).collect();
    for post in &posts {
        s.contradict(critic, *post, at);
    }
    posts
}

/// How many of the posts are contested.
fn contested(s: &mut Story, posts: &[EventId], at: Millis) -> usize {
    let views = s.at(at);
    posts.iter().filter(|p| views.posts[*p].status == Status::Contested).count()
}

#[test]
fn so_many_are_heard_of_a_critic_as_heavy_as_the_authors_and_not_one_more() {
    let (mut s, critic, authors) = crowd();
    let mut posts = Vec::new();
    for many in 1..=76 {
        posts.extend(contradicted(&mut s, critic, &authors[(many - 1) % 19..], 1, DAY(3)));
        let views = s.views(DAY(3));
        let contested = posts.iter().filter(|p| views.posts[*p].status == Status::Contested).count();
        let force = if many <= 32 { WEIGHT } else { WEIGHT.scale(32, many as i64).rounded() };
        assert_eq!(contested, if 2 * force.0 >= WEIGHT.0 { many } else { 0 });
        assert_eq!(contested, if many <= HEARD { many } else { 0 });
    }
    assert_eq!(contested(&mut s, &posts, DAY(3)), 0);
    // Whoever takes some back is heard again.
    for post in &posts[HEARD..] {
        s.vote(critic, *post, 0, DAY(4));
    }
    assert_eq!(contested(&mut s, &posts, DAY(4)), HEARD);
}

#[test]
fn of_one_class_four_are_counted() {
    let (mut s, critic, authors) = crowd();
    let mut posts = contradicted(&mut s, critic, &authors[..1], 80, DAY(3));
    assert_eq!(contested(&mut s, &posts, DAY(3)), 80);
    // Fifteen more of so many each: 64.
    posts.extend(contradicted(&mut s, critic, &authors[1..16], 15 * 5, DAY(3)));
    assert_eq!(contested(&mut s, &posts, DAY(3)), 155);
    posts.extend(contradicted(&mut s, critic, &authors[16..17], 2, DAY(4)));
    assert_eq!(contested(&mut s, &posts, DAY(4)), 157);
    posts.extend(contradicted(&mut s, critic, &authors[16..17], 1, DAY(5)));
    assert_eq!(contested(&mut s, &posts, DAY(5)), 0);
}

#[test]
fn the_proteges_of_one_key_are_one_class() {
    let (mut s, critic, authors) = crowd();
    let proteges: [KeyId; 20] = s.keys();
    for k in proteges {
        s.vouch(authors[0], k, DAY(2));
    }
    let posts = contradicted(&mut s, critic, &proteges, 80, DAY(3));
    assert_eq!(contested(&mut s, &posts, DAY(3)), 80);
    // With a second sponsor each is of its own.
    for k in proteges {
        s.vouch(authors[1], k, DAY(4));
    }
    let heavy = s.post(authors[2], DAY(4));
    s.contradict(critic, heavy, DAY(4));
    assert_eq!(contested(&mut s, &[heavy], DAY(4)), 0);
}

#[test]
fn contradictions_of_reacts_are_left_out() {
    let (mut s, critic, authors) = crowd();
    let post = s.post(authors[0], DAY(2));
    for author in &authors[1..] {
        for _ in 0..5 {
            let other = s.post(authors[0], DAY(2));
            let react = s.contradict(*author, other, DAY(3));
            s.contradict(critic, react, DAY(4));
        }
    }
    s.contradict(critic, post, DAY(4));
    assert_eq!(contested(&mut s, &[post], DAY(4)), 1);
}

#[test]
fn what_nobody_with_weight_wrote_or_relied_on_is_left_out() {
    let (mut s, critic, authors) = crowd();
    let strangers: [KeyId; 30] = s.keys();
    let spam = contradicted(&mut s, critic, &strangers, 80, DAY(3));
    let post = s.post(authors[0], DAY(2));
    s.contradict(critic, post, DAY(3));
    assert_eq!(contested(&mut s, &[post], DAY(3)), 1);
    // Nor what a stranger or the critic itself relied on, or somebody with weight merely praised.
    let stranger = s.key();
    for p in &spam {
        s.used(stranger, *p, DAY(4));
        s.used(critic, *p, DAY(4));
        s.vote(authors[1], *p, 1, DAY(4));
        s.post_citing(authors[2], &[*p], DAY(4));
    }
    assert_eq!(contested(&mut s, &[post], DAY(4)), 1);
    // Two have used it all, so that its authors are nobody's creatures.
    for p in &spam {
        s.used(authors[1], *p, DAY(5));
        s.used(authors[2], *p, DAY(5));
    }
    assert_eq!(contested(&mut s, &[post], DAY(5)), 0);
}

#[test]
fn contradictions_of_whatever_age_and_verdict_are_counted() {
    let (mut s, critic, authors) = crowd();
    // Half are dated long ago, and half are rebutted.
    let (old, new) = (HEARD / 2, HEARD - HEARD / 2 - 1);
    contradicted(&mut s, critic, &authors[..9], old, Millis(0));
    for post in contradicted(&mut s, critic, &authors[9..18], new, DAY(3)) {
        let critique = s.contradict(critic, post, DAY(3));
        s.contradict(authors[18], critique, DAY(4));
    }
    let mut last = contradicted(&mut s, critic, &authors[18..], 1, DAY(2000));
    assert_eq!(contested(&mut s, &last, DAY(2000)), 1);
    last.extend(contradicted(&mut s, critic, &authors[18..], 1, DAY(2000)));
    assert_eq!(contested(&mut s, &last, DAY(2000)), 0);
}

#[test]
fn the_reader_is_never_spread_thin() {
    let (mut s, critic, authors) = crowd();
    let me = s.config.networks[0].profiles[0];
    let posts = contradicted(&mut s, critic, &authors, 76, DAY(3));
    for post in &posts {
        s.contradict(me, *post, DAY(4));
    }
    assert_eq!(contested(&mut s, &posts, DAY(4)), 76);
}

#[test]
fn two_who_are_spread_thin_are_heard_where_both_contradict() {
    let (mut s, critic, authors) = crowd();
    // 13 * 32 / 76 of 1 << 26 are 5.5: less than half of 13, and two of them more.
    let posts = contradicted(&mut s, critic, &authors[1..], 72, DAY(3));
    let alone = contradicted(&mut s, authors[0], &authors[1..], 71, DAY(3));
    s.contradict(authors[0], posts[0], DAY(3));
    assert_eq!(contested(&mut s, &posts, DAY(3)), 1);
    assert_eq!(contested(&mut s, &alone, DAY(3)), 0);
}
