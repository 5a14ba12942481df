//! The labelling against the specification read literally, on small graphs full of disputes.

use super::*;
use crate::argument_graph::Link;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use wats_model::ids::GroupId;

const KEYS: u32 = 6;
/// Posts are the first events.
const POSTS: u32 = 10;

/// One argument: its author, its target and its kind.
#[derive(Clone, Debug)]
struct Argued {
    by: u32,
    /// An event there is, by its number.
    on: usize,
    /// A reply, or a react that rests on an own post or does not.
    with: u8,
    own: usize,
}

fn argued() -> impl Strategy<Value = Argued> {
    (0..KEYS, 0..400usize, 0..4u8, 0..2usize).prop_map(|(by, on, with, own)| Argued { by, on, with, own })
}

#[derive(Default)]
struct Input {
    authors: Vec<u32>,
    rests_on: BTreeMap<u32, u32>,
    /// (X, A) and the arguments.
    assertions: BTreeMap<(u32, u32), BTreeSet<u32>>,
}

impl Input {
    fn new(all: &[Argued]) -> Input {
        let mut told = Input { authors: (0..POSTS).map(|post| post % KEYS).collect(), ..Input::default() };
        for a in all {
            // Most disputes are about the first posts and the latest arguments.
            let on = if a.on % 3 == 0 { a.on % POSTS as usize } else { a.on % told.authors.len() } as u32;
            if told.authors[on as usize] == a.by {
                continue;
            }
            let own = (a.by + KEYS * a.own as u32).min(POSTS - 1);
            let is_own = own % KEYS == a.by && own != on;
            let y = match a.with {
                0 if is_own => own,
                with => {
                    told.authors.push(a.by);
                    let y = told.authors.len() as u32 - 1;
                    if with < 3 && is_own {
                        told.rests_on.insert(y, own);
                    }
                    y
                }
            };
            told.assertions.entry((on, a.by)).or_default().insert(y);
        }
        told
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        for ((on, by), ys) in &self.assertions {
            let at = graph.place(EventId(*on), KeyId(self.authors[*on as usize]));
            let link = |y: &u32| Link {
                event: EventId(*y),
                evidence: false,
                rests_on: self.rests_on.get(y).map(|t| EventId(*t)),
            };
            let links: Vec<Link> = ys.iter().map(link).collect();
            graph.relink(at, KeyId(*by), &links);
        }
        graph
    }

    /// All assertions on an event: (A, Y).
    fn on(&self, x: u32) -> BTreeSet<(u32, u32)> {
        let targets = [Some(x), self.rests_on.get(&x).copied()];
        let all = self.assertions.iter().filter(|((on, _), _)| targets.contains(&Some(*on)));
        all.flat_map(|((_, by), ys)| ys.iter().map(|y| (*by, *y))).collect()
    }

    fn labels(&self, post: u32, who: &impl Fn(KeyId) -> Who) -> BTreeMap<u32, Label> {
        let mut depth = BTreeMap::from([(post, 0)]);
        for d in 0..DEPTH {
            let last: Vec<u32> = depth.iter().filter(|(_, at)| **at == d).map(|(x, _)| *x).collect();
            for (_, y) in last.into_iter().flat_map(|x| self.on(x)) {
                depth.entry(y).or_insert(d + 1);
            }
        }
        let place = |e: u32| who(KeyId(self.authors[e as usize])).0;
        let remains = |a: u32, x: u32| {
            let causes =
                depth.keys().filter(|z| depth[z] < depth[&x] && self.on(**z).iter().any(|(_, y)| *y == x));
            let (a, own) = who(KeyId(a));
            let theirs = |z: &u32| a.partial_to(&place(*z)) || (depth[&x] >= 2 && place(*z).partial_to(&a));
            own || x == post || !causes.into_iter().all(theirs)
        };
        let attackers = |x: u32| -> Vec<u32> {
            let all = self.on(x).into_iter().filter(|(_, y)| depth.contains_key(y));
            all.filter(|(a, _)| remains(*a, x)).map(|(_, y)| y).collect()
        };
        let attackers: BTreeMap<u32, Vec<u32>> = depth.keys().map(|x| (*x, attackers(*x))).collect();
        let mut labels: BTreeMap<u32, Label> = depth.keys().map(|x| (*x, Label::Undec)).collect();
        for _ in 0..=labels.len() {
            for (x, ys) in &attackers {
                if ys.iter().all(|y| labels[y] == Label::Out) {
                    labels.insert(*x, Label::In);
                } else if ys.iter().any(|y| labels[y] == Label::In) {
                    labels.insert(*x, Label::Out);
                }
            }
        }
        labels
    }
}

proptest! {
    #[test]
    fn equals_the_specification(
        all in prop::collection::vec(argued(), 1..60),
        places in prop::collection::vec((0..KEYS, 0..KEYS), KEYS as usize),
        own in 0..=KEYS,
    ) {
        let told = Input::new(&all);
        let graph = told.graph();
        let who = |k: KeyId| {
            let (group, class) = places[k.0 as usize];
            // Two thirds of the keys stand alone.
            let group = GroupId::Alone(KeyId(if group < 2 { group } else { k.0 }));
            let class = if class < 2 { GroupId::Alone(KeyId(class)) } else { group };
            (Place { group, class, heavy: true }, k.0 == own)
        };
        let mut framework = Framework::default();
        for post in 0..POSTS {
            let Some(at) = graph.at(EventId(post)) else { continue };
            framework.label(&graph, at, &who);
            for (x, label) in told.labels(post, &who) {
                let at = graph.at(EventId(x)).expect("it was reached");
                let found = framework.label_of(at);
                prop_assert!(found == Some(label) || (found.is_none() && graph.is_plain(at) && label == Label::In),
                    "{x} seen from {post}: {found:?}, want {label:?}");
            }
        }
    }
}
