//! Facts in, views out: the specification of wats as one timely/differential dataflow.
//!
//! This crate does no I/O, reads no clock and draws no random number: what it puts out is a function
//! of the set of facts, the configuration and the time it is given. [`build`] wires the whole graph,
//! top to bottom; each part of the specification has a module of its name:
//!
//! | section | module |
//! |---|---|
//! | fixed-point numbers | [`wats_model::fixed`] |
//! | 1.2, 1.3 threads, "latest", what events say of each other | [`relations`], [`latest`] |
//! | 2 signals | [`signals`] |
//! | 2.1 weight classes and decay | [`decay`] |
//! | 3 seeds, groups, edges, flow | [`trust`] |
//! | 3 origins, class, partiality, counting | [`origins`] |
//! | 4 contradictions | [`force`], [`contradictions`], [`argument_graph`], [`labelling`] |
//! | 5 reputation | [`merits`], [`reputation`] |
//! | 6 post status | [`status`] |
//! | 7 knowledge entries | [`knowledge`] |
//! | 8 survival | [`survival`] |
//! | none: a map of 6 and 7; labels of networks | [`facets`]; [`labels`] |

pub mod argument_graph;
pub mod contradictions;
pub mod decay;
pub mod facets;
pub mod force;
pub mod incremental;
pub mod knowledge;
pub mod labelling;
pub mod labels;
pub mod latest;
pub mod merits;
pub mod origins;
pub mod relations;
pub mod reputation;
pub mod signals;
pub mod small_map;
pub mod status;
pub mod survival;
pub mod trust;

use crate::contradictions::{Contradictions, Found};
use crate::decay::{AgingKey, AgingPair, AgingPost, PairChange, TimerQueue};
use crate::facets::{Groups, Places, Put};
use crate::force::{Spread, Stakes};
use crate::incremental::{Machine, Shared, Tick, run, run_beside, run_timed};
use crate::labels::Labels;
use crate::latest::{Latest, LatestAccept};
use crate::merits::Merits;
use crate::reputation::{OfKey, Reputation};
use crate::signals::{Output, Signals};
use crate::status::{Statuses, Word};
use crate::survival::Blobs;
use crate::trust::Trust;
use differential_dataflow::input::InputSession;
use differential_dataflow::operators::ThresholdTotal;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use timely::dataflow::{ProbeHandle, Scope};
use wats_model::facts::EventFact;
use wats_model::ids::{BlobId, KeyId, Millis, NetworkId};
use wats_model::policy::Config;
use wats_model::views::View;

/// What a worker feeds. All must be advanced to the same tick and flushed.
pub struct Inputs {
    /// Held events; each on any one worker.
    pub events: InputSession<Tick, Arc<EventFact>, i64>,
    /// Blobs that the node holds; each on any one worker.
    pub blobs: InputSession<Tick, BlobId, i64>,
    /// Own profiles, once; on any one worker.
    pub profiles: InputSession<Tick, (NetworkId, KeyId), i64>,
    /// The current time, replaced as it moves on; on each worker.
    pub clock: InputSession<Tick, Millis, i64>,
}

/// What a worker reads.
pub struct Outputs {
    /// Tells how far the views are complete.
    pub probe: ProbeHandle<Tick>,
    /// Changes of views at this worker, with the tick that caused them; drained by the owner.
    pub changes: Rc<RefCell<Vec<(View, Tick, i64)>>>,
    /// The state behind the views, to explain them from.
    pub inside: Introspection,
}

/// State that explains the views, to be looked into between ticks; what a worker holds is its share.
pub struct Introspection {
    /// Section 3.
    pub trust: Shared<Trust>,
    /// Section 4, the run for statuses.
    pub contradictions: Shared<Contradictions>,
    /// Section 5.
    pub reputation: Shared<Reputation>,
    /// Section 6.
    pub statuses: Shared<Statuses>,
    /// The calendar of signals, which tells how to slice a leap in time.
    pub signals: Shared<TimerQueue<AgingPair>>,
}

fn shared<M: Machine>(machine: M) -> Shared<M> {
    Rc::new(RefCell::new(machine))
}

/// Spreads small integers over workers.
fn route(id: u32) -> u64 {
    u64::from(id).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

fn by_network<T>(told: &(NetworkId, T)) -> u64 {
    u64::from(told.0.0)
}

/// Wires the dataflow into `scope`.
#[expect(clippy::too_many_lines, reason = "the whole graph is read on one page, top to bottom")]
pub fn build(scope: Scope<'_, Tick>, config: Arc<Config>) -> (Inputs, Outputs) {
    let mut inputs = Inputs {
        events: InputSession::new(),
        blobs: InputSession::new(),
        profiles: InputSession::new(),
        clock: InputSession::new(),
    };
    let events = inputs.events.to_collection(scope);
    let blobs = inputs.blobs.to_collection(scope);
    let profiles = inputs.profiles.to_collection(scope);
    let clock = inputs.clock.to_collection(scope);
    let w_min = config.policy.w_min;

    // 1. Events, and what they say of each other.
    let held = relations::held(events.clone());
    let posts = relations::posts(events.clone());
    let reacts = relations::reacts(events.clone());
    let threads = relations::threads(posts.clone(), held.clone());
    let by_thread = relations::by_thread(threads.clone());
    let told = relations::told(
        events.clone(),
        posts.clone(),
        reacts.clone(),
        blobs.clone(),
        by_thread.clone(),
        held.clone(),
    );

    // 2. Signals, and their decay.
    let said = run("signals", told, |(on, _)| route(on.0), shared(Signals::new(config.clone())));
    let accepts = said.clone().flat_map(|said| match said {
        Output::Accept(accept) => Some(accept),
        _ => None,
    });
    let accepts = run("latest accept", accepts, |a| route(a.thread.0), shared(LatestAccept::default()));
    let signals = said.clone().flat_map(|said| match said {
        Output::Signals(signals) => Some(PairChange::Signals(signals)),
        _ => None,
    });
    let signals = signals.concat(accepts.map(|a| PairChange::Accept(a.pair, a.clock)));
    let pair_calendar = shared(TimerQueue::<AgingPair>::new(config.clone()));
    let route_pair = |change: &PairChange| route(change.pair().on.0);
    let supports = force::supports(signals.clone());
    let aged = run_timed("aging signals", signals, clock.clone(), route_pair, pair_calendar.clone());

    // 3. Trust.
    let seen = events.clone().map(|e| (e.network, e.author, e.received_at));
    let ages = shared(TimerQueue::<AgingKey>::new(config.clone()));
    let ages = run_timed("aging keys", seen, clock.clone(), |(_, key, _)| route(key.0), ages);
    let owners = relations::owners(events.clone());
    let owners = run("latest owner", owners, |(k, _)| route(k.1.0), shared(Latest::default()));
    let vouches = relations::vouches(reacts.clone(), held.clone());
    let vouches = run("latest vouch", vouches, |(k, _)| route(k.2.0), shared(Latest::default()));
    let told = profiles.map(|(network, key)| (network, trust::Input::Profile(key))).concatenate([
        ages.map(|(network, key, age)| (network, trust::Input::Age(key, age))),
        relations::work(events.clone(), config.clone()),
        owners.flat_map(|((network, key), owner)| owner.map(|o| (network, trust::Input::Owner(key, o)))),
        vouches.flat_map(|((network, a, b), yes)| yes.then_some((network, trust::Input::Vouch(a, b)))),
        trust::backing(aged.clone(), config.clone()),
        trust::relied_on(aged.clone(), config.clone()),
    ]);
    let trust = shared(Trust::new(config.clone()));
    let trusted = run("trust", told, by_network, trust.clone());
    let standing = trusted.clone().flat_map(|output| match output {
        trust::Output::Standing(k, s) => Some((k, s)),
        trust::Output::Temper(..) => None,
    });
    let places = standing.clone().map(move |(k, s)| (k, s.place(w_min)));

    // 4. Contradictions: the force of those who contradict much, then the first run, by weight.
    let contradictions = said.clone().flat_map(|said| match said {
        Output::Contradiction(c) => Some(c),
        _ => None,
    });
    let stakes = supports.concat(force::contradicted(contradictions.clone()));
    let route_stakes = |told: &force::Input| match told {
        force::Input::Of(on, _) => route(on.0),
        force::Input::Place(..) => unreachable!("told to every worker"),
    };
    let standing_where = places.clone().map(|(k, place)| force::Input::Place(k, place));
    let stakes = run_beside("stakes", stakes, standing_where, route_stakes, shared(Stakes::default()));
    let spread = run("spread", stakes, |(_, k, _)| route(k.0), shared(Spread::new(config.clone())));
    let arguments = contradictions
        .map(|c| (c.pair.network, contradictions::Input::Contradiction(c)))
        .concat(standing.clone().map(|(k, s)| (s.network, contradictions::Input::Standing(k, s))))
        .concat(spread.map(|(network, k, n)| (network, contradictions::Input::Spread(k, n))));
    let first_run = shared(Contradictions::new(config.clone(), false));
    let first_run = run("contradictions by weight", arguments.clone(), by_network, first_run);

    // 5. Reputation. Most of it depends on places, which change less often than weights do.
    let policy = config.policy.clone();
    let gifts = aged.clone().flat_map(move |p| {
        let gift = merits::Contribution::new(&p, &policy)?;
        Some(merits::Input::Of(p.pair.on, merits::OfPost::Contribution(p.pair.by, gift)))
    });
    let of_posts = gifts.concatenate([
        relations::authored(posts.clone())
            .map(|(on, (_, k))| merits::Input::Of(on, merits::OfPost::Author(k))),
        first_run.flat_map(|found| match found {
            Found::Verdict(v) => Some(merits::Input::Of(v.on, merits::OfPost::Verdict(v))),
            Found::Refuted(react, by) => Some(merits::Input::Of(react, merits::OfPost::Refuted(by))),
            Found::Rebuttals(..) => None,
        }),
    ]);
    let places = places.map(|(k, place)| merits::Input::Place(k, place));
    let route_merits = |told: &merits::Input| match told {
        merits::Input::Of(on, _) => route(on.0),
        merits::Input::Place(..) => unreachable!("told to every worker"),
    };
    let merits = run_beside("merits", of_posts, places, route_merits, shared(Merits::default()));
    let of_keys = merits
        .map(|(k, merit)| reputation::Input::Of(k, OfKey::Merit(merit)))
        .concat(standing.clone().map(|(k, s)| reputation::Input::Of(k, OfKey::Standing(s))));
    let weights = standing.map(move |(k, s)| reputation::Input::Weight(k, s.place(w_min), s.weight()));
    let route_keys = |told: &reputation::Input| match told {
        reputation::Input::Of(k, _) => route(k.0),
        reputation::Input::Weight(..) => unreachable!("told to every worker"),
    };
    let reputation = shared(Reputation::new(config.clone()));
    let esteem = run_beside("reputation", of_keys, weights, route_keys, reputation.clone());

    // 4 again, the second run: a critic also needs a voice.
    let with_weight = esteem.clone().filter(move |e| e.has_weight(w_min));
    let with_weight = with_weight.map(|e| (e.standing.network, e.key));
    let voices = with_weight.clone().map(|(network, k)| (network, contradictions::Input::Voice(k)));
    let second_run = shared(Contradictions::new(config.clone(), true));
    let found = run("contradictions by voice", arguments.concat(voices), by_network, second_run.clone());

    // What a reader should know of each network.
    let reader = config.clone();
    let companions = with_weight.clone().filter(move |(network, k)| !reader.profiles(*network).contains(k));
    let labels = companions.map(|(network, _)| (network, labels::Input::Companion));
    let labels = labels.concat(trusted.flat_map(|output| match output {
        trust::Output::Temper(network, temper) => Some((network, labels::Input::Temper(temper))),
        trust::Output::Standing(..) => None,
    }));
    let labels = run("labels", labels, by_network, shared(Labels::default()));

    // 8. Survival: who holds which blob.
    let attaching = said.flat_map(|said| match said {
        Output::Attaching(a) => Some((a.by, (a.react, a.on, a.own))),
        _ => None,
    });
    let own = attaching.clone().filter(|(_, (_, _, own))| *own);
    let weighty = attaching.filter(|(_, (_, _, own))| !*own).semijoin(with_weight.map(|(_, k)| k));
    let by_react = own.concat(weighty).map(|(_, (react, on, _))| (react, on)).distinct_total_core::<i64>();
    let by_react = by_react.join_map(relations::attached(reacts), |_, on, blob| (*on, *blob));
    let holders = relations::attached(posts.clone()).concat(by_react).distinct_total_core::<i64>();

    // 6. Status.
    let young = shared(TimerQueue::<AgingPost>::new(config.clone()));
    let young =
        run_timed("aging posts", relations::written(posts.clone()), clock, |(on, _)| route(on.0), young);
    let policy = config.policy.clone();
    let words = aged.filter(|p| p.pair.on_post);
    let words = words.map(move |p| (p.pair.on, status::OfPost::Word(p.pair.by, Word::new(&p, &policy))));
    let told = words.concatenate([
        relations::authored(posts.clone()).map(|(on, (stamp, k))| (on, status::OfPost::Held(stamp, k))),
        found.map(|found| (found.on(), status::OfPost::Found(found))),
        young.map(|on| (on, status::OfPost::Young)),
        holders.clone().map(|(on, blob)| (on, status::OfPost::Holds(blob))),
    ]);
    let told = told.map(|(on, told)| status::Input::Of(on, told));
    let voters = esteem.clone().map(move |e| status::Input::Voter(e.key, e.voter(w_min)));
    let route_status = |told: &status::Input| match told {
        status::Input::Of(on, _) => route(on.0),
        status::Input::Voter(..) => unreachable!("told to every worker"),
    };
    let statuses = shared(Statuses::new(config.clone()));
    let judged = run_beside("status", told, voters, route_status, statuses.clone());

    // 7. Knowledge.
    let sources = knowledge::Sources {
        digests: relations::digests(posts.clone()),
        refs: relations::digest_refs(posts.clone()),
        answers: relations::answers(posts.clone()),
        asks: relations::asks(posts.clone()),
        held,
        threads: threads.clone(),
        roots: relations::roots(posts.clone()),
        judged: judged.clone(),
    };
    let knowledge = knowledge::knowledge(sources, &config.policy);

    // 8. Survival.
    let sources = survival::Sources {
        held: blobs,
        holders,
        own: relations::own(posts.clone(), config.clone()),
        entries: knowledge.entries.clone(),
        judged: judged.clone(),
    };
    let blobs = run("blobs", survival::holders(sources), |(blob, _)| route(blob.0), shared(Blobs::default()));

    // The map of posts and entries.
    let sources = facets::Sources {
        posts,
        threads,
        by_thread,
        statuses: judged.clone().map(|j| (j.view.post, j.view.status)),
        entries: knowledge.entries.clone(),
        scores: knowledge.scores,
    };
    let told = facets::told(sources);
    let put = run("places to browse", told, |(on, _)| route(on.0), shared(Places::default()));
    let counts = put.clone().flat_map(|put| match put {
        Put::Count(facet, what) => Some((facet, what)),
        Put::Listed(_) => None,
    });
    let listed = put.flat_map(|put| match put {
        Put::Listed(listed) => Some(View::Listed(listed)),
        Put::Count(..) => None,
    });
    let groups =
        run("groups to browse", counts, |(facet, _)| facets::route(facet), shared(Groups::default()));

    // Views.
    let probe = ProbeHandle::new();
    let changes = Rc::new(RefCell::new(Vec::new()));
    let sink = changes.clone();
    judged
        .map(|j| View::Post(j.view))
        .concatenate([
            esteem.map(|e| View::Author(e.view())),
            knowledge.entries.map(View::Entry),
            knowledge.canonical.map(View::Canonical),
            knowledge.covers.map(View::Cover),
            blobs.map(View::Blob),
            groups.map(View::Group),
            listed,
            labels.map(View::Network),
        ])
        .inspect_batch(move |_, changes| sink.borrow_mut().extend_from_slice(changes))
        .probe_with(&probe);
    let inside =
        Introspection { trust, contradictions: second_run, reputation, statuses, signals: pair_calendar };
    (inputs, Outputs { probe, changes, inside })
}
