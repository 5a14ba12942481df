//! Typed values out of TOML, with errors that name the key and the line.

use super::ConfigError;
use std::ops::RangeInclusive;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};
use wats_model::fixed::Fixed;
use wats_model::ids::Millis;

/// The text and name of a configuration file.
pub(super) struct Values<'t> {
    pub text: &'t str,
    pub file: &'t str,
}

/// A century: spans in a policy are at most this long, so that arithmetic on them cannot overflow.
const LONGEST: u64 = 36_525 * Millis::DAY.0;

impl Values<'_> {
    /// An error at a byte of the file.
    pub(crate) fn wrong_at(&self, at: usize, what: impl Into<String>) -> ConfigError {
        let line = 1 + self.text.bytes().take(at).filter(|&b| b == b'\n').count();
        ConfigError::Wrong { file: self.file.to_owned(), line, what: what.into() }
    }

    /// An error at a value.
    pub(crate) fn wrong<T>(&self, at: &Spanned<T>, what: impl Into<String>) -> ConfigError {
        self.wrong_at(at.span().start, what)
    }

    /// An unknown key, and which there are.
    pub(crate) fn unknown<T>(&self, at: &Spanned<T>, key: &str, known: &str) -> ConfigError {
        self.wrong(at, format!("unknown key `{key}`; there are {known}"))
    }

    pub(crate) fn table<'v, 'i>(
        &self,
        value: &'v Spanned<DeValue<'i>>,
        name: &str,
    ) -> Result<&'v DeTable<'i>, ConfigError> {
        value.get_ref().as_table().ok_or_else(|| self.wrong(value, format!("`{name}` must be a table")))
    }

    pub(crate) fn array<'v, 'i>(
        &self,
        value: &'v Spanned<DeValue<'i>>,
        name: &str,
        of: &str,
    ) -> Result<&'v DeArray<'i>, ConfigError> {
        let array = value.get_ref().as_array();
        array.ok_or_else(|| self.wrong(value, format!("`{name}` must be an array of {of}")))
    }

    /// The name of a network, by the rule for `net` (section 1).
    pub(crate) fn network_id(&self, value: &Spanned<DeValue<'_>>) -> Result<String, ConfigError> {
        let id = value.get_ref().as_str().filter(|id| wats_event::fields::is_network(id));
        let form = "`id` must be 1 to 64 of a-z, 0-9, `.`, `_` and `-`";
        id.map(str::to_owned).ok_or_else(|| self.wrong(value, form))
    }

    /// A text.
    pub(crate) fn text(&self, value: &Spanned<DeValue<'_>>, key: &str) -> Result<String, ConfigError> {
        let text = value.get_ref().as_str();
        text.map(str::to_owned).ok_or_else(|| self.wrong(value, format!("`{key}` must be a text")))
    }

    /// An integer in a range.
    pub(crate) fn count(
        &self,
        value: &Spanned<DeValue<'_>>,
        key: &str,
        range: RangeInclusive<u64>,
    ) -> Result<u64, ConfigError> {
        let digits = value.get_ref().as_integer();
        let read = digits.and_then(|i| u64::from_str_radix(i.as_str(), i.radix()).ok());
        read.filter(|n| range.contains(n)).ok_or_else(|| {
            let (low, high) = range.into_inner();
            self.wrong(value, format!("`{key}` must be an integer from {low} to {high}"))
        })
    }

    /// A decimal number of at most nine digits after the point, in a range given in billionths.
    pub(crate) fn fixed(
        &self,
        value: &Spanned<DeValue<'_>>,
        key: &str,
        range: RangeInclusive<i64>,
    ) -> Result<Fixed, ConfigError> {
        let digits = match value.get_ref() {
            DeValue::Integer(i) if i.radix() == 10 => i.as_str(),
            DeValue::Float(x) => x.as_str(),
            _ => "",
        };
        billionths(digits).filter(|n| range.contains(n)).map(Fixed).ok_or_else(|| {
            let (low, high) = range.into_inner();
            let (low, high) = (decimal(low), decimal(high));
            let form = "with at most nine digits after the point and no exponent";
            self.wrong(value, format!("`{key}` must be a number from {low} to {high}, {form}"))
        })
    }

    /// A span like `"180d"`, `"12h"`, `"90m"`, `"30s"` or `"500ms"`.
    pub(crate) fn span(
        &self,
        value: &Spanned<DeValue<'_>>,
        key: &str,
        least: u64,
    ) -> Result<Millis, ConfigError> {
        let read = value.get_ref().as_str().and_then(milliseconds);
        read.filter(|ms| (least..=LONGEST).contains(ms)).map(Millis).ok_or_else(|| {
            let form = "a span like \"180d\", \"12h\", \"90m\", \"30s\" or \"500ms\"";
            self.wrong(value, format!("`{key}` must be {form}, of {least} ms to 36525 days"))
        })
    }
}

/// Reads a decimal number exactly, in billionths.
fn billionths(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let whole = whole.strip_prefix('+').unwrap_or(whole);
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    // A tenth digit that is zero changes nothing, and is let pass.
    let fraction = fraction.trim_end_matches('0');
    if !digits(whole) || fraction.len() > 9 || !(fraction.is_empty() || digits(fraction)) {
        return None;
    }
    let fraction: i64 = format!("{fraction:0<9}").parse().ok()?;
    whole.parse::<i64>().ok()?.checked_mul(1_000_000_000)?.checked_add(fraction)
}

/// Billionths as a decimal number.
pub fn decimal(billionths: i64) -> String {
    let (sign, all) = (if billionths < 0 { "-" } else { "" }, billionths.unsigned_abs());
    let text = format!("{sign}{}.{:09}", all / 1_000_000_000, all % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Reads a span like `180d`, `12h`, `90m`, `30s` or `500ms`.
pub(super) fn milliseconds(text: &str) -> Option<u64> {
    let unit = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(unit);
    let unit = match unit {
        "d" => Millis::DAY.0,
        "h" => Millis::HOUR.0,
        "m" => 60_000,
        "s" => 1_000,
        "ms" => 1,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        for (text, want) in [
            ("0.6", Some(600_000_000)),
            ("1", Some(1_000_000_000)),
            ("0.000000001", Some(1)),
            ("0.1234567890", Some(123_456_789)),
            ("+2.0", Some(2_000_000_000)),
            ("0.0000000001", None),
            ("-0.1", None),
            ("1e-1", None),
            ("inf", None),
            ("nan", None),
            ("", None),
            ("99999999999", None),
        ] {
            assert_eq!(billionths(text), want, "{text}");
        }
        assert_eq!([decimal(1), decimal(1_000_000_000), decimal(0)], ["0.000000001", "1", "0"]);
    }

    #[test]
    fn spans_have_units() {
        assert_eq!(milliseconds("180d"), Some(180 * Millis::DAY.0));
        assert_eq!(milliseconds("90m"), Some(5_400_000));
        assert_eq!(milliseconds("5ms"), Some(5));
        for wrong in ["", "180", "d", "1 d", "-1d", "1.5d", "1w", "99999999999999999999d", "999999999999d"] {
            assert_eq!(milliseconds(wrong), None, "{wrong}");
        }
    }
}
