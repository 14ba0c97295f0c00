//! Effects of calls that a recorded plan states, or the reason why it states none.

use crate::folder::Programme;
use crate::row::Row;
use restive_ledger::Plan as Recorded;
use restive_pipeline::identification::{Effects, Identification, not_stated};
use restive_pipeline::{Plan, PlanCertificate};
use restive_tables::Model;
use serde::{Deserialize, Serialize, Serializer};

/// Name of the line of a summary that says why effects are not stated.
pub(crate) const EFFECTS: &str = "effects of calls";

/// Effects of the calls of a plan, as the ledger keeps them with the plan.
pub type RecordedEffects = Effects<ListEffects>;

/// Expected effects of the calls of a recorded plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListEffects {
    /// Expected reward that the calls add over the steps ahead.
    pub value: f64,
    /// Comparison of the list with the bound of all lists; `None` without people.
    pub certificate: Option<PlanCertificate>,
}

impl ListEffects {
    pub(crate) fn new(plan: &Plan) -> RecordedEffects {
        match plan.effects.identified() {
            Some(found) => {
                Effects::Identified(Self { value: found.value, certificate: found.certificate.clone() })
            }
            None => Effects::Withheld(plan.effects.identification().clone()),
        }
    }

    /// Parses the field `certificate` of a recorded plan.
    pub(crate) fn parse(certificate: &str) -> serde_json::Result<RecordedEffects> {
        serde_json::from_str(certificate)
    }

    /// Effects in the record of a plan. A record that cannot be read states none.
    pub(crate) fn of(plan: &Recorded) -> RecordedEffects {
        Self::parse(&plan.facts.certificate).unwrap_or_else(|error| {
            let reason = format!("the record of plan {} has no effects ({error})", plan.id);
            Effects::Withheld(Identification::Unknown { reason })
        })
    }
}

/// Row of a plan that states these effects: without effects if the plan states none.
pub(crate) fn stated(mut row: Row, effects: &RecordedEffects) -> Row {
    row.effects = row.effects.filter(|_| effects.identified().is_some());
    row
}

/// Lines of the summary of a plan that state no effects.
const PLAIN: [&str; 5] = ["places", "drawn by lot", "probabilities", "model", "seed"];

/// Summary of a recorded plan, as name and value. If the plan stated effects that are refused now, only lines without effects.
pub(crate) fn summary(plan: &Recorded, effects: &RecordedEffects) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = serde_json::from_str(&plan.facts.summary).unwrap_or_default();
    let is_refused = ListEffects::of(plan).identified().is_some() && effects.identified().is_none();
    if is_refused {
        all.retain(|(name, _)| PLAIN.contains(&name.as_str()));
        all.extend(not_stated_of_people(effects.identification()).map(|said| (EFFECTS.into(), said)));
    }
    all
}

/// A recorded plan as JSON. If the plan states no effects, the number that the ledger has for their sum is left out.
pub(crate) fn record_json(plan: &Recorded, effects: &RecordedEffects) -> serde_json::Value {
    let mut record = serde_json::to_value(plan).expect("plain values");
    if let (None, Some(facts)) = (effects.identified(), record.as_object_mut()) {
        facts.remove("value");
        let text = |value: serde_json::Result<String>| value.expect("plain values").into();
        facts.insert("certificate".into(), text(serde_json::to_string(effects)));
        facts.insert("summary".into(), text(serde_json::to_string(&summary(plan, effects))));
    }
    record
}

/// Like [`record_json`], with the recorded effects.
pub(crate) fn serialize_record<S: Serializer>(plan: &Recorded, serializer: S) -> Result<S::Ok, S::Error> {
    record_json(plan, &ListEffects::of(plan)).serialize(serializer)
}

impl Programme {
    /// Effects that a recorded plan states, unless an evaluation has refused its model since.
    pub fn effects(&self, plan: &Recorded) -> crate::Result<RecordedEffects> {
        let refusal = Model::refusal(&self.models_folder().join(&plan.facts.model))?;
        Ok(refusal.map_or_else(|| ListEffects::of(plan), Effects::Withheld))
    }
}

/// Why effects are not stated and what would tell, for people; `None` if they are stated.
pub fn not_stated_of_people(identification: &Identification) -> Option<String> {
    not_stated(identification).map(|said| crate::report::words::of_people(&said))
}
