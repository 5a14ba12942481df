//! Files to a node, in pieces: what broke off goes on where it was.

use super::{Client, ClientError};
use hyper::body::Bytes;
use hyper::{Method, StatusCode, header};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use wats_event::Hex32;

/// Bytes of a request.
const PIECE: usize = 4 << 20;

impl Client {
    /// Uploads a file, unless the node holds it; its hash and its length.
    ///
    /// # Errors
    /// When the file cannot be read, or the node does not take it.
    pub fn upload(&mut self, path: &Path) -> Result<(Hex32, u64), ClientError> {
        let mut file = File::open(path)?;
        let (blob, size) = hashed(&mut file)?;
        let mut offset = match self.offset(blob)? {
            None => return Ok((blob, size)),
            Some(offset) => offset.min(size),
        };
        file.seek(SeekFrom::Start(offset))?;
        loop {
            let mut piece = Vec::new();
            (&mut file).take(PIECE as u64).read_to_end(&mut piece)?;
            let range = match piece.is_empty() {
                true => None,
                false => Some(format!("bytes {offset}-{}/{size}", offset + piece.len() as u64 - 1)),
            };
            offset += piece.len() as u64;
            self.put(blob, range, piece)?;
            if offset >= size {
                return Ok((blob, size));
            }
        }
    }

    /// How much of a blob the node has of this client; none when it holds all of it.
    fn offset(&mut self, blob: Hex32) -> Result<Option<u64>, ClientError> {
        let response = self.send(Method::HEAD, &blob_path(blob), &[], Bytes::new())?;
        if response.status().is_success() {
            return Ok(None);
        }
        let offset = response.headers().get("upload-offset").and_then(|v| v.to_str().ok()?.parse().ok());
        Ok(Some(offset.unwrap_or(0)))
    }

    fn put(&mut self, blob: Hex32, range: Option<String>, piece: Vec<u8>) -> Result<StatusCode, ClientError> {
        let range = range.iter().map(|range| (header::CONTENT_RANGE, range.as_str()));
        let length = piece.len().to_string();
        let mut headers: Vec<_> = range.collect();
        // Of an empty body nobody else says so.
        headers.push((header::CONTENT_LENGTH, &length));
        self.call(Method::PUT, &blob_path(blob), &headers, piece.into()).map(|(status, _)| status)
    }
}

/// Where a blob is on a node.
pub fn blob_path(blob: Hex32) -> String {
    format!("/v1/blobs/{blob}")
}

fn hashed(file: &mut File) -> io::Result<(Hex32, u64)> {
    let mut hasher = blake3::Hasher::new();
    let size = io::copy(file, &mut hasher)?;
    Ok((Hex32(*hasher.finalize().as_bytes()), size))
}
