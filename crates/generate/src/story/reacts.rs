//! What is said of posts: votes, confirms, uses, renewals.

use super::agenda::Task;
use super::people::is_farmed;
use super::{DAY, Story, What, remember};
use crate::says::{Attachment, Data, Evidence, Says};
use crate::words;
use wats_event::Hex32;

/// The kinds of evidence that agents are taught.
const KINDS: &[&str] = &["test", "repro", "hash", "run", "source"];
/// Evidence in other shapes: most is some, the last three are none.
const SHAPES: &[&str] = &["7", "true", "[\"seen\",2]", "{\"ok\":true}", "[]", "\" \"", "false"];

impl Story {
    /// Somebody reacts to a post; or does one of the rarer things.
    pub(super) fn react_somehow(&mut self) {
        let by = self.someone();
        let on = self.subject(by);
        remember(&mut self.talk, on);
        match self.scribe.dice.below(1000) {
            _ if is_farmed(by) => self.praise(by, on),
            0..230 => self.vote(by, on, 1),
            230..260 => self.vote(by, on, -1),
            260..480 => self.confirm(by, on),
            480..590 => self.prove(by, on),
            590..780 => self.use_it(by, on, false),
            780..810 => self.use_it(by, on, true),
            810..840 => self.renew(by, on),
            840..890 => self.contradict(by, on),
            890..910 => self.reason(by, on),
            910..913 => self.duel(by, on),
            913..940 => self.take_back(),
            940..990 => self.vouch_somehow(),
            990..994 => self.announce_again(),
            _ => self.accept(on),
        }
    }

    /// A post by another, as far as there is one; of the same farm, for most of what a farm does.
    fn subject(&mut self, by: u32) -> u32 {
        if is_farmed(by) && !self.farmed.is_empty() && self.scribe.dice.chance(700) {
            return self.farmed[self.scribe.dice.index(self.farmed.len())];
        }
        let mut on = self.target();
        // A few confirm themselves: it counts for nothing.
        for _ in 0..6 {
            if self.posts[on as usize].author != by || self.scribe.dice.chance(10) {
                break;
            }
            on = self.target();
        }
        on
    }

    fn vote(&mut self, by: u32, on: u32, value: i8) {
        let data = Data { value: Some(value), ..Data::default() };
        self.say(by, on, data, What::Value);
    }

    /// What a farm says of its own, and of others.
    fn praise(&mut self, by: u32, on: u32) {
        match self.scribe.dice.below(10) {
            0..5 => self.confirm(by, on),
            5..8 => self.use_it(by, on, false),
            8 => self.prove(by, on),
            _ => self.vouch_somehow(),
        }
    }

    /// Confirms in words; perhaps renews it later.
    pub(super) fn confirm(&mut self, by: u32, on: u32) {
        let detail = words::finding(&mut self.scribe.dice, true);
        let evidence = self.evidence(&detail);
        let data = Data { evidence: Some(evidence), value: Some(1), ..Data::default() };
        self.say(by, on, data, What::Value);
        self.may_renew(by, on);
    }

    /// Confirms with an artifact.
    pub(super) fn prove(&mut self, by: u32, on: u32) {
        let detail = words::finding(&mut self.scribe.dice, true);
        let on_id = self.posts[on as usize].id;
        self.react_with_artifact(by, on_id, on, 1, &detail);
        self.noted(by, on_id, What::Value);
        self.may_renew(by, on);
    }

    /// Reacts with evidence that points to an attachment; `place` is the post it is about.
    pub(super) fn react_with_artifact(
        &mut self,
        by: u32,
        on: Hex32,
        place: u32,
        value: i8,
        detail: &str,
    ) -> Hex32 {
        let blob = self.new_blob();
        let attached = [Attachment { blob, size: 1 + self.scribe.dice.span(1 << 20), name: "output.txt" }];
        let kind = self.scribe.dice.pick(KINDS);
        let data = Data {
            evidence: Some(Evidence::Object { blob: Some(blob), detail, kind }),
            value: Some(value),
            ..Data::default()
        };
        let says = Says { attachments: &attached, ..Says::react(on, data) };
        let after = self.posts[place as usize].created_at;
        self.react_as(by, after, &says)
    }

    /// Evidence in words, of the recommended shape or another.
    pub(super) fn evidence<'d>(&mut self, detail: &'d str) -> Evidence<'d> {
        let dice = &mut self.scribe.dice;
        match dice.below(100) {
            0..60 => Evidence::Object { blob: None, detail, kind: dice.pick(KINDS) },
            60..95 => Evidence::Text(detail),
            _ => Evidence::Raw(dice.pick(SHAPES)),
        }
    }

    fn use_it(&mut self, by: u32, on: u32, evidence: bool) {
        let detail = words::finding(&mut self.scribe.dice, true);
        let data = Data {
            evidence: evidence.then_some(Evidence::Text(&detail)),
            used: Some(true),
            ..Data::default()
        };
        self.say(by, on, data, What::Use);
        self.may_renew(by, on);
    }

    fn may_renew(&mut self, by: u32, on: u32) {
        if self.scribe.dice.chance(150) {
            let due = self.scribe.now + 20 * DAY + self.scribe.dice.below(180 * DAY);
            self.agenda.offer(due, Task::Renew { by, on });
        }
    }

    /// Says that a post is still valid.
    pub(super) fn renew(&mut self, by: u32, on: u32) {
        let post = self.posts[on as usize];
        let data = Data { still_valid: Some(true), ..Data::default() };
        self.react(by, post.id, post.created_at, data);
    }

    /// Somebody who came because the post is worth a look.
    pub(super) fn support(&mut self, by: u32, on: u32) {
        match self.scribe.dice.below(10) {
            0..4 => self.confirm(by, on),
            4..7 => self.prove(by, on),
            _ => self.use_it(by, on, false),
        }
    }

    fn say(&mut self, by: u32, on: u32, data: Data<'_>, what: What) {
        let post = self.posts[on as usize];
        self.react(by, post.id, post.created_at, data);
        self.noted(by, post.id, what);
    }
}
