//! The message that the author of an event signs (section 1).

use super::Hex32;

/// What is signed before the 32 id bytes (section 1).
const DOMAIN: &[u8; 14] = b"wats-event-v1:";

/// The message that an event's author signs.
pub(super) fn message(id: &Hex32) -> [u8; 46] {
    let mut message = [0; 46];
    message[..DOMAIN.len()].copy_from_slice(DOMAIN);
    message[DOMAIN.len()..].copy_from_slice(&id.0);
    message
}
