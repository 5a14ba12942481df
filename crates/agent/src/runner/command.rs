//! Runs the operator's command: a task in, a result out, within a time limit.

use serde_json::Value;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// The longest result, in bytes.
pub const MAX_RESULT: u64 = 4 << 20;
/// How often it is looked whether it ended.
const LOOK: Duration = Duration::from_millis(10);

/// How long after the end the rest of its output may take.
const REST: Duration = Duration::from_secs(5);

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// It cannot be started.
    #[error("{command} cannot be started: {cause}")]
    Start {
        /// The program.
        command: String,
        /// Why.
        cause: io::Error,
    },
    /// It took too long, and was ended.
    #[error("it took longer than its time limit, and was ended")]
    TooLong,
    /// The runner stops.
    #[error("the runner stops")]
    Stopped,
    /// It failed.
    #[error("it ended with {0}")]
    Failed(String),
    /// What it wrote is no result.
    #[error("its standard output is no result: {0}")]
    NoResult(String),
}

/// Runs a command with a task on its standard input; the JSON document on its standard output. Its
/// standard error is this process's. It runs in a group of its own, which is ended as a whole.
///
/// # Errors
/// When it cannot be started, fails, takes too long, or gives no JSON document; or `stop` says so.
pub fn run(
    command: &[String],
    task: &Value,
    limit: Duration,
    stop: &dyn Fn() -> bool,
) -> Result<Value, CommandError> {
    let (program, arguments) = command.split_first().ok_or_else(|| CommandError::Start {
        command: "no command".to_owned(),
        cause: io::Error::other("set `command` in `[agent]`"),
    })?;
    let failed = |cause| CommandError::Start { command: program.clone(), cause };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
    let mut child = command.spawn().map_err(failed)?;
    let (mut input, output) = (child.stdin.take(), child.stdout.take());
    let text = task.to_string();
    // One that reads nothing, or writes before it has read, must not hold up the other end.
    // Whether it reads all of its task is its own business, so nobody waits for this.
    thread::spawn(move || drop(input.as_mut().map(|input| input.write_all(text.as_bytes()))));
    let (came, coming) = mpsc::channel();
    thread::spawn(move || {
        let mut read = Vec::new();
        let all = output.map(|output| output.take(MAX_RESULT + 1).read_to_end(&mut read)).transpose();
        // Nobody waits for what comes after the end.
        let _ = came.send(all.map(|_| read));
    });
    let until = Instant::now() + limit;
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Ok(status),
            Ok(None) if stop() => break Err(CommandError::Stopped),
            Ok(None) if Instant::now() >= until => break Err(CommandError::TooLong),
            Ok(None) => thread::sleep(LOOK),
            Err(cause) => break Err(failed(cause)),
        }
    };
    // What it left behind ends with it, or a pipe that a grandchild holds would never end.
    end(&mut child);
    let status = ended?;
    let no_result = |what: String| CommandError::NoResult(what);
    let read = coming.recv_timeout(REST).map_err(|_| no_result("something still holds it open".into()))?;
    // One that writes more than is read may fail of that.
    if read.as_ref().is_ok_and(|read| read.len() as u64 > MAX_RESULT) {
        return Err(no_result(format!("it is longer than {MAX_RESULT} bytes")));
    }
    if !status.success() {
        return Err(CommandError::Failed(status.to_string()));
    }
    let read = read.map_err(|e| no_result(e.to_string()))?;
    serde_json::from_slice(&read).map_err(|e| no_result(e.to_string()))
}

/// Ends a process and all of its group.
fn end(child: &mut Child) {
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        // It may have ended already.
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shell(script: &str, limit: u64) -> Result<Value, CommandError> {
        let command = ["sh", "-c", script].map(str::to_owned);
        run(&command, &json!({ "task": "x" }), Duration::from_millis(limit), &|| false)
    }

    #[test]
    fn a_task_goes_in_and_a_result_comes_out() {
        assert_eq!(shell("cat", 10_000).unwrap(), json!({ "task": "x" }));
        assert_eq!(shell("echo '{\"outcome\": \"unsure\"}'", 10_000).unwrap()["outcome"], "unsure");
    }

    #[test]
    fn what_goes_wrong_is_told_apart() {
        assert!(matches!(shell("exit 3", 10_000), Err(CommandError::Failed(_))));
        assert!(matches!(shell("echo no", 10_000), Err(CommandError::NoResult(_))));
        assert!(matches!(shell("head -c 5000000 /dev/zero", 20_000), Err(CommandError::NoResult(_))));
        let none = run(&["/no/such/program".to_owned()], &json!({}), Duration::from_secs(1), &|| false);
        assert!(matches!(none, Err(CommandError::Start { .. })));
        let stopped = run(&["sleep".into(), "60".into()], &json!({}), Duration::from_secs(60), &|| true);
        assert!(matches!(stopped, Err(CommandError::Stopped)));
    }

    #[test]
    fn one_that_takes_too_long_is_ended_with_all_that_it_started() {
        // What it left running holds its output open: this would not come back before that ends.
        let script = "sleep 600 & sleep 600 & echo started; wait";
        assert!(matches!(shell(script, 200), Err(CommandError::TooLong)));
    }
}
