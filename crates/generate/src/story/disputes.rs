//! Contradictions, with evidence and by reasoned reply, and what is said against them.

use super::agenda::Task;
use super::{DAY, HOUR, Story};
use crate::says::{Data, Says};
use crate::words;
use wats_event::Hex32;

/// How long a dispute goes on at most: one more than the specification follows.
const DEEPEST: u8 = 4;

/// An argument of a contradiction, which may be contradicted in turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Argument {
    /// The react with evidence, or the reply.
    id: Hex32,
    by: u32,
    /// Who is argued against.
    against: u32,
    /// The post that the whole dispute is about.
    about: u32,
    depth: u8,
}

impl Story {
    /// Contradicts a post with evidence.
    pub(super) fn contradict(&mut self, by: u32, on: u32) {
        let post = self.posts[on as usize];
        let id = self.deny(by, post.id, on);
        self.argued(Argument { id, by, against: post.author, about: on, depth: 1 });
    }

    /// Contradicts a post by a reply that says why, and a bare react.
    pub(super) fn reason(&mut self, by: u32, on: u32) {
        if !self.may_post() {
            return self.contradict(by, on);
        }
        let post = self.posts[on as usize];
        let text = words::finding(&mut self.scribe.dice, false);
        let reply = self.reply_with(by, on, &text);
        let data = Data { value: Some(-1), ..Data::default() };
        self.react(by, post.id, post.created_at, data);
        self.argued(Argument {
            id: self.posts[reply as usize].id,
            by,
            against: post.author,
            about: on,
            depth: 1,
        });
    }

    /// A third party contradicts an argument; only seldom its own target does, in vain.
    pub(super) fn rebut(&mut self, argument: &Argument) {
        let by = match self.scribe.dice.chance(100) {
            true => argument.against,
            false => self.third(argument.by, argument.against),
        };
        let id = self.deny(by, argument.id, argument.about);
        self.argued(Argument {
            id,
            by,
            against: argument.by,
            about: argument.about,
            depth: argument.depth + 1,
        });
    }

    /// Reacts with -1 and evidence, some of it an artifact.
    fn deny(&mut self, by: u32, on: Hex32, about: u32) -> Hex32 {
        let detail = words::finding(&mut self.scribe.dice, false);
        if self.scribe.dice.chance(350) {
            return self.react_with_artifact(by, on, about, -1, &detail);
        }
        let data = Data { evidence: Some(self.evidence(&detail)), value: Some(-1), ..Data::default() };
        let after = self.posts[about as usize].created_at;
        self.react(by, on, after, data)
    }

    /// An argument may call for another.
    fn argued(&mut self, argument: Argument) {
        if argument.depth < DEEPEST && self.scribe.dice.chance(450) {
            let due = self.scribe.now + HOUR + self.scribe.dice.span(20 * DAY);
            self.agenda.offer(due, Task::Rebut(argument));
        }
    }

    /// Two authors contradict each other, each with their own post: a cycle.
    pub(super) fn duel(&mut self, by: u32, on: u32) {
        if !self.may_post() {
            return self.contradict(by, on);
        }
        let theirs = self.posts[on as usize];
        let own = self.reply(by, on);
        let mine = self.posts[own as usize];
        let pairs = [(by, theirs.id, mine.id), (theirs.author, mine.id, theirs.id)];
        for (by, on, argument) in pairs {
            let refs = [argument];
            let data = Data { value: Some(-1), ..Data::default() };
            let says = Says { refs: &refs, ..Says::react(on, data) };
            self.react_as(by, mine.created_at, &says);
        }
    }
}
