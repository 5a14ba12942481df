//! Lines of bounded length out of a stream of any length.

use crate::json;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;

/// Some lines, numbered, in one buffer: the unit of work of a checking thread.
#[derive(Debug, Default)]
pub struct Chunk {
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
pub struct RawLine<'a> {
    /// Its number, from 1.
    pub number: u64,
    /// Its bytes without white space around them; of a line over the limit, nothing.
    pub text: &'a [u8],
    /// Whether it is over the limit.
    pub over: bool,
    /// Whether a line end followed; only the last line of a log may lack it.
    pub ended: bool,
}

impl Chunk {
    /// The lines, in the order of the log.
    pub fn lines(&self) -> impl Iterator<Item = RawLine<'_>> {
        self.lines.iter().map(|line| RawLine {
            number: line.number,
            text: &self.bytes[line.range.clone()],
            over: line.over,
            ended: line.ended,
        })
    }

    /// Whether it holds no line.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

/// The lines of a stream; holds at most one chunk, whatever the length of a line.
pub struct Lines<R> {
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
    /// Lines of at most `limit` bytes without white space around them; longer ones are skipped and reported.
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
            let range = start..chunk.bytes.len();
            if over || !range.is_empty() {
                let ended = matches!(end, End::Line);
                chunk.lines.push(Line { number: self.number, range, over, ended });
            }
        }
        Ok(false)
    }

    /// Appends one line to `out`, which ends at `start`; whether it is over the limit.
    fn line(&mut self, out: &mut Vec<u8>, start: usize) -> io::Result<(End, bool)> {
        let (mut any, mut over) = (false, false);
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            if buffer.is_empty() {
                end_line(out, start);
                return Ok((if any { End::Half } else { End::Stream }, over));
            }
            any = true;
            let (taken, found) = match memchr::memchr(b'\n', buffer) {
                Some(at) => (at, true),
                None => (buffer.len(), false),
            };
            over = over || !append(out, start, &buffer[..taken], self.limit);
            self.input.consume(taken + usize::from(found));
            if found {
                end_line(out, start);
                return Ok((End::Line, over));
            }
        }
    }
}

/// Appends what came of a line, which begins at `start`; whether it is within the limit.
///
/// White space before it is left out. White space at its end may be followed by more of the line, and is
/// kept until [`end_line`], one byte beyond the limit at most: whatever follows then is over it.
pub fn append(out: &mut Vec<u8>, start: usize, part: &[u8], limit: usize) -> bool {
    let part = if out.len() == start { json::trim_start(part) } else { part };
    let (held, solid) = (out.len() - start, json::trim_end(part).len());
    if solid > 0 && held + solid > limit {
        out.truncate(start);
        return false;
    }
    let room = (limit + 1).saturating_sub(held);
    out.extend_from_slice(&part[..part.len().min(room)]);
    true
}

/// Takes the white space off the end of a line that begins at `start`.
pub fn end_line(out: &mut Vec<u8>, start: usize) {
    out.truncate(start + json::trim_end(&out[start..]).len());
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
    fn the_limit_is_of_the_line_without_white_space_around_it() {
        for (text, over) in [
            ("1234", false),
            ("12345", true),
            ("1234\r", false),
            ("12345\r", true),
            ("123456789", true),
            ("1234\r\r", false),
            (" \t     1234      \t", false),
            ("1234         5", true),
            ("1  4", false),
            ("1   5", true),
        ] {
            let got = read(format!("{text}\nx\n").as_bytes(), 4);
            assert_eq!((got[0].2, got[1].1.as_str()), (over, "x"), "{text:?}");
            let kept = if over { "" } else { text.trim() };
            assert_eq!(got[0].1, kept, "{text:?}");
        }
    }

    #[test]
    fn a_line_is_the_same_in_whatever_parts_it_comes() {
        for (text, within) in
            [("  1 34  ", true), ("12 4      5", false), ("  12345", false), ("     ", true)]
        {
            for step in 1..text.len() {
                let (mut out, mut fits) = (b"before".to_vec(), true);
                for part in text.as_bytes().chunks(step) {
                    fits = fits && append(&mut out, 6, part, 4);
                    assert!(out.len() <= 6 + 5, "{text:?} by {step}");
                }
                end_line(&mut out, 6);
                assert_eq!(fits, within, "{text:?} by {step}");
                assert_eq!(&out[6..], if fits { text.trim() } else { "" }.as_bytes(), "{text:?} by {step}");
            }
        }
    }
}
