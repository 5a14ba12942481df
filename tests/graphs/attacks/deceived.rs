//! One key that the reader trusts is deceived, and vouches for an attacker, who contradicts all that others have
//! confirmed.

use super::*;

/// When posts are confirmed, attacked, and looked at: long enough after 1970.
const CONFIRMED: u64 = 2003;
const ATTACKED: u64 = 2004;
const SEEN: u64 = 2005;

/// The light authors' weight is less.
const LIGHT: Fixed = Fixed(2 * W_MIN);

/// A voucher whom the reader trusts, and posts of others.
#[derive(Clone)]
struct Network {
    build: Build,
    /// Whom the voucher vouches for: each has as much of its trust.
    let_in: Vec<KeyId>,
    /// Many, each of a class of its own.
    authors: Vec<KeyId>,
    /// A post by each, confirmed by a key that the reader trusts.
    posts: Vec<EventId>,
}

impl Network {
    fn new(let_in: usize) -> Network {
        let mut b = Build::new();
        let (_, trusted) = reader(&mut b, 4);
        let [one, two, checker, voucher] = trusted[..] else { unreachable!("four keys") };
        let authors = some_keys(&mut b, 320);
        for author in &authors {
            b.vouch(one, *author, DAY(2));
            b.vouch(two, *author, DAY(2));
        }
        let posts = posts_by(&mut b, &authors);
        for post in &posts {
            b.confirm(checker, *post, DAY(CONFIRMED));
        }
        let let_in = some_keys(&mut b, let_in);
        for k in &let_in {
            b.vouch(voucher, *k, DAY(2));
        }
        let network = Network { build: b, let_in, authors, posts };
        let views = network.views();
        for (post, author) in network.posts.iter().zip(&network.authors) {
            assert_eq!(views.posts[post].status, Status::Confirmed);
            assert_eq!(views.authors[author].class, GroupId::Alone(*author));
            assert!(weight(&views, *author) < LIGHT);
        }
        network
    }

    fn views(&self) -> Views {
        self.build.views(DAY(SEEN))
    }

    /// How many contradictions by this key are heard.
    fn worth(&self, key: KeyId) -> usize {
        heard(weight(&self.views(), key), LIGHT)
    }

    /// After each attacker has contradicted the next so many of the posts, by dated reacts.
    fn attacked(&self, posts: &[EventId], by: &[(KeyId, usize)], dated: Millis) -> Build {
        let mut b = self.build.clone();
        let mut posts = posts.iter();
        for (attacker, many) in by {
            for post in posts.by_ref().take(*many) {
                let react = b.contradict(*attacker, *post, dated);
                b.received(react, DAY(ATTACKED));
            }
        }
        b
    }

    /// How many of the posts are contested then.
    fn contested(&self, posts: &[EventId], by: &[(KeyId, usize)], dated: Millis) -> usize {
        contested(&self.attacked(posts, by, dated).views(DAY(SEEN)), posts)
    }
}

/// A post by each.
fn posts_by(b: &mut Build, authors: &[KeyId]) -> Vec<EventId> {
    authors.iter().map(|author| b.post(*author, DAY(CONFIRMED))).collect()
}

#[test]
fn an_attacker_contests_no_more_than_its_trust_is_worth() {
    // Of whom the voucher let in, the trust of each, and how many of 320 confirmed posts one contests at most.
    for (let_in, trust, most) in
        [(20, 11 << 22, 296), (40, 11 << 21, 148), (80, 11 << 20, 74), (160, 11 << 19, 37)]
    {
        let network = Network::new(let_in);
        let attacker = network.let_in[0];
        assert_eq!((weight(&network.views(), attacker), network.worth(attacker)), (Fixed(trust), most));
        // 32 x trust / W_MIN, but for rounding.
        assert_eq!(most as i64, 32 * trust / HEARD_FROM);
        for (tried, contested) in [(16, 16), (32, 32), (most, most), (most + 1, 0), (320, 0)] {
            let by = [(attacker, tried)];
            assert_eq!(
                network.contested(&network.posts, &by, DAY(ATTACKED)),
                contested,
                "{tried} of {let_in}"
            );
        }
    }
    let network = Network::new(160);
    let build = network.attacked(&network.posts, &[(network.let_in[0], 37)], DAY(ATTACKED));
    assert_eq!(contested(&engine_too(&build, DAY(SEEN)), &network.posts), 37);
}

#[test]
fn trust_that_is_split_among_keys_contests_no_more() {
    let whole = Network::new(20);
    let attacker = whole.let_in[0];
    // What the attacker passes on, to so many: 17 / 20 of its trust, rounded for each.
    for (puppets, trust, most) in [(1, 9 << 22, 242), (2, 9 << 21, 121), (4, 9 << 20, 60), (6, 13 << 19, 43)]
    {
        let mut network = whole.clone();
        let keys = some_keys(&mut network.build, puppets);
        for k in &keys {
            network.build.vouch(attacker, *k, DAY(CONFIRMED));
        }
        let views = network.views();
        assert!(keys.iter().all(|k| weight(&views, *k) == Fixed(trust) && network.worth(*k) == most));
        let together = |each: usize| {
            let by: Vec<(KeyId, usize)> = keys.iter().map(|k| (*k, each)).collect();
            network.contested(&network.posts, &by, DAY(ATTACKED))
        };
        assert_eq!((together(most), together(most + 1)), (puppets * most, 0));
        // Their sum is what was passed on, and no more than rounding makes of it.
        let sum = trust * puppets as i64;
        assert!((puppets * most) as i64 <= 32 * sum / HEARD_FROM);
        assert!(sum <= weight(&views, attacker).0 * 17 / 20 * 17 / 16);
    }
}

#[test]
fn an_attacker_of_less_than_the_weight_that_counts_contests_nothing() {
    let network = Network::new(240);
    let attacker = network.let_in[0];
    assert!(weight(&network.views(), attacker).0 < W_MIN);
    // Nor do all of them together: they are one class.
    let all: Vec<(KeyId, usize)> = network.let_in.iter().map(|k| (*k, 1)).collect();
    assert_eq!(network.contested(&network.posts, &all, DAY(ATTACKED)), 0);
}

#[test]
fn of_few_authors_an_attacker_contests_all_posts_but_of_no_more_authors() {
    let mut network = Network::new(160);
    let attacker = network.let_in[0];
    // Four are counted of each: 37 are nine authors' and no ten's.
    for (authors, all) in [(1, true), (9, true), (10, false)] {
        let of = network.authors[..authors].to_vec();
        let posts: Vec<EventId> = (0..32).flat_map(|_| posts_by(&mut network.build, &of)).collect();
        let contested = network.contested(&posts, &[(attacker, posts.len())], DAY(ATTACKED));
        assert_eq!(contested, if all { 32 * authors } else { 0 });
    }
}

#[test]
fn to_date_contradictions_to_1970_contests_no_more() {
    let mut network = Network::new(160);
    let (attacker, authors) = (network.let_in[0], network.authors.clone());
    let bare = posts_by(&mut network.build, &authors);
    for (tried, contested) in [(37, 37), (38, 0), (320, 0)] {
        let by = [(attacker, tried)];
        assert_eq!(network.contested(&bare, &by, Millis(0)), contested);
        // What somebody of as much voice has confirmed since has outlived them.
        assert_eq!(network.contested(&network.posts, &by, Millis(0)), 0);
    }
    // They are counted together with those of today.
    network.build = network.attacked(&bare, &[(attacker, 18)], Millis(0));
    let of_today_first = [&network.posts[18..], &bare[..18]].concat();
    for (tried, contested) in [(19, 18 + 19), (20, 0)] {
        assert_eq!(network.contested(&of_today_first, &[(attacker, tried)], DAY(ATTACKED)), contested);
    }
}
