//! Search over stores and indexes on the disk.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::too_many_lines,
    reason = "a test prints what it measured, and tells its story in one piece"
)]

mod engine;
mod index;
mod library;
mod pages;
mod ranking;
mod real;
mod words;
