//! Labels of networks: what a reader should know before it relies on any status there.

use crate::incremental::Machine;
use crate::trust::Temper;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use wats_model::ids::NetworkId;
use wats_model::views::{NetworkLabel, NetworkView};

/// Something said about a network.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// What the trust graph says of it.
    Temper(Temper),
    /// A key that is no own profile has weight; the multiplicity is the number of such keys.
    Companion,
}

#[derive(Default)]
struct Network {
    temper: Option<Temper>,
    companions: i64,
    shown: Option<NetworkView>,
}

impl Network {
    fn view(&self, network: NetworkId) -> Option<NetworkView> {
        let temper = self.temper.as_ref()?;
        let label = match (temper.cold, self.companions) {
            (true, _) => NetworkLabel::Cold,
            (false, 0) => NetworkLabel::Alone,
            (false, _) => return None,
        };
        Some(NetworkView { network, label, suggested: temper.suggested.clone() })
    }
}

/// The machine that labels networks.
#[derive(Default)]
pub struct Labels {
    networks: FxHashMap<NetworkId, Network>,
    touched: FxHashSet<NetworkId>,
}

impl Machine for Labels {
    type Change = (NetworkId, Input);
    type View = NetworkView;

    fn apply(&mut self, (id, told): (NetworkId, Input), diff: i64) {
        let network = self.networks.entry(id).or_default();
        match told {
            Input::Temper(temper) => network.temper = (diff > 0).then_some(temper),
            Input::Companion => network.companions += diff,
        }
        self.touched.insert(id);
    }

    fn emit(&mut self, out: &mut Vec<(NetworkView, i64)>) {
        for id in std::mem::take(&mut self.touched) {
            let Some(network) = self.networks.get_mut(&id) else { continue };
            let view = network.view(id);
            if view != network.shown {
                let before = std::mem::replace(&mut network.shown, view.clone());
                out.extend(before.map(|view| (view, -1)));
                out.extend(view.map(|view| (view, 1)));
            }
        }
    }
}
