//! A map of what is known, before anybody searches: how many posts of each status, and which
//! knowledge entries, there are under each tag, in each thread, under each first letter of a title and
//! in each month and day. (No section of the specification: it follows from sections 6 and 7.)
//!
//! A post is *under* its own tags and those of the ask or post that begins its thread; in its thread;
//! under the first letter of the title of that ask or post; and in the day and the month of its
//! `created_at`. An ask, or a post without a parent, begins a thread. An entry is under the same as the
//! post that it is, but for threads: there it is in each that it covers.
//!
//! What a post is under is kept once for each post ([`Places`], spread by post). A change of a status
//! costs as much as the post is under, whatever else is. The sums are kept once for each thing to be under
//! ([`Groups`], spread by that), and what a tick changes of them is summed up before it is sent.

use crate::incremental::{Changes, Machine};
use crate::relations::{ByThread, Events};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use wats_model::facts::{Body, EventFact, Post, PostKind};
use wats_model::fixed::Fixed;
use wats_model::ids::{EventId, Initial, Millis, NetworkId, TagId};
use wats_model::views::{EntryView, Facet, GroupView, ListedView, Status};

/// Tags, shared: none is the usual number.
type Tags = Option<Arc<[TagId]>>;

/// What the replies of a thread are under because of the event that begins it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Heading {
    tags: Tags,
    initial: Option<Initial>,
}

/// A post-like event, as it was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Written {
    network: NetworkId,
    day: u32,
    tags: Tags,
    /// Whether it begins a thread; where it has no parent it is also in it.
    begins: Option<Begins>,
}

/// An event that begins a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct Begins {
    initial: Option<Initial>,
    is_reply: bool,
}

/// A knowledge entry that a post is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Entry {
    digest: bool,
    /// Its score, which is rounded and so seldom moves; zero where it is below.
    rank: Fixed,
    threads: Vec<EventId>,
}

/// Something said to [`Places`] about a post.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// It is held.
    Written(Written),
    /// It is in the thread of this root.
    In(EventId),
    /// What its thread begins with.
    Under(Heading),
    /// Its status.
    Judged(Status),
    /// It is an entry.
    Entry(Entry),
}

/// What is said of the posts, for [`Places`].
pub struct Sources<'s> {
    /// Post-like events.
    pub posts: Events<'s>,
    /// `thread(e)` of post-like events that are in one.
    pub threads: Changes<'s, (EventId, EventId)>,
    /// The same by thread.
    pub by_thread: ByThread<'s>,
    /// The statuses.
    pub statuses: Changes<'s, (EventId, Status)>,
    /// The knowledge entries.
    pub entries: Changes<'s, EntryView>,
    /// The scores of confirmed posts that may be entries.
    pub scores: Changes<'s, (EventId, Fixed)>,
}

/// What is to be said to [`Places`].
pub fn told<'s>(sources: Sources<'s>) -> Changes<'s, (EventId, Input)> {
    let headings = sources.posts.clone().flat_map(|e| heading(&e).map(|heading| (e.id, heading)));
    let headings = headings.arrange_by_key_named("headings of threads");
    let under = sources.by_thread.join_core(headings, |_, id, heading| Some((*id, heading.clone())));
    let entries = sources.entries.map(|e| (e.entry, (e.digest, e.threads)));
    let ranks = sources.scores.map(|(id, score)| (id, score.max(Fixed::ZERO)));
    let entries = entries.join_map(ranks, |id, (digest, threads), rank| {
        (*id, Input::Entry(Entry { digest: *digest, rank: *rank, threads: threads.clone() }))
    });
    sources.posts.flat_map(|e| written(&e).map(|written| (e.id, Input::Written(written)))).concatenate([
        sources.threads.map(|(id, root)| (id, Input::In(root))),
        under.map(|(id, heading)| (id, Input::Under(heading))),
        sources.statuses.map(|(id, status)| (id, Input::Judged(status))),
        entries,
    ])
}

fn post(e: &EventFact) -> Option<&Post> {
    match &e.body {
        Body::Post(post) => Some(post),
        _ => None,
    }
}

fn tags(post: &Post) -> Tags {
    (!post.tags.is_empty()).then(|| post.tags.iter().copied().collect())
}

fn begins(post: &Post) -> Option<Begins> {
    let is_reply = post.reply.is_some();
    (post.kind == PostKind::Ask || !is_reply).then_some(Begins { initial: post.initial, is_reply })
}

/// What replies inherit, where there is anything.
fn heading(e: &EventFact) -> Option<Heading> {
    let post = post(e)?;
    let heading = Heading { tags: tags(post), initial: begins(post)?.initial };
    (heading.tags.is_some() || heading.initial.is_some()).then_some(heading)
}

fn written(e: &EventFact) -> Option<Written> {
    let post = post(e)?;
    let day = u32::try_from(e.stamp.created_at.0 / Millis::DAY.0).unwrap_or(u32::MAX);
    Some(Written { network: e.network, day, tags: tags(post), begins: begins(post) })
}

/// The month of a day, both from the beginning of 1970 on: the Gregorian calendar, by eras of 400
/// years that begin with March.
pub fn month(day: u32) -> u32 {
    let day = u64::from(day) + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let months = (era * 400 + year) * 12 + from_march + 2;
    u32::try_from(months - 1970 * 12).unwrap_or(u32::MAX)
}

/// What is counted of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum What {
    /// A post of this status.
    Post(Status),
    /// A knowledge entry.
    Entry,
    /// Of a thread: what begins it is held.
    Beginning,
}

/// What [`Places`] puts out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Put {
    /// So many more of a group, or fewer: the number is the multiplicity.
    Count(Facet, What),
    /// An entry under something.
    Listed(ListedView),
}

/// A post, and what it is under.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Place {
    tags: Tags,
    heading: Option<Arc<[TagId]>>,
    root: Option<EventId>,
    /// Of the title of what begins its thread.
    initial: Option<Initial>,
    day: u32,
    network: NetworkId,
    is_held: bool,
    begins: bool,
    status: Option<Status>,
    #[expect(clippy::box_collection, reason = "one word of the many posts that are none")]
    entries: Option<Box<Vec<Entry>>>,
}

impl Place {
    fn apply(&mut self, id: EventId, told: Input, here: bool) {
        match told {
            Input::Written(written) => {
                self.is_held = here;
                self.begins = here && written.begins.is_some();
                self.network = written.network;
                self.day = written.day;
                self.tags = written.tags.filter(|_| here);
                if let Some(begins) = written.begins.filter(|begins| !begins.is_reply) {
                    self.root = here.then_some(id);
                    self.initial = begins.initial.filter(|_| here);
                }
            }
            Input::In(root) => self.root = here.then_some(root),
            Input::Under(heading) => {
                self.heading = heading.tags.filter(|_| here);
                self.initial = heading.initial.filter(|_| here);
            }
            Input::Judged(status) => self.status = here.then_some(status),
            Input::Entry(entry) => {
                let entries = self.entries.get_or_insert_default();
                match here {
                    true => entries.push(entry),
                    false => entries.retain(|other| *other != entry),
                }
                entries.sort_unstable();
                if entries.is_empty() {
                    self.entries = None;
                }
            }
        }
    }

    fn is_empty(&self) -> bool {
        !self.is_held && self.root.is_none() && self.status.is_none() && self.entries.is_none()
    }

    /// What it is under, its thread left out.
    fn facets(&self) -> impl Iterator<Item = Facet> + '_ {
        let own = self.tags.iter().flat_map(|tags| tags.iter().copied());
        let inherited = self.heading.iter().flat_map(|tags| tags.iter().copied());
        let inherited =
            inherited.filter(|tag| self.tags.as_ref().is_none_or(|own| own.binary_search(tag).is_err()));
        let times = [Facet::Day(self.network, self.day), Facet::Month(self.network, month(self.day))];
        let initial = self.initial.map(|initial| Facet::Initial(self.network, initial));
        own.chain(inherited).map(Facet::Tag).chain(times).chain(initial)
    }

    /// What of it is counted as a post.
    fn counted(&self, id: EventId, mut count: impl FnMut(Facet, What)) {
        if self.begins {
            count(Facet::Thread(id), What::Beginning);
        }
        if let Some(status) = self.status.filter(|_| self.is_held) {
            let thread = self.root.map(Facet::Thread);
            self.facets().chain(thread).for_each(|facet| count(facet, What::Post(status)));
        }
    }

    fn listed(&self, id: EventId, mut list: impl FnMut(ListedView)) {
        for entry in self.entries.iter().flat_map(|entries| entries.iter()).filter(|_| self.is_held) {
            let threads = entry.threads.iter().copied().map(Facet::Thread);
            for under in self.facets().chain(threads) {
                let Entry { digest, rank, .. } = *entry;
                list(ListedView { under, rank, day: self.day, entry: id, digest });
            }
        }
    }

    /// Whether a change from another makes none in the counts of posts.
    fn counts_like(&self, other: &Place) -> bool {
        let counted = |place: &Place| (place.is_held, place.begins, place.status, place.root, place.initial);
        counted(self) == counted(other) && self.tags == other.tags && self.heading == other.heading
    }
}

/// Posts, and what each is under.
#[derive(Default)]
pub struct Places {
    posts: FxHashMap<EventId, Place>,
    touched: FxHashMap<EventId, Option<Box<Place>>>,
}

impl Machine for Places {
    type Change = (EventId, Input);
    type View = Put;

    fn apply(&mut self, (id, told): (EventId, Input), diff: i64) {
        let place = self.posts.get(&id);
        self.touched.entry(id).or_insert_with(|| place.cloned().map(Box::new));
        self.posts.entry(id).or_default().apply(id, told, diff > 0);
    }

    fn emit(&mut self, out: &mut Vec<(Put, i64)>) {
        let mut counts: FxHashMap<(Facet, What), i64> = FxHashMap::default();
        for (id, before) in std::mem::take(&mut self.touched) {
            let (before, none) = (before.unwrap_or_default(), Place::default());
            let after = self.posts.get(&id).unwrap_or(&none);
            if !after.counts_like(&before) {
                before.counted(id, |facet, what| *counts.entry((facet, what)).or_default() -= 1);
                after.counted(id, |facet, what| *counts.entry((facet, what)).or_default() += 1);
            }
            if before.entries.is_some() || after.entries.is_some() {
                let mut change = |listed: ListedView, by: i64| {
                    *counts.entry((listed.under, What::Entry)).or_default() += by;
                    out.push((Put::Listed(listed), by));
                };
                before.listed(id, |listed| change(listed, -1));
                after.listed(id, |listed| change(listed, 1));
            }
            if after.is_empty() {
                self.posts.remove(&id);
            }
        }
        let counts = counts.into_iter().filter(|(_, by)| *by != 0);
        out.extend(counts.map(|((facet, what), by)| (Put::Count(facet, what), by)));
    }
}

/// The counts of each group.
#[derive(Default)]
pub struct Groups {
    groups: FxHashMap<Facet, Counts>,
    touched: FxHashMap<Facet, Counts>,
}

/// Counts of a group, and whether what begins it is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    posts: [u32; 4],
    entries: u32,
    beginnings: u32,
}

impl Counts {
    fn view(self, facet: Facet) -> Option<GroupView> {
        let Counts { posts, entries, beginnings } = self;
        let shown = entries > 0 || posts.iter().any(|n| *n > 0);
        shown.then_some(GroupView { facet, posts, entries, begun: beginnings > 0 })
    }
}

impl Machine for Groups {
    type Change = (Facet, What);
    type View = GroupView;

    fn apply(&mut self, (facet, what): (Facet, What), by: i64) {
        let counts = self.groups.entry(facet).or_default();
        self.touched.entry(facet).or_insert(*counts);
        let count = match what {
            What::Post(status) => &mut counts.posts[status as usize],
            What::Entry => &mut counts.entries,
            What::Beginning => &mut counts.beginnings,
        };
        // Retractions come first, and there are never more of them than there was: events are interned to
        // 32 bits, and each counts once.
        *count = u32::try_from(i64::from(*count) + by).expect("a count of held posts");
    }

    fn emit(&mut self, out: &mut Vec<(GroupView, i64)>) {
        for (facet, before) in std::mem::take(&mut self.touched) {
            let after = self.groups.get(&facet).copied().unwrap_or_default();
            let (shown, shows) = (before.view(facet), after.view(facet));
            if shown != shows {
                out.extend(shown.map(|view| (view, -1)));
                out.extend(shows.map(|view| (view, 1)));
            }
            if after == Counts::default() {
                self.groups.remove(&facet);
            }
        }
    }
}

/// Spreads groups over workers.
pub fn route(facet: &Facet) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    facet.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_those_of_the_calendar() {
        for (day, year, of_year) in [
            (0, 1970, 0),
            (30, 1970, 0),
            (31, 1970, 1),
            (58, 1970, 1),
            (59, 1970, 2),
            (11_016, 2000, 1),
            (11_017, 2000, 2),
            (20_422, 2025, 10),
            (20_423, 2025, 11),
            (20_818, 2026, 11),
            (20_819, 2027, 0),
        ] {
            assert_eq!(month(day), (year - 1970) * 12 + of_year, "day {day}");
        }
    }
}
