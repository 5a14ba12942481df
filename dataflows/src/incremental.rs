//! The one operator of this crate that keeps state of its own.
//!
//! Differential's `reduce` replays a key's whole history at each of its updates: a post with 100,000
//! reacts pays 100,000 for the next one. A [`Machine`] keeps whatever index answers its question in
//! time proportional to the change, and [`run`] gives it what an operator owes the graph: the
//! changes of one tick, consolidated, retractions first, once the frontier has passed that tick.
//!
//! What a machine puts out must be a function of the collection it has been given, so that a tick's
//! result depends neither on the order within it nor on how updates were cut into ticks.

use differential_dataflow::{AsCollection, Data, ExchangeData, VecCollection};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use timely::dataflow::channels::pact::{Exchange, Pipeline};
use timely::dataflow::operators::generic::operator::Operator;
use timely::dataflow::operators::vec::Broadcast;
use timely::dataflow::operators::{Capability, InputCapability};
use wats_model::ids::Millis;

/// The dataflow's time: the number of a tick, from 1. What the clock says is data, see [`Machine::advance`].
pub type Tick = u64;

/// A collection of the dataflow: changes of records at ticks, multiplicities in `i64`.
pub type Changes<'scope, D> = VecCollection<'scope, Tick, D, i64>;

/// State that turns changes of one collection into changes of another.
pub trait Machine: 'static {
    /// What it is told.
    type Change: ExchangeData;
    /// What it puts out.
    type View: Data;

    /// Takes one consolidated change of the current tick; all retractions come before all additions.
    fn apply(&mut self, change: Self::Change, diff: i64);

    /// The time is now `now`; called after the tick's changes, never with an earlier time.
    fn advance(&mut self, _now: Millis) {}

    /// The tick is complete: puts out how the view differs from the last time, and nothing where it
    /// does not.
    fn emit(&mut self, out: &mut Vec<(Self::View, i64)>);
}

/// A machine that the dataflow runs and its owner may look into between ticks.
pub type Shared<M> = Rc<RefCell<M>>;

/// The changes that wait until their tick is complete.
struct Pending<C> {
    ticks: BTreeMap<Tick, Waiting<C>>,
}

/// What waits for the end of a tick: the right to speak at it, changes, and the time.
type Waiting<C> = (Capability<Tick>, Vec<(C, i64)>, Option<Millis>);

/// What a complete tick changed.
type Released<M> = (Capability<Tick>, Vec<(<M as Machine>::View, Tick, i64)>);

/// Records by their place among those of the tick, with net multiplicities.
type Net = Vec<(u32, i64)>;

impl<C: Data> Pending<C> {
    fn at(&mut self, cap: &InputCapability<Tick>, time: Tick) -> &mut Waiting<C> {
        self.ticks.entry(time).or_insert_with(|| (cap.delayed(&time, 0), Vec::new(), None))
    }

    /// Puts records aside for their ticks; `put` says how one waits.
    fn stash<'a, D: 'static>(
        &mut self,
        cap: InputCapability<Tick>,
        batches: impl Iterator<Item = &'a mut Vec<(D, Tick, i64)>>,
        put: impl Fn(&mut Waiting<C>, D, i64),
    ) {
        for batch in batches {
            for (record, time, diff) in batch.drain(..) {
                put(self.at(&cap, time), record, diff);
            }
        }
    }
}

/// A change waits with its multiplicity.
fn wait<C>(waiting: &mut Waiting<C>, change: C, diff: i64) {
    waiting.1.push((change, diff));
}

/// The time waits as the latest told; that it is no longer some other time says nothing.
fn wait_for_time<C>(waiting: &mut Waiting<C>, now: Millis, diff: i64) {
    if diff > 0 {
        waiting.2 = waiting.2.max(Some(now));
    }
}

impl<C: ExchangeData> Pending<C> {
    /// Feeds the complete ticks to the machine, in their order; gives what each changed.
    fn release<M: Machine<Change = C>>(
        &mut self,
        machine: &Shared<M>,
        complete: impl Fn(&Tick) -> bool,
    ) -> Vec<Released<M>> {
        let mut released = Vec::new();
        while let Some(entry) = self.ticks.first_entry()
            && complete(entry.key())
        {
            let (tick, (cap, changes, now)) = entry.remove_entry();
            let out = step(machine, changes, now).into_iter();
            released.push((cap, out.map(|(view, diff)| (view, tick, diff)).collect()));
        }
        released
    }
}

/// Feeds one complete tick to the machine and returns what changed.
fn step<M: Machine>(
    machine: &Shared<M>,
    changes: Vec<(M::Change, i64)>,
    now: Option<Millis>,
) -> Vec<(M::View, i64)> {
    let mut machine = machine.borrow_mut();
    let (retractions, additions) = netted(&changes);
    let mut changes: Vec<Option<M::Change>> = changes.into_iter().map(|(change, _)| Some(change)).collect();
    for (at, diff) in retractions.into_iter().chain(additions) {
        if let Some(change) = changes[at as usize].take() {
            machine.apply(change, diff);
        }
    }
    if let Some(now) = now {
        machine.advance(now);
    }
    let mut out = Vec::new();
    machine.emit(&mut out);
    out
}

/// The net changes, retractions and additions, each as the place of one of its records. Records are
/// large and equal ones are rare, so places are sorted in their stead.
fn netted<C: Ord>(changes: &[(C, i64)]) -> (Net, Net) {
    let mut order: Vec<u32> = (0..changes.len() as u32).collect();
    order.sort_unstable_by(|a, b| changes[*a as usize].0.cmp(&changes[*b as usize].0));
    let (mut retractions, mut additions) = (Vec::new(), Vec::new());
    for equal in order.chunk_by(|a, b| changes[*a as usize].0 == changes[*b as usize].0) {
        let diff: i64 = equal.iter().map(|at| changes[*at as usize].1).sum();
        match diff {
            0 => {}
            1.. => additions.push((equal[0], diff)),
            _ => retractions.push((equal[0], diff)),
        }
    }
    (retractions, additions)
}

/// Runs `machine` over `changes`, which `route` spreads over the workers.
pub fn run<'scope, M: Machine>(
    name: &str,
    changes: Changes<'scope, M::Change>,
    route: impl Fn(&M::Change) -> u64 + 'static,
    machine: Shared<M>,
) -> Changes<'scope, M::View> {
    let pact = Exchange::new(move |(change, _, _): &(M::Change, Tick, i64)| route(change));
    changes
        .inner
        .unary_frontier(pact, name, |_, _| {
            let mut pending = Pending { ticks: BTreeMap::new() };
            move |(input, frontier), output| {
                input.for_each_stamp(|cap, data| pending.stash(cap, data, wait));
                for (cap, out) in pending.release(&machine, |tick| !frontier.less_equal(tick)) {
                    output.session(&cap).give_iterator(out.into_iter());
                }
            }
        })
        .as_collection()
}

/// Runs `machine` over `changes`, and over what every worker is told: standings, of which there are few.
pub fn run_beside<'scope, M: Machine>(
    name: &str,
    changes: Changes<'scope, M::Change>,
    everywhere: Changes<'scope, M::Change>,
    route: impl Fn(&M::Change) -> u64 + 'static,
    machine: Shared<M>,
) -> Changes<'scope, M::View> {
    let pact = Exchange::new(move |(change, _, _): &(M::Change, Tick, i64)| route(change));
    let everywhere = match everywhere.inner.scope().peers() {
        1 => everywhere.inner,
        _ => everywhere.inner.broadcast(),
    };
    changes
        .inner
        .binary_frontier(everywhere, pact, Pipeline, name, |_, _| {
            let mut pending = Pending { ticks: BTreeMap::new() };
            move |(input, frontier), (everywhere, told), output| {
                input.for_each_stamp(|cap, data| pending.stash(cap, data, wait));
                everywhere.for_each_stamp(|cap, data| pending.stash(cap, data, wait));
                let complete = |tick: &Tick| !frontier.less_equal(tick) && !told.less_equal(tick);
                for (cap, out) in pending.release(&machine, complete) {
                    output.session(&cap).give_iterator(out.into_iter());
                }
            }
        })
        .as_collection()
}

/// Runs `machine` over `changes` and the time; `clock` holds the current time, fed on each worker.
pub fn run_timed<'scope, M: Machine>(
    name: &str,
    changes: Changes<'scope, M::Change>,
    clock: Changes<'scope, Millis>,
    route: impl Fn(&M::Change) -> u64 + 'static,
    machine: Shared<M>,
) -> Changes<'scope, M::View> {
    let pact = Exchange::new(move |(change, _, _): &(M::Change, Tick, i64)| route(change));
    changes
        .inner
        .binary_frontier(clock.inner, pact, Pipeline, name, |_, _| {
            let mut pending = Pending { ticks: BTreeMap::new() };
            move |(input, frontier), (clock, clock_frontier), output| {
                input.for_each_stamp(|cap, data| pending.stash(cap, data, wait));
                clock.for_each_stamp(|cap, data| pending.stash(cap, data, wait_for_time));
                let complete = |tick: &Tick| !frontier.less_equal(tick) && !clock_frontier.less_equal(tick);
                for (cap, out) in pending.release(&machine, complete) {
                    output.session(&cap).give_iterator(out.into_iter());
                }
            }
        })
        .as_collection()
}
