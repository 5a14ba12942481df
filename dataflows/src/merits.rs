//! Section 5, seen from a post: which part of the keys gives its author how much, for and against.
//!
//! The sums over posts are taken in `reputation`. Between the two they travel in the multiplicity, so
//! that one more react on one post changes one number.

use crate::contradictions::{Outcome, Verdict};
use crate::decay::AgedPair;
use crate::incremental::Machine;
use crate::origins::{Place, Values};
use crate::small_map::SmallMap;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use wats_model::fixed::Fixed;
use wats_model::ids::{EventId, GroupId, KeyId};
use wats_model::policy::Policy;

/// A part of one of the two partitions of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Part {
    /// The keys of a group.
    Group(GroupId),
    /// The keys of a class.
    Class(GroupId),
}

/// The parts that a key of this place belongs to.
pub fn parts(place: &Place) -> [Part; 2] {
    [Part::Group(place.group), Part::Class(place.class)]
}

/// For or against an author.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Side {
    /// Accepts, confirms, uses and citations: `earned`.
    For,
    /// Standing contradictions: `lost`.
    Against,
}

/// Something said to [`Merits`].
///
/// What is said of posts comes first: within a tick it is taken back while the keys stand where they
/// stood.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// Of a post.
    Of(EventId, OfPost),
    /// Where a key stands: told to every worker.
    Place(KeyId, Place),
}

/// Something said about a post.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OfPost {
    /// Its author.
    Author(KeyId),
    /// What a key's signals are worth.
    Contribution(KeyId, Contribution),
    /// A contradiction of it, judged by the first run.
    Verdict(Verdict),
    /// The key's contradiction of it, a react, is rebutted.
    Refuted(KeyId),
}

/// What the signals of a key on a post are worth to its author, if the key is heavy enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Contribution {
    /// By side: the largest value of its accept, confirm, use and citation, and of a contradiction.
    values: [Fixed; 2],
}

/// No such signal: values are not negative.
const NOTHING: Fixed = Fixed(-1);

impl Contribution {
    /// What a key gives, unless that is nothing.
    pub fn new(pair: &AgedPair, policy: &Policy) -> Option<Contribution> {
        let cite = pair.citation(policy).map(|(aged, base)| aged.value(base));
        let positive = cite.is_some() || pair.supports().next().is_some();
        let good = if positive { pair.support(policy).max(cite.unwrap_or_default()) } else { NOTHING };
        let bad = pair.contradiction(policy).map_or(NOTHING, |(aged, base)| aged.value(base));
        (good.max(bad) != NOTHING).then_some(Contribution { values: [good, bad] })
    }

    fn value(&self, side: Side) -> Option<Fixed> {
        Some(self.values[side as usize]).filter(|v| *v != NOTHING)
    }
}

/// What a post adds to some author's reputation; amounts are in the multiplicity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Merit {
    /// The largest value of a part's members on one post.
    Value(Side, Part),
    /// A member with such a signal; the multiplicity is the number of posts.
    Member(Side, Part, KeyId),
    /// The value of a standing contradiction by the key: `z`.
    Upheld,
    /// The value of a rebutted contradiction by the key: `u`.
    Rebutted,
}

/// A post, as its merits are read.
#[derive(Default)]
struct Post {
    author: Option<KeyId>,
    gifts: SmallMap<KeyId, Contribution>,
    stands: SmallMap<KeyId, ()>,
    /// Whose contradictions are rebutted.
    rebutted: SmallMap<KeyId, ()>,
    /// Values by side and part, kept where scanning all gifts would be slow.
    index: Option<Box<Index>>,
}

/// A key: where it stands, and the posts where that matters.
#[derive(Default)]
struct Key {
    place: Option<Place>,
    gives: SmallMap<EventId, ()>,
    wrote: SmallMap<EventId, ()>,
}

/// The keys.
#[derive(Default)]
struct Keys(FxHashMap<KeyId, Key>);

impl Keys {
    fn place(&self, key: KeyId) -> Option<&Place> {
        self.0.get(&key)?.place.as_ref()
    }

    fn of(&mut self, key: KeyId) -> &mut Key {
        self.0.entry(key).or_default()
    }
}

/// The largest value of each part, before a tick and after it.
type Largest = FxHashMap<(Side, Part), [Fixed; 2]>;

/// Values by side and part.
type Index = FxHashMap<(Side, Part), Values<Fixed>>;

/// Keys on one post beyond which their values are indexed by part.
const INDEXED: usize = 48;

impl Post {
    /// What a key gives.
    fn credit(&self, by: KeyId, keys: &Keys) -> Credit {
        let gift = self.gifts.get(&by);
        let Some((gift, place)) = gift.zip(keys.place(by).filter(|place| place.heavy)) else {
            return Credit::default();
        };
        let author = self.author.and_then(|author| keys.place(author));
        let good = gift.value(Side::For).filter(|_| author.is_some_and(|a| !place.partial_to(a)));
        let bad = gift.value(Side::Against).filter(|_| self.stands.get(&by).is_some());
        let counts = author.is_some_and(|author| author.heavy && !author.partial_to(place));
        Credit {
            sides: [good, bad].map(|value| Some((value?, parts(place)))),
            upheld: bad.filter(|_| counts),
            rebutted: gift.value(Side::Against).filter(|_| self.rebutted.get(&by).is_some()),
        }
    }

    /// Raises each part's values to the largest that the keys not in `but` give it.
    fn raise(&self, parts_of: &mut Largest, but: &SmallMap<KeyId, Credit>, keys: &Keys) {
        if let Some(index) = &self.index {
            for (key, largest) in parts_of.iter_mut() {
                let others = index.get(key).and_then(|values| values.largest(|k| but.get(&k).is_none()));
                *largest = largest.map(|l| l.max(others.unwrap_or_default()));
            }
            return;
        }
        for (by, _) in self.gifts.iter().filter(|(by, _)| but.get(by).is_none()) {
            for (side, part, value) in self.credit(*by, keys).values() {
                if let Some(largest) = parts_of.get_mut(&(side, part)) {
                    *largest = largest.map(|l| l.max(value));
                }
            }
        }
    }

    fn reindex(&mut self, keys: &Keys) {
        self.index = (self.gifts.len() > INDEXED).then(|| {
            let mut index = Index::default();
            for (by, _) in self.gifts.iter() {
                for (side, part, value) in self.credit(*by, keys).values() {
                    index.entry((side, part)).or_default().insert(*by, value);
                }
            }
            Box::new(index)
        });
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
    /// What a standing contradiction is worth to the key itself.
    upheld: Option<Fixed>,
    /// What a rebutted one costs it.
    rebutted: Option<Fixed>,
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

/// Both sides.
pub const SIDES: [Side; 2] = [Side::For, Side::Against];

/// The machine that reads merits off posts.
#[derive(Default)]
pub struct Merits {
    posts: FxHashMap<EventId, Post>,
    keys: Keys,
    touched: FxHashMap<EventId, Before>,
}

impl Merits {
    /// Remembers what a key gave before this tick.
    fn touch(&mut self, on: EventId, by: KeyId) {
        let post = self.posts.entry(on).or_default();
        let before = self.touched.entry(on).or_default();
        before.author = before.author.or(post.author);
        if before.keys.get(&by).is_none() {
            before.keys.insert(by, post.credit(by, &self.keys));
        }
    }

    /// The same of all keys: it is about the author.
    fn touch_all(&mut self, on: EventId) {
        let keys: Vec<KeyId> = self.posts.entry(on).or_default().gifts.iter().map(|(k, _)| *k).collect();
        keys.into_iter().for_each(|by| self.touch(on, by));
        self.touched.entry(on).or_default().all = true;
    }

    /// Puts out how the merits of a post differ, now that the tick is complete.
    fn compare(&mut self, on: EventId, before: &Before, out: &mut Vec<((KeyId, Merit), i64)>) {
        let post = &self.posts[&on];
        let turned: Vec<Turned> = {
            let keys = before.keys.iter();
            keys.map(|(by, old)| Turned { by: *by, old, new: post.credit(*by, &self.keys) }).collect()
        };
        turned.iter().for_each(|turned| turned.own_merits(out));
        // A react has no author here: what is said of it earns nobody anything.
        let Some(author) = before.author.or(post.author) else { return };
        // Per part, the largest of the touched keys, before and after; the others give what they gave.
        let mut largest = Largest::default();
        for (at, credit) in turned.iter().flat_map(|t| [(0, t.old), (1, &t.new)]) {
            for (side, part, value) in credit.values() {
                let largest = &mut largest.entry((side, part)).or_default()[at];
                *largest = value.max(*largest);
            }
        }
        post.raise(&mut largest, &before.keys, &self.keys);
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
            post.reindex(&self.keys);
            return;
        }
        let Some(index) = &mut post.index else { return };
        for Turned { by, old, new } in turned.iter().filter(|t| *t.old != t.new) {
            for (side, part, value) in old.values() {
                if let Some(values) = index.get_mut(&(side, part)) {
                    values.remove(*by, value);
                    if values.is_empty() {
                        index.remove(&(side, part));
                    }
                }
            }
            for (side, part, value) in new.values() {
                index.entry((side, part)).or_default().insert(*by, value);
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

impl Turned<'_> {
    /// Puts out how the key's own merits differ: what its accusation gives it, or costs it.
    fn own_merits(&self, out: &mut Vec<((KeyId, Merit), i64)>) {
        let accused = [
            (Merit::Upheld, self.old.upheld, self.new.upheld),
            (Merit::Rebutted, self.old.rebutted, self.new.rebutted),
        ];
        for (merit, was, is) in accused.into_iter().filter(|(_, was, is)| was != is) {
            out.extend(was.map(|value| ((self.by, merit), -value.0)));
            out.extend(is.map(|value| ((self.by, merit), value.0)));
        }
    }
}

impl Merits {
    fn told(&mut self, on: EventId, told: OfPost, here: bool) {
        match told {
            OfPost::Author(key) => {
                self.touch_all(on);
                self.touched.entry(on).or_default().author = Some(key);
                self.posts.entry(on).or_default().author = here.then_some(key);
                self.keys.of(key).wrote.keep(on, here);
            }
            OfPost::Contribution(by, gift) => {
                self.touch(on, by);
                let post = self.posts.entry(on).or_default();
                if here {
                    post.gifts.insert(by, gift);
                } else {
                    post.gifts.remove(&by);
                }
                self.keys.of(by).gives.keep(on, here);
            }
            OfPost::Verdict(verdict) => {
                self.touch(on, verdict.by);
                let post = self.posts.entry(on).or_default();
                match verdict.outcome {
                    Outcome::Stands => post.stands.keep(verdict.by, here),
                    Outcome::Rebutted { .. } => post.rebutted.keep(verdict.by, here),
                    Outcome::Undecided => {}
                }
            }
            OfPost::Refuted(by) => {
                self.touch(on, by);
                self.posts.entry(on).or_default().rebutted.keep(by, here);
            }
        }
    }

    fn told_place(&mut self, key: KeyId, place: Place, here: bool) {
        let Key { gives, wrote, .. } = self.keys.of(key);
        // A light key gives nothing.
        let gives: Vec<EventId> =
            if place.heavy { gives.iter().map(|(on, ())| *on).collect() } else { Vec::new() };
        let wrote: Vec<EventId> = wrote.iter().map(|(on, ())| *on).collect();
        gives.into_iter().for_each(|on| self.touch(on, key));
        wrote.into_iter().for_each(|on| self.touch_all(on));
        self.keys.of(key).place = here.then_some(place);
    }
}

impl Machine for Merits {
    type Change = Input;
    type View = (KeyId, Merit);

    fn apply(&mut self, told: Input, diff: i64) {
        match told {
            Input::Of(on, told) => self.told(on, told, diff > 0),
            Input::Place(key, place) => self.told_place(key, place, diff > 0),
        }
    }

    fn emit(&mut self, out: &mut Vec<((KeyId, Merit), i64)>) {
        for (on, before) in std::mem::take(&mut self.touched) {
            self.compare(on, &before, out);
            let post = &self.posts[&on];
            let silent = post.gifts.is_empty() && post.stands.is_empty() && post.rebutted.is_empty();
            if post.author.is_none() && silent {
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
}
