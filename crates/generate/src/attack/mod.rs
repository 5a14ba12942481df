//! Adversaries: floods that must neither hold up the engine nor change what it says of the honest.
//!
//! Each attack is preceded by the same short ordinary log (`scene`): a reader, a few agents that it
//! vouches for, threads of every status, and twenty keys that had the reader's trust and
//! have turned. These twenty do as they please with what they wrote themselves; of the posts of the
//! honest no attack may change a status. A plan with `events: 0` gives the scene alone.

mod arguments;
mod crowds;
mod flips;
mod scene;

use super::Plan;
use super::agent::Agent;
use super::record::Line;
use super::scribe::Scribe;
use scene::Scene;
use std::collections::VecDeque;
use wats_event::Hex32;
use wats_model::ids::Millis;

/// An adversary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Attack {
    /// Each key vouches for the next.
    VouchChain,
    /// One key vouches for all others, and they for it.
    VouchStar,
    /// Many keys with one declared owner.
    OneOwner,
    /// One key reacts to one post, again and again.
    ReactFlood,
    /// Many keys contradict one post.
    ContradictFlood,
    /// Many keys reply to one post.
    ReplyFlood,
    /// Each post contradicts the one before.
    ContradictionChain,
    /// Posts that all contradict one another.
    ContradictionCycle,
    /// One asker accepts now one answer, now another.
    AcceptFlip,
    /// Many keys of first-hand trust back one key.
    Anchors,
    /// One react, withdrawn and repeated.
    ReactToggle,
    /// Events with the largest arrays that are legal.
    LargestArrays,
}

/// How long an attack lasts, whatever its size.
const LASTS: u64 = 60 * Millis::DAY.0;

impl Attack {
    /// All attacks.
    pub const ALL: [Attack; 12] = [
        Attack::VouchChain,
        Attack::VouchStar,
        Attack::OneOwner,
        Attack::ReactFlood,
        Attack::ContradictFlood,
        Attack::ReplyFlood,
        Attack::ContradictionChain,
        Attack::ContradictionCycle,
        Attack::AcceptFlip,
        Attack::Anchors,
        Attack::ReactToggle,
        Attack::LargestArrays,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        self.described().0
    }

    /// Its usual size, in its own unit.
    pub fn size(self) -> u64 {
        self.described().1
    }

    /// What its size counts.
    pub fn unit(self) -> &'static str {
        self.described().2
    }

    /// How many events there are for one of its unit.
    pub fn events(self) -> u64 {
        self.described().3
    }

    /// What it does.
    pub fn about(self) -> &'static str {
        self.described().4
    }

    /// Name, size, unit, events for one of the unit, and what it does.
    #[rustfmt::skip]
    fn described(self) -> (&'static str, u64, &'static str, u64, &'static str) {
        match self {
            Attack::VouchChain => ("vouch-chain", 100_000, "keys", 2, "each key vouches for the next"),
            Attack::VouchStar => ("vouch-star", 100_000, "keys", 3, "a trusted key vouches for all others, and they for it"),
            Attack::OneOwner => ("one-owner", 100_000, "keys", 2, "all declare the owner of an honest agent and confirm one post"),
            Attack::ReactFlood => ("react-flood", 100_000, "reacts", 2, "a fresh key on an honest post, a trusted one on a post of its friend"),
            Attack::ContradictFlood => ("contradict-flood", 100_000, "keys", 2, "each contradicts an honest post, by evidence or by reply"),
            Attack::ReplyFlood => ("reply-flood", 100_000, "keys", 1, "each replies to an honest post"),
            Attack::ContradictionChain => ("contradiction-chain", 2_000, "arguments", 2, "each is contradicted by the next; all by trusted keys"),
            Attack::ContradictionCycle => ("contradiction-cycle", 2_000, "arguments", 1, "every post contradicts every other; all by trusted keys"),
            Attack::AcceptFlip => ("accept-flip", 10_000, "accepts", 1, "a trusted asker accepts now one answer, now the other"),
            Attack::Anchors => ("anchors", 10_000, "keys", 4, "the reader vouches for each, and each backs one key"),
            Attack::ReactToggle => ("react-toggle", 100_000, "reacts", 1, "a confirm by a trusted key, withdrawn and repeated"),
            Attack::LargestArrays => ("largest-arrays", 5_000, "events", 1, "references, tags, attachments, addressees and evidence up to the limits"),
        }
    }
}

impl std::fmt::Display for Attack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no attack has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such attack; there are {}", Attack::ALL.map(Attack::name).join(", "))]
pub struct NoSuchAttack;

impl std::str::FromStr for Attack {
    type Err = NoSuchAttack;

    fn from_str(name: &str) -> Result<Attack, NoSuchAttack> {
        let named = |attack: &Attack| attack.name() == name;
        Attack::ALL.into_iter().find(named).ok_or(NoSuchAttack)
    }
}

/// The log of an attack: the scene, then strike after strike.
pub(super) struct Siege {
    attack: Attack,
    scribe: Scribe,
    scene: Scene,
    /// How many strikes there are, and how many were made.
    size: u64,
    made: u64,
    /// The key of the strike before, in a chain.
    previous: Option<Agent>,
    /// The posts that the attack made and needs again.
    posts: Vec<Hex32>,
    /// Which of them are still to contradict which.
    pairs: VecDeque<(usize, usize)>,
}

impl Siege {
    pub(crate) fn new(plan: &Plan, attack: Attack) -> Siege {
        let mut scribe = plan.scribe(0);
        let scene = Scene::play(&mut scribe);
        let events = plan.events.saturating_mul(attack.events());
        scribe.pace = LASTS / events.max(1);
        Siege {
            attack,
            scribe,
            scene,
            size: plan.events,
            made: 0,
            previous: None,
            posts: Vec::new(),
            pairs: VecDeque::new(),
        }
    }

    fn strike(&mut self, i: u64) {
        match self.attack {
            Attack::VouchChain => self.vouch_chain(i),
            Attack::VouchStar => self.vouch_star(i),
            Attack::OneOwner => self.one_owner(i),
            Attack::ReactFlood => self.react_flood(i),
            Attack::ContradictFlood => self.contradict_flood(i),
            Attack::ReplyFlood => self.reply_flood(i),
            Attack::ContradictionChain => self.contradiction_chain(i),
            Attack::ContradictionCycle => self.contradiction_cycle(i),
            Attack::AcceptFlip => self.accept_flip(i),
            Attack::Anchors => self.anchors(i),
            Attack::ReactToggle => self.react_toggle(i),
            Attack::LargestArrays => self.largest_arrays(i),
        }
    }

    /// A key that nobody has seen before.
    fn fresh(&self, i: u64) -> Agent {
        self.scribe.agent(scene::CAST + i)
    }
}

impl Iterator for Siege {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        loop {
            if let Some(line) = self.scribe.out.pop_front() {
                return Some(line);
            }
            if self.made == self.size {
                return None;
            }
            self.strike(self.made);
            self.made += 1;
        }
    }
}
