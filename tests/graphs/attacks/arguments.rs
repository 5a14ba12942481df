//! Critics who do not give up, and accomplices who rebut whatever is said against one author.

use super::*;

/// An author whose post a critic contradicts, and a friend who rebuts each argument when it has been seen.
struct Quarrel {
    story: Story,
    post: EventId,
    critic: KeyId,
    friend: KeyId,
    day: u64,
}

impl Quarrel {
    fn new() -> Quarrel {
        let (mut story, _, [author, critic, friend]) = Story::vouched();
        let post = story.post(author, DAY(2));
        Quarrel { story, post, critic, friend, day: 2 }
    }

    /// The critic withdraws, contradicts the post once more, is seen, and is rebutted: whether it was contested.
    fn again(&mut self) -> bool {
        self.day += 2;
        let (s, at) = (&mut self.story, DAY(self.day));
        s.vote(self.critic, self.post, 0, before(at));
        let argument = s.contradict(self.critic, self.post, at);
        let contested = s.status(self.post, at) == Status::Contested;
        s.contradict(self.friend, argument, DAY(self.day + 1));
        assert_eq!(s.status(self.post, DAY(self.day + 1)), Status::Unverified);
        contested
    }

    /// So many reacts by the critic that say nothing of worth.
    fn chatter(&mut self, many: usize) {
        for _ in 0..many {
            self.story.renew(self.critic, self.post, DAY(self.day + 1));
        }
    }
}

#[test]
fn a_rebutted_critic_comes_back_four_times() {
    let mut quarrel = Quarrel::new();
    let contested: Vec<bool> = (0..8).map(|_| quarrel.again()).collect();
    assert_eq!(contested, [true, true, true, true, false, false, false, false]);
}

/// What remains: of a key's reacts on a post the 64 latest are considered, anywhere, and so arguments that were
/// used up are forgotten.
#[test]
fn for_each_four_arguments_more_a_critic_has_to_say_64_things() {
    let mut quarrel = Quarrel::new();
    let times = |quarrel: &mut Quarrel, many: usize| (0..many).filter(|_| quarrel.again()).count();
    assert_eq!(times(&mut quarrel, 6), 4);
    // Its four are the first of twelve. Until 64 others have come they are remembered.
    quarrel.chatter(64 - 12 - 2);
    assert_eq!(times(&mut quarrel, 1), 0);
    quarrel.chatter(64);
    assert_eq!(times(&mut quarrel, 6), 4);
}

/// An author's posts, each contradicted by a critic whom an accomplice rebuts.
struct Covered {
    build: Build,
    author: KeyId,
    critic: KeyId,
    accomplice: KeyId,
    honest: KeyId,
    posts: Vec<EventId>,
    rebuttals: Vec<EventId>,
}

impl Covered {
    fn new(posts: usize) -> Covered {
        let mut build = Build::new();
        let (_, trusted) = reader(&mut build, 4);
        let [author, critic, accomplice, honest] = trusted[..] else { unreachable!("four keys") };
        let posts: Vec<EventId> = (0..posts).map(|_| build.post(author, DAY(2))).collect();
        let critiques: Vec<EventId> = posts.iter().map(|p| build.contradict(critic, *p, DAY(3))).collect();
        assert_eq!(contested(&build.views(DAY(3)), &posts), posts.len());
        let rebuttals = critiques.iter().map(|c| build.contradict(accomplice, *c, DAY(3))).collect();
        Covered { build, author, critic, accomplice, honest, posts, rebuttals }
    }

    /// How many posts are contested, and the voices of the author, the critic and the accomplice.
    fn state(&self) -> (usize, [Fixed; 3]) {
        let views = self.build.views(DAY(3));
        let voices = [self.author, self.critic, self.accomplice].map(|k| views.authors[&k].voice);
        (contested(&views, &self.posts), voices)
    }
}

#[test]
fn an_accomplice_who_rebuts_everything_takes_half_of_a_critics_voice_until_it_is_answered() {
    // 15 << 26, less half of sat(0.6), sat(2.4) and sat(12) of it: 12.2, 9.7 and 8.1 of 1 << 26.
    for (posts, half) in [(1, 12 << 26), (4, 10 << 26), (20, 8 << 26)] {
        let mut covered = Covered::new(posts);
        assert_eq!(covered.state(), (0, [FULL, Fixed(half), FULL]));
        // One who answers turns it round: the posts are contested, and the accomplice pays.
        for rebuttal in covered.rebuttals.clone() {
            covered.build.contradict(covered.honest, rebuttal, DAY(3));
        }
        let lost = FULL.times(Fixed(600_000_000 * posts as i64).saturated());
        let author = Fixed((FULL - lost).0.max(0)).rounded();
        assert_eq!(covered.state(), (posts, [author, FULL, Fixed(half)]));
        engine_too(&covered.build, DAY(3));
    }
}

#[test]
fn an_accomplice_needs_half_of_the_critics_weight_in_one_class() {
    // Whom a key lets in, the weight of each, and whether all of them rebut a critic of 15 << 26.
    for (let_in, each, rebuts) in [(1, 13 << 26, true), (2, 13 << 25, false), (8, 13 << 23, false)] {
        let mut b = Build::new();
        let (_, trusted) = reader(&mut b, 5);
        let post = b.post(trusted[0], DAY(2));
        let critique = b.contradict(trusted[1], post, DAY(3));
        let puppets = some_keys(&mut b, let_in);
        for k in &puppets {
            b.vouch(trusted[2], *k, DAY(2));
            b.contradict(*k, critique, DAY(3));
        }
        let views = b.views(DAY(3));
        assert_eq!([weight(&views, trusted[1]), weight(&views, puppets[0])], [FULL, Fixed(each)]);
        assert_eq!(contested(&views, &[post]), usize::from(!rebuts));
    }
}
