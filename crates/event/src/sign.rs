//! Making events: ids, signatures and proof of work.

use super::canonical;
use super::hex::{self, Hex32};
use super::json::{self, Json, Members};
use super::message::message;
use super::rules::{MAX_BYTES, MAX_DEPTH, Refusal, Rules};
use ed25519_dalek::{Signer, SigningKey};
use std::borrow::Cow;
use wats_model::ids::Millis;

/// An author's secret key.
#[derive(Clone)]
pub struct Secret(SigningKey);

impl Secret {
    /// The key of a 32-byte seed. The same seed gives the same key, and the same signatures.
    pub fn from_seed(seed: [u8; 32]) -> Secret {
        Secret(SigningKey::from_bytes(&seed))
    }

    /// The seed, to be kept secret.
    pub fn seed(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// The public key: the `author` of what this key signs.
    pub fn public(&self) -> Hex32 {
        Hex32(self.0.verifying_key().to_bytes())
    }

    /// The signature of an event, by its id (section 1).
    pub fn sign_id(&self, id: &Hex32) -> [u8; 64] {
        self.0.sign(&message(id)).to_bytes()
    }
}

/// What a key file starts with, so that no public key or id is taken for a secret.
const KEY_FILE: &str = "wats-secret-key-v1:";

/// A text that is not a key file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a key file: it must hold `{KEY_FILE}` and 64 lower-case hex digits")]
pub struct KeyFileError;

impl Secret {
    /// The text of a key file: one line.
    pub fn to_key_file(&self) -> String {
        format!("{KEY_FILE}{}\n", hex::encode(&self.seed()))
    }

    /// Reads the text of a key file.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn from_key_file(text: &str) -> Result<Secret, KeyFileError> {
        let digits = text.trim_end().strip_prefix(KEY_FILE).ok_or(KeyFileError)?;
        hex::decode(digits).map(Secret::from_seed).ok_or(KeyFileError)
    }
}

impl std::fmt::Debug for Secret {
    /// Shows the public key alone: secrets do not belong in logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secret(of {})", self.public())
    }
}

/// Why an event cannot be signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// The text is not a JSON object, or the event would be refused by every node.
    #[error("this event would be refused: {0}")]
    Refused(#[from] Refusal),
    /// The event names another author.
    #[error("`author` is {found}, and the key is of {key}: leave `author` out or use its key")]
    OtherAuthor {
        /// What the event says.
        found: String,
        /// The public key of the secret.
        key: Hex32,
    },
}

/// An event that is not signed yet.
#[derive(Clone, Debug)]
pub struct Draft<'a>(Members<'a>);

impl<'a> Draft<'a> {
    /// Reads the JSON text of an event without `id` and `sig`; if they are there, they are dropped.
    /// `v` is filled where it is missing.
    ///
    /// # Errors
    /// When the text is not an I-JSON object, or over the limits of size and nesting.
    pub fn read(text: &'a [u8]) -> Result<Draft<'a>, SignError> {
        let mut event = match super::read_json(text, MAX_BYTES, MAX_DEPTH)? {
            Json::Object(members) => members,
            other => return Ok(super::not_an_object(&other)?),
        };
        if event.get("v").is_none() {
            event.set("v", Json::Int(1));
        }
        event.remove("id");
        event.remove("sig");
        Ok(Draft(event))
    }

    /// Sets `created_at` (Unix milliseconds) where it is missing.
    #[must_use]
    pub fn created_by_default(mut self, at: Millis) -> Draft<'a> {
        if self.0.get("created_at").is_none() {
            let at = i64::try_from(at.0).unwrap_or(json::MAX_INTEGER);
            self.0.set("created_at", Json::Int(at.min(json::MAX_INTEGER)));
        }
        self
    }

    /// Signs it: fills `author` where it is missing, sets `id` and `sig`, and gives the JSON text
    /// on one line. The result keeps every rule of section 1.1 that does not depend on a node.
    ///
    /// # Errors
    /// When it is not an event that a node would accept, or names another author.
    pub fn sign(mut self, secret: &Secret) -> Result<String, SignError> {
        self.set_author(secret)?;
        finish(secret, self.0)
    }

    /// Signs it after looking for the least `nonce` that gives its id `bits` leading zero bits.
    ///
    /// Each further bit doubles the time: about 2^bits hashes, a million or two a second.
    ///
    /// # Errors
    /// As [`Draft::sign`].
    pub fn mine(mut self, secret: &Secret, bits: u16) -> Result<String, SignError> {
        self.set_author(secret)?;
        // Nobody wants to wait for work on an event that is refused anyhow.
        finish(secret, self.0.clone())?;
        let nonce = find_nonce(&mut self.0, bits);
        self.0.set("nonce", Json::Int(nonce));
        finish(secret, self.0)
    }

    fn set_author(&mut self, secret: &Secret) -> Result<(), SignError> {
        let key = secret.public();
        match self.0.get("author") {
            None => {}
            Some(Json::Str(author)) if Hex32::parse(author) == Some(key) => {}
            Some(other) => {
                return Err(SignError::OtherAuthor { found: super::fields::describe(other), key });
            }
        }
        self.0.set("author", Json::Str(key.to_string().into()));
        Ok(())
    }
}

/// Signs the JSON text of an event: [`Draft::read`] and [`Draft::sign`].
///
/// # Errors
/// When it is not an event that a node would accept, or names another author.
pub fn sign(secret: &Secret, unsigned: &[u8]) -> Result<String, SignError> {
    Draft::read(unsigned)?.sign(secret)
}

/// Hashes the bytes before the nonce once, and what follows for each nonce.
fn find_nonce(event: &mut Members<'_>, bits: u16) -> i64 {
    event.remove("nonce");
    let (mut before, mut after) = (Members::default(), Members::default());
    for (name, value) in event.iter() {
        let side = if json::utf16_order(name, "nonce").is_lt() { &mut before } else { &mut after };
        side.push(Cow::Owned(name.to_owned()), value.clone());
    }
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    canonical::write_object(&before, &[], &mut head);
    canonical::write_object(&after, &[], &mut tail);
    head.pop();
    let comma = if head.len() > 1 { "," } else { "" };
    head.extend_from_slice(format!("{comma}\"nonce\":").as_bytes());
    if tail.len() > 2 {
        tail[0] = b',';
    } else {
        tail.remove(0);
    }
    let mut start = blake3::Hasher::new();
    start.update(&head);
    (0..=json::MAX_INTEGER)
        .find(|nonce| {
            let mut hasher = start.clone();
            hasher.update(nonce.to_string().as_bytes()).update(&tail);
            Hex32(*hasher.finalize().as_bytes()).leading_zeros() >= bits
        })
        .unwrap_or(0)
}

fn finish(secret: &Secret, mut event: Members<'_>) -> Result<String, SignError> {
    let mut bytes = Vec::with_capacity(1024);
    let id = canonical::event_id(&event, &mut bytes);
    let sig = secret.sign_id(&id);
    event.set("id", Json::Str(id.to_string().into()));
    event.set("sig", Json::Str(hex::encode(&sig).into()));
    super::from_members(&event, &Rules::any())?;
    let text = canonical::text(&event);
    if text.len() > MAX_BYTES {
        return Err(super::over_size(MAX_BYTES).into());
    }
    Ok(text)
}
