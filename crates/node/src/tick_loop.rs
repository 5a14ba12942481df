//! The engine's thread: durable records in, micro-ticks, views out.
//!
//! A tick takes in what has come while the last one ran: one record when it is quiet, a few while some
//! come, and many in a flood, where a record of a large tick costs a twentieth of one alone. So what
//! waits waits no longer than it must, up to a length of ticks at which they get no larger. Time moves
//! with every tick, and by itself once a second; a leap of the clock is taken in slices, and what comes
//! in meanwhile goes between them.

use super::NodeError;
use super::commit::{Committed, Durable};
use super::state::{NodeState, Phase};
use super::view_writer;
use crossbeam::channel::{Receiver, Sender, never, select};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wats_config::Config;
use wats_engine::engine::Engine;
use wats_engine::explain::Seen;
use wats_engine::interner::{Change, Ingested, Interner};
use wats_engine::view_set::ViewSet;
use wats_event::{Content, Event};
use wats_model::ids::Millis;
use wats_model::views::View;
use wats_store::{Seq, StoreError, TickMark, ViewBatch};

/// How long nothing may happen before time moves by itself.
const BEAT: Duration = Duration::from_secs(1);
/// A tick that takes longer is followed by a smaller one.
const LONGEST: Duration = Duration::from_millis(250);
/// Records of a tick, at most.
const MOST: usize = 8192;
/// And while more wait at least: what a tick costs whatever its size is not saved by smaller ones.
const LEAST: usize = 32;
/// A step of the clock that is taken in slices.
const LEAP: Millis = Millis(60_000);
/// Signals that are due in a slice, about: at first, and how many at least and at most.
const SLICES: (usize, usize, usize) = (256, 64, 8192);
/// A slice that takes longer is followed by a smaller one, and one that takes less than half of it by a
/// larger one: what a tick costs whatever its size is shared by many signals.
const SLICE_TAKES: Duration = Duration::from_millis(25);

/// A tick that was begun.
#[derive(Clone, Copy, Debug)]
struct Open {
    ticked: TickMark,
    records: usize,
    began: Instant,
}

/// A tick that is finished, and the changes of it.
type Finished = (Open, Vec<(View, i64)>);

/// A question about the state between two ticks.
pub type Question = Box<dyn FnOnce(&Driver) + Send>;

/// Names, views and the dataflow, as of the last tick.
#[derive(Debug)]
pub struct Driver {
    core: Arc<NodeState>,
    /// Names, and what is held.
    pub intake: Interner,
    /// The views.
    pub document: ViewSet,
    /// The running dataflow.
    pub engine: Engine,
    changes: Vec<Change>,
    records: usize,
    /// The last tick that is finished.
    ticked: TickMark,
    /// The last tick that was begun, or what the next one is of so far.
    next: TickMark,
    /// Ticks that were begun and not finished, the oldest first.
    open: VecDeque<Open>,
    /// The latest that anything was received at: time goes there at least.
    received: Millis,
    /// Views that could not be written yet, because the disk was full.
    unwritten: ViewBatch,
    /// How many signals are due in the next slice of a leap of the clock, about.
    slice: usize,
    events: i64,
    /// Those who are told that something can be seen.
    tell: Vec<Sender<()>>,
}

impl Driver {
    /// A driver that holds nothing.
    ///
    /// # Errors
    /// When the engine cannot be started, or the configuration has too many networks.
    pub fn new(core: Arc<NodeState>, config: &Config, workers: usize) -> Result<Driver, NodeError> {
        let intake = Interner::new(config)?;
        let engine = Engine::start(intake.config().clone(), workers)?;
        // Answers that were given are not taken back because a clock was set back meanwhile.
        let now = core.store.read().ticked()?.now;
        let ticked = TickMark { tick: 0, now, through: Seq(0) };
        Ok(Driver {
            core,
            intake,
            document: ViewSet::default(),
            engine,
            changes: Vec::new(),
            records: 0,
            ticked,
            next: ticked,
            open: VecDeque::new(),
            received: now,
            unwritten: ViewBatch::default(),
            slice: SLICES.0,
            events: 0,
            tell: Vec::new(),
        })
    }

    /// Whenever views were written, a message is put into this channel, which needs room for one.
    #[must_use]
    pub fn telling(mut self, tell: Vec<Sender<()>>) -> Driver {
        self.tell = tell;
        self
    }

    /// What an explanation needs.
    pub fn seen(&self) -> Seen<'_> {
        Seen { intake: &self.intake, document: &self.document, engine: &self.engine, now: self.ticked.now }
    }

    /// The last tick.
    pub fn ticked(&self) -> TickMark {
        self.ticked
    }

    /// Takes records in, for the next tick.
    ///
    /// # Errors
    /// When names run out.
    pub fn take(&mut self, records: impl IntoIterator<Item = Durable>) -> Result<(), NodeError> {
        for Durable { seq, received_at, what } in records {
            match what {
                Committed::Event(event) => {
                    self.charge(&event);
                    let kept = self.intake.event(&event, received_at, &mut self.changes)?;
                    self.events += i64::from(matches!(kept, Ingested::New(_)));
                }
                Committed::Blob(blob, present) => {
                    self.intake.blob(blob, present, received_at, &mut self.changes)?;
                }
            }
            self.records += 1;
            self.passed(seq);
            self.received = self.received.max(received_at);
        }
        Ok(())
    }

    /// Says who named blobs.
    fn charge(&self, event: &Event) {
        let blobs = match &event.content {
            Content::Post(post) => &post.blobs,
            Content::React(react) => &react.blobs,
            _ => return,
        };
        if !blobs.is_empty() {
            let weighty = self.core.weighty.anywhere(event.author);
            self.core.blobs.accounts().names(event.author, weighty, blobs);
        }
    }

    /// Everything up to a place was looked at, whether it was taken in or left out.
    pub fn passed(&mut self, seq: Seq) {
        self.next.through = self.next.through.max(seq);
    }

    /// The present: what has been received has happened, whatever the clock says now.
    fn present(&self) -> Millis {
        self.core.clock.now().max(self.received)
    }

    /// Records taken in since the last tick.
    pub fn pending(&self) -> usize {
        self.records
    }

    /// Begins a tick with what was taken in. The engine works on it while the views of the tick before
    /// are written.
    fn begin(&mut self, now: Millis) -> Result<(), NodeError> {
        self.next.now = self.next.now.max(now);
        self.next.tick += 1;
        self.engine.begin(std::mem::take(&mut self.changes), self.next.now)?;
        let records = std::mem::take(&mut self.records);
        self.open.push_back(Open { ticked: self.next, records, began: Instant::now() });
        Ok(())
    }

    /// Waits for the oldest open tick, and adds its changes up; none when no tick is open.
    fn finish(&mut self) -> Result<Option<Finished>, NodeError> {
        let Some(open) = self.open.pop_front() else {
            return Ok(None);
        };
        let views = self.engine.finish()?;
        self.ticked = open.ticked;
        self.document.apply(&views, &self.intake);
        self.tell_weights(&views);
        Ok(Some((open, views)))
    }

    /// A tick of which nothing is shown.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn tick_of_loading(&mut self) -> Result<(), NodeError> {
        let now = self.present();
        self.begin(now)?;
        self.finish().map(drop)
    }

    /// Writes what corrects the stored views.
    ///
    /// # Errors
    /// When the store fails.
    pub fn publish_loaded(&mut self, correct: ViewBatch) -> Result<(), NodeError> {
        self.unwritten.then(correct);
        self.core.metrics.events.set(self.events);
        self.write()
    }

    /// Finishes the oldest open tick and shows its views, all at once.
    fn show(&mut self) -> Result<(), NodeError> {
        if let Some((open, views)) = self.finish()? {
            let evaluated = open.began.elapsed();
            let mut batch = ViewBatch::default();
            view_writer::changes(&views, &self.intake, &mut batch)?;
            self.unwritten.then(batch);
            self.write()?;
            let took = open.began.elapsed();
            if took > LONGEST {
                let (records, changes) = (open.records, views.len());
                let (took_ms, evaluated_ms) = (took.as_millis() as u64, evaluated.as_millis() as u64);
                tracing::debug!(records, changes, evaluated_ms, took_ms, "a long tick");
            }
            self.core.metrics.ticked(open.records, views.len(), took);
            self.core.metrics.events.set(self.events);
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), NodeError> {
        match self.core.store.publish(&self.unwritten, self.ticked) {
            Ok(()) => {
                // Only now: a woken waiter reads the written views.
                let written = std::mem::take(&mut self.unwritten);
                self.core.roots_changed(written.roots().map(|(network, root)| (network.to_owned(), root)));
                self.core.shown.store(self.ticked.through.0, Ordering::Release);
                // A message that waits stands for all.
                self.tell.iter().for_each(|tell| {
                    let _ = tell.try_send(());
                });
                Ok(())
            }
            Err(StoreError::Full(_)) => {
                self.core.disk_low.store(true, Ordering::Relaxed);
                Ok(())
            }
            Err(e) => Err(e.into()),
        }
    }

    fn tell_weights(&self, views: &[(View, i64)]) {
        let w_min = self.intake.config().policy.w_min;
        let mut has: std::collections::HashMap<_, bool> = std::collections::HashMap::new();
        for (view, diff) in views {
            if let View::Author(author) = view {
                // By its voice, which a bad reputation takes from a key that is trusted.
                let now = *diff > 0 && author.voice >= w_min;
                *has.entry(author.key).or_default() |= now;
            }
        }
        let named =
            |(id, has)| view_writer::key(id, &self.intake).map(|(network, key)| (network.into(), key, has));
        let named: Vec<(Box<str>, _, bool)> = has.into_iter().filter_map(named).collect();
        let keys: Vec<_> = named.iter().map(|(_, key, _)| *key).collect();
        self.core.weighty.set(named);
        let weighed = keys.into_iter().map(|key| (key, self.core.weighty.anywhere(key)));
        self.core.blobs.accounts().weigh(weighed);
    }

    /// Whether the clock has leapt, and the views are not there yet.
    fn is_behind(&self) -> Result<bool, NodeError> {
        let now = self.present();
        Ok(self.step(now)? < now)
    }

    /// The next moment to tick at, on the way to `to`: not so far that it takes long.
    fn step(&self, to: Millis) -> Result<Millis, NodeError> {
        // While a tick is open the engine says nothing of what is due after it.
        if to.since(self.next.now) <= LEAP || !self.open.is_empty() {
            return Ok(to.min(self.next.now.after(LEAP)));
        }
        let slice = self.slice;
        let slices = self.engine.ask(move |inside| inside.signals.borrow().slice(to, slice))?;
        let next = slices.into_iter().min().unwrap_or(to);
        // At least a little, so that a slice that ends where it began does not stand still.
        Ok(next.max(Millis(self.next.now.0 + 1)).min(to))
    }
}

/// The engine thread's life: it ends with the writer, after the last of its records.
///
/// # Errors
/// When the engine or the store fails.
pub(crate) fn run(
    driver: &mut Driver,
    durable: &Receiver<Vec<Durable>>,
    questions: &Receiver<Question>,
) -> Result<(), NodeError> {
    let mut questions = questions.clone();
    let mut waiting: VecDeque<Durable> = VecDeque::new();
    let mut budget = 256;
    let mut ended = false;
    loop {
        driver.core.lives();
        if waiting.is_empty() && !ended {
            let behind = driver.is_behind()?;
            select! {
                recv(durable) -> group => match group {
                    Ok(group) => waiting.extend(group),
                    Err(_) => ended = true,
                },
                recv(questions) -> question => {
                    match question {
                        Ok(question) => question(driver),
                        // Nobody is left to ask.
                        Err(_) => questions = never(),
                    }
                    continue;
                }
                default(if behind { Duration::ZERO } else { BEAT }) => {}
            }
        }
        while waiting.len() <= budget
            && let Ok(group) = durable.try_recv()
        {
            waiting.extend(group);
        }
        driver.core.metrics.backlog.set(durable.len() as i64);
        let began = Instant::now();
        let some = waiting.len().min(budget);
        driver.take(waiting.drain(..some))?;
        let to = driver.present();
        let step = driver.step(to)?;
        let leaping = step < to;
        driver.begin(step)?;
        // While more waits, the views of a tick are written when the next has begun.
        let keep = usize::from(!waiting.is_empty() && questions.is_empty());
        while driver.open.len() > keep {
            driver.show()?;
        }
        if keep == 0 {
            questions.try_iter().for_each(|question| question(driver));
        }
        budget = next_budget(budget, some, began.elapsed());
        if leaping {
            driver.slice = next_slice(driver.slice, began.elapsed());
        }
        // What is durable and not taken in yet is taken in after the next start.
        if (ended && waiting.is_empty()) || driver.core.phase() == Phase::Stopping {
            return Ok(());
        }
    }
}

/// How many signals may be due in the next slice of a leap of the clock, about, after one of `due` that took
/// so long.
pub fn next_slice(due: usize, took: Duration) -> usize {
    let (_, least, most) = SLICES;
    if took > SLICE_TAKES {
        (due / 2).max(least)
    } else if took < SLICE_TAKES / 2 {
        (due * 2).min(most)
    } else {
        due
    }
}

/// How many records the next tick may take in, after one of `some` that took so long.
fn next_budget(budget: usize, some: usize, took: Duration) -> usize {
    if took > LONGEST {
        (some / 2).max(LEAST)
    } else if some == budget && took < LONGEST / 2 {
        (budget * 2).min(MOST)
    } else {
        budget
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_grows_while_it_is_short_and_shrinks_when_it_takes_long() {
        let ms = Duration::from_millis;
        assert_eq!(next_slice(256, ms(5)), 512);
        assert_eq!(next_slice(256, ms(20)), 256);
        assert_eq!(next_slice(256, ms(30)), 128);
        assert_eq!(next_slice(SLICES.1, ms(900)), SLICES.1);
        assert_eq!(next_slice(SLICES.2, ms(1)), SLICES.2);
    }

    #[test]
    fn a_tick_grows_in_a_flood_and_shrinks_when_it_takes_long() {
        let ms = Duration::from_millis;
        assert_eq!(next_budget(64, 64, ms(1)), 128);
        assert_eq!(next_budget(64, 3, ms(1)), 64, "there was not more to take");
        assert_eq!(next_budget(64, 64, ms(200)), 64);
        assert_eq!(next_budget(64, 64, ms(300)), 32);
        assert_eq!(next_budget(64, 1, ms(900)), LEAST);
        assert_eq!(next_budget(MOST, MOST, ms(1)), MOST);
    }
}
