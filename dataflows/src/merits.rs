//! Section 5, seen from a post: which part of the keys gives its author how much, for and against.
//!
//! The sums over posts are taken in `reputation`. Between the two they travel in the multiplicity, so
//! that one more react on one post changes one number.

use crate::aging::AgedPair;
use crate::contradictions::{Outcome, Verdict};
use crate::fixed::Fixed;
use crate::ids::{EventId, GroupId, KeyId};
use crate::incremental::Machine;
use crate::origins::Place;
use crate::policy::Config;
use crate::small::SmallMap;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A part of one of the two partitions of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Part {
    /// The keys of a group.
    Group(GroupId),
    /// The keys of a class.
    Class(GroupId),
}

fn parts(place: &Place) -> [Part; 2] {
    [Part::Group(place.group), Part::Class(place.class)]
}

/// For or against an author.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Side {
    /// Accepts, confirms, uses and cites: `earned`.
    For,
    /// Standing contradictions: `lost`.
    Against,
}

/// Something said about a post, to [`Merits`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OfPost {
    /// Its author.
    Author(KeyId, Place),
    /// The signals of a key with `weight >= W_MIN`.
    Pair(AgedPair, Place),
    /// A contradiction of it, judged by the first run.
    Verdict(Verdict),
}

/// What a post adds to some author's reputation; amounts are in the multiplicity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Merit {
    /// The largest value of a part's members on one post.
    Value(Side, Part),
    /// A member with such a signal; the multiplicity is the number of posts.
    Member(Side, Part, KeyId),
    /// The value of a standing contradiction by the author.
    Refuted,
}

/// What one key gives the author of one post.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Gift {
    pair: AgedPair,
    place: Place,
}

/// A post, as its merits are read.
#[derive(Default)]
struct Post {
    author: Option<(KeyId, Place)>,
    gifts: SmallMap<KeyId, Option<Box<Gift>>>,
    stands: SmallMap<KeyId, ()>,
    /// Values by side and part, kept where scanning all gifts would be slow.
    index: Option<Box<FxHashMap<(Side, Part), Vec<(KeyId, Fixed)>>>>,
}

/// Keys on one post beyond which their values are indexed by part.
const INDEXED: usize = 48;

impl Post {
    /// What a key gives on one side.
    fn value(&self, by: KeyId, side: Side, config: &Config) -> Option<(Fixed, Place)> {
        let gift = self.gifts.get(&by)?.as_ref()?;
        let policy = &config.policy;
        let value = match side {
            Side::For => {
                self.author.as_ref().filter(|(_, author)| !gift.place.partial_to(author))?;
                let cite = gift.pair.cite.map(|a| a.value(policy.base_cite));
                let positive = cite.is_some() || gift.pair.supports().next().is_some();
                positive.then(|| gift.pair.support(policy).max(cite.unwrap_or_default()))?
            }
            Side::Against => {
                self.stands.get(&by)?;
                let (aged, base) = gift.pair.contradiction(policy)?;
                aged.value(base)
            }
        };
        Some((value, gift.place))
    }

    /// The largest value of a part, leaving some keys out.
    fn largest_but(
        &self,
        side: Side,
        part: Part,
        left_out: &FxHashMap<KeyId, Credit>,
        config: &Config,
    ) -> Fixed {
        if let Some(index) = &self.index {
            let values = index.get(&(side, part)).into_iter().flatten();
            return values
                .filter(|(by, _)| !left_out.contains_key(by))
                .map(|(_, v)| *v)
                .max()
                .unwrap_or_default();
        }
        let others = self.gifts.iter().filter(|(by, _)| !left_out.contains_key(by));
        let values = others.filter_map(|(by, _)| self.value(*by, side, config));
        let of_part = values.filter(|(_, place)| parts(place).contains(&part));
        of_part.map(|(value, _)| value).max().unwrap_or_default()
    }

    fn reindex(&mut self, config: &Config) {
        let mut index: FxHashMap<(Side, Part), Vec<(KeyId, Fixed)>> = FxHashMap::default();
        if self.gifts.len() <= INDEXED {
            self.index = None;
            return;
        }
        for (by, _) in self.gifts.iter() {
            for side in [Side::For, Side::Against] {
                if let Some((value, place)) = self.value(*by, side, config) {
                    parts(&place)
                        .into_iter()
                        .for_each(|p| index.entry((side, p)).or_default().push((*by, value)));
                }
            }
        }
        self.index = Some(Box::new(index));
    }
}

/// What a tick touched of a post, as it was before.
#[derive(Default)]
struct Before {
    author: Option<KeyId>,
    /// All gifts, because the author's standing changed.
    all: bool,
    keys: FxHashMap<KeyId, Credit>,
}

/// What one key gives, resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Credit {
    sides: [Option<(Fixed, [Part; 2])>; 2],
    /// By whom a standing contradiction is, and what it is worth to them.
    refuted: Option<(KeyId, Fixed)>,
}

impl Credit {
    fn parts(&self) -> impl Iterator<Item = (Side, Part)> {
        SIDES
            .iter()
            .zip(&self.sides)
            .flat_map(|(side, given)| given.iter().flat_map(|g| g.1).map(|p| (*side, p)))
    }

    /// What it adds to a part, when the key is of it.
    fn value(&self, side: Side, part: Part) -> Option<Fixed> {
        let given = match side {
            Side::For => &self.sides[0],
            Side::Against => &self.sides[1],
        };
        given.as_ref().filter(|g| g.1.contains(&part)).map(|g| g.0)
    }
}

const SIDES: [Side; 2] = [Side::For, Side::Against];

/// The machine that reads merits off posts.
pub struct Merits {
    config: Arc<Config>,
    posts: FxHashMap<EventId, Post>,
    touched: FxHashMap<EventId, Before>,
}

impl Merits {
    /// With no posts.
    pub fn new(config: Arc<Config>) -> Merits {
        Merits { config, posts: FxHashMap::default(), touched: FxHashMap::default() }
    }

    fn credit(&self, post: &Post, by: KeyId) -> Credit {
        let sides = SIDES.map(|side| {
            let (value, place) = post.value(by, side, &self.config)?;
            Some((value, parts(&place)))
        });
        let refuted = sides[1].and_then(|(value, ..)| {
            let (_, author) = post.author.as_ref()?;
            let gift = post.gifts.get(&by)?.as_ref()?;
            let counts = author.heavy && !author.partial_to(&gift.place);
            counts.then_some((by, value))
        });
        Credit { sides, refuted }
    }

    /// Remembers what a key gave before this tick.
    fn touch(&mut self, on: EventId, by: KeyId) {
        let post = self.posts.entry(on).or_default();
        let author = post.author.as_ref().map(|a| a.0);
        let before = self.touched.entry(on).or_default();
        before.author = before.author.or(author);
        if !before.keys.contains_key(&by) {
            let credit = self.credit(&self.posts[&on], by);
            self.touched.entry(on).or_default().keys.insert(by, credit);
        }
    }

    fn touch_all(&mut self, on: EventId) {
        let keys: Vec<KeyId> = self.posts.entry(on).or_default().gifts.iter().map(|(k, _)| *k).collect();
        keys.into_iter().for_each(|by| self.touch(on, by));
        self.touched.entry(on).or_default().all = true;
    }

    /// Moves the touched keys of a post to their new places in its index.
    fn reindex(&mut self, on: EventId, before: &Before, after: &FxHashMap<KeyId, Credit>) {
        let Some(post) = self.posts.get_mut(&on) else {
            return;
        };
        if before.all || post.index.is_none() || post.gifts.len() <= INDEXED {
            post.reindex(&self.config);
            return;
        }
        let Some(index) = &mut post.index else { return };
        for (by, old) in &before.keys {
            for (at, side) in SIDES.iter().enumerate() {
                for part in old.sides[at].iter().flat_map(|s| s.1) {
                    if let Some(values) = index.get_mut(&(*side, part)) {
                        values.retain(|(k, _)| k != by);
                        if values.is_empty() {
                            index.remove(&(*side, part));
                        }
                    }
                }
                if let Some((value, parts)) = after.get(by).and_then(|c| c.sides[at]) {
                    parts.iter().for_each(|p| index.entry((*side, *p)).or_default().push((*by, value)));
                }
            }
        }
    }
}

impl Machine for Merits {
    type Change = (EventId, OfPost);
    type View = (KeyId, Merit);

    fn apply(&mut self, (on, told): (EventId, OfPost), diff: i64) {
        let here = diff > 0;
        match told {
            OfPost::Author(key, place) => {
                self.touch_all(on);
                self.touched.entry(on).or_default().author = Some(key);
                self.posts.entry(on).or_default().author = here.then_some((key, place));
            }
            OfPost::Pair(pair, place) => {
                let by = pair.pair.by;
                self.touch(on, by);
                let post = self.posts.entry(on).or_default();
                if here {
                    post.gifts.insert(by, Some(Box::new(Gift { pair, place })));
                } else {
                    post.gifts.remove(&by);
                }
            }
            OfPost::Verdict(verdict) => {
                self.touch(on, verdict.by);
                let post = self.posts.entry(on).or_default();
                if here && verdict.outcome == Outcome::Stands {
                    post.stands.insert(verdict.by, ());
                } else if verdict.outcome == Outcome::Stands {
                    post.stands.remove(&verdict.by);
                }
            }
        }
    }

    fn settle(&mut self, out: &mut Vec<((KeyId, Merit), i64)>) {
        for (on, before) in std::mem::take(&mut self.touched) {
            let post = &self.posts[&on];
            let after: FxHashMap<KeyId, Credit> =
                before.keys.keys().map(|by| (*by, self.credit(post, *by))).collect();
            let Some(author) = before.author.or(post.author.as_ref().map(|a| a.0)) else {
                continue;
            };
            // The keys not touched give what they gave; so each part's largest, before and after, is
            // theirs or that of a touched key.
            let touched = || before.keys.values().chain(after.values());
            let parts: FxHashSet<(Side, Part)> = touched().flat_map(Credit::parts).collect();
            for (side, part) in parts {
                let others = post.largest_but(side, part, &before.keys, &self.config);
                let largest = |credits: &FxHashMap<KeyId, Credit>| {
                    credits.values().filter_map(|c| c.value(side, part)).fold(others, Fixed::max)
                };
                let change = largest(&after) - largest(&before.keys);
                out.push(((author, Merit::Value(side, part)), change.0));
            }
            for (by, old) in &before.keys {
                members(author, *by, old, -1, out);
                members(author, *by, &after[by], 1, out);
            }
            self.reindex(on, &before, &after);
            let post = &self.posts[&on];
            if post.author.is_none() && post.gifts.is_empty() && post.stands.is_empty() {
                self.posts.remove(&on);
            }
        }
    }
}

/// Puts out what a key's credit means besides the values of its parts.
fn members(author: KeyId, by: KeyId, credit: &Credit, diff: i64, out: &mut Vec<((KeyId, Merit), i64)>) {
    for (side, given) in SIDES.iter().zip(&credit.sides) {
        if let Some((_, parts)) = given {
            parts.iter().for_each(|p| out.push(((author, Merit::Member(*side, *p, by)), diff)));
        }
    }
    if let Some((key, value)) = credit.refuted {
        out.push(((key, Merit::Refuted), value.0 * diff));
    }
}
