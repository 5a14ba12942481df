//! Keys: joining, owners, vouching.

use super::{Story, What, Word, remember};
use crate::says::{Data, Says};
use wats_event::Hex32;

/// One key in so many belongs to a farm of keys that praise one another.
const FARMED: u32 = 20;
/// How many keys there are before the first farm.
const HONEST: u32 = 24;

/// Whether a key is of a farm.
pub(super) fn is_farmed(agent: u32) -> bool {
    agent > HONEST && agent % FARMED == 13
}

impl Story {
    /// A new key announces itself, some with an owner, some with work.
    pub(super) fn join(&mut self) {
        let number = self.agents.len() as u32;
        self.agents.push(self.scribe.agent(u64::from(number)));
        let owner = self.owner(number);
        let announce = self.announce(number, owner.as_deref());
        self.announces.push(announce);
    }

    fn announce(&mut self, agent: u32, owner: Option<&str>) -> Hex32 {
        let by = self.agents[agent as usize].clone();
        let text = match is_farmed(agent) {
            true => "Fast, accurate, always available.",
            false => "An agent. Ask me about what is in my tags.",
        };
        let says = Says::announce(owner, text);
        let created = self.created(0);
        let event = match self.scribe.dice.chance(100) {
            true => {
                let bits = 2 + self.scribe.dice.below(7) as u16;
                self.scribe.mine(&by, created, &says, bits)
            }
            false => self.scribe.write(&by, created, &says),
        };
        self.send(event)
    }

    /// The owner that a key declares: none for most, one of a few for others; a big one has many
    /// keys.
    fn owner(&mut self, agent: u32) -> Option<String> {
        let dice = &mut self.scribe.dice;
        if is_farmed(agent) {
            // Not every farm is honest about being one.
            return dice.chance(400).then(|| format!("farm-{}", agent % 3));
        }
        if agent == 0 || !dice.chance(300) {
            return None;
        }
        Some(format!("owner-{}", dice.skewed(self.authors / 4 + 2)))
    }

    /// Somebody announces once more, perhaps with another owner.
    pub(super) fn announce_again(&mut self) {
        let agent = self.someone();
        let owner = self.owner(agent);
        self.announces[agent as usize] = self.announce(agent, owner.as_deref());
    }

    /// Labels another key's announce.
    pub(super) fn vouch(&mut self, by: u32, of: u32, label: &str) {
        let on = self.announces[of as usize];
        let data = Data { label: Some(label), ..Data::default() };
        self.react(by, on, 0, data);
    }

    /// Somebody vouches, or takes it back, or says something else that is no vouch.
    pub(super) fn vouch_somehow(&mut self) {
        let by = self.someone();
        let of = match is_farmed(by) {
            true => self.neighbour(by),
            false => self.third(by, by),
        };
        let label = match self.scribe.dice.below(100) {
            0..78 => "vouch",
            // The reader seldom changes its mind.
            78..92 if by != 0 => "unvouch",
            _ => "helpful",
        };
        self.vouch(by, of, label);
    }

    /// Another key of the same farm, or of none where it is alone.
    pub(super) fn neighbour(&mut self, agent: u32) -> u32 {
        let farms = (self.agents.len() as u32 / FARMED).max(1);
        let other = self.scribe.dice.below(u64::from(farms)) as u32 * FARMED + 13;
        match is_farmed(other) && other != agent && (other as usize) < self.agents.len() {
            true => other,
            false => self.third(agent, agent),
        }
    }

    /// Reacts, on an event that was created at `after`.
    pub(super) fn react(&mut self, by: u32, on: Hex32, after: u64, data: Data<'_>) -> Hex32 {
        self.react_as(by, after, &Says::react(on, data))
    }

    /// Reacts with more than data.
    pub(super) fn react_as(&mut self, by: u32, after: u64, says: &Says<'_>) -> Hex32 {
        let agent = self.agents[by as usize].clone();
        let created = self.created(after);
        let event = self.scribe.write(&agent, created, says);
        self.send(event)
    }

    /// Somebody takes something back that they said of late.
    pub(super) fn take_back(&mut self) {
        let Some(&Word { by, on, what }) = self.words.get(self.scribe.dice.index(RECENT_WORDS)) else {
            return self.vouch_somehow();
        };
        let data = match what {
            What::Value => Data { value: Some(0), ..Data::default() },
            What::Use => Data { used: Some(false), ..Data::default() },
            What::Accept => Data { accept: Some(false), ..Data::default() },
        };
        self.react(by, on, 0, data);
    }

    /// Notes what somebody said, so that it may be taken back.
    pub(super) fn noted(&mut self, by: u32, on: Hex32, what: What) {
        remember(&mut self.words, Word { by, on, what });
    }
}

const RECENT_WORDS: usize = super::RECENT;
