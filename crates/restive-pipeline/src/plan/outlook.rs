//! How everybody is expected to move, and what plans would think of them: what a trial is designed on, and what its analysis knew before.
//!
//! It is what a plan of the same study starts from: the predicted transitions in the light of everybody's own record, the state of each
//! person now, and the table by which people are ranked, for every state. Where the programme has an end, that table is the advantage of
//! a pull now; later weeks would rank by one of their own, which is close as long as the end is far.

use super::{Ahead, Candidates, Places, PlanAsked, PolicyName, Standing};
use crate::apply::Applied;
use crate::error::{Error, Result};
use crate::latest::planned_step;
use crate::own_record::with_record;
use crate::rules::people::Known;
use ndarray::Array2;
use restive::Transition;
use restive::instance::Observation;
use restive_tables::arm_key;

/// What is expected of the people of one instance.
#[derive(Debug, Clone)]
pub struct Outlook {
    /// `[N,M,2,M]`: how they move, in the light of their records
    pub transition: Transition,
    /// `[N]`: where they stand; none: never seen
    pub state: Vec<Option<u16>>,
    /// `[N]`: whether they have a state, are there and may be called; rules of the week do not count
    pub is_callable: Vec<bool>,
    /// `[N,M]`: what plans rank by, in every state
    pub score: Array2<f64>,
    /// `[M]`: the reward of a period that ends in a state, without a pull
    pub reward: Vec<f64>,
    /// what plans rank by
    pub policy: PolicyName,
    /// places
    pub budget: usize,
    /// whether rank alone decides who gets them: no limits, no costs, nobody who has to be called, no draws
    pub is_by_rank_alone: bool,
    /// whether rules keep people out for a time: cool-downs, conditions
    pub has_waits: bool,
}

impl Applied<'_> {
    /// What is expected of everybody; refused where there is more than one instance, or where states are seen at pulls only.
    pub fn outlook(&self, asked: &PlanAsked) -> Result<Outlook> {
        asked.check()?;
        let name = &self.study_name;
        if self.study.settings.observation != Observation::Full {
            let found = "found states that are seen at pulls only, expected states of everybody";
            return Err(Error::Data(
                format!("{name}: {found}: people who are not called would have no outcome").into(),
            ));
        }
        let [there] = &self.study.instances[..] else {
            let found = self.study.instances.len();
            return Err(Error::Data(format!("{name}: found {found} instances, expected one").into()));
        };
        let (instance, log) = (&self.instances[0], &there.trajectories);
        let (rule, _) = self.history(asked.history)?;
        let transition = with_record(&rule, log, Observation::Full, &self.predictions[0])?;
        let now = planned_step(log);
        let left = self.steps_left(0, asked, now)?;
        let policy = asked.policy(left.is_some())?;
        let state: Vec<Option<u16>> = Standing::new(log, Observation::Full).ranked().collect();
        let known = Known::new(there, asked.people.as_ref(), now)?;
        let unobserved = &self.card.unobserved_states;
        // who is not available now may be at later decisions
        let candidates = Candidates::new(&asked.rules, &known, &state, unobserved, None, None)?;
        let is_callable = candidates.is_callable();
        let places = Places::new(asked, self.study.settings.budget);
        let score = match policy {
            PolicyName::Whittle => {
                let index = self.index(asked.index_discount);
                index.table(&transition, instance.reward(), Observation::Full)?.0
            }
            PolicyName::Horizon => {
                let counted: Vec<Option<u16>> =
                    state.iter().zip(&is_callable).map(|(state, is)| state.filter(|_| *is)).collect();
                let steps = left.unwrap_or(self.study.settings.horizon);
                let keys = || there.arms.iter().map(|arm| arm_key(&there.name, arm)).collect();
                Ahead::new(instance, &transition, &counted, places.budget as f64, steps, keys).advantage()
            }
        };
        Ok(Outlook {
            transition,
            state,
            is_callable,
            score,
            reward: instance.reward().view().column(0).to_vec(),
            policy,
            budget: places.budget,
            is_by_rank_alone: !places.are_drawn() && asked.rules.is_by_rank_alone(),
            has_waits: !asked.rules.cool_downs.is_empty() || !asked.rules.leave_outs.is_empty(),
        })
    }
}
