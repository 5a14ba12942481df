//! How far a command that reads logs has come, on the standard error of a person.

use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Lines between two looks at the bar.
const LINES: u64 = 512;

/// How often the bar is drawn when nothing else moves it.
const DRAWN: Duration = Duration::from_millis(200);

/// A bar over the bytes of all files. It draws nothing where standard error is not a terminal.
pub(super) struct Progress {
    bar: ProgressBar,
    /// Bytes of the files that are done.
    done: Cell<u64>,
    lines: Cell<u64>,
    /// What is done with each line: `replayed`.
    verb: &'static str,
}

impl Progress {
    pub(super) fn new(logs: &[PathBuf], verb: &'static str) -> Progress {
        let bar = match size(logs) {
            Some(bytes) => {
                ProgressBar::new(bytes).with_style(style("{bar:30} {percent:>3} % read, {msg}, {elapsed}"))
            }
            // Of standard input nobody knows the end.
            None => ProgressBar::no_length().with_style(style("{spinner} {msg}, {elapsed}")),
        };
        bar.set_message(format!("0 records {verb}"));
        bar.enable_steady_tick(DRAWN);
        Progress { bar, done: Cell::new(0), lines: Cell::new(0), verb }
    }

    /// A line is done.
    pub(super) fn line(&self, taken: &AtomicU64) {
        self.lines.set(self.lines.get() + 1);
        if self.lines.get().is_multiple_of(LINES) && !self.bar.is_hidden() {
            self.bar.set_position(self.done.get() + taken.load(Ordering::Relaxed));
            self.bar.set_message(format!("{} records {}", HumanCount(self.lines.get()), self.verb));
        }
    }

    /// A file is done.
    pub(super) fn file(&self, taken: &AtomicU64) {
        self.done.set(self.done.get() + taken.load(Ordering::Relaxed));
    }

    /// Nothing is left to do; the bar goes.
    pub(super) fn end(self) {
        self.bar.finish_and_clear();
    }
}

/// The bytes of all files, when all are files.
fn size(logs: &[PathBuf]) -> Option<u64> {
    let of = |path: &PathBuf| match path == Path::new("-") {
        true => None,
        // A missing file is told of when it is opened.
        false => Some(std::fs::metadata(path).map_or(0, |m| m.len())),
    };
    logs.iter().map(of).sum()
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
