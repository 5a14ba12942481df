//! What a person reads on a terminal, a screen at a time where it is longer than one.

use anstream::{AutoStream, ColorChoice};
use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

/// What shows long output where `PAGER` does not say.
const PAGER: &str = "less";
/// How `less` is told, where `LESS` does not say, to end after one screen, show colours and leave the output.
const LESS: &str = "FRX";
/// What a shell ends with when it does not find a program.
const NOT_FOUND: i32 = 127;

/// How output is shown to a person
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct Paging {
    /// Do not show long output a screen at a time, through `PAGER`
    #[arg(long)]
    no_pager: bool,
}

impl Paging {
    /// Never a screen at a time.
    pub(super) const NEVER: Paging = Paging { no_pager: true };

    /// Shows a text with styles; without them where nobody wants any (`NO_COLOR`, a pipe).
    pub(super) fn show(self, text: &str) -> io::Result<()> {
        if !self.no_pager
            && is_long(text)
            && let Some(pager) = pager()
            && page(&pager, text)?
        {
            return Ok(());
        }
        let mut out = anstream::stdout();
        out.write_all(text.as_bytes())?;
        out.flush()
    }
}

/// The pager that is wanted; none where somebody wants none.
fn pager() -> Option<String> {
    let pager = std::env::var("PAGER").unwrap_or_else(|_| PAGER.to_owned());
    let is_one = !matches!(pager.trim(), "" | "cat");
    is_one.then_some(pager)
}

/// Whether a text has more rows than the terminal; never where there is no terminal.
fn is_long(text: &str) -> bool {
    if !io::stdout().is_terminal() {
        return false;
    }
    let Some((terminal_size::Width(columns), terminal_size::Height(rows))) = terminal_size::terminal_size()
    else {
        return false;
    };
    let plain = anstream::adapter::strip_str(text).to_string();
    rows_of(&plain, usize::from(columns)) >= usize::from(rows)
}

fn rows_of(plain: &str, columns: usize) -> usize {
    plain.lines().map(|line| line.chars().count().div_ceil(columns.max(1)).max(1)).sum()
}

/// Shows a text by a pager; whether there is such a program.
fn page(pager: &str, text: &str) -> io::Result<bool> {
    // An interrupt is the pager's while it runs: ended by it we would leave the terminal to both.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let interrupt = tokio::signal::unix::SignalKind::interrupt();
    let _heard = runtime.block_on(async { tokio::signal::unix::signal(interrupt) })?;
    let mut command = Command::new("sh");
    command.args(["-c", pager]).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", LESS);
    }
    let mut child = command.spawn()?;
    if let Some(to) = child.stdin.take() {
        let colours = AutoStream::choice(&io::stdout()) != ColorChoice::Never;
        let choice = if colours { ColorChoice::Always } else { ColorChoice::Never };
        let written = AutoStream::new(Box::new(to) as Box<dyn Write>, choice).write_all(text.as_bytes());
        // A person who has seen enough closes it.
        written.or_else(|e| if e.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(e) })?;
    }
    Ok(child.wait()?.code() != Some(NOT_FOUND))
}

#[cfg(test)]
mod tests {
    use super::rows_of;

    #[test]
    fn rows_are_what_a_terminal_makes_of_lines() {
        assert_eq!(rows_of("", 80), 0);
        assert_eq!(rows_of("one\n\nthree\n", 80), 3);
        assert_eq!(rows_of(&"x".repeat(161), 80), 3);
        assert_eq!(rows_of("a b", 0), 3);
    }
}
