//! Structure-aware fuzzing of the whole replay on any toolchain: logs of random worlds, of which
//! events are changed before they are signed, and lines after.
//!
//! `WATS_FUZZ_SECONDS` says for how long (3 by default), `WATS_FUZZ_SEED` from where: each log has a
//! seed of its own, which is printed when something breaks.

use crate::{dice, replay_invariants};
use dice::Dice;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

fn number(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(default, |v| v.parse().unwrap_or_else(|_| panic!("{name} must be a number")))
}

#[test]
fn no_log_breaks_the_replay() {
    let end = Instant::now() + Duration::from_secs(number("WATS_FUZZ_SECONDS", 3));
    let first = number("WATS_FUZZ_SEED", 1);
    let mut seed = first;
    let mut held = 0;
    while seed == first || Instant::now() < end {
        match catch_unwind(AssertUnwindSafe(|| replay_invariants::check(Dice::new(seed)))) {
            Ok(events) => held += events,
            Err(_) => panic!("the log of WATS_FUZZ_SEED={seed} breaks the replay"),
        }
        seed += 1;
    }
    println!("{} logs, {held} posts held", seed - first);
}

/// Deep chains: every post replies to the last, is contradicted, and the contradiction is, and so on.
#[test]
fn a_long_chain_of_arguments_is_evaluated() {
    replay_invariants::check_chain(400);
}
