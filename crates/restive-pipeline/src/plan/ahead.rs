//! The steps ahead of one instance: prices of pulls, what a pull is worth now, and what no policy exceeds.

use super::Standing;
use ndarray::Array2;
use restive::evaluation::World;
use restive::planning::{Ending, Programme, SAMPLE, bound, first_advantages, prices, prices_on_sample};
use restive::{Instance, Transition};
use restive_tables::{StudyInstance, arm_key};
use serde::Serialize;

/// A price at which nobody is ever pulled.
const FORBIDDING: f64 = 1e300;

/// What no policy exceeds: expected reward of all planned arms over the steps ahead, the state after the last pull counted too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Bound {
    /// of any policy within the budget
    pub any_policy: f64,
    /// without a pull
    pub no_action: f64,
    /// planned for
    pub arms: usize,
}

impl Bound {
    pub(super) fn add(&mut self, other: &Self) {
        self.any_policy += other.any_policy;
        self.no_action += other.no_action;
        self.arms += other.arms;
    }
}

/// One instance and what is to be planned for it.
pub(super) struct Ahead<'a> {
    pub instance: &'a Instance,
    /// to plan with
    pub transition: &'a Transition,
    pub budget: usize,
    pub steps: usize,
}

/// What was found.
pub(super) struct Found {
    /// of a pull now, `[N,L]`
    pub advantage: Array2<f64>,
    pub bound: Bound,
}

impl Ahead<'_> {
    pub(super) fn find(&self, standing: &Standing, there: &StudyInstance) -> Found {
        let Self { instance, transition, budget, steps } = *self;
        let world = World::new(instance.observation(), instance.reward(), transition);
        let mut initial = Array2::zeros((instance.arms(), world.motion().states()));
        // arms of which nothing is known are not there
        let mut presence = Vec::with_capacity(instance.arms());
        for (i, state) in standing.ranked().enumerate() {
            presence.push(0..if state.is_some() { steps } else { 0 });
            state.iter().for_each(|state| initial[[i, usize::from(*state)]] = 1.0);
        }
        let budgets = [budget as f64];
        let programme = Programme {
            motion: world.motion(),
            reward: world.reward(),
            discount: instance.discount(),
            horizon: steps,
            ending: Ending::State,
            group: None,
            budget: &budgets,
            presence: Some(&presence),
        };
        let found = match instance.arms() > SAMPLE {
            true => {
                let keys: Vec<u64> = there.arms.iter().map(|arm| arm_key(&there.name, arm)).collect();
                prices_on_sample(&programme, initial.view(), &keys, SAMPLE)
            }
            false => prices(&programme, initial.view()),
        };
        let never = Array2::from_elem(found.price.raw_dim(), FORBIDDING);
        let idle = Programme { budget: &[0.0], ..programme };
        Found {
            advantage: first_advantages(&programme, found.price.view()),
            bound: Bound {
                any_policy: found.bound,
                no_action: bound(&idle, initial.view(), never.view()),
                arms: standing.ranked().flatten().count(),
            },
        }
    }
}
