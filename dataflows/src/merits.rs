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
use rustc_hash::FxHashMap;
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
    index: Option<Box<Index>>,
}

/// The largest value of each part, before a tick and after it.
type Largest = FxHashMap<(Side, Part), [Fixed; 2]>;

/// Values by side and part.
type Index = FxHashMap<(Side, Part), Vec<(KeyId, Fixed)>>;

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

    /// Raises each part's values to the largest that the keys not in `but` give it.
    fn raise(&self, parts_of: &mut Largest, but: &SmallMap<KeyId, Credit>, config: &Config) {
        if let Some(index) = &self.index {
            for (key, largest) in parts_of.iter_mut() {
                let others = index.get(key).into_iter().flatten().filter(|(by, _)| but.get(by).is_none());
                let others = others.map(|(_, value)| *value).max().unwrap_or_default();
                *largest = largest.map(|l| l.max(others));
            }
            return;
        }
        for (by, _) in self.gifts.iter().filter(|(by, _)| but.get(by).is_none()) {
            for side in SIDES {
                if let Some((value, place)) = self.value(*by, side, config) {
                    for part in parts(&place) {
                        if let Some(largest) = parts_of.get_mut(&(side, part)) {
                            *largest = largest.map(|l| l.max(value));
                        }
                    }
                }
            }
        }
    }

    fn reindex(&mut self, config: &Config) {
        let mut index = Index::default();
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
    keys: SmallMap<KeyId, Credit>,
}

/// What one key gives, resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Credit {
    sides: [Option<(Fixed, [Part; 2])>; 2],
    /// By whom a standing contradiction is, and what it is worth to them.
    refuted: Option<(KeyId, Fixed)>,
}

impl Credit {
    /// What it gives to each part the key is of.
    fn values(&self) -> impl Iterator<Item = (Side, Part, Fixed)> {
        let sides = SIDES.iter().zip(&self.sides);
        sides.flat_map(|(side, given)| {
            given.iter().flat_map(|(value, parts)| parts.map(|part| (*side, part, *value)))
        })
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
        if before.keys.get(&by).is_none() {
            let credit = self.credit(&self.posts[&on], by);
            self.touched.entry(on).or_default().keys.insert(by, credit);
        }
    }

    fn touch_all(&mut self, on: EventId) {
        let keys: Vec<KeyId> = self.posts.entry(on).or_default().gifts.iter().map(|(k, _)| *k).collect();
        keys.into_iter().for_each(|by| self.touch(on, by));
        self.touched.entry(on).or_default().all = true;
    }

    /// Puts out how the merits of a post differ, now that the tick is complete.
    fn compare(&mut self, on: EventId, before: &Before, out: &mut Vec<((KeyId, Merit), i64)>) {
        let post = &self.posts[&on];
        let Some(author) = before.author.or(post.author.as_ref().map(|a| a.0)) else { return };
        let turned: Vec<Turned> = {
            let keys = before.keys.iter();
            keys.map(|(by, old)| Turned { by: *by, old, new: self.credit(post, *by) }).collect()
        };
        // Per part, the largest of the touched keys, before and after; the others give what they gave.
        let mut largest = Largest::default();
        for (at, credit) in turned.iter().flat_map(|t| [(0, t.old), (1, &t.new)]) {
            for (side, part, value) in credit.values() {
                let largest = &mut largest.entry((side, part)).or_default()[at];
                *largest = value.max(*largest);
            }
        }
        post.raise(&mut largest, &before.keys, &self.config);
        for ((side, part), [was, is]) in largest {
            if was != is {
                out.push(((author, Merit::Value(side, part)), (is - was).0));
            }
        }
        for Turned { by, old, new } in turned.iter().filter(|t| *t.old != t.new) {
            members(author, *by, old, new, out);
        }
        self.reindex(on, before.all, &turned);
    }

    /// Moves keys of a post to their new places in its index.
    fn reindex(&mut self, on: EventId, all: bool, turned: &[Turned]) {
        let Some(post) = self.posts.get_mut(&on) else { return };
        if all || post.index.is_none() || post.gifts.len() <= INDEXED {
            post.reindex(&self.config);
            return;
        }
        let Some(index) = &mut post.index else { return };
        for Turned { by, old, new } in turned.iter().filter(|t| *t.old != t.new) {
            for (side, part, _) in old.values() {
                if let Some(values) = index.get_mut(&(side, part)) {
                    values.retain(|(k, _)| k != by);
                    if values.is_empty() {
                        index.remove(&(side, part));
                    }
                }
            }
            for (side, part, value) in new.values() {
                index.entry((side, part)).or_default().push((*by, value));
            }
        }
    }
}

/// A key whose credit a tick touched.
struct Turned<'a> {
    by: KeyId,
    old: &'a Credit,
    new: Credit,
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
            self.compare(on, &before, out);
            let post = &self.posts[&on];
            if post.author.is_none() && post.gifts.is_empty() && post.stands.is_empty() {
                self.posts.remove(&on);
            }
        }
    }
}

/// Puts out how a key's credit differs, besides the values of its parts.
fn members(author: KeyId, by: KeyId, old: &Credit, new: &Credit, out: &mut Vec<((KeyId, Merit), i64)>) {
    let parts = |credit: &Credit| credit.values().map(|(side, part, _)| (side, part)).collect::<Vec<_>>();
    let (was, is) = (parts(old), parts(new));
    let member = |(side, part): (Side, Part)| (author, Merit::Member(side, part, by));
    out.extend(was.iter().filter(|p| !is.contains(p)).map(|p| (member(*p), -1)));
    out.extend(is.iter().filter(|p| !was.contains(p)).map(|p| (member(*p), 1)));
    if old.refuted != new.refuted {
        out.extend(old.refuted.map(|(key, value)| ((key, Merit::Refuted), -value.0)));
        out.extend(new.refuted.map(|(key, value)| ((key, Merit::Refuted), value.0)));
    }
}
