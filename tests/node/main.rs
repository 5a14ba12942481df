//! A node, in the process of the test: real requests over real connections, on a clock that is set.

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
