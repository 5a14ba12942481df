//! Facts in, views out: the specification of wats as one timely/differential dataflow.

pub mod facts;
pub mod fixed;
pub mod ids;
pub mod policy;
pub mod views;
