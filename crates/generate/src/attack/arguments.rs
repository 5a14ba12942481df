//! Attacks with arguments, and with arrays.

use super::Siege;
use crate::says::{Attachment, Data, Evidence, Says};
use wats_event::Hex32;
use wats_event::fields::{
    DIGEST, MAX_ATTACHMENTS, MAX_REFS, MAX_TAG_BYTES, MAX_TAGS, MAX_TEXT_BYTES, MAX_TITLE_CHARS, MAX_TO,
};
use wats_event::{MAX_BYTES, MAX_DEPTH};

impl Siege {
    /// A post of one key contradicts that of another: with its own post as the argument.
    fn attack(&mut self, from: usize, to: usize) {
        let (argument, target) = (self.posts[from], self.posts[to]);
        let refs = [argument];
        let data = Data { value: Some(-1), ..Data::default() };
        let says = Says { refs: &refs, ..Says::react(target, data) };
        let by = &self.scene.turned[from % self.scene.turned.len()];
        self.scribe.say(by, &says);
    }

    /// One of the twenty states something.
    fn state(&mut self, i: u64) -> usize {
        let place = self.posts.len();
        let by = &self.scene.turned[place % self.scene.turned.len()];
        let text = format!("Number {i} is right.");
        let post = self.scribe.say(by, &Says::root("post", "", &text));
        self.posts.push(post);
        place
    }

    pub(super) fn contradiction_chain(&mut self, i: u64) {
        let place = self.state(i);
        if place > 0 {
            self.attack(place, place - 1);
        }
    }

    /// Every post contradicts every other, as far as their authors differ. An argument is the react
    /// that names a post, so 2,000 of them need some 46 posts; all lie within two hops of each
    /// other, where the depth limit does not open the cycles.
    pub(super) fn contradiction_cycle(&mut self, i: u64) {
        while self.pairs.is_empty() {
            let (place, keys) = (self.state(i), self.scene.turned.len());
            for other in (0..place).filter(|other| other % keys != place % keys) {
                self.pairs.extend([(place, other), (other, place)]);
            }
        }
        if let Some((from, to)) = self.pairs.pop_front() {
            self.attack(from, to);
        }
    }

    /// Turn by turn a post, a digest, a react by a fresh key, and one by a key of the reader's.
    /// One in 64 is as large as an event may be.
    pub(super) fn largest_arrays(&mut self, i: u64) {
        let kind = ["post", DIGEST, "react", "react"][(i % 4) as usize];
        let trusted = i % 4 == 3;
        let full = i % 64 < 4;
        let by = match trusted {
            true => self.scene.turned[0].clone(),
            false => self.fresh(i),
        };
        let (refs, target) = self.references(trusted);
        let attachments = self.attachments();
        let tags: Vec<String> = (0..MAX_TAGS).map(|n| format!("{n:0MAX_TAG_BYTES$}")).collect();
        let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
        let to: Vec<Hex32> = (0..MAX_TO).map(|_| Hex32(self.scribe.dice.bytes())).collect();
        let react = kind == "react";
        let post_size = if full && !react { MAX_TEXT_BYTES } else { 64 };
        let evidence = deep_evidence(&attachments, if full { MAX_BYTES / 2 } else { 1024 });
        let says = Says {
            kind,
            attachments: &attachments,
            parent: react.then_some(target),
            refs: &refs,
            tags: &tags,
            to: &to,
            title: &"\u{1f980}".repeat(MAX_TITLE_CHARS),
            text: &"x".repeat(post_size),
            data: Data {
                evidence: Some(Evidence::Raw(&evidence)),
                value: react.then_some(if i % 8 < 4 { 1 } else { -1 }),
                ..Data::default()
            },
            ..Says::default()
        };
        let id = self.scribe.say(&by, &says);
        if !react && self.posts.len() < MAX_REFS {
            self.posts.push(id);
        }
    }

    /// As many references as there may be, no two alike where there are so many posts; and a
    /// target. Keys that count refer to one another's posts alone.
    fn references(&mut self, trusted: bool) -> (Vec<Hex32>, Hex32) {
        let scene = &self.scene;
        let (known, target) = match trusted {
            true => (&scene.pages, scene.pages[1]),
            false => (&scene.posts, scene.answer),
        };
        let mut refs: Vec<Hex32> = known.iter().chain(&self.posts).copied().collect();
        refs.truncate(MAX_REFS);
        while refs.len() < MAX_REFS {
            refs.push(Hex32(self.scribe.dice.bytes()));
        }
        (refs, target)
    }

    fn attachments(&mut self) -> Vec<Attachment> {
        let dice = &mut self.scribe.dice;
        let one = |_| Attachment { blob: Hex32(dice.bytes()), size: 1 << 40, name: "largest.bin" };
        (0..MAX_ATTACHMENTS).map(one).collect()
    }
}

/// Canonical evidence that names the last attachment, with arrays in arrays up to the depth limit
/// around many zeros. `data` is the second level, the evidence the third.
fn deep_evidence(attachments: &[Attachment], bytes: usize) -> String {
    let blob = attachments.last().map(|a| a.blob.to_string());
    let (open, close) = ("[".repeat(MAX_DEPTH - 3), "]".repeat(MAX_DEPTH - 3));
    let zeros = "0,".repeat(bytes / 2);
    let blob = blob.unwrap_or_default();
    format!("{{\"blob\":\"{blob}\",\"detail\":{open}{zeros}0{close}}}")
}
