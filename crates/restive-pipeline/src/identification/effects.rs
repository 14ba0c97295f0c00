//! Numbers that a result has only if effects of calls are identified.

use super::Identification;
use serde::{Deserialize, Serialize, Serializer};

/// Sentence on what would identify effects.
pub const WHAT_WOULD_TELL: &str =
    "a share of the places drawn by lot (explore = 0.1 in rules.toml), or a trial (restive trial design)";

/// Sentences on the missing effects: the reason, and the remedy; `None` if effects may be stated.
pub fn not_stated(identification: &Identification) -> Option<String> {
    let reason = identification.reason()?;
    Some(format!(
        "not stated, ranks are the order of the model: {reason}. What would tell: {WHAT_WOULD_TELL}"
    ))
}

/// Numbers about effects of calls, or the reason for their absence. The numbers are reachable only if they may be stated.
///
/// Serialised, `effects` is the [`Identification`]; the fields of `T` follow it if they may be stated.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Written<T>", bound(deserialize = "T: Deserialize<'de>"))]
pub enum Effects<T> {
    /// The numbers.
    Identified(T),
    /// Reason for their absence; not [`Identification::Identified`].
    Withheld(Identification),
}

impl<T> Effects<T> {
    /// The numbers, if they may be stated.
    pub fn new(identification: &Identification, effects: T) -> Self {
        match identification {
            Identification::Identified => Self::Identified(effects),
            other => Self::Withheld(other.clone()),
        }
    }

    /// The numbers; `None` if they may not be stated.
    pub fn identified(&self) -> Option<&T> {
        match self {
            Self::Identified(effects) => Some(effects),
            Self::Withheld(_) => None,
        }
    }

    /// Like [`identified`](Self::identified), to be changed.
    pub fn identified_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::Identified(effects) => Some(effects),
            Self::Withheld(_) => None,
        }
    }

    /// Whether effects may be stated.
    pub fn identification(&self) -> &Identification {
        match self {
            Self::Identified(_) => &Identification::Identified,
            Self::Withheld(identification) => identification,
        }
    }
}

#[derive(Serialize)]
struct ToWrite<'a, T> {
    effects: &'a Identification,
    #[serde(flatten)]
    numbers: Option<&'a T>,
}

#[derive(Deserialize)]
struct Written<T> {
    effects: Identification,
    #[serde(flatten)]
    numbers: Option<T>,
}

impl<T: Serialize> Serialize for Effects<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ToWrite { effects: self.identification(), numbers: self.identified() }.serialize(serializer)
    }
}

impl<T> TryFrom<Written<T>> for Effects<T> {
    type Error = &'static str;

    fn try_from(Written { effects, numbers }: Written<T>) -> Result<Self, Self::Error> {
        match (effects, numbers) {
            (Identification::Identified, Some(numbers)) => Ok(Self::Identified(numbers)),
            (Identification::Identified, None) => Err("effects are identified and have no numbers"),
            (other, _) => Ok(Self::Withheld(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Gain {
        gain: f64,
    }

    #[test]
    fn effects_withheld_have_a_reason_and_no_numbers() {
        let unknown = Identification::Unknown { reason: "12 pulls".into() };
        let stated = Effects::new(&Identification::Identified, Gain { gain: 0.5 });
        let withheld = Effects::new(&unknown, Gain { gain: 0.5 });
        let (one, other) = (serde_json::to_value(&stated).unwrap(), serde_json::to_value(&withheld).unwrap());
        assert_eq!(one, json!({"effects": "identified", "gain": 0.5}));
        assert_eq!(other, json!({"effects": {"unknown": {"reason": "12 pulls"}}}));
        assert_eq!(serde_json::from_value::<Effects<Gain>>(one).unwrap(), stated);
        assert_eq!(serde_json::from_value::<Effects<Gain>>(other).unwrap(), withheld);
        let lost = json!({"effects": "identified"});
        assert!(serde_json::from_value::<Effects<Gain>>(lost).is_err());
    }
}
