//! What time it is: the wall's clock, or one that a test sets.

use crate::ids::Millis;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// A clock. It may jump, forwards and back, as clocks of machines do: a caller that needs time that never
/// goes back keeps the latest.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The machine's.
    #[default]
    Wall,
    /// One that shows what it was last set to, in Unix milliseconds.
    Set(Arc<AtomicU64>),
}

impl Clock {
    /// A clock that a test sets.
    pub fn set_to(at: Millis) -> Clock {
        Clock::Set(Arc::new(AtomicU64::new(at.0)))
    }

    /// Sets a clock that can be set.
    pub fn set(&self, at: Millis) {
        if let Clock::Set(shown) = self {
            shown.store(at.0, Ordering::Relaxed);
        }
    }

    /// What it shows, in Unix milliseconds.
    pub fn now(&self) -> Millis {
        match self {
            Clock::Wall => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
            }
            Clock::Set(shown) => Millis(shown.load(Ordering::Relaxed)),
        }
    }
}
