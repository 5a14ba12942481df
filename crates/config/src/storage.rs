//! `[storage]`: how much blobs may take up.

use super::ConfigError;
use super::value::Values;
use crate::Storage;
use toml::Spanned;
use toml::de::DeValue;

const STORAGE: &str = "high_water, low_water, blob_bytes, key_bytes, unattached_bytes, unattached_for, uploads, \
    unfinished and unfinished_for";

/// Overrides what `[storage]` names.
pub(super) fn read(
    values: &Values<'_>,
    table: &Spanned<DeValue<'_>>,
    storage: &mut Storage,
) -> Result<(), ConfigError> {
    for (key, value) in values.table(table, "storage")? {
        let name = key.get_ref().as_ref();
        let bytes = || values.count(value, name, 0..=1 << 60);
        match name {
            "high_water" => storage.high_water = bytes()?,
            "low_water" => storage.low_water = bytes()?,
            "blob_bytes" => storage.blob_bytes = bytes()?,
            "key_bytes" => storage.key_bytes = bytes()?,
            "unattached_bytes" => storage.unattached_bytes = bytes()?,
            "unattached_for" => storage.unattached_for = values.span(value, name, 0)?,
            "uploads" => storage.uploads = values.count(value, name, 1..=4096)? as usize,
            "unfinished" => storage.unfinished = values.count(value, name, 1..=65_536)? as usize,
            "unfinished_for" => storage.unfinished_for = values.span(value, name, 0)?,
            other => return Err(values.unknown(key, other, STORAGE)),
        }
    }
    Ok(())
}
