//! What the ledger says of earlier lists, kept while it stays so.
//!
//! Who was on an earlier list, of whom no outcome came, and how each stands: after a year these are hundreds of thousands of rows, and a desk
//! asks after every word that somebody tells of this week's list. None of it changes while all new links of the chain are about the
//! latest plan, which is looked up in a moment.

use crate::error::Result;
use crate::weeks::WeekTold;
use restive_ledger::{Plan, Reader, Standing, Standings, Status};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

/// What is kept between one look and the next.
#[derive(Debug, Clone, Default)]
pub(crate) struct Past(Arc<Mutex<Option<Arc<Earlier>>>>);

/// What the ledger says of lists before another.
#[derive(Debug)]
pub(crate) struct Earlier {
    plan: String,
    link: i64,
    /// everybody on a list that counts
    pub(crate) listed: HashSet<String>,
    /// arms that any other plan has or had on its list, replaced plans included
    pub(crate) once_listed: HashSet<String>,
    /// of whom an outcome is missing, by plan, the first day of its period first
    pub(crate) missing: Vec<(String, String, HashSet<String>)>,
    /// how every other plan stands
    standings: Vec<Standing>,
    /// what came of those that count, the latest last
    pub(crate) weeks: Vec<WeekTold>,
}

impl Earlier {
    /// Whether somebody is on an earlier list, and nobody knows what came of it.
    pub(crate) fn is_missing(&self, arm: &str) -> bool {
        self.missing.iter().any(|(_, _, arms)| arms.contains(arm))
    }
}

impl Past {
    /// What was before a plan.
    pub(crate) fn before(&self, reader: &Reader, record: &Plan) -> Result<Arc<Earlier>> {
        let link = reader.last_beside(&record.id)?;
        let kept = self.0.lock().ok().and_then(|kept| kept.clone());
        if let Some(kept) = kept.filter(|kept| kept.plan == record.id && kept.link == link) {
            return Ok(kept);
        }
        let mut earlier = Earlier {
            plan: record.id.clone(),
            link,
            listed: HashSet::new(),
            once_listed: HashSet::new(),
            missing: Vec::new(),
            standings: Vec::new(),
            weeks: Vec::new(),
        };
        for plan in reader.plans()? {
            if plan.id == record.id {
                continue;
            }
            earlier.once_listed.extend(reader.once_listed_arms(&plan.id)?);
            if plan.status == Status::Current && plan.facts.period < record.facts.period {
                let (listed, missing) = reader.listed_arms(&plan.id)?;
                earlier.listed.extend(listed);
                let start = plan.facts.period_start.clone();
                earlier.missing.push((start, plan.id.clone(), missing.into_iter().collect()));
            }
            let standing = reader.standing(&plan.id)?;
            if plan.status == Status::Current {
                earlier.weeks.push(WeekTold::read(reader, &standing)?);
            }
            earlier.standings.push(standing);
        }
        earlier.weeks.sort_by(|a, b| a.first_day.cmp(&b.first_day));
        earlier.missing.sort_by(|a, b| b.0.cmp(&a.0));
        let earlier = Arc::new(earlier);
        if let Ok(mut kept) = self.0.lock() {
            *kept = Some(earlier.clone());
        }
        Ok(earlier)
    }

    /// How things stand, of which only the latest plan is looked at again.
    pub(crate) fn standings(&self, reader: &Reader) -> Result<Standings> {
        let Some(latest) = reader.latest()? else { return Ok(reader.standings()?) };
        let mut plans = self.before(reader, &latest)?.standings.clone();
        plans.push(reader.standing(&latest.id)?);
        plans.sort_by_key(|plan| plan.period);
        Ok(Standings { latest: Some(latest), plans })
    }
}
