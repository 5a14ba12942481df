//! The real program in a process of its own, to be killed.
#![allow(dead_code, reason = "each test takes what it needs")]

use super::http;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// How long a test waits before it fails.
const LONG: Duration = Duration::from_secs(120);

/// A running `wats node`.
pub(crate) struct Process {
    child: Child,
    words: Mutex<mpsc::Receiver<String>>,
    said: Vec<String>,
    pub address: SocketAddr,
    pub dir: PathBuf,
}

impl Process {
    /// Starts it on a directory, and waits until it is ready.
    pub(crate) fn start(dir: &Path, env: &[(&str, &Path)]) -> Process {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wats"));
        command.args(["node", "--listen", "127.0.0.1:0", "--log", "info", "--dir"]).arg(dir);
        command.envs(env.iter().copied()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("wats runs");
        let (heard, words) = mpsc::channel();
        let lines = BufReader::new(child.stderr.take().expect("its standard error"));
        std::thread::spawn(move || {
            // Read to the end, so that it never waits for a reader.
            lines.lines().map_while(Result::ok).for_each(|line| drop(heard.send(line)));
        });
        let mut said = Vec::new();
        let address = loop {
            let line = words.recv_timeout(LONG).unwrap_or_else(|_| panic!("it ended: {said:#?}"));
            let found = line.split("address=").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
            said.push(line);
            if let Some(address) = found {
                break address;
            }
        };
        let mut process = Process { child, words: Mutex::new(words), said, address, dir: dir.to_owned() };
        let began = Instant::now();
        while !http::try_call(address, "GET", "/readyz", &[], b"").is_ok_and(|a| a.status == 200) {
            let said = process.said();
            assert!(said.iter().all(|line| !line.contains("ERROR")), "{said:#?}");
            assert!(began.elapsed() < LONG, "it does not get ready: {said:#?}");
            std::thread::sleep(Duration::from_millis(2));
        }
        process
    }

    /// Starts it on a directory, and kills it that much later: while it opens its store, or reads it.
    pub(crate) fn kill_at_start(dir: &Path, after: Duration) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wats"));
        command.args(["node", "--listen", "127.0.0.1:0", "--log", "off", "--dir"]).arg(dir);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("wats runs");
        std::thread::sleep(after);
        child.kill().expect("killed");
        child.wait().expect("it ends");
    }

    /// What it has logged so far, line by line.
    pub(crate) fn said(&mut self) -> &[String] {
        let words = self.words.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.said.extend(words.try_iter());
        &self.said
    }

    /// `kill -9`, while others still hold it.
    pub(crate) fn signal_kill(&self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        rustix::process::kill_process(pid.expect("a process"), rustix::process::Signal::KILL)
            .expect("killed");
    }

    /// `kill -9`
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("it ends");
    }

    /// Asks it to stop, and waits until it has.
    pub(crate) fn stop(mut self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        rustix::process::kill_process(pid.expect("a process"), rustix::process::Signal::TERM).expect("told");
        let ended = self.child.wait().expect("it ends");
        assert!(ended.success(), "{ended}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
