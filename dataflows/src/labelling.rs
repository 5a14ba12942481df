//! Section 4, the framework of a post: what is reached from it, who may argue, and Dung's grounded
//! labelling of what remains.
//!
//! An assertion stands once, at the *front* that it is on; all members of the front are attacked by
//! it. Plain arguments (see `Graph`) are left where they are. So a framework costs what is disputed
//! in it, not the square of that.

use crate::argument_graph::{At, DEPTH, Graph};
use crate::origins::Place;
use wats_model::ids::{EventId, KeyId};

/// A label of the grounded labelling, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    /// Accepted: all its attackers are OUT.
    In,
    /// Neither.
    Undec,
    /// Defeated: one of its attackers is IN.
    Out,
}

/// A node of a framework that is written out, for an explanation.
#[derive(Clone, Debug)]
pub struct Node {
    /// The event.
    pub event: EventId,
    /// The smallest number of steps from the post.
    pub depth: usize,
    /// Its label.
    pub label: Label,
    /// Who attacks it with what, as (A, index of Y, remains): dropped ones are kept to be explained.
    pub assertions: Vec<(KeyId, usize, bool)>,
}

/// What a framework asks about a key: where it stands, and whether it is the reader's own.
pub(crate) type Who = (Place, bool);

/// A node, by its index.
type Index = u32;

/// None of them.
const NONE: Index = Index::MAX;

struct Reached {
    at: At,
    depth: u8,
    label: Label,
    who: Who,
    /// Where it is attacked.
    fronts: [Index; 2],
    /// The nodes it argues against from one step further: these are among `Framework::causes`.
    causes: (Index, Index),
    /// Its next attacker to look at: which of its fronts, and where there.
    next: (u8, Index),
}

/// An event with assertions on it, and on all that rests on it.
struct Front {
    at: At,
    depth: u8,
    author: Place,
    /// Those who attack it, but for plain arguments.
    attackers: Vec<Index>,
    /// The nodes it attacks.
    members: Vec<Index>,
}

/// The framework of a post: its first node is the post.
#[derive(Default)]
pub(crate) struct Framework {
    nodes: Vec<Reached>,
    fronts: Vec<Front>,
    causes: Vec<Place>,
    /// Places in the graph that are nodes, or fronts.
    node_at: Places,
    front_at: Places,
    /// Nodes that wait for an attacker of theirs to be defeated: the first of its, the next of each.
    first: Vec<Index>,
    after: Vec<Index>,
}

/// What stands at the places of a graph; forgotten at once, as it is needed for post after post.
#[derive(Default)]
struct Places {
    at: Vec<(u32, Index)>,
    turn: u32,
}

impl Places {
    fn forget(&mut self, len: usize) {
        if self.turn == u32::MAX {
            *self = Places::default();
        }
        self.turn += 1;
        self.at.resize(len.max(self.at.len()), (0, NONE));
    }

    fn get(&self, at: At) -> Option<Index> {
        let (turn, index) = self.at[at as usize];
        (turn == self.turn).then_some(index)
    }

    fn set(&mut self, at: At, index: usize) -> Index {
        self.at[at as usize] = (self.turn, index as Index);
        index as Index
    }
}

impl Framework {
    /// Reaches `N0..N3` of a post and labels them, in the place of whatever was here.
    pub(crate) fn label(&mut self, graph: &Graph, post: At, who: &impl Fn(KeyId) -> Who) {
        self.nodes.clear();
        self.fronts.clear();
        self.causes.clear();
        self.node_at.forget(graph.len());
        self.front_at.forget(graph.len());
        self.reach(graph, post, who);
        self.find_causes(graph);
        self.ground(graph, who);
    }

    /// The label of an argument against the post, or none if it is plain.
    pub(crate) fn label_of(&self, at: At) -> Option<Label> {
        self.node_at.get(at).map(|node| self.nodes[node as usize].label)
    }

    /// A key's assertions on a node remain: it does not argue in its own cause.
    pub(crate) fn argues(&self, at: At, who: Who) -> bool {
        self.node_at.get(at).is_some_and(|x| self.remains(who, x))
    }

    /// Tells `defeaters` the arguments that are IN and attack an argument against the post.
    pub(crate) fn defeaters(
        &self,
        graph: &Graph,
        at: At,
        who: &impl Fn(KeyId) -> Who,
        mut tell: impl FnMut(At),
    ) {
        let Some(x) = self.node_at.get(at) else { return };
        for front in self.nodes[x as usize].fronts.into_iter().filter(|f| *f != NONE) {
            let attackers = self.fronts[front as usize].attackers.iter().map(|y| &self.nodes[*y as usize]);
            attackers.filter(|y| y.label == Label::In && self.remains(y.who, x)).for_each(|y| tell(y.at));
            let plain = self.plain(graph, front).filter(|(by, _)| self.remains(who(*by), x));
            plain.for_each(|(_, y)| tell(y));
        }
    }

    /// The arguments against the same events that an argument is attacked at.
    pub(crate) fn fronts(&self, at: At) -> [Option<u32>; 2] {
        let fronts = self.node_at.get(at).map_or([NONE; 2], |x| self.nodes[x as usize].fronts);
        fronts.map(|f| (f != NONE).then_some(f))
    }

    fn reach(&mut self, graph: &Graph, post: At, who: &impl Fn(KeyId) -> Who) {
        self.node(graph, post, 0, who);
        let mut x = 0;
        while x < self.nodes.len() {
            let (at, depth) = (self.nodes[x].at, self.nodes[x].depth);
            for (slot, on) in graph.fronts(at).enumerate() {
                let front = match self.front_at.get(on) {
                    Some(front) => front,
                    None => self.front(graph, on, depth, who),
                };
                self.nodes[x].fronts[slot] = front;
                self.fronts[front as usize].members.push(x as Index);
            }
            x += 1;
        }
        // At the last depth only what was reached otherwise is a node.
        for y in 0..self.nodes.len() {
            for on in &graph.vertex(self.nodes[y].at).against {
                if let Some(front) = self.front_at.get(*on)
                    && usize::from(self.fronts[front as usize].depth) == DEPTH
                {
                    self.fronts[front as usize].attackers.push(y as Index);
                }
            }
        }
    }

    fn node(&mut self, graph: &Graph, at: At, depth: u8, who: &impl Fn(KeyId) -> Who) -> Index {
        if let Some(node) = self.node_at.get(at) {
            return node;
        }
        let who = who(graph.vertex(at).author);
        let (fronts, causes, next) = ([NONE; 2], (0, 0), (0, 0));
        self.nodes.push(Reached { at, depth, label: Label::Undec, who, fronts, causes, next });
        self.node_at.set(at, self.nodes.len() - 1)
    }

    fn front(&mut self, graph: &Graph, on: At, depth: u8, who: &impl Fn(KeyId) -> Who) -> Index {
        let vertex = graph.vertex(on);
        let mut attackers = Vec::new();
        if usize::from(depth) < DEPTH {
            attackers.extend(vertex.open.iter().map(|(_, y)| self.node(graph, *y, depth + 1, who)));
        }
        let author = who(vertex.author).0;
        self.fronts.push(Front { at: on, depth, author, attackers, members: Vec::new() });
        self.front_at.set(on, self.fronts.len() - 1)
    }

    /// `Z(X)` of each node, by its authors: at a front all have the same, and the nearest of them is as
    /// near as the front.
    fn find_causes(&mut self, graph: &Graph) {
        for x in &mut self.nodes[1..] {
            let from = self.causes.len();
            for on in &graph.vertex(x.at).against {
                if let Some(front) = self.front_at.get(*on)
                    && self.fronts[front as usize].depth < x.depth
                {
                    self.causes.push(self.fronts[front as usize].author);
                }
            }
            x.causes = (from as Index, self.causes.len() as Index);
        }
    }

    /// An assertion on a node is not dropped: nobody but the reader argues in their own cause.
    fn remains(&self, (a, own): Who, x: Index) -> bool {
        let node = &self.nodes[x as usize];
        let (from, to) = node.causes;
        let deep = node.depth >= 2;
        let own_cause = |z: &Place| a.partial_to(z) || (deep && z.partial_to(&a));
        own || x == 0 || !self.causes[from as usize..to as usize].iter().all(own_cause)
    }

    /// The plain arguments at a front, as far as they are nodes.
    fn plain<'a>(&self, graph: &'a Graph, front: Index) -> impl Iterator<Item = (KeyId, At)> + use<'a> {
        let front = &self.fronts[front as usize];
        let near = usize::from(front.depth) < DEPTH;
        graph.vertex(front.at).plain.iter().filter(move |_| near).copied()
    }

    /// The grounded labelling: what nothing undefeated attacks is IN, what that attacks is OUT, and so
    /// on; what is left, cycles and what hangs on them, stays UNDEC.
    ///
    /// Each node waits for one of its attackers alone. When that is defeated it looks for another, and
    /// never back: whatever its number of attackers, most need to look at one.
    fn ground(&mut self, graph: &Graph, who: &impl Fn(KeyId) -> Who) {
        for x in 0..self.nodes.len() as Index {
            let fronts = self.nodes[x as usize].fronts.into_iter().filter(|f| *f != NONE);
            let mut plain = fronts.flat_map(|front| self.plain(graph, front));
            if plain.any(|(by, _)| self.remains(who(by), x)) {
                self.nodes[x as usize].label = Label::Out;
            }
        }
        for waiting in [&mut self.first, &mut self.after] {
            waiting.clear();
            waiting.resize(self.nodes.len(), NONE);
        }
        let mut accepted: Vec<Index> = Vec::new();
        for x in 0..self.nodes.len() as Index {
            if self.nodes[x as usize].label == Label::Undec {
                self.wait(x, &mut accepted);
            }
        }
        while let Some(y) = accepted.pop() {
            for on in &graph.vertex(self.nodes[y as usize].at).against {
                if let Some(front) = self.front_at.get(*on) {
                    self.defeat(y, front, &mut accepted);
                }
            }
        }
    }

    /// Waits for the next attacker that is not defeated; without one, the node is accepted.
    fn wait(&mut self, x: Index, accepted: &mut Vec<Index>) {
        loop {
            let node = &self.nodes[x as usize];
            let (slot, place) = node.next;
            let front = node.fronts.get(usize::from(slot)).filter(|f| **f != NONE);
            let Some(front) = front.map(|f| &self.fronts[*f as usize]) else {
                self.nodes[x as usize].label = Label::In;
                accepted.push(x);
                return;
            };
            let Some(y) = front.attackers.get(place as usize).copied() else {
                self.nodes[x as usize].next = (slot + 1, 0);
                continue;
            };
            let attacker = &self.nodes[y as usize];
            if attacker.label != Label::Out && self.remains(attacker.who, x) {
                self.after[x as usize] = std::mem::replace(&mut self.first[y as usize], x);
                return;
            }
            self.nodes[x as usize].next.1 += 1;
        }
    }

    /// All members of a front that an accepted argument attacks there are OUT; who waited for that
    /// goes on.
    fn defeat(&mut self, y: Index, front: Index, accepted: &mut Vec<Index>) {
        let who = self.nodes[y as usize].who;
        let mut members = std::mem::take(&mut self.fronts[front as usize].members);
        members.retain(|x| {
            if self.nodes[*x as usize].label == Label::Out {
                return false;
            }
            if !self.remains(who, *x) {
                return true;
            }
            self.nodes[*x as usize].label = Label::Out;
            let mut waiting = std::mem::replace(&mut self.first[*x as usize], NONE);
            while waiting != NONE {
                let next = self.after[waiting as usize];
                if self.nodes[waiting as usize].label == Label::Undec {
                    self.wait(waiting, accepted);
                }
                waiting = next;
            }
            false
        });
        self.fronts[front as usize].members = members;
    }

    /// The framework written out, assertion by assertion: for an explanation.
    pub(crate) fn written_out(&self, graph: &Graph, who: &impl Fn(KeyId) -> Who) -> Vec<Node> {
        let event = |at: At| graph.vertex(at).event;
        let node = |at, depth, label| Node { event: event(at), depth, label, assertions: Vec::new() };
        let mut nodes: Vec<Node> =
            self.nodes.iter().map(|x| node(x.at, usize::from(x.depth), x.label)).collect();
        // Of each front, who attacks it with what: the plain arguments become nodes.
        let mut attackers: Vec<Vec<(KeyId, usize)>> = Vec::new();
        for (front, at) in self.fronts.iter().zip(0..) {
            let reached = front.attackers.iter().map(|y| *y as usize);
            let mut all: Vec<usize> = reached.collect();
            for (_, y) in self.plain(graph, at) {
                all.push(nodes.len());
                nodes.push(node(y, usize::from(front.depth) + 1, Label::In));
            }
            let author = |y: &usize| graph.at(nodes[*y].event).map(|at| graph.vertex(at).author);
            attackers.push(all.into_iter().filter_map(|y| Some((author(&y)?, y))).collect());
        }
        for x in 0..self.nodes.len() as Index {
            let fronts = self.nodes[x as usize].fronts.into_iter().filter(|f| *f != NONE);
            let mut assertions: Vec<(KeyId, EventId, usize, bool)> = fronts
                .flat_map(|front| &attackers[front as usize])
                .map(|(by, y)| (*by, nodes[*y].event, *y, self.remains(who(*by), x)))
                .collect();
            assertions.sort_unstable();
            assertions.dedup();
            nodes[x as usize].assertions =
                assertions.into_iter().map(|(by, _, y, remains)| (by, y, remains)).collect();
        }
        nodes
    }
}

#[cfg(test)]
mod tests;
