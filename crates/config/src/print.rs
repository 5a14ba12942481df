//! `wats config --print`: every key with what it means and what it is now, as a file that reads back.

use super::value::decimal;
use super::{Config, Network};
use std::fmt::Write;
use wats_event::Hex32;
use wats_model::fixed::ONE;
use wats_model::ids::Millis;

/// A configuration as the text of a file.
pub fn print(config: &Config) -> String {
    let mut out = String::new();
    networks(&mut out, config);
    node(&mut out, config);
    limits(&mut out, config);
    agent(&mut out, config);
    storage(&mut out, config);
    policy(&mut out, config);
    out
}

fn key(out: &mut String, name: &str, value: impl std::fmt::Display, means: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "# {means}\n{name} = {value}");
}

fn networks(out: &mut String, config: &Config) {
    match &config.networks {
        None => out.push_str(
            "# No network is configured: every network is carried that an event names, as somebody would\n\
             # read it who trusts nobody yet. One that is configured looks like this:\n\
             # [[network]]\n# id = \"main\"\n# profiles = [\"<your public key, 64 hex digits>\"]\n# distrusted = []\n\
             # pow_bits = 0\n",
        ),
        Some(networks) => networks.iter().for_each(|network| one(out, network)),
    }
}

fn one(out: &mut String, network: &Network) {
    out.push_str("[[network]]\n");
    key(out, "id", format_args!("\"{}\"", network.id), "Its name.");
    let keys = |keys: &[Hex32]| {
        let keys: Vec<String> = keys.iter().map(|key| format!("\"{key}\"")).collect();
        format!("[{}]", keys.join(", "))
    };
    key(out, "profiles", keys(&network.profiles), "Your own public keys in it: trust starts here.");
    let means = "Public keys that you will not hear: they neither have trust nor give any. None of your own.";
    key(out, "distrusted", keys(&network.distrusted), means);
    key(
        out,
        "pow_bits",
        network.pow_bits,
        "The work that each event must show, in leading zero bits of its id.",
    );
    out.push('\n');
}

fn node(out: &mut String, config: &Config) {
    let node = &config.node;
    out.push_str("\n[node]\n");
    let listen = format!("\"{}\"", node.listen);
    key(out, "listen", listen, "Where clients reach it. Off the loopback a token is needed for writes.");
    match &node.token_file {
        Some(file) => {
            let file = super::toml_text(&file.display().to_string());
            key(out, "token_file", file, "The file with the token that clients show to write.");
        }
        None => out.push_str("# The file with the token that clients show to write; none on the loopback.\n# token_file = \"token\"\n"),
    }
    key(out, "workers", node.workers, "Threads of the dataflow.");
    key(out, "cache_bytes", node.cache_bytes, "Blocks of the store kept in memory.");
    key(
        out,
        "write_buffer_bytes",
        node.write_buffer_bytes,
        "Writes of the store kept in memory before they become files.",
    );
}

fn agent(out: &mut String, config: &Config) {
    let a = &config.agent;
    let list = |items: &[String]| {
        let items: Vec<String> = items.iter().map(|item| super::toml_text(item)).collect();
        format!("[{}]", items.join(", "))
    };
    out.push_str("\n[agent]\n");
    key(
        out,
        "command",
        list(&a.command),
        "What `wats runner` runs, with its arguments; nothing without one.",
    );
    key(out, "every", span(a.every), "How often it looks whether there is something to do.");
    key(out, "time_limit", span(a.time_limit), "How long a task may take.");
    key(out, "budget", span(a.budget), "How long all tasks of a day may take.");
    key(out, "capabilities", list(&a.capabilities), "What your agent can do, as tags like \"cap:rust\".");
    key(out, "verify", a.verify, "Whether it checks what others wrote when it is idle.");
    key(out, "verify_tasks", a.verify_tasks, "How many it checks at a time, at most.");
    let means = "The share of the budget for that, at most 0.2.";
    key(out, "verify_share", decimal(a.verify_share.0), means);
}

fn limits(out: &mut String, config: &Config) {
    let l = &config.limits;
    out.push_str("\n[limits]\n");
    key(out, "body_bytes", l.body_bytes, "Bytes of one request.");
    key(out, "body_lines", l.body_lines, "Lines of one request.");
    key(
        out,
        "waiting_bytes",
        l.waiting_bytes,
        "Bytes of events that wait to be written; half is kept for keys with weight.",
    );
    key(
        out,
        "patience",
        span(Millis(l.patience.as_millis() as u64)),
        "How long an event waits for room before its client is told to come again.",
    );
    key(out, "requests", l.requests, "Requests at a time.");
    key(
        out,
        "source_per_second",
        l.source_per_second,
        "Events a second of one address, over time; 0: without limit.",
    );
    key(out, "source_burst", l.source_burst, "Events of one address at once.");
    key(
        out,
        "key_per_second",
        l.key_per_second,
        "Events a second of one key, over time; ten times as many with weight; 0: without limit.",
    );
    key(out, "key_burst", l.key_burst, "Events of one key at once; ten times as many with weight.");
    key(out, "min_free_disk", l.min_free_disk, "Bytes of free disk below which nothing is taken in.");
    key(
        out,
        "hide_below",
        decimal(l.hide_below.0),
        "Authors of less reputation are left out of searches and waits, unless asked for.",
    );
    key(
        out,
        "head_start",
        span(Millis(l.head_start.as_millis() as u64)),
        "How long an ask that names keys or capabilities is held back from others who wait.",
    );
}

fn storage(out: &mut String, config: &Config) {
    let s = &config.storage;
    out.push_str("\n[storage]\n");
    for (name, value, means) in [
        ("high_water", s.high_water, "Bytes that blobs never take up more than."),
        ("low_water", s.low_water, "Bytes that are left of them when some were evicted."),
        ("blob_bytes", s.blob_bytes, "Bytes of one blob."),
        (
            "key_bytes",
            s.key_bytes,
            "Bytes of the blobs that one key named first; ten times as many with weight, no limit for yours.",
        ),
        ("unattached_bytes", s.unattached_bytes, "Bytes of all blobs that are charged to no key."),
    ] {
        key(out, name, value, means);
    }
    key(
        out,
        "unattached_for",
        span(s.unattached_for),
        "How long a blob that is charged to no key is safe from others like it.",
    );
    key(out, "uploads", s.uploads, "Uploads at a time.");
    key(out, "unfinished", s.unfinished, "Uploads that broke off and may be resumed.");
    key(out, "unfinished_for", span(s.unfinished_for), "For how long they may be.");
}

#[expect(clippy::too_many_lines, reason = "one line for each constant")]
fn policy(out: &mut String, config: &Config) {
    let p = &config.policy;
    out.push_str("\n# Constants of the specification. Readers who change them see other statuses than their peers.\n[policy]\n");
    for (name, value, means) in [
        ("base_accept", p.base_accept, "Base of an accept (2.1)."),
        ("base_confirm_artifact", p.base_confirm_artifact, "Base of a confirm with artifact evidence (2.1)."),
        ("base_confirm_text", p.base_confirm_text, "Base of a confirm with text evidence (2.1)."),
        ("base_use", p.base_use, "Base of a use (2.1)."),
        ("base_cite", p.base_cite, "Base of a cite by a citation (2.1)."),
        ("base_reply", p.base_reply, "Base of a cite by a reply (2.1)."),
        ("base_vote", p.base_vote, "Base of a vote (2.1)."),
        (
            "base_contradiction_artifact",
            p.base_contradiction_artifact,
            "Base of a contradiction with artifact evidence (2.1).",
        ),
        ("base_contradiction", p.base_contradiction, "Base of any other contradiction (2.1)."),
        ("seed_vouched", p.seed_vouched, "Seed trust of a key that you vouch for (3)."),
        ("damping", ONE.scale(p.damping.0, p.damping.1), "Trust that passes at each hop (3)."),
        ("w_min", p.w_min, "Weight below which a key does not count (3)."),
        ("cold_until", p.cold_until, "Seed trust at which the cold start has ended (3)."),
        ("floor_cap", p.floor_cap, "The most that age alone gives (3)."),
    ] {
        key(out, name, decimal(value.0), means);
    }
    for (name, value, means) in [
        ("half_life", p.half_life, "Half-life of all signals but votes (2.1)."),
        ("half_life_vote", p.half_life_vote, "Half-life of votes (2.1)."),
        ("renewal", p.renewal, "The least time between two renewals that count (2)."),
        (
            "reply_window",
            p.reply_window,
            "How long before or after a contradicting react a reasoned reply may be created (2).",
        ),
        ("recent", p.recent, "How long a post counts as young, and reliance as recent (8)."),
    ] {
        key(out, name, span(value), means);
    }
    let counts: [(&str, i128, &str); 15] = [
        (
            "live_steps",
            p.live_steps.into(),
            "A signal is live for so many sixteenths of its half-life (2.1).",
        ),
        ("max_reacts", p.max_reacts as i128, "Reacts of one key on one event that are considered (2)."),
        ("max_arguments", p.max_arguments as i128, "Events that can be arguments of one contradiction (2)."),
        ("broad", p.broad as i128, "So many groups collapse to the key's own (3)."),
        ("floor_from_days", p.floor_from_days.into(), "Days before a key's floor starts to rise (3)."),
        ("floor_to_days", p.floor_to_days.into(), "Days at which it reaches its cap (3)."),
        ("work_half", p.work_half.into(), "Work at which its bonus is half of its limit (3)."),
        ("work_cap", p.work_cap.into(), "The most that one event's work counts (3)."),
        (
            "critic_factor",
            p.critic_factor.into(),
            "How much lighter than its target's author a critic may be (4).",
        ),
        ("full_force", p.full_force.into(), "Contradictions up to which a critic's force is its weight (4)."),
        (
            "force_per_class",
            p.force_per_class.into(),
            "Contradictions of authors of one class that count against a critic's force, at most (4).",
        ),
        (
            "outlive_factor",
            p.outlive_factor.into(),
            "How much lighter than a critic the later supporters may be who outlive its contradiction (6).",
        ),
        ("knowledge_voices", p.knowledge_voices as i128, "Independent voices that make knowledge (7)."),
        ("replicas_confirmed", p.replicas_confirmed.into(), "Copies of a confirmed post (8)."),
        ("replicas_recent", p.replicas_recent.into(), "Copies of a post that is young or relied on (8)."),
    ];
    for (name, value, means) in counts {
        key(out, name, value, means);
    }
}

/// A span with the largest unit that fits exactly.
fn span(ms: Millis) -> String {
    let units = [(Millis::DAY.0, "d"), (Millis::HOUR.0, "h"), (60_000, "m"), (1_000, "s")];
    let fits = units.into_iter().find(|(unit, _)| ms.0 > 0 && ms.0.is_multiple_of(*unit));
    fits.map_or_else(|| format!("\"{}ms\"", ms.0), |(unit, name)| format!("\"{}{name}\"", ms.0 / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_key_is_overridden_by_name() {
        let mut config = Config::default();
        for (name, value) in [
            ("node.listen", "127.0.0.1:0"),
            ("node.token_file", "a \"b\""),
            ("limits.patience", "3s"),
            ("limits.key_burst", "7"),
            ("policy.base_use", "0.5"),
        ] {
            config.set(name, value, "--set").unwrap();
        }
        assert_eq!(config.node.listen, "127.0.0.1:0".parse().unwrap());
        assert_eq!(config.node.token_file, Some("a \"b\"".into()));
        assert_eq!((config.limits.patience.as_secs(), config.limits.key_burst), (3, 7));
        for (name, value) in
            [("limits.no", "1"), ("network.id", "a"), ("limits.key_burst", "x"), ("node.workers", "1\nx")]
        {
            assert!(config.set(name, value, "--set").is_err(), "{name}");
        }
    }

    #[test]
    fn what_is_printed_reads_back() {
        let text = "[[network]]\nid = \"main\"\nprofiles = [\"0000000000000000000000000000000000000000000000000000000000000000\"]\n\
            distrusted = [\"1111111111111111111111111111111111111111111111111111111111111111\"]\n\
            [node]\nlisten = \"[::1]:1\"\ntoken_file = \"a \\\"b\\\"\"\n[limits]\npatience = \"1500ms\"\nhead_start = \"0ms\"\n[storage]\nhigh_water = 7\nunfinished_for = \"90s\"\n[policy]\ndamping = 0.5\nrecent = \"36h\"\n";
        for config in [Config::default(), Config::parse(text, "given").unwrap()] {
            let printed = print(&config);
            assert_eq!(Config::parse(&printed, "printed").unwrap(), config, "{printed}");
        }
    }
}
