//! Sections 1.2 and 1.3: events as relations, and what they say of each other once both are held.

use crate::incremental::{Changes, Tick};
use crate::signals::{Asked, Citing, Input, ReactOn, Target};
use crate::trust;
use differential_dataflow::operators::arrange::{Arranged, TraceAgent};
use differential_dataflow::trace::implementations::ValSpine;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use wats_model::facts::{Body, EventFact, Evidence, Post, PostKind, React};
use wats_model::ids::{BlobId, EventId, KeyId, Millis, NetworkId, OwnerId, Stamp};
use wats_model::policy::Config;

/// A digest with refs, as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Digest {
    /// Its author.
    pub author: KeyId,
    /// Its parent, when it claims that to be the root of its thread.
    pub answers: Option<EventId>,
    /// `data.supersedes`.
    pub supersedes: Option<EventId>,
}

/// What others need to know of a held event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Held {
    /// Its author.
    pub author: KeyId,
    /// Its kind.
    pub kind: Kind,
    /// Its `thread` member.
    pub thread: Option<EventId>,
}

/// Kinds of events, as far as others care.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// `ask`.
    Ask,
    /// `post` or a digest.
    Post,
    /// `react`.
    React,
    /// `announce`.
    Announce,
    /// Another extension.
    Other,
}

/// Held events by id.
pub type HeldById<'s> = Arranged<'s, TraceAgent<ValSpine<EventId, Held, Tick, i64>>>;

/// Post-like events by the thread that they are in.
pub type ByThread<'s> = Arranged<'s, TraceAgent<ValSpine<EventId, EventId, Tick, i64>>>;

/// Arranges post-like events by thread.
pub fn by_thread<'s>(threads: Changes<'s, (EventId, EventId)>) -> ByThread<'s> {
    threads.map(|(id, thread)| (thread, id)).arrange_by_key_named("posts by thread")
}

/// Arranges the held events by id.
pub fn held<'s>(events: Events<'s>) -> HeldById<'s> {
    let held = events.map(|e| {
        let (kind, reply) = match &e.body {
            Body::Post(post) if post.kind == PostKind::Ask => (Kind::Ask, post.reply),
            Body::Post(post) => (Kind::Post, post.reply),
            Body::React(_) => (Kind::React, None),
            Body::Announce { .. } => (Kind::Announce, None),
            Body::Other { reply } => (Kind::Other, *reply),
        };
        (e.id, Held { author: e.author, kind, thread: reply.map(|r| r.thread) })
    });
    held.arrange_by_key_named("held events")
}

/// Events, shared by the relations that are read off them.
pub type Events<'s> = Changes<'s, Arc<EventFact>>;

/// A post-like event.
fn post(e: &EventFact) -> Option<&Post> {
    match &e.body {
        Body::Post(post) => Some(post),
        _ => None,
    }
}

/// A react.
fn react(e: &EventFact) -> Option<&React> {
    match &e.body {
        Body::React(react) => Some(react),
        _ => None,
    }
}

/// A react's value: use with evidence and without a value is read as 1 (section 2).
fn value(react: &React) -> Option<i8> {
    let used = react.used == Some(true) && react.evidence.given();
    react.value.or(used.then_some(1))
}

/// Post-like events.
pub fn posts<'s>(events: Events<'s>) -> Events<'s> {
    events.filter(|e| post(e).is_some())
}

/// Reacts.
pub fn reacts<'s>(events: Events<'s>) -> Events<'s> {
    events.filter(|e| react(e).is_some())
}

/// `thread(e)` of post-like events (section 1): what e claims, when its parent is held and is that root
/// or claims the same.
pub fn threads<'s>(posts: Events<'s>, held: HeldById<'s>) -> Changes<'s, (EventId, EventId)> {
    let replies = posts.flat_map(|e| post(&e)?.reply.map(|r| (r.parent, (e.id, r.thread))));
    let replies = replies.arrange_by_key_named("replies by parent");
    replies.join_core(held, |parent, (id, thread), held| {
        (parent == thread || held.thread == Some(*thread)).then_some((*id, *thread))
    })
}

/// All that is said about events (section 2), keyed by the event it is about.
pub fn told<'s>(
    events: Events<'s>,
    posts: Events<'s>,
    reacts: Events<'s>,
    blobs: Changes<'s, BlobId>,
    by_thread: ByThread<'s>,
    held: HeldById<'s>,
) -> Changes<'s, (EventId, Input)> {
    let targets = events.flat_map(|e| {
        let post = match &e.body {
            Body::Post(_) => true,
            Body::React(_) => false,
            _ => return None,
        };
        let target = Target { network: e.network, author: e.author, post, created_at: e.stamp.created_at };
        Some((e.id, Input::Target(target)))
    });
    let asked = by_thread.join_core(held.clone(), |thread, id, held| {
        let asked = Asked { thread: *thread, asker: held.author };
        (held.kind == Kind::Ask).then_some((*id, Input::Asked(asked)))
    });
    let said =
        reacts.clone().flat_map(|e| react(&e).map(|react| (react.target, Input::React(said(&e, react)))));
    let citing = posts.flat_map(|e| citing(&e));
    targets.concatenate([asked, said, artifacts(reacts.clone(), blobs), citing, named(reacts, held)])
}

/// A react, as far as it is a signal.
fn said(e: &EventFact, react: &React) -> ReactOn {
    ReactOn {
        by: e.author,
        id: e.id,
        stamp: e.stamp,
        received_at: e.received_at,
        value: value(react),
        accept: react.accept,
        used: react.used,
        still_valid: react.still_valid,
        evidence: react.evidence.given(),
        attaches: !react.blobs.is_empty(),
    }
}

/// A post-like event, once for each event that it has as parent or in its refs.
fn citing(e: &EventFact) -> impl Iterator<Item = (EventId, Input)> + use<> {
    let mut cited: Vec<EventId> = Vec::new();
    let (mut blank, mut parent) = (true, None);
    if let Some(post) = post(e) {
        parent = post.reply.map(|r| r.parent);
        cited.extend(post.refs.iter().copied().chain(parent));
        blank = post.blank;
    }
    cited.sort_unstable();
    cited.dedup();
    let (received_at, stamp, by, id) = (e.received_at, e.stamp, e.author, e.id);
    cited.into_iter().map(move |on| {
        let reply = parent == Some(on);
        (on, Input::Citing(Citing { received_at, stamp, by, id, blank, reply }))
    })
}

/// Reacts whose artifact the node holds.
fn artifacts<'s>(reacts: Events<'s>, blobs: Changes<'s, BlobId>) -> Changes<'s, (EventId, Input)> {
    let pointing = reacts.flat_map(|e| match react(&e) {
        Some(React { evidence: Evidence::Blob(blob), target, .. }) => {
            Some((*blob, (*target, e.author, e.id)))
        }
        _ => None,
    });
    let readable = pointing.join_map(blobs.map(|blob| (blob, ())), |_, at, ()| *at);
    readable.map(|(on, by, react)| (on, Input::Artifact { by, react }))
}

/// The first own event that a contradicting react names in its `refs`.
fn named<'s>(reacts: Events<'s>, held: HeldById<'s>) -> Changes<'s, (EventId, Input)> {
    let refs = reacts.flat_map(|e| {
        let against = react(&e).filter(|react| value(react) == Some(-1));
        let refs: Vec<EventId> = against.map(|react| react.refs.to_vec()).unwrap_or_default();
        let (on, by, id) = (against.map(|react| react.target), e.author, e.id);
        let places = refs.into_iter().enumerate();
        places.filter_map(move |(at, cited)| Some((cited, (on?, by, id, at as u16))))
    });
    let own = refs.arrange_by_key_named("refs of contradicting reacts").join_core(held, |cited, at, held| {
        let (on, by, id, place) = *at;
        let post = matches!(held.kind, Kind::Ask | Kind::Post);
        (post && held.author == by && *cited != on).then_some(((on, by, id), (place, *cited)))
    });
    let first = own.reduce_named("first own event named", |_, named, output| {
        output.extend(named.first().map(|(first, _)| (**first, 1)));
    });
    first.map(|((on, by, react), (_, own))| (on, Input::Names { by, react, own }))
}

/// What a key says time and again, each time with its place in "latest".
pub type Repeated<'s, K, V> = Changes<'s, (K, (Stamp, V))>;

/// Vouches, by voucher and author of the announce.
pub fn vouches<'s>(reacts: Events<'s>, held: HeldById<'s>) -> Repeated<'s, (NetworkId, KeyId, KeyId), bool> {
    let labels = reacts.flat_map(|e| {
        let react = react(&e)?;
        react.vouch.map(|vouch| (react.target, (e.network, e.author, e.stamp, vouch)))
    });
    labels.arrange_by_key_named("vouches by announce").join_core(held, |_, label, held| {
        let (network, by, stamp, vouch) = *label;
        let counts = held.kind == Kind::Announce && held.author != by;
        counts.then_some(((network, by, held.author), (stamp, vouch)))
    })
}

/// Owners as declared.
pub fn owners<'s>(events: Events<'s>) -> Repeated<'s, (NetworkId, KeyId), Option<OwnerId>> {
    events.flat_map(|e| match e.body {
        Body::Announce { owner } => Some(((e.network, e.author), (e.stamp, owner))),
        _ => None,
    })
}

/// Work beyond what the network asks (section 3, *Cold start*), its amount in the multiplicity.
pub fn work<'s>(events: Events<'s>, config: Arc<Config>) -> Changes<'s, (NetworkId, trust::Input)> {
    events.explode(move |e| {
        let extra = u32::from(e.work).saturating_sub(config.pow_bits(e.network)).min(62);
        let amount = ((1i64 << extra) - 1).min(config.policy.work_cap);
        (amount > 0).then_some(((e.network, trust::Input::Work(e.author)), amount))
    })
}

/// Post-like events: (event, (stamp, author)).
pub fn authored<'s>(posts: Events<'s>) -> Changes<'s, (EventId, (Stamp, KeyId))> {
    posts.map(|e| (e.id, (e.stamp, e.author)))
}

/// `te` of post-like events.
pub fn written<'s>(posts: Events<'s>) -> Changes<'s, (EventId, Millis)> {
    posts.map(|e| (e.id, e.te()))
}

/// Posts by own profiles.
pub fn own<'s>(posts: Events<'s>, config: Arc<Config>) -> Changes<'s, EventId> {
    posts.filter(move |e| config.profiles(e.network).contains(&e.author)).map(|e| e.id)
}

/// Asks.
pub fn asks<'s>(posts: Events<'s>) -> Changes<'s, EventId> {
    posts.filter(|e| post(e).is_some_and(|post| post.kind == PostKind::Ask)).map(|e| e.id)
}

/// Post-like events without a parent.
pub fn roots<'s>(posts: Events<'s>) -> Changes<'s, EventId> {
    posts.filter(|e| post(e).is_some_and(|post| post.reply.is_none())).map(|e| e.id)
}

/// Digests with refs.
pub fn digests<'s>(posts: Events<'s>) -> Changes<'s, (EventId, Digest)> {
    posts.flat_map(|e| {
        let post = post(&e).filter(|post| is_sourced_digest(post))?;
        let answers = post.reply.filter(|r| r.parent == r.thread).map(|r| r.parent);
        Some((e.id, Digest { author: e.author, answers, supersedes: post.supersedes }))
    })
}

/// What digests cite.
pub fn digest_refs<'s>(posts: Events<'s>) -> Changes<'s, (EventId, EventId)> {
    posts.flat_map(|e| {
        let digest = post(&e).filter(|post| is_sourced_digest(post));
        let mut refs = digest.map(|post| post.refs.to_vec()).unwrap_or_default();
        refs.sort_unstable();
        refs.dedup();
        let id = e.id;
        refs.into_iter().map(move |cited| (id, cited))
    })
}

/// Answers to the root that they claim, and when they were received; digests only with refs.
pub fn answers<'s>(posts: Events<'s>) -> Changes<'s, (EventId, (EventId, Millis))> {
    let may = |post: &Post| post.kind == PostKind::Post || is_sourced_digest(post);
    posts.flat_map(move |e| {
        let reply = post(&e).filter(|post| may(post))?.reply;
        reply.filter(|r| r.parent == r.thread).map(|r| (e.id, (r.parent, e.received_at)))
    })
}

fn is_sourced_digest(post: &Post) -> bool {
    post.kind == PostKind::Digest && !post.refs.is_empty()
}

/// Blobs that posts attach, or reacts: (event, blob).
pub fn attached<'s>(events: Events<'s>) -> Changes<'s, (EventId, BlobId)> {
    events.flat_map(|e| {
        let blobs = match &e.body {
            Body::Post(Post { blobs, .. }) | Body::React(React { blobs, .. }) => blobs.to_vec(),
            _ => Vec::new(),
        };
        let id = e.id;
        blobs.into_iter().map(move |blob| (id, blob))
    })
}
