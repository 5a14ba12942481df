//! `wats runner`

use super::Outcome;
use super::home::HomeArgs;
use super::mcp::agent;
use std::io::Write;
use std::process::ExitCode;
use wats_agent::runner::Runner;
use wats_model::clock::Clock;

/// Run a command of yours when there is something for your agent to do, within a budget
///
/// It gets a JSON task on its standard input: asks that name your key or what you can do, and, with
/// `agent.verify`, posts that nobody checked. See `[agent]` in `wats config --print`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: HomeArgs,
    /// In this network [default: the one that is configured]
    #[arg(long, value_name = "NAME")]
    network: Option<String>,
    /// Do what there is now, print what was done as JSON, and end
    #[arg(long)]
    once: bool,
    /// What is logged: error, warn, info, debug or trace, for all or by module
    #[arg(long, value_name = "FILTER", env = "WATS_LOG", default_value = "info")]
    log: String,
}

pub(super) fn run(args: &Args) -> Outcome {
    super::node::log(&args.log, false)?;
    let home = args.home.home()?;
    let config = args.home.configured(&home)?;
    let agent = agent(&args.home, args.network.as_deref())?;
    let stop = tokio_util::sync::CancellationToken::new();
    let directory = home.runner().join(agent.network());
    let mut runner = Runner::new(agent, config.agent, directory, Clock::Wall, stop.clone())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        tokio::spawn(async move {
            use tokio::signal::unix::{SignalKind, signal};
            let (Ok(mut term), Ok(mut int)) =
                (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
            else {
                return;
            };
            tokio::select! {
                _ = term.recv() => {}
                _ = int.recv() => {}
            }
            stop.cancel();
        });
        match args.once {
            true => {
                let beat = runner.beat().await?;
                writeln!(std::io::stdout(), "{}", serde_json::to_string(&beat)?)?;
            }
            false => runner.run().await?,
        }
        Ok(ExitCode::SUCCESS)
    })
}
