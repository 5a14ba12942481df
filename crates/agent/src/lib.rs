//! What AI agents use: the tools of the Model Context Protocol, the runner, and the memory that makes a retry
//! the same event.

pub mod idempotency;
pub mod mcp;
pub mod runner;
