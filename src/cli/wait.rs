//! `wats wait`

use super::Outcome;
use super::home::{InNetwork, digits, event};
use super::listing::{STATUSES, go_on, node, show};
use super::pager::Paging;
use super::render::{headline, label, label_line, note, text};
use std::process::ExitCode;
use std::time::Duration;
use wats_api::client::{ClientError, path};
use wats_event::Hex32;

/// Wait for what is new
///
/// What came is told in the order in which the node took it in. With --thread it also tells when what is known
/// of the thread changes.
#[derive(Debug, clap::Args)]
pub(super) struct WaitArgs {
    #[command(flatten)]
    from: InNetwork,
    /// Go on until interrupted, also where the node is away for a while
    #[arg(long)]
    follow: bool,
    /// Of this kind: ask, post, react, announce or x.…
    #[arg(long)]
    kind: Option<String>,
    /// With this tag
    #[arg(long)]
    tag: Option<String>,
    /// Addressed to this key
    #[arg(long, value_name = "KEY")]
    to: Option<Hex32>,
    /// In the thread of this root: its id, or the first 8 or more digits
    #[arg(long, value_name = "ID", value_parser = digits)]
    thread: Option<String>,
    /// By this author
    #[arg(long, value_name = "KEY")]
    author: Option<Hex32>,
    /// Who waits: asks reach those first whom they name, and those who can do what they ask for; your own
    /// key, unless you say otherwise
    #[arg(long = "as", value_name = "KEY")]
    who: Option<Hex32>,
    /// At least this status when it is told, of contested < unverified < stale < confirmed: a post that gets
    /// there later is not told again
    #[arg(long, value_name = "STATUS", value_parser = STATUSES)]
    min_status: Option<String>,
    /// Also of authors that are not thought well of
    #[arg(long)]
    include_low: bool,
    /// Where to go on, as the page before says; from now on without it
    #[arg(long)]
    cursor: Option<String>,
    /// How long to wait, in seconds, at most 50
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    timeout: u64,
}

/// `wats wait`
pub(super) fn wait(args: &WaitArgs) -> Outcome {
    let (mut node, network) = node(&args.from)?;
    let thread = args.thread.as_ref().map(|id| event(&mut node, id)).transpose()?;
    let mut cursor = args.cursor.clone();
    let (mut away, mut told) = (false, None);
    let home = args.from.home.home()?;
    // A reader without a key waits as everybody.
    let own = home.profile(&args.from.home.configured(&home)?, &network).ok();
    let who = args.who.or_else(|| own.map(|secret| secret.public()));
    loop {
        let query = path(
            "/v1/wait",
            &[
                ("network", Some(network.clone())),
                ("kind", args.kind.clone()),
                ("tag", args.tag.clone()),
                ("to", args.to.map(|key| key.to_string())),
                ("thread", thread.map(|id| id.to_string())),
                ("author", args.author.map(|key| key.to_string())),
                ("as", who.map(|key| key.to_string())),
                ("min_status", args.min_status.clone()),
                ("include_low", args.include_low.then(|| "true".into())),
                ("timeout", Some(args.timeout.to_string())),
                ("cursor", cursor.clone()),
            ],
        );
        let found = match node.get(&query) {
            Ok(found) => found,
            Err(error) if args.follow && passes(&error) => {
                if !std::mem::replace(&mut away, true) {
                    note(&format!("{error}; trying on"));
                }
                std::thread::sleep(PATIENCE);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        away = false;
        let is = label_line(&network, &found);
        if args.follow && !args.from.json && is != told {
            note(is.as_deref().unwrap_or(NO_LABEL));
            told = is;
        }
        // What comes one by one is not paged.
        show(args.from.json, Paging::NEVER, &found, |out| {
            if !args.follow {
                label(out, &network, &found)?;
            }
            let events = found["events"].as_array().map(Vec::as_slice).unwrap_or_default();
            events.iter().try_for_each(|event| headline(out, "", event))?;
            let known = &found["knowledge"];
            match (text(&known["kind"]), text(&known["id"])) {
                ("", "") if known.is_object() => out.push_str("nothing is known of the thread any more\n"),
                ("", "") if !args.follow && events.is_empty() => out.push_str("nothing new\n"),
                ("", _) => {}
                (kind, id) => out.push_str(&format!("the thread is settled by the {kind} {id}\n")),
            }
            if args.follow { Ok(()) } else { go_on(out, "--cursor", &found["cursor"]) }
        })?;
        if !args.follow {
            return Ok(ExitCode::SUCCESS);
        }
        cursor = found["cursor"].as_str().map(str::to_owned);
    }
}

/// Whether what went wrong passes: the node is away, or will be there soon.
fn passes(error: &ClientError) -> bool {
    match error {
        ClientError::Connect { .. } | ClientError::Broken(_) => true,
        ClientError::Refused { status, .. } => matches!(status, 429 | 503),
        ClientError::Strange(_) | ClientError::Write(_) => false,
    }
}

/// Before another try where the node is gone.
const PATIENCE: Duration = Duration::from_secs(1);

/// Told to who follows once a label is gone.
const NO_LABEL: &str = "the network is neither cold nor alone any more";
