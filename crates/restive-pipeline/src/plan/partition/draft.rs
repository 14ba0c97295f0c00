//! Between the second pass and the third: places are dealt, and those who have one are asked for once more.

use super::super::Plan;
use super::super::finish::{Again, Drafted};
use super::super::here::of_rows;
use super::super::outset::Outset;
use super::details::{Detail, Details, Wanted};
use super::gathered::GatheredPart;
use super::job::PlanJob;
use crate::error::{Error, Result, refuse};
use ndarray::Array2;
use restive_tables::show;
use std::collections::HashMap;

/// Lists whose people are to be looked at once more.
pub struct Draft {
    job: PlanJob,
    lists: Vec<Drafted>,
    wanted: Wanted,
    notes: Vec<String>,
}

impl PlanJob {
    /// Deals the places among those who can still have one.
    pub fn draft(&self, part: GatheredPart) -> Result<Draft> {
        let outset = self.outset_with_prices()?;
        let notes = part.notes.warnings(&self.trained.model.card.encoding);
        let (mut lists, mut wanted) = (Vec::new(), Vec::new());
        let before = self.priced.iter().flatten().map(|priced| priced.people);
        for ((stage, here), before) in outset.stages.iter().zip(part.instances).zip(before) {
            let found = here.gathered.tally.people as u64;
            if found != before {
                let name = show::name(&stage.name);
                refuse!(
                    "people: instance {name}: found {found} in the second pass and {before} in the first, expected a table that stays as \
                     it is, and every partition once"
                );
            }
            let name = |place: u32| here.names[place as usize].as_str();
            let list = Drafted::new(&outset, stage, here.gathered, &part.rules, name)?;
            wanted.push((
                stage.name.clone(),
                list.wanted().into_iter().map(|place| name(place).to_string()).collect(),
            ));
            lists.push(list);
        }
        Ok(Draft { job: self.clone(), lists, wanted: Wanted::new(wanted), notes })
    }
}

impl Draft {
    /// Who is to be looked at once more.
    pub fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    /// The plan, and what should be known before it is trusted; an error where somebody who was asked for was not found.
    pub fn finish(self, details: Details) -> Result<(Plan, Vec<String>)> {
        let outset = self.job.outset_with_prices()?;
        let mut plan = Plan::new(&outset);
        let found = details.by_name();
        for (k, (stage, list)) in outset.stages.iter().zip(self.lists).enumerate() {
            let again = again(&self.job, &outset, k, self.wanted.names(k), &found)?;
            list.add_to(&mut plan, &outset, stage, &again);
        }
        plan.finish();
        Ok((plan, self.notes))
    }
}

/// The details of people, in this order.
fn again(
    job: &PlanJob,
    outset: &Outset<'_>,
    instance: usize,
    names: &[String],
    found: &HashMap<(usize, &str), &Detail>,
) -> Result<Again> {
    let one = |name: &String| {
        found.get(&(instance, name.as_str())).copied().ok_or_else(|| {
            let (name, place) = (show::name(name), show::name(&outset.stages[instance].name));
            Error::Data(
                format!("people: found no {name} of instance {place} any more, expected a table that stays as it is")
                    .into(),
            )
        })
    };
    let details: Vec<&Detail> = names.iter().map(one).collect::<Result<_>>()?;
    let width = details.first().map_or(0, |detail| detail.index.len());
    let index: Vec<f64> = details.iter().flat_map(|detail| detail.index.iter().copied()).collect();
    let index = match width {
        0 => None,
        width => Some(Array2::from_shape_vec((details.len(), width), index).map_err(|_| {
            Error::Data("people: found indices of another number of states, expected those of the job".into())
        })?),
    };
    Ok(Again {
        transition: of_rows(job.settings.reward.states(), details.iter().map(|detail| &detail.row[..]))?,
        index,
        recency: details.iter().map(|detail| detail.recency).collect(),
        kept: vec![Vec::new(); details.len()],
        state: details.iter().map(|detail| detail.recency.state).collect(),
        availability: None,
    })
}
