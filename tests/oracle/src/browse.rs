//! The map of posts and entries to browse: counts of what is under each tag, thread, first letter, month
//! and day, counted by looking at every post. (No section of the specification.)

use crate::network::{Event, Network};
use crate::status::PostStatus;
use std::collections::{BTreeMap, BTreeSet};
use wats_model::facts::{Post, PostKind};
use wats_model::fixed::Fixed;
use wats_model::ids::EventId;
use wats_model::views::{EntryView, Facet, GroupView, ListedView};

/// Adds a network's map to those of others.
pub(crate) fn browse(
    net: &Network,
    statuses: &[Option<PostStatus>],
    entries: &BTreeSet<EntryView>,
    groups: &mut BTreeMap<Facet, GroupView>,
    listed: &mut BTreeSet<ListedView>,
) {
    for (p, _) in net.posts() {
        let Some(status) = statuses[p] else {
            continue;
        };
        let mut under = facets(net, p);
        under.extend(thread(net, p).map(Facet::Thread));
        for facet in under {
            group(groups, facet).posts[status.status as usize] += 1;
        }
    }
    for entry in entries {
        let Some(e) = net.held(entry.entry) else {
            continue;
        };
        let mut under = facets(net, e);
        under.extend(entry.threads.iter().map(|root| Facet::Thread(*root)));
        let score = statuses[e].map_or(Fixed::ZERO, |status| status.score);
        let rank = if score > Fixed::ZERO { score.rounded() } else { Fixed::ZERO };
        for under in under {
            group(groups, under).entries += 1;
            let (day, digest) = (day(net, e), entry.digest);
            listed.insert(ListedView { under, rank, day, entry: entry.entry, digest });
        }
    }
    for group in groups.values_mut() {
        if let Facet::Thread(root) = group.facet
            && let Some(root) = net.held(root)
        {
            group.begun = beginning(net, root).is_some();
        }
    }
}

fn group(groups: &mut BTreeMap<Facet, GroupView>, facet: Facet) -> &mut GroupView {
    groups.entry(facet).or_insert(GroupView { facet, posts: [0; 4], entries: 0, begun: false })
}

/// The ask, or the post without a parent, that an event is.
fn beginning<'a>(net: &Network<'a>, e: Event) -> Option<&'a Post> {
    net.post(e).filter(|post| post.kind == PostKind::Ask || post.reply.is_none())
}

/// The thread that a post is in: its own, where it replies to nothing.
fn thread(net: &Network, p: Event) -> Option<EventId> {
    let alone = net.post(p).is_some_and(|post| post.reply.is_none());
    if alone { Some(net.events[p].id) } else { net.thread[p] }
}

fn day(net: &Network, p: Event) -> u32 {
    (net.events[p].stamp.created_at.0 / 86_400_000) as u32
}

/// All that a post is under but its thread.
fn facets(net: &Network, p: Event) -> BTreeSet<Facet> {
    let begun = thread(net, p).and_then(|root| net.held(root)).and_then(|root| beginning(net, root));
    let tags = net.post(p).into_iter().chain(begun).flat_map(|post| post.tags.iter().copied());
    let mut facets: BTreeSet<Facet> = tags.map(Facet::Tag).collect();
    facets.extend(begun.and_then(|post| post.initial).map(|initial| Facet::Initial(net.id, initial)));
    let day = day(net, p);
    facets.extend([Facet::Day(net.id, day), Facet::Month(net.id, month(day))]);
    facets
}

/// Months since 1970, counted off year by year and month by month.
fn month(day: u32) -> u32 {
    let leap = |year: u32| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut left, mut year) = (day, 1970);
    while left >= 365 + u32::from(leap(year)) {
        left -= 365 + u32::from(leap(year));
        year += 1;
    }
    let february = 28 + u32::from(leap(year));
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while left >= lengths[month] {
        left -= lengths[month];
        month += 1;
    }
    (year - 1970) * 12 + month as u32
}
