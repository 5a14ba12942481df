//! The stories of the repository's own vectors.

use wats_model::facts::{Evidence, React, Reply};
use wats_model::ids::{BlobId, EventId, KeyId, Millis, OwnerId};
use wats_oracle::build::{Build, react};

const DAY: fn(u64) -> Millis = Millis::days;

/// A story: its name, what was said, and when it is looked at.
pub(crate) type Told = (&'static str, Build, Millis);

pub(crate) fn stories() -> Vec<Told> {
    vec![
        ("strangers", strangers(), DAY(40)),
        ("crowd_of_one_sponsor", crowd(), DAY(10)),
        ("false_owners", false_owners(), DAY(10)),
        ("own_cause", own_cause(), DAY(10)),
        ("circle", circle(), DAY(10)),
        ("four_arguments", four_arguments(), DAY(20)),
        ("outlived", outlived(), DAY(380)),
        ("discredited", discredited(), DAY(30)),
        ("floors", floors(), DAY(25)),
        ("artifacts", artifacts(), DAY(12)),
        ("thread_and_digests", thread_and_digests(), DAY(12)),
        ("late_and_early_copies", late_and_early(), DAY(190)),
        ("replies_and_citations", replies_and_citations(), DAY(20)),
        ("reasons", reasons(), DAY(20)),
        ("refuted_accusers", refuted_accusers(), DAY(10)),
        ("spread_thin", spread_thin(), DAY(10)),
        ("distrusted", distrusted(), DAY(50)),
        ("first_vouch", first_vouch(), DAY(50)),
        ("silent_reader", silent_reader(), DAY(2000)),
        ("equal_answers", equal_answers(), DAY(10)),
    ]
}

/// A reader, and keys that it vouches for.
fn vouched<const N: usize>() -> (Build, KeyId, [KeyId; N]) {
    let mut b = Build::new();
    let me = b.profile();
    let keys = std::array::from_fn(|_| b.key());
    keys.iter().for_each(|k| {
        b.vouch(me, *k, DAY(1));
    });
    (b, me, keys)
}

/// Strangers vouch for each other and confirm each other's posts.
fn strangers() -> Build {
    let (mut b, _, _) = vouched::<3>();
    let clique: [KeyId; 4] = std::array::from_fn(|_| b.key());
    let post = b.post(clique[0], DAY(2));
    for k in &clique[1..] {
        b.vouch(*k, clique[0], DAY(2));
        b.vouch(clique[0], *k, DAY(2));
        b.confirm(*k, post, DAY(3));
        b.used(*k, post, DAY(3));
    }
    b
}

/// Ten keys, brought in by one or by two, confirm a post.
fn crowd() -> Build {
    let (mut b, _, [author, one, two]) = vouched();
    let post = b.post(author, DAY(2));
    for n in 0..10 {
        let k = b.key();
        b.vouch(one, k, DAY(3));
        if n % 4 == 0 {
            b.vouch(two, k, DAY(3));
        }
        b.confirm(k, post, DAY(4));
        b.vote(k, post, 1, DAY(5));
    }
    b
}

/// Puppets claim the owners of two keys that confirm, and an author claims its critic's.
fn false_owners() -> Build {
    let (mut b, _, [author, one, two, sponsor, critic]) = vouched();
    let post = b.post(author, DAY(2));
    for (k, owner) in [(one, 1), (two, 2), (critic, 3)] {
        b.announce(k, Some(OwnerId(owner)), DAY(2));
    }
    b.confirm(one, post, DAY(3));
    b.confirm(two, post, DAY(3));
    for owner in [1, 2] {
        let puppet = b.key();
        b.vouch(sponsor, puppet, DAY(4));
        b.announce(puppet, Some(OwnerId(owner)), DAY(5));
        b.confirm(puppet, post, DAY(6));
    }
    let other = b.post(author, DAY(6));
    b.contradict(critic, other, DAY(7));
    b.announce(author, Some(OwnerId(3)), DAY(8));
    b
}

/// A critique that its target's author rebuts in vain, and one that a third party rebuts.
fn own_cause() -> Build {
    let (mut b, _, [author, critic, friend]) = vouched();
    let posts = [2, 3].map(|day| b.post(author, DAY(day)));
    let critiques = posts.map(|post| b.contradict(critic, post, DAY(4)));
    b.contradict(author, critiques[0], DAY(5));
    let rebuttal = b.contradict(friend, critiques[1], DAY(5));
    b.contradict(critic, rebuttal, DAY(6));
    b.used(friend, posts[1], DAY(6));
    b
}

/// Three argue in a circle.
fn circle() -> Build {
    let (mut b, _, keys @ [_, _, _]) = vouched();
    let posts = keys.map(|k| b.post(k, DAY(2)));
    for n in 0..3 {
        let (value, refs) = (Some(-1), [posts[n]].into());
        b.react(keys[n], React { value, refs, ..react(posts[(n + 1) % 3]) }, DAY(3));
    }
    b
}

/// Six contradictions, four of which can be arguments.
fn four_arguments() -> Build {
    let (mut b, _, [author, critic, friend]) = vouched();
    let post = b.post(author, DAY(2));
    for day in 3..9 {
        let critique = b.contradict(critic, post, DAY(day));
        b.reply(critic, post, post, DAY(day));
        if day < 7 {
            b.contradict(friend, critique, DAY(10));
        }
    }
    b
}

/// A contradiction that has decayed, and support that came later or earlier, by whom has at least half of the
/// critic's voice or less.
fn outlived() -> Build {
    let (mut b, _, [author, critic, friend]) = vouched();
    let proteges: [KeyId; 4] = std::array::from_fn(|_| b.key());
    for k in proteges {
        b.vouch(friend, k, DAY(1));
    }
    for (by, day) in [(friend, 2), (friend, 4), (proteges[0], 4)] {
        let post = b.post(author, DAY(1));
        b.contradict(critic, post, DAY(3));
        b.used(by, post, DAY(day));
    }
    b
}

/// A key that two others refute everywhere has no veto.
fn discredited() -> Build {
    let (mut b, _, [author, critic, one, two]) = vouched();
    let post = b.post(author, DAY(2));
    b.contradict(critic, post, DAY(3));
    for day in 4..14 {
        let wrong = b.post(critic, DAY(day));
        b.contradict(one, wrong, DAY(day));
        b.contradict(two, wrong, DAY(day));
    }
    b
}

/// A cold start: keys of several ages.
fn floors() -> Build {
    let mut b = Build::new();
    let me = b.profile();
    b.announce(me, None, DAY(1));
    let keys: [KeyId; 5] = std::array::from_fn(|_| b.key());
    let posts: Vec<EventId> =
        keys.iter().zip([1, 5, 10, 18, 20]).map(|(k, day)| b.post(*k, DAY(day))).collect();
    for (n, k) in keys.iter().enumerate() {
        b.confirm(*k, posts[(n + 1) % 5], DAY(24));
    }
    b
}

/// Evidence that the node holds, and evidence that it does not.
fn artifacts() -> Build {
    let (mut b, me, [author, friend, critic]) = vouched();
    b.blobs.push(BlobId(0));
    let posts = [2, 3, 4].map(|day| b.post(author, DAY(day)));
    for (blob, by, post, value) in [(0, friend, 0, 1), (1, friend, 1, 1), (0, critic, 2, -1), (0, me, 1, 1)] {
        let (blob, value) = (BlobId(blob), Some(value));
        let (evidence, blobs) = (Evidence::Blob(blob), [blob].into());
        b.react(by, React { value, evidence, blobs, ..react(posts[post]) }, DAY(5));
    }
    b
}

/// An accepted and confirmed answer, a digest that covers its thread, one that does not, and another
/// that supersedes.
fn thread_and_digests() -> Build {
    let (mut b, _, [asker, helper, one, two, curator]) = vouched();
    let asks = [2, 3].map(|day| b.ask(asker, DAY(day)));
    let answers = asks.map(|ask| b.answer(helper, ask, DAY(4)));
    for (answer, checkers) in answers.into_iter().zip([&[one][..], &[one, two, curator]]) {
        b.accept(asker, answer, DAY(5));
        checkers.iter().for_each(|k| {
            b.confirm(*k, answer, DAY(5));
        });
    }
    let digests = [6, 7, 8].map(|day| b.digest(curator, &answers, DAY(day)));
    b.post_mut(digests[2]).supersedes = Some(digests[0]);
    b.post_mut(digests[1]).reply = Some(Reply { parent: asks[0], thread: asks[0] });
    for digest in digests {
        b.used(one, digest, DAY(9));
        b.used(two, digest, DAY(9));
    }
    b
}

/// Events that came late, or claim to come from the future.
fn late_and_early() -> Build {
    let (mut b, _, [author, friend, other]) = vouched();
    let post = b.post(author, DAY(2));
    let used = b.used(friend, post, DAY(3));
    b.received(used, DAY(183));
    let used = b.used(other, post, DAY(180).after(Millis(600_000)));
    b.received(used, DAY(180));
    let answer = b.reply(friend, EventId(900), EventId(900), DAY(4));
    b.confirm(other, answer, DAY(5));
    b
}

/// Replies, some of which name their parent in `refs` too, and citations.
fn replies_and_citations() -> Build {
    let (mut b, _, [author, one, two, three]) = vouched();
    let posts = [2, 3].map(|day| b.post(author, DAY(day)));
    for day in 4..8 {
        b.reply(one, posts[0], posts[0], DAY(day));
    }
    let thanks = b.reply(two, posts[0], posts[0], DAY(5));
    b.post_mut(thanks).refs = posts.into();
    b.reply(three, posts[0], posts[0], DAY(5));
    b.post_citing(three, &posts, DAY(16));
    b
}

/// Bare reacts -1, and what their critics say before, beside and after them.
fn reasons() -> Build {
    let (mut b, _, [author, critic]) = vouched();
    let hour = Millis::HOUR.0;
    let at = |millis: u64| DAY(3).after(Millis(millis));
    for (react, reply) in [(hour, 0), (hour + 1, 0), (0, hour), (0, hour + 1)] {
        let post = b.post(author, DAY(2));
        b.vote(critic, post, -1, at(react));
        b.reply(critic, post, post, at(reply));
    }
    // Later words, named by a react; and words beside a react that was taken back.
    let posts = [2, 2].map(|day| b.post(author, DAY(day)));
    b.vote(critic, posts[0], -1, DAY(3));
    let later = b.reply(critic, posts[0], posts[0], DAY(10));
    b.react(critic, React { value: Some(-1), refs: [later].into(), ..react(posts[0]) }, DAY(11));
    b.vote(critic, posts[1], -1, DAY(3));
    b.reply(critic, posts[1], posts[1], DAY(3));
    b.vote(critic, posts[1], 0, DAY(4));
    b.vote(critic, posts[1], -1, DAY(5));
    b
}

/// Two accuse critics, and one of them is refuted.
fn refuted_accusers() -> Build {
    let (mut b, _, [author, critic, accuser, other, friend]) = vouched();
    for day in 2..6 {
        let post = b.post(author, DAY(day));
        let critique = b.contradict(critic, post, DAY(6));
        let accusation = b.contradict(if day < 4 { accuser } else { other }, critique, DAY(7));
        if day < 4 {
            b.contradict(friend, accusation, DAY(8));
        }
    }
    b
}

/// Of twenty keys two contradict 67 posts that count: one posts of many authors, and nobody hears it; the other
/// posts of few, reacts, and what strangers wrote.
fn spread_thin() -> Build {
    let (mut b, _, keys) = vouched::<20>();
    let [one, other, authors @ ..] = keys;
    for n in 0..67 {
        let post = b.post(authors[n % 18], DAY(2));
        let critique = b.contradict(one, post, DAY(3));
        let stranger = b.key();
        let target = match n % 3 {
            0 => b.post(authors[0], DAY(2)),
            1 => critique,
            _ => b.post(stranger, DAY(2)),
        };
        b.contradict(other, target, DAY(4));
        if n % 6 == 5 {
            b.used(authors[1], target, DAY(5));
        }
    }
    b
}

/// A key that the reader vouches for and does not hear, whom it vouches for in turn, and a stranger.
fn distrusted() -> Build {
    let (mut b, me, [friend, author]) = vouched();
    let [outcast, protege, stranger]: [KeyId; 3] = std::array::from_fn(|_| b.key());
    b.config.networks[0].distrusted.push(outcast);
    for (from, to) in [(me, outcast), (friend, outcast), (outcast, protege), (friend, protege)] {
        b.vouch(from, to, DAY(2));
    }
    let posts = [author, outcast, stranger].map(|k| b.post(k, DAY(3)));
    b.contradict(outcast, posts[0], DAY(4));
    b.used(me, posts[1], DAY(4));
    b.used(outcast, posts[2], DAY(4));
    b
}

/// Old strangers, in a network whose reader has vouched once.
fn first_vouch() -> Build {
    let (mut b, _, [friend]) = vouched();
    let authors: [KeyId; 2] = std::array::from_fn(|_| b.key());
    let posts = authors.map(|k| b.post(k, DAY(2)));
    for post in posts {
        b.used(friend, post, DAY(3));
    }
    for _ in 0..5 {
        let stranger = b.key();
        b.post_citing(stranger, &posts, DAY(4));
        b.contradict(stranger, posts[0], DAY(40));
        b.vote(stranger, posts[1], -1, DAY(40));
    }
    b
}

/// A reader who relied on others long ago.
fn silent_reader() -> Build {
    let mut b = Build::new();
    let me = b.profile();
    let keys: [KeyId; 4] = std::array::from_fn(|_| b.key());
    let posts = keys.map(|k| b.post(k, DAY(1)));
    for post in &posts[..2] {
        b.used(me, *post, DAY(2));
    }
    b.contradict(keys[3], posts[0], DAY(1999));
    b.used(keys[3], posts[2], DAY(1999));
    b
}

/// Answers that are as good as each other: the later ones claim to be older.
fn equal_answers() -> Build {
    let (mut b, _, [asker, one, two, helper, copier, other]) = vouched();
    let ask = b.ask(asker, DAY(2));
    for (by, claimed, received) in [(helper, 4, 4), (copier, 3, 5), (other, 2, 6)] {
        let answer = b.answer(by, ask, DAY(claimed));
        b.received(answer, DAY(received));
        b.confirm(one, answer, DAY(7));
        b.confirm(two, answer, DAY(7));
    }
    b
}
