//! Section 5: reputation and voice.
//!
//! What each post gives its author, `merits` tells; here each author is added up over its posts.

mod explain;

pub use explain::{Explanation, PartWorth};

use crate::incremental::Machine;
use crate::merits::{Merit, Part, SIDES, Side, parts};
use crate::origins::{Allegiance, Place, Standing, Values};
use crate::small_map::SmallMap;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use wats_model::fixed::{Fixed, narrow};
use wats_model::ids::KeyId;
use wats_model::policy::Config;
use wats_model::views::AuthorView;

/// Something said to [`Reputation`].
///
/// What is said of authors comes first: within a tick it is taken back while the keys stand where they
/// stood.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// Of an author.
    Of(KeyId, OfKey),
    /// Where a key stands, and its weight: told to every worker.
    Weight(KeyId, Place, Fixed),
}

/// Something said about an author.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OfKey {
    /// Its standing.
    Standing(Standing),
    /// What posts add to its reputation; the amount is in the multiplicity.
    Merit(Merit),
}

/// A key's reputation and voice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Esteem {
    /// The key.
    pub key: KeyId,
    /// What the trust graph says of it.
    pub standing: Standing,
    /// `reputation(a)`.
    pub reputation: Fixed,
    /// `voice(a)`.
    pub voice: Fixed,
}

/// What of a key's esteem weighs in a post's status.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Voter {
    /// `voice(k)`; zero where the key has no weight, as it moves nothing then.
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
        let has_weight = self.has_weight(w_min);
        Voter {
            voice: if has_weight { self.voice } else { Fixed::ZERO },
            has_weight,
            takes_part: has_weight && self.standing.trust >= w_min,
            allegiance: self.standing.allegiance.clone(),
        }
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
            reputation: self.reputation,
            voice: self.voice,
            group: self.standing.allegiance.group,
            class: self.standing.allegiance.class,
            origins: self.standing.allegiance.origins.clone(),
        }
    }
}

/// A key that gives: where it stands, its weight, and in how many of its cells each author has it.
#[derive(Default)]
struct Giver {
    stands: Option<(Place, Fixed)>,
    to: SmallMap<KeyId, i64>,
}

/// The keys that give.
#[derive(Default)]
struct Givers(FxHashMap<KeyId, Giver>);

impl Givers {
    fn weight(&self, key: KeyId) -> Option<Fixed> {
        Some(self.0.get(&key)?.stands?.1)
    }
}

/// What a part of the keys gives an author.
#[derive(Default)]
struct Cell {
    values: i64,
    /// Members with a signal, and on how many posts.
    members: SmallMap<KeyId, i64>,
    /// Members by weight, where looking at all of them is slow.
    by_weight: Option<Box<Values<Fixed>>>,
}

/// Members of a part beyond which they are kept by weight.
const CROWD: usize = 32;

impl Cell {
    /// `top(c)`.
    fn top(&self, givers: &Givers) -> Fixed {
        let top = match &self.by_weight {
            Some(by_weight) => by_weight.largest(|_| true),
            None => self.members.iter().filter_map(|(k, _)| givers.weight(*k)).max(),
        };
        top.unwrap_or_default()
    }

    /// `top(c) * sat(x) / ONE`.
    fn worth(&self, givers: &Givers) -> i64 {
        self.top(givers).times(Fixed(self.values).saturated()).0
    }

    /// A key has a signal on so many posts more; returns by how much that makes it a member.
    fn count(&mut self, by: KeyId, posts: i64, givers: &Givers) -> i64 {
        let was = self.members.get(&by).is_some();
        let is = self.members.add(by, posts) != 0;
        if was != is {
            self.weigh(by, givers.weight(by), is);
        }
        if self.members.len() > CROWD && self.by_weight.is_none() {
            let mut by_weight = Values::default();
            let members = self.members.iter().filter_map(|(k, _)| Some((*k, givers.weight(*k)?)));
            members.for_each(|(k, weight)| by_weight.insert(k, weight));
            self.by_weight = Some(Box::new(by_weight));
        }
        i64::from(is) - i64::from(was)
    }

    /// A member has this weight, or no longer.
    fn weigh(&mut self, by: KeyId, weight: Option<Fixed>, here: bool) {
        let (Some(by_weight), Some(weight)) = (&mut self.by_weight, weight) else { return };
        if here {
            by_weight.insert(by, weight);
        } else {
            by_weight.remove(by, weight);
        }
    }
}

#[derive(Default)]
struct Author {
    standing: Option<Standing>,
    cells: SmallMap<(Side, Part), Cell>,
    /// Sums of worth: for by groups, for by classes, against by groups, against by classes.
    worth: [i64; 4],
    /// `z` and `u`: the values of its contradictions that stand, and that are rebutted.
    upheld: i64,
    rebutted: i64,
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
    fn cell(&mut self, side: Side, part: Part, givers: &Givers) -> &mut Cell {
        let cell = self.cells.entry((side, part));
        self.touched.entry((side, part)).or_insert_with(|| cell.worth(givers));
        cell
    }

    fn resum(&mut self, givers: &Givers) {
        for ((side, part), before) in std::mem::take(&mut self.touched) {
            let cell = self.cells.entry((side, part));
            self.worth[slot(side, part)] += cell.worth(givers) - before;
            if cell.values == 0 && cell.members.is_empty() {
                self.cells.remove(&(side, part));
            }
        }
    }

    /// `earned(a)` and `lost(a)`.
    fn merits(&self, weight: Fixed) -> [Fixed; 2] {
        let [for_it, against] = [self.worth[0].min(self.worth[1]), self.worth[2].min(self.worth[3])];
        [Fixed(for_it) + accused(weight, self.upheld), Fixed(against) + accused(weight, self.rebutted)]
    }

    fn esteem(&self, key: KeyId, config: &Config) -> Option<Esteem> {
        let standing = self.standing.clone()?;
        let weight = standing.weight();
        let [earned, lost] = self.merits(weight);
        let own = config.profiles(standing.network).contains(&key);
        let reputation = i128::from(weight.0) + i128::from(earned.0) - i128::from(lost.0);
        let reputation = Fixed(narrow(reputation)).rounded();
        let voice = if own { weight } else { weight.min(reputation).max(Fixed::ZERO) };
        Some(Esteem { key, standing, reputation, voice: voice.rounded() })
    }
}

/// What accusations of this value give their author, or cost it: `weight(a) * sat(x) / ONE / 2`.
fn accused(weight: Fixed, value: i64) -> Fixed {
    Fixed(weight.times(Fixed(value).saturated()).0 / 2)
}

/// The machine that adds up authors.
pub struct Reputation {
    config: Arc<Config>,
    authors: FxHashMap<KeyId, Author>,
    givers: Givers,
    touched: FxHashSet<KeyId>,
}

impl Reputation {
    /// With no authors.
    pub fn new(config: Arc<Config>) -> Reputation {
        Reputation {
            config,
            authors: FxHashMap::default(),
            givers: Givers::default(),
            touched: FxHashSet::default(),
        }
    }

    fn told_merit(&mut self, key: KeyId, merit: Merit, diff: i64) {
        let author = self.authors.entry(key).or_default();
        match merit {
            Merit::Upheld => author.upheld += diff,
            Merit::Rebutted => author.rebutted += diff,
            Merit::Value(side, part) => author.cell(side, part, &self.givers).values += diff,
            Merit::Member(side, part, by) => {
                let more = author.cell(side, part, &self.givers).count(by, diff, &self.givers);
                self.givers.0.entry(by).or_default().to.add(key, more);
            }
        }
    }

    fn told_weight(&mut self, by: KeyId, place: Place, weight: Fixed, here: bool) {
        let authors: Vec<KeyId> =
            self.givers.0.entry(by).or_default().to.iter().map(|(author, _)| *author).collect();
        for key in authors {
            let Some(author) = self.authors.get_mut(&key) else { continue };
            for (side, part) in SIDES.into_iter().flat_map(|side| parts(&place).map(|part| (side, part))) {
                if author.cells.get(&(side, part)).is_some_and(|cell| cell.members.get(&by).is_some()) {
                    author.cell(side, part, &self.givers).weigh(by, Some(weight), here);
                    self.touched.insert(key);
                }
            }
        }
        self.givers.0.entry(by).or_default().stands = here.then_some((place, weight));
    }
}

impl Machine for Reputation {
    type Change = Input;
    type View = Esteem;

    fn apply(&mut self, told: Input, diff: i64) {
        match told {
            Input::Of(key, told) => {
                self.touched.insert(key);
                match told {
                    OfKey::Standing(standing) => {
                        self.authors.entry(key).or_default().standing = (diff > 0).then_some(standing);
                    }
                    OfKey::Merit(merit) => self.told_merit(key, merit, diff),
                }
            }
            Input::Weight(by, place, weight) => self.told_weight(by, place, weight, diff > 0),
        }
    }

    fn emit(&mut self, out: &mut Vec<(Esteem, i64)>) {
        for key in std::mem::take(&mut self.touched) {
            let Some(author) = self.authors.get_mut(&key) else {
                continue;
            };
            author.resum(&self.givers);
            let esteem = author.esteem(key, &self.config);
            if esteem != author.shown {
                let before = std::mem::replace(&mut author.shown, esteem.clone());
                out.extend(before.map(|e| (e, -1)));
                out.extend(esteem.map(|e| (e, 1)));
            }
        }
    }
}
