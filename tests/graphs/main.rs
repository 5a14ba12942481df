//! Fixed small graphs through the engine, a module for each section of the specification, each named
//! for what it shows. Every look at a story also compares the engine with the oracle.

mod aging;
mod attacks;
mod contradictions;
mod distrusted;
#[path = "../support/engine.rs"]
mod engine;
mod force;
mod knowledge;
mod labels;
mod origins;
mod reputation;
mod signals;
mod status;
#[path = "../support/story.rs"]
mod story;
mod survival;
mod trust;

use story::{DAY, Story};
use wats_model::facts::{Evidence, React};
use wats_model::fixed::Fixed;
use wats_model::ids::{BlobId, EventId, KeyId, Millis, OwnerId};
use wats_model::views::{Counts, Status};
use wats_oracle::build::react;

/// `r(ONE)`: the weight of the reader, and of each of up to seven keys that it vouches for.
const FULL: Fixed = Fixed(1_006_632_960);

/// A moment.
const MS: Millis = Millis(1);

/// No counts.
const NONE: Counts =
    Counts { accepts: 0, confirmations: 0, uses: 0, contradictions: 0, cites: 0, votes_up: 0, votes_down: 0 };

/// The score that a full voice gives a post by a signal of this value.
fn full(value: i64) -> Fixed {
    together(&[value])
}

/// The score that full voices give a post by signals of these values.
fn together(values: &[i64]) -> Fixed {
    values.iter().map(|value| FULL.times(Fixed(*value))).sum::<Fixed>().rounded()
}

/// A moment earlier.
fn before(at: Millis) -> Millis {
    Millis(at.0 - 1)
}
