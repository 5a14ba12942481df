//! Section 6: the status of a post, its score, its counts and why; and what sections 7 and 8 read off
//! the same signals.

mod sums;
mod touched;

use crate::contradictions::{Found, Verdict};
use crate::incremental::Machine;
use crate::origins::{Allegiance, Place};
use crate::reputation::Voter;
use crate::small_map::SmallMap;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;
use sums::{Contest, Said, Sums};
use touched::{Extent, Touched};
use wats_model::ids::{BlobId, EventId, KeyId, Stamp};
use wats_model::policy::{Config, Policy};
use wats_model::views::{Counts, PostView, Status, Why};

pub use sums::Word;

/// Something said to [`Statuses`].
///
/// What is said of posts comes first: within a tick it is taken back at what the keys were worth.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// Of a post.
    Of(EventId, OfPost),
    /// What of a key weighs in a status: told to every worker.
    Voter(KeyId, Voter),
}

/// Something said about a post.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum OfPost {
    /// It is held; its place in "latest", and its author.
    Held(Stamp, KeyId),
    /// What a key's signals say.
    Word(KeyId, Word),
    /// A verdict of the second run on a contradiction of it, or its rebuttals.
    Found(Found),
    /// It is young (section 8).
    Young,
    /// It is a holder of a blob (section 8).
    Holds(BlobId),
}

/// A post, judged: its view, and what section 7 asks of its live supporters that take part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Judged {
    /// Its place in "latest".
    pub stamp: Stamp,
    /// What a reader sees.
    pub view: PostView,
    /// What knowledge is made of.
    pub support: Support,
    /// The blobs that it is a holder of, sorted.
    pub blobs: Option<Arc<[BlobId]>>,
}

/// The live supporters of a post that take part in knowledge: `trust >= W_MIN`, with weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Support {
    /// The accept on it *holds*: it is live, and its asker takes part and is not partial to the author.
    pub accept_holds: bool,
    /// Someone supports it through confirm or use who is not the asker, nor of its group or class.
    pub beyond_asker: bool,
    /// `independent` of those through confirm.
    pub confirming: u32,
    /// `independent` of those through confirm or use.
    pub relying: u32,
    /// `voices` of all, accepts included.
    pub voices: u32,
}

/// A post.
#[derive(Default)]
struct Post {
    held: Option<(Stamp, KeyId)>,
    words: SmallMap<KeyId, Word>,
    verdicts: SmallMap<KeyId, Verdict>,
    rebuttals: u32,
    young: bool,
    blobs: Option<Arc<[BlobId]>>,
    /// Kept for a post with many words; read anew for the others.
    sums: Option<Box<Sums>>,
    shown: Option<Box<Judged>>,
}

/// Keys on one post beyond which its sums are kept.
const KEPT: usize = 32;

/// A key: what weighs of it, and the posts where that matters.
#[derive(Default)]
struct Key {
    voter: Option<Voter>,
    /// Where it stands, for the posts that it wrote; kept while its voter is replaced.
    place: Option<Place>,
    says: SmallMap<EventId, ()>,
    wrote: SmallMap<EventId, ()>,
}

/// The keys.
#[derive(Default)]
struct Keys(FxHashMap<KeyId, Key>);

impl Keys {
    /// What weighs of a key that has weight: no other key moves a status.
    fn voter(&self, key: KeyId) -> Option<&Voter> {
        self.0.get(&key)?.voter.as_ref().filter(|voter| voter.has_weight)
    }

    /// Where the author of a post stands.
    fn author(&self, post: &Post) -> Option<&Place> {
        let (_, author) = post.held?;
        self.0.get(&author)?.place.as_ref()
    }

    fn of(&mut self, key: KeyId) -> &mut Key {
        self.0.entry(key).or_default()
    }
}

impl Post {
    fn is_empty(&self) -> bool {
        self.held.is_none() && self.words.is_empty() && self.verdicts.is_empty() && self.blobs.is_none()
    }

    /// Changes what one key says, and the kept sums with it.
    fn change(&mut self, k: KeyId, keys: &Keys, change: impl FnOnce(&mut Post)) {
        self.resum(k, -1, keys);
        change(self);
        self.resum(k, 1, keys);
    }

    fn resum(&mut self, k: KeyId, by: i64, keys: &Keys) {
        if let Some(mut sums) = self.sums.take() {
            self.add_to(&mut sums, k, by, keys);
            self.sums = Some(sums);
        }
    }

    fn add_to(&self, sums: &mut Sums, k: KeyId, by: i64, keys: &Keys) {
        let (Some(word), Some(voter)) = (self.words.get(&k), keys.voter(k)) else {
            return;
        };
        if let Some(author) = keys.author(self) {
            let said = Said { k, word, voter, verdict: self.verdicts.get(&k) };
            sums.add(&said, author, by);
        }
    }

    fn sum_up(&self, sums: &mut Sums, keys: &Keys) {
        self.words.iter().for_each(|(k, _)| self.add_to(sums, *k, 1, keys));
    }

    /// Takes the contradictions out that support has outlived, and puts back those that it has not.
    fn outlive(&self, sums: &mut Sums, keys: &Keys, policy: &Policy) {
        for (k, by) in sums.outlive(|k| keys.voter(k), policy.outlive_factor) {
            if let (Some(voter), Some(verdict)) = (keys.voter(k), self.verdicts.get(&k)) {
                sums.contest.add(k, voter, verdict, by);
            }
        }
    }

    /// Whether the post looks as it is shown, where nothing but voices and values has changed: most of
    /// them change no digit of a score. None that is contested, or might be, is told so.
    fn keeps_score(&self, scratch: &mut Sums, keys: &Keys) -> bool {
        let Some(shown) = self.shown.as_ref().filter(|_| self.sums.is_none() && self.verdicts.is_empty())
        else {
            return false;
        };
        scratch.clear();
        let Some(author) = keys.author(self) else { return false };
        for (k, word) in self.words.iter() {
            if let Some(voter) = keys.voter(*k) {
                scratch.add_values(&Said { k: *k, word, voter, verdict: None }, author, 1);
            }
        }
        shown.view.score == scratch.score()
    }

    /// Judges the post; `scratch` is memory for the sums of a post that keeps none.
    fn judge(&mut self, post: EventId, scratch: &mut Sums, keys: &Keys, policy: &Policy) -> Option<Judged> {
        self.held?;
        if self.words.len() <= KEPT {
            self.sums = None;
            scratch.clear();
            self.sum_up(scratch, keys);
            self.outlive(scratch, keys, policy);
            return self.judged(post, scratch, keys, policy);
        }
        let mut sums = self.sums.take().unwrap_or_else(|| {
            let mut sums = Box::<Sums>::default();
            self.sum_up(&mut sums, keys);
            sums
        });
        self.outlive(&mut sums, keys, policy);
        let judged = self.judged(post, &sums, keys, policy);
        self.sums = Some(sums);
        judged
    }

    fn judged(&self, post: EventId, sums: &Sums, keys: &Keys, policy: &Policy) -> Option<Judged> {
        let ((stamp, author), place) = (self.held?, keys.author(self)?);
        let contest = &sums.contest;
        let status = if contest.keys > 0 {
            Status::Contested
        } else if sums.live > 0 {
            Status::Confirmed
        } else if sums.supported() {
            Status::Stale
        } else {
            Status::Unverified
        };
        let counts = Counts {
            accepts: sums.accepts.count(),
            confirmations: sums.confirmations.count(),
            uses: sums.uses.count(),
            contradictions: contest.voices.count(),
            cites: sums.cites.len() as u32,
            votes_up: sums.votes_up.len() as u32,
            votes_down: sums.votes_down.len() as u32,
        };
        let replicas = match status {
            Status::Confirmed => policy.replicas_confirmed,
            _ if self.young || sums.recent > 0 => policy.replicas_recent,
            _ => 0,
        };
        let view = PostView {
            post,
            author,
            status,
            score: sums.score(),
            counts,
            replicas,
            why: self.why(status, counts.contradictions, contest),
        };
        Some(Judged { stamp, view, support: support(sums, place, keys), blobs: self.blobs.clone() })
    }

    /// `why`; `keys` is `counts.contradictions`.
    fn why(&self, status: Status, keys: u32, contest: &Contest) -> Option<Why> {
        match (status, contest.quoted(), contest.rebutted()) {
            (Status::Contested, Some((undecided, quoted)), _) => Some(Why::Contradicted {
                keys: keys.max(1),
                evidence: !quoted.bare,
                argument: quoted.event,
                rebuttals: self.rebuttals,
                stands: !undecided,
            }),
            (Status::Confirmed, _, Some(evidence)) => Some(Why::Rebutted { evidence }),
            _ => None,
        }
    }
}

fn support(sums: &Sums, author: &Place, keys: &Keys) -> Support {
    let allegiance = |k: KeyId| keys.voter(k).map(|voter| &*voter.allegiance);
    let asker = sums.asker.and_then(|k| Some((k, allegiance(k)?)));
    let beyond = |(asker, of_asker): (KeyId, &Allegiance)| {
        let mut reliers = sums.reliers.iter().filter_map(|(k, _)| Some((*k, allegiance(*k)?)));
        reliers.any(|(k, of)| k != asker && of.group != of_asker.group && of.class != of_asker.class)
    };
    Support {
        accept_holds: asker.is_some(),
        beyond_asker: asker.is_some_and(beyond),
        confirming: sums.confirming.independent(author),
        relying: sums.relying.independent(author),
        voices: sums.supporting.count(),
    }
}

/// The machine of section 6.
pub struct Statuses {
    config: Arc<Config>,
    posts: FxHashMap<EventId, Post>,
    keys: Keys,
    touched: Touched,
    scratch: Sums,
}

impl Statuses {
    /// With no posts.
    pub fn new(config: Arc<Config>) -> Statuses {
        Statuses {
            config,
            posts: FxHashMap::default(),
            keys: Keys::default(),
            touched: Touched::default(),
            scratch: Sums::default(),
        }
    }

    /// The verdicts on a post's contradictions.
    pub fn verdicts_on(&self, post: EventId) -> Vec<Verdict> {
        let post = self.posts.get(&post);
        post.into_iter().flat_map(|post| post.verdicts.iter().map(|(_, verdict)| *verdict)).collect()
    }

    /// Whose contradictions of a post support has outlived: for an explanation.
    pub fn outlived_on(&self, post: EventId) -> BTreeSet<KeyId> {
        let Some(post) = self.posts.get(&post) else { return BTreeSet::new() };
        let mut sums = Sums::default();
        post.sum_up(&mut sums, &self.keys);
        sums.find_outlived(|k| self.keys.voter(k), self.config.policy.outlive_factor)
    }

    fn told(&mut self, on: EventId, told: OfPost, here: bool) {
        let post = self.posts.entry(on).or_default();
        match told {
            OfPost::Held(stamp, author) => {
                post.sums = None;
                post.held = here.then_some((stamp, author));
                self.keys.of(author).wrote.keep(on, here);
            }
            OfPost::Word(k, word) => {
                self.keys.of(k).says.keep(on, here);
                post.change(k, &self.keys, |post| {
                    if here {
                        post.words.insert(k, word);
                    } else {
                        post.words.remove(&k);
                    }
                });
                // A key without weight moves nothing.
                if self.keys.voter(k).is_some() || self.touched.replaces(k) {
                    self.touched.word(on, k, word, here);
                }
                return;
            }
            OfPost::Found(Found::Verdict(verdict)) => {
                post.change(verdict.by, &self.keys, |post| {
                    if here {
                        post.verdicts.insert(verdict.by, verdict);
                    } else {
                        post.verdicts.remove(&verdict.by);
                    }
                });
            }
            OfPost::Found(Found::Rebuttals(_, count)) => post.rebuttals = if here { count } else { 0 },
            OfPost::Found(Found::Refuted(..)) => return,
            OfPost::Young => post.young = here,
            OfPost::Holds(blob) => {
                let mut blobs: BTreeSet<BlobId> = post.blobs.iter().flat_map(|b| b.iter().copied()).collect();
                if here {
                    blobs.insert(blob)
                } else {
                    blobs.remove(&blob)
                };
                post.blobs = (!blobs.is_empty()).then(|| blobs.into_iter().collect());
            }
        }
        self.touched.all(on);
    }

    fn told_voter(&mut self, k: KeyId, voter: Voter, here: bool) {
        let key = self.keys.of(k);
        let says: Vec<EventId> = match voter.has_weight {
            true => key.says.iter().map(|(on, ())| *on).collect(),
            false => Vec::new(),
        };
        if here && key.place != Some(voter.place()) {
            // A key that was partial to the author may no longer be: sum up anew.
            key.place = Some(voter.place());
            for on in key.wrote.iter().map(|(on, ())| *on) {
                self.touched.all(on);
                self.posts.entry(on).or_default().sums = None;
            }
        }
        self.resum(k, &says, -1);
        self.touched.voter(k, &voter, &says, here);
        self.keys.of(k).voter = here.then_some(voter);
        self.resum(k, &says, 1);
    }

    fn resum(&mut self, k: KeyId, says: &[EventId], by: i64) {
        for on in says {
            if let Some(post) = self.posts.get_mut(on) {
                post.resum(k, by, &self.keys);
            }
        }
    }
}

impl Machine for Statuses {
    type Change = Input;
    type View = Judged;

    fn apply(&mut self, told: Input, diff: i64) {
        match told {
            Input::Of(on, told) => self.told(on, told, diff > 0),
            Input::Voter(k, voter) => self.told_voter(k, voter, diff > 0),
        }
    }

    fn emit(&mut self, out: &mut Vec<(Judged, i64)>) {
        for (id, extent) in self.touched.take(&self.keys) {
            let Some(post) = self.posts.get_mut(&id) else {
                continue;
            };
            if extent == Extent::Score && post.keeps_score(&mut self.scratch, &self.keys) {
                continue;
            }
            let judged = post.judge(id, &mut self.scratch, &self.keys, &self.config.policy);
            if judged.as_ref() != post.shown.as_deref() {
                let before = std::mem::replace(&mut post.shown, judged.clone().map(Box::new));
                out.extend(before.map(|j| (*j, -1)));
                out.extend(judged.map(|j| (j, 1)));
            }
            if post.is_empty() {
                self.posts.remove(&id);
            }
        }
    }
}
