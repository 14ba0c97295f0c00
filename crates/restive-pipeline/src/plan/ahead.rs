//! The steps ahead of some arms of one instance: prices of pulls, what a pull is worth now, and what no policy exceeds.

use ndarray::Array2;
use restive::evaluation::World;
use restive::planning::{
    Ending, Prices, Programme, SAMPLE, bound, first_advantages, prices, prices_on_sample,
};
use restive::{Instance, Transition};
use serde::Serialize;
use std::ops::Range;

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

/// Arms with the steps ahead of them, and the prices of their pulls.
pub(crate) struct Ahead {
    arms: Arms,
    prices: Prices,
}

struct Arms {
    world: World,
    discount: f64,
    steps: usize,
    budget: [f64; 1],
    /// `[N,L]`: where they stand
    initial: Array2<f64>,
    /// `[N]`: those of which nothing is known are not there
    presence: Vec<Range<usize>>,
}

impl Arms {
    fn programme(&self) -> Programme<'_> {
        Programme {
            motion: self.world.motion(),
            reward: self.world.reward(),
            discount: self.discount,
            horizon: self.steps,
            ending: Ending::State,
            group: None,
            budget: &self.budget,
            presence: Some(&self.presence),
        }
    }
}

impl Ahead {
    /// The arms of an instance that move by these transitions, so many `steps` before the end, with pulls for `budget` of them
    /// at each; `state` says where each stands, none where it is not to be counted. `keys` says which of very many stand for all: a number of each arm, by its name.
    pub(crate) fn new(
        instance: &Instance,
        transition: &Transition,
        state: &[Option<u16>],
        budget: f64,
        steps: usize,
        keys: impl FnOnce() -> Vec<u64>,
    ) -> Self {
        let world = World::new(instance.observation(), instance.reward(), transition);
        let mut initial = Array2::zeros((instance.arms(), world.motion().states()));
        let mut presence = Vec::with_capacity(instance.arms());
        for (i, state) in state.iter().enumerate() {
            presence.push(0..if state.is_some() { steps } else { 0 });
            state.iter().for_each(|state| initial[[i, usize::from(*state)]] = 1.0);
        }
        let (discount, budget) = (instance.discount(), [budget]);
        let arms = Arms { world, discount, steps, budget, initial, presence };
        let (programme, initial) = (arms.programme(), arms.initial.view());
        let prices = match instance.arms() > SAMPLE {
            true => prices_on_sample(&programme, initial, &keys(), SAMPLE),
            false => prices(&programme, initial),
        };
        Self { arms, prices }
    }

    /// What a pull is worth now in every state or label, `[N,L]`: also of arms of which nothing is known, if they should be there.
    pub(crate) fn advantage(&self) -> Array2<f64> {
        first_advantages(&Programme { presence: None, ..self.arms.programme() }, self.prices.price.view())
    }

    /// What no policy exceeds.
    pub(super) fn bound(&self) -> Bound {
        let never = Array2::from_elem(self.prices.price.raw_dim(), FORBIDDING);
        let idle = Programme { budget: &[0.0], ..self.arms.programme() };
        Bound {
            any_policy: self.prices.bound,
            no_action: bound(&idle, self.arms.initial.view(), never.view()),
            arms: self.arms.presence.iter().filter(|steps| !steps.is_empty()).count(),
        }
    }
}
