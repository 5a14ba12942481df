//! What an agent, or a person, reads: `search`, `read`, `wait` and `knowledge`.

use super::Outcome;
use super::home::{InNetwork, digits, event, network};
use super::pager::Paging;
use super::shown::{DIM, HEAD, headline, label, label_line, note, plural, post, snippet, sources, text};
use serde_json::Value;
use std::error::Error;
use std::fmt;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;
use wats_api::client::{Client, ClientError, path};
use wats_event::Hex32;
use wats_model::ids::Millis;

/// The statuses, the best last.
const STATUSES: [&str; 4] = ["contested", "unverified", "stale", "confirmed"];
/// Before another try where the node is gone.
const PATIENCE: Duration = Duration::from_secs(1);
/// Told to who follows once a label is gone.
const NO_LABEL: &str = "the network is neither cold nor alone any more";
/// How deep a reply is shown to the right.
const DEPTH: u64 = 8;

/// The running node, and the network to ask it about.
pub(super) fn node(from: &InNetwork) -> Result<(Client, String), Box<dyn Error>> {
    let home = from.home.home()?;
    let config = from.home.configured(&home)?;
    let network = match (&from.network, &config.networks) {
        // A node without a configured network carries all of them.
        (Some(name), None) => name.clone(),
        (name, _) => network(&config, name.as_deref())?.id.clone(),
    };
    Ok((from.home.client()?, network))
}

/// Search what the network knows: what was checked comes first
///
/// Words, "phrases", tag:x, author:KEY, kind:ask, thread:ID, -not, OR.
#[derive(Debug, clap::Args)]
pub(super) struct SearchArgs {
    #[command(flatten)]
    from: InNetwork,
    /// What to search for; in quotes, where a word starts with `-`
    #[arg(required = true)]
    query: Vec<String>,
    /// At least this status, of contested < unverified < stale < confirmed
    #[arg(long, value_name = "STATUS", value_parser = STATUSES)]
    min_status: Option<String>,
    /// With this status; may be repeated
    #[arg(long, value_name = "STATUS", value_parser = STATUSES)]
    status: Vec<String>,
    /// Created then or later: milliseconds since 1970, or a date like 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = super::time)]
    since: Option<Millis>,
    /// Created before then
    #[arg(long, value_name = "TIME", value_parser = super::time)]
    before: Option<Millis>,
    /// Also of authors that are not thought well of
    #[arg(long)]
    include_low: bool,
    /// How many hits, at most 50
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Where to go on, as the page before says
    #[arg(long)]
    cursor: Option<String>,
    #[command(flatten)]
    paging: Paging,
}

/// Read a thread, with what is known of it first
#[derive(Debug, clap::Args)]
pub(super) struct ReadArgs {
    #[command(flatten)]
    from: InNetwork,
    /// Its root, or any post in it: an id, or its first 8 or more digits
    #[arg(value_parser = digits)]
    id: String,
    /// How many replies, at most 200
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Where to go on, as the page before says
    #[arg(long)]
    cursor: Option<String>,
    #[command(flatten)]
    paging: Paging,
}

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

/// List what the network knows, entry by entry
#[derive(Debug, clap::Args)]
pub(super) struct KnowledgeArgs {
    #[command(flatten)]
    from: InNetwork,
    /// With this tag
    #[arg(long)]
    tag: Option<String>,
    /// The newest first
    #[arg(long)]
    recent: bool,
    /// How many entries
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Where to go on: the last entry of the page before
    #[arg(long, value_name = "ID", value_parser = digits)]
    after: Option<String>,
    #[command(flatten)]
    paging: Paging,
}

/// `wats search`
pub(super) fn search(args: &SearchArgs) -> Outcome {
    let (mut node, network) = node(&args.from)?;
    let time = |time: Option<Millis>| time.map(|time| time.0.to_string());
    let query = path(
        "/v1/search",
        &[
            ("network", Some(network.clone())),
            ("q", Some(args.query.join(" "))),
            ("min_status", args.min_status.clone()),
            ("status", (!args.status.is_empty()).then(|| args.status.join(","))),
            ("since", time(args.since)),
            ("before", time(args.before)),
            ("include_low", args.include_low.then(|| "true".into())),
            ("limit", Some(args.limit.to_string())),
            ("cursor", args.cursor.clone()),
        ],
    );
    let found = node.get(&query)?;
    show(args.from.json, args.paging, &found, |out| {
        label(out, &network, &found)?;
        let hits = found["hits"].as_array().map(Vec::as_slice).unwrap_or_default();
        if hits.is_empty() {
            out.push_str("nothing was found\n");
        }
        hits.iter().try_for_each(|hit| {
            headline(out, "", hit)?;
            snippet(out, &hit["snippet"])?;
            sources(out, hit)
        })?;
        go_on(out, "--cursor", &found["cursor"])
    })
}

/// `wats knowledge`
pub(super) fn knowledge(args: &KnowledgeArgs) -> Outcome {
    let (mut node, network) = node(&args.from)?;
    let after = args.after.as_ref().map(|id| event(&mut node, id)).transpose()?;
    let query = path(
        "/v1/knowledge",
        &[
            ("network", Some(network.clone())),
            ("tag", args.tag.clone()),
            ("sort", args.recent.then(|| "recent".into())),
            ("limit", Some(args.limit.to_string())),
            ("after", after.map(|id| id.to_string())),
        ],
    );
    let found = node.get(&query)?;
    show(args.from.json, args.paging, &found, |out| {
        label(out, &network, &found)?;
        let total = found["total"].as_u64().unwrap_or(0);
        out.push_str(&format!("{}\n", plural(total, "entry", "entries")));
        let mut entries = found["entries"].as_array().into_iter().flatten();
        entries.try_for_each(|entry| headline(out, "", entry))?;
        go_on(out, "--after", &found["after"])
    })
}

/// `wats read`
pub(super) fn read(args: &ReadArgs) -> Outcome {
    let mut node = args.from.home.client()?;
    let id = event(&mut node, &args.id)?;
    let limit = Some(args.limit.to_string());
    let query = path(&format!("/v1/threads/{id}"), &[("limit", limit), ("cursor", args.cursor.clone())]);
    let found = node.get(&query)?;
    show(args.from.json, args.paging, &found, |out| {
        label(out, text(&found["network"]), &found)?;
        if let Some(first) = found.get("first") {
            let what = match text(&first["kind"]) {
                "digest" => "What is known, in a digest:",
                _ => "What is known, by its canonical answer:",
            };
            out.push_str(&format!("{HEAD}{what}{HEAD:#}\n"));
            post(out, &first["post"], 1)?;
            out.push('\n');
        }
        if let Some(root) = found.get("root") {
            post(out, root, 0)?;
        }
        for reply in found["posts"].as_array().into_iter().flatten() {
            let depth = usize::try_from(reply["depth"].as_u64().unwrap_or(1).min(DEPTH)).unwrap_or(1);
            match reply["id"] == found["first"]["post"]["id"] {
                true => headline(out, &"  ".repeat(depth), reply)?,
                false => post(out, reply, depth)?,
            }
        }
        go_on(out, "--cursor", &found["cursor"])
    })
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

/// Prints what was found as it is, or as a person reads it.
pub(super) fn show(
    json: bool,
    paging: Paging,
    found: &Value,
    person: impl FnOnce(&mut String) -> fmt::Result,
) -> Outcome {
    if json {
        let mut out = anstream::stdout();
        writeln!(out, "{found}")?;
        out.flush()?;
    } else {
        let mut text = String::new();
        person(&mut text)?;
        paging.show(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How to see what follows.
pub(super) fn go_on(out: &mut String, flag: &str, from: &Value) -> fmt::Result {
    if let Some(from) = from.as_str() {
        out.push_str(&format!("{DIM}to go on: {flag} {from}{DIM:#}\n"));
    }
    Ok(())
}
