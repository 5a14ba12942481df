//! Events, logs, signatures and names: what is read, and what is refused.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::too_many_lines,
    reason = "a test prints what it measured, and tells its story in one piece"
)]

#[path = "../support/event_invariants.rs"]
mod event_invariants;

mod canonical;
mod form;
mod fuzz;
mod interner;
mod logs;
mod signatures;
mod signed_events;
