//! `wats node`

use super::Outcome;
use super::home::{HomeArgs, sweep};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use wats_agent::idempotency::Outbox;
use wats_agent::mcp::{self, Profile};
use wats_config::Config;
use wats_config::home::{Home, HomeError};
use wats_files::private_directory;
use wats_model::clock::Clock;
use wats_node::{Agents, Node, Settings};
use wats_store::Sizes;

/// Run a node: take events in, keep them, and keep the views of them current
///
/// It listens on the loopback and on a socket in its directory, logs to standard error, and stops on
/// an interrupt or SIGTERM.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: HomeArgs,
    /// Where clients reach it, over `listen` in `[node]`
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// The file with the token that clients show to write, over `token_file`
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Threads of the dataflow, over `workers`
    #[arg(long, value_name = "N")]
    workers: Option<usize>,
    /// What is logged: error, warn, info, debug or trace, for all or by module
    #[arg(long, value_name = "FILTER", env = "WATS_LOG", default_value = "info")]
    log: String,
    /// Log JSON, one object a line
    #[arg(long, env = "WATS_LOG_JSON", value_parser = clap::builder::FalseyValueParser::new())]
    log_json: bool,
}

/// The longest path of a socket, in bytes.
const SOCKET: usize = 107;

pub(super) fn run(args: &Args) -> Outcome {
    log(&args.log, args.log_json)?;
    // What it makes is for its owner alone, the socket from its first moment on.
    rustix::process::umask(rustix::fs::Mode::from_bits_truncate(0o077));
    let home = args.home.home()?;
    if home.socket().as_os_str().len() > SOCKET {
        let what = "the name is too long for a socket to be in it; choose a shorter one with --dir";
        return Err(super::FileError::new(home.path(), what).into());
    }
    private_directory(home.path()).map_err(|e| super::FileError::new(home.path(), e))?;
    sweep(&home);
    let config = args.home.configured(&home)?;
    let token_file = args.token_file.as_ref().or(config.node.token_file.as_ref());
    let settings = Settings {
        store: home.store(),
        index: home.index(),
        listen: args.listen.unwrap_or(config.node.listen),
        socket: home.socket(),
        token: token_file.map(|file| home.token(file)).transpose()?,
        limits: config.limits.clone(),
        workers: args.workers.unwrap_or(config.node.workers),
        sizes: Sizes { cache: config.node.cache_bytes, writes: config.node.write_buffer_bytes },
        clock: Clock::Wall,
        agents: Some(agents(profiles(&home, &config)?)),
        config,
    };
    let node = Node::start(settings)?;
    let ended = node.wait();
    node.stop()?;
    ended?;
    Ok(ExitCode::SUCCESS)
}

/// What serves agents over HTTP.
fn agents(profiles: Vec<Profile>) -> Agents {
    Agents::new(move |node, listen, stop| mcp::routes(profiles.clone(), node, listen, stop))
}

/// The own key of each network that has one here.
fn profiles(home: &Home, config: &Config) -> Result<Vec<Profile>, HomeError> {
    let mut profiles = Vec::new();
    for network in config.networks.iter().flatten() {
        match home.profile(config, &network.id) {
            Ok(secret) => {
                let outbox = Outbox::new(home.outbox());
                profiles.push(Profile { network: network.clone(), secret, outbox });
            }
            // Agents over HTTP need a key; a node does not.
            Err(HomeError::NoProfile { .. }) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(profiles)
}

/// Logs go to standard error, and nowhere else.
pub(super) fn log(filter: &str, json: bool) -> Result<(), String> {
    use std::io::IsTerminal;
    let filter = tracing_subscriber::EnvFilter::try_new(filter)
        .map_err(|e| format!("--log {filter}: {e}; a level like info, or module=level"))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match json {
        true => builder.json().init(),
        false => {
            let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            builder.with_ansi(colour).with_target(false).init();
        }
    }
    Ok(())
}
