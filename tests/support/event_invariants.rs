//! What must hold of the event reader for any bytes whatever: shared by the test that runs on every
//! toolchain and the cargo-fuzz target.

use wats_event::json::{self, Json};
use wats_event::{Code, MAX_DEPTH, Rules, canonical};
use wats_model::ids::Millis;

/// Feeds bytes to the event reader; panics where an invariant breaks.
pub(crate) fn check(bytes: &[u8]) {
    let rules = Rules::any();
    let verdict = wats_event::parse(bytes, &rules);
    assert_eq!(verdict, wats_event::parse(bytes, &rules), "a verdict depends on the bytes alone");
    let general = serde_json::from_slice::<serde_json::Value>(bytes);
    match &verdict {
        Err(refusal) => {
            assert!(!refusal.reason.is_empty() && refusal.reason.len() < 500, "{}", refusal.reason);
            assert!(!refusal.reason.contains('\n'), "{}", refusal.reason);
        }
        Ok(event) => {
            let whole = wats_event::check(bytes, Millis(u64::MAX), &rules).map_err(|r| r.code);
            assert!(whole.as_ref() == Ok(event) || whole == Err(Code::BadSignature));
        }
    }
    if json::depth(bytes, MAX_DEPTH) > MAX_DEPTH {
        assert_eq!(verdict.map_err(|r| r.code), Err(Code::TooLarge));
        return;
    }
    if let Ok(value) = json::parse(bytes, MAX_DEPTH) {
        assert!(general.is_ok(), "I-JSON is JSON");
        stable(&value);
    }
}

/// Canonical bytes are a text of the same value.
fn stable(value: &Json<'_>) {
    let mut bytes = Vec::new();
    canonical::write(value, &mut bytes);
    assert_eq!(
        json::parse(&bytes, MAX_DEPTH).as_ref(),
        Ok(value),
        "canonical bytes are I-JSON of the same value"
    );
    if let Json::Object(members) = value {
        assert_eq!(canonical::text(members).as_bytes(), bytes, "what is sent is what is hashed");
    }
}
