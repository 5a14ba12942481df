//! What tasks took of the budget, in a file that survives restarts.
//!
//! A task is written down with all the time that it may take before it begins, and with what it took when it
//! is over: one that died with the machine has cost its limit.

use super::RunnerError;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use wats_files::private_directory;
use wats_model::fixed::{Fixed, ONE};
use wats_model::ids::Millis;

/// The longest ledger that is read, in bytes: a line a task, and a day of them.
const MAX_LEDGER: u64 = 16 << 20;

/// After so many lines the file is written anew, with what counts.
const ANEW: usize = 512;

/// What a task is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// News that concerns the agent.
    News,
    /// Checking what others wrote.
    Verify,
}

/// How much may be spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// By all tasks of a sliding day.
    pub all: Millis,
    /// The share of it that verification may take.
    pub verify: Fixed,
}

/// A line of the file: the last of a number counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    task: u64,
    at: Millis,
    purpose: Purpose,
    took: Millis,
    /// What it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    about: Option<String>,
}

/// The tasks of the last day.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    /// The lock, for as long as this lives.
    _held: File,
    file: File,
    lines: BTreeMap<u64, Line>,
    /// Lines since the file was written anew.
    appended: usize,
}

impl Ledger {
    /// Opens the ledger of a directory, for this process alone. Lines that cannot be read are as if each had
    /// been a whole day ago: what a crash cut short is the end of the last one.
    ///
    /// # Errors
    /// When another runner has it open, or it cannot be read or written.
    pub fn open(directory: &Path, now: Millis) -> Result<Ledger, RunnerError> {
        let path = directory.join("ledger.jsonl");
        let failed = |cause| RunnerError::File { file: path.clone(), cause };
        private_directory(directory).map_err(failed)?;
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true).mode(0o600);
        let file = options.open(&path).map_err(failed)?;
        // Apart from the ledger, which is replaced as a whole.
        let held = options.open(directory.join("lock")).map_err(failed)?;
        match held.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Err(RunnerError::Another(directory.to_owned())),
            Err(fs::TryLockError::Error(e)) => return Err(failed(e)),
        }
        let mut text = Vec::new();
        File::open(&path).and_then(|file| file.take(MAX_LEDGER).read_to_end(&mut text)).map_err(failed)?;
        let read = text.split(|&b| b == b'\n').filter_map(|line| serde_json::from_slice::<Line>(line).ok());
        let lines = read.filter(|line| line.task < u64::MAX).map(|line| (line.task, line)).collect();
        let mut ledger = Ledger { path, _held: held, file, lines, appended: 0 };
        ledger.forget(now);
        ledger.rewrite()?;
        Ok(ledger)
    }

    /// Begins a task that may take so long, where the budget has room for all of it.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub fn begin(
        &mut self,
        purpose: Purpose,
        about: Option<String>,
        limit: Millis,
        budget: Budget,
        now: Millis,
    ) -> Result<Option<u64>, RunnerError> {
        self.forget(now);
        let spent = |of: fn(&Line) -> bool| -> u64 {
            self.lines.values().filter(|line| of(line)).map(|line| line.took.0).sum()
        };
        let share = u128::from(budget.all.0) * u128::from(budget.verify.0.unsigned_abs());
        let share = u64::try_from(share / u128::from(ONE.0.unsigned_abs())).unwrap_or(u64::MAX);
        let fits = spent(|_| true).saturating_add(limit.0) <= budget.all.0;
        let share_fits = spent(|line| line.purpose == Purpose::Verify).saturating_add(limit.0) <= share;
        if !fits || (purpose == Purpose::Verify && !share_fits) {
            return Ok(None);
        }
        let task = self.lines.last_key_value().map_or(0, |(last, _)| last + 1);
        self.put(Line { task, at: now, purpose, took: limit, about })?;
        Ok(Some(task))
    }

    /// Ends a task, with what it took.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub fn end(&mut self, task: u64, took: Millis) -> Result<(), RunnerError> {
        match self.lines.get(&task).cloned() {
            Some(line) => self.put(Line { took, ..line }),
            // It began more than a day ago.
            None => Ok(()),
        }
    }

    /// What tasks of the last day were about.
    pub fn about(&self) -> BTreeSet<&str> {
        self.lines.values().filter_map(|line| line.about.as_deref()).collect()
    }

    fn put(&mut self, line: Line) -> Result<(), RunnerError> {
        let failed = |cause| RunnerError::File { file: self.path.clone(), cause };
        let mut text = serde_json::to_vec(&line).map_err(|e| failed(e.into()))?;
        text.push(b'\n');
        self.file.write_all(&text).and_then(|()| self.file.sync_data()).map_err(failed)?;
        self.lines.insert(line.task, line);
        self.appended += 1;
        if self.appended >= ANEW {
            self.rewrite()?;
        }
        Ok(())
    }

    /// How many tasks of the last day were about something.
    pub fn times(&self, about: &str) -> usize {
        self.lines.values().filter(|line| line.about.as_deref() == Some(about)).count()
    }

    /// What began a day ago counts no more; the last number stays, so that none is given twice.
    fn forget(&mut self, now: Millis) {
        let last = self.lines.last_key_value().map(|(last, _)| *last);
        self.lines
            .retain(|task, line| now.0.saturating_sub(line.at.0) < Millis::DAY.0 || Some(*task) == last);
        if let Some((_, line)) = self.lines.iter_mut().next_back()
            && now.0.saturating_sub(line.at.0) >= Millis::DAY.0
        {
            (line.took, line.about) = (Millis(0), None);
        }
    }

    /// The file, with what counts and no more.
    fn rewrite(&mut self) -> Result<(), RunnerError> {
        let failed = |cause| RunnerError::File { file: self.path.clone(), cause };
        let mut text = Vec::new();
        for line in self.lines.values() {
            serde_json::to_writer(&mut text, line).map_err(|e| failed(e.into()))?;
            text.push(b'\n');
        }
        let beside = self.path.with_extension("new");
        let mut options = OpenOptions::new();
        options.append(true).create_new(true).mode(0o600);
        // Left by one who died.
        let _ = fs::remove_file(&beside);
        let mut file = options.open(&beside).map_err(failed)?;
        file.write_all(&text).and_then(|()| file.sync_all()).map_err(failed)?;
        let directory = self.path.parent().unwrap_or(Path::new("."));
        let renamed = fs::rename(&beside, &self.path).and_then(|()| File::open(directory)?.sync_all());
        renamed.map_err(failed)?;
        (self.file, self.appended) = (file, 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(name: &str) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("wats-ledger-{name}-{}", std::process::id()));
        // Left over from a run that died, or not there.
        let _ = fs::remove_dir_all(&directory);
        directory
    }

    const BUDGET: Budget = Budget { all: Millis(1_000), verify: Fixed(200_000_000) };

    fn begin(ledger: &mut Ledger, purpose: Purpose, limit: u64, now: u64) -> Option<u64> {
        ledger.begin(purpose, None, Millis(limit), BUDGET, Millis(now)).unwrap()
    }

    #[test]
    fn verification_takes_no_more_than_its_share_before_it_starts() {
        let directory = directory("share");
        let mut ledger = Ledger::open(&directory, Millis(0)).unwrap();
        assert_eq!(begin(&mut ledger, Purpose::Verify, 201, 0), None);
        assert_eq!(begin(&mut ledger, Purpose::Verify, 150, 0), Some(0));
        assert_eq!(begin(&mut ledger, Purpose::Verify, 100, 0), None, "as long as the first may take all");
        ledger.end(0, Millis(100)).unwrap();
        assert_eq!(begin(&mut ledger, Purpose::Verify, 100, 1), Some(1));
        assert_eq!(begin(&mut ledger, Purpose::News, 801, 2), None);
        assert_eq!(begin(&mut ledger, Purpose::News, 800, 2), Some(2));
        assert_eq!(begin(&mut ledger, Purpose::News, 1, 2), None);
        assert_eq!(begin(&mut ledger, Purpose::Verify, 100, Millis::DAY.0), Some(3), "a day after the first");
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn what_is_no_ledger_is_passed_over() {
        let directory = directory("odd");
        private_directory(&directory).unwrap();
        let last = format!(r#"{{"task":{},"at":0,"purpose":"news","took":9}}"#, u64::MAX);
        let text = [&b"\xff\xfe\n{}\n"[..], last.as_bytes(), b"\n"].concat();
        fs::write(directory.join("ledger.jsonl"), text).unwrap();
        let mut ledger = Ledger::open(&directory, Millis(0)).unwrap();
        assert_eq!(begin(&mut ledger, Purpose::News, 1_000, 0), Some(0));
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn many_tasks_leave_a_short_file() {
        let directory = directory("many");
        let mut ledger = Ledger::open(&directory, Millis(0)).unwrap();
        for n in 0..2 * ANEW as u64 {
            let now = Millis(n * Millis::DAY.0);
            let task = ledger.begin(Purpose::News, None, Millis(1), BUDGET, now).unwrap();
            assert_eq!(task, Some(n));
        }
        let lines = fs::read(directory.join("ledger.jsonl")).unwrap();
        assert!(lines.iter().filter(|&&b| b == b'\n').count() <= ANEW + 1);
        drop(ledger);
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn a_restart_forgets_nothing_and_a_crash_costs_the_limit() {
        let directory = directory("restart");
        let mut ledger = Ledger::open(&directory, Millis(0)).unwrap();
        assert!(matches!(Ledger::open(&directory, Millis(0)), Err(RunnerError::Another(_))));
        begin(&mut ledger, Purpose::News, 600, 0);
        ledger.end(0, Millis(10)).unwrap();
        begin(&mut ledger, Purpose::News, 600, 1);
        drop(ledger);
        let file = directory.join("ledger.jsonl");
        let mut text = fs::read(&file).unwrap();
        text.extend_from_slice(b"{\"task\":2,\"at");
        fs::write(&file, text).unwrap();
        let mut ledger = Ledger::open(&directory, Millis(2)).unwrap();
        assert_eq!(begin(&mut ledger, Purpose::News, 391, 3), None);
        assert_eq!(begin(&mut ledger, Purpose::News, 390, 3), Some(2));
        drop(ledger);
        let mut later = Ledger::open(&directory, Millis(2 * Millis::DAY.0)).unwrap();
        assert_eq!(begin(&mut later, Purpose::News, 1_000, 2 * Millis::DAY.0), Some(3));
        fs::remove_dir_all(&directory).unwrap();
    }
}
