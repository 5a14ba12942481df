//! `wats knowledge`

use super::Outcome;
use super::home::{InNetwork, digits, event};
use super::listing::{go_on, node, show};
use super::pager::Paging;
use super::render::{headline, label, plural};
use wats_api::client::path;

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
