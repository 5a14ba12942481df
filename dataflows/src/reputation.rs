//! Section 5: reputation and voice.
//!
//! Two machines. [`Merits`] looks at each post: which part of the keys gives its author how much,
//! for and against. [`Reputation`] adds up each author over its posts. Between them the sums travel
//! in the multiplicity, so that one more react on one post changes one number.

mod explain;

pub use explain::{Explanation, PartWorth};

use crate::aging::AgedPair;
use crate::contradictions::{Outcome, Verdict};
use crate::fixed::{Fixed, narrow};
use crate::ids::{EventId, GroupId, KeyId};
use crate::incremental::{Changes, Machine};
use crate::origins::{Allegiance, Place, Standing};
use crate::policy::Config;
use crate::small::SmallMap;
use crate::views::AuthorView;
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

/// Something said about an author, to [`Reputation`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OfKey {
    /// Its standing.
    Standing(Standing),
    /// A merit that is an amount, in its multiplicity.
    Merit(Merit),
    /// A member of a part that has a signal on the author's posts, and its weight.
    Member(Side, Part, KeyId, Fixed),
}

/// A key's reputation and voice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Esteem {
    /// The key.
    pub key: KeyId,
    /// What the trust graph says of it.
    pub standing: Standing,
    /// `earned(a)`.
    pub earned: Fixed,
    /// `lost(a)`.
    pub lost: Fixed,
    /// `voice(a)`.
    pub voice: Fixed,
}

/// What of a key's esteem weighs in a post's status.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Voter {
    /// `voice(k)`.
    pub voice: Fixed,
    /// `voice(k) >= W_MIN`: the key has weight.
    pub has_weight: bool,
    /// Its trust, too, is at least `W_MIN`: it takes part in knowledge (section 7).
    pub takes_part: bool,
    /// How it is counted.
    pub allegiance: Arc<Allegiance>,
}

impl Voter {
    /// The key's place; who weighs in a status is heavy enough.
    pub fn place(&self) -> Place {
        Place { group: self.allegiance.group, class: self.allegiance.class, heavy: true }
    }
}

impl Esteem {
    /// What of it weighs in a status.
    pub fn voter(&self, w_min: Fixed) -> Voter {
        Voter {
            voice: self.voice,
            has_weight: self.has_weight(w_min),
            takes_part: self.has_weight(w_min) && self.standing.trust >= w_min,
            allegiance: self.standing.allegiance.clone(),
        }
    }

    /// `reputation(a) = weight(a) + earned(a) - lost(a)`.
    pub fn reputation(&self) -> Fixed {
        self.standing.weight() + self.earned - self.lost
    }

    /// The key has weight: its voice is at least `W_MIN`.
    pub fn has_weight(&self, w_min: Fixed) -> bool {
        self.voice >= w_min
    }
}

impl Esteem {
    /// What a reader's own tools show of the key.
    pub fn view(&self) -> AuthorView {
        AuthorView {
            key: self.key,
            trust: self.standing.trust,
            floor: self.standing.floor,
            weight: self.standing.weight(),
            reputation: self.reputation(),
            voice: self.voice,
            group: self.standing.allegiance.group,
            class: self.standing.allegiance.class,
            origins: self.standing.allegiance.origins.clone(),
        }
    }
}

/// What a part of the keys gives an author.
#[derive(Clone, Debug, Default)]
struct Cell {
    values: i64,
    members: SmallMap<(KeyId, Fixed), i64>,
}

impl Cell {
    /// `top(c)`.
    fn top(&self) -> Fixed {
        self.members.iter().map(|((_, weight), _)| *weight).max().unwrap_or_default()
    }

    /// `top(c) * sat(x) / ONE`.
    fn worth(&self) -> i64 {
        self.top().times(Fixed(self.values).saturated()).0
    }
}

#[derive(Default)]
struct Author {
    standing: Option<Standing>,
    cells: SmallMap<(Side, Part), Cell>,
    /// Sums of worth: for by groups, for by classes, against by groups, against by classes.
    worth: [i64; 4],
    refuted: i64,
    shown: Option<Esteem>,
    touched: FxHashMap<(Side, Part), i64>,
}

fn slot(side: Side, part: Part) -> usize {
    match (side, part) {
        (Side::For, Part::Group(_)) => 0,
        (Side::For, Part::Class(_)) => 1,
        (Side::Against, Part::Group(_)) => 2,
        (Side::Against, Part::Class(_)) => 3,
    }
}

impl Author {
    fn cell(&mut self, side: Side, part: Part) -> &mut Cell {
        let cell = self.cells.entry((side, part));
        self.touched.entry((side, part)).or_insert_with(|| cell.worth());
        cell
    }

    fn resum(&mut self) {
        for ((side, part), before) in std::mem::take(&mut self.touched) {
            let cell = self.cells.entry((side, part));
            self.worth[slot(side, part)] += cell.worth() - before;
            if cell.values == 0 && cell.members.is_empty() {
                self.cells.remove(&(side, part));
            }
        }
    }

    /// `weight(a) * sat(z) / ONE / 2`.
    fn refuting(&self, weight: Fixed) -> Fixed {
        Fixed(weight.times(Fixed(self.refuted).saturated()).0 / 2)
    }

    fn esteem(&self, key: KeyId, config: &Config) -> Option<Esteem> {
        let standing = self.standing.clone()?;
        let weight = standing.weight();
        let earned = Fixed(self.worth[0].min(self.worth[1])) + self.refuting(weight);
        let lost = Fixed(self.worth[2].min(self.worth[3]));
        let own = config.profiles(standing.network).contains(&key);
        let reputation = i128::from(weight.0) + i128::from(earned.0) - i128::from(lost.0);
        let voice = if own { weight } else { weight.min(Fixed(narrow(reputation))).max(Fixed::ZERO) };
        Some(Esteem { key, standing, earned, lost, voice: voice.rounded() })
    }
}

/// The machine that adds up authors.
pub struct Reputation {
    config: Arc<Config>,
    authors: FxHashMap<KeyId, Author>,
    touched: Vec<KeyId>,
}

impl Reputation {
    /// With no authors.
    pub fn new(config: Arc<Config>) -> Reputation {
        Reputation { config, authors: FxHashMap::default(), touched: Vec::new() }
    }
}

impl Machine for Reputation {
    type Change = (KeyId, OfKey);
    type View = Esteem;

    fn apply(&mut self, (key, told): (KeyId, OfKey), diff: i64) {
        self.touched.push(key);
        let author = self.authors.entry(key).or_default();
        match told {
            OfKey::Standing(standing) => author.standing = (diff > 0).then_some(standing),
            OfKey::Merit(Merit::Refuted) => author.refuted += diff,
            OfKey::Merit(Merit::Value(side, part)) => author.cell(side, part).values += diff,
            // Joined with weights on the way here.
            OfKey::Merit(Merit::Member(..)) => {}
            OfKey::Member(side, part, by, weight) => {
                author.cell(side, part).members.add((by, weight), diff);
            }
        }
    }

    fn settle(&mut self, out: &mut Vec<(Esteem, i64)>) {
        let mut keys = std::mem::take(&mut self.touched);
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            let Some(author) = self.authors.get_mut(&key) else {
                continue;
            };
            author.resum();
            let esteem = author.esteem(key, &self.config);
            if esteem != author.shown {
                let before = std::mem::replace(&mut author.shown, esteem.clone());
                out.extend(before.map(|e| (e, -1)));
                out.extend(esteem.map(|e| (e, 1)));
            }
        }
    }
}

/// Gives each member among the merits its weight.
pub fn weighed<'s>(
    merits: Changes<'s, (KeyId, Merit)>,
    weights: Changes<'s, (KeyId, Fixed)>,
) -> Changes<'s, (KeyId, OfKey)> {
    let members = merits.clone().flat_map(|(author, merit)| match merit {
        Merit::Member(side, part, by) => Some((by, (author, side, part))),
        _ => None,
    });
    let members = members.join_map(weights, |by, (author, side, part), weight| {
        (*author, OfKey::Member(*side, *part, *by, *weight))
    });
    let amounts = merits.filter(|(_, merit)| !matches!(merit, Merit::Member(..)));
    amounts.map(|(author, merit)| (author, OfKey::Merit(merit))).concat(members)
}
