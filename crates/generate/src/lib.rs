//! Made-up logs: signed, skewed as real ones are, and the same bytes for the same plan.
//!
//! [`Plan`] says what to make, [`Generator`] yields it record by record. An ordinary log tells two
//! years of a network in the eyes of one reader: asks and answers in threads, accepts by the asker,
//! confirms with text and with artifacts, uses, votes, citations, renewals, withdrawals,
//! contradictions and their rebuttals, vouches, owners, digests; posts that arrive after their
//! replies, copies of what was received before, and a few keys that praise one another. With an
//! [`Attack`], a short ordinary log is followed by one adversary, whose flood must change no status
//! of what honest agents wrote.
//!
//! ```
//! use wats_generate::{Generator, Plan};
//!
//! let plan = Plan { events: 100, seed: 7, signed: false, ..Plan::default() };
//! let mut line = Vec::new();
//! for record in Generator::new(&plan) {
//!     line.clear();
//!     record.write(&mut line);
//! }
//! assert_eq!(Generator::new(&plan).last(), Generator::new(&plan).last());
//! ```
//!
//! Events are made on one thread and signed on all processors; the order does not depend on them.
//! What is held in memory grows with the authors and the posts (about 200 and 80 bytes each), not
//! with the events. There is no floating point, so the bytes are the same on every platform.

mod agent;
mod attack;
mod dice;
mod pool;
mod record;
mod says;
mod scribe;
mod story;
mod words;

pub use attack::{Attack, NoSuchAttack};
pub use pool::Lines;
pub use record::{Record, Said};

use agent::Agent;
use attack::Siege;
use pool::Pool;
use record::Line;
use scribe::Scribe;
use story::Story;
use wats_event::{Hex32, Secret};
use wats_model::ids::Millis;

/// What to generate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How many events, copies included; records of blobs come on top. With an attack, its size in
    /// its own unit ([`Attack::unit`]), on top of the short ordinary log before it.
    pub events: u64,
    /// Everything follows from it.
    pub seed: u64,
    /// How many keys write; by default one for 50 events. At least 16.
    pub authors: Option<u64>,
    /// How many post-like events there are at most; by default one in five events. At least 1.
    pub posts: Option<u64>,
    /// The network of all events.
    pub network: String,
    /// When the first record is received.
    pub start: Millis,
    /// How many days the log covers.
    pub days: u64,
    /// Whether to sign; otherwise each `sig` is 128 zeros, and all else is the same.
    pub signed: bool,
    /// The adversary, if any.
    pub attack: Option<Attack>,
}

impl Default for Plan {
    /// 2,000 signed events from January 2024 to the end of 2025.
    fn default() -> Plan {
        Plan {
            events: 2_000,
            seed: 1,
            authors: None,
            posts: None,
            network: "main".to_owned(),
            start: Millis(1_704_067_200_000),
            days: 730,
            signed: true,
            attack: None,
        }
    }
}

impl Plan {
    /// The reader's own profile.
    pub fn reader(&self) -> Hex32 {
        Agent::new(self.seed, 0).public
    }

    /// The secret key of that profile: a reader of a made-up log can write in it too. It follows from the
    /// seed, and is no secret at all.
    pub fn reader_key(&self) -> Secret {
        Agent::new(self.seed, 0).secret.as_ref().clone()
    }

    /// The configuration with which to read the log, in TOML.
    pub fn config(&self) -> String {
        let (network, reader) = (&self.network, self.reader());
        format!("[[network]]\nid = \"{network}\"\nprofiles = [\"{reader}\"]\npow_bits = 0\n")
    }

    fn authors(&self) -> u64 {
        self.authors.unwrap_or(self.events / 50).max(16)
    }

    fn posts(&self) -> u64 {
        self.posts.unwrap_or(self.events / 5).max(1)
    }

    /// A scribe that spreads so many events over the time of the plan.
    fn scribe(&self, events: u64) -> Scribe {
        let length = self.days.saturating_mul(Millis::DAY.0);
        let pace = length / events.max(1);
        Scribe::new(&self.network, self.seed, self.start, pace)
    }
}

/// The lines of a log, one after another, not signed yet.
type Script = Box<dyn Iterator<Item = Line> + Send>;

/// Yields the records of a [`Plan`], in their order.
#[derive(Debug)]
pub struct Generator(Work);

enum Work {
    Alone(Script),
    Signed(Pool),
}

impl std::fmt::Debug for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Work::Alone(_) => "Alone",
            Work::Signed(_) => "Signed",
        })
    }
}

impl Generator {
    /// Starts to generate.
    pub fn new(plan: &Plan) -> Generator {
        let script: Script = match plan.attack {
            None => Box::new(Story::new(plan)),
            Some(attack) => Box::new(Siege::new(plan, attack)),
        };
        Generator(match plan.signed {
            true => Work::Signed(Pool::new(script)),
            false => Work::Alone(script),
        })
    }

    /// The log as bytes, for [`wats_event::log::Source::from_reader`].
    pub fn lines(self) -> Lines {
        Lines::new(self)
    }
}

impl Iterator for Generator {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        match &mut self.0 {
            Work::Alone(script) => script.next().map(|line| line.finish(false)),
            Work::Signed(pool) => pool.next(),
        }
    }
}
