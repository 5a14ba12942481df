//! The `wats` command.

mod cli;

use tikv_jemallocator::Jemalloc;

/// Threads pass what they allocate on to others: a pool for each of them, as glibc keeps it, never shrinks.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> std::process::ExitCode {
    cli::run()
}
