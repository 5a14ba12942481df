//! What an agent, or a person, reads: `search`, `read`, `wait` and `knowledge`.

use super::Outcome;
use super::home::{InNetwork, network};
use anstyle::{AnsiColor, Style};
use serde_json::Value;
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use wats::client::Client;
use wats::event::Hex32;
use wats::event::excerpt::excerpt;

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
    /// At least this status: contested, unverified, stale or confirmed
    #[arg(long, value_name = "STATUS")]
    min_status: Option<String>,
    /// Also of authors that are not thought well of
    #[arg(long)]
    include_low: bool,
    /// How many hits
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Where to go on, as the page before says
    #[arg(long)]
    cursor: Option<String>,
}

/// Read a thread, with what is known of it first
#[derive(Debug, clap::Args)]
pub(super) struct ReadArgs {
    #[command(flatten)]
    from: InNetwork,
    /// Its root, or any post in it
    id: Hex32,
    /// Where to go on, as the page before says
    #[arg(long)]
    cursor: Option<String>,
}

/// Wait for what is new
#[derive(Debug, clap::Args)]
pub(super) struct WaitArgs {
    #[command(flatten)]
    from: InNetwork,
    /// Go on until interrupted
    #[arg(long)]
    follow: bool,
    /// Of this kind: ask, post, react, announce or x.…
    #[arg(long)]
    kind: Option<String>,
    /// With this tag
    #[arg(long)]
    tag: Option<String>,
    /// Addressed to this key
    #[arg(long)]
    to: Option<Hex32>,
    /// In the thread of this root
    #[arg(long)]
    thread: Option<Hex32>,
    /// By this author
    #[arg(long)]
    author: Option<Hex32>,
    /// Who waits: asks reach those first whom they name, and those who can do what they ask for; your own
    /// key, unless you say otherwise
    #[arg(long = "as", value_name = "KEY")]
    who: Option<Hex32>,
    /// At least this status
    #[arg(long, value_name = "STATUS")]
    min_status: Option<String>,
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
    /// The last entry of the page before
    #[arg(long, value_name = "ID")]
    after: Option<Hex32>,
}

/// A path with a query, each value escaped.
fn path(start: &str, query: &[(&str, Option<String>)]) -> String {
    let escape = |text: &str| -> String {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~');
        text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
    };
    let given =
        query.iter().filter_map(|(name, value)| Some(format!("{name}={}", escape(value.as_deref()?))));
    format!("{start}?{}", given.collect::<Vec<_>>().join("&"))
}

/// `wats search`
pub(super) fn search(args: &SearchArgs) -> Outcome {
    let (mut node, network) = node(&args.from)?;
    let query = path(
        "/v1/search",
        &[
            ("network", Some(network)),
            ("q", Some(args.query.join(" "))),
            ("min_status", args.min_status.clone()),
            ("include_low", args.include_low.then(|| "true".into())),
            ("limit", Some(args.limit.to_string())),
            ("cursor", args.cursor.clone()),
        ],
    );
    let found = node.get(&query)?;
    show(args.from.json, &found, |out| {
        let hits = found["hits"].as_array().map(Vec::as_slice).unwrap_or_default();
        if hits.is_empty() {
            return writeln!(out, "nothing was found");
        }
        hits.iter().try_for_each(|hit| {
            headline(out, hit)?;
            snippet(out, &hit["snippet"])
        })?;
        go_on(out, &found["cursor"])
    })
}

/// `wats knowledge`
pub(super) fn knowledge(args: &KnowledgeArgs) -> Outcome {
    let (mut node, network) = node(&args.from)?;
    let query = path(
        "/v1/knowledge",
        &[
            ("network", Some(network)),
            ("tag", args.tag.clone()),
            ("sort", args.recent.then(|| "recent".into())),
            ("limit", Some(args.limit.to_string())),
            ("after", args.after.map(|id| id.to_string())),
        ],
    );
    let found = node.get(&query)?;
    show(args.from.json, &found, |out| {
        writeln!(out, "{} entries", found["total"])?;
        found["entries"].as_array().into_iter().flatten().try_for_each(|entry| headline(out, entry))
    })
}

/// `wats read`
pub(super) fn read(args: &ReadArgs) -> Outcome {
    let mut node = args.from.home.client()?;
    let found = node.get(&path(&format!("/v1/threads/{}", args.id), &[("cursor", args.cursor.clone())]))?;
    show(args.from.json, &found, |out| {
        if let Some(first) = found.get("first") {
            writeln!(out, "{}{}:{:#}", HEAD, text(&first["kind"]), HEAD)?;
            post(out, &first["post"], 1)?;
            writeln!(out)?;
        }
        if let Some(root) = found.get("root") {
            post(out, root, 0)?;
        }
        for reply in found["posts"].as_array().into_iter().flatten() {
            post(out, reply, usize::try_from(reply["depth"].as_u64().unwrap_or(1)).unwrap_or(1).min(8))?;
        }
        go_on(out, &found["cursor"])
    })
}

/// `wats wait`
pub(super) fn wait(args: &WaitArgs) -> Outcome {
    let (mut node, network) = node(&args.from)?;
    let mut cursor = args.cursor.clone();
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
                ("thread", args.thread.map(|id| id.to_string())),
                ("author", args.author.map(|key| key.to_string())),
                ("as", who.map(|key| key.to_string())),
                ("min_status", args.min_status.clone()),
                ("timeout", Some(args.timeout.to_string())),
                ("cursor", cursor),
            ],
        );
        let found = node.get(&query)?;
        show(args.from.json, &found, |out| {
            found["events"].as_array().into_iter().flatten().try_for_each(|event| headline(out, event))?;
            match found["knowledge"]["id"].as_str() {
                Some(id) => writeln!(out, "the thread is settled by {id}"),
                None => Ok(()),
            }
        })?;
        if !args.follow {
            if !args.from.json {
                go_on(&mut anstream::stdout(), &found["cursor"])?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        cursor = found["cursor"].as_str().map(str::to_owned);
    }
}

const HEAD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

fn show(json: bool, found: &Value, person: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Outcome {
    let mut out = anstream::stdout();
    match json {
        true => writeln!(out, "{found}")?,
        false => person(&mut out)?,
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// One line about an event: its status, what it is, what it is about, how often it was relied on.
fn headline(out: &mut dyn Write, event: &Value) -> io::Result<()> {
    let status = text(&event["status"]);
    let colour = match status {
        "confirmed" => AnsiColor::Green,
        "contested" => AnsiColor::Red,
        "stale" => AnsiColor::Yellow,
        _ => AnsiColor::White,
    };
    let style = Style::new().fg_color(Some(colour.into()));
    // What authors wrote is shown on one line, without control or hidden characters.
    let about = [&event["title"], &event["text"]].into_iter().filter_map(Value::as_str).find_map(excerpt);
    let known = match &event["knowledge"] {
        Value::String(_) | Value::Bool(true) => " knowledge",
        _ => "",
    };
    let id = &text(&event["id"]).get(..12).unwrap_or_default();
    writeln!(
        out,
        "{style}{status:<10}{style:#} {:<8}{known} {HEAD}{}{HEAD:#}  {DIM}{id}{DIM:#}",
        text(&event["kind"]),
        about.unwrap_or_default()
    )?;
    let counts: Vec<String> = event["counts"]
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, count)| count.as_u64().is_some_and(|count| count > 0))
        .map(|(name, count)| format!("{count} {}", name.replace('_', " ")))
        .collect();
    if !counts.is_empty() {
        writeln!(out, "           {DIM}{}{DIM:#}", counts.join(", "))?;
    }
    match event["why"].as_str() {
        Some(why) => writeln!(out, "           {why}"),
        None => Ok(()),
    }
}

/// The words around what was found, with that in bold.
fn snippet(out: &mut dyn Write, snippet: &Value) -> io::Result<()> {
    let words: Vec<char> = text(&snippet["text"]).chars().collect();
    if words.is_empty() {
        return Ok(());
    }
    write!(out, "           ")?;
    let mut at = 0;
    for range in snippet["highlights"].as_array().into_iter().flatten() {
        let place =
            |n: usize| range[n].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0).min(words.len());
        let (from, to) = (place(0).max(at), place(1).max(at));
        let part = |from: usize, to: usize| words[from..to].iter().collect::<String>();
        write!(out, "{}{HEAD}{}{HEAD:#}", part(at, from.max(at)), part(from, to.max(from)))?;
        at = to.max(from);
    }
    writeln!(out, "{}", words[at..].iter().collect::<String>())
}

/// A post with its words and its evidence.
fn post(out: &mut dyn Write, post: &Value, depth: usize) -> io::Result<()> {
    let indent = "  ".repeat(depth);
    write!(out, "{indent}")?;
    headline(out, post)?;
    for line in text(&post["text"]).lines().take(40) {
        let line: String = line.chars().filter(|c| !c.is_control()).collect();
        writeln!(out, "{indent}    {line}")?;
    }
    for react in post["evidence"].as_array().into_iter().flatten() {
        let evidence = &react["data"]["evidence"];
        let detail = evidence["detail"].as_str().or(evidence.as_str()).and_then(excerpt).unwrap_or_default();
        let what = match react["data"]["value"].as_i64() {
            Some(-1) => "contradicts",
            Some(1) => "confirms",
            _ => "says",
        };
        let by = text(&react["author"]).get(..12).unwrap_or_default();
        writeln!(out, "{indent}    {DIM}{by} {what}: {detail}{DIM:#}")?;
    }
    Ok(())
}

fn go_on(out: &mut dyn Write, cursor: &Value) -> io::Result<()> {
    match cursor.as_str() {
        Some(cursor) => writeln!(out, "{DIM}--cursor {cursor}{DIM:#}"),
        None => Ok(()),
    }
}
