//! The copies of the specification, of its vectors and of compare.py in this repository are the shared ones.

use crate::vectors::here;
use std::path::{Path, PathBuf};

#[test]
#[ignore = "needs WATS_SHARED, the directory of the shared specification: .ci/run"]
fn the_copies_in_the_repository_are_the_shared_files() {
    let shared = std::env::var_os("WATS_SHARED")
        .expect("WATS_SHARED names the directory that holds `spec` and `vectors`");
    let shared = Path::new(&shared);
    for name in ["SPEC.md", "RATIONALE.md"] {
        same(&here("docs/spec").join(name), &shared.join("spec").join(name));
    }
    let files = files(&shared.join("vectors"));
    assert!(files.len() > 300, "{} files", files.len());
    for file in files {
        let name = file.strip_prefix(shared.join("vectors")).expect("a file within");
        same(&here("tests/vectors/spec").join(name), &file);
    }
}

fn same(ours: &Path, theirs: &Path) {
    let read = |path: &Path| std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert!(read(ours) == read(theirs), "{} and {} differ", ours.display(), theirs.display());
}

/// All files below a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => all.push(path),
        }
    }
    all
}
