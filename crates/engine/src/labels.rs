//! What the label of a network tells its reader: its name, one sentence that says what to
//! do, and for the owner alone the key that a vouch would help most.

use crate::interner::Interner;
use serde::Serialize;
use std::fmt;
use wats_event::Hex32;
use wats_model::views::{NetworkLabel, NetworkView};

/// A label, as it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LabelAdvice {
    /// `cold` or `alone`.
    pub label: &'static str,
    /// What to do, by its command.
    pub advice: &'static str,
    /// The key that a vouch would help most, where one can be named. It follows from trust: it is for the
    /// owner alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Hex32>,
}

impl LabelAdvice {
    /// A label of a network in which the reader has a profile, or has none.
    pub fn new(label: NetworkLabel, suggested: Option<Hex32>, has_profile: bool) -> LabelAdvice {
        let advice = match (has_profile, label) {
            (false, _) => {
                "you have no profile in this network, so you trust nobody and old keys of strangers count a little: \
                 make one with `wats keygen`, and name it in `profiles` of the configuration"
            }
            (true, NetworkLabel::Cold) => {
                "you trust too few others yet, and old keys of strangers count a little: vouch for those whom \
                 you know with `wats vouch KEY`, or accept and use what helped you with `wats react`"
            }
            (true, NetworkLabel::Alone) => {
                "nobody but you has weight now, as all that you relied on has decayed: renew what still holds \
                 with `wats react ID --renew`, or vouch for those whom you know with `wats vouch KEY`"
            }
        };
        LabelAdvice { label: label.name(), advice, key: suggested }
    }

    /// The label of a view, with its key.
    pub fn in_view(view: &NetworkView, intake: &Interner) -> LabelAdvice {
        LabelAdvice::new(
            view.label,
            suggested(view, intake),
            !intake.config().profiles(view.network).is_empty(),
        )
    }

    /// The same, for those who are not the owner.
    #[must_use]
    pub fn without_key(self) -> LabelAdvice {
        LabelAdvice { key: None, ..self }
    }
}

/// After the name of the network and "is": the line of a command.
impl fmt::Display for LabelAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.label, self.advice)?;
        match self.key {
            Some(key) => f.write_str(&helped_by(key)),
            None => Ok(()),
        }
    }
}

/// What names the key of a label, after its advice.
pub fn helped_by(key: impl fmt::Display) -> String {
    format!("; `wats vouch {key}` would help most")
}

/// The key that a vouch would help most: by name, so that it does not depend on the integers of this run.
pub fn suggested(view: &NetworkView, intake: &Interner) -> Option<Hex32> {
    view.suggested.iter().filter_map(|key| intake.key_name(*key)).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_label_has_a_name_and_one_sentence_that_names_a_command() {
        for (label, named, command) in
            [(NetworkLabel::Cold, "cold", "`wats vouch KEY`"), (NetworkLabel::Alone, "alone", "--renew`")]
        {
            let suggested = Some(Hex32([7; 32]));
            let told = LabelAdvice::new(label, suggested, true);
            assert_eq!((told.label, told.key), (named, suggested));
            assert!(told.advice.contains(command), "{}", told.advice);
            assert_eq!(told.without_key(), LabelAdvice { key: None, ..told });
            assert!(LabelAdvice::new(label, suggested, false).advice.contains("`wats keygen`"));
        }
    }

    #[test]
    fn nobody_but_the_owner_is_told_more_than_words() {
        let (label, suggested) = (NetworkLabel::Cold, Some(Hex32([7; 32])));
        let json =
            serde_json::to_value(LabelAdvice::new(label, suggested, true).without_key()).unwrap_or_default();
        assert_eq!(
            json.as_object().map(|told| told.keys().collect::<Vec<_>>()).unwrap_or_default(),
            ["advice", "label"]
        );
    }
}
