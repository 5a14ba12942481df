//! What a store shows, and what a replay of its export says it must show.
#![allow(dead_code, reason = "each test takes what it needs")]

use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::Cursor;
use wats_config::Config;
use wats_engine::replay::{Bounds, Place, Replay};
use wats_engine::view_set::counts;
use wats_event::Hex32;
use wats_event::log::{Options, Source, read};
use wats_model::ids::{Millis, NetworkId};
use wats_model::views::NETWORK_LABEL;
use wats_model::views::{BlobView, Facet};
use wats_store::export::{Wanted, export};
use wats_store::{
    AuthorRecord, Group, GroupRecord, LabelRecord, ListedRecord, Order, RankRecord, Reader, Seq, Shown,
    Store, StoreError, TickMark, Under,
};

/// The log of a store.
pub(crate) fn exported(store: &Store) -> String {
    exported_to(store, store.last().expect("a sequence"))
}

/// The log of a store up to a place.
pub(crate) fn exported_to(store: &Store, last: Seq) -> String {
    let mut log = String::new();
    export(store, &Wanted::default(), last, |line| {
        log.push_str(line);
        log.push('\n');
        Ok::<(), StoreError>(())
    })
    .expect("an export");
    log
}

/// Fails where the views of a store are not what a replay of its export gives at their time, up to the
/// record that they are of.
pub(crate) fn assert_views(store: &Store, config: &Config) {
    if let Err(why) = check_views(store, config) {
        panic!("{why}");
    }
}

/// The same, telling how they differ.
pub(crate) fn check_views(store: &Store, config: &Config) -> Result<(), String> {
    let reader = store.read();
    let ticked = reader.ticked().map_err(|e| e.to_string())?;
    let replay = replayed(exported_to(store, ticked.through), config, ticked.now);
    let mut want = Vec::new();
    replay.document.write_networks(&mut want, &replay.intake, "").map_err(|e| e.to_string())?;
    let want: Value = serde_json::from_slice(&want).map_err(|e| e.to_string())?;
    let networks = want.as_object().ok_or("networks")?;
    if ticked == TickMark::default() {
        // No tick has reached the disk: nothing is shown, not even what is true of the reader alone.
        let none = json!({ "posts": {}, "authors": {}, "entries": [] });
        let shown = networks.keys().find(|network| shown(&reader, network).is_ok_and(|got| got != none));
        return shown.map_or(Ok(()), |network| Err(format!("{network} is shown without a tick")));
    }
    for (network, want) in networks {
        let mut want = want.clone();
        // What a label tells besides follows from the configuration.
        want.as_object_mut().and_then(|members| members.remove(NETWORK_LABEL));
        let got = shown(&reader, network).map_err(|e| e.to_string())?;
        differ(&want, &got).map_or(Ok(()), |at| Err(format!("{network} at {}: {at}", ticked.now.0)))?;
    }
    others(&reader, &replay)
}

/// Answers, covers and blobs: what the document does not write.
fn others(reader: &Reader<'_>, replay: &Replay) -> Result<(), String> {
    let (intake, document) = (&replay.intake, &replay.document);
    let mut pairs = Vec::new();
    pairs.extend(document.canonical.iter().map(|(root, shown)| (Shown::Canonical, *root, *shown)));
    pairs.extend(document.covers.iter().map(|(root, shown)| (Shown::Digest, *root, *shown)));
    for (what, root, shown) in pairs {
        let network = intake.event_network(root).and_then(|n| intake.network_name(n)).ok_or("a network")?;
        let (root, shown) = (intake.event_name(root).ok_or("a root")?, intake.event_name(shown));
        let got = reader.shown(network, root, what).map_err(|e| e.to_string())?;
        if got != shown {
            return Err(format!("{what:?} of {root}: {got:?} instead of {shown:?}"));
        }
    }
    for view in document.blobs.values() {
        let name = intake.blob_name(view.blob).ok_or("a blob")?;
        let got = reader.rank(name).map_err(|e| e.to_string())?;
        let BlobView { held, pinned, rank, replicas, confirmed, .. } = *view;
        let want = RankRecord { pinned, rank, held, replicas, confirmed };
        if got != Some(want) {
            return Err(format!("blob {name}: {got:?} instead of {view:?}"));
        }
    }
    for (id, network) in intake.networks() {
        browsed(reader, replay, id, network)?;
        let want = document.networks.get(&id).map(|view| {
            let suggested = wats_engine::labels::suggested(view, intake);
            LabelRecord { label: view.label, suggested }
        });
        let got = reader.label(network).map_err(|e| e.to_string())?;
        if got != want {
            return Err(format!("{network}: the label {got:?} instead of {want:?}"));
        }
    }
    lists(reader, replay)
}

/// What a facet is, where it belongs to a network.
fn under(replay: &Replay, facet: Facet, network: NetworkId) -> Option<Under> {
    let intake = &replay.intake;
    let (of, under) = match facet {
        Facet::Tag(tag) => intake.tag_name(tag).map(|(of, tag)| (of, Under::Tag(tag.to_owned())))?,
        Facet::Thread(root) => (intake.event_network(root)?, Under::Thread(intake.event_name(root)?)),
        Facet::Initial(of, initial) => (of, Under::Initial(initial.0)),
        Facet::Month(of, month) => (of, Under::Month(month)),
        Facet::Day(of, day) => (of, Under::Day(day)),
    };
    (of == network).then_some(under)
}

/// A group at its place in an order.
type Placed = (Vec<u64>, Vec<u8>, GroupRecord);

/// The map to browse: every group at each of its places, and every entry under each, and no more.
fn browsed(reader: &Reader<'_>, replay: &Replay, id: NetworkId, network: &str) -> Result<(), String> {
    let document = &replay.document;
    let mut orders: BTreeMap<u8, Vec<Placed>> = BTreeMap::new();
    for view in document.groups.values() {
        let Some(under) = under(replay, view.facet, id) else { continue };
        let entries = document.listed.iter().filter(|listed| listed.under == view.facet);
        let mut want: Vec<_> = entries
            .map(|l| {
                (Reverse((l.rank, l.day)), replay.intake.event_name(l.entry).unwrap_or_default(), l.digest)
            })
            .collect();
        want.sort();
        let want: Vec<_> =
            want.into_iter().map(|(_, entry, digest)| ListedRecord { entry, digest }).collect();
        let got = reader.listed(network, &under, None, usize::MAX).map_err(|e| e.to_string())?;
        if got != want || view.entries as usize != want.len() {
            return Err(format!("{network}: entries under {under:?}: {got:?} instead of {want:?}"));
        }
        let group = GroupRecord { under: under.clone(), posts: view.posts, entries: view.entries };
        let size = vec![!u64::from(view.entries), !view.posts.iter().map(|n| u64::from(*n)).sum::<u64>()];
        let mut put = |order: Order, rank: Vec<u64>, name: &[u8]| {
            orders.entry(order as u8).or_default().push((rank, name.to_vec(), group.clone()));
        };
        match &under {
            Under::Tag(tag) => {
                put(Order::Tags, size, tag.as_bytes());
                put(Order::TagNames, vec![], tag.as_bytes());
            }
            Under::Thread(root) => {
                put(Order::Threads, size, &root.0);
                let held = replay.intake.find_event(id, *root).and_then(|root| replay.intake.held(root));
                if let Some(title) = held.and_then(|held| held.title.as_deref()).filter(|_| view.begun) {
                    put(
                        Order::Titles,
                        vec![],
                        &[wats_engine::collation::folded(title).as_bytes(), &[0], &root.0].concat(),
                    );
                }
            }
            Under::Initial(c) => put(Order::Initials, vec![u64::from(*c)], &[]),
            Under::Month(month) => put(Order::Months, vec![!u64::from(*month)], &[]),
            Under::Day(day) => put(Order::Days, vec![!u64::from(*day)], &[]),
        }
    }
    for order in [
        Order::Tags,
        Order::TagNames,
        Order::Threads,
        Order::Titles,
        Order::Initials,
        Order::Months,
        Order::Days,
    ] {
        let mut want = orders.remove(&(order as u8)).unwrap_or_default();
        want.sort_by(|(rank, name, _), (other, its, _)| (rank, name).cmp(&(other, its)));
        let got =
            reader.groups(network, order, &[], |_| true, None, usize::MAX).map_err(|e| e.to_string())?;
        let (got, want) =
            (got.into_iter().map(|(_, group)| group), want.into_iter().map(|(.., group)| group));
        if let Some((got, want)) = got.clone().zip(want.clone()).find(|(got, want)| got != want) {
            return Err(format!("{network}: {order:?}: {got:?} instead of {want:?}"));
        }
        if got.len() != want.len() {
            return Err(format!("{network}: {order:?}: {} groups instead of {}", got.len(), want.len()));
        }
    }
    Ok(())
}

/// The order of eviction, what the node would fetch, and what it could drop.
fn lists(reader: &Reader<'_>, replay: &Replay) -> Result<(), String> {
    let views: Vec<BlobView> = replay.document.blobs.values().copied().collect();
    let name = |view: &BlobView| replay.intake.blob_name(view.blob).expect("a blob");
    let mut order: Vec<_> = views.iter().filter(|v| v.held && !v.pinned).map(|v| (v.rank, name(v))).collect();
    let mut wants: Vec<_> =
        views.iter().filter(|v| !v.held && v.confirmed).map(|v| (name(v), v.replicas)).collect();
    let mut spares: Vec<_> =
        views.iter().filter(|v| v.held && !v.pinned && v.replicas == 0).map(name).collect();
    order.sort_unstable();
    wants.sort_unstable();
    spares.sort_unstable();
    let all = usize::MAX;
    let first = reader.first_to_go(None, None, all).map_err(|e| e.to_string())?;
    let first: Vec<_> = first.into_iter().map(|standing| (standing.rank, standing.blob)).collect();
    if first != order {
        return Err(format!("the order of eviction: {first:?} instead of {order:?}"));
    }
    let got = (reader.wants(None, all).map_err(|e| e.to_string())?, reader.spares(None, all));
    match (got.0 == wants, got.1.map_err(|e| e.to_string())? == spares) {
        (true, true) => Ok(()),
        (false, _) => Err(format!("wants: {:?} instead of {wants:?}", got.0)),
        (_, false) => Err(format!("spares are not {spares:?}")),
    }
}

/// A replay of a log, at a time.
pub(crate) fn replayed(log: String, config: &Config, now: Millis) -> Replay {
    let mut replay = Replay::start(config, Some(now), 1, Bounds::BULK).expect("the engine starts");
    let source = Source::from_reader("export", Cursor::new(log.into_bytes())).expect("a log");
    let options = Options { skip_signatures: true, ..Options::new(config.rules()) };
    for (at, checked) in read(source, &options).enumerate() {
        let checked = checked.expect("a line");
        replay.take(Place { log: 0, line: at as u64 + 1 }, checked).expect("a record");
    }
    replay.end().expect("the engine runs");
    replay
}

/// The views of a network, as a replay's document has them.
pub(crate) fn shown(reader: &Reader<'_>, network: &str) -> Result<Value, StoreError> {
    let mut posts = serde_json::Map::new();
    for (id, post) in reader.posts(network)? {
        let mut json = json!({
            "status": post.status.name(),
            "score": post.score.0,
            "counts": counts(&post.counts),
            "replicas": post.replicas,
        });
        if let Some(why) = post.why {
            json["why"] = why.into();
        }
        posts.insert(id.to_string(), json);
    }
    let mut entries: Vec<Value> = reader
        .entries(network)?
        .into_iter()
        .map(|(id, digest, entry)| {
            json!({ "entry": id, "kind": if digest { "digest" } else { "thread" }, "threads": entry.threads })
        })
        .collect();
    entries.sort_by(|a, b| a["entry"].as_str().cmp(&b["entry"].as_str()));
    Ok(json!({ "posts": posts, "authors": authors(&reader.authors(network)?), "entries": entries }))
}

fn authors(all: &[(Hex32, AuthorRecord)]) -> Value {
    // A group is named by the smallest of its keys.
    let mut names: BTreeMap<&Group, Hex32> = BTreeMap::new();
    for (key, author) in all {
        let name = names.entry(&author.group).or_insert(*key);
        *name = (*name).min(*key);
    }
    let name = |group: &Group| match group {
        Group::Alone(key) => Some(key.to_string()),
        _ => names.get(group).map(ToString::to_string),
    };
    let json = |author: &AuthorRecord| {
        let mut origins: Vec<String> = author.origins.iter().filter_map(name).collect();
        origins.sort_unstable();
        json!({
            "trust": author.trust.0,
            "floor": author.floor.0,
            "weight": author.weight.0,
            "reputation": author.reputation.0,
            "voice": author.voice.0,
            "group": name(&author.group),
            "class": name(&author.class),
            "origins": origins,
        })
    };
    all.iter().map(|(key, author)| (key.to_string(), json(author))).collect::<serde_json::Map<_, _>>().into()
}

/// The first difference of two documents.
pub(crate) fn differ(want: &Value, got: &Value) -> Option<String> {
    match (want, got) {
        (Value::Object(a), Value::Object(b)) => a.keys().chain(b.keys()).find_map(|key| {
            let of = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or_default();
            differ(&of(a), &of(b)).map(|rest| format!("{key} {rest}"))
        }),
        _ if want == got => None,
        _ => Some(format!("is {got} instead of {want}")),
    }
}
