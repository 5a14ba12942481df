//! How long the oracle takes for a million events: 200,000 post-like events by 20,000 authors, and
//! reacts of all shapes on them, authors and targets drawn by Zipf's law.
//!
//! ```text
//! cargo run --release -p wats-oracle --example million [events]
//! ```
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::time::Instant;
use wats_model::facts::{Body, EventFact, Evidence, Post, PostKind, React, Reply};
use wats_model::ids::{EventId, KeyId, Millis, NetworkId, Stamp};
use wats_model::policy::{Config, Network};
use wats_oracle::build::{post, react, tie};
use wats_oracle::{State, evaluate};

const YEAR: u64 = 365 * Millis::DAY.0;

fn main() {
    let count = std::env::args().nth(1).and_then(|n| n.parse().ok());
    let count: u32 = count.unwrap_or(1_000_000);
    let (authors, posts) = (count / 50, count / 5);
    let mut random = Random(1);
    let mut events = Vec::new();
    for n in 0..count {
        let id = EventId(n);
        let author = random.zipf(authors);
        let body = match n {
            n if n < authors => Body::Announce { owner: None },
            n if n < authors + posts => Body::Post(words(&mut random, n, authors)),
            _ => Body::React(reaction(&mut random, authors, posts)),
        };
        let author = KeyId(if n < authors { n } else { author });
        let at = Millis(YEAR * u64::from(n) / u64::from(count));
        events.push(EventFact {
            id,
            stamp: Stamp { created_at: at, tie: tie(id) },
            received_at: at,
            network: NetworkId(0),
            author,
            work: 0,
            body,
        });
    }
    let profiles = vec![KeyId(0)];
    let config = Config {
        networks: vec![Network { profiles, distrusted: Vec::new(), pow_bits: 0 }],
        ..Config::default()
    };
    for _ in 0..3 {
        let started = Instant::now();
        let views = evaluate(&State { config: &config, events: &events, blobs: &[], now: Millis(YEAR) });
        println!("{count} events in {:?}", started.elapsed());
        let trusted = views.authors.values().filter(|a| a.trust.0 > 5_000_000);
        let why = views.posts.values().filter(|p| p.why.is_some());
        println!(
            "  {} trusted keys, {} disputes, {} entries",
            trusted.count(),
            why.count(),
            views.entries.len()
        );
    }
}

/// An ask now and then, and answers; some cite.
fn words(random: &mut Random, n: u32, authors: u32) -> Post {
    let before = n - authors;
    if before < 10 || random.below(4) == 0 {
        return post(PostKind::Ask);
    }
    let kind = match random.below(20) {
        0 => PostKind::Digest,
        _ => PostKind::Post,
    };
    let parent = EventId(authors + random.below(before));
    let refs = match random.below(5) {
        0 => [EventId(authors + random.below(before))].into(),
        _ => Box::default(),
    };
    let reply = Some(Reply { parent, thread: parent });
    Post { reply, refs, ..post(kind) }
}

/// Vouches, votes, confirms, uses, accepts, contradictions of posts and of reacts.
fn reaction(random: &mut Random, authors: u32, posts: u32) -> React {
    let mut said = react(EventId(authors + random.zipf(posts)));
    let shape = random.below(20);
    match shape {
        0 => {
            said.target = EventId(random.zipf(authors));
            said.vouch = Some(true);
        }
        1..7 => said.value = Some(1),
        7 => said.value = Some(-1),
        8..13 => (said.value, said.evidence) = (Some(1), Evidence::Text),
        13..16 => said.used = Some(true),
        16 => said.accept = Some(true),
        17 => said.still_valid = true,
        _ => (said.value, said.evidence) = (Some(-1), Evidence::Text),
    }
    if shape == 19 {
        said.target = EventId(authors + posts + random.below(3 * posts));
    }
    said
}

/// xorshift64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((self.0 >> 32) * u64::from(n)) >> 32) as u32
    }

    /// Roughly by Zipf's law: uniform in the logarithm.
    fn zipf(&mut self, n: u32) -> u32 {
        let u = f64::from(self.below(1 << 24)) / f64::from(1 << 24);
        (f64::from(n).powf(u) as u32 - 1).min(n - 1)
    }
}
