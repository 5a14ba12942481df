//! A client of a node, over its socket or an address.

pub mod client;
