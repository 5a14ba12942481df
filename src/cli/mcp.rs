//! `wats mcp`

use super::Outcome;
use super::home::{HomeArgs, network};
use rmcp::ServiceExt;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use wats::home::HomeError;
use wats::mcp::{Agent, Profile, Starter, Way};
use wats::outbox::Outbox;

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
    let home = args.home.home()?;
    let config = args.home.configured(&home)?;
    let network = network(&config, args.network.as_deref())?.clone();
    let mut arguments = vec![OsString::from("node")];
    arguments.extend(args.home.again(&home));
    let starter = Starter::new(home.clone(), std::env::current_exe()?, arguments);
    let way = Way::Socket(Arc::new(starter));
    let agent = match home.profile(&config, &network.id) {
        Ok(secret) => Agent::of(way, Profile { network, secret, outbox: Outbox::new(home.outbox()) }),
        Err(HomeError::NoProfile { .. }) => Agent::reader(way, &network.id),
        Err(e) => return Err(e.into()),
    };
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
