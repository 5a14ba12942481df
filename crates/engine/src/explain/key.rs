//! A key, explained: how trust reaches it (section 3), what it earned and lost (section 5), and whose
//! trust it carries.

use super::Seen;
use super::{EngineError, Naming};
use crate::labels::LabelAdvice;
use serde::Serialize;
use wats_dataflows::Introspection;
use wats_dataflows::merits::{Part, Side};
use wats_dataflows::origins::ROUNDS;
use wats_dataflows::reputation;
use wats_dataflows::trust::{self, Incoming, Trust};
use wats_event::{Hex32, excerpt};
use wats_model::fixed::Fixed;
use wats_model::ids::{GroupId, KeyId};
use wats_model::views::AuthorView;

/// How many edges are followed back from a key, by the hop.
const WIDTH: [usize; ROUNDS] = [6, 3, 2];

/// Where a key's trust, reputation and place come from.
#[derive(Clone, Debug, Serialize)]
pub struct KeyExplained {
    /// The network.
    pub network: String,
    /// The label of the network, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_label: Option<LabelAdvice>,
    /// The key.
    pub key: Hex32,
    /// `trust(k)`.
    pub trust: Fixed,
    /// `weight(k)`.
    pub weight: Fixed,
    /// `reputation(k)`.
    pub reputation: Fixed,
    /// `voice(k)`.
    pub voice: Fixed,
    /// What its trust is made of.
    pub trusted: Trusted,
    /// What its floor is made of.
    pub floor: Floor,
    /// What it earned.
    pub earned: Earned,
    /// What it lost.
    pub lost: Earned,
    /// `group(k)`.
    pub group: Hex32,
    /// The owner that it declares, without what would not stand on a line.
    pub owner: Option<Box<str>>,
    /// `class(k)`.
    pub class: Hex32,
    /// `origins(k)`.
    pub origins: Vec<Hex32>,
    /// `sponsors(k)`.
    pub sponsors: Vec<Hex32>,
    /// Why its group, class and origins are these, a sentence each.
    pub because: Vec<String>,
}

/// What a key's trust is made of (section 3).
#[derive(Clone, Debug, Serialize)]
pub struct Trusted {
    /// `s(k)`.
    pub seed: Fixed,
    /// Where the seed comes from.
    pub seeded: Option<&'static str>,
    /// `m1..m3`: trust that came over one, two and three hops.
    pub hops: [Fixed; ROUNDS],
    /// The keys that bring the most, and how they came to it.
    pub paths: Vec<Hop>,
    /// Keys that back it, all of them.
    pub backers: usize,
}

/// An edge on a path of trust.
#[derive(Clone, Debug, Serialize)]
pub struct Hop {
    /// The backer.
    pub from: Hex32,
    /// The backer's seed.
    pub seed: Fixed,
    /// It is an own profile.
    pub profile: bool,
    /// It vouches.
    pub vouched: bool,
    /// The sum over posts of the largest value of its accept, confirm and use.
    pub value: Fixed,
    /// Its share.
    pub share: Fixed,
    /// The mass that passes here, on paths of at most three hops to the key explained.
    pub passed: Fixed,
    /// The edge weighs nothing: it would lead trust back to where it came from.
    pub closed: bool,
    /// The keys that bring the backer the most.
    pub paths: Vec<Hop>,
}

/// What a key's floor is made of (section 3, *Cold start*).
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Floor {
    /// `floor(k)`.
    pub floor: Fixed,
    /// `age`.
    pub age: Fixed,
    /// `x`: its work.
    pub work: i64,
    /// `cold`, 0 to 16.
    pub cold: i64,
    /// Why the key has none, whatever its age and work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub none: Option<&'static str>,
}

/// What a key earned, or lost (section 5).
#[derive(Clone, Debug, Serialize)]
pub struct Earned {
    /// In all: the smaller of the two sums, and what its own accusations add.
    pub sum: Fixed,
    /// The sum over groups.
    pub by_groups: Fixed,
    /// The sum over classes.
    pub by_classes: Fixed,
    /// What its own accusations earned it, those that stand, or cost it, those that were rebutted.
    pub accusing: Fixed,
    /// The parts of the partition that decides, the most first.
    pub parts: Vec<PartEarned>,
}

/// What a part of the keys gave, or took.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PartEarned {
    /// The group or class.
    pub part: Hex32,
    /// The largest weight among its members that said something.
    pub top: Fixed,
    /// The sum over posts of the largest value.
    pub value: Fixed,
    /// `top * sat(value)`.
    pub worth: Fixed,
}

/// An edge, as a worker tells of it.
struct RawHop {
    edge: Incoming,
    seed: Fixed,
    profile: bool,
    passed: Fixed,
    paths: Vec<RawHop>,
}

/// What a worker knows of a key.
struct Known {
    trust: Option<(trust::Explanation, Vec<RawHop>)>,
    reputation: Option<reputation::Explanation>,
}

impl Known {
    fn ask(inside: &Introspection, key: KeyId) -> Known {
        let graph = inside.trust.borrow();
        let trust = graph.explain(key).map(|explained| {
            let paths = best(&graph, &explained, 0);
            (explained, paths)
        });
        Known { trust, reputation: inside.reputation.borrow().explain(key) }
    }
}

/// The edges that bring the most, followed back; `hop` are between them and the key explained.
fn best(graph: &Trust, explained: &trust::Explanation, hop: usize) -> Vec<RawHop> {
    let Some(width) = WIDTH.get(hop) else {
        return Vec::new();
    };
    let brings = |edge: &Incoming| edge.passed[..ROUNDS - hop].iter().copied().sum::<Fixed>();
    let mut edges: Vec<(Fixed, Incoming)> = explained.incoming.iter().map(|e| (brings(e), *e)).collect();
    edges.sort_by_key(|(passed, e)| (std::cmp::Reverse((*passed, e.value)), e.from));
    // The nearest hop also shows who backs and brings nothing.
    edges.retain(|(passed, _)| hop == 0 || *passed > Fixed::ZERO);
    let hops = edges.into_iter().take(*width).filter_map(|(passed, edge)| {
        let from = graph.explain(edge.from)?;
        let paths = best(graph, &from, hop + 1);
        Some(RawHop { edge, seed: from.seed, profile: from.profile, passed, paths })
    });
    hops.collect()
}

/// Explains a key; none when no event of it is held and it is no profile.
pub(super) fn explain(seen: Seen<'_>, key: KeyId) -> Result<Option<KeyExplained>, EngineError> {
    let Some(author) = seen.document.authors.get(&key) else {
        return Ok(None);
    };
    let answers = seen.engine.ask(move |inside| Known::ask(inside, key))?;
    let (mut trust, mut reputation) = (None, None);
    for known in answers {
        trust = trust.or(known.trust);
        reputation = reputation.or(known.reputation);
    }
    let (Some((trust, paths)), Some(reputation)) = (trust, reputation) else {
        return Ok(None);
    };
    let naming = Naming(seen);
    let standing = &trust.standing;
    let owner = trust.owner.and_then(|owner| seen.intake.owner_name(owner));
    Ok(Some(KeyExplained {
        network: naming.network(seen.intake.key_network(key)),
        network_label: naming.label(seen.intake.key_network(key)),
        key: naming.key(key),
        trust: author.trust,
        weight: author.weight,
        reputation: author.reputation,
        voice: author.voice,
        trusted: trusted(&naming, &trust, &paths),
        floor: Floor {
            floor: author.floor,
            age: trust.age.unwrap_or_default(),
            work: trust.work,
            cold: trust.cold,
            none: match (trust.profile, trust.distrusted) {
                (true, _) => Some("an own profile has none"),
                (_, true) => Some("a key that the reader distrusts has none"),
                (false, false) => None,
            },
        },
        earned: earned(&naming, &reputation, Side::For),
        lost: earned(&naming, &reputation, Side::Against),
        group: naming.group(author.group),
        owner: owner.and_then(excerpt::excerpt),
        class: naming.group(author.class),
        origins: naming.groups(&author.origins),
        sponsors: naming.groups(&standing.allegiance.sponsors),
        because: because(&naming, author, &trust),
    }))
}

fn trusted(naming: &Naming<'_>, trust: &trust::Explanation, paths: &[RawHop]) -> Trusted {
    let seeded = match () {
        () if trust.profile => Some("an own profile"),
        () if trust.distrusted => Some("the reader distrusts it: it has no trust and passes none on"),
        () if trust.vouched_by_reader => Some("an own profile vouches for it"),
        () if trust.seed > Fixed::ZERO => Some("own profiles accepted or used what it wrote"),
        () => None,
    };
    let [_, hops @ ..] = trust.mass;
    let paths = named(naming, paths);
    Trusted { seed: trust.seed, seeded, hops, paths, backers: trust.incoming.len() }
}

fn named(naming: &Naming<'_>, hops: &[RawHop]) -> Vec<Hop> {
    let hops = hops.iter().map(|hop| Hop {
        from: naming.key(hop.edge.from),
        seed: hop.seed,
        profile: hop.profile,
        vouched: hop.edge.vouched,
        value: hop.edge.value,
        share: hop.edge.share,
        passed: hop.passed,
        closed: hop.edge.closed,
        paths: named(naming, &hop.paths),
    });
    hops.collect()
}

fn earned(naming: &Naming<'_>, explained: &reputation::Explanation, side: Side) -> Earned {
    let at = if side == Side::For { 0 } else { 1 };
    let (by_groups, by_classes) = (explained.by_groups[at], explained.by_classes[at]);
    let groups_decide = by_groups <= by_classes;
    let of_partition = explained.parts.iter().filter_map(|part| match part.part {
        Part::Group(group) if groups_decide => Some((group, part)),
        Part::Class(class) if !groups_decide => Some((class, part)),
        _ => None,
    });
    let mut parts: Vec<PartEarned> = of_partition
        .filter(|(_, part)| part.side == side)
        .map(|(group, part)| PartEarned {
            part: naming.group(group),
            top: part.top,
            value: part.value,
            worth: part.worth,
        })
        .collect();
    parts.sort_by_key(|part| (std::cmp::Reverse(part.worth), part.part));
    let (accusing, sum) = match side {
        Side::For => (explained.upheld[1], explained.earned),
        Side::Against => (explained.rebutted[1], explained.lost),
    };
    Earned { sum, by_groups, by_classes, accusing, parts }
}

/// Sentences on the group, the origins, the class and the sponsors.
fn because(naming: &Naming<'_>, author: &AuthorView, trust: &trust::Explanation) -> Vec<String> {
    let standing = &trust.standing;
    let group = match (author.group, trust.profile) {
        (_, true) => "group: it is an own profile, and these are one group",
        (GroupId::Profiles(_), _) => "group: it declares an owner that an own profile declares",
        (GroupId::Owner(_), _) => "group: the keys that declare the same owner",
        (GroupId::Alone(_), _) => "group: it declares no owner, and is alone",
    };
    let distance = trust.distance.unwrap_or_default();
    let origins = match () {
        () if trust.profile => "origins: an anchor, as an own profile".to_owned(),
        () if trust.anchor => {
            format!(
                "origins: an anchor, the reader gives it {} at first hand",
                super::amount(trust.first_hand)
            )
        }
        () if trust.broad => "origins: broadly backed, by too many anchors to name".to_owned(),
        () if standing.allegiance.origins.is_empty() => {
            "origins: none, no backer has any within three steps of an anchor".to_owned()
        }
        () => format!(
            "origins: {} it, the nearest in {distance} step{}",
            many(standing.allegiance.origins.len(), "anchor's group reaches", "anchors' groups reach"),
            if distance == 1 { "" } else { "s" }
        ),
    };
    let class = match () {
        () if standing.allegiance.dependent() => {
            format!(
                "class: dependent, all its trust came through {:.12}",
                naming.group(standing.allegiance.class)
            )
        }
        () if standing.allegiance.speaks => "class: its own group, it speaks for itself".to_owned(),
        () => "class: its own group, its trust came through several".to_owned(),
    };
    let sponsors = match () {
        () if trust.anchor => "sponsors: itself, as an anchor".to_owned(),
        () if standing.allegiance.origins.is_empty() => "sponsors: itself, without origins".to_owned(),
        () => "sponsors: the classes of its backers that have origins".to_owned(),
    };
    vec![group.to_owned(), origins, class, sponsors]
}

fn many(n: usize, one: &str, more: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { more })
}
