//! Section 5: reputation and voice.
//!
//! What each post gives its author, `merits` tells; here each author is added up over its posts.

mod explain;

pub use explain::{Explanation, PartWorth};

use crate::fixed::{Fixed, narrow};
use crate::ids::KeyId;
use crate::incremental::{Changes, Machine};
use crate::merits::{Merit, Part, Side};
use crate::origins::{Allegiance, Place, Standing};
use crate::policy::Config;
use crate::small::SmallMap;
use crate::views::AuthorView;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Something said about an author, to [`Reputation`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OfKey {
    /// Its standing.
    Standing(Standing),
    /// The largest value of a part's members on some post, in the multiplicity.
    Value(Side, Part),
    /// The value of a standing contradiction by the author, in the multiplicity.
    Refuted,
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
    touched: FxHashSet<KeyId>,
}

impl Reputation {
    /// With no authors.
    pub fn new(config: Arc<Config>) -> Reputation {
        Reputation { config, authors: FxHashMap::default(), touched: FxHashSet::default() }
    }
}

impl Machine for Reputation {
    type Change = (KeyId, OfKey);
    type View = Esteem;

    fn apply(&mut self, (key, told): (KeyId, OfKey), diff: i64) {
        self.touched.insert(key);
        let author = self.authors.entry(key).or_default();
        match told {
            OfKey::Standing(standing) => author.standing = (diff > 0).then_some(standing),
            OfKey::Refuted => author.refuted += diff,
            OfKey::Value(side, part) => author.cell(side, part).values += diff,
            OfKey::Member(side, part, by, weight) => {
                author.cell(side, part).members.add((by, weight), diff);
            }
        }
    }

    fn settle(&mut self, out: &mut Vec<(Esteem, i64)>) {
        for key in std::mem::take(&mut self.touched) {
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

/// Merits as they are told of authors: each member with its weight.
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
    let amounts = merits.flat_map(|(author, merit)| match merit {
        Merit::Value(side, part) => Some((author, OfKey::Value(side, part))),
        Merit::Refuted => Some((author, OfKey::Refuted)),
        Merit::Member(..) => None,
    });
    amounts.concat(members)
}
