//! `[policy]`: every constant of [`Policy`] by its name.

use super::ConfigError;
use super::value::Values;
use toml::Spanned;
use toml::de::DeValue;
use wats_model::fixed::{Fixed, ONE};
use wats_model::policy::Policy;

/// The largest base; far above what makes sense, far below what could overflow a sum.
const MOST: i64 = 1_000 * ONE.0;
/// The largest count.
const MANY: u64 = 1 << 16;

/// Overrides what the table names.
pub(super) fn read(
    values: &Values<'_>,
    table: &Spanned<DeValue<'_>>,
    policy: &mut Policy,
) -> Result<(), ConfigError> {
    for (key, value) in values.table(table, "policy")? {
        let name = key.get_ref().as_ref();
        if !(quantity(values, name, value, policy)?
            || span(values, name, value, policy)?
            || count(values, name, value, policy)?)
        {
            return Err(values.unknown(key, name, KNOWN));
        }
    }
    if policy.floor_from_days >= policy.floor_to_days {
        let (from, to) = (policy.floor_from_days, policy.floor_to_days);
        let what = format!("`floor_from_days` ({from}) must be less than `floor_to_days` ({to})");
        return Err(values.wrong(table, what));
    }
    Ok(())
}

/// The quantities: decimal numbers. Whether `name` is one.
fn quantity(
    values: &Values<'_>,
    name: &str,
    value: &Spanned<DeValue<'_>>,
    policy: &mut Policy,
) -> Result<bool, ConfigError> {
    let (field, range) = match name {
        "base_accept" => (&mut policy.base_accept, 0..=MOST),
        "base_confirm_artifact" => (&mut policy.base_confirm_artifact, 0..=MOST),
        "base_confirm_text" => (&mut policy.base_confirm_text, 0..=MOST),
        "base_use" => (&mut policy.base_use, 0..=MOST),
        "base_cite" => (&mut policy.base_cite, 0..=MOST),
        "base_reply" => (&mut policy.base_reply, 0..=MOST),
        "base_vote" => (&mut policy.base_vote, 0..=MOST),
        "base_contradiction_artifact" => (&mut policy.base_contradiction_artifact, 0..=MOST),
        "base_contradiction" => (&mut policy.base_contradiction, 0..=MOST),
        "seed_vouched" => (&mut policy.seed_vouched, 0..=ONE.0),
        // Zero would give every key a say.
        "w_min" => (&mut policy.w_min, 1..=ONE.0),
        "cold_until" => (&mut policy.cold_until, 1..=MOST),
        "floor_cap" => (&mut policy.floor_cap, 0..=ONE.0),
        "damping" => {
            policy.damping = fraction(values.fixed(value, name, 0..=ONE.0)?);
            return Ok(true);
        }
        _ => return Ok(false),
    };
    *field = values.fixed(value, name, range)?;
    Ok(true)
}

/// The spans of time. Whether `name` is one.
fn span(
    values: &Values<'_>,
    name: &str,
    value: &Spanned<DeValue<'_>>,
    policy: &mut Policy,
) -> Result<bool, ConfigError> {
    let (field, least) = match name {
        // A sixteenth of a half-life is a step, and needs a length.
        "half_life" => (&mut policy.half_life, 16),
        "half_life_vote" => (&mut policy.half_life_vote, 16),
        "renewal" => (&mut policy.renewal, 1),
        // Its name was once `reply_lead`.
        "reply_window" | "reply_lead" => (&mut policy.reply_window, 0),
        "recent" => (&mut policy.recent, 0),
        _ => return Ok(false),
    };
    *field = values.span(value, name, least)?;
    Ok(true)
}

/// The counts: integers. Whether `name` is one.
fn count(
    values: &Values<'_>,
    name: &str,
    value: &Spanned<DeValue<'_>>,
    policy: &mut Policy,
) -> Result<bool, ConfigError> {
    let number = |range| values.count(value, name, range);
    match name {
        // After 160 steps nothing is left of a signal.
        "live_steps" => policy.live_steps = number(0..=160)?,
        "max_reacts" => policy.max_reacts = number(1..=MANY)? as usize,
        "max_arguments" => policy.max_arguments = number(1..=MANY)? as usize,
        "broad" => policy.broad = number(1..=MANY)? as usize,
        "floor_from_days" => policy.floor_from_days = number(0..=36_525)?,
        "floor_to_days" => policy.floor_to_days = number(1..=36_525)?,
        "work_half" => policy.work_half = number(1..=1 << 32)? as i64,
        "work_cap" => policy.work_cap = number(0..=1 << 32)? as i64,
        "critic_factor" => policy.critic_factor = number(1..=MANY)? as i64,
        "full_force" => policy.full_force = number(1..=MANY)? as i64,
        "force_per_class" => policy.force_per_class = number(1..=MANY)? as i64,
        "outlive_factor" => policy.outlive_factor = number(1..=MANY)? as i64,
        "knowledge_voices" => policy.knowledge_voices = number(1..=MANY)? as usize,
        "replicas_confirmed" => policy.replicas_confirmed = number(0..=255)? as u8,
        "replicas_recent" => policy.replicas_recent = number(0..=255)? as u8,
        _ => return Ok(false),
    }
    Ok(true)
}

/// A fraction in lowest terms: 0.85 is 17/20, as the specification writes it.
fn fraction(of: Fixed) -> (i64, i64) {
    let (mut a, mut b) = (ONE.0, of.0);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    (of.0 / a, ONE.0 / a)
}

/// The keys, for the message about one that is none of them.
const KNOWN: &str = "base_accept, base_confirm_artifact, base_confirm_text, base_use, base_cite, base_reply, \
    base_vote, base_contradiction_artifact, base_contradiction, half_life, half_life_vote, live_steps, renewal, \
    reply_window, max_reacts, max_arguments, seed_vouched, damping, w_min, broad, cold_until, floor_cap, \
    floor_from_days, floor_to_days, work_half, work_cap, critic_factor, full_force, force_per_class, outlive_factor, \
    knowledge_voices, replicas_confirmed, replicas_recent and recent";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damping_is_in_lowest_terms() {
        assert_eq!(fraction(Fixed(850_000_000)), Policy::default().damping);
        assert_eq!(fraction(ONE), (1, 1));
        assert_eq!(fraction(Fixed(0)), (0, 1));
    }
}
