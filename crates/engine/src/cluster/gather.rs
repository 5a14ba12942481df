//! Brings what a tick changed to the first process, and to every process what each was given.

use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::rc::Rc;
use timely::dataflow::operators::{Exchange, Input, Inspect, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;
use wats_dataflows::incremental::Tick;
use wats_model::views::View;

/// What a process was given in a tick, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The process.
    pub process: usize,
    /// A hash of the time and of all changes, those of the others' shares included.
    pub given: u64,
}

/// What travels.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Parcel {
    View(View, i64),
    Mark(Mark),
}

/// What has arrived at a worker.
#[derive(Debug, Default)]
pub(crate) struct Arrived {
    pub views: Vec<(View, i64)>,
    pub marks: Vec<Mark>,
}

/// A dataflow beside the engine's: parcels go to the worker that they name.
pub(crate) struct Gather {
    input: InputHandle<Tick, timely::container::CapacityContainerBuilder<Vec<(usize, Parcel)>>>,
    probe: ProbeHandle<Tick>,
    arrived: Rc<RefCell<Arrived>>,
}

impl Gather {
    /// Wires it; every worker of the cluster must, after the engine's own dataflow.
    pub(crate) fn new(worker: &mut Worker) -> Gather {
        let mut input = InputHandle::new();
        let probe = ProbeHandle::new();
        let arrived = Rc::new(RefCell::new(Arrived::default()));
        let sink = arrived.clone();
        worker.dataflow(|scope| {
            scope
                .input_from(&mut input)
                .container::<Vec<_>>()
                .exchange(|(to, _): &(usize, Parcel)| *to as u64)
                .inspect(move |(_, parcel)| match parcel {
                    Parcel::View(view, diff) => sink.borrow_mut().views.push((view.clone(), *diff)),
                    Parcel::Mark(mark) => sink.borrow_mut().marks.push(*mark),
                })
                .probe_with(&probe);
        });
        Gather { input, probe, arrived }
    }

    /// Sends what `tick` changed here to the first worker of all, and `mark` to the workers `to`.
    pub(crate) fn send(
        &mut self,
        tick: Tick,
        views: impl IntoIterator<Item = (View, i64)>,
        mark: Mark,
        to: impl IntoIterator<Item = usize>,
    ) {
        for (view, diff) in views {
            self.input.send((0, Parcel::View(view, diff)));
        }
        for worker in to {
            self.input.send((worker, Parcel::Mark(mark)));
        }
        self.input.advance_to(tick);
    }

    /// Whether parcels of `tick` may still be on their way.
    pub(crate) fn waits_for(&self, tick: Tick) -> bool {
        self.probe.less_than(&tick)
    }

    /// What has arrived since the last time.
    pub(crate) fn take(&self) -> Arrived {
        std::mem::take(&mut self.arrived.borrow_mut())
    }
}
