//! The `wats` command.
fn main() {}
