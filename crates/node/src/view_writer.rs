//! Views on their way to the store: integers become the names that events sign.

use wats_engine::interner::Interner;
use wats_engine::labels::suggested;
use wats_engine::view_set::ViewSet;
use wats_event::Hex32;
use wats_store::LabelRecord;

use wats_engine::collation;
use wats_engine::summary::why;
use wats_model::ids::{EventId, GroupId, KeyId};
use wats_model::views::{
    AuthorView, BlobView, EntryView, Facet, GroupView, ListedView, NetworkView, PostView, View,
};
use wats_store::{
    AuthorRecord, EntryRecord, Group, GroupRecord, PostRecord, RankRecord, Shown, StoreError, Under,
    ViewBatch,
};

/// Adds the changes of a tick.
///
/// # Errors
/// When a view is over the limit of a record.
pub(crate) fn changes(
    changes: &[(View, i64)],
    intake: &Interner,
    batch: &mut ViewBatch,
) -> Result<(), StoreError> {
    changes.iter().try_for_each(|(view, diff)| one(view, *diff > 0, intake, batch))
}

/// Everything there is.
///
/// # Errors
/// When a view is over the limit of a record.
pub(crate) fn all(document: &ViewSet, intake: &Interner) -> Result<ViewBatch, StoreError> {
    let mut batch = ViewBatch::default();
    for view in document.posts.values() {
        post(view, true, intake, &mut batch)?;
    }
    for view in document.authors.values() {
        author(view, true, intake, &mut batch)?;
    }
    for view in &document.entries {
        entry(view, true, intake, &mut batch)?;
    }
    for (thread, answer) in &document.canonical {
        shown(*thread, *answer, Shown::Canonical, true, intake, &mut batch)?;
    }
    for (thread, digest) in &document.covers {
        shown(*thread, *digest, Shown::Digest, true, intake, &mut batch)?;
    }
    for view in document.blobs.values() {
        one(&View::Blob(*view), true, intake, &mut batch)?;
    }
    for view in document.groups.values() {
        browsed(view, true, intake, &mut batch)?;
    }
    for view in &document.listed {
        listed(view, true, intake, &mut batch)?;
    }
    for view in document.networks.values() {
        label(view, true, intake, &mut batch)?;
    }
    Ok(batch)
}

fn one(view: &View, here: bool, intake: &Interner, batch: &mut ViewBatch) -> Result<(), StoreError> {
    match view {
        View::Post(view) => post(view, here, intake, batch),
        View::Author(view) => author(view, here, intake, batch),
        View::Entry(view) => entry(view, here, intake, batch),
        View::Canonical(view) => shown(view.thread, view.answer, Shown::Canonical, here, intake, batch),
        View::Cover(view) => shown(view.thread, view.digest, Shown::Digest, here, intake, batch),
        View::Blob(view) => {
            let BlobView { held, pinned, rank, replicas, confirmed, .. } = *view;
            match intake.blob_name(view.blob) {
                Some(name) => batch.rank(name, &RankRecord { pinned, rank, held, replicas, confirmed }, here),
                None => Ok(()),
            }
        }
        View::Group(view) => browsed(view, here, intake, batch),
        View::Listed(view) => listed(view, here, intake, batch),
        View::Network(view) => label(view, here, intake, batch),
    }
}

/// The network and the name of what posts are under.
fn under(facet: Facet, intake: &Interner) -> Option<(&str, Under)> {
    let (network, under) = match facet {
        Facet::Tag(tag) => {
            let (network, tag) = intake.tag_name(tag)?;
            (network, Under::Tag(tag.to_owned()))
        }
        Facet::Thread(root) => (intake.event_network(root)?, Under::Thread(intake.event_name(root)?)),
        Facet::Initial(network, initial) => (network, Under::Initial(initial.0)),
        Facet::Month(network, month) => (network, Under::Month(month)),
        Facet::Day(network, day) => (network, Under::Day(day)),
    };
    Some((intake.network_name(network)?, under))
}

fn browsed(view: &GroupView, here: bool, intake: &Interner, batch: &mut ViewBatch) -> Result<(), StoreError> {
    let Some((network, under)) = under(view.facet, intake) else {
        return Ok(());
    };
    let title = match view.facet {
        Facet::Thread(root) if view.begun => intake.held(root).and_then(|held| held.title.as_deref()),
        _ => None,
    };
    let group = GroupRecord { under, posts: view.posts, entries: view.entries };
    batch.group(network, &group, title.map(collation::folded).as_deref(), here)
}

fn listed(view: &ListedView, here: bool, intake: &Interner, batch: &mut ViewBatch) -> Result<(), StoreError> {
    let (Some((network, under)), Some(entry)) = (under(view.under, intake), intake.event_name(view.entry))
    else {
        return Ok(());
    };
    batch.listed(network, &under, (view.rank, view.day), (entry, view.digest), here)
}

fn label(view: &NetworkView, here: bool, intake: &Interner, batch: &mut ViewBatch) -> Result<(), StoreError> {
    let Some(network) = intake.network_name(view.network) else {
        return Ok(());
    };
    let record = LabelRecord { label: view.label, suggested: suggested(view, intake) };
    batch.label(network, here.then_some(&record))
}

/// The network and the name of an event: views speak of events that the intake has named.
fn event(id: EventId, intake: &Interner) -> Option<(&str, Hex32)> {
    Some((intake.network_name(intake.event_network(id)?)?, intake.event_name(id)?))
}

/// The network and the name of a key.
pub(crate) fn key(id: KeyId, intake: &Interner) -> Option<(&str, Hex32)> {
    Some((intake.network_name(intake.key_network(id)?)?, intake.key_name(id)?))
}

fn post(view: &PostView, here: bool, intake: &Interner, batch: &mut ViewBatch) -> Result<(), StoreError> {
    let Some((network, id)) = event(view.post, intake) else {
        return Ok(());
    };
    let record = here.then(|| PostRecord {
        author: intake.key_name(view.author).unwrap_or_default(),
        status: view.status,
        score: view.score,
        counts: view.counts,
        replicas: view.replicas,
        why: why(view, intake),
    });
    batch.post(network, id, record.as_ref())
}

fn author(view: &AuthorView, here: bool, intake: &Interner, batch: &mut ViewBatch) -> Result<(), StoreError> {
    let Some((network, name)) = key(view.key, intake) else {
        return Ok(());
    };
    let record = here.then(|| {
        let mut origins: Vec<Group> = view.origins.iter().map(|g| group(*g, intake)).collect();
        // By name, so that the record does not depend on the integers of this run.
        origins.sort_unstable();
        AuthorRecord {
            trust: view.trust,
            floor: view.floor,
            weight: view.weight,
            reputation: view.reputation,
            voice: view.voice,
            group: group(view.group, intake),
            class: group(view.class, intake),
            origins,
        }
    });
    batch.author(network, name, record.as_ref())
}

fn group(group: GroupId, intake: &Interner) -> Group {
    match group {
        GroupId::Alone(key) => Group::Alone(intake.key_name(key).unwrap_or_default()),
        GroupId::Profiles(_) => Group::Profiles,
        GroupId::Owner(owner) => Group::Owner(intake.owner_name(owner).unwrap_or_default().to_owned()),
    }
}

fn entry(view: &EntryView, here: bool, intake: &Interner, batch: &mut ViewBatch) -> Result<(), StoreError> {
    let Some((network, id)) = event(view.entry, intake) else {
        return Ok(());
    };
    let record = here.then(|| {
        let mut threads: Vec<Hex32> = view.threads.iter().filter_map(|t| intake.event_name(*t)).collect();
        threads.sort_unstable();
        EntryRecord { threads }
    });
    batch.entry(network, id, view.digest, record.as_ref())
}

fn shown(
    root: EventId,
    shown: EventId,
    what: Shown,
    here: bool,
    intake: &Interner,
    batch: &mut ViewBatch,
) -> Result<(), StoreError> {
    let Some((network, root)) = event(root, intake) else {
        return Ok(());
    };
    batch.shown(network, root, what, intake.event_name(shown).filter(|_| here))
}
