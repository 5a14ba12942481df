//! The configuration file: what it may say, and how it errs.

use wats_config::{Config, ConfigError};
use wats_event::Hex32;
use wats_model::fixed::{Fixed, ONE};
use wats_model::ids::Millis;
use wats_model::policy::Policy;

const KEY: &str = "8db03df70062700560aea657aa25b7520fc7b86e83e3cbdb348bea6dd94bd1c1";

fn parse(text: &str) -> Config {
    Config::parse(text, "wats.toml").unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// The line and the message of the error.
fn error(text: &str) -> (usize, String) {
    match Config::parse(text, "wats.toml") {
        Err(ConfigError::Wrong { line, what, .. }) => (line, what),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn networks_are_read() {
    let config = parse(&format!(
        "[[network]]\nid = \"main\"\nprofiles = [\"{KEY}\", \"{KEY}\"]\npow_bits = 6\n\n[[network]]\nid = \"side\"\n"
    ));
    let networks = config.networks.as_ref().expect("two");
    assert_eq!((networks[0].id.as_str(), networks[0].profiles.len(), networks[0].pow_bits), ("main", 1, 6));
    assert_eq!((networks[1].id.as_str(), networks[1].profiles.len(), networks[1].pow_bits), ("side", 0, 0));
    let rules = config.rules();
    assert_eq!(
        [rules.pow_bits("main"), rules.pow_bits("side"), rules.pow_bits("other")],
        [Some(6), Some(0), None]
    );
    assert_eq!(config.policy, Policy::default());
}

#[test]
fn distrusted_keys_are_read_each_once() {
    let (one, other) = ("ab".repeat(32), "cd".repeat(32));
    let config = parse(&format!(
        "[[network]]\nid = \"main\"\ndistrusted = [\"{one}\", \"{other}\", \"{one}\"]\nprofiles = [\"{KEY}\"]\n\
         [[network]]\nid = \"side\"\nprofiles = [\"{one}\"]\n"
    ));
    let networks = config.networks.as_ref().expect("two");
    let names = |keys: &[Hex32]| keys.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names(&networks[0].distrusted), [one.as_str(), other.as_str()]);
    assert_eq!(names(&networks[0].profiles), [KEY]);
    // Networks share nothing: a key may be distrusted in one and a profile in another.
    assert_eq!((names(&networks[1].distrusted), names(&networks[1].profiles)), (Vec::new(), vec![one]));
}

#[test]
fn a_profile_is_not_distrusted() {
    let other = "cd".repeat(32);
    let (trusted, distrusted) =
        (format!("profiles = [\"{KEY}\"]\n"), format!("distrusted = [\n\"{other}\",\n\"{KEY}\"]\n"));
    for (text, line) in [(format!("{trusted}{distrusted}"), 6), (format!("{distrusted}{trusted}"), 5)] {
        let (at, what) = error(&format!("[[network]]\nid = \"main\"\n{text}"));
        assert_eq!(at, line, "{what}");
        assert!(what.contains("`distrusted`") && what.contains(KEY), "{what}");
    }
}

#[test]
fn constants_have_the_values_of_the_specification_and_old_names_are_read() {
    let policy = parse("[policy]\nreply_lead = \"2h\"\n").policy;
    assert_eq!(policy, Policy { reply_window: Millis(7_200_000), ..Policy::default() });
    let Policy { base_reply, cold_until, full_force, force_per_class, outlive_factor, .. } =
        Policy::default();
    assert_eq!((base_reply, cold_until), (Fixed(50_000_000), ONE));
    assert_eq!((full_force, force_per_class, outlive_factor), (32, 4, 2));
}

#[test]
fn a_file_without_networks_carries_all() {
    assert_eq!(parse(""), Config::default());
    assert_eq!(parse("[policy]\n").rules().pow_bits("any"), Some(0));
}

#[test]
fn every_constant_can_be_overridden_exactly() {
    let text = r#"
        [policy]
        base_accept = 0.9
        base_confirm_artifact = 1.1
        base_confirm_text = 0.123456789
        base_use = 0.7
        base_cite = 2
        base_reply = 0.06
        base_vote = 0
        base_contradiction_artifact = 0.000000001
        base_contradiction = 0.5
        half_life = "90d"
        half_life_vote = "48h"
        live_steps = 16
        renewal = "90m"
        reply_window = "30s"
        max_reacts = 32
        max_arguments = 5
        seed_vouched = 0.8
        damping = 0.75
        w_min = 0.01
        broad = 8
        cold_until = 3.5
        floor_cap = 0.02
        floor_from_days = 1
        floor_to_days = 2
        work_half = 128
        work_cap = 1_024
        critic_factor = 3
        full_force = 33
        force_per_class = 6
        outlive_factor = 7
        knowledge_voices = 4
        replicas_confirmed = 5
        replicas_recent = 2
        recent = "1500ms"
    "#;
    let want = Policy {
        base_accept: Fixed(900_000_000),
        base_confirm_artifact: Fixed(1_100_000_000),
        base_confirm_text: Fixed(123_456_789),
        base_use: Fixed(700_000_000),
        base_cite: Fixed(2 * ONE.0),
        base_reply: Fixed(60_000_000),
        base_vote: Fixed(0),
        base_contradiction_artifact: Fixed(1),
        base_contradiction: Fixed(500_000_000),
        half_life: Millis::days(90),
        half_life_vote: Millis::days(2),
        live_steps: 16,
        renewal: Millis(5_400_000),
        reply_window: Millis(30_000),
        max_reacts: 32,
        max_arguments: 5,
        seed_vouched: Fixed(800_000_000),
        damping: (3, 4),
        w_min: Fixed(10_000_000),
        broad: 8,
        cold_until: Fixed(3_500_000_000),
        floor_cap: Fixed(20_000_000),
        floor_from_days: 1,
        floor_to_days: 2,
        work_half: 128,
        work_cap: 1024,
        critic_factor: 3,
        full_force: 33,
        force_per_class: 6,
        outlive_factor: 7,
        knowledge_voices: 4,
        replicas_confirmed: 5,
        replicas_recent: 2,
        recent: Millis(1500),
    };
    assert_eq!(parse(text).policy, want);
}

#[test]
fn errors_name_the_key_and_the_line() {
    for (text, line, names) in [
        ("\nnetworks = 1\n", 2, "`networks`"),
        ("[[network]]\nid = \"main\"\nprofile = []\n", 3, "`profile`"),
        ("[[network]]\nprofiles = []\n", 1, "`id`"),
        ("[[network]]\nid = \"Main\"\n", 2, "`id`"),
        ("[[network]]\nid = \"a\"\n[[network]]\nid = \"a\"\n", 3, "`a`"),
        ("[[network]]\nid = \"a\"\nprofiles = [\"ab\"]\n", 3, "`profiles`"),
        ("[[network]]\nid = \"a\"\nprofiles = \"ab\"\n", 3, "`profiles`"),
        ("[[network]]\nid = \"a\"\npow_bits = -1\n", 3, "`pow_bits`"),
        ("[[network]]\nid = \"a\"\npow_bits = 257\n", 3, "`pow_bits`"),
        ("[[network]]\nid = \"a\"\ndistrusted = [\"ab\"]\n", 3, "`distrusted`"),
        ("[[network]]\nid = \"a\"\ndistrusted = [1]\n", 3, "`distrusted`"),
        ("[[network]]\nid = \"a\"\ndistrusted = \"ab\"\n", 3, "`distrusted`"),
        ("[network]\nid = \"a\"\n", 1, "`network`"),
        ("policy = 3\n", 1, "`policy`"),
        ("[policy]\nbase_acept = 1.0\n", 2, "`base_acept`"),
        ("[policy]\n\nbase_accept = -1.0\n", 3, "`base_accept`"),
        ("[policy]\nbase_accept = 0.1234567891\n", 2, "`base_accept`"),
        ("[policy]\nbase_accept = 1e3\n", 2, "`base_accept`"),
        ("[policy]\nbase_accept = inf\n", 2, "`base_accept`"),
        ("[policy]\nbase_accept = \"1\"\n", 2, "`base_accept`"),
        ("[policy]\nw_min = 0\n", 2, "`w_min`"),
        ("[policy]\ndamping = 1.01\n", 2, "`damping`"),
        ("[policy]\nhalf_life = 180\n", 2, "`half_life`"),
        ("[policy]\nhalf_life = \"0d\"\n", 2, "`half_life`"),
        ("[policy]\nhalf_life = \"9999999d\"\n", 2, "`half_life`"),
        ("[policy]\nlive_steps = 161\n", 2, "`live_steps`"),
        ("[policy]\nmax_reacts = 0\n", 2, "`max_reacts`"),
        ("[policy]\nbase_reply = -1\n", 2, "`base_reply`"),
        ("[policy]\nfull_force = 0\n", 2, "`full_force`"),
        ("[policy]\nforce_per_class = 0\n", 2, "`force_per_class`"),
        ("[policy]\noutlive_factor = 0.5\n", 2, "`outlive_factor`"),
        ("[policy]\nno_such = 1\n", 2, "outlive_factor"),
        ("[policy]\nreplicas_recent = 256\n", 2, "`replicas_recent`"),
        ("[policy]\nfloor_from_days = 30\n", 1, "`floor_from_days`"),
    ] {
        let (at, what) = error(text);
        assert_eq!(at, line, "{text}: {what}");
        assert!(what.contains(names), "{text}: {what}");
    }
    assert_eq!(error("[policy]\nx = [\n").0.min(2), 2, "a syntax error has a line");
    let missing = Config::load("no/such/wats.toml".as_ref()).expect_err("missing").to_string();
    assert!(missing.contains("no/such/wats.toml: cannot be read"), "{missing}");
}
