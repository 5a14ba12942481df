//! Lines of bounded length out of a body of bounded length, that may come as slowly as one allows.

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

/// A line, or that there was one over the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Its bytes, without the line end.
    Whole(Vec<u8>),
    /// It is over the limit; its bytes are gone.
    Over,
}

/// The lines of a body.
#[derive(Debug)]
pub struct Lines {
    body: BodyDataStream,
    chunk: Bytes,
    line: Vec<u8>,
    over: bool,
    most: usize,
    left: u64,
    came: u64,
    waited: Duration,
    ended: bool,
}

impl Lines {
    /// Lines of at most `most` bytes of a body of at most `bytes`.
    pub fn new(body: Body, most: usize, bytes: u64) -> Lines {
        let body = body.into_data_stream();
        Lines {
            body,
            chunk: Bytes::new(),
            line: Vec::new(),
            over: false,
            most,
            left: bytes,
            came: 0,
            waited: Duration::ZERO,
            ended: false,
        }
    }

    /// The next line; none at the end.
    pub async fn next(&mut self) -> Result<Option<Line>, BodyError> {
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.chunk) {
                let part = self.chunk.split_to(end + 1);
                self.add(&part[..end]);
                return Ok(Some(self.take()));
            }
            let part = std::mem::take(&mut self.chunk);
            self.add(&part);
            if self.ended {
                let last = !self.line.is_empty() || self.over;
                return Ok(last.then(|| self.take()));
            }
            self.read().await?;
        }
    }

    /// The whole body as one line: of a request that is one event.
    pub async fn whole(mut self) -> Result<Line, BodyError> {
        while !self.ended {
            self.read().await?;
            let part = std::mem::take(&mut self.chunk);
            self.add(&part);
        }
        Ok(self.take())
    }

    async fn read(&mut self) -> Result<(), BodyError> {
        let began = Instant::now();
        let came = tokio::time::timeout(SILENCE, self.body.next()).await;
        // Only the time of the client counts: the node may keep it waiting between two reads.
        self.waited += began.elapsed();
        match came {
            Err(_) => Err(BodyError::Silent),
            Ok(None) => {
                self.ended = true;
                Ok(())
            }
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
                self.chunk = chunk;
                Ok(())
            }
        }
    }

    /// Reads on for a while, and keeps nothing: a connection that is closed with something unread is
    /// reset, and the client may never see why.
    async fn rinse(&mut self) {
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

    fn add(&mut self, part: &[u8]) {
        if self.over || self.line.len() + part.len() > self.most {
            self.over = true;
            self.line = Vec::new();
        } else {
            self.line.extend_from_slice(part);
        }
    }

    fn take(&mut self) -> Line {
        let line = std::mem::take(&mut self.line);
        match std::mem::take(&mut self.over) {
            true => Line::Over,
            false => Line::Whole(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(chunks: &[&'static str], most: usize) -> Vec<Result<Line, BodyError>> {
        let chunks: Vec<Result<Bytes, std::io::Error>> =
            chunks.iter().map(|c| Ok(Bytes::from_static(c.as_bytes()))).collect();
        let mut lines = Lines::new(Body::from_stream(futures_util::stream::iter(chunks)), most, 100);
        let mut all = Vec::new();
        loop {
            match lines.next().await {
                Ok(None) => return all,
                Ok(Some(line)) => all.push(Ok(line)),
                Err(e) => {
                    all.push(Err(e));
                    return all;
                }
            }
        }
    }

    fn whole(text: &str) -> Result<Line, BodyError> {
        Ok(Line::Whole(text.into()))
    }

    #[tokio::test]
    async fn lines_are_cut_whatever_the_chunks() {
        assert_eq!(
            all(&["a\nbc", "d\n", "\n", "e"], 9).await,
            [whole("a"), whole("bcd"), whole(""), whole("e")]
        );
        assert_eq!(all(&["a\n"], 9).await, [whole("a")]);
        assert_eq!(all(&[], 9).await, []);
    }

    #[tokio::test]
    async fn a_line_over_the_limit_is_one_line() {
        assert_eq!(all(&["12345", "6789\nab\n"], 4).await, [Ok(Line::Over), whole("ab")]);
        assert_eq!(all(&["1234\n12345"], 4).await, [whole("1234"), Ok(Line::Over)]);
    }

    #[test]
    fn a_body_a_byte_at_a_time_is_too_slow_and_a_slow_line_is_not() {
        let seconds = Duration::from_secs;
        assert!(!is_slow(seconds(29), 29), "it may just have begun");
        assert!(is_slow(seconds(31), 31));
        assert!(!is_slow(seconds(31), 40_000));
        assert!(is_slow(seconds(300), 200_000));
        assert!(!is_slow(seconds(300), 64 << 20));
    }

    #[tokio::test]
    async fn a_body_over_the_limit_ends() {
        let long = "0123456789".repeat(10);
        let chunks: Vec<&'static str> = vec![Box::leak(long.into_boxed_str()), "\n1"];
        assert_eq!(all(&chunks, 200).await, [Err(BodyError::TooLong)]);
    }
}
