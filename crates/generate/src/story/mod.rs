//! An ordinary log: what happens next, and who is there.
//!
//! At each step the story either does what the agenda says is due (an answer to an ask, an accept, a
//! renewal, a rebuttal, the late arrival of a post) or lets somebody do something new. Authors and
//! targets are drawn with a skew: a few keys write most events, and a few posts get most reacts.

mod agenda;
mod disputes;
mod people;
mod posts;
mod reacts;

use super::Plan;
use super::agent::Agent;
use super::record::{Line, Unsigned};
use super::scribe::Scribe;
use agenda::{Agenda, Task};
use std::collections::VecDeque;
use wats_event::Hex32;
use wats_model::ids::Millis;

pub(super) const MINUTE: u64 = 60_000;
pub(super) const HOUR: u64 = Millis::HOUR.0;
pub(super) const DAY: u64 = Millis::DAY.0;

/// How many of the latest posts, targets, arguments and so on are remembered.
const RECENT: usize = 512;

/// A post-like event that is or will be in the log.
#[derive(Clone, Copy, Debug)]
struct Post {
    id: Hex32,
    author: u32,
    /// The place of its thread's root among the posts: its own, when it is one.
    root: u32,
    created_at: u64,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Ask,
    Post,
    Digest,
}

/// What somebody said of a post, so that it can be taken back.
#[derive(Clone, Copy, Debug)]
struct Word {
    by: u32,
    on: Hex32,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Value,
    Use,
    Accept,
}

/// The state of an ordinary log.
pub(super) struct Story {
    scribe: Scribe,
    events: u64,
    most_posts: u64,
    authors: u64,
    /// How many events were given out.
    told: u64,
    /// The keys that have joined; the first is the reader.
    agents: Vec<Agent>,
    /// The latest announce of each.
    announces: Vec<Hex32>,
    posts: Vec<Post>,
    agenda: Agenda,
    /// Places of posts that were reacted to of late: what is talked about is talked about more.
    talk: VecDeque<u32>,
    words: VecDeque<Word>,
    /// Places of digests.
    digests: VecDeque<u32>,
    /// Places of posts by keys that praise one another.
    farmed: VecDeque<u32>,
}

impl Story {
    pub(crate) fn new(plan: &Plan) -> Story {
        let mut story = Story {
            scribe: plan.scribe(plan.events),
            events: plan.events,
            most_posts: plan.posts(),
            authors: plan.authors(),
            told: 0,
            agents: Vec::new(),
            announces: Vec::new(),
            posts: Vec::new(),
            agenda: Agenda::default(),
            talk: VecDeque::new(),
            words: VecDeque::new(),
            digests: VecDeque::new(),
            farmed: VecDeque::new(),
        };
        story.found();
        story
    }

    /// The reader and the first agents announce themselves, and the reader vouches for some.
    fn found(&mut self) {
        for _ in 0..self.authors.min(12) {
            self.join();
        }
        for agent in 1..self.agents.len().min(9) {
            self.vouch(0, agent as u32, "vouch");
        }
    }

    fn step(&mut self) {
        match self.agenda.due(self.scribe.now) {
            Some(task) => self.perform(task),
            None => self.something_new(),
        }
    }

    /// Lets somebody do something new: join, when the plan says so, else write, when there are
    /// fewer posts than the plan wants by now, else react.
    fn something_new(&mut self) {
        let share = |of: u64| of.saturating_mul(self.told.max(1)) / self.events.max(1);
        if (self.agents.len() as u64) < share(self.authors) {
            return self.join();
        }
        if self.posts.is_empty() || (self.posts.len() as u64) < share(self.most_posts) {
            return self.write_something();
        }
        self.react_somehow();
    }

    fn may_post(&self) -> bool {
        (self.posts.len() as u64) < self.most_posts
    }

    /// Somebody: mostly one of the few who are always there.
    fn someone(&mut self) -> u32 {
        let (dice, len) = (&mut self.scribe.dice, self.agents.len() as u64);
        let agent = match dice.below(100) {
            0 | 1 => 0,
            2..60 => 1 + dice.skewed(len - 1),
            _ => 1 + dice.below(len - 1),
        };
        agent as u32
    }

    /// Somebody who is not one of the two.
    fn third(&mut self, one: u32, other: u32) -> u32 {
        for _ in 0..8 {
            let agent = self.someone();
            if agent != one && agent != other {
                return agent;
            }
        }
        let at = |i| (one + i) % self.agents.len() as u32;
        if at(1) == other { at(2) } else { at(1) }
    }

    /// The place of a post to react to: a recent one, one that is talked about, or an old one that
    /// everybody knows. Only when there is one.
    fn target(&mut self) -> u32 {
        let (dice, len) = (&mut self.scribe.dice, self.posts.len() as u64);
        let place = match dice.below(100) {
            0..50 => len - 1 - dice.skewed(len),
            50..80 if !self.talk.is_empty() => u64::from(self.talk[dice.index(self.talk.len())]),
            _ => dice.skewed(len),
        };
        place as u32
    }

    /// When the author says that it was created: shortly before it arrives; seldom long before, or
    /// a little after, by a clock that is ahead. Always after `after`.
    fn created(&mut self, after: u64) -> u64 {
        let (dice, now) = (&mut self.scribe.dice, self.scribe.now);
        let claim = match dice.below(100) {
            0 => now.saturating_sub(dice.below(30 * DAY)),
            1 => now + dice.below(9 * MINUTE),
            _ => now.saturating_sub(dice.span(HOUR)),
        };
        // Ten minutes ahead would be refused.
        claim.max(after + 1).min(now + 9 * MINUTE + 30_000)
    }

    /// Puts an event into the log, and a copy on the agenda of some.
    fn send(&mut self, event: Unsigned) -> Hex32 {
        let copied = self.scribe.dice.chance(20).then(|| event.clone());
        let id = self.scribe.send(event);
        if let Some(copy) = copied {
            let due = self.scribe.now + self.scribe.dice.span(10 * DAY);
            self.agenda.offer(due, Task::Copy(Box::new(copy)));
        }
        id
    }

    /// Gives a copy out again: mostly as received now, else as received before the original.
    fn copy(&mut self, mut copy: Unsigned) {
        let earliest = copy.created_at.min(copy.received_at);
        if self.scribe.dice.chance(600) {
            copy.received_at = self.scribe.now;
        } else {
            let back = self.scribe.dice.below(2 * DAY);
            copy.received_at = copy.received_at.saturating_sub(back).max(earliest);
        }
        self.scribe.out.push_back(Line::Event(copy));
    }

    fn perform(&mut self, task: Task) {
        match task {
            Task::Answer { ask } => self.answer(ask),
            Task::Accept { answer } => self.accept(answer),
            Task::Renew { by, on } => self.renew(by, on),
            Task::Support { by, on } => self.support(by, on),
            Task::Rebut(argument) => self.rebut(&argument),
            Task::Arrive(event) => {
                self.send(*event);
            }
            Task::Copy(event) => self.copy(*event),
            Task::Lose(blob) => self.scribe.blob(blob, false),
        }
    }
}

/// Remembers an item, and forgets the oldest where there are too many.
fn remember<T>(items: &mut VecDeque<T>, item: T) {
    if items.len() == RECENT {
        items.pop_front();
    }
    items.push_back(item);
}

impl Iterator for Story {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        while self.told < self.events {
            match self.scribe.out.pop_front() {
                None => self.step(),
                Some(line) => {
                    self.told += u64::from(matches!(line, Line::Event(_)));
                    return Some(line);
                }
            }
        }
        None
    }
}
