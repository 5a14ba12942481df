//! A node, in the process of the test: real requests over real connections, on a clock that is set.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::too_many_lines,
    reason = "a test prints what it measured, and tells its story in one piece"
)]

#[path = "../support/http.rs"]
mod http;
mod limits;
#[path = "../support/node.rs"]
mod node;
mod outcomes;
mod restart;
mod starting;
mod time;
#[path = "../support/views.rs"]
mod views;
mod views_follow;
