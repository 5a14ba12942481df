//! A log through the engine: records in the order of the log, the clock following `received_at`.

use crate::engine::{Engine, EngineError};
use crate::interner::{Change, Ingested, Interner};
use crate::view_set::{Changed, ViewSet};
use std::collections::BTreeMap;
use wats_config::Config;
use wats_event::log::{Checked, Record};
use wats_event::{Code, Refusal};
use wats_model::ids::{IdSpaceExhausted, Millis};
use wats_model::policy;
use wats_model::views::View;

/// How a replay is cut into ticks: a tick ends with whichever bound is met first.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Records in a tick, at most.
    pub records: usize,
    /// How far the clock moves within a tick, at most.
    pub span: Millis,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds::FINE
    }
}

impl Bounds {
    /// To show what each tick changed.
    pub const FINE: Bounds = Bounds { records: 1024, span: Millis::DAY };
    /// To reach the end: a tick costs at most about as much as evaluating everything, however
    /// many records it takes, so that a small one after a large one costs nearly as much again. A million
    /// in one tick peak at less memory than in two.
    pub const BULK: Bounds = Bounds { records: 1 << 22, span: Millis::days(3_660) };
}

/// Why a replay stopped.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The engine stopped.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The log names more than a node can hold.
    #[error(transparent)]
    Full(#[from] IdSpaceExhausted),
}

/// The place of a record: which log, and which line of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The log, by its number on the command line, from 0.
    pub log: usize,
    /// The line, from 1.
    pub line: u64,
}

/// Refused lines that are kept with their code; a hostile log may have any number.
pub const MAX_REFUSED: usize = 1 << 20;
/// Those of them that are kept with their reason.
pub const MAX_REASONS: usize = 1 << 10;

/// A line that was refused.
#[derive(Clone, Debug)]
pub struct Refused {
    /// Where it stands.
    pub place: Place,
    /// Why.
    pub refusal: Refusal,
}

/// The refused lines of a replay: all are counted, and as many as memory should hold are kept.
#[derive(Clone, Debug, Default)]
pub struct Refusals {
    /// The first [`MAX_REFUSED`], in the order of the logs.
    pub lines: Vec<(Place, Code)>,
    /// The first [`MAX_REASONS`], with their reasons.
    pub reasons: Vec<Refused>,
    /// How many with each code, and the reason of the first.
    pub by_code: BTreeMap<Code, (u64, Refused)>,
}

impl Refusals {
    fn add(&mut self, place: Place, refusal: Refusal) {
        if self.lines.len() < MAX_REFUSED {
            self.lines.push((place, refusal.code));
        }
        let code = refusal.code;
        let refused = Refused { place, refusal };
        if self.reasons.len() < MAX_REASONS {
            self.reasons.push(refused.clone());
        }
        self.by_code.entry(code).or_insert((0, refused)).0 += 1;
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.by_code.values().map(|(count, _)| count).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_code.is_empty()
    }
}

/// What a tick did.
#[derive(Debug)]
pub struct Ticked {
    /// Its number, from 1.
    pub number: u64,
    /// The time at its end.
    pub now: Millis,
    /// The records that it took.
    pub records: Vec<Place>,
    /// The views that it changed, consolidated.
    pub changes: Vec<(View, i64)>,
    /// What became of the document, when the replay tells: see [`Replay::telling_changes`].
    pub changed: Vec<Changed>,
}

/// What became of the records so far, but for refused ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Events that are held.
    pub events: u64,
    /// Copies of these.
    pub copies: u64,
    /// Records of blobs.
    pub blobs: u64,
    /// Valid records later than the evaluation time: they have not happened yet (section 1.2).
    pub later: u64,
}

/// A replay under way.
pub struct Replay {
    /// Names, and what is held.
    pub intake: Interner,
    /// The views so far.
    pub document: ViewSet,
    /// The running dataflow.
    pub engine: Engine,
    /// Refused lines.
    pub refused: Refusals,
    /// What became of the others.
    pub tally: Tally,
    bounds: Bounds,
    tell: bool,
    ticks: u64,
    /// The evaluation time, when it is given.
    until: Option<Millis>,
    /// The clock: the largest `received_at` so far of records that count for it.
    clock: Option<Millis>,
    /// The largest `received_at` of refused records, for when nothing else tells the time.
    refused_clock: Option<Millis>,
    pending: Vec<Change>,
    records: Vec<Place>,
    since: Option<Millis>,
}

impl Replay {
    /// Starts the engine, with nothing held.
    ///
    /// # Errors
    /// When the engine cannot be started or the configuration has too many networks.
    pub fn start(
        config: &Config,
        until: Option<Millis>,
        workers: usize,
        bounds: Bounds,
    ) -> Result<Replay, ReplayError> {
        Replay::on(config, until, bounds, |config| Engine::start(config, workers))
    }

    /// The same, on an engine that `start` starts: in a cluster, say.
    ///
    /// # Errors
    /// As [`Replay::start`].
    pub fn on(
        config: &Config,
        until: Option<Millis>,
        bounds: Bounds,
        start: impl FnOnce(policy::Config) -> Result<Engine, EngineError>,
    ) -> Result<Replay, ReplayError> {
        let intake = Interner::new(config)?;
        let engine = start(intake.config().clone())?;
        Ok(Replay {
            intake,
            document: ViewSet::default(),
            engine,
            refused: Refusals::default(),
            tally: Tally::default(),
            bounds,
            tell: false,
            ticks: 0,
            until,
            clock: None,
            refused_clock: None,
            pending: Vec::new(),
            records: Vec::new(),
            since: None,
        })
    }

    /// The same, and each tick tells what it changed in the document.
    #[must_use]
    pub fn telling_changes(mut self) -> Replay {
        self.tell = true;
        self
    }

    /// The evaluation time, as far as it is known.
    pub fn now(&self) -> Millis {
        self.until.or(self.clock).or(self.refused_clock).unwrap_or_default()
    }

    /// Takes a judged record; gives back what a tick did when one had to end before it.
    ///
    /// # Errors
    /// When the engine stopped or names ran out.
    pub fn take(&mut self, place: Place, checked: Checked) -> Result<Option<Ticked>, ReplayError> {
        let Checked { received_at, dated, outcome, .. } = checked;
        let record = match outcome {
            Ok(record) => record,
            Err(refusal) => {
                self.refused.add(place, refusal);
                if dated {
                    self.refused_clock = self.refused_clock.max(Some(received_at));
                }
                return Ok(None);
            }
        };
        if self.until.is_some_and(|until| received_at > until) {
            self.tally.later += 1;
            return Ok(None);
        }
        let clock = self.clock.map_or(received_at, |clock| clock.max(received_at));
        let leap = self.since.is_some_and(|since| clock.since(since) > self.bounds.span);
        let full = self.records.len() >= self.bounds.records.max(1);
        let ticked = if leap || full { Some(self.tick()?) } else { None };
        self.clock = Some(clock);
        self.since.get_or_insert(clock);
        self.records.push(place);
        match record {
            Record::Event(event) => match self.intake.event(&event, received_at, &mut self.pending)? {
                Ingested::New(_) => self.tally.events += 1,
                Ingested::Earlier(_) | Ingested::Duplicate(_) => self.tally.copies += 1,
            },
            Record::Blob { blob, present } => {
                self.intake.blob(blob, present, received_at, &mut self.pending)?;
                self.tally.blobs += 1;
            }
        }
        Ok(ticked)
    }

    /// Ends the replay: what is pending, and the time up to `now`.
    ///
    /// # Errors
    /// When the engine stopped.
    pub fn end(&mut self) -> Result<Ticked, ReplayError> {
        self.clock = Some(self.now());
        self.tick()
    }

    fn tick(&mut self) -> Result<Ticked, ReplayError> {
        let now = self.clock.unwrap_or_default();
        let changes = self.engine.tick(std::mem::take(&mut self.pending), now)?;
        let changed = if self.tell {
            self.document.apply_and_tell(&changes, &self.intake)
        } else {
            self.document.apply(&changes, &self.intake);
            Vec::new()
        };
        self.since = None;
        self.ticks += 1;
        let records = std::mem::take(&mut self.records);
        Ok(Ticked { number: self.ticks, now, records, changes, changed })
    }
}
