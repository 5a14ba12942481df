//! `wats search`

use super::Outcome;
use super::home::InNetwork;
use super::listing::{STATUSES, go_on, node, show};
use super::pager::Paging;
use super::render::{headline, label, snippet, sources};
use wats_api::client::path;
use wats_model::ids::Millis;

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
