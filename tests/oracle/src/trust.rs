//! Section 3: whose word the reader takes, and for how much.

use crate::grouped::Grouped;
use crate::keys::{Backing, Group, Keys};
use crate::network::{Key, Network};
use crate::origins::{self, Spread};
use crate::signals::{Kind, Signal, Signals};
use rustc_hash::{FxHashMap, FxHashSet};
use wats_model::fixed::{Fixed, ONE};
use wats_model::ids::{GroupId, Millis};

/// Computes trust, floors, weights, and what counting needs.
pub(crate) fn trust(net: &Network, signals: &Signals) -> Keys {
    let vouches = net.vouches();
    let mut vouched = vec![false; net.keys.len()];
    vouches.iter().filter(|&&(voucher, _)| net.own[voucher]).for_each(|&(_, k)| vouched[k] = true);
    let seeds = seeds(net, signals, &vouched, |relied| relied.is.decay);
    let cold = cold(net, signals, &vouched);
    let (groups, group) = groups(net);
    let backing = backing(net, signals, &vouches, &group);
    let anchors = anchors(net, &seeds, &backing);
    let Spread { distance, origins, class, sponsors, speaks_for_itself } =
        origins::spread(net.policy.broad, &anchors, &group, &backing);
    let floor = floors(net, cold);
    let mut keys = Keys {
        groups,
        group,
        class,
        origins,
        sponsors,
        speaks_for_itself,
        trust: Vec::new(),
        weight: Vec::new(),
        floor,
        vouched,
        cold,
    };
    keys.trust = flow(net, &seeds, &shares(&keys, &distance, &backing));
    keys.weight = keys.trust.iter().zip(&keys.floor).map(|(&trust, &floor)| trust + floor).collect();
    keys
}

/// *Seeds*: `s(k)`, where an own profile's accept or use of an X counts so much.
fn seeds(
    net: &Network,
    signals: &Signals,
    vouched: &[bool],
    counts: impl Fn(&Signal) -> Fixed,
) -> Vec<Fixed> {
    let full = net.policy.seed_vouched;
    let mut n = vec![Fixed::ZERO; net.keys.len()];
    for (x, _) in net.posts() {
        let own = |&a: &Key| net.own[a];
        let at_first_hand = signals.on(x).iter().filter(|s| own(&s.author));
        let relied = at_first_hand.filter(|s| matches!(s.kind, Kind::Accept | Kind::Use));
        n[net.author[x]] += relied.map(&counts).max().unwrap_or_default();
    }
    let seed = |k: Key| match (net.own[k], net.distrusted[k], vouched[k]) {
        (true, _, _) => ONE,
        (_, true, _) => Fixed::ZERO,
        (_, _, true) => full,
        _ => full.scale(n[k].0, n[k].0.saturating_add(ONE.0)),
    };
    (0..net.keys.len()).map(seed).collect()
}

/// *Cold start*: `cold`, from the seeds of keys that are not own profiles, in which each X that an
/// own profile accepted or used counts ONE.
fn cold(net: &Network, signals: &Signals, vouched: &[bool]) -> i64 {
    let seeds = seeds(net, signals, vouched, |_| ONE);
    let sum: Fixed = seeds.iter().zip(&net.own).filter(|&(_, &own)| !own).map(|(&s, _)| s).sum();
    let until = net.policy.cold_until;
    16 * (until - sum).0.max(0) / until.0.max(1)
}

/// *Cold start*: `floor(k)`.
fn floors(net: &Network, cold: i64) -> Vec<Fixed> {
    let policy = net.policy;
    let mut first_seen = vec![net.now; net.keys.len()];
    let mut x = vec![0i64; net.keys.len()];
    for (&event, &k) in net.events.iter().zip(&net.author) {
        first_seen[k] = first_seen[k].min(event.received_at);
        let e = u32::from(event.work).saturating_sub(net.pow_bits);
        let work = 1i64.checked_shl(e.min(62)).unwrap_or(i64::MAX) - 1;
        x[k] += work.min(policy.work_cap);
    }
    let floor = |k: Key| {
        let days = net.now.since(first_seen[k]).0 / Millis::DAY.0;
        let (from, to) = (policy.floor_from_days, policy.floor_to_days);
        if net.own[k] || net.distrusted[k] || days < from {
            return Fixed::ZERO;
        }
        let age = policy.floor_cap.scale((days.min(to) - from) as i64, (to - from) as i64);
        let bonus = age.scale(x[k], x[k] + policy.work_half).scale(1, 2);
        (age + bonus).scale(cold, 16)
    };
    (0..net.keys.len()).map(floor).collect()
}

/// *Groups*: their names, and `group(k)`.
fn groups(net: &Network) -> (Vec<GroupId>, Vec<Group>) {
    let owners = net.owners();
    let declared = owners.iter().zip(&net.own).filter(|&(_, &own)| own);
    let of_profiles: FxHashSet<_> = declared.filter_map(|(owner, _)| *owner).collect();
    let mut groups = Vec::new();
    let mut places = FxHashMap::default();
    let group = (0..net.keys.len()).map(|k| {
        let name = match owners[k] {
            _ if net.own[k] => GroupId::Profiles(net.id),
            Some(owner) if of_profiles.contains(&owner) => GroupId::Profiles(net.id),
            Some(owner) => GroupId::Owner(owner),
            None => GroupId::Alone(net.keys[k]),
        };
        *places.entry(name).or_insert_with(|| {
            groups.push(name);
            groups.len() - 1
        })
    });
    let group = group.collect();
    (groups, group)
}

/// *Backing*: all backings, by whom is backed; distrusted keys neither back nor are backed.
fn backing(net: &Network, signals: &Signals, vouches: &[(Key, Key)], group: &[Group]) -> Grouped<Backing> {
    let vouched = vouches.iter().map(|&(from, to)| Backing { from, to, w0: ONE });
    let mut backing: Vec<_> = vouched.collect();
    for (x, _) in net.posts() {
        let to = net.author[x];
        for by_key in signals.on(x).chunk_by(|s, t| s.author == t.author) {
            let from = by_key[0].author;
            let supporting = by_key.iter().filter(|s| s.kind.supports());
            let w0 = supporting.map(|s| s.is.value).max().unwrap_or_default();
            if w0 > Fixed::ZERO && group[from] != group[to] {
                backing.push(Backing { from, to, w0 });
            }
        }
    }
    backing.retain(|b| !net.distrusted[b.from] && !net.distrusted[b.to]);
    backing.sort_unstable_by_key(|b| (b.to, b.from));
    backing.dedup_by(|b, sum| {
        let same = (b.to, b.from) == (sum.to, sum.from);
        if same {
            sum.w0 += b.w0;
        }
        same
    });
    Grouped::new(net.keys.len(), backing, |b| b.to)
}

/// *Anchors*: the keys whose trust the reader gives at first hand.
///
/// Since an own profile is never dependent, its edges are its backings.
fn anchors(net: &Network, seeds: &[Fixed], backing: &Grouped<Backing>) -> Vec<bool> {
    let (numerator, denominator) = net.policy.damping;
    let own = || backing.items.iter().filter(|b| net.own[b.from]);
    let mut sum = vec![Fixed::ZERO; net.keys.len()];
    for b in own() {
        sum[b.from] += b.w0;
    }
    let mut first_hand = seeds.to_vec();
    for b in own() {
        first_hand[b.to] += share(b.w0, sum[b.from]).scale(numerator, denominator);
    }
    let enough = |k: Key| net.own[k] || first_hand[k] >= net.policy.w_min;
    (0..net.keys.len()).map(enough).collect()
}

/// `share = r(w * ONE / W)`.
fn share(w: Fixed, sum: Fixed) -> Fixed {
    w.scale(ONE.0, sum.0).rounded()
}

/// *Edges*: `share(a, b)`, in the place of each backing; zero where there is no edge.
fn shares(keys: &Keys, distance: &[u8], backing: &Grouped<Backing>) -> Vec<Backing> {
    let w = |b: &Backing| {
        let back = keys.class[b.from] == keys.class[b.to] && distance[b.to] <= distance[b.from];
        !(keys.dependent(b.from) && back)
    };
    let mut edges: Vec<_> = backing.items.iter().filter(|b| w(b)).copied().collect();
    let mut sum = vec![Fixed::ZERO; keys.group.len()];
    for b in &edges {
        sum[b.from] += b.w0;
    }
    for b in &mut edges {
        b.w0 = share(b.w0, sum[b.from]);
    }
    edges
}

/// *Flow*: `trust(k)`, along edges whose `w0` is their share.
fn flow(net: &Network, seeds: &[Fixed], edges: &[Backing]) -> Vec<Fixed> {
    let (numerator, denominator) = net.policy.damping;
    let mut sum = seeds.to_vec();
    let mut mass = seeds.to_vec();
    for _ in 1..=3 {
        let mut next = vec![Fixed::ZERO; mass.len()];
        for edge in edges {
            next[edge.to] += mass[edge.from].times(edge.w0).scale(numerator, denominator);
        }
        mass = next.into_iter().map(Fixed::rounded).collect();
        for (sum, &mass) in sum.iter_mut().zip(&mass) {
            *sum += mass;
        }
    }
    sum.into_iter().map(|m| m.min(ONE).rounded()).collect()
}
