//! What lists did with everybody: plans of a record, counted person by person.

use crate::error::Result;
use crate::week::CONTROL;
use restive::fairness::Period;
use restive_ledger::{Code, Plan, Planned, Reader};
use std::collections::{HashMap, HashSet};

/// What a plan says of people who have left.
const GONE: &str = "gone";

/// A plan of the record, whole.
pub(super) struct OnRecord {
    pub(super) plan: Plan,
    pub(super) people: Vec<Planned>,
    /// who could not be chosen, but for those who had left
    pub(super) others: Vec<String>,
    /// overrides applied
    listed: HashSet<String>,
    codes: HashMap<String, Code>,
}

impl OnRecord {
    pub(super) fn read(reader: &Reader, plan: Plan) -> Result<Self> {
        let id = plan.id.clone();
        let others = reader.excluded(&id)?.into_iter().filter(|one| one.why != GONE);
        Ok(Self {
            people: reader.people(&id)?,
            others: others.map(|one| one.arm).collect(),
            listed: reader.listed(&id)?.into_iter().map(|person| person.arm).collect(),
            codes: reader.outcomes(&id)?.into_iter().map(|one| (one.arm, one.code)).collect(),
            plan,
        })
    }

    /// Whether a trial leaves somebody alone.
    pub(super) fn is_control(&self, person: &Planned) -> bool {
        self.plan.facts.trial.is_some() && person.trial.as_deref() == Some(CONTROL)
    }
}

/// What happened to everybody in some plans, `[N]` each.
#[derive(Debug, Clone)]
pub(super) struct Counted {
    pub(super) enrolled: Vec<bool>,
    pub(super) could: Vec<u32>,
    pub(super) listed: Vec<u32>,
    pub(super) outcomes: Vec<u32>,
    pub(super) reached: Vec<u32>,
    pub(super) benefit: Vec<f64>,
}

impl Counted {
    /// Nobody enrolled, nothing done.
    pub(super) fn nothing(people: usize) -> Self {
        let none = vec![0; people];
        Self {
            enrolled: vec![false; people],
            could: none.clone(),
            listed: none.clone(),
            outcomes: none.clone(),
            reached: none,
            benefit: vec![0.0; people],
        }
    }

    /// Of some plans, for everybody by name.
    pub(super) fn new(plans: &[OnRecord], arms: &[String]) -> Self {
        let position: HashMap<&str, usize> =
            arms.iter().enumerate().map(|(i, arm)| (arm.as_str(), i)).collect();
        let mut counted = Self::nothing(arms.len());
        for plan in plans {
            for i in plan.others.iter().filter_map(|arm| position.get(arm.as_str())) {
                counted.enrolled[*i] = true;
            }
            for person in &plan.people {
                let Some(&i) = position.get(person.arm.as_str()) else { continue };
                counted.enrolled[i] = true;
                let is_listed = plan.listed.contains(&person.arm);
                // whoever was put on the list by hand could be called, whatever a trial says
                counted.could[i] += u32::from(is_listed || !plan.is_control(person));
                if is_listed {
                    let code = plan.codes.get(&person.arm);
                    counted.listed[i] += 1;
                    counted.outcomes[i] += u32::from(code.is_some());
                    counted.reached[i] += u32::from(code == Some(&Code::Reached));
                    counted.benefit[i] += person.value;
                }
            }
        }
        counted
    }

    /// As the library has it.
    pub(super) fn period<'a>(&'a self, need: &'a [f64]) -> Period<'a> {
        Period {
            enrolled: &self.enrolled,
            could: &self.could,
            listed: &self.listed,
            outcomes: &self.outcomes,
            reached: &self.reached,
            benefit: &self.benefit,
            need,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use restive_ledger::{How, NewPlan, Status};

    fn planned(arm: &str, trial: Option<&str>) -> Planned {
        Planned {
            arm: arm.into(),
            probability: 0.5,
            how: How::NotListed,
            rank: None,
            state: Some(0),
            value: 0.25,
            group: None,
            row: None,
            score: 0.25,
            tie: 0,
            trial: trial.map(Into::into),
        }
    }

    fn on_record(trial: Option<&str>, listed: &[&str]) -> OnRecord {
        let text = String::new;
        let facts = NewPlan {
            made_at: text(),
            period: 1,
            period_start: text(),
            period_end: text(),
            restive: text(),
            model: text(),
            model_fingerprint: text(),
            study_fingerprint: text(),
            words_fingerprint: text(),
            rules: text(),
            policy: text(),
            budget: 2,
            places: 2,
            explore_places: 0,
            seed: 0,
            steps: 1,
            inclusion: text(),
            value: 0.0,
            summary: text(),
            asked: text(),
            inputs: Vec::new(),
            certificate: text(),
            trial: trial.map(Into::into),
            cuts: text(),
        };
        OnRecord {
            plan: Plan { id: "one".into(), status: Status::Current, people: 4, facts },
            people: vec![
                planned("a", None),
                planned("b", Some(CONTROL)),
                planned("c", Some(CONTROL)),
                planned("d", Some("called")),
            ],
            others: vec!["e".into()],
            listed: listed.iter().map(|arm| arm.to_string()).collect(),
            codes: [("a", Code::Reached), ("c", Code::NoAnswer), ("d", Code::Reached)]
                .map(|(arm, code)| (arm.to_string(), code))
                .into(),
        }
    }

    #[test]
    fn whom_a_trial_leaves_alone_could_not_be_called_unless_somebody_put_her_on_the_list() {
        let arms = ["a", "b", "c", "d", "e", "f"].map(String::from);
        // of the first list c was put on by hand; in the second no trial runs
        let counted = Counted::new(&[on_record(Some("spring"), &["a", "c"]), on_record(None, &["a"])], &arms);
        assert_eq!(counted.enrolled, [true, true, true, true, true, false]);
        assert_eq!(counted.could, [2, 1, 2, 2, 0, 0]);
        assert_eq!(counted.listed, [2, 0, 1, 0, 0, 0]);
        // the outcome of d, who is on no list, is nobody's place
        assert_eq!(counted.outcomes, [2, 0, 1, 0, 0, 0]);
        assert_eq!(counted.reached, [2, 0, 0, 0, 0, 0]);
        assert_eq!(counted.benefit, [0.5, 0.0, 0.25, 0.0, 0.0, 0.0]);
    }
}
