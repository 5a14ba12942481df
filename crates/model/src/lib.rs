//! The types that engine and oracle share: names as integers, fixed point, facts, views, constants, and the clock.
//!
//! Nothing here decides anything; the rules are in `wats-dataflows`, and a second time in `wats-oracle`.

pub mod clock;
pub mod facts;
pub mod fixed;
pub mod ids;
pub mod policy;
pub mod views;
