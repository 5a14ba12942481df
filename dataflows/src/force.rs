//! Section 4, *force*: who contradicts much is spread thin.
//!
//! [`Stakes`] tells of each post whether contradicting it counts: whether it stands for something.
//! [`Spread`] adds up, critic by critic, how many such posts it contradicts.

use crate::decay::PairChange;
use crate::incremental::{Changes, Machine};
use crate::origins::Place;
use crate::signals::{Contradiction, Stance};
use crate::small_map::SmallMap;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use wats_model::ids::{EventId, GroupId, KeyId, NetworkId};
use wats_model::policy::Config;

/// Something said to [`Stakes`].
///
/// What is said of posts comes first: within a tick it is taken back while the keys stand where they
/// stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// Of a post.
    Of(EventId, OfPost),
    /// Where a key stands: told to every worker.
    Place(KeyId, Place),
}

/// Something said about a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OfPost {
    /// A key accepts, confirms or uses it, once for each such signal.
    Supported(KeyId),
    /// A key contradicts it.
    Contradicted {
        /// The critic.
        by: KeyId,
        /// The post's author.
        author: KeyId,
        /// Their network.
        network: NetworkId,
    },
}

/// Who accepts, confirms or uses which post, whatever its age.
pub fn supports<'s>(signals: Changes<'s, PairChange>) -> Changes<'s, Input> {
    signals.explode(|change| {
        let supports = match &change {
            PairChange::Accept(..) => 1,
            PairChange::Signals(signals) => {
                let confirms = matches!(signals.stance, Some((Stance::Confirm { .. }, _)));
                i64::from(confirms) + i64::from(signals.used.is_some())
            }
        };
        let pair = *change.pair();
        (supports > 0).then_some((Input::Of(pair.on, OfPost::Supported(pair.by)), supports))
    })
}

/// Who contradicts which post.
pub fn contradicted<'s>(contradictions: Changes<'s, Contradiction>) -> Changes<'s, Input> {
    contradictions.filter(|c| c.pair.on_post).map(|c| {
        let (by, author, network) = (c.pair.by, c.pair.to, c.pair.network);
        Input::Of(c.pair.on, OfPost::Contradicted { by, author, network })
    })
}

/// A critic contradicts a post that stands for something: the critic, and the class of the author.
pub type Stake = (NetworkId, KeyId, GroupId);

/// A critic of one post.
#[derive(Clone, Copy, Default)]
struct Critic {
    /// It contradicts the post, unless it is about to go.
    here: bool,
    /// What was put out: the class of the author, where the post stands for something.
    shown: Option<GroupId>,
}

/// A post that is contradicted, or was.
struct Contested {
    network: NetworkId,
    author: KeyId,
    critics: SmallMap<KeyId, Critic>,
    /// Supporters that have weight and are not partial to the author.
    reliers: i64,
    /// The author's class, whether it has weight, and the supporters up to two, as they were when all
    /// critics were last looked at.
    seen: Option<(GroupId, bool, i64)>,
}

/// A post.
#[derive(Default)]
struct Post {
    supporters: SmallMap<KeyId, i64>,
    /// Kept while somebody supports the post, so that a critic who comes and goes does not have all
    /// supporters counted each time.
    contested: Option<Box<Contested>>,
}

/// A key: where it stands, and the contested posts that it supports or wrote.
#[derive(Default)]
struct Key {
    place: Option<Place>,
    concerns: SmallMap<EventId, ()>,
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

    /// A supporter of the author's post has weight and is not partial to it.
    fn relies(&self, by: KeyId, author: KeyId) -> bool {
        let places = self.place(by).zip(self.place(author));
        places.is_some_and(|(by, author)| by.heavy && !by.partial_to(author))
    }
}

impl Post {
    /// The class under which a critic's contradiction counts, if the post stands for something
    /// without the critic.
    fn stake(&self, contested: &Contested, by: KeyId, keys: &Keys) -> Option<GroupId> {
        let author = keys.place(contested.author)?;
        let own = self.supporters.get(&by).is_some() && keys.relies(by, contested.author);
        let others = contested.reliers - i64::from(own);
        (author.heavy || others > 0).then_some(author.class)
    }
}

/// The machine that tells which contradictions count against their critics' force.
#[derive(Default)]
pub struct Stakes {
    posts: FxHashMap<EventId, Post>,
    keys: Keys,
    /// Posts touched in this tick, and the critics touched there.
    touched: FxHashMap<EventId, FxHashSet<KeyId>>,
}

impl Stakes {
    fn touch(&mut self, on: EventId, by: KeyId) {
        self.touched.entry(on).or_default().insert(by);
    }

    fn told_support(&mut self, on: EventId, by: KeyId, diff: i64) {
        let post = self.posts.entry(on).or_default();
        let was = post.supporters.get(&by).is_some();
        let is = post.supporters.add(by, diff) != 0;
        let Some(contested) = post.contested.as_mut() else {
            if !is && post.supporters.is_empty() {
                self.posts.remove(&on);
            }
            return;
        };
        if was == is {
            return;
        }
        let author = contested.author;
        if self.keys.relies(by, author) {
            contested.reliers += i64::from(is) - i64::from(was);
        }
        self.keys.of(by).concerns.keep(on, is);
        self.touch(on, by);
    }

    fn told_contradiction(&mut self, on: EventId, of: (NetworkId, KeyId, KeyId), here: bool) {
        let (network, by, author) = of;
        let post = self.posts.entry(on).or_default();
        if post.contested.is_none() {
            let reliers = post.supporters.iter().filter(|(k, _)| self.keys.relies(**k, author)).count();
            for key in post.supporters.iter().map(|(k, _)| *k).chain([author]) {
                self.keys.of(key).concerns.insert(on, ());
            }
            let (critics, reliers) = (SmallMap::default(), reliers as i64);
            post.contested = Some(Box::new(Contested { network, author, critics, reliers, seen: None }));
        }
        if let Some(contested) = &mut post.contested {
            contested.critics.entry(by).here = here;
        }
        self.touch(on, by);
    }

    /// A place is replaced within a tick by its retraction and its successor.
    fn told_place(&mut self, key: KeyId, place: Place, here: bool) {
        let concerns: Vec<EventId> = self.keys.of(key).concerns.iter().map(|(on, ())| *on).collect();
        if !here {
            concerns.iter().for_each(|on| self.recount(*on, key, -1));
            self.keys.of(key).place = None;
        } else {
            self.keys.of(key).place = Some(place);
            concerns.iter().for_each(|on| self.recount(*on, key, 1));
        }
    }

    /// A key that supports or wrote a contested post comes to stand somewhere (1), or is about to
    /// stand there no longer (-1).
    fn recount(&mut self, on: EventId, key: KeyId, by: i64) {
        let Some(post) = self.posts.get_mut(&on) else { return };
        let Some(contested) = &mut post.contested else { return };
        if contested.author == key {
            let relies = |k: &KeyId| self.keys.relies(*k, key);
            let reliers = post.supporters.iter().filter(|(k, _)| relies(k)).count();
            contested.reliers = if by > 0 { reliers as i64 } else { 0 };
        } else if self.keys.relies(key, contested.author) {
            contested.reliers += by;
        }
        self.touch(on, key);
    }
}

impl Machine for Stakes {
    type Change = Input;
    type View = Stake;

    fn apply(&mut self, told: Input, diff: i64) {
        match told {
            Input::Of(on, OfPost::Supported(by)) => self.told_support(on, by, diff),
            Input::Of(on, OfPost::Contradicted { by, author, network }) => {
                self.told_contradiction(on, (network, by, author), diff > 0);
            }
            Input::Place(key, place) => self.told_place(key, place, diff > 0),
        }
    }

    fn emit(&mut self, out: &mut Vec<(Stake, i64)>) {
        for (on, touched) in std::mem::take(&mut self.touched) {
            let Some(post) = self.posts.get_mut(&on) else { continue };
            if let Some(mut contested) = post.contested.take() {
                let looked_at = looked_at(&mut contested, touched, &self.keys);
                for by in looked_at {
                    let Some(critic) = contested.critics.get(&by).copied() else { continue };
                    let stake = if critic.here { post.stake(&contested, by, &self.keys) } else { None };
                    if stake != critic.shown {
                        let stakes = |class| (contested.network, by, class);
                        out.extend(critic.shown.map(|class| (stakes(class), -1)));
                        out.extend(stake.map(|class| (stakes(class), 1)));
                    }
                    match critic.here {
                        true => contested.critics.insert(by, Critic { here: true, shown: stake }),
                        false => drop(contested.critics.remove(&by)),
                    }
                }
                if contested.critics.is_empty() && post.supporters.is_empty() {
                    self.keys.of(contested.author).concerns.remove(&on);
                } else {
                    post.contested = Some(contested);
                }
            }
            if post.contested.is_none() && post.supporters.is_empty() {
                self.posts.remove(&on);
            }
        }
    }
}

/// The critics whose contradiction may count other than before: all, where the author stands elsewhere
/// or another number of keys relies on the post; otherwise those that were touched.
fn looked_at(contested: &mut Contested, touched: FxHashSet<KeyId>, keys: &Keys) -> Vec<KeyId> {
    let author = keys.place(contested.author);
    let seen = author.map(|author| (author.class, author.heavy, contested.reliers.min(2)));
    if seen == contested.seen {
        return touched.into_iter().collect();
    }
    contested.seen = seen;
    contested.critics.iter().map(|(by, _)| *by).collect()
}

/// How many contradictions of one critic stand for something, by class of the author.
#[derive(Default)]
struct Stretch {
    network: NetworkId,
    by_class: SmallMap<GroupId, i64>,
    /// `n(A)`.
    n: i64,
    shown: Option<i64>,
}

/// The machine that adds up `n(A)`.
pub struct Spread {
    config: Arc<Config>,
    critics: FxHashMap<KeyId, Stretch>,
    touched: FxHashSet<KeyId>,
}

impl Spread {
    /// With no critics.
    pub fn new(config: Arc<Config>) -> Spread {
        Spread { config, critics: FxHashMap::default(), touched: FxHashSet::default() }
    }
}

impl Machine for Spread {
    type Change = Stake;
    /// A critic that contradicts more than it has full force for, and `n(A)`.
    type View = (NetworkId, KeyId, i64);

    fn apply(&mut self, (network, by, class): Stake, diff: i64) {
        let most = self.config.policy.force_per_class;
        let stretch = self.critics.entry(by).or_default();
        stretch.network = network;
        let before = stretch.by_class.get(&class).copied().unwrap_or_default();
        let after = stretch.by_class.add(class, diff);
        stretch.n += after.min(most) - before.min(most);
        self.touched.insert(by);
    }

    fn emit(&mut self, out: &mut Vec<(Self::View, i64)>) {
        for by in std::mem::take(&mut self.touched) {
            let Some(stretch) = self.critics.get_mut(&by) else { continue };
            let n = Some(stretch.n).filter(|n| *n > self.config.policy.full_force);
            if n != stretch.shown {
                out.extend(stretch.shown.map(|n| ((stretch.network, by, n), -1)));
                out.extend(n.map(|n| ((stretch.network, by, n), 1)));
                stretch.shown = n;
            }
            if stretch.by_class.is_empty() {
                self.critics.remove(&by);
            }
        }
    }
}
