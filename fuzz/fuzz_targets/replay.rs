//! The whole replay, against the invariants of `tests/support/replay_invariants.rs`.
#![no_main]

#[path = "../../tests/support/dice.rs"]
mod dice;
#[path = "../../tests/support/engine.rs"]
mod engine;
#[path = "../../tests/support/facts.rs"]
mod facts;
#[path = "../../tests/support/replay_invariants.rs"]
mod replay_invariants;
#[path = "../../tests/support/signed.rs"]
mod signed;
#[path = "../../tests/support/vectors.rs"]
mod vectors;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    replay_invariants::check(dice::Dice::of(bytes));
});
