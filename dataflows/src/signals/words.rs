//! What one key has said about one event, as small as it usually is: one react, or one citation.

use super::{Citing, ReactOn};
use crate::small_map::make_room;
use rustc_hash::{FxHashMap, FxHashSet};
use std::slice;
use wats_model::ids::EventId;

/// What one key has said about one event.
#[derive(Default)]
pub(super) enum Words {
    /// Nothing.
    #[default]
    None,
    /// One react of which nothing else is known.
    React(ReactOn),
    /// One citation.
    Citing(Citing),
    /// More than that.
    More(Box<More>),
}

#[derive(Default)]
pub(super) struct More {
    /// Sorted by `stamp`; cut to the latest `max_reacts` when a tick settles.
    reacts: Vec<ReactOn>,
    /// Sorted by (`received_at`, id).
    citing: Vec<Citing>,
    /// Reacts of which the artifact can be read.
    artifacts: FxHashSet<EventId>,
    /// Reacts that name an own event.
    names: FxHashMap<EventId, EventId>,
}

impl Words {
    /// Reacts, sorted by `stamp`.
    pub(super) fn reacts(&self) -> &[ReactOn] {
        match self {
            Words::React(react) => slice::from_ref(react),
            Words::More(more) => &more.reacts,
            Words::None | Words::Citing(_) => &[],
        }
    }

    /// Citations, sorted by (`received_at`, id).
    pub(super) fn citing(&self) -> &[Citing] {
        match self {
            Words::Citing(citing) => slice::from_ref(citing),
            Words::More(more) => &more.citing,
            Words::None | Words::React(_) => &[],
        }
    }

    pub(super) fn has_artifact(&self, react: &ReactOn) -> bool {
        react.evidence && matches!(self, Words::More(more) if more.artifacts.contains(&react.id))
    }

    pub(super) fn own_event(&self, react: &ReactOn) -> Option<EventId> {
        match self {
            Words::More(more) => more.names.get(&react.id).copied(),
            _ => None,
        }
    }

    pub(super) fn react(&mut self, react: ReactOn, here: bool) {
        if here && matches!(self, Words::None) {
            *self = Words::React(react);
            return;
        }
        let reacts = &mut self.more().reacts;
        let at = reacts.binary_search_by_key(&(react.stamp, react.id), |r| (r.stamp, r.id));
        match (at, here) {
            (Err(at), true) => {
                make_room(reacts);
                reacts.insert(at, react);
            }
            (Ok(at), true) => reacts[at] = react,
            (Ok(at), false) => drop(reacts.remove(at)),
            (Err(_), false) => {}
        }
    }

    pub(super) fn cite(&mut self, citing: Citing, here: bool) {
        if here && matches!(self, Words::None) {
            *self = Words::Citing(citing);
            return;
        }
        let all = &mut self.more().citing;
        match (all.binary_search(&citing), here) {
            (Err(at), true) => {
                make_room(all);
                all.insert(at, citing);
            }
            (Ok(at), false) => drop(all.remove(at)),
            _ => {}
        }
    }

    pub(super) fn artifact(&mut self, react: EventId, here: bool) {
        let artifacts = &mut self.more().artifacts;
        if here {
            artifacts.insert(react)
        } else {
            artifacts.remove(&react)
        };
    }

    pub(super) fn names(&mut self, react: EventId, own: EventId, here: bool) {
        let names = &mut self.more().names;
        if here {
            names.insert(react, own)
        } else {
            names.remove(&react)
        };
    }

    /// Forgets all but the latest reacts.
    pub(super) fn cut(&mut self, max_reacts: usize) {
        if let Words::More(more) = self {
            let old = more.reacts.len().saturating_sub(max_reacts);
            more.reacts.drain(..old);
        }
    }

    fn more(&mut self) -> &mut More {
        if !matches!(self, Words::More(_)) {
            let (reacts, citing) = (self.reacts().to_vec(), self.citing().to_vec());
            *self = Words::More(Box::new(More { reacts, citing, ..More::default() }));
        }
        match self {
            Words::More(more) => more,
            _ => unreachable!("made just now"),
        }
    }
}
