//! What the ledger says of earlier lists, kept while it stays so.
//!
//! Who was on an earlier list, of whom no outcome came, and how each stands: after a year these are hundreds of thousands of rows, and a desk
//! asks after every word that somebody tells of this week's list. None of it changes while all new links of the chain are about the
//! latest plan, which is looked up in a moment.

use crate::error::Result;
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
    /// of whom an outcome is missing
    pub(crate) missing: HashSet<String>,
    /// how every other plan stands
    standings: Vec<Standing>,
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
            missing: HashSet::new(),
            standings: Vec::new(),
        };
        for plan in reader.plans()? {
            if plan.id == record.id {
                continue;
            }
            if plan.status == Status::Current && plan.facts.period < record.facts.period {
                let (listed, missing) = reader.listed_arms(&plan.id)?;
                earlier.listed.extend(listed);
                earlier.missing.extend(missing);
            }
            earlier.standings.push(reader.standing(&plan.id)?);
        }
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
