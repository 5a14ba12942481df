//! `[agent]`: what `wats runner` runs, how often, and how much of it.

use super::ConfigError;
use super::value::Values;
use toml::Spanned;
use toml::de::DeValue;
use wats_model::fixed::{Fixed, ONE};
use wats_model::ids::Millis;

/// The largest share of the budget that verification may take (decision record, 6).
pub const MAX_SHARE: Fixed = Fixed(ONE.0 / 5);

/// What the runner runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentConfig {
    /// The program and its arguments; nothing is run without one.
    pub command: Vec<String>,
    /// How often it is looked whether there is something to do.
    pub every: Millis,
    /// How long a task may take.
    pub time_limit: Millis,
    /// How long all tasks of a day may take.
    pub budget: Millis,
    /// What the agent can do, as tags.
    pub capabilities: Vec<String>,
    /// Whether it verifies what others wrote when it is idle.
    pub verify: bool,
    /// Posts that are verified at a time, at most.
    pub verify_tasks: usize,
    /// The share of the budget that verification may take.
    pub verify_share: Fixed,
}

impl Default for AgentConfig {
    fn default() -> AgentConfig {
        AgentConfig {
            command: Vec::new(),
            every: Millis(60_000),
            time_limit: Millis(300_000),
            budget: Millis(3_600_000),
            capabilities: Vec::new(),
            verify: false,
            verify_tasks: 1,
            verify_share: MAX_SHARE,
        }
    }
}

const KEYS: &str = "command, every, time_limit, budget, capabilities, verify, verify_tasks and verify_share";
/// Words of a command, and capabilities, at most.
const WORDS: usize = 64;

/// Overrides what `[agent]` names.
pub(super) fn read(
    values: &Values<'_>,
    table: &Spanned<DeValue<'_>>,
    agent: &mut AgentConfig,
) -> Result<(), ConfigError> {
    for (key, value) in values.table(table, "agent")? {
        let name = key.get_ref().as_ref();
        match name {
            "command" => agent.command = texts(values, value, name)?,
            "every" => agent.every = values.span(value, name, 1_000)?,
            "time_limit" => agent.time_limit = values.span(value, name, 100)?,
            "budget" => agent.budget = values.span(value, name, 0)?,
            "capabilities" => agent.capabilities = texts(values, value, name)?,
            "verify" => {
                let form = "`verify` must be true or false";
                agent.verify = value.get_ref().as_bool().ok_or_else(|| values.wrong(value, form))?;
            }
            "verify_tasks" => agent.verify_tasks = values.count(value, name, 1..=20)? as usize,
            "verify_share" => agent.verify_share = values.fixed(value, name, 0..=MAX_SHARE.0)?,
            other => return Err(values.unknown(key, other, KEYS)),
        }
    }
    Ok(())
}

fn texts(values: &Values<'_>, value: &Spanned<DeValue<'_>>, name: &str) -> Result<Vec<String>, ConfigError> {
    let items = values.array(value, name, "texts")?.iter();
    let all: Vec<String> = items.map(|item| values.text(item, name)).collect::<Result<_, _>>()?;
    match all.len() <= WORDS {
        true => Ok(all),
        false => Err(values.wrong(value, format!("`{name}` has at most {WORDS} items"))),
    }
}
