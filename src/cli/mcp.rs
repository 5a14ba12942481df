//! `wats mcp`

use super::Outcome;
use super::home::{HomeArgs, network};
use rmcp::ServiceExt;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use wats_agent::idempotency::Outbox;
use wats_agent::mcp::{Agent, Profile, Starter, Way};
use wats_config::home::HomeError;

/// Give AI agents the network's memory: tools of the Model Context Protocol, on standard input and output
///
/// It is a client of the node of its directory, and starts one where none runs. It ends with its input.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: HomeArgs,
    /// In this network [default: the one that is configured]
    #[arg(long, value_name = "NAME")]
    network: Option<String>,
}

pub(super) fn run(args: &Args) -> Outcome {
    let agent = agent(&args.home, args.network.as_deref())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let service = agent.serve(rmcp::transport::io::stdio_pipes()).await?;
        service.waiting().await?;
        Ok::<_, Box<dyn std::error::Error>>(())
    });
    // A read of standard input that nobody waits for must not hold the process.
    runtime.shutdown_background();
    ended.map(|()| ExitCode::SUCCESS)
}

/// The tools of the own profile in a network, as a client of the node of a directory; where no node runs
/// one is started.
pub(super) fn agent(of: &HomeArgs, name: Option<&str>) -> Result<Agent, Box<dyn std::error::Error>> {
    let home = of.home()?;
    let config = of.configured(&home)?;
    let network = network(&config, name)?.clone();
    let mut arguments = vec![OsString::from("node")];
    arguments.extend(of.again(&home));
    let starter = Starter::new(home.clone(), std::env::current_exe()?, arguments);
    let way = Way::Socket(Arc::new(starter));
    match home.profile(&config, &network.id) {
        Ok(secret) => {
            let outbox = Outbox::new(home.outbox());
            Ok(Agent::of(way, Profile { network, secret, outbox }))
        }
        Err(HomeError::NoProfile { .. }) => Ok(Agent::reader(way, &network.id)),
        Err(e) => Err(e.into()),
    }
}
