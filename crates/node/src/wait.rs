//! Who waits for what: an event, or a thread whose entry changes, wakes those that may want it and
//! nobody else.
//!
//! Each waiter is indexed by its most selective filter, and by who it is and what it can
//! do. What happens is looked up by each of its keys, so what it costs is in proportion to those it wakes, not
//! to those who wait. An ask that is routed ([`super::routing`]) wakes those who are named or capable, in
//! that order, and those with more standing first; the others when it is released. A wake-up says "look
//! again": what is delivered is read from the store, by the waiter itself.

use super::routing::{Reach, Who, capabilities};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use wats_event::Hex32;
use wats_event::stored_event::StoredEvent;
use wats_model::fixed::Fixed;

/// What a waiter wants; all of it must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFilter {
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
enum TopicKey {
    Thread(Hex32),
    To(Hex32),
    Author(Hex32),
    Tag(String),
    Kind(String),
    Anything,
    /// It is this key.
    Being(Hex32),
    /// It can do this.
    Capable(String),
}

impl EventFilter {
    fn under(&self) -> (String, TopicKey) {
        let under = self
            .thread
            .map(TopicKey::Thread)
            .or(self.to.map(TopicKey::To))
            .or(self.author.map(TopicKey::Author))
            .or_else(|| self.tag.clone().map(TopicKey::Tag))
            .or_else(|| self.kind.clone().map(TopicKey::Kind));
        (self.network.clone(), under.unwrap_or(TopicKey::Anything))
    }

    /// Whether an event is wanted. A react belongs to no thread by itself; `of` is the root of its target.
    pub fn takes(&self, said: &StoredEvent, of: Option<Hex32>) -> bool {
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
pub struct Subscriptions(Mutex<All>);

#[derive(Debug, Default)]
struct All {
    next: u64,
    by: HashMap<(String, TopicKey), HashMap<u64, Arc<Waiting>>>,
    count: usize,
}

impl All {
    fn under(&self, network: &str, key: TopicKey) -> impl Iterator<Item = (u64, &Arc<Waiting>)> {
        let found = self.by.get(&(network.to_owned(), key));
        found.into_iter().flatten().map(|(number, waiting)| (*number, waiting))
    }

    fn how_many(&self, network: &str, key: TopicKey) -> usize {
        self.by.get(&(network.to_owned(), key)).map_or(0, HashMap::len)
    }
}

/// Who waits for what, and how to wake them.
#[derive(Debug)]
struct Waiting {
    wanted: EventFilter,
    who: Who,
    woken: Notify,
}

/// The most waiters at a time.
pub const MOST: usize = 4096;

/// One who waits; gone when it is dropped.
#[derive(Debug)]
pub struct Waiter {
    waiters: Arc<Subscriptions>,
    under: Vec<(String, TopicKey)>,
    number: u64,
    waiting: Arc<Waiting>,
}

impl Subscriptions {
    fn all(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many wait.
    pub fn count(&self) -> usize {
        self.all().count
    }

    /// Somebody begins to wait; none when too many do.
    pub fn wait(self: &Arc<Self>, wanted: EventFilter, who: Who) -> Option<Waiter> {
        let mut all = self.all();
        if all.count >= MOST {
            return None;
        }
        all.count += 1;
        all.next += 1;
        let number = all.next;
        let mut under = vec![wanted.under()];
        let being = who.key.map(TopicKey::Being).into_iter();
        let being = being.chain(who.capabilities.iter().cloned().map(TopicKey::Capable));
        under.extend(being.map(|key| (wanted.network.clone(), key)));
        let waiting = Arc::new(Waiting { wanted, who, woken: Notify::new() });
        for key in &under {
            all.by.entry(key.clone()).or_default().insert(number, waiting.clone());
        }
        Some(Waiter { waiters: self.clone(), under, number, waiting })
    }

    /// An event can be seen now by everybody: wakes those who want it. `of` is the root of a react's target.
    pub fn event(&self, said: &StoredEvent, of: Option<Hex32>) -> usize {
        self.wake(said, of, |_| true)
    }

    /// An ask that was routed can be seen now by everybody: wakes those who want it and could not see it
    /// before; how many.
    pub fn released(&self, said: &StoredEvent) -> usize {
        self.wake(said, None, |who| who.reach(said) == Reach::Everybody)
    }

    fn wake(&self, said: &StoredEvent, of: Option<Hex32>, whom: impl Fn(&Who) -> bool) -> usize {
        let mut keys: HashSet<TopicKey> = said.to.iter().map(|to| TopicKey::To(*to)).collect();
        keys.extend([TopicKey::Thread(said.root()), TopicKey::Author(said.author), TopicKey::Anything]);
        keys.extend(of.map(TopicKey::Thread));
        keys.insert(TopicKey::Kind(said.kind.clone()));
        keys.extend(said.tags.iter().map(|tag| TopicKey::Tag(tag.clone())));
        let all = self.all();
        let mut woken = 0;
        for key in keys {
            for (_, waiting) in all.under(&said.net, key) {
                if waiting.wanted.takes(said, of) && whom(&waiting.who) {
                    waiting.woken.notify_one();
                    woken += 1;
                }
            }
        }
        woken
    }

    /// An ask that is routed can be seen now by those it names, and by those who can do what it asks for:
    /// wakes them in that order, and those of more standing first; how many.
    pub fn routed(&self, said: &StoredEvent, standing: impl Fn(Hex32) -> Fixed) -> usize {
        let mut found: HashMap<u64, (Reach, Arc<Waiting>)> = HashMap::new();
        {
            let all = self.all();
            let names = said.to.iter().chain([&said.author]).map(|key| TopicKey::Being(*key));
            // Of those who can do all of it there are no more than of those who can do the rarest part.
            let rarest = capabilities(&said.tags).map(|tag| TopicKey::Capable(tag.clone()));
            let rarest = rarest.min_by_key(|key| all.how_many(&said.net, key.clone()));
            for (number, waiting) in names.chain(rarest).flat_map(|key| all.under(&said.net, key)) {
                let reach = waiting.who.reach(said);
                if reach < Reach::Everybody && waiting.wanted.takes(said, None) {
                    found.insert(number, (reach, waiting.clone()));
                }
            }
        }
        let mut order: Vec<_> = found
            .into_iter()
            .map(|(number, (reach, waiting))| {
                let standing = waiting.who.key.map_or(Fixed::ZERO, &standing);
                (reach, Reverse(standing), number, waiting)
            })
            .collect();
        order.sort_unstable_by_key(|(reach, standing, number, _)| (*reach, *standing, *number));
        order.iter().for_each(|(.., waiting)| waiting.woken.notify_one());
        order.len()
    }

    /// Another entry, or none, is shown for a thread now.
    pub fn entry(&self, network: &str, root: Hex32) {
        self.all().under(network, TopicKey::Thread(root)).for_each(|(_, waiting)| waiting.woken.notify_one());
    }

    /// Wakes everybody: what happened cannot be told one by one.
    pub fn everybody(&self) {
        self.all().by.values().flat_map(HashMap::values).for_each(|waiting| waiting.woken.notify_one());
    }
}

impl Waiter {
    /// Until there may be something; at once when there was since the last time.
    pub async fn woken(&self) {
        self.waiting.woken.notified().await;
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut all = self.waiters.all();
        all.count -= 1;
        for key in &self.under {
            if let Some(others) = all.by.get_mut(key) {
                others.remove(&self.number);
                if others.is_empty() {
                    all.by.remove(key);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(event: serde_json::Value) -> StoredEvent {
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
        let waiters = Arc::new(Subscriptions::default());
        let wanted = |change: &dyn Fn(&mut EventFilter)| {
            let mut wanted = EventFilter { network: "main".into(), ..EventFilter::default() };
            change(&mut wanted);
            waiters.wait(wanted, Who::default()).unwrap()
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

    fn asking(event: serde_json::Value) -> StoredEvent {
        let mut ask = json!({ "kind": "ask", "title": "?" });
        event.as_object().unwrap().iter().for_each(|(name, value)| ask[name] = value.clone());
        said(ask)
    }

    fn key(n: u8) -> Hex32 {
        Hex32([n; 32])
    }

    /// Waiters of these keys and capabilities, who note in which order they wake up.
    struct Crowd {
        waiters: Arc<Subscriptions>,
        woken: Arc<Mutex<Vec<u8>>>,
    }

    impl Crowd {
        fn of(who: &[(u8, &[&str])]) -> Crowd {
            let crowd = Crowd { waiters: Arc::default(), woken: Arc::default() };
            for &(n, capabilities) in who {
                let capabilities = capabilities.iter().map(|tag| (*tag).to_owned()).collect();
                let wanted = EventFilter { network: "main".into(), ..EventFilter::default() };
                let waiter = crowd.waiters.wait(wanted, Who { key: Some(key(n)), capabilities }).unwrap();
                let woken = crowd.woken.clone();
                tokio::spawn(async move {
                    loop {
                        waiter.woken().await;
                        woken.lock().unwrap().push(n);
                    }
                });
            }
            crowd
        }

        async fn order(&self) -> Vec<u8> {
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            std::mem::take(&mut *self.woken.lock().unwrap())
        }
    }

    /// What a key is worth here: the reader's trust, which nobody sees.
    fn standing(key: Hex32) -> Fixed {
        Fixed(match key.0[0] {
            3 => 10,
            4 => 30,
            5 => 20,
            _ => 0,
        })
    }

    #[tokio::test]
    async fn an_ask_wakes_the_named_then_the_capable_by_standing_then_everybody_else_once() {
        let rust: &[&str] = &["cap:rust"];
        let both: &[&str] = &["cap:gpu", "cap:rust"];
        let crowd =
            Crowd::of(&[(1, &[]), (2, rust), (3, rust), (4, both), (5, rust), (6, &[]), (7, &["cap:gpu"])]);
        let _ = crowd.order().await;
        let ask = asking(json!({ "to": [key(6), key(5)], "tags": ["cap:rust", "x"] }));
        assert_eq!(crowd.waiters.routed(&ask, standing), 5);
        assert_eq!(crowd.order().await, [5, 6, 4, 3, 2], "the named and then the capable, by standing");
        assert_eq!(crowd.waiters.released(&ask), 2);
        let mut rest = crowd.order().await;
        rest.sort_unstable();
        assert_eq!(rest, [1, 7], "those who could not see it before");
        // A filter with two conditions wants both.
        assert_eq!(crowd.waiters.routed(&asking(json!({ "tags": ["cap:rust", "cap:gpu"] })), standing), 1);
        assert_eq!(crowd.order().await, [4]);
        // Nobody who waits can do it: everybody hears of it when it is released.
        let ask = asking(json!({ "tags": ["cap:cobol"] }));
        assert_eq!((crowd.waiters.routed(&ask, standing), crowd.waiters.released(&ask)), (0, 7));
        assert_eq!(crowd.order().await.len(), 7);
    }

    #[tokio::test]
    async fn among_many_waiters_an_ask_wakes_those_it_is_for_and_nobody_else() {
        let who: Vec<(u8, &[&str])> =
            (20..220).map(|n| (n, if n % 50 == 0 { &["cap:rust"][..] } else { &["cap:other"] })).collect();
        let crowd = Crowd::of(&who);
        let _ = crowd.order().await;
        assert_eq!(crowd.waiters.routed(&asking(json!({ "to": [key(77)] })), standing), 1);
        assert_eq!(crowd.order().await, [77]);
        assert_eq!(crowd.waiters.routed(&asking(json!({ "tags": ["cap:rust"] })), standing), 4);
        assert_eq!(crowd.order().await, [50, 100, 150, 200]);
    }
}
