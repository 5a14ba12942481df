//! What a reader should know of a whole network: whether it is cold, or the reader alone, and whom a
//! vouch would help most. (Section 3, *Cold start*, says only *cold*.)

use crate::keys::Keys;
use crate::network::{Key, Network};
use crate::reputation::Standing;
use wats_model::fixed::Fixed;
use wats_model::ids::KeyId;
use wats_model::views::{MAX_SUGGESTED, NetworkLabel, NetworkView};

/// The network's label, if it has keys and one of the labels applies.
pub(crate) fn view(net: &Network, keys: &Keys, standing: &Standing) -> Option<NetworkView> {
    let all = 0..net.keys.len();
    let label = if keys.cold > 0 {
        NetworkLabel::Cold
    } else if all.clone().all(|k| net.own[k] || !standing.has_weight[k]) {
        NetworkLabel::Alone
    } else {
        return None;
    };
    let suggested = suggested(net, keys);
    (!all.is_empty()).then_some(NetworkView { network: net.id, label, suggested })
}

/// Of the keys that a vouch could help, those with the most trust; none when too many have as much.
fn suggested(net: &Network, keys: &Keys) -> Vec<KeyId> {
    let able = |&k: &Key| !net.own[k] && !net.distrusted[k] && !keys.vouched[k];
    let able = || (0..net.keys.len()).filter(able);
    let most = able().map(|k| keys.trust[k]).max().unwrap_or_default();
    let mut suggested: Vec<KeyId> =
        able().filter(|&k| keys.trust[k] == most && most > Fixed::ZERO).map(|k| net.keys[k]).collect();
    suggested.sort_unstable();
    if suggested.len() > MAX_SUGGESTED { Vec::new() } else { suggested }
}
