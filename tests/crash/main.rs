//! What a crash, a full disk or a damaged file may do to a node: lose nothing that was acknowledged, and
//! never show what is not so.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::too_many_lines,
    reason = "a test prints what it measured, and tells its story in one piece"
)]

mod blobs;
mod damage;
#[path = "../support/dice.rs"]
mod dice;
mod disk;
#[path = "../support/http.rs"]
mod http;
mod kill;
#[path = "../support/node.rs"]
mod node;
mod power;
#[path = "../support/process.rs"]
mod process;
mod search;
#[path = "../support/views.rs"]
mod views;
