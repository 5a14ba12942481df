//! Bodies of bounded length, that may come as slowly as one allows and no slower.

use axum::body::{Body, BodyDataStream, Bytes};
use futures_util::StreamExt;
use std::time::{Duration, Instant};

/// How long a client may say nothing in the middle of a body.
const SILENCE: Duration = Duration::from_secs(15);

/// How long a client may be waited for before its pace counts: see [`Pace`].
const START: Duration = Duration::from_secs(30);
/// The least bytes a second of a body that comes at leisure, and of a steady one.
const LEISURE: u64 = 1 << 10;
const STEADY: u64 = 64 << 10;

/// How much is read of a body that is too long, and thrown away.
const RINSED: usize = 16 << 20;
/// For how long.
const RINSING: Duration = Duration::from_secs(2);

/// How fast a body must come: one that comes a byte at a time holds a place that others need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// After [`START`] of waiting in all, a kilobyte a second over all of it: blobs are large, and lines slow.
    Leisure,
    /// [`START`] of waiting to spare, of which what comes wins back its time at 64 KiB a second, and never
    /// more: a line of that speed passes whatever it sends, and one that sips does not, not even after
    /// it was fast.
    Steady,
}

/// How long a client was waited for, and what came of it.
#[derive(Debug)]
struct Wait {
    pace: Pace,
    came: u64,
    waited: Duration,
    spare: Duration,
}

impl Wait {
    fn new(pace: Pace) -> Wait {
        Wait { pace, came: 0, waited: Duration::ZERO, spare: START }
    }

    /// Takes note of a wait until so much came; whether the client sends too slowly.
    fn is_too_long(&mut self, waited: Duration, came: u64) -> bool {
        self.waited += waited;
        self.came += came;
        match self.pace {
            Pace::Leisure => self.waited > START && self.came < self.waited.as_secs() * LEISURE,
            Pace::Steady => {
                let won = Duration::from_micros(came.saturating_mul(1_000_000) / STEADY);
                let left = self.spare.saturating_add(won).checked_sub(waited);
                self.spare = left.unwrap_or_default().min(START);
                left.is_none()
            }
        }
    }

    /// The least KiB a second.
    fn least(&self) -> u64 {
        match self.pace {
            Pace::Leisure => LEISURE >> 10,
            Pace::Steady => STEADY >> 10,
        }
    }
}

/// Why a body ends before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BodyError {
    /// It is longer than allowed.
    #[error("the body is longer than `[limits] body_bytes` allows")]
    TooLong,
    /// Nothing came for a while.
    #[error("nothing came for 15 seconds")]
    Silent,
    /// It came too slowly, at less than so many KiB a second.
    #[error("the body came at less than {0} KiB a second")]
    Slow(u64),
    /// The connection broke.
    #[error("the connection ended within the body")]
    Broken,
}

/// A body that is read as it comes.
#[derive(Debug)]
pub(super) struct Paced {
    body: BodyDataStream,
    left: u64,
    wait: Wait,
}

impl Paced {
    /// A body of at most so many bytes.
    pub(super) fn new(body: Body, bytes: u64, pace: Pace) -> Paced {
        Paced { body: body.into_data_stream(), left: bytes, wait: Wait::new(pace) }
    }

    /// The next bytes; none at the end.
    ///
    /// # Errors
    /// When the body is over its limit, comes too slowly or breaks off.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        let began = Instant::now();
        let came = tokio::time::timeout(SILENCE, self.body.next()).await;
        // Only the time of the client counts: the node may keep it waiting between two reads.
        let waited = began.elapsed();
        match came {
            Err(_) => Err(BodyError::Silent),
            Ok(None) => Ok(None),
            Ok(Some(Err(_))) => Err(BodyError::Broken),
            Ok(Some(Ok(chunk))) => {
                let Some(left) = self.left.checked_sub(chunk.len() as u64) else {
                    self.rinse().await;
                    return Err(BodyError::TooLong);
                };
                self.left = left;
                if self.wait.is_too_long(waited, chunk.len() as u64) {
                    return Err(BodyError::Slow(self.wait.least()));
                }
                Ok(Some(chunk))
            }
        }
    }

    /// Reads on for a while, and keeps nothing: a connection that is closed with something unread is
    /// reset, and the client may never see why.
    pub(super) async fn rinse(&mut self) {
        let all = async {
            let mut left = RINSED;
            while left > 0
                && let Some(Ok(chunk)) = self.body.next().await
            {
                left = left.saturating_sub(chunk.len());
            }
        };
        // What is left then is cut off.
        let _ = tokio::time::timeout(RINSING, all).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_body_a_byte_at_a_time_is_too_slow_and_a_slow_line_is_not() {
        let is_slow =
            |seconds, came| Wait::new(Pace::Leisure).is_too_long(Duration::from_secs(seconds), came);
        assert!(!is_slow(29, 29), "it may just have begun");
        assert!(is_slow(31, 31));
        assert!(!is_slow(31, 40_000));
        assert!(is_slow(300, 200_000));
        assert!(!is_slow(300, 64 << 20));
    }

    #[test]
    fn a_steady_body_takes_its_time_and_one_that_sips_ends_within_a_minute() {
        let mut wait = Wait::new(Pace::Steady);
        assert!((0..3_600).all(|_| !wait.is_too_long(SECOND, STEADY)), "a line of that speed");
        assert!(!wait.is_too_long(14 * SECOND, STEADY), "it stalls");
        assert!((0..100).all(|_| !wait.is_too_long(SECOND, 2 * STEADY)), "and is fast again");
        // What was fast saves no time up.
        assert!(!wait.is_too_long(SECOND, 32 << 20));
        let mut sipping = (1..100).map(|_| wait.is_too_long(SECOND, 1 << 10));
        assert_eq!(sipping.position(|slow| slow), Some(30));
        let mut half = Wait::new(Pace::Steady);
        let mut half = (1..100).map(|_| half.is_too_long(SECOND, STEADY / 2));
        assert_eq!(half.position(|slow| slow), Some(60));
    }
}
