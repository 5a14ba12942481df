//! Records to views: names are interned, the dataflow runs on threads, its changes are added up and explained.

pub mod cluster;
pub mod collation;
pub mod engine;
pub mod explain;
pub mod interner;
pub mod labels;
pub mod replay;
pub mod summary;
pub mod view_set;
