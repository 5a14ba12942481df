//! Section 4, the framework of a post: what is reached from it, who may argue, and Dung's grounded
//! labelling of what remains.

use crate::ids::{EventId, KeyId};
use rustc_hash::FxHashMap;

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

/// A node of the framework.
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

/// The framework of a post: its first node is the post.
#[derive(Clone, Debug, Default)]
pub struct Framework {
    /// The nodes, in the order of their depth.
    pub nodes: Vec<Node>,
    places: FxHashMap<EventId, usize>,
}

impl Framework {
    /// `N0..N3` of a post and the counting assertions among them; `attacks` gives those on an event.
    pub fn reach(
        post: EventId,
        depth: usize,
        attacks: impl Fn(EventId) -> Vec<(KeyId, EventId)>,
    ) -> Framework {
        let mut framework = Framework::default();
        framework.place(post, 0);
        let mut at = 0;
        while at < framework.nodes.len() {
            let (event, here) = (framework.nodes[at].event, framework.nodes[at].depth);
            for (by, y) in attacks(event) {
                let place = match framework.places.get(&y) {
                    Some(place) => *place,
                    None if here < depth => framework.place(y, here + 1),
                    None => continue,
                };
                framework.nodes[at].assertions.push((by, place, true));
            }
            at += 1;
        }
        framework
    }

    fn place(&mut self, event: EventId, depth: usize) -> usize {
        let place = self.nodes.len();
        self.nodes.push(Node { event, depth, label: Label::Undec, assertions: Vec::new() });
        self.places.insert(event, place);
        place
    }

    /// Nobody but the reader argues in their own cause: drops (A, X, Y), X other than the post and A
    /// not an own profile, when for every Z that X argues against from one step further, A is partial
    /// to Z's author, or from the second step on Z's author to A.
    pub fn drop_own_causes(
        &mut self,
        author: impl Fn(EventId) -> Option<KeyId>,
        partial: impl Fn(KeyId, KeyId) -> bool,
        own: impl Fn(KeyId) -> bool,
    ) {
        let mut causes: Vec<Vec<KeyId>> = vec![Vec::new(); self.nodes.len()];
        for z in &self.nodes {
            for (_, x, _) in &z.assertions {
                if z.depth < self.nodes[*x].depth {
                    causes[*x].extend(author(z.event));
                }
            }
        }
        for (x, causes) in self.nodes.iter_mut().zip(&mut causes).skip(1) {
            causes.sort_unstable();
            causes.dedup();
            let deep = x.depth >= 2;
            for (a, _, remains) in &mut x.assertions {
                let own_cause = |z: &KeyId| partial(*a, *z) || (deep && partial(*z, *a));
                *remains = own(*a) || !causes.iter().all(own_cause);
            }
        }
    }

    /// The grounded labelling: what nothing undefeated attacks is IN, what that attacks is OUT, and so
    /// on; what is left, cycles and what hangs on them, stays UNDEC.
    pub fn label(&mut self) {
        let mut attacked: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        let mut open: Vec<usize> = vec![0; self.nodes.len()];
        for (x, node) in self.nodes.iter().enumerate() {
            let mut attackers: Vec<usize> = node.assertions.iter().filter(|a| a.2).map(|a| a.1).collect();
            attackers.sort_unstable();
            attackers.dedup();
            open[x] = attackers.len();
            attackers.into_iter().for_each(|y| attacked[y].push(x));
        }
        let mut accepted: Vec<usize> = (0..self.nodes.len()).filter(|x| open[*x] == 0).collect();
        while let Some(y) = accepted.pop() {
            self.nodes[y].label = Label::In;
            for x in std::mem::take(&mut attacked[y]) {
                if self.nodes[x].label != Label::Undec {
                    continue;
                }
                self.nodes[x].label = Label::Out;
                for w in std::mem::take(&mut attacked[x]) {
                    open[w] -= 1;
                    if open[w] == 0 && self.nodes[w].label == Label::Undec {
                        accepted.push(w);
                    }
                }
            }
        }
    }

    /// The label of an event in the framework.
    pub fn label_of(&self, event: EventId) -> Label {
        self.places.get(&event).map_or(Label::Undec, |place| self.nodes[*place].label)
    }

    /// The events that attack one, by remaining assertions.
    pub fn attackers(&self, event: EventId) -> impl Iterator<Item = EventId> {
        let node = self.places.get(&event).map(|place| &self.nodes[*place]);
        let remaining = node.into_iter().flat_map(|n| &n.assertions).filter(|a| a.2);
        remaining.map(|a| self.nodes[a.1].event)
    }
}
