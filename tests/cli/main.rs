//! The program: what each command prints and does.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::too_many_lines,
    reason = "a test prints what it measured, and tells its story in one piece"
)]

#[path = "../support/cli.rs"]
mod cli;
#[path = "../support/vectors.rs"]
mod vectors;

mod bad_input;
mod changes;
mod cluster;
mod config;
mod demo;
mod events;
mod explain_words;
mod generate;
mod node;
mod read;
