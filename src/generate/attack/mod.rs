//! Adversaries.
use super::Plan;
use super::record::Line;

/// An adversary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attack {
    /// A
    A,
}

impl Attack {
    /// All.
    pub const ALL: [Attack; 0] = [];
    /// name
    pub fn name(self) -> &'static str {
        ""
    }
    /// unit
    pub fn unit(self) -> &'static str {
        ""
    }
    /// about
    pub fn about(self) -> &'static str {
        ""
    }
    /// size
    pub fn size(self) -> u64 {
        0
    }
}

impl std::str::FromStr for Attack {
    type Err = String;
    fn from_str(_: &str) -> Result<Attack, String> {
        Err("none yet".into())
    }
}

pub(super) struct Siege;

impl Siege {
    pub fn new(_: &Plan, _: Attack) -> Siege {
        Siege
    }
}

impl Iterator for Siege {
    type Item = Line;
    fn next(&mut self) -> Option<Line> {
        None
    }
}
