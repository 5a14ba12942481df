//! Section 5: what became of each key's word, and the voice that leaves it.

use crate::contradictions::{Judgement, Verdict};
use crate::counting::Parts;
use crate::grouped::Grouped;
use crate::keys::{Group, Keys};
use crate::network::{Event, Key, Network};
use crate::signals::Signals;
use std::sync::Arc;
use wats_model::fixed::Fixed;
use wats_model::ids::KeyId;
use wats_model::views::AuthorView;

/// What section 5 says of each key.
pub(crate) struct Standing {
    /// `reputation(k)`.
    pub(crate) reputation: Vec<Fixed>,
    /// `voice(k)`.
    pub(crate) voice: Vec<Fixed>,
    /// Whether k *has weight*.
    pub(crate) has_weight: Vec<bool>,
}

/// Computes reputation and voice, from the verdicts of the first run.
pub(crate) fn reputation(net: &Network, signals: &Signals, keys: &Keys, verdicts: &[Judgement]) -> Standing {
    let w_min = net.policy.w_min;
    let posts = net.posts().map(|(x, _)| (net.author[x], x)).collect();
    let posts: Grouped<(Key, Event)> = Grouped::new(net.keys.len(), posts, |&(a, _)| a);
    let stands = |c: usize| verdicts[c].verdict == Verdict::Stands;

    // z: a's standing contradictions of posts by others of weight. u: a's rebutted ones, of reacts
    // on posts too.
    let mut z = vec![Fixed::ZERO; net.keys.len()];
    let mut u = z.clone();
    for (c, judgement) in signals.contradictions.items.iter().zip(verdicts) {
        let of = net.author[c.target];
        let pays = || keys.weight[of] >= w_min && !keys.partial(of, c.author);
        match judgement.verdict {
            Verdict::Stands if net.post(c.target).is_some() && pays() => z[c.author] += c.is.value,
            Verdict::Rebutted => u[c.author] += c.is.value,
            _ => {}
        }
    }

    let mut by_group = Partition::new(keys, &keys.group);
    let mut by_class = Partition::new(keys, &keys.class);
    let mut reputation = Vec::with_capacity(net.keys.len());
    for a in 0..net.keys.len() {
        let half = |x: Fixed| keys.weight[a].times(x.saturated()).scale(1, 2);
        let mut earned = Fixed::ZERO;
        let mut lost = Fixed::ZERO;
        for &(_, x) in posts.of(a) {
            for s in signals.on(x).iter().filter(|s| s.kind.relies()) {
                if keys.weight[s.author] >= w_min && !keys.partial(s.author, a) {
                    by_group.signal(s.author, s.is.value);
                    by_class.signal(s.author, s.is.value);
                }
            }
            by_group.next_post();
            by_class.next_post();
        }
        earned += by_group.take().min(by_class.take());
        earned += half(z[a]);

        for &(_, x) in posts.of(a) {
            for c in signals.contradictions.range(x).filter(|&c| stands(c)) {
                let c = &signals.contradictions.items[c];
                by_group.signal(c.author, c.is.value);
                by_class.signal(c.author, c.is.value);
            }
            by_group.next_post();
            by_class.next_post();
        }
        lost += by_group.take().min(by_class.take());
        lost += half(u[a]);
        reputation.push((keys.weight[a] + earned - lost).rounded());
    }

    let voice = |a: Key| match net.own[a] {
        true => keys.weight[a].rounded(),
        false => keys.weight[a].min(reputation[a]).max(Fixed::ZERO).rounded(),
    };
    let voice: Vec<Fixed> = (0..net.keys.len()).map(voice).collect();
    let has_weight = voice.iter().map(|&voice| voice >= w_min).collect();
    Standing { reputation, voice, has_weight }
}

/// The sum over the parts c of a partition of `top(c) * sat(x) / ONE`, for one author at a time.
struct Partition<'a> {
    keys: &'a Keys,
    part: &'a [Group],
    /// The largest value on the current post, by part.
    largest: Parts,
    /// x: the sum of these over the author's posts.
    sum: Parts,
    /// `top(c)`.
    top: Parts,
}

impl<'a> Partition<'a> {
    fn new(keys: &'a Keys, part: &'a [Group]) -> Partition<'a> {
        let parts = || Parts::new(keys.groups.len());
        Partition { keys, part, largest: parts(), sum: parts(), top: parts() }
    }

    fn signal(&mut self, by: Key, value: Fixed) {
        self.largest.raise(self.part[by], value);
        self.top.raise(self.part[by], self.keys.weight[by]);
    }

    fn next_post(&mut self) {
        for (part, value) in self.largest.drain() {
            self.sum.add(part, value);
        }
    }

    fn take(&mut self) -> Fixed {
        let top = &self.top;
        let of_parts = self.sum.drain().map(|(part, x)| top.get(part).times(x.saturated()));
        let total = of_parts.sum();
        self.top.drain().for_each(drop);
        total
    }
}

/// The views of all keys.
pub(crate) fn views(
    net: &Network,
    keys: &Keys,
    standing: &Standing,
) -> impl Iterator<Item = (KeyId, AuthorView)> {
    (0..net.keys.len()).map(|k| {
        let mut origins: Vec<_> = keys.origins[k].iter().map(|&g| keys.groups[g]).collect();
        origins.sort_unstable();
        let view = AuthorView {
            key: net.keys[k],
            trust: keys.trust[k],
            floor: keys.floor[k],
            weight: keys.weight[k],
            reputation: standing.reputation[k],
            voice: standing.voice[k],
            group: keys.groups[keys.group[k]],
            class: keys.groups[keys.class[k]],
            origins: Arc::from(origins),
        };
        (view.key, view)
    })
}
