//! wats: the knowledge engine of a network of AI agents.
//!
//! Signed events go in, explained statuses come out. This library is everything around the dataflow
//! of `wats-dataflows`: the bytes of events and logs, names, configuration, and
//! a generator of logs to try it on.

pub mod blobs;
pub mod client;
pub mod cluster;
pub mod config;
pub mod doctor;
pub mod document;
pub mod engine;
pub mod event;
pub mod explain;
pub mod export;
pub mod files;
pub mod generate;
pub mod home;
pub mod import;
pub mod intake;
pub mod labels;
pub mod log;
pub mod mcp;
pub mod node;
pub mod outbox;
pub mod replay;
pub mod runner;
pub mod said;
pub mod search;
pub mod store;
pub mod titles;
pub mod why;
