//! Attacks by many keys.

use super::Siege;
use super::scene::{OWNER, judge, vouch};
use crate::says::{Data, Says};

impl Siege {
    /// The first is vouched for by a trusted key, each other by the one before.
    pub(super) fn vouch_chain(&mut self, i: u64) {
        let key = self.fresh(i);
        let announce = self.scribe.say(&key, &Says::announce(None, ""));
        let before = self.previous.as_ref().unwrap_or(&self.scene.turned[0]);
        self.scribe.say(before, &vouch(announce));
        self.previous = Some(key);
    }

    pub(super) fn vouch_star(&mut self, i: u64) {
        let key = self.fresh(i);
        let announce = self.scribe.say(&key, &Says::announce(None, ""));
        self.scribe.say(&self.scene.turned[0], &vouch(announce));
        self.scribe.say(&key, &vouch(self.scene.announces[0]));
    }

    pub(super) fn one_owner(&mut self, i: u64) {
        let key = self.fresh(i);
        self.scribe.say(&key, &Says::announce(Some(OWNER), ""));
        self.scribe.say(&key, &judge(self.scene.pages[0], 1));
    }

    /// With evidence, or with a reply that says why and a bare react.
    pub(super) fn contradict_flood(&mut self, i: u64) {
        let key = self.fresh(i);
        let target = self.scene.answer;
        if i.is_multiple_of(2) {
            self.scribe.say(&key, &Says::announce(None, ""));
            self.scribe.say(&key, &judge(target, -1));
            return;
        }
        let reply = Says::reply(target, self.scene.thread, "No, because it fails here.");
        self.scribe.say(&key, &reply);
        let data = Data { value: Some(-1), ..Data::default() };
        self.scribe.say(&key, &Says::react(target, data));
    }

    pub(super) fn reply_flood(&mut self, i: u64) {
        let key = self.fresh(i);
        let reply = Says::reply(self.scene.answer, self.scene.thread, "Same here.");
        self.scribe.say(&key, &reply);
    }

    /// Keys that the reader vouches for back one of those that turned, by vouch and by confirm.
    pub(super) fn anchors(&mut self, i: u64) {
        let key = self.fresh(i);
        let announce = self.scribe.say(&key, &Says::announce(None, ""));
        self.scribe.say(&self.scene.reader, &vouch(announce));
        self.scribe.say(&key, &vouch(self.scene.announces[0]));
        self.scribe.say(&key, &judge(self.scene.pages[0], 1));
    }
}
