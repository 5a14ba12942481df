//! What is to happen later.

use super::disputes::Argument;
use crate::record::Unsigned;
use std::collections::BTreeMap;
use wats_event::Hex32;

/// How much may be on the agenda before new items are turned away.
const MOST: usize = 1 << 16;

#[derive(Debug)]
pub(super) enum Task {
    /// Somebody answers an ask.
    Answer { ask: u32 },
    /// The asker accepts an answer.
    Accept { answer: u32 },
    /// Somebody says that what they confirmed is still valid.
    Renew { by: u32, on: u32 },
    /// A key that the reader trusts confirms or uses a post.
    Support { by: u32, on: u32 },
    /// Somebody contradicts an argument.
    Rebut(Argument),
    /// An event that was written before arrives only now.
    Arrive(Box<Unsigned>),
    /// An event that has arrived arrives once more.
    Copy(Box<Unsigned>),
    /// The node holds a blob no longer.
    Lose(Hex32),
}

#[derive(Debug, Default)]
pub(super) struct Agenda {
    tasks: BTreeMap<(u64, u64), Task>,
    added: u64,
}

impl Agenda {
    /// Puts a task on the agenda.
    pub(super) fn add(&mut self, due: u64, task: Task) {
        self.added += 1;
        self.tasks.insert((due, self.added), task);
    }

    /// Puts a task on the agenda, unless it is full.
    pub(super) fn offer(&mut self, due: u64, task: Task) {
        if self.tasks.len() < MOST {
            self.add(due, task);
        }
    }

    /// Takes the first task that is due.
    pub(super) fn due(&mut self, now: u64) -> Option<Task> {
        let first = self.tasks.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }
}
