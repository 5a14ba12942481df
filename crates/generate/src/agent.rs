//! Keys that write events, out of the seed.

use std::sync::Arc;
use wats_event::{Hex32, Secret};

/// A key that writes events.
#[derive(Clone, Debug)]
pub(super) struct Agent {
    pub secret: Arc<Secret>,
    /// Its public key, and the same in hex digits, which every event of it holds.
    pub public: Hex32,
    pub hex: Arc<str>,
}

impl Agent {
    /// The key of a number: 0 is the reader's own profile.
    pub(crate) fn new(seed: u64, number: u64) -> Agent {
        let mut hasher = blake3::Hasher::new_derive_key("wats generate v1: key");
        hasher.update(&seed.to_le_bytes());
        hasher.update(&number.to_le_bytes());
        let secret = Secret::from_seed(*hasher.finalize().as_bytes());
        let public = secret.public();
        Agent { secret: Arc::new(secret), public, hex: public.to_string().into() }
    }
}
