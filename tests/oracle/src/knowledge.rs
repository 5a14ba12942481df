//! Section 7: knowledge entries.

use crate::counting::Sets;
use crate::keys::Keys;
use crate::network::{Event, Key, Network};
use crate::reputation::Standing;
use crate::signals::{Kind, Signal, Signals};
use crate::status::{PostStatus, positive};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use wats_model::facts::PostKind;
use wats_model::ids::EventId;
use wats_model::views::{EntryView, Status};

/// What section 7 says.
pub(crate) struct Knowledge {
    pub(crate) entries: BTreeSet<EntryView>,
    /// The canonical answer of each thread that has one.
    pub(crate) canonical: BTreeMap<EventId, EventId>,
    /// The digest shown for each held root that one covers.
    pub(crate) covers: BTreeMap<EventId, EventId>,
}

/// A digest that qualifies.
struct Digest {
    event: Event,
    /// Whether it does so by independent voices.
    by_voices: bool,
}

/// Finds the entries.
///
/// Reading: an entry digest that covers no root remains an entry, without threads.
pub(crate) fn knowledge(
    net: &Network,
    signals: &Signals,
    keys: &Keys,
    standing: &Standing,
    statuses: &[Option<PostStatus>],
) -> Knowledge {
    let of = Of { net, signals, keys, standing, statuses };
    let qualifying: Vec<Digest> = net.posts().filter_map(|(d, _)| of.qualifies(d)).collect();
    let superseded = of.superseded(&qualifying);
    let canonical = of.canonical(&superseded);

    let mut covered: FxHashMap<EventId, Event> = FxHashMap::default();
    let mut entries = BTreeSet::new();
    let mut covers = BTreeMap::new();
    for digest in qualifying.iter().filter(|d| !superseded.contains(&d.event)) {
        let d = digest.event;
        let mut threads = of.roots(digest);
        let voices = of.support(d);
        // Reading: a root that is not held has no canonical answer, and is not put out.
        threads.retain(|t| net.held(*t).is_some());
        threads.retain(|t| canonical.get(t).is_none_or(|&answer| voices >= of.support(answer)));
        for &t in &threads {
            let shown = covered.entry(t).or_insert(d);
            if of.order(d) > of.order(*shown) {
                *shown = d;
            }
        }
        entries.insert(EntryView { entry: net.events[d].id, digest: true, threads });
    }
    covers.extend(covered.iter().map(|(&t, &d)| (t, net.events[d].id)));
    for (&thread, &answer) in canonical.iter().filter(|(t, _)| !covered.contains_key(t)) {
        let entry = net.events[answer].id;
        entries.insert(EntryView { entry, digest: false, threads: vec![thread] });
    }
    let canonical = canonical.into_iter().map(|(t, answer)| (t, net.events[answer].id)).collect();
    Knowledge { entries, canonical, covers }
}

struct Of<'a> {
    net: &'a Network<'a>,
    signals: &'a Signals,
    keys: &'a Keys,
    standing: &'a Standing,
    statuses: &'a [Option<PostStatus>],
}

impl Of<'_> {
    /// Whether k takes part: it has weight, and trust of that size.
    fn takes_part(&self, k: Key) -> bool {
        self.standing.has_weight[k] && self.keys.trust[k] >= self.net.policy.w_min
    }

    /// The live supporters' words on p, of those who take part.
    fn live(&self, p: Event) -> impl Iterator<Item = &Signal> {
        let counts = |s: &&Signal| positive(self.net, self.keys, s) && self.takes_part(s.author);
        self.signals.on(p).iter().filter(|s| s.kind.supports() && s.is.live).filter(counts)
    }

    /// The live supporters of p through signals of these kinds.
    fn supporters(&self, p: Event, through: &[Kind]) -> Vec<Key> {
        self.live(p).filter(|s| through.contains(&s.kind)).map(|s| s.author).collect()
    }

    /// The voices of the live supporters of p, accepts included.
    fn support(&self, p: Event) -> usize {
        Sets(self.keys).voices(&self.supporters(p, &[Kind::Accept, Kind::Confirm, Kind::Use]))
    }

    /// Independent voices among the live supporters of p through signals of these kinds.
    fn independent(&self, p: Event, through: &[Kind]) -> bool {
        let voices = Sets(self.keys).independent(&self.supporters(p, through), self.net.author[p]);
        voices >= self.net.policy.knowledge_voices
    }

    /// The asker whose accept holds on p.
    fn holding_asker(&self, p: Event) -> Option<Key> {
        self.live(p).find(|s| s.kind == Kind::Accept).map(|s| s.author)
    }

    fn confirmed(&self, p: Event) -> bool {
        self.statuses[p].is_some_and(|s| s.status == Status::Confirmed)
    }

    /// A digest with refs that is confirmed, and by two independent voices or its asker.
    fn qualifies(&self, d: Event) -> Option<Digest> {
        let post = self.net.post(d)?;
        if post.kind != PostKind::Digest || post.refs.is_empty() || !self.confirmed(d) {
            return None;
        }
        let by_voices = self.independent(d, &[Kind::Confirm, Kind::Use]);
        // An accept is by the author of the ask thread(d).
        let parent = post.reply.map(|r| r.parent).filter(|p| self.net.thread[d] == Some(*p));
        let accepted = parent.is_some() && self.holding_asker(d).is_some();
        (by_voices || accepted).then_some(Digest { event: d, by_voices })
    }

    /// The qualifying digests that another one, by the same author or as good, supersedes.
    fn superseded(&self, qualifying: &[Digest]) -> FxHashSet<Event> {
        let events: FxHashSet<Event> = qualifying.iter().map(|d| d.event).collect();
        let score = |d: Event| self.statuses[d].map(|s| s.score);
        let mut superseded = FxHashSet::default();
        for &new in &events {
            let named = self.net.post(new).and_then(|post| post.supersedes);
            let named = named.and_then(|id| self.net.held(id)).filter(|d| events.contains(d));
            let Some(old) = named.filter(|&old| old != new) else {
                continue;
            };
            let as_good = || score(new) >= score(old) && self.support(new) >= self.support(old);
            if self.net.author[new] == self.net.author[old] || as_good() {
                superseded.insert(old);
            }
        }
        superseded
    }

    /// The canonical answer of each thread rooted at an ask.
    fn canonical(&self, superseded: &FxHashSet<Event>) -> BTreeMap<EventId, Event> {
        let mut canonical: BTreeMap<EventId, Event> = BTreeMap::new();
        for (p, _) in self.net.posts() {
            let Some(t) = self.answers(p, superseded) else {
                continue;
            };
            let best = canonical.entry(t).or_insert(p);
            // Of equals, the first received.
            let order = |p: Event| {
                let status = self.statuses[p];
                (status.map(|s| (s.score, s.counts.accepts)), Reverse(self.net.by_receipt(p)))
            };
            if order(p) > order(*best) {
                *best = p;
            }
        }
        canonical
    }

    /// The thread that p answers, when p qualifies for its canonical answer.
    ///
    /// Reading: answers are posts and digests (section 1), so an ask below an ask is none; T may
    /// itself have a parent.
    fn answers(&self, p: Event, superseded: &FxHashSet<Event>) -> Option<EventId> {
        let (net, keys) = (self.net, self.keys);
        let post = net.post(p).filter(|_| self.confirmed(p))?;
        let may = match post.kind {
            PostKind::Ask => false,
            PostKind::Post => true,
            PostKind::Digest => !post.refs.is_empty() && !superseded.contains(&p),
        };
        let t = net.thread[p].filter(|t| may && post.reply.is_some_and(|r| r.parent == *t))?;
        net.held(t).and_then(|t| net.post(t)).filter(|t| t.kind == PostKind::Ask)?;
        let backed = |asker: Key| {
            let others = self.supporters(p, &[Kind::Confirm, Kind::Use]);
            others.into_iter().any(|k| {
                k != asker && keys.group[k] != keys.group[asker] && keys.class[k] != keys.class[asker]
            })
        };
        let accepted = self.holding_asker(p).is_some_and(backed);
        (accepted || self.independent(p, &[Kind::Confirm])).then_some(t)
    }

    /// The roots of an entry digest, sorted.
    fn roots(&self, digest: &Digest) -> Vec<EventId> {
        let net = self.net;
        let mut roots: Vec<EventId> = net.thread[digest.event].into_iter().collect();
        if let Some(post) = net.post(digest.event).filter(|_| digest.by_voices) {
            for y in post.refs.iter().filter_map(|&y| net.held(y)) {
                match net.post(y).map(|post| post.reply) {
                    Some(None) => roots.push(net.events[y].id),
                    Some(Some(_)) => roots.extend(net.thread[y]),
                    None => {}
                }
            }
        }
        roots.sort_unstable();
        roots.dedup();
        roots
    }

    /// (`score`, `created_at`, `id`).
    fn order(&self, p: Event) -> impl Ord {
        (self.statuses[p].map(|s| s.score), self.net.stamp(p))
    }
}
