//! Ranges: of what is asked for (RFC 9110, 14.1), and of what is sent.

/// What a request wants of a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestedRange {
    /// All of it.
    All,
    /// The bytes from the first to the second, which are there.
    Part(u64, u64),
    /// Bytes that it does not have.
    Nothing,
}

/// Reads a `Range` header for something of `size` bytes. One that is no range of bytes, or several, is as
/// if there were none.
pub(super) fn wanted(header: Option<&str>, size: u64) -> RequestedRange {
    let Some((from, to)) = header.and_then(|h| h.strip_prefix("bytes=")).and_then(|r| r.split_once('-'))
    else {
        return RequestedRange::All;
    };
    let number = |text: &str| {
        text.trim().bytes().all(|b| b.is_ascii_digit()).then(|| text.trim().parse().unwrap_or(u64::MAX))
    };
    let (from, to) = (from.trim(), to.trim());
    let (first, last) = match (number(from), number(to)) {
        (Some(_), Some(suffix)) if from.is_empty() && !to.is_empty() => {
            if suffix == 0 {
                return RequestedRange::Nothing;
            }
            (size.saturating_sub(suffix), u64::MAX)
        }
        (Some(first), Some(_)) if !from.is_empty() && to.is_empty() => (first, u64::MAX),
        (Some(first), Some(last)) if !from.is_empty() && first <= last => (first, last),
        _ => return RequestedRange::All,
    };
    match first < size {
        true => RequestedRange::Part(first, last.min(size - 1)),
        false => RequestedRange::Nothing,
    }
}

/// Reads a `Content-Range` header of an upload, `bytes 0-99/1000`: where it begins, how many bytes it
/// brings, and of how many.
pub(super) fn sent(header: &str) -> Option<(u64, u64, u64)> {
    let (range, size) = header.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let number =
        |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten();
    let (first, last, size) = (number(first)?, number(last)?, number(size)?);
    (first <= last && last < size).then(|| (first, last - first + 1, size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        let of = |header| wanted(Some(header), 100);
        assert_eq!(wanted(None, 100), RequestedRange::All);
        assert_eq!(of("bytes=0-9"), RequestedRange::Part(0, 9));
        assert_eq!(of("bytes=90-"), RequestedRange::Part(90, 99));
        assert_eq!(of("bytes=90-500"), RequestedRange::Part(90, 99));
        assert_eq!(of("bytes=-10"), RequestedRange::Part(90, 99));
        assert_eq!(of("bytes=-500"), RequestedRange::Part(0, 99));
        assert_eq!(of("bytes=99999999999999999999-"), RequestedRange::Nothing);
        for nothing in ["bytes=100-", "bytes=-0"] {
            assert_eq!(of(nothing), RequestedRange::Nothing, "{nothing}");
        }
        for all in ["bytes=9-0", "bytes=a-b", "bytes=-", "items=0-9", "bytes=0-1,3-4", "bytes=+1-2"] {
            assert_eq!(of(all), RequestedRange::All, "{all}");
        }
        assert_eq!(wanted(Some("bytes=0-0"), 0), RequestedRange::Nothing);
    }

    #[test]
    fn what_is_sent_is_read() {
        assert_eq!(sent("bytes 10-19/100"), Some((10, 10, 100)));
        assert_eq!(sent("bytes 99-99/100"), Some((99, 1, 100)));
        for wrong in [
            "bytes 10-19/*",
            "bytes 10-100/100",
            "bytes 19-10/100",
            "10-19/100",
            "bytes -9/100",
            "bytes 1-2/",
        ] {
            assert_eq!(sent(wrong), None, "{wrong}");
        }
    }
}
