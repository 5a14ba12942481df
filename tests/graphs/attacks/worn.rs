//! Critics who are worn down: those who clear away spam, and those who defend others.

use super::*;

/// The weight of each of twenty keys that the reader vouches for: 66 of their contradictions are heard against
/// each other.
const WEIGHT: Fixed = Fixed(13 << 26);

/// When all that is said is said.
const SAID: u64 = 2003;

/// A moderator who contradicts a wrong post, and all the spam that it is baited with.
struct Bait {
    build: Build,
    trusted: Vec<KeyId>,
    wrong: EventId,
}

impl Bait {
    fn new() -> Bait {
        let mut build = Build::new();
        let (_, trusted) = reader(&mut build, 20);
        let wrong = build.post(trusted[1], DAY(SAID));
        build.contradict(trusted[0], wrong, DAY(SAID));
        let views = build.views(DAY(SAID));
        assert_eq!((weight(&views, trusted[0]), heard(WEIGHT, WEIGHT)), (WEIGHT, 66));
        Bait { build, trusted, wrong }
    }

    /// A post that the moderator contradicts.
    fn spam(&mut self, by: KeyId) -> EventId {
        let spam = self.build.post(by, DAY(SAID));
        self.build.contradict(self.trusted[0], spam, DAY(SAID));
        spam
    }

    /// After how many spam posts of strangers whom nobody vouches for, each used by these at that time, the
    /// moderator is no longer heard; none up to 100.
    fn needed(mut self, accomplices: &[KeyId], at: Millis) -> Option<usize> {
        (1..=100).find(|_| {
            let stranger = self.build.key();
            let spam = self.spam(stranger);
            for k in accomplices {
                let used = self.build.used(*k, spam, at);
                self.build.received(used, DAY(SAID));
            }
            !self.heard()
        })
    }

    fn heard(&self) -> bool {
        self.build.views(DAY(SAID)).posts[&self.wrong].status == Status::Contested
    }
}

#[test]
fn spam_of_strangers_wears_no_moderator_down() {
    let mut bait = Bait::new();
    for _ in 0..1000 {
        let stranger = bait.build.key();
        bait.spam(stranger);
    }
    assert!(bait.heard());
}

#[test]
fn spam_of_those_whom_one_key_lets_in_wears_no_moderator_down() {
    let mut bait = Bait::new();
    let spammers = some_keys(&mut bait.build, 50);
    for spammer in &spammers {
        bait.build.vouch(bait.trusted[2], *spammer, DAY(2));
        for _ in 0..4 {
            bait.spam(*spammer);
        }
    }
    let views = engine_too(&bait.build, DAY(SAID));
    assert!(weight(&views, spammers[0]).0 > W_MIN);
    assert_eq!(contested(&views, &[bait.wrong]), 1);
}

#[test]
fn an_accomplice_who_relies_on_the_spam_wears_no_moderator_down() {
    let bait = Bait::new();
    let accomplice = bait.trusted[2];
    assert_eq!(bait.needed(&[accomplice], DAY(SAID)), None);
}

#[test]
fn two_who_rely_on_the_same_spam_need_66_of_it() {
    let bait = Bait::new();
    let accomplices = bait.trusted[2..4].to_vec();
    assert_eq!(bait.needed(&accomplices, DAY(SAID)), Some(66));
}

/// What remains: spam whose author has no class, since the use that backs it has decayed, or comes from where
/// classes end, counts for itself. The reader ends it by distrusting the accomplice.
#[test]
fn one_accomplice_whose_uses_give_no_class_needs_66_of_it() {
    let bait = Bait::new();
    let accomplice = bait.trusted[2];
    assert_eq!(bait.needed(&[accomplice], Millis(0)), Some(66));

    let at_the_rim = || {
        let mut bait = Bait::new();
        let chain = [&[bait.trusted[2]][..], &some_keys(&mut bait.build, 3)].concat();
        for pair in chain.windows(2) {
            bait.build.vouch(pair[0], pair[1], DAY(2));
        }
        (bait, chain[2], chain[3])
    };
    let (bait, inner, _) = at_the_rim();
    assert_eq!(bait.needed(&[inner], DAY(SAID)), None);
    let (bait, _, outer) = at_the_rim();
    assert_eq!(bait.needed(&[outer], DAY(SAID)), Some(66));
    let (mut bait, _, outer) = at_the_rim();
    bait.build.config.networks[0].distrusted.push(outer);
    assert_eq!(bait.needed(&[outer], DAY(SAID)), None);
}

/// How a defender is accused of what.
#[derive(Clone, Copy, PartialEq)]
enum Arguing {
    /// By reacts with evidence.
    Evidence,
    /// By replies beside bare reacts.
    Replies,
}

/// So many accusers contradict so many posts of a client; a defender rebuts each argument, and contradicts a
/// wrong post. The client's posts, and that one.
fn defence(accusers: usize, posts: usize, arguing: Arguing) -> (Build, KeyId, Vec<EventId>, EventId) {
    let mut b = Build::new();
    let (_, trusted) = reader(&mut b, 20);
    let (defender, client) = (trusted[0], trusted[1]);
    let posts: Vec<EventId> = (0..posts).map(|_| b.post(client, DAY(SAID))).collect();
    for accuser in &trusted[2..2 + accusers] {
        for post in &posts {
            let argument = match arguing {
                Arguing::Evidence => b.contradict(*accuser, *post, DAY(SAID)),
                Arguing::Replies => {
                    b.vote(*accuser, *post, -1, DAY(SAID));
                    b.reply(*accuser, *post, *post, DAY(SAID))
                }
            };
            b.contradict(defender, argument, DAY(SAID));
        }
    }
    let wrong = b.post(trusted[19], DAY(SAID));
    b.contradict(defender, wrong, DAY(SAID));
    (b, trusted[2], posts, wrong)
}

#[test]
fn accusers_who_are_rebutted_wear_no_defender_down() {
    for (accusers, posts) in [(3, 10), (3, 100), (17, 40)] {
        let (b, accuser, accused, wrong) = defence(accusers, posts, Arguing::Evidence);
        let views = b.views(DAY(SAID));
        assert_eq!((contested(&views, &accused), contested(&views, &[wrong])), (0, 1));
        // They pay, and no more than half of their weight.
        let pays = WEIGHT.times(Fixed(600_000_000 * posts as i64).saturated()).0 / 2;
        let voice = views.authors[&accuser].voice;
        assert_eq!(voice, Fixed(WEIGHT.0 - pays).rounded());
        assert!(2 * voice.0 >= WEIGHT.0);
    }
}

#[test]
fn accusers_who_argue_by_replies_need_as_many_classes_as_four_of_each_spread_a_defender_thin() {
    for (accusers, posts, contests) in [(3, 100, 0), (16, 40, 0), (17, 3, 0), (17, 4, 4), (17, 40, 40)] {
        let (b, _, accused, wrong) = defence(accusers, posts, Arguing::Replies);
        let views = b.views(DAY(SAID));
        assert_eq!(contested(&views, &accused), contests, "{accusers} accusers, {posts} posts");
        assert_eq!(contested(&views, &[wrong]), usize::from(contests == 0));
    }
    let (b, _, accused, _) = defence(17, 4, Arguing::Replies);
    assert_eq!(contested(&engine_too(&b, DAY(SAID)), &accused), 4);
}
