//! `wats runner`: agents that verify when they are idle.

use super::mcp::Host;
use super::{House, Other, until};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// One heartbeat of a command, which is a shell script; what was done.
fn beat(house: &House, script: &str, settings: &[&str]) -> Value {
    let command = json!(["sh", "-c", script]).to_string();
    let mut runner = Command::new(env!("CARGO_BIN_EXE_wats"));
    runner.args(["runner", "--once", "--dir"]).arg(house.dir()).env_remove("WATS_CONFIG");
    runner.arg("--set").arg(format!("agent.command={command}"));
    for setting in settings.iter().chain(&["node.listen=127.0.0.1:0"]) {
        runner.args(["--set", setting]);
    }
    let output = runner.output().expect("wats runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// What a script kept of its tasks.
fn tasks(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("a task")).collect()
}

fn done(beat: &Value) -> [u64; 6] {
    ["news", "confirmed", "contradicted", "unsure", "failed", "deferred"]
        .map(|n| beat[n].as_u64().expect("a number"))
}

struct Scene {
    house: House,
    host: Host,
    ask: String,
    file: std::path::PathBuf,
}

impl Scene {
    fn new(name: &str) -> Scene {
        let house = House::new(name);
        let mut host = house.host();
        let asked = json!({ "title": "Which?", "tags": ["cap:rust"] });
        let ask = host.good("ask", asked)["id"].as_str().expect("an id").to_owned();
        let file = house.dir().join("tasks");
        Scene { house, host, ask, file }
    }

    fn unverified(&mut self, id: &str) {
        until("findable", || {
            let found = self
                .host
                .good("search", json!({ "query": "thread:".to_owned() + &self.ask, "include_low": true }));
            found["results"].as_array()?.iter().any(|hit| hit["id"] == id).then_some(())
        });
    }

    /// A script that keeps its task, and gives a result.
    fn gives(&self, result: &Value) -> String {
        format!("(cat; echo) >> {}; echo '{result}'", self.file.display())
    }
}

const VERIFY: &[&str] = &["agent.verify=true", "agent.verify_tasks=5", "agent.time_limit=20s"];

#[test]
fn a_check_becomes_a_confirmation_or_a_contradiction_or_nothing() {
    for (outcome, place, value) in
        [("success", 1, json!(1)), ("failure", 2, json!(-1)), ("unsure", 3, Value::Null)]
    {
        let mut scene = Scene::new(&format!("idle-{outcome}"));
        let other = Other::new(7);
        let answer = other.answer(&scene.house, &scene.ask, "This one.");
        scene.unverified(&answer);
        let result = json!({ "outcome": outcome, "type": "test", "detail": "41 passed", "env": "linux",
            "output": "test a ... ok" });
        let script = scene.gives(&result);
        let mut expected = [0; 6];
        assert_eq!(done(&beat(&scene.house, &script, &[])), expected, "off by default");
        expected[place] = 1;
        assert_eq!(done(&beat(&scene.house, &script, VERIFY)), expected);
        let given = tasks(&scene.file);
        assert_eq!((given.len(), &given[0]["task"]), (1, &json!("verify")));
        assert_eq!(given[0]["post"]["id"], answer.as_str());
        assert_eq!((&given[0]["ask"]["title"], &given[0]["settles"]), (&json!("Which?"), &json!(1)));
        let thread = scene.host.good("read", json!({ "id": answer, "detail": "full" }));
        let evidence = &thread["posts"][0]["evidence"];
        assert_eq!(evidence.as_array().map_or(0, Vec::len), usize::from(value != Value::Null));
        if value != Value::Null {
            let data: Value =
                serde_json::from_str(evidence[0]["untrusted"]["data"].as_str().expect("data")).expect("JSON");
            assert_eq!(data["value"], value);
            let blob = evidence[0]["blob"].as_str().expect("the output");
            let said = json!({ "type": "test", "detail": "41 passed", "env": "linux", "blob": blob });
            assert_eq!(data["evidence"], said);
            let mut output = Vec::new();
            scene.house.client().copy(&format!("/v1/blobs/{blob}"), &mut output).expect("it is held");
            assert_eq!(output, b"test a ... ok");
        }
        // The same is not tried again.
        assert_eq!(done(&beat(&scene.house, &script, VERIFY)), [0; 6]);
        assert_eq!(tasks(&scene.file).len(), 1);
    }
}

#[test]
fn nothing_of_its_own_nor_beyond_its_capabilities_is_checked() {
    let mut scene = Scene::new("idle-own");
    let own = scene.host.good("answer", json!({ "id": scene.ask, "text": "Mine." }))["id"].clone();
    let own = own.as_str().expect("an id").to_owned();
    scene.unverified(&own);
    let script = scene.gives(&json!({ "outcome": "success", "detail": "x" }));
    assert_eq!(done(&beat(&scene.house, &script, VERIFY)), [0; 6]);
    let answer = Other::new(7).answer(&scene.house, &scene.ask, "Another's.");
    scene.unverified(&answer);
    let cannot = [VERIFY, &["agent.capabilities=[\"cap:go\"]"]].concat();
    assert_eq!(done(&beat(&scene.house, &script, &cannot)), [0; 6]);
    let can = [VERIFY, &["agent.capabilities=[\"cap:go\", \"cap:rust\"]"]].concat();
    assert_eq!(done(&beat(&scene.house, &script, &can)), [0, 1, 0, 0, 0, 0]);
    assert_eq!(tasks(&scene.file)[0]["post"]["id"], answer.as_str());
}

#[test]
fn a_task_that_the_budget_has_no_room_for_does_not_start() {
    let mut scene = Scene::new("idle-budget");
    let answer = Other::new(7).answer(&scene.house, &scene.ask, "This one.");
    scene.unverified(&answer);
    let script = scene.gives(&json!({ "outcome": "success", "detail": "x" }));
    // A fifth of 99 s is less than the 20 s that a task may take.
    let poor = [VERIFY, &["agent.budget=99s"]].concat();
    assert_eq!(done(&beat(&scene.house, &script, &poor)), [0, 0, 0, 0, 0, 1]);
    assert!(tasks(&scene.file).is_empty());
    // One that hangs is ended, costs what it took, and says nothing.
    let hung = [VERIFY, &["agent.budget=100s", "agent.time_limit=300ms"]].concat();
    assert_eq!(done(&beat(&scene.house, "sleep 600", &hung)), [0, 0, 0, 0, 1, 0]);
    let ledger = fs::read_to_string(scene.house.dir().join("runner/main/ledger.jsonl")).expect("a ledger");
    assert!(ledger.contains(&answer), "{ledger}");
}

#[test]
fn news_for_the_agent_is_a_task_and_is_kept_until_there_is_room() {
    let mut scene = Scene::new("idle-news");
    let script = scene.gives(&json!({}));
    let can = ["agent.capabilities=[\"cap:ml\"]"];
    // What it announces it is told of at once.
    let mut announce = Command::new(env!("CARGO_BIN_EXE_wats"));
    announce.args(["announce", "--tag", "cap:ml", "--dir"]).arg(scene.house.dir());
    assert!(announce.output().expect("wats runs").status.success());
    assert_eq!(done(&beat(&scene.house, &script, &can)), [0; 6], "from now on");
    let me = scene.host.good("whoami", json!({}))["key"].clone();
    let (other, ask) = (
        Other::new(7),
        |title: &str, tags: Value, to: Value| json!({ "kind": "ask", "title": title, "tags": tags, "to": to }),
    );
    let named = other.say(&scene.house, ask("named", json!([]), json!([me])));
    let able = other.say(&scene.house, ask("able", json!(["cap:ml"]), json!([])));
    other.say(&scene.house, ask("art", json!(["cap:art"]), json!([])));
    until("all three", || {
        let page = scene.host.good("search", json!({ "query": "kind:ask", "include_low": true }));
        (page["results"].as_array()?.len() == 4).then_some(())
    });
    let poor = [&can[..], &["agent.budget=1s"]].concat();
    assert_eq!(done(&beat(&scene.house, &script, &poor)), [0, 0, 0, 0, 0, 1]);
    assert_eq!(done(&beat(&scene.house, &script, &can)), [1, 0, 0, 0, 0, 0]);
    assert_eq!(done(&beat(&scene.house, &script, &can)), [0; 6]);
    let given = tasks(&scene.file);
    assert_eq!((given.len(), &given[0]["task"]), (1, &json!("news")));
    let asks: Vec<&Value> = given[0]["asks"].as_array().expect("asks").iter().map(|ask| &ask["id"]).collect();
    assert_eq!(asks, [&json!(named), &json!(able)]);
    assert!(given[0]["notice"].as_str().is_some_and(|notice| notice.contains("untrusted")));
    assert_eq!(given[0]["asks"][1]["untrusted"]["tags"], json!(["cap:ml"]));
    // Its own are none of its news, and more than fit into one task come in several, once each.
    scene.host.good("ask", json!({ "title": "mine", "tags": ["cap:ml"] }));
    let more: Vec<String> = (0..45)
        .map(|n| other.say(&scene.house, ask(&format!("ask {n}"), json!(["cap:ml"]), json!([]))))
        .collect();
    until("all of them", || {
        let page = scene.host.good("wait", json!({ "timeout": 0 }));
        let held = scene.host.call("fetch", json!({ "id": more[44] })).is_ok();
        (held && page["events"] == json!([])).then_some(())
    });
    let mut told = BTreeSet::new();
    until("all of them told", || {
        assert_eq!(beat(&scene.house, &script, &can)["failed"], 0);
        let asks = tasks(&scene.file).into_iter().skip(1).flat_map(|task| task["asks"].as_array().cloned());
        told = asks.flatten().map(|ask| ask["id"].as_str().expect("an id").to_owned()).collect();
        (told.len() >= more.len()).then_some(())
    });
    assert_eq!(told, more.into_iter().collect());
}
