//! Section 2.1: weight classes and decay. Time enters here, and in the ages of keys and posts.
//!
//! What ages waits in a calendar, ordered by the moment at which it will next look different. When
//! the clock moves, only what is due is read again; nothing is ever scheduled in the dataflow's own
//! time, where each tick would pay for all that is outstanding.

use crate::incremental::Machine;
use crate::signals::{Cite, Pair, PairSignals, Stance};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;
use wats_model::fixed::Fixed;
use wats_model::ids::{EventId, KeyId, Millis, NetworkId};
use wats_model::policy::{Config, Policy};

/// Sixteenths of a half-life.
pub const STEPS: u64 = 16;

/// Steps after which nothing is left.
pub const GONE: u64 = 160;

/// `D[i] = round(ONE * 2^(-i/16))`.
const D: [i64; STEPS as usize] = [
    1000000000, 957603281, 917004043, 878126080, 840896415, 805245166, 771105413, 738413073, 707106781,
    677127773, 648419777, 620928906, 594603558, 569394317, 545253866, 522136891,
];

/// The decay after so many sixteenths of a half-life.
pub fn decay(steps: u64) -> Fixed {
    if steps >= GONE {
        return Fixed::ZERO;
    }
    Fixed(D[(steps % STEPS) as usize] >> (steps / STEPS))
}

/// Whole sixteenths of a half-life since the clock.
fn steps(clock: Millis, now: Millis, half_life: Millis) -> u64 {
    let sixteenths = u128::from(now.since(clock).0) * u128::from(STEPS) / u128::from(half_life.0);
    sixteenths.min(u128::from(GONE)) as u64
}

/// When that number next changes.
fn next_step(clock: Millis, now: Millis, half_life: Millis) -> Option<Millis> {
    let next = steps(clock, now, half_life) + 1;
    let span = (u128::from(next) * u128::from(half_life.0)).div_ceil(u128::from(STEPS));
    (next <= GONE).then(|| clock.after(Millis(u64::try_from(span).unwrap_or(u64::MAX))))
}

/// A signal at some time: what its value and its liveness are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Aged {
    /// Its clock.
    pub clock: Millis,
    /// Sixteenths of its half-life since, at most [`GONE`].
    pub steps: u8,
    /// `now - clock` is below the 180 days of section 8.
    pub recent: bool,
}

impl Aged {
    /// `value(signal)`, with the base of its class.
    pub fn value(&self, base: Fixed) -> Fixed {
        base.times(decay(u64::from(self.steps)))
    }

    /// At most two half-lives old.
    pub fn live(&self, policy: &Policy) -> bool {
        u64::from(self.steps) <= policy.live_steps
    }
}

/// All signals of a key on an event, at the current time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AgedPair {
    /// The target and the key.
    pub pair: Pair,
    /// The stance.
    pub stance: Option<(Stance, Aged)>,
    /// The accept that counts for its ask.
    pub accept: Option<Aged>,
    /// A use.
    pub used: Option<Aged>,
    /// A cite.
    pub cite: Option<(Cite, Aged)>,
}

impl AgedPair {
    /// A citation, with its base; a mere reply is none.
    pub fn citation(&self, policy: &Policy) -> Option<(Aged, Fixed)> {
        self.cite.and_then(|(cite, aged)| (cite == Cite::Citation).then_some((aged, policy.base_cite)))
    }

    /// The value of a cite of either kind.
    pub fn cited(&self, policy: &Policy) -> Option<Fixed> {
        let base = |cite| if cite == Cite::Citation { policy.base_cite } else { policy.base_reply };
        self.cite.map(|(cite, aged)| aged.value(base(cite)))
    }

    /// A confirm, with its base.
    pub fn confirm(&self, policy: &Policy) -> Option<(Aged, Fixed)> {
        match self.stance {
            Some((Stance::Confirm { artifact: true }, aged)) => Some((aged, policy.base_confirm_artifact)),
            Some((Stance::Confirm { artifact: false }, aged)) => Some((aged, policy.base_confirm_text)),
            _ => None,
        }
    }

    /// A contradiction, with its base.
    pub fn contradiction(&self, policy: &Policy) -> Option<(Aged, Fixed)> {
        match self.stance {
            Some((Stance::Contradiction { artifact: true }, aged)) => {
                Some((aged, policy.base_contradiction_artifact))
            }
            Some((Stance::Contradiction { artifact: false }, aged)) => {
                Some((aged, policy.base_contradiction))
            }
            _ => None,
        }
    }

    /// A vote of this stance.
    pub fn vote(&self, which: Stance) -> Option<Aged> {
        self.stance.and_then(|(stance, aged)| (stance == which).then_some(aged))
    }

    /// The signals that support: accept, confirm and use.
    pub fn supports(&self) -> impl Iterator<Item = Aged> + use<> {
        let confirm = match self.stance {
            Some((Stance::Confirm { .. }, aged)) => Some(aged),
            _ => None,
        };
        [self.accept, confirm, self.used].into_iter().flatten()
    }

    /// The largest value among accept, confirm and use.
    pub fn support(&self, policy: &Policy) -> Fixed {
        let accept = self.accept.map(|a| a.value(policy.base_accept));
        let confirm = self.confirm(policy).map(|(a, base)| a.value(base));
        let used = self.used.map(|a| a.value(policy.base_use));
        [accept, confirm, used].into_iter().flatten().max().unwrap_or_default()
    }

    /// The largest decay among accept and use, where there is one (section 3, *Seeds*).
    pub fn relied(&self) -> Option<Fixed> {
        let signals = [self.accept, self.used].into_iter().flatten();
        signals.map(|a| decay(u64::from(a.steps))).max()
    }
}

/// Something that looks different as time passes.
pub trait Ages: 'static {
    /// Names it.
    type Key: Copy + Ord + Hash + Debug;
    /// What it is told.
    type Change: differential_dataflow::ExchangeData;
    /// What it looks like.
    type View: differential_dataflow::Data;

    /// Which one a change is about.
    fn key(change: &Self::Change) -> Self::Key;
    /// Takes a change.
    fn apply(&mut self, change: Self::Change, diff: i64);
    /// Nothing is left of it.
    fn is_empty(&self) -> bool;
    /// What it looks like now.
    fn view(&self, key: Self::Key, now: Millis, config: &Config) -> Option<Self::View>;
    /// The first moment after `now` at which that may change.
    fn due(&self, now: Millis, config: &Config) -> Option<Millis>;
}

/// The machine that keeps things that age, and their calendar.
pub struct TimerQueue<A: Ages> {
    config: Arc<Config>,
    now: Millis,
    held: FxHashMap<A::Key, A>,
    due: BTreeSet<(Millis, A::Key)>,
    touched: FxHashMap<A::Key, Option<A::View>>,
}

impl<A: Ages + Default> TimerQueue<A> {
    /// Empty, before all time.
    pub fn new(config: Arc<Config>) -> TimerQueue<A> {
        TimerQueue {
            config,
            now: Millis(0),
            held: FxHashMap::default(),
            due: BTreeSet::new(),
            touched: FxHashMap::default(),
        }
    }

    /// A time, at most `to`, by which about `count` things are due: a slice of the way to `to`.
    pub fn slice(&self, to: Millis, count: usize) -> Millis {
        self.due.iter().nth(count).map_or(to, |(due, _)| (*due).min(to))
    }

    fn touch(&mut self, key: A::Key) {
        if self.touched.contains_key(&key) {
            return;
        }
        let held = self.held.get(&key);
        let view = held.and_then(|a| a.view(key, self.now, &self.config));
        if let Some(due) = held.and_then(|a| a.due(self.now, &self.config)) {
            self.due.remove(&(due, key));
        }
        self.touched.insert(key, view);
    }
}

impl TimerQueue<AgingPair> {
    /// All signals on a post, of every key. Looks at every signal there is: for an explanation.
    pub fn on(&self, post: EventId) -> Vec<AgedPair> {
        let held = self.held.iter().filter(|((on, _), _)| *on == post);
        held.filter_map(|(key, signals)| signals.view(*key, self.now, &self.config)).collect()
    }
}

impl<A: Ages + Default> Machine for TimerQueue<A> {
    type Change = A::Change;
    type View = A::View;

    fn apply(&mut self, change: A::Change, diff: i64) {
        let key = A::key(&change);
        self.touch(key);
        self.held.entry(key).or_default().apply(change, diff);
    }

    fn advance(&mut self, now: Millis) {
        if now <= self.now {
            return;
        }
        while let Some((due, key)) = self.due.first().copied()
            && due <= now
        {
            self.touch(key);
            // Already out of the calendar when `touch` found it elsewhere in this tick.
            self.due.remove(&(due, key));
        }
        self.now = now;
    }

    fn emit(&mut self, out: &mut Vec<(A::View, i64)>) {
        for (key, before) in std::mem::take(&mut self.touched) {
            let Some(held) = self.held.get(&key) else {
                continue;
            };
            let after = held.view(key, self.now, &self.config);
            if let Some(due) = held.due(self.now, &self.config) {
                self.due.insert((due, key));
            }
            if held.is_empty() {
                self.held.remove(&key);
            }
            if before != after {
                out.extend(before.map(|view| (view, -1)));
                out.extend(after.map(|view| (view, 1)));
            }
        }
    }
}

/// The signals of a pair, as they age.
pub struct AgingPair {
    to: KeyId,
    network: NetworkId,
    on_post: bool,
    stance: Option<Stance>,
    cite: Cite,
    /// Clocks of the stance, the accept, the use and the cite; [`NEVER`] where there is none.
    clocks: [Millis; 4],
}

/// The clock of a signal that is not there.
const NEVER: Millis = Millis(u64::MAX);

impl Default for AgingPair {
    fn default() -> Self {
        AgingPair {
            to: KeyId(0),
            network: NetworkId(0),
            on_post: true,
            stance: None,
            cite: Cite::Citation,
            clocks: [NEVER; 4],
        }
    }
}

/// What ages about a pair.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PairChange {
    /// Its signals, but for the accept.
    Signals(PairSignals),
    /// The accept that counts for its ask, and its clock.
    Accept(Pair, Millis),
}

impl PairChange {
    /// The key it is about.
    pub fn pair(&self) -> &Pair {
        match self {
            PairChange::Signals(signals) => &signals.pair,
            PairChange::Accept(pair, _) => pair,
        }
    }
}

impl AgingPair {
    fn clock(&self, which: usize) -> Option<Millis> {
        Some(self.clocks[which]).filter(|clock| *clock != NEVER)
    }

    fn half_life(&self, which: usize, policy: &Policy) -> Millis {
        match self.stance {
            Some(stance) if which == 0 => half_life_of(stance, policy),
            _ => policy.half_life,
        }
    }
}

fn half_life_of(stance: Stance, policy: &Policy) -> Millis {
    match stance {
        Stance::VoteUp | Stance::VoteDown => policy.half_life_vote,
        Stance::Confirm { .. } | Stance::Contradiction { .. } => policy.half_life,
    }
}

fn aged(clock: Millis, half_life: Millis, now: Millis, policy: &Policy) -> Aged {
    Aged { clock, steps: steps(clock, now, half_life) as u8, recent: now.since(clock) < policy.recent }
}

impl Ages for AgingPair {
    type Key = (EventId, KeyId);
    type Change = PairChange;
    type View = AgedPair;

    fn key(change: &PairChange) -> (EventId, KeyId) {
        (change.pair().on, change.pair().by)
    }

    fn apply(&mut self, change: PairChange, diff: i64) {
        let told = |clock: Option<Millis>| clock.filter(|_| diff > 0).unwrap_or(NEVER);
        let Pair { to, network, on_post, .. } = *change.pair();
        (self.to, self.network, self.on_post) = (to, network, on_post);
        let [stance, accept, used, cite] = &mut self.clocks;
        match change {
            PairChange::Signals(signals) => {
                self.stance = signals.stance.filter(|_| diff > 0).map(|(stance, _)| stance);
                *stance = told(signals.stance.map(|(_, clock)| clock));
                *used = told(signals.used);
                *cite = told(signals.cite.map(|(_, clock)| clock));
                self.cite = signals.cite.map_or(self.cite, |(cite, _)| cite);
            }
            PairChange::Accept(_, clock) => *accept = told(Some(clock)),
        }
    }

    fn is_empty(&self) -> bool {
        self.clocks == [NEVER; 4]
    }

    fn view(&self, (on, by): (EventId, KeyId), now: Millis, config: &Config) -> Option<AgedPair> {
        if self.is_empty() {
            return None;
        }
        let policy = &config.policy;
        let aged = |which| Some(aged(self.clock(which)?, self.half_life(which, policy), now, policy));
        Some(AgedPair {
            pair: Pair { on, by, to: self.to, network: self.network, on_post: self.on_post },
            stance: self.stance.zip(aged(0)),
            accept: aged(1),
            used: aged(2),
            cite: aged(3).map(|aged| (self.cite, aged)),
        })
    }

    fn due(&self, now: Millis, config: &Config) -> Option<Millis> {
        let policy = &config.policy;
        let turns = (0..self.clocks.len()).filter_map(|which| {
            let clock = self.clock(which)?;
            let old = Some(clock.after(policy.recent)).filter(|old| *old > now);
            let step = next_step(clock, now, self.half_life(which, policy));
            old.into_iter().chain(step).min()
        });
        turns.min()
    }
}

/// A key's age, from when it was first seen.
///
/// Events are never taken back, only replaced by copies received earlier, so the smallest
/// `received_at` told so far is the answer.
#[derive(Default)]
pub struct AgingKey {
    key: Option<(NetworkId, KeyId)>,
    first_seen: Option<Millis>,
}

/// An event of a key was received: (network, key, `received_at`).
pub type Seen = (NetworkId, KeyId, Millis);

/// A key of held events and `age` (section 3, *Cold start*).
pub type KeyAge = (NetworkId, KeyId, Fixed);

impl Ages for AgingKey {
    type Key = KeyId;
    type Change = Seen;
    type View = KeyAge;

    fn key(change: &Seen) -> KeyId {
        change.1
    }

    fn apply(&mut self, (network, key, received_at): Seen, diff: i64) {
        if diff > 0 {
            self.key = Some((network, key));
            self.first_seen = Some(self.first_seen.map_or(received_at, |seen| seen.min(received_at)));
        }
    }

    fn is_empty(&self) -> bool {
        false
    }

    fn view(&self, _: KeyId, now: Millis, config: &Config) -> Option<KeyAge> {
        let ((network, key), first_seen) = (self.key?, self.first_seen?);
        Some((network, key, age(now.since(first_seen), &config.policy)))
    }

    fn due(&self, now: Millis, config: &Config) -> Option<Millis> {
        let (first_seen, policy) = (self.first_seen?, &config.policy);
        let next_day = now.since(first_seen).0 / Millis::DAY.0 + 1;
        let day = next_day.max(policy.floor_from_days);
        (day <= policy.floor_to_days).then(|| first_seen.after(Millis::days(day)))
    }
}

/// `age` of a key first seen so long ago.
fn age(span: Millis, policy: &Policy) -> Fixed {
    let days = span.0 / Millis::DAY.0;
    if days < policy.floor_from_days {
        return Fixed::ZERO;
    }
    let risen = days.min(policy.floor_to_days) - policy.floor_from_days;
    let rise = policy.floor_to_days - policy.floor_from_days;
    policy.floor_cap.scale(risen as i64, rise.max(1) as i64)
}

/// Whether a post is young (section 8).
#[derive(Default)]
pub struct AgingPost {
    post: Option<(EventId, Millis)>,
}

impl Ages for AgingPost {
    type Key = EventId;
    type Change = (EventId, Millis);
    type View = EventId;

    fn key(change: &(EventId, Millis)) -> EventId {
        change.0
    }

    fn apply(&mut self, change: (EventId, Millis), diff: i64) {
        self.post = (diff > 0).then_some(change);
    }

    fn is_empty(&self) -> bool {
        self.post.is_none()
    }

    fn view(&self, _: EventId, now: Millis, config: &Config) -> Option<EventId> {
        let (post, te) = self.post?;
        (now.since(te) < config.policy.recent).then_some(post)
    }

    fn due(&self, now: Millis, config: &Config) -> Option<Millis> {
        let (_, te) = self.post?;
        let old = te.after(config.policy.recent);
        (old > now).then_some(old)
    }
}

/// The decay of one half-life is the whole table, once.
#[cfg(test)]
mod tests {
    use super::*;
    use wats_model::fixed::ONE;

    #[test]
    fn decay_halves_and_ends() {
        assert_eq!(decay(0), ONE);
        assert_eq!(decay(16), Fixed(ONE.0 / 2));
        assert_eq!(decay(159), Fixed(522136891 >> 9));
        assert_eq!(decay(160), Fixed::ZERO);
    }

    #[test]
    fn next_step_is_the_first_moment_of_change() {
        let (clock, half_life) = (Millis(1_000), Millis(1_001));
        let mut now = Millis(500);
        while let Some(next) = next_step(clock, now, half_life) {
            assert_eq!(steps(clock, Millis(next.0 - 1), half_life), steps(clock, now, half_life));
            assert!(steps(clock, next, half_life) > steps(clock, now, half_life));
            now = next;
        }
        assert_eq!(steps(clock, now, half_life), GONE);
    }
}
