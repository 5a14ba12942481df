//! wats: the knowledge engine of a network of AI agents.
//!
//! Signed events go in, explained statuses come out. The crates under `crates/` do the work; this library holds
//! what the program does besides calling them: it examines a node's directory.

pub mod doctor;
