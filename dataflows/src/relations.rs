//! Sections 1.2 and 1.3: events as relations, and what they say of each other once both are held.

use crate::facts::{Body, EventFact, Evidence, Post, PostKind, React};
use crate::ids::{BlobId, EventId, KeyId, Millis, NetworkId, OwnerId, Stamp};
use crate::incremental::{Changes, Tick};
use crate::knowledge::Digest;
use crate::policy::Config;
use crate::signals::{Asked, Citing, ReactOn, Target, Told};
use crate::trust;
use differential_dataflow::operators::arrange::{Arranged, TraceAgent};
use differential_dataflow::trace::implementations::ValSpine;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

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

/// Arranges the held events by id.
pub fn held<'s>(events: Changes<'s, EventFact>) -> HeldById<'s> {
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

/// Post-like events.
pub fn posts<'s>(events: Changes<'s, EventFact>) -> Changes<'s, (EventFact, Post)> {
    events.flat_map(|e| match &e.body {
        Body::Post(post) => {
            let post = post.clone();
            Some((e, post))
        }
        _ => None,
    })
}

/// Reacts, read as section 2 does: use with evidence and without a value has the value 1.
pub fn reacts<'s>(events: Changes<'s, EventFact>) -> Changes<'s, (EventFact, React)> {
    events.flat_map(|mut e| {
        let body = std::mem::replace(&mut e.body, Body::Other { reply: None });
        let Body::React(mut react) = body else {
            return None;
        };
        if react.value.is_none() && react.used == Some(true) && react.evidence.given() {
            react.value = Some(1);
        }
        Some((e, react))
    })
}

/// `thread(e)` of post-like events (section 1): what e claims, when its parent is held and is that root
/// or claims the same.
pub fn threads<'s>(
    posts: Changes<'s, (EventFact, Post)>,
    held: HeldById<'s>,
) -> Changes<'s, (EventId, EventId)> {
    let replies = posts.flat_map(|(e, post)| post.reply.map(|r| (r.parent, (e.id, r.thread))));
    let replies = replies.arrange_by_key_named("replies by parent");
    replies.join_core(held, |parent, (id, thread), held| {
        (parent == thread || held.thread == Some(*thread)).then_some((*id, *thread))
    })
}

/// All that is said about events (section 2), keyed by the event it is about.
pub fn told<'s>(
    events: Changes<'s, EventFact>,
    posts: Changes<'s, (EventFact, Post)>,
    reacts: Changes<'s, (EventFact, React)>,
    blobs: Changes<'s, BlobId>,
    threads: Changes<'s, (EventId, EventId)>,
    held: HeldById<'s>,
) -> Changes<'s, (EventId, Told)> {
    let targets = events.flat_map(|e| {
        let post = match &e.body {
            Body::Post(_) => true,
            Body::React(_) => false,
            _ => return None,
        };
        let target = Target { network: e.network, author: e.author, post, created_at: e.stamp.created_at };
        Some((e.id, Told::Target(target)))
    });
    let by_thread = threads.map(|(id, thread)| (thread, id)).arrange_by_key_named("posts by thread");
    let asked = by_thread.join_core(held.clone(), |thread, id, held| {
        let asked = Asked { thread: *thread, asker: held.author };
        (held.kind == Kind::Ask).then_some((*id, Told::Asked(asked)))
    });
    let said = reacts.clone().map(|(e, react)| {
        let on = ReactOn {
            by: e.author,
            id: e.id,
            stamp: e.stamp,
            received_at: e.received_at,
            value: react.value,
            accept: react.accept,
            used: react.used,
            still_valid: react.still_valid,
            evidence: react.evidence.given(),
            attaches: !react.blobs.is_empty(),
        };
        (react.target, Told::React(on))
    });
    let artifacts = artifacts(reacts.clone(), blobs);
    let citing = posts.flat_map(|(e, post)| {
        let mut cited: Vec<EventId> = post.refs.iter().copied().chain(post.reply.map(|r| r.parent)).collect();
        cited.sort_unstable();
        cited.dedup();
        let citing =
            Citing { received_at: e.received_at, stamp: e.stamp, by: e.author, id: e.id, blank: post.blank };
        cited.into_iter().map(move |on| (on, Told::Citing(citing)))
    });
    targets.concatenate([asked, said, artifacts, citing, named(reacts, held)])
}

/// Reacts whose artifact the node holds.
fn artifacts<'s>(
    reacts: Changes<'s, (EventFact, React)>,
    blobs: Changes<'s, BlobId>,
) -> Changes<'s, (EventId, Told)> {
    let pointing = reacts.flat_map(|(e, react)| match react.evidence {
        Evidence::Blob(blob) => Some((blob, (react.target, e.author, e.id))),
        _ => None,
    });
    let readable = pointing.join_map(blobs.map(|blob| (blob, ())), |_, at, ()| *at);
    readable.map(|(on, by, react)| (on, Told::Artifact { by, react }))
}

/// The first own event that a contradicting react names in its `refs`.
fn named<'s>(reacts: Changes<'s, (EventFact, React)>, held: HeldById<'s>) -> Changes<'s, (EventId, Told)> {
    let refs = reacts.filter(|(_, react)| react.value == Some(-1)).flat_map(|(e, react)| {
        let (on, by, id) = (react.target, e.author, e.id);
        let refs = react.refs.into_vec().into_iter().enumerate();
        refs.map(move |(at, cited)| (cited, (on, by, id, at as u16)))
    });
    let own = refs.arrange_by_key_named("refs of contradicting reacts").join_core(held, |cited, at, held| {
        let (on, by, id, place) = *at;
        let post = matches!(held.kind, Kind::Ask | Kind::Post);
        (post && held.author == by && *cited != on).then_some(((on, by, id), (place, *cited)))
    });
    let first = own.reduce_named("first own event named", |_, named, output| {
        output.extend(named.first().map(|(first, _)| (**first, 1)));
    });
    first.map(|((on, by, react), (_, own))| (on, Told::Names { by, react, own }))
}

/// Vouches, each with its place in "latest": ((voucher, author of the announce), (stamp, vouched)).
pub fn vouches<'s>(
    reacts: Changes<'s, (EventFact, React)>,
    held: HeldById<'s>,
) -> Changes<'s, ((NetworkId, KeyId, KeyId), (Stamp, bool))> {
    let labels = reacts.flat_map(|(e, react)| {
        react.vouch.map(|vouch| (react.target, (e.network, e.author, e.stamp, vouch)))
    });
    labels.arrange_by_key_named("vouches by announce").join_core(held, |_, label, held| {
        let (network, by, stamp, vouch) = *label;
        let counts = held.kind == Kind::Announce && held.author != by;
        counts.then_some(((network, by, held.author), (stamp, vouch)))
    })
}

/// Owners as declared, each with its place in "latest".
pub fn owners<'s>(
    events: Changes<'s, EventFact>,
) -> Changes<'s, ((NetworkId, KeyId), (Stamp, Option<OwnerId>))> {
    events.flat_map(|e| match e.body {
        Body::Announce { owner } => Some(((e.network, e.author), (e.stamp, owner))),
        _ => None,
    })
}

/// Work beyond what the network asks (section 3, *Cold start*), its amount in the multiplicity.
pub fn work<'s>(
    events: Changes<'s, EventFact>,
    config: Arc<Config>,
) -> Changes<'s, (NetworkId, trust::Told)> {
    events.explode(move |e| {
        let extra = u32::from(e.work).saturating_sub(config.pow_bits(e.network)).min(62);
        let amount = ((1i64 << extra) - 1).min(config.policy.work_cap);
        (amount > 0).then_some(((e.network, trust::Told::Work(e.author)), amount))
    })
}

/// A post-like event by its author: (author, (event, stamp)).
pub fn authored<'s>(posts: Changes<'s, (EventFact, Post)>) -> Changes<'s, (KeyId, (EventId, Stamp))> {
    posts.map(|(e, _)| (e.author, (e.id, e.stamp)))
}

/// `te` of post-like events.
pub fn written<'s>(posts: Changes<'s, (EventFact, Post)>) -> Changes<'s, (EventId, Millis)> {
    posts.map(|(e, _)| (e.id, e.te()))
}

/// Digests with refs.
pub fn digests<'s>(posts: Changes<'s, (EventFact, Post)>) -> Changes<'s, (EventId, Digest)> {
    posts.filter(|(_, post)| is_sourced_digest(post)).map(|(e, post)| {
        let answers = post.reply.filter(|r| r.parent == r.thread).map(|r| r.parent);
        (e.id, Digest { author: e.author, answers, supersedes: post.supersedes })
    })
}

/// What digests cite.
pub fn digest_refs<'s>(posts: Changes<'s, (EventFact, Post)>) -> Changes<'s, (EventId, EventId)> {
    posts.filter(|(_, post)| is_sourced_digest(post)).flat_map(|(e, post)| {
        let mut refs = post.refs.into_vec();
        refs.sort_unstable();
        refs.dedup();
        refs.into_iter().map(move |cited| (e.id, cited))
    })
}

/// Answers to the root that they claim; digests only with refs.
pub fn answers<'s>(posts: Changes<'s, (EventFact, Post)>) -> Changes<'s, (EventId, EventId)> {
    let may = |post: &Post| post.kind == PostKind::Post || is_sourced_digest(post);
    posts
        .filter(move |(_, post)| may(post))
        .flat_map(|(e, post)| post.reply.filter(|r| r.parent == r.thread).map(|r| (e.id, r.parent)))
}

fn is_sourced_digest(post: &Post) -> bool {
    post.kind == PostKind::Digest && !post.refs.is_empty()
}

/// Blobs that posts attach: (post, blob).
pub fn attached<'s>(posts: Changes<'s, (EventFact, Post)>) -> Changes<'s, (EventId, BlobId)> {
    posts.flat_map(|(e, post)| post.blobs.into_vec().into_iter().map(move |blob| (e.id, blob)))
}

/// Blobs that reacts attach: (react, blob).
pub fn react_blobs<'s>(reacts: Changes<'s, (EventFact, React)>) -> Changes<'s, (EventId, BlobId)> {
    reacts.flat_map(|(e, react)| react.blobs.into_vec().into_iter().map(move |blob| (e.id, blob)))
}
