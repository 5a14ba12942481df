//! Bodies of bounded length, that may come as slowly as one allows and no slower.

use axum::body::{Body, BodyDataStream, Bytes};
use futures_util::StreamExt;
use std::time::{Duration, Instant};

/// How long a client may say nothing in the middle of a body.
const SILENCE: Duration = Duration::from_secs(15);

/// After this long of waiting for a client in all, it must have sent [`PACE`] bytes a second: a body
/// that comes a byte at a time holds a place that others need.
const START: Duration = Duration::from_secs(30);
/// See [`START`].
const PACE: u64 = 1 << 10;

/// How much is read of a body that is too long, and thrown away.
const RINSED: usize = 16 << 20;
/// For how long.
const RINSING: Duration = Duration::from_secs(2);

/// Whether a client that was waited for so long sends too slowly.
fn is_slow(waited: Duration, came: u64) -> bool {
    waited > START && came < waited.as_secs() * PACE
}

/// Why a body ends before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// It is longer than allowed.
    #[error("the body is longer than `[limits] body_bytes` allows")]
    TooLong,
    /// Nothing came for a while.
    #[error("nothing came for 15 seconds")]
    Silent,
    /// It came too slowly.
    #[error("the body came at less than a kilobyte a second")]
    Slow,
    /// The connection broke.
    #[error("the connection ended within the body")]
    Broken,
}

/// A body that is read as it comes.
#[derive(Debug)]
pub struct Paced {
    body: BodyDataStream,
    left: u64,
    came: u64,
    waited: Duration,
}

impl Paced {
    /// A body of at most so many bytes.
    pub fn new(body: Body, bytes: u64) -> Paced {
        Paced { body: body.into_data_stream(), left: bytes, came: 0, waited: Duration::ZERO }
    }

    /// The next bytes; none at the end.
    ///
    /// # Errors
    /// When the body is over its limit, comes too slowly or breaks off.
    pub async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        let began = Instant::now();
        let came = tokio::time::timeout(SILENCE, self.body.next()).await;
        // Only the time of the client counts: the node may keep it waiting between two reads.
        self.waited += began.elapsed();
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
                self.came += chunk.len() as u64;
                if is_slow(self.waited, self.came) {
                    return Err(BodyError::Slow);
                }
                Ok(Some(chunk))
            }
        }
    }

    /// Reads on for a while, and keeps nothing: a connection that is closed with something unread is
    /// reset, and the client may never see why.
    pub async fn rinse(&mut self) {
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

    #[test]
    fn a_body_a_byte_at_a_time_is_too_slow_and_a_slow_line_is_not() {
        let seconds = Duration::from_secs;
        assert!(!is_slow(seconds(29), 29), "it may just have begun");
        assert!(is_slow(seconds(31), 31));
        assert!(!is_slow(seconds(31), 40_000));
        assert!(is_slow(seconds(300), 200_000));
        assert!(!is_slow(seconds(300), 64 << 20));
    }
}
