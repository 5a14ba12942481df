//! The constants the specification names, as node policy: every number of sections 2 to 8 that an
//! operator may override, with the specification's value as its default.

use crate::fixed::{Fixed, ONE};
use crate::ids::{KeyId, Millis, NetworkId};

/// What the dataflow must know of the reader, for all networks of the node.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The networks, by [`NetworkId`]; one that is not listed has no profiles and asks no work.
    pub networks: Vec<Network>,
    /// The constants.
    pub policy: Policy,
}

impl Config {
    /// The own profiles of a network.
    pub fn profiles(&self, network: NetworkId) -> &[KeyId] {
        self.networks.get(usize::from(network.0)).map_or(&[], |n| &n.profiles)
    }

    /// The keys of a network that the reader will not hear (section 3, *Distrusted keys*).
    pub fn distrusted(&self, network: NetworkId) -> &[KeyId] {
        self.networks.get(usize::from(network.0)).map_or(&[], |n| &n.distrusted)
    }

    /// The work that a network requires of each event, in leading zero bits.
    pub fn pow_bits(&self, network: NetworkId) -> u32 {
        self.networks.get(usize::from(network.0)).map_or(0, |n| n.pow_bits)
    }
}

/// One network, as the reader sees it.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// The reader's own keys.
    pub profiles: Vec<KeyId>,
    /// The keys that this reader will not hear; none of them is a profile.
    pub distrusted: Vec<KeyId>,
    /// Required work, in leading zero bits.
    pub pow_bits: u32,
}

/// The constants of sections 2 to 8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Base of an accept (2.1).
    pub base_accept: Fixed,
    /// Base of a confirm with artifact evidence (2.1).
    pub base_confirm_artifact: Fixed,
    /// Base of a confirm with text evidence (2.1).
    pub base_confirm_text: Fixed,
    /// Base of a use (2.1).
    pub base_use: Fixed,
    /// Base of a cite by a citation (2.1).
    pub base_cite: Fixed,
    /// Base of a cite by a mere reply (2.1).
    pub base_reply: Fixed,
    /// Base of a vote, up or down (2.1).
    pub base_vote: Fixed,
    /// Base of a contradiction with artifact evidence in its run (2.1).
    pub base_contradiction_artifact: Fixed,
    /// Base of any other contradiction (2.1).
    pub base_contradiction: Fixed,
    /// Half-life of everything but votes (2.1).
    pub half_life: Millis,
    /// Half-life of votes (2.1).
    pub half_life_vote: Millis,
    /// A signal is live for so many sixteenths of its half-life (2.1).
    pub live_steps: u64,
    /// The least time between two renewals that count (2).
    pub renewal: Millis,
    /// How long before or after a contradicting react a reasoned reply may be created (2).
    pub reply_window: Millis,
    /// How many of A's reacts on X are considered (2).
    pub max_reacts: usize,
    /// How many events can be arguments of one contradiction (2).
    pub max_arguments: usize,
    /// Seed trust of a key that an own profile vouches for, and the most that accepts and uses give (3).
    pub seed_vouched: Fixed,
    /// Trust that passes at each hop, as a fraction (3, *Flow*).
    pub damping: (i64, i64),
    /// The weight, trust or voice below which a key does not count: `W_MIN` (3).
    pub w_min: Fixed,
    /// Sets of so many groups collapse to the key's own group (3, *Origins*, `sponsors`).
    pub broad: usize,
    /// Seed trust at which the cold start has ended (3).
    pub cold_until: Fixed,
    /// The age floor's cap (3).
    pub floor_cap: Fixed,
    /// Days before a key's floor starts to rise (3).
    pub floor_from_days: u64,
    /// Days at which it reaches the cap (3).
    pub floor_to_days: u64,
    /// Work at which the bonus is half of its limit: `x / (x + 256)` (3).
    pub work_half: i64,
    /// The most that one event's work counts (3).
    pub work_cap: i64,
    /// How much lighter than its target's author a critic may be: `weight(A) * factor >= weight` (4).
    pub critic_factor: i64,
    /// Contradictions up to which a critic's force is its weight (4).
    pub full_force: i64,
    /// How many contradictions of authors of one class are counted against a critic's force (4).
    pub force_per_class: i64,
    /// How much lighter than a critic the supporters who outlive it may be: `tally * factor >= voice` (6).
    pub outlive_factor: i64,
    /// Independent voices that make knowledge (7).
    pub knowledge_voices: usize,
    /// Copies of a confirmed post (8).
    pub replicas_confirmed: u8,
    /// Copies of a post that is young or relied on (8).
    pub replicas_recent: u8,
    /// How long a post counts as young, and a signal as recent reliance (8).
    pub recent: Millis,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            base_accept: ONE,
            base_confirm_artifact: ONE,
            base_confirm_text: Fixed(600_000_000),
            base_use: Fixed(800_000_000),
            base_cite: Fixed(300_000_000),
            base_reply: Fixed(50_000_000),
            base_vote: Fixed(100_000_000),
            base_contradiction_artifact: ONE,
            base_contradiction: Fixed(600_000_000),
            half_life: Millis::days(180),
            half_life_vote: Millis::days(30),
            live_steps: 32,
            renewal: Millis::days(30),
            reply_window: Millis::HOUR,
            max_reacts: 64,
            max_arguments: 4,
            seed_vouched: Fixed(850_000_000),
            damping: (17, 20),
            w_min: Fixed(5_000_000),
            broad: 16,
            cold_until: ONE,
            floor_cap: Fixed(10_000_000),
            floor_from_days: 7,
            floor_to_days: 30,
            work_half: 256,
            work_cap: 65_536,
            critic_factor: 2,
            full_force: 32,
            force_per_class: 4,
            outlive_factor: 2,
            knowledge_voices: 2,
            replicas_confirmed: 3,
            replicas_recent: 1,
            recent: Millis::days(180),
        }
    }
}
