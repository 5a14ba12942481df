//! Who writes, and when: keys out of the seed, the clock, and events with their ids.

use super::agent::Agent;
use super::dice::Dice;
use super::record::{Line, Unsigned};
use super::says::Says;
use std::collections::VecDeque;
use std::sync::Arc;
use wats_event::Hex32;
use wats_model::ids::Millis;

/// Writes events into the log, and keeps its clock.
#[derive(Debug)]
pub(super) struct Scribe {
    net: String,
    seed: u64,
    pub dice: Dice,
    /// When the next record is received.
    pub now: u64,
    /// How much time passes from one event to the next, on average.
    pub pace: u64,
    pub out: VecDeque<Line>,
}

impl Scribe {
    pub(crate) fn new(net: &str, seed: u64, start: Millis, pace: u64) -> Scribe {
        Scribe { net: net.to_owned(), seed, dice: Dice::new(seed), now: start.0, pace, out: VecDeque::new() }
    }

    pub(crate) fn agent(&self, number: u64) -> Agent {
        Agent::new(self.seed, number)
    }

    /// Writes an event that is received now, without putting it into the log.
    pub(crate) fn write(&self, by: &Agent, created_at: u64, says: &Says<'_>) -> Unsigned {
        let mut text = Vec::with_capacity(512 + says.text.len());
        let (id_at, sig_at) = says.write(&self.net, by, created_at, &mut text);
        Unsigned {
            received_at: self.now,
            created_at,
            id: Hex32(*blake3::hash(&text).as_bytes()),
            id_at,
            sig_at,
            text,
            by: Arc::clone(&by.secret),
        }
    }

    /// Writes an event whose id has the given number of leading zero bits.
    pub(crate) fn mine(&self, by: &Agent, created_at: u64, says: &Says<'_>, bits: u16) -> Unsigned {
        let mut says = says.clone();
        let mut nonce = 0;
        loop {
            says.nonce = Some(nonce);
            let event = self.write(by, created_at, &says);
            if event.id.leading_zeros() >= bits {
                return event;
            }
            nonce += 1;
        }
    }

    /// Puts an event into the log as received now, and lets time pass.
    pub(crate) fn send(&mut self, mut event: Unsigned) -> Hex32 {
        event.received_at = self.now;
        let id = event.id;
        self.out.push_back(Line::Event(event));
        self.now += self.dice.below(2 * self.pace + 1);
        id
    }

    /// Writes an event created now and puts it into the log.
    pub(crate) fn say(&mut self, by: &Agent, says: &Says<'_>) -> Hex32 {
        self.send(self.write(by, self.now, says))
    }

    /// Puts into the log that the node holds a blob, or no longer does.
    pub(crate) fn blob(&mut self, blob: Hex32, present: bool) {
        let received_at = self.now;
        self.out.push_back(Line::Blob { received_at, blob, present });
    }
}
