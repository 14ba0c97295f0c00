//! What a plan would have ranked arms by at each logged decision: the score of every arm in every state, by what was known before.
//!
//! To judge a policy on a log is to ask at every decision what it would have done there. A plan ranks by the Whittle index, which does
//! not depend on the decision, unless arms' own records count, which grow; or by the advantage of a pull, which depends on the steps
//! that are left and on where everybody stands. So this goes through the log decision by decision, cuts it off there ([`before`]), and
//! does what [`plan`](Applied::plan) does. Nothing that came later enters.
//!
//! Scores are those of a group of arms by themselves, with a budget in proportion. At a step at which nobody of the group has a
//! recorded action, because the trajectory is shorter, nothing was decided, and the scores are 0.

use crate::apply::Applied;
use crate::error::Result;
use crate::latest::before;
use crate::own_record::with_record;
use crate::plan::{Ahead, PlanAsked, PolicyName, Standing};
use ndarray::{Array2, Array3, Axis};
use restive::data::split::Group;
use restive::history::Rule;
use restive::instance::NO_ACTION;
use restive_tables::arm_key;
use restive_tables::memory::require;

impl Applied<'_> {
    /// The score that a plan would rank the arms of a group by in every state or label, `[D,n,L]`: D = 1 where it is the same at
    /// every logged decision, otherwise J·H of them, those of a trajectory after each other (J trajectories of H = T − 1).
    ///
    /// `asked` is what the plans are asked for. Of it the instance, the tie-break and whether only those are pulled for whom it pays
    /// do not matter here; decisions that remain are as many at every decision, as for one who always looks so far ahead.
    pub fn ranked(&self, group: &Group, asked: &PlanAsked) -> Result<Array3<f64>> {
        asked.check()?;
        let (instance, prediction) = (group.select(&self.instances), self.prediction(group));
        let (log, observation) = (instance.trajectories(), instance.observation());
        let (n, reward) = (instance.arms(), instance.reward());
        let (rule, _) = self.history(asked.history)?;
        let index = self.index(asked.index_discount);
        let is_end_known = asked.remaining.is_some() || self.study.settings.ends.is_some();
        let policy = asked.policy(is_end_known)?;
        if policy == PolicyName::Whittle && rule == Rule::Alone {
            let (table, _) = index.table(&prediction, reward, observation)?;
            return Ok(table.insert_axis(Axis(0)));
        }
        let there = &self.study.instances[group.instance];
        let budget = asked.budget.unwrap_or(self.study.settings.budget) as f64;
        let budget = budget * n as f64 / there.arms.len() as f64;
        let keys = || group.arms.iter().map(|arm| arm_key(&there.name, &there.arms[*arm])).collect();
        let (decisions, labels) = (log.steps() - 1, instance.labels());
        let all = log.trajectories() * decisions;
        let what = format!("the scores of {n} arms at {all} decisions");
        require(&self.study_name, what, 8.0 * all as f64 * (n * labels) as f64)?;
        let mut scores = Array3::zeros((all, n, labels));
        for (d, mut scores) in scores.outer_iter_mut().enumerate() {
            let (j, t) = (d / decisions, d % decisions);
            if log.action().index_axis(Axis(0), j).row(t).iter().all(|action| *action == NO_ACTION) {
                continue;
            }
            let known = before(log, j, t)?;
            let transition = with_record(&rule, &known, observation, &prediction)?;
            let table: Array2<f64> = match policy {
                PolicyName::Whittle => index.table(&transition, reward, observation)?.0,
                PolicyName::Horizon => {
                    let left = self.steps_left(group.instance, asked, t)?.expect("its end is known");
                    let state: Vec<_> = Standing::new(&known, observation).ranked().collect();
                    Ahead::new(&instance, &transition, &state, budget, left, keys).advantage()
                }
            };
            scores.assign(&table);
        }
        Ok(scores)
    }
}
