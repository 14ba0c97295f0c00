//! What is expected of people who are left alone: the reward of the next period, by the transitions that a plan counts with.
//!
//! With rewards 0 and 1 it is the chance of the good state. Where states are seen at pulls only, labels stand for them, and the label of somebody
//! who is left alone is the next of its chain.

use crate::apply::Applied;
use crate::error::Result;
use crate::identification::Effects;
use crate::own_record::with_record;
use ndarray::Array2;
use restive::belief::{Belief, Motion};
use restive::evaluation::World;

impl Applied<'_> {
    /// `[N,L]` of an instance: the reward that is expected of each person next, left alone in every state or label. Whether records count
    /// is asked as for a plan.
    pub fn left_alone(&self, instance: usize, history: Option<bool>) -> Result<Effects<Array2<f64>>> {
        let observation = self.study.settings.observation;
        let log = &self.study.instances[instance].trajectories;
        let (rule, _) = self.history(history)?;
        let transition = with_record(&rule, log, observation, &self.predictions[instance])?;
        let world = World::new(observation, self.instances[instance].reward(), &transition);
        let (motion, reward) = (world.motion(), world.reward());
        let (arms, states) = (motion.arms(), motion.states());
        let next = |(i, s): (usize, usize)| match motion {
            Motion::Rows(p) => (0..states).map(|to| p[[i, s, 0, to]] * reward.at(i, to, 0)).sum(),
            Motion::Chains(belief) => reward.at(i, Belief::later(s, belief.chain()), 0),
        };
        Ok(Effects::new(&self.card.identification, Array2::from_shape_fn((arms, states), next)))
    }
}
