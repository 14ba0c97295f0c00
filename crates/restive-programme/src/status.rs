//! Where a programme stands, in ten lines.

use crate::draft::Backdrop;
use crate::error::Result;
use crate::folder::Programme;
use crate::list::spoken;
use jiff::civil::Date;
use restive_ledger::{Ledger, Reader, Standing, Standings, Status as PlanStatus};
use restive_pipeline::words::{counted, grouped};
use serde::Serialize;

/// Days after which a model is called old.
pub(crate) const OLD: i64 = 90;

/// Where a programme stands.
#[derive(Debug, Clone, Serialize)]
pub struct Status {
    /// people of the study, of these gone, and not to be called
    pub people: [usize; 3],
    /// what a period is called
    pub period: String,
    /// periods of the study
    pub periods: usize,
    /// the first day of the first one, and of the next one
    pub days: [Option<Date>; 2],
    /// calls so far
    pub calls: u64,
    /// the last day of the period that the next list is for
    pub next_until: Date,
    /// whether there is a list for it
    pub is_planned: bool,
    /// plans that count, the latest last
    pub plans: Vec<Standing>,
    /// when the latest one was made
    pub made_at: Option<String>,
    /// listed people whose outcome is not known, over all plans that count
    pub outcomes_missing: usize,
    /// the model that would be used, and its age in days
    pub model: Option<(String, Option<i64>)>,
    /// models in all
    pub models: usize,
    /// whether there are rules
    pub has_rules: bool,
    /// what should be seen to
    pub warnings: Vec<String>,
}

impl Programme {
    /// Where it stands on a day.
    pub fn status(&self, today: Date) -> Result<Status> {
        self.stands(today, |reader| Ok(reader.standings()?))
    }

    /// The same for somebody who asks again and again: what cannot have changed is not read again.
    pub fn status_before(&self, backdrop: &Backdrop, today: Date) -> Result<Status> {
        self.stands(today, |reader| backdrop.past.standings(reader))
    }

    fn stands(&self, today: Date, standings: impl FnOnce(&Reader) -> Result<Standings>) -> Result<Status> {
        let rules = self.rules()?;
        let models = self.models()?;
        let age = |day: Date| i64::from((today - day).get_days());
        let chosen = if models.is_empty() { None } else { Some(self.model(None, &rules)?) };
        let model = chosen.map(|entry| (entry.name, entry.day.map(age)));
        let standings = match self.ledger().exists() {
            true => standings(&Ledger::read(&self.ledger())?)?,
            false => Standings { latest: None, plans: Vec::new() },
        };
        let period = self.period()?;
        let plans: Vec<Standing> =
            standings.plans.into_iter().filter(|plan| plan.status == PlanStatus::Current).collect();
        let is_planned = plans.iter().any(|plan| plan.period == period.number);
        let said = &self.summary;
        let first = said.periods.first().and_then(|row| row.state_from.parse().ok());
        let mut status = Status {
            people: [said.people, said.left, said.do_not_call],
            period: said.period.clone(),
            periods: said.periods.len(),
            days: [first, Some(period.first_day)],
            calls: said.calls,
            next_until: period.last_day,
            is_planned,
            outcomes_missing: plans.iter().map(|plan| plan.missing).sum(),
            made_at: standings.latest.map(|plan| plan.facts.made_at),
            plans,
            model,
            models: models.len(),
            has_rules: self.rules_file().exists(),
            warnings: Vec::new(),
        };
        status.warnings = status.warned(today);
        Ok(status)
    }
}

impl Status {
    fn warned(&self, today: Date) -> Vec<String> {
        let mut warnings = Vec::new();
        let noun = &self.period;
        if today > self.next_until {
            warnings.push(format!(
                "the {noun} after the last import ended on {}: import fresher exports before you plan",
                spoken(self.next_until)
            ));
        }
        let late: usize = self.plans.iter().rev().skip(1).map(|plan| plan.missing).sum();
        if late > 0 {
            warnings.push(format!(
                "{} of earlier lists without an outcome: until it comes, nobody knows whether they were called",
                people_counted(late)
            ));
        }
        match &self.model {
            None => warnings.push("no model yet: restive train makes one".into()),
            Some((name, Some(age))) if *age > OLD => {
                warnings
                    .push(format!("model {name} is {age} days old: train again with what has come since"));
            }
            Some(_) => {}
        }
        warnings
    }

    /// The lines, each with its name.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let [people, left, never] = self.people;
        let day = |day: Option<Date>| day.map_or("?".into(), |day| day.to_string());
        let noun = &self.period;
        let next = format!(
            "{noun} of {} until {}: {}",
            self.days[1].map_or("?".into(), spoken),
            spoken(self.next_until),
            if self.is_planned { "planned" } else { "not planned yet" }
        );
        let last = match (self.plans.last(), &self.made_at) {
            (Some(plan), Some(made)) => {
                format!(
                    "{}, {} of {}, made at {made}",
                    plan.plan,
                    people_counted(plan.listed),
                    grouped(plan.people as u64)
                )
            }
            _ => "none".into(),
        };
        let outcomes = match self.plans.last() {
            None => "none".into(),
            Some(plan) => {
                let earlier = self.outcomes_missing - plan.missing;
                format!(
                    "{} of {} missing of the last list, {} of earlier ones",
                    grouped(plan.missing as u64),
                    grouped(plan.listed as u64),
                    grouped(earlier as u64)
                )
            }
        };
        let model = match &self.model {
            None => "none".into(),
            Some((name, age)) => {
                let age =
                    age.map_or(String::new(), |age| format!(", {} old", counted(age.max(0) as u64, "day")));
                format!("{name}{age}; {} in all", grouped(self.models as u64))
            }
        };
        vec![
            (
                "people",
                format!(
                    "{}, {} have left, {} are not to be called",
                    grouped(people as u64),
                    grouped(left as u64),
                    grouped(never as u64)
                ),
            ),
            (
                "study",
                format!(
                    "{} from {} until {}, {}",
                    counted(self.periods as u64, noun),
                    day(self.days[0]),
                    day(self.days[1]),
                    counted(self.calls, "call")
                ),
            ),
            ("next list", next),
            ("last list", last),
            ("outcomes", outcomes),
            ("model", model),
            (
                "rules",
                if self.has_rules { "rules.toml".into() } else { "none: the budget of the study".into() },
            ),
        ]
    }
}

/// `1 person`, `20 people`.
pub(crate) fn people_counted(people: usize) -> String {
    if people == 1 { "1 person".into() } else { format!("{} people", grouped(people as u64)) }
}
