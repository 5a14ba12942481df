//! Lines of bounded length out of a body of bounded length.

use super::body::{BodyError, Pace, Paced};
use axum::body::{Body, Bytes};
use wats_event::log::lines::{append, end_line};

/// A line, or that there was one over the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Its bytes, without white space around them.
    Whole(Vec<u8>),
    /// It is over the limit; its bytes are gone.
    Over,
}

/// The lines of a body.
#[derive(Debug)]
pub(super) struct Lines {
    body: Paced,
    chunk: Bytes,
    line: Vec<u8>,
    over: bool,
    most: usize,
    ended: bool,
}

impl Lines {
    /// Lines of at most `most` bytes, without white space around them, of a body of at most `bytes`.
    pub(super) fn new(body: Body, most: usize, bytes: u64, pace: Pace) -> Lines {
        let body = Paced::new(body, bytes, pace);
        Lines { body, chunk: Bytes::new(), line: Vec::new(), over: false, most, ended: false }
    }

    /// The next line; none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Line>, BodyError> {
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

    /// The whole body as one line: of a request that is one event. What is over the limit is not read to
    /// its end.
    pub(super) async fn whole(mut self) -> Result<Line, BodyError> {
        while !self.ended && !self.over {
            self.read().await?;
            let part = std::mem::take(&mut self.chunk);
            self.add(&part);
        }
        if self.over {
            self.body.rinse().await;
        }
        Ok(self.take())
    }

    async fn read(&mut self) -> Result<(), BodyError> {
        match self.body.next().await? {
            None => self.ended = true,
            Some(chunk) => self.chunk = chunk,
        }
        Ok(())
    }

    fn add(&mut self, part: &[u8]) {
        if !self.over && !append(&mut self.line, 0, part, self.most) {
            self.over = true;
            self.line = Vec::new();
        }
    }

    fn take(&mut self) -> Line {
        let mut line = std::mem::take(&mut self.line);
        end_line(&mut line, 0);
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
        let body = Body::from_stream(futures_util::stream::iter(chunks));
        let mut lines = Lines::new(body, most, 100, Pace::Steady);
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

    #[tokio::test]
    async fn a_body_over_the_limit_ends() {
        let long = "0123456789".repeat(10);
        let chunks: Vec<&'static str> = vec![Box::leak(long.into_boxed_str()), "\n1"];
        assert_eq!(all(&chunks, 200).await, [Err(BodyError::TooLong)]);
    }
}
