//! HTTP by hand: what a test sends is what goes over the wire.
#![allow(dead_code, reason = "each test takes what it needs")]

use serde_json::Value;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let find = |line: &'_ str| line.split_once(':').is_some_and(|(n, _)| n.eq_ignore_ascii_case(name));
        self.head.lines().find(|line| find(line))?.split_once(':').map(|(_, value)| value.trim())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The documents of the lines.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let lines = self.body.split(|&b| b == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).expect("JSON")).collect()
    }

    /// Status and code, in short.
    pub(crate) fn short(&self) -> (u16, String) {
        (self.status, self.json()["code"].as_str().unwrap_or_default().to_owned())
    }
}

/// How long a test waits for an answer before it fails.
const LONG: Duration = Duration::from_secs(60);

/// A connection.
pub(crate) fn connect(to: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(to).expect("a node listens");
    stream.set_read_timeout(Some(LONG)).expect("a time-out");
    stream
}

/// The head of a request with a body of some length.
pub(crate) fn head(method: &str, path: &str, headers: &[(&str, &str)], length: usize) -> String {
    let headers: String = headers.iter().map(|(n, v)| format!("{n}: {v}\r\n")).collect();
    format!(
        "{method} {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
    )
}

/// One request on a connection of its own.
pub(crate) fn call(
    to: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Answer {
    try_call(to, method, path, headers, body).expect("an answer")
}

/// The same, where the node may be gone.
pub(crate) fn try_call(
    to: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> io::Result<Answer> {
    let mut stream = TcpStream::connect(to)?;
    stream.set_read_timeout(Some(LONG))?;
    stream.write_all(head(method, path, headers, body.len()).as_bytes())?;
    // A node that has heard enough answers before the end of the body.
    let _ = stream.write_all(body);
    answer(stream)
}

/// Reads an answer, to the end of the connection.
pub(crate) fn answer(mut stream: TcpStream) -> io::Result<Answer> {
    let mut all = Vec::new();
    let read = stream.read_to_end(&mut all);
    let end = all.windows(4).position(|w| w == b"\r\n\r\n");
    let Some(end) = end else {
        read?;
        return Err(io::ErrorKind::UnexpectedEof.into());
    };
    let head = String::from_utf8_lossy(&all[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or_default();
    let mut body = all[end + 4..].to_vec();
    if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        body = unchunked(&body)?;
    }
    Ok(Answer { status, head, body })
}

fn unchunked(mut body: &[u8]) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let end = body.windows(2).position(|w| w == b"\r\n").ok_or(io::ErrorKind::UnexpectedEof)?;
        let size = usize::from_str_radix(String::from_utf8_lossy(&body[..end]).trim(), 16);
        let size = size.map_err(|_| io::ErrorKind::InvalidData)?;
        if size == 0 {
            return Ok(all);
        }
        all.extend_from_slice(body.get(end + 2..end + 2 + size).ok_or(io::ErrorKind::UnexpectedEof)?);
        body = &body[end + 4 + size..];
    }
}

pub(crate) const JSON: (&str, &str) = ("Content-Type", "application/json");
pub(crate) const LINES: (&str, &str) = ("Content-Type", "application/x-ndjson");

/// Sends one event.
pub(crate) fn post(to: SocketAddr, event: &str) -> Answer {
    call(to, "POST", "/v1/events", &[JSON], event.as_bytes())
}

/// Sends events, one a line.
pub(crate) fn post_lines(to: SocketAddr, lines: &str) -> Answer {
    call(to, "POST", "/v1/events", &[LINES], lines.as_bytes())
}

pub(crate) fn get(to: SocketAddr, path: &str) -> Answer {
    call(to, "GET", path, &[], b"")
}
