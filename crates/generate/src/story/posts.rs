//! What is written: asks, answers, replies, posts that cite, digests.

use super::agenda::Task;
use super::people::is_farmed;
use super::{DAY, HOUR, Kind, MINUTE, Post, Story, What, remember};
use crate::says::{Attachment, Data, Says};
use crate::words;
use wats_event::Hex32;

impl Story {
    /// Somebody writes something new.
    pub(super) fn write_something(&mut self) {
        let by = self.someone();
        match self.scribe.dice.below(100) {
            _ if self.posts.is_empty() => self.ask(by),
            0..40 => self.ask(by),
            40..58 => self.note(by),
            58..82 => {
                let to = self.target();
                self.reply(by, to);
            }
            82..94 => self.digest(by),
            _ => self.other(by),
        }
    }

    /// Puts a post into the log, or on the agenda when it is to arrive late.
    pub(super) fn publish(&mut self, by: u32, says: &Says<'_>, kind: Kind, to: Option<u32>) -> u32 {
        let place = self.posts.len() as u32;
        let after = to.map_or(0, |to| self.posts[to as usize].created_at);
        let created_at = self.created(after);
        let agent = self.agents[by as usize].clone();
        let event = self.scribe.write(&agent, created_at, says);
        self.posts.push(Post {
            id: event.id,
            author: by,
            root: to.map_or(place, |to| self.posts[to as usize].root),
            created_at,
            kind,
        });
        if is_farmed(by) {
            remember(&mut self.farmed, place);
        }
        if place > 0 && self.scribe.dice.chance(25) {
            let due = self.scribe.now + HOUR + self.scribe.dice.span(4 * DAY);
            self.agenda.add(due, Task::Arrive(Box::new(event)));
        } else {
            self.send(event);
        }
        place
    }

    /// Asks; answers follow, and perhaps an accept.
    fn ask(&mut self, by: u32) {
        let dice = &mut self.scribe.dice;
        let (title, text) = (words::title(dice), words::text(dice));
        let tags: Vec<&str> = (0..1 + dice.below(3)).map(|_| dice.pick(words::TAGS)).collect();
        let addressed = self.scribe.dice.chance(150).then(|| self.someone());
        let to = addressed.map(|agent| self.agents[agent as usize].public);
        let says = Says { tags: &tags, to: to.as_slice(), ..Says::root("ask", &title, &text) };
        let ask = self.publish(by, &says, Kind::Ask, None);
        let answers = self.scribe.dice.skewed(8);
        for _ in 0..answers {
            let due = self.scribe.now + MINUTE + self.scribe.dice.span(20 * DAY);
            self.agenda.offer(due, Task::Answer { ask });
        }
    }

    /// Somebody else answers.
    pub(super) fn answer(&mut self, ask: u32) {
        if !self.may_post() {
            return;
        }
        let asker = self.posts[ask as usize].author;
        let by = self.third(asker, asker);
        let answer = self.reply(by, ask);
        let (dice, now) = (&mut self.scribe.dice, self.scribe.now);
        if dice.chance(550) {
            let due = now + 10 * MINUTE + dice.span(10 * DAY);
            self.agenda.offer(due, Task::Accept { answer });
        }
        let helpers = dice.skewed(4);
        for _ in 0..helpers {
            self.call_for_support(answer);
        }
    }

    /// Lets a key that the reader may trust try a post.
    fn call_for_support(&mut self, on: u32) {
        let by = 1 + self.scribe.dice.skewed(self.agents.len() as u64 - 1) as u32;
        if by != self.posts[on as usize].author {
            let due = self.scribe.now + HOUR + self.scribe.dice.span(30 * DAY);
            self.agenda.offer(due, Task::Support { by, on });
        }
    }

    /// The asker accepts an answer.
    pub(super) fn accept(&mut self, answer: u32) {
        let post = self.posts[answer as usize];
        let ask = self.posts[post.root as usize];
        if ask.kind != Kind::Ask {
            return;
        }
        let data = Data {
            accept: Some(true),
            used: self.scribe.dice.chance(200).then_some(true),
            ..Data::default()
        };
        self.react(ask.author, post.id, post.created_at, data);
        self.noted(ask.author, post.id, What::Accept);
    }

    /// Replies to a post, in its thread.
    pub(super) fn reply(&mut self, by: u32, to: u32) -> u32 {
        let text = words::text(&mut self.scribe.dice);
        self.reply_with(by, to, &text)
    }

    /// Replies in the given words.
    pub(super) fn reply_with(&mut self, by: u32, to: u32, text: &str) -> u32 {
        let parent = self.posts[to as usize];
        let thread = self.posts[parent.root as usize].id;
        let attaches = self.scribe.dice.chance(40);
        let log = attaches.then(|| self.log_file());
        let says = Says { attachments: log.as_slice(), ..Says::reply(parent.id, thread, text) };
        self.publish(by, &says, Kind::Post, Some(to))
    }

    /// An attachment, which the node mostly holds.
    fn log_file(&mut self) -> Attachment {
        Attachment { blob: self.new_blob(), size: 1 + self.scribe.dice.span(1 << 22), name: "build.log" }
    }

    /// A blob: most the node holds, some of them not for ever.
    pub(super) fn new_blob(&mut self) -> Hex32 {
        let blob = Hex32(self.scribe.dice.bytes());
        let (dice, now) = (&mut self.scribe.dice, self.scribe.now);
        match dice.below(100) {
            0..80 => self.scribe.blob(blob, true),
            80..90 => {
                let due = now + dice.span(90 * DAY);
                self.scribe.blob(blob, true);
                self.agenda.offer(due, Task::Lose(blob));
            }
            90..93 => self.scribe.blob(blob, false),
            _ => {}
        }
        blob
    }

    /// A post of its own, some of which cite others.
    fn note(&mut self, by: u32) {
        let dice = &mut self.scribe.dice;
        let (title, text) = (words::title(dice), words::text(dice));
        let citations = dice.skewed(4);
        let mut refs = Vec::new();
        for _ in 0..citations {
            let cited = self.target();
            refs.push(self.posts[cited as usize].id);
        }
        let says = Says { refs: &refs, ..Says::root("post", &title, &text) };
        self.publish(by, &says, Kind::Post, None);
    }

    /// A digest of a thread, in reply to its ask or on its own; some replace an older one.
    fn digest(&mut self, by: u32) {
        let source = self.target();
        let root = self.posts[source as usize].root;
        let ask = self.posts[root as usize];
        let refs = self.sources(source);
        let dice = &mut self.scribe.dice;
        let (title, text) = (words::title(dice), words::text(dice));
        let as_answer = ask.kind == Kind::Ask && dice.chance(600);
        let older = self.older_digest(by, root);
        let says = Says {
            parent: as_answer.then_some(ask.id),
            thread: as_answer.then_some(ask.id),
            data: Data { supersedes: older, ..Data::default() },
            ..Says::digest(&title, &text, &refs)
        };
        let place = self.publish(by, &says, Kind::Digest, as_answer.then_some(root));
        remember(&mut self.digests, place);
        for _ in 0..3 {
            self.call_for_support(place);
        }
        if as_answer && self.scribe.dice.chance(500) {
            let due = self.scribe.now + HOUR + self.scribe.dice.span(10 * DAY);
            self.agenda.offer(due, Task::Accept { answer: place });
        }
    }

    /// The post and others of its thread among the latest.
    fn sources(&mut self, source: u32) -> Vec<Hex32> {
        let root = self.posts[source as usize].root;
        let latest = self.posts.iter().rev().take(200);
        let same = latest.filter(|post| post.root == root).map(|post| post.id);
        let mut refs: Vec<Hex32> = same.take(6).collect();
        let source = self.posts[source as usize].id;
        if !refs.contains(&source) {
            refs.push(source);
        }
        // A digest without a source is valid, and never knowledge.
        if self.scribe.dice.chance(80) {
            refs.clear();
        }
        refs
    }

    /// An older digest to replace: of the same thread, or by the same author.
    fn older_digest(&mut self, by: u32, root: u32) -> Option<Hex32> {
        let fits = |place: &&u32| {
            let digest = self.posts[**place as usize];
            digest.author == by || digest.root == root
        };
        let place = *self.digests.iter().rev().take(64).find(fits)?;
        let digest = self.posts[place as usize].id;
        self.scribe.dice.chance(500).then_some(digest)
    }

    /// An extension that wats stores and ignores.
    fn other(&mut self, by: u32) {
        let says = Says::root("x.wearetheswarm.status", "", "busy");
        let agent = self.agents[by as usize].clone();
        let created = self.created(0);
        let event = self.scribe.write(&agent, created, &says);
        self.send(event);
    }
}
