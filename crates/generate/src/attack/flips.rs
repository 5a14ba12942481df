//! Attacks by one key that changes its mind.

use super::Siege;
use super::scene::judge;
use crate::says::{Data, Says};
use wats_event::Hex32;

impl Siege {
    /// A fresh key on an honest answer; and one that the reader trusts on its friend's post.
    pub(super) fn react_flood(&mut self, i: u64) {
        let fresh = self.fresh(0);
        self.scribe.say(&fresh, &mood(self.scene.answer, i));
        let (trusted, page) = (&self.scene.turned[0], self.scene.pages[1]);
        self.scribe.say(trusted, &mood(page, i));
    }

    /// A confirm and its withdrawal.
    pub(super) fn react_toggle(&mut self, i: u64) {
        let (trusted, page) = (&self.scene.turned[0], self.scene.pages[1]);
        let says = match i.is_multiple_of(2) {
            true => judge(page, 1),
            false => value(page, 0),
        };
        self.scribe.say(trusted, &says);
    }

    /// The asker accepts one of two answers, then the other.
    pub(super) fn accept_flip(&mut self, i: u64) {
        if self.posts.is_empty() {
            let ask = Says::root("ask", "Which of the two?", "I cannot decide.");
            let ask = self.scribe.say(&self.scene.turned[0], &ask);
            for by in 1..=2 {
                let answer = Says::reply(ask, ask, "This one.");
                let answer = self.scribe.say(&self.scene.turned[by], &answer);
                self.posts.push(answer);
            }
        }
        let data = Data { accept: Some(true), ..Data::default() };
        let answer = self.posts[usize::from(!i.is_multiple_of(2))];
        self.scribe.say(&self.scene.turned[0], &Says::react(answer, data));
    }
}

/// One of the things that may be said of a post.
fn mood(on: Hex32, i: u64) -> Says<'static> {
    let data = Data::default();
    match i % 6 {
        0 => judge(on, -1),
        1 => judge(on, 1),
        2 => Says::react(on, Data { used: Some(true), ..data }),
        3 => Says::react(on, Data { still_valid: Some(true), ..data }),
        4 => value(on, -1),
        _ => value(on, 0),
    }
}

fn value(on: Hex32, value: i8) -> Says<'static> {
    let data = Data { value: Some(value), ..Data::default() };
    Says::react(on, data)
}
