//! Lines of bounded length out of a stream of any length.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;

/// Some lines, numbered, in one buffer: the unit of work of a checking thread.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    bytes: Vec<u8>,
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    number: u64,
    range: Range<usize>,
    over: bool,
    ended: bool,
}

/// One line of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawLine<'a> {
    /// Its number, from 1.
    pub number: u64,
    /// Its bytes without the line end; of a line over the limit, nothing.
    pub text: &'a [u8],
    /// Whether it is over the limit.
    pub over: bool,
    /// Whether a line end followed; only the last line of a log may lack it.
    pub ended: bool,
}

impl Chunk {
    pub fn lines(&self) -> impl Iterator<Item = RawLine<'_>> {
        self.lines.iter().map(|line| RawLine {
            number: line.number,
            text: &self.bytes[line.range.clone()],
            over: line.over,
            ended: line.ended,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

/// The lines of a stream; holds at most one chunk, whatever the length of a line.
pub(crate) struct Lines<R> {
    input: BufReader<R>,
    number: u64,
    limit: usize,
}

/// How a line came to its end.
enum End {
    /// At a line end.
    Line,
    /// At the end of the stream, after some bytes.
    Half,
    /// At the end of the stream: there was no line.
    Stream,
}

impl<R: Read> Lines<R> {
    /// Lines of at most `limit` bytes; longer ones are skipped and reported.
    pub fn new(input: R, limit: usize) -> Lines<R> {
        Lines { input: BufReader::with_capacity(64 * 1024, input), number: 0, limit }
    }

    /// The number of the line that is being read, or was read last, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Reads lines until there are `lines` of them or `bytes` of their bytes, or the stream ends;
    /// whether it has ended. Blank lines are numbered, and left out.
    ///
    /// # Errors
    /// When the stream cannot be read on; what was read before is in the chunk.
    pub fn fill(&mut self, chunk: &mut Chunk, lines: usize, bytes: usize) -> io::Result<bool> {
        while chunk.lines.len() < lines && chunk.bytes.len() < bytes {
            let start = chunk.bytes.len();
            self.number += 1;
            let (end, over) = match self.line(&mut chunk.bytes, start) {
                Ok(done) => done,
                Err(e) => {
                    chunk.bytes.truncate(start);
                    return Err(e);
                }
            };
            if matches!(end, End::Stream) {
                self.number -= 1;
                return Ok(true);
            }
            if over {
                chunk.bytes.truncate(start);
            }
            let range = start..chunk.bytes.len();
            let blank = chunk.bytes[range.clone()].iter().all(|b| matches!(b, b' ' | b'\t' | b'\r'));
            if over || !blank {
                let ended = matches!(end, End::Line);
                chunk.lines.push(Line { number: self.number, range, over, ended });
            }
        }
        Ok(false)
    }

    /// Appends one line to `out`, as far as it is within the limit; whether it is over it.
    fn line(&mut self, out: &mut Vec<u8>, start: usize) -> io::Result<(End, bool)> {
        let mut any = false;
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            if buffer.is_empty() {
                let end = if any { End::Half } else { End::Stream };
                return Ok((end, strip_return(out, start) > self.limit));
            }
            any = true;
            let (taken, found) = match memchr::memchr(b'\n', buffer) {
                Some(at) => (at, true),
                None => (buffer.len(), false),
            };
            // Two bytes beyond the limit tell a line over it from one that ends in a return.
            let room = (self.limit + 2).saturating_sub(out.len() - start);
            out.extend_from_slice(&buffer[..taken.min(room)]);
            self.input.consume(taken + usize::from(found));
            if found {
                return Ok((End::Line, strip_return(out, start) > self.limit));
            }
        }
    }
}

/// Takes the return of a `\r\n` line end off; the length of what is left.
fn strip_return(out: &mut Vec<u8>, start: usize) -> usize {
    if out.len() > start && out.last() == Some(&b'\r') {
        out.pop();
    }
    out.len() - start
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], limit: usize) -> Vec<(u64, String, bool, bool)> {
        let mut lines = Lines::new(text, limit);
        let mut chunk = Chunk::default();
        assert!(lines.fill(&mut chunk, usize::MAX, usize::MAX).expect("memory can be read"));
        let owned =
            |l: RawLine<'_>| (l.number, String::from_utf8_lossy(l.text).into_owned(), l.over, l.ended);
        chunk.lines().map(owned).collect()
    }

    #[test]
    fn lines_are_numbered_and_blank_ones_left_out() {
        let got = read(b"a\n\n \t\r\nbb\r\nc", 10);
        let want = [(1, "a", false, true), (4, "bb", false, true), (5, "c", false, false)];
        assert_eq!(got, want.map(|(n, t, o, e)| (n, t.to_owned(), o, e)));
        assert!(read(b"", 10).is_empty());
    }

    #[test]
    fn the_limit_is_of_the_line_without_its_end() {
        for (text, over) in [
            ("1234", false),
            ("12345", true),
            ("1234\r", false),
            ("12345\r", true),
            ("123456789", true),
            ("1234\r\r", true),
        ] {
            let got = read(format!("{text}\nx\n").as_bytes(), 4);
            assert_eq!((got[0].2, got[1].1.as_str()), (over, "x"), "{text:?}");
        }
    }
}
