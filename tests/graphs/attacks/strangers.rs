//! Many old keys that nobody vouches for, in a network whose reader trusts nobody yet.

use super::*;

/// The floor of a key of 40 days in a network that is quite cold.
const FLOOR: Fixed = Fixed(10_000_000);

/// A reader; a friend that has confirmed a post of each of so many keys; and strangers. All are 40 days old.
struct Newcomer {
    build: Build,
    me: KeyId,
    friend: KeyId,
    strangers: Vec<KeyId>,
    posts: Vec<EventId>,
}

impl Newcomer {
    fn new(posts: usize, strangers: usize) -> Newcomer {
        let mut b = Build::new();
        let (me, friend) = (b.profile(), b.key());
        let authors = some_keys(&mut b, posts);
        let posts: Vec<EventId> = authors.iter().map(|author| b.post(*author, DAY(1))).collect();
        for post in &posts {
            b.confirm(friend, *post, DAY(1));
        }
        let strangers = some_keys(&mut b, strangers);
        for k in &strangers {
            b.post(*k, DAY(1));
        }
        Newcomer { build: b, me, friend, strangers, posts }
    }

    /// Each stranger contradicts the next so many posts, and votes against one.
    fn attack(&mut self, each: usize) {
        let mut posts = self.posts.iter().cycle();
        for k in &self.strangers {
            for post in posts.by_ref().take(each) {
                self.build.contradict(*k, *post, DAY(40));
            }
            self.build.vote(*k, self.posts[0], -1, DAY(40));
        }
    }

    fn views(&self) -> Views {
        self.build.views(DAY(41))
    }
}

#[test]
fn before_the_first_vouch_each_stranger_contests_64_posts() {
    assert_eq!(heard(FLOOR, FLOOR), 64);
    for (strangers, each, contests) in
        [(1, 64, 64), (1, 65, 0), (3, 64, 192), (7, 64, 441), (300, 64, 441), (6, 441, 0)]
    {
        let mut newcomer = Newcomer::new(441, strangers);
        assert!(newcomer.views().posts.values().filter(|p| p.status == Status::Confirmed).count() == 441);
        newcomer.attack(each);
        assert_eq!(contested(&newcomer.views(), &newcomer.posts), contests, "{strangers}, {each} each");
    }
}

#[test]
fn after_the_first_vouch_they_change_nothing() {
    for (strangers, each) in [(7, 64), (300, 64), (30, 441)] {
        let mut newcomer = Newcomer::new(441, strangers);
        newcomer.build.vouch(newcomer.me, newcomer.friend, DAY(40));
        let calm = newcomer.views();
        newcomer.attack(each);
        let views = newcomer.views();
        assert_eq!(weight(&views, newcomer.strangers[0]), Fixed(FLOOR.0 * 2 / 16));
        for post in &newcomer.posts {
            assert_eq!(views.posts[post], calm.posts[post]);
            assert_eq!(calm.posts[post].status, Status::Confirmed);
        }
    }
}

#[test]
fn work_does_not_make_up_for_it() {
    // Half as much again of two sixteenths.
    let mut newcomer = Newcomer::new(20, 20);
    newcomer.build.vouch(newcomer.me, newcomer.friend, DAY(40));
    for event in &mut newcomer.build.events {
        event.work = 255;
    }
    newcomer.attack(20);
    let views = engine_too(&newcomer.build, DAY(41));
    assert!(newcomer.strangers.iter().all(|k| weight(&views, *k).0 <= 15 * FLOOR.0 / 10 * 2 / 16));
    assert_eq!(contested(&views, &newcomer.posts), 0);
}

#[test]
fn a_reader_who_has_been_silent_for_years_is_not_theirs_again() {
    let mut newcomer = Newcomer::new(20, 20);
    // It used two posts long ago: S is 0.85.
    for post in &newcomer.posts[..2] {
        newcomer.build.used(newcomer.me, *post, DAY(2));
    }
    newcomer.attack(20);
    let views = engine_too(&newcomer.build, DAY(4000));
    assert_eq!(weight(&views, newcomer.strangers[0]), Fixed(FLOOR.0 * 2 / 16));
    assert_eq!(contested(&views, &newcomer.posts), 0);
}
