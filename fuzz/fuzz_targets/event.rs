//! The event reader, against the invariants of `tests/support/event_invariants.rs`.
#![no_main]

#[path = "../../tests/support/event_invariants.rs"]
mod event_invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| event_invariants::check(bytes));
