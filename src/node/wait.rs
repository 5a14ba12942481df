//! Who waits for what: an event, or a thread whose entry changes, wakes those that may want it and
//! nobody else.
//!
//! Each waiter stands under one key, the rarest thing that it asks for. What happens is looked up by
//! each of its keys, so what it costs is in proportion to those it wakes, not to those who wait. A wake-up says
//! "look again": what is delivered is read from the store, by the waiter itself.

use crate::event::Hex32;
use crate::said::Said;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// What a waiter wants; all of it must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// In this network.
    pub network: String,
    /// Of this kind, as events spell it.
    pub kind: Option<String>,
    /// With this tag.
    pub tag: Option<String>,
    /// Addressed to this key.
    pub to: Option<Hex32>,
    /// In the thread of this root.
    pub thread: Option<Hex32>,
    /// By this author.
    pub author: Option<Hex32>,
}

/// What a waiter stands under.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Under {
    Thread(Hex32),
    To(Hex32),
    Author(Hex32),
    Tag(String),
    Kind(String),
    Anything,
}

impl Wanted {
    fn under(&self) -> (String, Under) {
        let under = self
            .thread
            .map(Under::Thread)
            .or(self.to.map(Under::To))
            .or(self.author.map(Under::Author))
            .or_else(|| self.tag.clone().map(Under::Tag))
            .or_else(|| self.kind.clone().map(Under::Kind));
        (self.network.clone(), under.unwrap_or(Under::Anything))
    }

    /// Whether an event is wanted. A react belongs to no thread by itself; `of` is the root of its target.
    pub fn takes(&self, said: &Said, of: Option<Hex32>) -> bool {
        self.network == said.net
            && self.kind.as_ref().is_none_or(|kind| *kind == said.kind)
            && self.tag.as_ref().is_none_or(|tag| said.tags.contains(tag))
            && self.to.is_none_or(|to| said.to.contains(&to))
            && self.author.is_none_or(|author| author == said.author)
            && self.thread.is_none_or(|root| said.root() == root || of == Some(root))
    }
}

/// The waiters.
#[derive(Debug, Default)]
pub struct Waiters(Mutex<All>);

#[derive(Debug, Default)]
struct All {
    next: u64,
    by: HashMap<(String, Under), HashMap<u64, Waiting>>,
    count: usize,
}

/// What somebody waits for, and how to wake them.
type Waiting = (Wanted, Arc<Notify>);

/// The most waiters at a time.
pub const MOST: usize = 4096;

/// One who waits; gone when it is dropped.
#[derive(Debug)]
pub struct Waiter {
    waiters: Arc<Waiters>,
    under: (String, Under),
    number: u64,
    woken: Arc<Notify>,
}

impl Waiters {
    fn all(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many wait.
    pub fn count(&self) -> usize {
        self.all().count
    }

    /// Somebody begins to wait; none when too many do.
    pub fn wait(self: &Arc<Self>, wanted: Wanted) -> Option<Waiter> {
        let mut all = self.all();
        if all.count >= MOST {
            return None;
        }
        all.count += 1;
        all.next += 1;
        let (number, under, woken) = (all.next, wanted.under(), Arc::new(Notify::new()));
        all.by.entry(under.clone()).or_default().insert(number, (wanted, woken.clone()));
        Some(Waiter { waiters: self.clone(), under, number, woken })
    }

    /// An event can be seen now: wakes those who want it. `of` is the root of a react's target.
    pub fn event(&self, said: &Said, of: Option<Hex32>) {
        let mut keys: HashSet<Under> = said.to.iter().map(|to| Under::To(*to)).collect();
        keys.extend([Under::Thread(said.root()), Under::Author(said.author), Under::Anything]);
        keys.extend(of.map(Under::Thread));
        keys.insert(Under::Kind(said.kind.clone()));
        keys.extend(said.tags.iter().map(|tag| Under::Tag(tag.clone())));
        let all = self.all();
        for key in keys {
            for (wanted, woken) in all.by.get(&(said.net.clone(), key)).into_iter().flat_map(HashMap::values)
            {
                if wanted.takes(said, of) {
                    woken.notify_one();
                }
            }
        }
    }

    /// Another entry, or none, is shown for a thread now.
    pub fn entry(&self, network: &str, root: Hex32) {
        let key = (network.to_owned(), Under::Thread(root));
        self.all()
            .by
            .get(&key)
            .into_iter()
            .flat_map(HashMap::values)
            .for_each(|(_, woken)| woken.notify_one());
    }

    /// Wakes everybody: what happened cannot be told one by one.
    pub fn everybody(&self) {
        self.all().by.values().flat_map(HashMap::values).for_each(|(_, woken)| woken.notify_one());
    }
}

impl Waiter {
    /// Until there may be something; at once when there was since the last time.
    pub async fn woken(&self) {
        self.woken.notified().await;
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut all = self.waiters.all();
        all.count -= 1;
        if let Some(others) = all.by.get_mut(&self.under) {
            others.remove(&self.number);
            if others.is_empty() {
                all.by.remove(&self.under);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(event: serde_json::Value) -> Said {
        let mut all =
            json!({ "id": "0".repeat(64), "author": "1".repeat(64), "net": "main", "created_at": 0 });
        event.as_object().unwrap().iter().for_each(|(name, value)| all[name] = value.clone());
        serde_json::from_value(all).unwrap()
    }

    async fn is_woken(waiter: &Waiter) -> bool {
        tokio::time::timeout(std::time::Duration::ZERO, waiter.woken()).await.is_ok()
    }

    #[tokio::test]
    async fn an_event_wakes_those_who_want_it_and_nobody_else() {
        let waiters = Arc::new(Waiters::default());
        let wanted = |change: &dyn Fn(&mut Wanted)| {
            let mut wanted = Wanted { network: "main".into(), ..Wanted::default() };
            change(&mut wanted);
            waiters.wait(wanted).unwrap()
        };
        let anything = wanted(&|_| {});
        let rust = wanted(&|w| w.tag = Some("rust".into()));
        let asks_of_rust = wanted(&|w| (w.tag, w.kind) = (Some("rust".into()), Some("ask".into())));
        let elsewhere = wanted(&|w| w.network = "side".into());
        let thread = wanted(&|w| w.thread = Some(Hex32([2; 32])));
        let all = [&anything, &rust, &asks_of_rust, &elsewhere, &thread];
        let woken = async || {
            let mut woken = Vec::new();
            for waiter in all {
                woken.push(is_woken(waiter).await);
            }
            woken
        };
        waiters.event(&said(json!({ "kind": "post", "tags": ["rust"] })), None);
        assert_eq!(woken().await, [true, true, false, false, false]);
        waiters.event(&said(json!({ "kind": "ask", "tags": ["rust"] })), None);
        assert_eq!(woken().await, [true, true, true, false, false]);
        waiters.event(&said(json!({ "kind": "react", "parent": "3".repeat(64) })), Some(Hex32([2; 32])));
        assert_eq!(woken().await, [true, false, false, false, true]);
        waiters.entry("main", Hex32([2; 32]));
        assert_eq!(woken().await, [false, false, false, false, true]);
        assert_eq!(waiters.count(), 5);
        drop(thread);
        assert_eq!(waiters.count(), 4);
    }
}
