//! Section 4: which contradictions of a post stand.

use crate::counting::Tally;
use crate::grouped::Grouped;
use crate::keys::{Group, Keys};
use crate::network::{Event, Key, Network};
use crate::signals::{Contradiction, Signals};
use rustc_hash::FxHashMap;
use std::iter;
use wats_model::fixed::Fixed;
use wats_model::ids::Stamp;

/// What becomes of a contradiction of a post, or of a react on one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// One of its arguments is IN.
    Stands,
    /// None is IN and one is UNDEC.
    Undecided,
    /// All are OUT.
    Rebutted,
    /// No assertion remains.
    Ignored,
}

/// The verdict on a contradiction, and what `why` needs to explain it.
#[derive(Clone, Debug)]
pub(crate) struct Judgement {
    pub(crate) verdict: Verdict,
    /// Its argument that is first in [`Quote`]'s order.
    pub(crate) quote: Option<Quote>,
    /// The events labelled IN that attack its arguments.
    pub(crate) rebuttals: Vec<Event>,
}

/// An argument that may be quoted; the smallest is: IN before UNDEC before OUT, reacts with evidence
/// first, then the earliest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Quote {
    label: Label,
    pub(crate) without_evidence: bool,
    stamp: Stamp,
    pub(crate) argument: Event,
}

/// Dung's grounded labelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Label {
    In,
    Undec,
    Out,
}

/// An assertion (A, X, Y).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Assertion {
    critic: Key,
    target: Event,
    argument: Event,
}

/// `force(A)`: the weight of a key's contradictions, less where they are many.
pub(crate) fn forces(net: &Network, signals: &Signals, keys: &Keys) -> Vec<Fixed> {
    let spread = spread(net, signals, keys);
    let full = net.policy.full_force;
    let force = |a: Key| match spread[a] {
        n if net.own[a] || n <= full => keys.weight[a],
        n => keys.weight[a].scale(full, n).rounded(),
    };
    (0..net.keys.len()).map(force).collect()
}

/// `n(A)`: on how many posts that stand for something A has a contradiction, of the authors of one
/// class at most four.
fn spread(net: &Network, signals: &Signals, keys: &Keys) -> Vec<i64> {
    let heavy = |k: Key| keys.weight[k] >= net.policy.w_min;
    let mut of_class: FxHashMap<(Key, Group), i64> = FxHashMap::default();
    for c in signals.contradictions.items.iter().filter(|c| net.post(c.target).is_some()) {
        let author = net.author[c.target];
        let relied = || {
            let others = signals.on(c.target).iter().filter(|s| s.kind.supports() && s.author != c.author);
            others.map(|s| s.author).any(|k| heavy(k) && !keys.partial(k, author))
        };
        if heavy(author) || relied() {
            *of_class.entry((c.author, keys.class[author])).or_default() += 1;
        }
    }
    let mut spread = vec![0; net.keys.len()];
    for ((a, _), posts) in of_class {
        spread[a] += posts.min(net.policy.force_per_class);
    }
    spread
}

/// The judgements on all contradictions of post-like events and of reacts on these, by the
/// contradictions' places. The second run is given the voices of the first.
pub(crate) fn run(
    net: &Network,
    signals: &Signals,
    keys: &Keys,
    force: &[Fixed],
    voice: Option<&[Fixed]>,
) -> Vec<Judgement> {
    let ignored = Judgement { verdict: Verdict::Ignored, quote: None, rebuttals: Vec::new() };
    let mut judgements = vec![ignored; signals.contradictions.items.len()];
    let assertions = counting_assertions(net, signals, keys, force, voice);
    for (p, _) in net.posts().filter(|&(p, _)| !assertions.of(p).is_empty()) {
        let framework = Framework::new(net, keys, &assertions, p);
        for x in framework.judged(net) {
            for c in signals.contradictions.range(framework.nodes[x]) {
                let contradiction = &signals.contradictions.items[c];
                judgements[c] = framework.judge(net, signals, x, contradiction);
            }
        }
    }
    judgements
}

/// The assertions that count, by their target.
fn counting_assertions(
    net: &Network,
    signals: &Signals,
    keys: &Keys,
    force: &[Fixed],
    voice: Option<&[Fixed]>,
) -> Grouped<Assertion> {
    let w_min = net.policy.w_min;
    let heard = |a: Key| force[a] >= w_min && voice.is_none_or(|voice| voice[a] >= w_min);
    let resting = signals.arguments.iter().filter_map(|z| Some((z.rests_on?, z.event)));
    let resting = Grouped::new(net.events.len(), resting.collect(), |&(t, _)| t);
    let mut joint = Tally::new(keys);
    let mut assertions = Vec::new();
    for on_x in signals.contradictions.items.chunk_by(|c, d| c.target == d.target) {
        let x = on_x[0].target;
        for c in on_x.iter().filter(|c| heard(c.author)) {
            joint.count(c.author, keys.trust[c.author].min(force[c.author]));
        }
        let needed = keys.weight[net.author[x]];
        let enough = |force: Fixed| force.scale(net.policy.critic_factor, 1) >= needed;
        let together = enough(joint.take());
        for c in on_x.iter().filter(|c| heard(c.author)) {
            if !together && !enough(force[c.author]) {
                continue;
            }
            // On X, and on every argument that rests on X.
            let critic = c.author;
            for target in iter::once(x).chain(resting.of(x).iter().map(|&(_, z)| z)) {
                assertions.extend(signals.arguments_of(c).iter().map(|y| Assertion {
                    critic,
                    target,
                    argument: y.event,
                }));
            }
        }
    }
    assertions.sort_unstable();
    assertions.dedup();
    Grouped::new(net.events.len(), assertions, |a| a.target)
}

/// The argument framework of a post-like p, labelled.
struct Framework {
    place: FxHashMap<Event, usize>,
    nodes: Vec<Event>,
    /// Who attacks each node.
    attackers: Vec<Vec<usize>>,
    labels: Vec<Label>,
}

impl Framework {
    fn new(net: &Network, keys: &Keys, all: &Grouped<Assertion>, p: Event) -> Framework {
        // N0 to N3, and the depth of each node.
        let mut nodes = vec![p];
        let mut depth = vec![0];
        let mut place = FxHashMap::from_iter([(p, 0)]);
        let mut i = 0;
        while i < nodes.len() && depth[i] < 3 {
            for assertion in all.of(nodes[i]) {
                place.entry(assertion.argument).or_insert_with(|| {
                    nodes.push(assertion.argument);
                    depth.push(depth[i] + 1);
                    nodes.len() - 1
                });
            }
            i += 1;
        }

        // Its assertions: those between nodes.
        let between = |x: usize| {
            let on_x = all.of(nodes[x]).iter();
            on_x.filter_map(|a| Some((a.critic, *place.get(&a.argument)?)))
        };
        // Z(X), by its authors.
        let mut answered: Vec<Vec<Key>> = vec![Vec::new(); nodes.len()];
        for z in 0..nodes.len() {
            for (_, x) in between(z).filter(|&(_, x)| depth[z] < depth[x]) {
                answered[x].push(net.author[nodes[z]]);
            }
        }
        // Nobody but the reader argues in their own cause.
        let own_cause = |a: Key, x: usize| {
            let owes = |&z: &Key| keys.partial(a, z) || depth[x] >= 2 && keys.partial(z, a);
            !net.own[a] && x != 0 && answered[x].iter().all(owes)
        };
        let mut attackers: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        for (x, attackers) in attackers.iter_mut().enumerate() {
            let remaining = between(x).filter(|&(a, _)| !own_cause(a, x));
            attackers.extend(remaining.map(|(_, y)| y));
        }
        let labels = grounded(&attackers);
        Framework { place, nodes, attackers, labels }
    }

    /// The nodes whose contradictions are judged here: p, and the reacts on it.
    fn judged(&self, net: &Network) -> impl Iterator<Item = usize> {
        let p = net.events[self.nodes[0]].id;
        let on_p = move |x: Event| net.react(x).is_some_and(|react| react.target == p);
        (0..self.nodes.len()).filter(move |&x| x == 0 || on_p(self.nodes[x]))
    }

    /// The verdict on a contradiction of the node x.
    ///
    /// Reading: its arguments are those that attack x. Only its critic can argue with them; they may
    /// do so by what x rests on, where that contradiction counts and this one alone does not.
    fn judge(&self, net: &Network, signals: &Signals, x: usize, c: &Contradiction) -> Judgement {
        let places = signals.arguments_of(c).iter().filter_map(|y| self.place.get(&y.event));
        let arguments: Vec<usize> = places.copied().filter(|y| self.attackers[x].contains(y)).collect();
        let verdict = match arguments.iter().map(|&y| self.labels[y]).min() {
            Some(Label::In) => Verdict::Stands,
            Some(Label::Undec) => Verdict::Undecided,
            Some(Label::Out) => Verdict::Rebutted,
            None => Verdict::Ignored,
        };
        let quote = arguments.iter().map(|&y| {
            let argument = self.nodes[y];
            let evidence = net.react(argument).is_some_and(|react| react.evidence.given());
            let stamp = net.stamp(argument);
            // A react that rests on an own event has nothing to quote itself.
            let given = signals.arguments_of(c).iter().find(|given| given.event == argument);
            let argument = given.and_then(|given| given.rests_on).unwrap_or(argument);
            Quote { label: self.labels[y], without_evidence: !evidence, stamp, argument }
        });
        let attackers = arguments.iter().flat_map(|&y| &self.attackers[y]);
        let rebutting = attackers.filter(|&&z| self.labels[z] == Label::In);
        Judgement { verdict, quote: quote.min(), rebuttals: rebutting.map(|&z| self.nodes[z]).collect() }
    }
}

/// Dung's grounded labelling: IN when every attacker is OUT, OUT when one is IN, over and over.
fn grounded(attackers: &[Vec<usize>]) -> Vec<Label> {
    let mut labels = vec![Label::Undec; attackers.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for x in 0..labels.len() {
            if labels[x] != Label::Undec {
                continue;
            }
            let mut of_attackers = attackers[x].iter().map(|&y| labels[y]);
            if of_attackers.clone().all(|label| label == Label::Out) {
                labels[x] = Label::In;
            } else if of_attackers.any(|label| label == Label::In) {
                labels[x] = Label::Out;
            }
            changed |= labels[x] != Label::Undec;
        }
    }
    labels
}
