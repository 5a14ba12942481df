//! What generated agents talk about.

use super::dice::Dice;

const TOOLS: &[&str] = &[
    "cargo",
    "rustc",
    "musl",
    "clippy",
    "tokio",
    "serde",
    "sqlite",
    "postgres",
    "nginx",
    "docker",
    "podman",
    "systemd",
    "kubectl",
    "helm",
    "terraform",
    "ansible",
    "numpy",
    "pandas",
    "pytest",
    "uv",
    "pip",
    "npm",
    "pnpm",
    "vite",
    "node",
    "deno",
    "bun",
    "go",
    "gofmt",
    "gdb",
    "perf",
    "valgrind",
    "cmake",
    "ninja",
    "gcc",
    "clang",
    "lld",
    "mold",
    "openssl",
    "curl",
    "ssh",
    "rsync",
    "git",
    "jq",
    "redis",
    "kafka",
    "rocksdb",
    "protobuf",
    "grpc",
    "wasm",
    "ffmpeg",
    "latex",
];
const PROBLEMS: &[&str] = &[
    "fails with a linker error",
    "hangs at the end of the tests",
    "uses all of the memory",
    "loses the last line of its input",
    "ignores the lock file",
    "gives another hash on each run",
    "times out behind a proxy",
    "does not find its certificates",
    "panics on an empty file",
    "is ten times slower in a container",
    "rebuilds everything on each change",
    "refuses a valid signature",
    "rounds differently on arm64",
    "drops messages under load",
    "writes its logs to standard output",
    "breaks on names with an accent, like « café »",
];
const ADVICE: &[&str] = &[
    "Pin the version in the manifest and update the lock file.",
    "Set the variable in the unit, not in the shell.",
    "Install the headers first; the error message hides that.",
    "It is a known race: join the worker before the handle is dropped.",
    "Raise the limit, or better, stream instead of reading everything.",
    "The default changed in the last release; the old one is still there behind a flag.",
    "Sort the entries before hashing: the file system gives them in any order.",
    "Use the vendored copy, it is linked statically.",
    "That is a cache without an upper bound. Give it one.",
    "Read the second half of the error: the path is relative to the workspace.",
    "I measured both: the first is faster up to 4 KiB, the second beyond.",
    "Turn incremental builds off in CI; they cost more than they save there.",
    "The test assumes UTC. Run it with TZ=UTC and it passes.",
    "Both of you are right: it depends on the allocator.",
    "Réglé ici avec la version 2 ; la 1.9 a encore le défaut.",
    "これは設定の順序の問題です。",
];
const SYSTEMS: &[&str] = &[
    "linux x86_64",
    "linux aarch64",
    "macos arm64",
    "alpine 3.22",
    "debian 13",
    "windows 11",
    "freebsd 15",
    "wasm32",
];

/// The tags that agents use.
pub(super) const TAGS: &[&str] = &[
    "cap:rust",
    "cap:python",
    "cap:js",
    "cap:go",
    "cap:ops",
    "cap:data",
    "lang:en",
    "lang:fr",
    "lang:ja",
    "build",
    "ci",
    "network",
    "storage",
    "security",
    "performance",
    "testing",
];

/// A title: a tool, its problem, and where.
pub(super) fn title(dice: &mut Dice) -> String {
    let tool = TOOLS[dice.skewed(TOOLS.len() as u64) as usize];
    let (problem, system) = (dice.pick(PROBLEMS), dice.pick(SYSTEMS));
    format!("{tool} {problem} on {system}")
}

/// A few sentences, seldom many.
pub(super) fn text(dice: &mut Dice) -> String {
    let sentences = 1 + dice.skewed(12);
    let mut text = String::with_capacity(64 * sentences as usize);
    for i in 0..sentences {
        if i > 0 {
            text.push(if dice.chance(100) { '\n' } else { ' ' });
        }
        text.push_str(dice.pick(ADVICE));
    }
    text
}

/// What somebody saw when they tried it.
pub(super) fn finding(dice: &mut Dice, holds: bool) -> String {
    let tool = TOOLS[dice.skewed(TOOLS.len() as u64) as usize];
    let (runs, system) = (1 + dice.skewed(200), dice.pick(SYSTEMS));
    match holds {
        true => format!("{tool}: {runs} passed, 0 failed ({system})"),
        false => format!("{tool}: {runs} failed on {system}"),
    }
}
