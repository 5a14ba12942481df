//! The rules of the specification: the engine against the oracle, the vectors and explanations.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::too_many_lines,
    reason = "a test prints what it measured, and tells its story in one piece"
)]

#[path = "../support/attempts.rs"]
mod attempts;
#[path = "../support/cli.rs"]
mod cli;
#[path = "../support/dice.rs"]
mod dice;
#[path = "../support/engine.rs"]
mod engine;
#[path = "../support/facts.rs"]
mod facts;
#[path = "../support/own_vectors.rs"]
mod own_vectors;
#[path = "../support/replay_invariants.rs"]
mod replay_invariants;
#[path = "../support/signed.rs"]
mod signed;
#[path = "../support/vectors.rs"]
mod vectors;

mod all_vectors;
mod attacks;
mod beside_the_oracle;
mod explain;
mod fuzz;
mod oracle_vectors;
mod properties;
mod refused;
mod specification;
