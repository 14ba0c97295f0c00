//! A plan and its record, from what they are made of and nothing else.
//!
//! [`Materials`] is all that a plan depends on: study and model, what is known of people, rules, words, the calendar, what was asked, the
//! trial that runs, the moment. The same materials give the same record, byte for byte, on one machine and any number of threads. On another
//! processor numbers of the model may be rounded otherwise. An audit therefore makes a plan [again](Materials::make_again) from
//! the materials that were [kept](crate::store) and from the recorded scores.

use crate::effects::{EFFECTS, ListEffects, not_stated_of_people};
use crate::error::{Error, Result};
use crate::row::{Calendar, Row, how};
use crate::status::people_counted;
use crate::store;
use jiff::civil::Date;
use restive_ledger::{Excluded, Input, NewPlan, Planned};
use restive_pipeline::reasons::{Words, sentence};
use restive_pipeline::words::{counted, grouped};
use restive_pipeline::{
    Applied, Chosen, InTrial, Message, Nouns, Outlook, Plan, PlanAsked, PolicyName, PricingProgress,
    RecordedScores, RulePrice, Rules, Trained, is_rounding,
};
use restive_tables::{Contacts, Model, Study, show};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

/// All that a plan depends on.
pub(crate) struct Materials {
    pub(crate) study: Study,
    pub(crate) trained: Trained,
    /// of model and study, for messages
    pub(crate) names: [String; 2],
    /// of the model in the programme
    pub(crate) model: String,
    pub(crate) model_fingerprint: String,
    /// what a plan needs of people, and nothing else
    pub(crate) contacts: Contacts,
    /// the column that sheets are made by
    pub(crate) worker: Option<String>,
    pub(crate) rules: Rules,
    pub(crate) words: Words,
    pub(crate) words_fingerprint: String,
    pub(crate) when: When,
    pub(crate) asked: AskedOnRecord,
    pub(crate) pricing: PricingProgress,
    /// by name, and who is in which group
    pub(crate) trial: Option<(String, InTrial)>,
    pub(crate) made_at: String,
}

/// The calendar of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct When {
    /// what a period is called
    pub(crate) noun: String,
    /// the first day of the period of each row of the study
    pub(crate) days: Vec<Option<Date>>,
    pub(crate) number: i64,
    pub(crate) first_day: Date,
    pub(crate) last_day: Date,
}

/// What was asked of a plan, as the ledger keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AskedOnRecord {
    budget: Option<usize>,
    policy: Option<PolicyName>,
    remaining: Option<usize>,
    only_beneficial: bool,
    pub(crate) history: Option<bool>,
    pub(crate) index_discount: Option<f64>,
    explore: Option<f64>,
    pub(crate) seed: u64,
}

impl From<&PlanAsked> for AskedOnRecord {
    fn from(asked: &PlanAsked) -> Self {
        Self {
            budget: asked.budget,
            policy: asked.policy,
            remaining: asked.remaining,
            only_beneficial: asked.only_beneficial,
            history: asked.history,
            index_discount: asked.index_discount,
            explore: asked.explore,
            seed: asked.seed,
        }
    }
}

impl AskedOnRecord {
    fn plan_asked(
        &self,
        contacts: &Contacts,
        rules: &Rules,
        when: &When,
        trial: Option<&InTrial>,
    ) -> PlanAsked {
        PlanAsked {
            budget: self.budget,
            policy: self.policy,
            remaining: self.remaining,
            only_beneficial: self.only_beneficial,
            history: self.history,
            index_discount: self.index_discount,
            explore: self.explore,
            seed: self.seed,
            people: Some(contacts.clone()),
            rules: rules.clone(),
            period: Some(when.first_day.to_string()),
            trial: trial.cloned(),
            ..PlanAsked::default()
        }
    }
}

/// A plan, and what is recorded of it.
pub(crate) struct Made {
    pub(crate) facts: NewPlan,
    pub(crate) people: Vec<Planned>,
    pub(crate) excluded: Vec<Excluded>,
    pub(crate) plan: Plan,
    /// of those on the list, in its order
    pub(crate) rows: Vec<(String, Row)>,
    pub(crate) notes: Vec<String>,
    pub(crate) warnings: Vec<Message>,
}

/// What contents are called that are no file of the study or the model.
pub(crate) const PEOPLE: &str = "people.json";
pub(crate) const CALENDAR: &str = "calendar.json";
pub(crate) const WORDS: &str = "words.toml";
pub(crate) const RULES: &str = "rules.toml";
pub(crate) const STUDY: &str = "study";
pub(crate) const MODEL: &str = "model";

impl Materials {
    /// The plan, and its record; `inputs` is what is said to be kept of the materials.
    pub(crate) fn make(&self, inputs: Vec<Input>) -> Result<Made> {
        self.make_by(inputs, |applied, asked| applied.plan(asked))
    }

    /// Makes a plan again from its recorded scores; returns it with the arms of unconfirmed scores. Numbers of the model that differ
    /// from the recorded ones by rounding are replaced by these.
    pub(crate) fn make_again(&self, facts: &NewPlan, people: &[Planned]) -> Result<(Made, Vec<String>)> {
        let is_stated =
            ListEffects::parse(&facts.certificate).is_ok_and(|found| found.identified().is_some());
        let value = |person: &Planned| is_stated.then_some(person.value);
        let scores = people.iter().map(|person| (person.arm.as_str(), person.score, value(person)));
        let mut scores = RecordedScores::new(scores);
        let mut made = self.make_by(facts.inputs.clone(), |applied, asked| {
            let mut plan = applied.plan_again(asked, &mut scores)?;
            if let Some(effects) = plan.effects.identified_mut() {
                let recorded: Value = serde_json::from_str(&facts.certificate).unwrap_or_default();
                let recorded = recorded["certificate"].to_string();
                effects.certificate =
                    effects.certificate.take().map(|again| with_recorded_numbers(again, &recorded, &[]));
            }
            Ok(plan)
        })?;
        let rows: HashMap<&str, &str> =
            people.iter().filter_map(|person| Some((person.arm.as_str(), person.row.as_deref()?))).collect();
        for person in &mut made.people {
            let (Some(row), Some(recorded)) = (&mut person.row, rows.get(person.arm.as_str())) else {
                continue;
            };
            let again: Row = serde_json::from_str(row).expect("as it was just written");
            let again = with_recorded_numbers(again, recorded, &Row::OF_THE_MODEL);
            *row = serde_json::to_string(&again).expect("plain values");
        }
        Ok((made, scores.unconfirmed().to_vec()))
    }

    fn make_by(
        &self,
        inputs: Vec<Input>,
        plan: impl FnOnce(&Applied<'_>, &PlanAsked) -> restive_pipeline::Result<Plan>,
    ) -> Result<Made> {
        let [model_name, study_name] = &self.names;
        let applied = Applied::new(&self.trained, &self.study, model_name, study_name)?;
        let trial = self.trial.as_ref().map(|(_, groups)| groups);
        let mut asked = self.asked.plan_asked(&self.contacts, &self.rules, &self.when, trial);
        asked.pricing = self.pricing.clone();
        let plan = plan(&applied, &asked)?;
        let words = self.words.clone().for_study(&self.study.settings);
        let calendar = Calendar { days: &self.when.days };
        let reasons = applied.reasons(0, &listed_in(&self.study, &plan), self.asked.history)?;
        let mut rows = Vec::with_capacity(plan.plan.len());
        for (k, arm) in plan.plan.iter().enumerate() {
            let reason = reasons.identified().map(|all| &all[k]).zip(arm.effects).map(|(reason, effects)| {
                let margin = (arm.chosen == Chosen::Rank).then_some(effects.margin);
                (reason, sentence(reason, &words, margin))
            });
            let contact = self.contacts.person(&arm.arm)?;
            let row = Row::new(arm, reason, words.chosen(arm.chosen).unwrap_or_default(), &calendar, contact);
            rows.push((arm.arm.clone(), row));
        }
        let people = self.planned(&plan, &rows)?;
        let name = |instance: usize, arm: usize| self.study.instances[instance].arms[arm].clone();
        let excluded = plan.excluded.iter();
        let excluded =
            excluded.map(|one| Excluded { arm: name(one.instance, one.arm), why: one.why.clone() }).collect();
        let facts = self.facts(&plan, inputs);
        let notes = applied.notes.iter().cloned().chain(plan.note()).chain(plan.left_out()).collect();
        let warnings = plan.warnings();
        drop(applied);
        Ok(Made { facts, people, excluded, rows, notes, warnings, plan })
    }

    /// What was expected of everybody, whichever group of a trial they are in.
    pub(crate) fn outlook(&self) -> Result<Outlook> {
        let [model_name, study_name] = &self.names;
        let applied = Applied::new(&self.trained, &self.study, model_name, study_name)?;
        Ok(applied.outlook(&self.asked.plan_asked(&self.contacts, &self.rules, &self.when, None))?)
    }

    fn facts(&self, plan: &Plan, inputs: Vec<Input>) -> NewPlan {
        let whole = |x: usize| u32::try_from(x).unwrap_or(u32::MAX);
        let json = |value: serde_json::Result<String>| value.expect("plain values");
        let mut facts = NewPlan {
            made_at: self.made_at.clone(),
            period: self.when.number,
            period_start: self.when.first_day.to_string(),
            period_end: self.when.last_day.to_string(),
            restive: env!("CARGO_PKG_VERSION").into(),
            model: self.model.clone(),
            model_fingerprint: self.model_fingerprint.clone(),
            study_fingerprint: self.study.fingerprint(),
            words_fingerprint: self.words_fingerprint.clone(),
            rules: self.rules.text.clone(),
            policy: plan.policy.name().into(),
            budget: whole(plan.budget),
            places: whole(plan.plan.len()),
            explore_places: whole(plan.drawn),
            seed: self.asked.seed,
            steps: whole(plan.steps[1]),
            inclusion: plan.chance.words(),
            // nothing is recorded that is not stated
            value: plan.effects.identified().map_or(0.0, |effects| effects.value),
            summary: String::new(),
            asked: json(serde_json::to_string(&self.asked)),
            inputs,
            certificate: json(serde_json::to_string(&ListEffects::new(plan))),
            trial: self.trial.as_ref().map(|(id, _)| id.clone()),
            cuts: json(serde_json::to_string(&plan.cuts)),
        };
        facts.summary = json(serde_json::to_string(&self.summary(&facts, plan)));
        facts
    }

    /// Everybody from whom the plan chose, for the ledger.
    fn planned(&self, plan: &Plan, rows: &[(String, Row)]) -> Result<Vec<Planned>> {
        let said: HashMap<&str, &Row> = rows.iter().map(|(arm, row)| (arm.as_str(), row)).collect();
        let column =
            self.worker.as_ref().and_then(|name| self.contacts.kept.iter().position(|kept| kept == name));
        let groups = self.trial.as_ref().map(|(_, trial)| &trial.groups);
        let mut order: Vec<usize> =
            (0..plan.eligible.len()).filter(|i| !plan.eligible[*i].is_control).collect();
        order.sort_by(|a, b| plan.eligible[*b].score.total_cmp(&plan.eligible[*a].score));
        let mut rank = vec![None; plan.eligible.len()];
        order.iter().enumerate().for_each(|(k, i)| rank[*i] = Some(k as u32 + 1));
        let person = |(i, eligible): (usize, &restive_pipeline::Eligible)| -> Result<Planned> {
            let arm = &self.study.instances[eligible.instance].arms[eligible.arm];
            let group =
                column.map(|k| Ok::<_, Error>(self.contacts.person(arm)?.kept[k].clone())).transpose()?;
            Ok(Planned {
                arm: arm.clone(),
                probability: eligible.inclusion.clamp(0.0, 1.0),
                how: how(eligible.chosen),
                rank: rank[i],
                state: Some(eligible.state.into()),
                value: eligible.value.unwrap_or_default(),
                group: group.filter(|name| !name.is_empty()),
                row: said.get(arm.as_str()).map(|row| serde_json::to_string(row).expect("plain values")),
                score: eligible.score,
                tie: eligible.tie,
                trial: groups.and_then(|groups| groups.get(arm).cloned()),
            })
        };
        plan.eligible.iter().enumerate().map(person).collect()
    }

    /// What a planner should know of a list, as name and value.
    fn summary(&self, facts: &NewPlan, plan: &Plan) -> Vec<(String, String)> {
        let unit = self.study.settings.unit.as_deref().unwrap_or("reward");
        let among = plan.eligible.iter().filter(|one| one.inclusion > 0.0 && one.inclusion < 1.0).count();
        let drawn = match plan.drawn {
            0 => "nobody".into(),
            drawn => format!("{} among {}", grouped(drawn as u64), people_counted(among)),
        };
        let empty = match plan.budget - plan.plan.len().min(plan.budget) {
            0 => String::new(),
            empty => format!("; {} empty: the rules allow no more", grouped(empty as u64)),
        };
        let mut all = vec![
            (
                "places".to_string(),
                format!("{} of {}{empty}", grouped(facts.places.into()), grouped(facts.budget.into())),
            ),
            ("drawn by lot".into(), drawn),
        ];
        all.extend(not_stated_of_people(plan.effects.identification()).map(|said| (EFFECTS.into(), said)));
        if let Some(effects) = plan.effects.identified() {
            let over = counted(facts.steps.into(), &self.when.noun);
            all.push(("expected to add".into(), format!("{:.1} {unit} over {over}", effects.value)));
        }
        all.push(("probabilities".into(), facts.inclusion.clone()));
        let nouns = Nouns { pull: "call", step: &self.when.noun, people: ["person", "people"], unit };
        let certificate = plan.effects.identified().and_then(|effects| effects.certificate.as_ref());
        all.extend(certificate.into_iter().flat_map(|certificate| certificate.lines(nouns)));
        all.extend([("model".into(), facts.model.clone()), ("seed".into(), facts.seed.to_string())]);
        for price in &plan.rules {
            all.push((price.rule.clone(), priced(price, unit)));
        }
        if plan.gap > 0.0 {
            let gap = format!("not proven: at most {:.3} of {} away", plan.gap, plan.score_name());
            all.push(("the best list under these rules".into(), gap));
        }
        all
    }

    /// All that the plan depends on but its words, by name.
    pub(crate) fn contents(&self, study: &Path, model: &Path) -> Result<Vec<(String, Vec<u8>)>> {
        let mut contents = Vec::new();
        for name in store::files(study)? {
            contents.push((format!("{STUDY}/{name}"), store::read(&study.join(&name))?));
        }
        for name in Model::FILES {
            contents.push((format!("{MODEL}/{name}"), store::read(&model.join(name))?));
        }
        if model.join(Model::REFUSAL).exists() {
            contents.push((format!("{MODEL}/{}", Model::REFUSAL), store::read(&model.join(Model::REFUSAL))?));
        }
        contents.push((PEOPLE.into(), self.contacts.to_json()));
        contents.push((CALENDAR.into(), serde_json::to_vec(&self.when).expect("plain values")));
        contents.push((RULES.into(), self.rules.text.clone().into_bytes()));
        Ok(contents)
    }
}

/// `again` with those of its numbers that differ from the recorded ones by rounding replaced by these; `fields` restricts that to some
/// of its fields, none: all.
fn with_recorded_numbers<T: Serialize + DeserializeOwned>(again: T, recorded: &str, fields: &[&str]) -> T {
    let Ok(recorded) = serde_json::from_str::<Value>(recorded) else { return again };
    let mut value = serde_json::to_value(&again).expect("plain values");
    match fields {
        [] => adopt(&mut value, &recorded),
        fields => fields.iter().for_each(|field| adopt(&mut value[*field], &recorded[*field])),
    }
    serde_json::from_value(value).unwrap_or(again)
}

/// Replaces numbers by the recorded ones from which they differ by rounding. Integers are never rounded, and stay.
fn adopt(again: &mut Value, recorded: &Value) {
    match (again, recorded) {
        (Value::Number(number), Value::Number(recorded)) if number.is_f64() && recorded.is_f64() => {
            if let (Some(a), Some(b)) = (number.as_f64(), recorded.as_f64())
                && is_rounding(a, b, 1.0)
            {
                *number = recorded.clone();
            }
        }
        (Value::Array(again), Value::Array(recorded)) => {
            again.iter_mut().zip(recorded).for_each(|(again, recorded)| adopt(again, recorded));
        }
        (Value::Object(again), Value::Object(recorded)) => {
            for (name, again) in again {
                recorded.get(name).into_iter().for_each(|recorded| adopt(again, recorded));
            }
        }
        _ => {}
    }
}

/// What a rule costs, in words.
pub(crate) fn priced(price: &RulePrice, unit: &str) -> String {
    let kept =
        price.keeps_out.map_or(String::new(), |people| format!(", keeps out {}", people_counted(people)));
    let Some(cost) = price.cost else {
        return if kept.is_empty() { "holds".into() } else { kept.trim_start_matches(", ").into() };
    };
    let about = if cost.is_rough { "about " } else { "" };
    // by an index, which is no reward, a list under fewer rules may be worth a little less
    let costs = match cost.costs {
        costs if costs < 0.005 => "costs nothing".into(),
        costs => format!("costs {about}{costs:.2} {unit}"),
    };
    format!("{costs}{kept}")
}

/// A short name for some bytes.
pub(crate) fn fingerprint(bytes: &[u8]) -> String {
    format!("{:016x}", xxh3_64(bytes))
}

/// Of the files of a model.
pub(crate) fn model_fingerprint(folder: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    for name in Model::FILES {
        bytes.extend(store::read(&folder.join(name))?);
    }
    Ok(fingerprint(&bytes))
}

/// The column that sheets are made by: as the rules say, else a kept column of that name.
pub(crate) fn worker(rules: &Rules, contacts: &Contacts) -> Result<Option<String>> {
    let wanted = rules.worker.as_deref();
    let found = contacts.kept.iter().find(|name| name.as_str() == wanted.unwrap_or("worker"));
    match (found, wanted) {
        (None, Some(name)) => Err(Error::Refused(format!(
            "{}: worker: found no column {} kept of people, expected one of: {}; the mapping says what is kept",
            show::path(rules.path()),
            show::name(name),
            contacts.kept.iter().map(|name| show::name(name)).collect::<Vec<_>>().join(", ")
        ))),
        (found, _) => Ok(found.cloned()),
    }
}

/// The positions and states of those on the list, in its order.
fn listed_in(study: &Study, plan: &Plan) -> Vec<(usize, u16)> {
    let arms = &study.instances[0].arms;
    let known: HashMap<&str, (usize, u16)> =
        plan.eligible.iter().map(|one| (arms[one.arm].as_str(), (one.arm, one.state))).collect();
    plan.plan.iter().map(|row| known[row.arm.as_str()]).collect()
}
