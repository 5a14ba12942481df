//! The argument graph of a network: the assertions that count, each held once.
//!
//! An assertion on an event is also one on every argument that rests on it. The graph does not write
//! these out, which would take the square of what was said: it knows what rests on what, and an
//! event's *members* are itself and what rests on it, attacked alike.

use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use wats_model::ids::{EventId, KeyId};

/// How far arguments are followed from a post.
pub const DEPTH: usize = 3;

/// An event's place in the graph.
pub(crate) type At = u32;

/// An event that argues or is argued against.
pub(crate) struct Vertex {
    pub event: EventId,
    pub author: KeyId,
    /// It was argued against as a post.
    pub post: bool,
    /// As an argument, it is a react with evidence.
    pub evidence: bool,
    pub rests_on: Option<At>,
    /// The arguments that rest on it.
    pub resting: BTreeSet<At>,
    /// What it argues against.
    pub against: Vec<At>,
    /// The *plain* arguments against it: they argue against nothing else, and nothing argues against
    /// them. They are IN wherever they are reached, so nobody needs to go there.
    pub plain: BTreeSet<(KeyId, At)>,
    /// The other arguments against it.
    pub open: BTreeSet<(KeyId, At)>,
}

impl Vertex {
    /// Something argues against it.
    pub(crate) fn attacked(&self) -> bool {
        !self.plain.is_empty() || !self.open.is_empty()
    }
}

/// An argument of a contradiction, for the graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Link {
    pub event: EventId,
    pub evidence: bool,
    pub rests_on: Option<EventId>,
}

/// The argument graph.
#[derive(Default)]
pub(crate) struct Graph {
    places: FxHashMap<EventId, At>,
    vertices: Vec<Vertex>,
    /// Contradictions of which some argument is plain, or no longer.
    turned: Vec<(At, KeyId)>,
}

impl Graph {
    pub(crate) fn at(&self, event: EventId) -> Option<At> {
        self.places.get(&event).copied()
    }

    pub(crate) fn vertex(&self, at: At) -> &Vertex {
        &self.vertices[at as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.vertices.len()
    }

    fn vertex_mut(&mut self, at: At) -> &mut Vertex {
        &mut self.vertices[at as usize]
    }

    pub(crate) fn place(&mut self, event: EventId, author: KeyId) -> At {
        let vertices = &mut self.vertices;
        *self.places.entry(event).or_insert_with(|| {
            vertices.push(Vertex {
                event,
                author,
                post: false,
                evidence: false,
                rests_on: None,
                resting: BTreeSet::new(),
                against: Vec::new(),
                plain: BTreeSet::new(),
                open: BTreeSet::new(),
            });
            vertices.len() as At - 1
        })
    }

    /// The events at which an event is attacked, if they are: itself, and what it rests on.
    pub(crate) fn fronts(&self, at: At) -> impl Iterator<Item = At> {
        let fronts = [Some(at), self.vertex(at).rests_on];
        fronts.into_iter().flatten().filter(|t| self.vertex(*t).attacked())
    }

    /// An argument of a key attacks an event: at itself, or at what it rests on.
    pub(super) fn attacks(&self, by: KeyId, y: At, on: At) -> bool {
        let at = |front: At| {
            let vertex = self.vertex(front);
            vertex.open.contains(&(by, y)) || vertex.plain.contains(&(by, y))
        };
        self.fronts(on).any(at)
    }

    /// Itself and what rests on it.
    fn members(&self, at: At) -> impl Iterator<Item = At> {
        std::iter::once(at).chain(self.vertex(at).resting.iter().copied())
    }

    pub(crate) fn is_plain(&self, y: At) -> bool {
        self.vertex(y).against.len() == 1 && self.fronts(y).next().is_none()
    }

    /// The arguments by which a key argues against an event.
    pub(super) fn links(&self, on: At, by: KeyId) -> Vec<Link> {
        let all = (by, At::MIN)..=(by, At::MAX);
        let vertex = self.vertex(on);
        let ys = vertex.plain.range(all.clone()).chain(vertex.open.range(all));
        let link = |y: &Vertex| Link {
            event: y.event,
            evidence: y.evidence,
            rests_on: y.rests_on.map(|t| self.vertex(t).event),
        };
        let mut links: Vec<Link> = ys.map(|(_, y)| link(self.vertex(*y))).collect();
        links.sort_unstable();
        links
    }

    /// The key argues against the event with these, and with nothing else.
    pub(crate) fn relink(&mut self, on: At, by: KeyId, links: &[Link]) {
        let attacked = self.vertex(on).attacked();
        for link in self.links(on, by) {
            let y = self.place(link.event, by);
            let vertex = self.vertex_mut(on);
            vertex.plain.remove(&(by, y));
            vertex.open.remove(&(by, y));
            self.leave(y, on);
        }
        for link in links {
            let y = self.place(link.event, by);
            let rests_on = link.rests_on.map(|event| self.place(event, by));
            if let Some(rest) = rests_on {
                self.vertex_mut(rest).resting.insert(y);
            }
            let vertex = self.vertex_mut(y);
            (vertex.evidence, vertex.rests_on) = (link.evidence, rests_on);
            vertex.against.push(on);
            if self.is_plain(y) {
                self.vertex_mut(on).plain.insert((by, y));
            } else {
                self.vertex_mut(on).open.insert((by, y));
                self.sort(y);
            }
        }
        if attacked != self.vertex(on).attacked() {
            let members: Vec<At> = self.members(on).collect();
            members.into_iter().for_each(|y| self.sort(y));
        }
    }

    /// The event is argued against, as a post or not.
    pub(super) fn argued_as(&mut self, on: At, post: bool) {
        self.vertex_mut(on).post = post;
    }

    /// What becomes of a key's contradiction of an event is more than a matter of its own: it has an
    /// argument that is not plain, or the event is, or supports, an argument itself.
    pub(super) fn disputed(&self, on: At, by: KeyId) -> bool {
        let vertex = self.vertex(on);
        let argues = !vertex.against.is_empty() || !vertex.resting.is_empty();
        argues || vertex.open.range((by, At::MIN)..=(by, At::MAX)).next().is_some()
    }

    fn leave(&mut self, y: At, on: At) {
        let vertex = self.vertex_mut(y);
        vertex.against.retain(|t| *t != on);
        if vertex.against.is_empty()
            && let Some(rest) = vertex.rests_on.take()
        {
            self.vertex_mut(rest).resting.remove(&y);
        }
        self.sort(y);
    }

    /// Sorts an argument among the plain ones or the others, wherever it argues.
    fn sort(&mut self, y: At) {
        let (plain, by) = (self.is_plain(y), self.vertex(y).author);
        for on in self.vertex(y).against.clone() {
            let vertex = self.vertex_mut(on);
            let (from, to) = match plain {
                true => (&mut vertex.open, &mut vertex.plain),
                false => (&mut vertex.plain, &mut vertex.open),
            };
            if from.remove(&(by, y)) {
                to.insert((by, y));
                self.turned.push((on, by));
            }
        }
    }

    /// The contradictions, as (post, critic), of which some argument turned plain, or no longer is,
    /// since this was last asked.
    pub(super) fn turned(&mut self) -> Vec<(At, KeyId)> {
        std::mem::take(&mut self.turned)
    }

    /// Adds the posts whose framework reaches one of these events in one step or more.
    pub(super) fn posts_around(&self, events: &FxHashSet<At>, posts: &mut FxHashSet<At>) {
        let mut seen: FxHashSet<At> = FxHashSet::default();
        let mut last: Vec<At> = events.iter().copied().collect();
        for _ in 0..DEPTH {
            let members = last.iter().flat_map(|t| self.members(*t));
            let next = members.flat_map(|y| self.vertex(y).against.iter().copied());
            last = next.filter(|t| seen.insert(*t)).collect();
            posts.extend(last.iter().filter(|t| self.vertex(**t).post));
        }
    }
}
