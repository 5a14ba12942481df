//! `wats reputation` and `wats why`: the numbers that only the owner sees.

use super::home::HomeArgs;
use super::{LINES, Outcome};
use comfy_table::Table;
use serde_json::Value;
use std::error::Error;
use std::io::Write;
use std::process::ExitCode;
use wats_api::client::Client;
use wats_engine::explain::amount;
use wats_model::fixed::Fixed;

/// What the running node thinks of keys, in your eyes and nobody else's
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: HomeArgs,
    /// A key, or its first digits, at least 8 [default: the most trusted of each network]
    #[arg(value_name = "KEY")]
    key: Option<String>,
    /// Show where each number comes from
    #[arg(long, requires = "key")]
    explain: bool,
    /// Of this network alone
    #[arg(long, value_name = "NAME")]
    network: Option<String>,
    /// How many keys to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// Why a post has its status, from the events that decided it
#[derive(Debug, clap::Args)]
pub(super) struct WhyArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// The post's id, or its first digits, at least 8
    #[arg(value_name = "POST")]
    post: String,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn why(args: &WhyArgs) -> Outcome {
    let found = explained(&mut args.home.client()?, &args.post)?;
    print(&found, args.json)
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut node = args.home.client()?;
    let Some(key) = &args.key else {
        return list(args, &mut node);
    };
    let found = explained(&mut node, key)?;
    if args.explain || args.json {
        return print(&found, args.json);
    }
    let mut out = anstream::stdout();
    for key in found["explained"].as_array().into_iter().flatten() {
        if !key["key"].is_string() {
            return Err("this is a post and no key: `wats why` tells of its status".into());
        }
        writeln!(out, "{} in {}", text(&key["key"]), text(&key["network"]))?;
        for name in ["trust", "weight", "reputation", "voice"] {
            writeln!(out, "  {name} {}", number(&key[name]))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn explained(node: &mut Client, digits: &str) -> Result<Value, Box<dyn Error>> {
    let digits = digits.to_ascii_lowercase();
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(format!("`{digits}` is no id or key: 8 to 64 hex digits").into());
    }
    Ok(node.get(&format!("/admin/explain/{digits}"))?)
}

fn print(found: &Value, json: bool) -> Outcome {
    let mut out = anstream::stdout();
    match json {
        true => writeln!(out, "{found}")?,
        false => write!(out, "{}", text(&found["text"]))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list(args: &Args, node: &mut Client) -> Outcome {
    let networks = match &args.network {
        Some(network) => vec![network.clone()],
        None => {
            let status = node.get("/admin/status")?;
            let networks = status["networks"].as_array().cloned().unwrap_or_default();
            networks.iter().map(|network| text(&network["id"])).collect()
        }
    };
    let mut all = serde_json::Map::new();
    for network in networks {
        let found = node.get(&format!("/admin/reputation/{network}?limit={}", args.limit))?;
        all.insert(network, found);
    }
    let mut out = anstream::stdout();
    if args.json {
        writeln!(out, "{}", Value::Object(all))?;
        return Ok(ExitCode::SUCCESS);
    }
    for (network, found) in all {
        writeln!(out, "{network}: {} keys", found["total"])?;
        let mut table = Table::new();
        table.load_style(LINES);
        table.set_header(["key", "trust", "floor", "reputation", "voice", "origins", "group"]);
        for author in found["authors"].as_array().into_iter().flatten() {
            let mut key = text(&author["key"]);
            key.truncate(16);
            let mut group = text(&author["group"]);
            if group.starts_with(&key) {
                group.clear();
            }
            let numbers = ["trust", "floor", "reputation", "voice"].map(|name| number(&author[name]));
            let [trust, floor, reputation, voice] = numbers;
            table.add_row([key, trust, floor, reputation, voice, author["origins"].to_string(), group]);
        }
        writeln!(out, "{}", table.trim_fmt())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn number(value: &Value) -> String {
    value.as_i64().map_or_else(|| "?".to_owned(), |n| amount(Fixed(n)))
}
