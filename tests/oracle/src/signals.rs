//! Section 2: what each key says of each event by another, and how much of it time has left.

use crate::decay::Strength;
use crate::grouped::Grouped;
use crate::network::{Event, Key, Network};
use rustc_hash::FxHashMap;
use std::ops::Range;
use wats_model::facts::{Evidence, PostKind, React};
use wats_model::fixed::Fixed;
use wats_model::ids::{EventId, Millis, Stamp};

/// The kinds of signals, other than contradictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Accept,
    Confirm,
    Use,
    /// A cite by events that name X in `refs` and do not reply to it.
    Citation,
    /// A cite by replies alone.
    Reply,
    VoteUp,
    VoteDown,
}

impl Kind {
    /// Accept, confirm or use: what trust and support are made of.
    pub(crate) fn supports(self) -> bool {
        matches!(self, Kind::Accept | Kind::Confirm | Kind::Use)
    }

    /// A cite, by either kind of events: what scores and counts speak of.
    pub(crate) fn cites(self) -> bool {
        matches!(self, Kind::Citation | Kind::Reply)
    }

    /// What reputations and replicas are made of: a reply does not rely on what it replies to.
    pub(crate) fn relies(self) -> bool {
        self.supports() || self == Kind::Citation
    }
}

/// A signal by `author` on `target`, an event by another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    pub(crate) author: Key,
    pub(crate) target: Event,
    pub(crate) kind: Kind,
    pub(crate) is: Strength,
}

/// A contradiction of `target` by `author`.
#[derive(Clone, Debug)]
pub(crate) struct Contradiction {
    pub(crate) author: Key,
    pub(crate) target: Event,
    pub(crate) is: Strength,
    /// Its arguments, in [`Signals::arguments`]; there is at least one.
    pub(crate) arguments: Range<usize>,
}

/// An argument of a contradiction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Argument {
    pub(crate) event: Event,
    /// The own event that a react without evidence rests on.
    pub(crate) rests_on: Option<Event>,
}

/// All signals of a network.
pub(crate) struct Signals {
    /// Signals by target; those of one key on one target lie together.
    pub(crate) signals: Grouped<Signal>,
    /// Contradictions by target.
    pub(crate) contradictions: Grouped<Contradiction>,
    pub(crate) arguments: Vec<Argument>,
    /// The reacts that attach blobs and belong to a confirm or a contradiction of a post-like event
    /// (for section 8).
    pub(crate) attaching: Vec<Event>,
}

impl Signals {
    /// The signals on `x`.
    pub(crate) fn on(&self, x: Event) -> &[Signal] {
        self.signals.of(x)
    }

    /// The arguments of a contradiction.
    pub(crate) fn arguments_of(&self, c: &Contradiction) -> &[Argument] {
        &self.arguments[c.arguments.clone()]
    }
}

/// A react by `author` on `target`, or a post-like event with `target` as parent or in `refs`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Act {
    target: u32,
    author: u32,
    mentions: bool,
    event: u32,
}

/// Reads the signals from the held events.
pub(crate) fn read(net: &Network) -> Signals {
    let mut reader = Reader {
        net,
        signals: Vec::new(),
        contradictions: Vec::new(),
        arguments: Vec::new(),
        attaching: Vec::new(),
        accepted: FxHashMap::default(),
    };
    let (mut reacts, mut mentions) = (Vec::new(), Vec::new());
    for acts in acts(net).chunk_by(|a, b| (a.target, a.author) == (b.target, b.author)) {
        let reacting = acts.partition_point(|act| !act.mentions);
        reacts.clear();
        reacts.extend(acts[..reacting].iter().map(|act| act.event as Event));
        mentions.clear();
        mentions.extend(acts[reacting..].iter().map(|act| act.event as Event));
        reacts.sort_unstable_by_key(|&e| net.stamp(e));
        let considered = &reacts[reacts.len().saturating_sub(net.policy.max_reacts)..];
        reader.pair(acts[0].author as Key, acts[0].target as Event, considered, &mentions);
    }
    let Reader { mut signals, contradictions, arguments, attaching, accepted, .. } = reader;
    // Of all accepts in a thread only the latest counts.
    signals.retain(|s| {
        let winner = || net.thread[s.target].and_then(|q| accepted.get(&q));
        s.kind != Kind::Accept || winner().is_some_and(|&(_, x)| x == s.target)
    });
    Signals {
        signals: Grouped::new(net.events.len(), signals, |s| s.target),
        contradictions: Grouped::new(net.events.len(), contradictions, |c| c.target),
        arguments,
        attaching,
    }
}

/// All acts of keys on events by others that are post-like or reacts, by target, then author.
fn acts(net: &Network) -> Vec<Act> {
    let mut acts = Vec::with_capacity(net.events.len());
    let mut act = |event: Event, target, mentions| {
        let Some(target) = net.held(target) else {
            return;
        };
        let able = net.post(target).is_some() || net.react(target).is_some();
        if able && net.author[target] != net.author[event] {
            acts.push(Act {
                target: target as u32,
                author: net.author[event] as u32,
                mentions,
                event: event as u32,
            });
        }
    };
    for (e, react) in net.reacts() {
        act(e, react.target, false);
    }
    for (e, post) in net.posts() {
        for &id in post.reply.iter().map(|r| &r.parent).chain(&post.refs) {
            act(e, id, true);
        }
    }
    acts.sort_unstable();
    acts.dedup();
    acts
}

/// Collects the signals of one pair (A, X) after the other.
struct Reader<'n> {
    net: &'n Network<'n>,
    signals: Vec<Signal>,
    contradictions: Vec<Contradiction>,
    arguments: Vec<Argument>,
    attaching: Vec<Event>,
    /// By ask, its latest accept that is the latest of its pair and `true`, and what it accepts.
    accepted: FxHashMap<EventId, (Stamp, Event)>,
}

impl Reader<'_> {
    /// The signals of `author` on `target`, from A's considered reacts on X, earliest first, and A's
    /// post-like events with X as parent or in `refs`.
    fn pair(&mut self, author: Key, target: Event, reacts: &[Event], mentions: &[Event]) {
        let disagrees = self.stance(author, target, reacts, mentions);
        self.usage(author, target, reacts);
        self.accept(author, target, reacts);
        if !disagrees {
            self.cite(author, target, mentions);
        }
    }

    /// Confirm, contradiction or vote; says whether it is a contradiction or a vote down.
    fn stance(&mut self, author: Key, x: Event, reacts: &[Event], mentions: &[Event]) -> bool {
        let net = self.net;
        let mut valued = Vec::new();
        valued.extend(reacts.iter().copied().filter(|&e| value(self.say(e)).is_some()));
        let Some(&latest) = valued.last() else {
            return false;
        };
        let sign = value(self.say(latest));
        let before_run = valued.iter().rposition(|&e| value(self.say(e)) != sign);
        let run = &valued[before_run.map_or(0, |i| i + 1)..];
        let evidenced = || run.iter().copied().filter(|&e| self.say(e).evidence.given());
        let artifact = run.iter().any(|&e| self.artifact(e));
        let te = |e: Event| net.events[e].te();
        let renewals = || evidenced().map(te).chain(self.still_valid(reacts));

        let policy = net.policy;
        match sign {
            Some(1) => {
                if let Some(origin) = evidenced().map(te).min() {
                    let base = match artifact {
                        true => policy.base_confirm_artifact,
                        false => policy.base_confirm_text,
                    };
                    let clock = self.renewed(origin, renewals());
                    self.signal(author, x, Kind::Confirm, base, clock);
                    self.attach(x, run);
                } else {
                    self.signal(author, x, Kind::VoteUp, policy.base_vote, te(latest));
                }
                false
            }
            Some(-1) => {
                let start = self.arguments.len();
                let arguments = self.find_arguments(author, reacts, run, mentions);
                if arguments.is_empty() {
                    self.signal(author, x, Kind::VoteDown, policy.base_vote, te(latest));
                } else {
                    let base = match artifact {
                        true => policy.base_contradiction_artifact,
                        false => policy.base_contradiction,
                    };
                    let origin = run.iter().map(|&e| te(e)).min().unwrap_or_default();
                    let clock = self.renewed(origin, renewals());
                    self.arguments.extend(arguments);
                    let arguments = start..self.arguments.len();
                    let is = Strength::new(net, base, policy.half_life, clock);
                    self.contradictions.push(Contradiction { author, target: x, is, arguments });
                    self.attach(x, run);
                }
                true
            }
            _ => false,
        }
    }

    /// The arguments of A's stance -1 on X: of the first four events that ever could be some, those
    /// that belong to the run.
    ///
    /// Reading: *within one hour* includes the whole hour, and goes by `created_at` on both sides.
    fn find_arguments(
        &self,
        author: Key,
        reacts: &[Event],
        run: &[Event],
        mentions: &[Event],
    ) -> Vec<Argument> {
        let net = self.net;
        let argues = |e| self.say(e).evidence.given() || self.names(author, e).is_some();
        let minus = || reacts.iter().copied().filter(|&e| self.say(e).value == Some(-1));
        let near = |reply: Event, react: Event| {
            let (a, b) = (net.stamp(reply).created_at.0, net.stamp(react).created_at.0);
            a.abs_diff(b) <= net.policy.reply_window.0
        };
        let mut able: Vec<_> = minus().filter(|&e| argues(e)).collect();
        let reasoned = |&e: &Event| {
            let text = net.post(e).is_some_and(|post| !post.blank);
            text && minus().any(|react| near(e, react))
        };
        let mut replies: Vec<_> = mentions.iter().copied().filter(reasoned).collect();
        able.sort_unstable_by_key(|&e| net.by_receipt(e));
        replies.sort_unstable_by_key(|&e| net.by_receipt(e));
        able.extend(replies);
        able.truncate(net.policy.max_arguments);
        able.retain(|e| match net.react(*e) {
            Some(_) => run.contains(e),
            None => run.iter().any(|&react| near(*e, react)),
        });
        let rests_on = |e| match net.react(e) {
            Some(react) if !react.evidence.given() => self.names(author, e),
            _ => None,
        };
        able.into_iter().map(|event| Argument { event, rests_on: rests_on(event) }).collect()
    }

    /// The first held post-like event by A that A's react names in its `refs`.
    fn names(&self, author: Key, react: Event) -> Option<Event> {
        let net = self.net;
        let own = |&e: &Event| net.author[e] == author && net.post(e).is_some();
        self.say(react).refs.iter().filter_map(|&id| net.held(id)).find(own)
    }

    /// Use: among A's reacts on X that carry `used`, the latest is `true`.
    fn usage(&mut self, author: Key, x: Event, reacts: &[Event]) {
        if let Some((_, origin, renewals)) = self.suffix(reacts, |react| react.used) {
            let clock = self.renewed(origin, renewals.into_iter());
            self.signal(author, x, Kind::Use, self.net.policy.base_use, clock);
        }
    }

    /// Accept: A is the author of the ask that X's thread is rooted at, and A's latest word is yes.
    ///
    /// Reading: X may be any post-like event of the thread by another, not only an answer; of the X
    /// whose latest word is yes one counts, whatever was later refused elsewhere in the thread.
    fn accept(&mut self, author: Key, x: Event, reacts: &[Event]) {
        let net = self.net;
        let Some(q) = net.thread[x].filter(|_| net.post(x).is_some()) else {
            return;
        };
        let asks = |q: Event| {
            let ask = net.post(q).is_some_and(|post| post.kind == PostKind::Ask);
            ask && net.author[q] == author && q != x
        };
        if !net.held(q).is_some_and(asks) {
            return;
        }
        if let Some((latest, origin, renewals)) = self.suffix(reacts, |react| react.accept) {
            let accepted = self.accepted.entry(q).or_insert((latest, x));
            *accepted = (*accepted).max((latest, x));
            let clock = self.renewed(origin, renewals.into_iter());
            self.signal(author, x, Kind::Accept, net.policy.base_accept, clock);
        }
    }

    /// Cite: A has later post-like events with X in `refs` or as parent.
    ///
    /// Reading: of A's events that name X, those created after X are the citing ones; the others
    /// neither date the cite nor make a citation of it.
    fn cite(&mut self, author: Key, x: Event, mentions: &[Event]) {
        let net = self.net;
        if net.post(x).is_none() {
            return;
        }
        let later = |&&e: &&Event| net.stamp(e).created_at > net.stamp(x).created_at;
        let replies = |e: Event| {
            let reply = net.post(e).and_then(|post| post.reply);
            reply.is_some_and(|reply| reply.parent == net.events[x].id)
        };
        let citing = || mentions.iter().filter(later).copied();
        let te = |e: Event| net.events[e].te();
        if let Some(origin) = citing().filter(|&e| !replies(e)).map(te).min() {
            self.signal(author, x, Kind::Citation, net.policy.base_cite, origin);
        } else if let Some(origin) = citing().map(te).min() {
            self.signal(author, x, Kind::Reply, net.policy.base_reply, origin);
        }
    }

    /// Of the reacts that carry a flag, the longest suffix of `true`: the latest, the smallest `te`
    /// and the candidates for renewal. Nothing when the latest is not `true`.
    fn suffix(
        &self,
        reacts: &[Event],
        flag: impl Fn(&React) -> Option<bool>,
    ) -> Option<(Stamp, Millis, Vec<Millis>)> {
        let net = self.net;
        let carrying = reacts.iter().rev().filter(|&&e| flag(self.say(e)).is_some());
        let mut times = Vec::new();
        let mut latest = None;
        for &e in carrying.take_while(|&&e| flag(self.say(e)) == Some(true)) {
            latest = latest.or(Some(net.stamp(e)));
            times.push(net.events[e].te());
        }
        let origin = times.iter().copied().min()?;
        times.extend(self.still_valid(reacts));
        Some((latest?, origin, times))
    }

    /// The `te` of every react with `still_valid: true`.
    fn still_valid(&self, reacts: &[Event]) -> impl Iterator<Item = Millis> {
        let renewing = reacts.iter().filter(|&&e| self.say(e).still_valid);
        renewing.map(|&e| self.net.events[e].te())
    }

    /// The clock: each candidate, in order, that is at least 30 days after the clock so far.
    fn renewed(&self, origin: Millis, candidates: impl Iterator<Item = Millis>) -> Millis {
        let mut candidates: Vec<_> = candidates.filter(|&te| te > origin).collect();
        candidates.sort_unstable();
        let later = |clock: Millis, te| match te >= clock.after(self.net.policy.renewal) {
            true => te,
            false => clock,
        };
        candidates.into_iter().fold(origin, later)
    }

    fn signal(&mut self, author: Key, target: Event, kind: Kind, base: Fixed, clock: Millis) {
        let policy = self.net.policy;
        let half_life = match kind {
            Kind::VoteUp | Kind::VoteDown => policy.half_life_vote,
            _ => policy.half_life,
        };
        let is = Strength::new(self.net, base, half_life, clock);
        self.signals.push(Signal { author, target, kind, is });
    }

    /// Notes the reacts of the run of a confirm or a contradiction that attach blobs.
    ///
    /// Reading: a react *belongs to* a confirm or a contradiction when it is one of its run.
    fn attach(&mut self, x: Event, run: &[Event]) {
        if self.net.post(x).is_some() {
            let net = self.net;
            let attaching = |e: &Event| net.react(*e).is_some_and(|r| !r.blobs.is_empty());
            self.attaching.extend(run.iter().copied().filter(attaching));
        }
    }

    /// The react's words. Only reacts are asked.
    fn say(&self, e: Event) -> &React {
        self.net.react(e).expect("only reacts stand among the reacts of a pair")
    }

    /// Whether the react has artifact evidence: its blob is held.
    fn artifact(&self, e: Event) -> bool {
        match self.say(e).evidence {
            Evidence::Blob(blob) => self.net.held_blobs.contains(&blob),
            Evidence::Text | Evidence::None => false,
        }
    }
}

/// `data.value`, where `used: true` with evidence and no value is read as 1.
fn value(react: &React) -> Option<i8> {
    let held_up = react.used == Some(true) && react.evidence.given();
    react.value.or(held_up.then_some(1))
}
