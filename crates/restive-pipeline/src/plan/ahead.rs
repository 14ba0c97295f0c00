//! The steps ahead of some arms of one instance: prices of pulls, what a pull is worth now, and what no policy exceeds.

use ndarray::{Array2, ArrayView2};
use restive::evaluation::World;
use restive::planning::{Ending, Programme, SAMPLE, first_advantages, prices, prices_on_sample, worths};
use restive::{Instance, Transition};
use restive_tables::StudySettings;
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
    world: World,
    discount: f64,
    steps: usize,
    /// `[N,L]`: where they stand
    initial: Array2<f64>,
    /// `[N]`: those of which nothing is known are not there
    presence: Vec<Range<usize>>,
    /// `[1,H]`
    price: Array2<f64>,
}

impl Ahead {
    /// Arms that move by these transitions, so many `steps` before the end, with pulls for `budget` of them at each; `state`
    /// says where each stands, none where it is not to be counted. `keys` says which of very many stand for all: a number of each arm, by its name.
    pub(crate) fn new(
        instance: &Instance,
        transition: &Transition,
        state: &[Option<u16>],
        budget: f64,
        steps: usize,
        keys: impl FnOnce() -> Vec<u64>,
    ) -> Self {
        let world = World::new(instance.observation(), instance.reward(), transition);
        let mut ahead = Self::of(world, instance.discount(), state, steps, Array2::zeros((1, steps)));
        let found = ahead.with_programme(&[budget], |programme, initial| match state.len() > SAMPLE {
            true => prices_on_sample(programme, initial, &keys(), SAMPLE),
            false => prices(programme, initial),
        });
        ahead.price = found.price;
        ahead
    }

    /// The same where prices are known.
    pub(crate) fn at(
        settings: &StudySettings,
        transition: &Transition,
        state: &[Option<u16>],
        steps: usize,
        price: Array2<f64>,
    ) -> Self {
        let world = World::new(settings.observation, &settings.reward, transition);
        Self::of(world, settings.discount, state, steps, price)
    }

    fn of(world: World, discount: f64, state: &[Option<u16>], steps: usize, price: Array2<f64>) -> Self {
        let mut initial = Array2::zeros((state.len(), world.motion().states()));
        let mut presence = Vec::with_capacity(state.len());
        for (i, state) in state.iter().enumerate() {
            presence.push(0..if state.is_some() { steps } else { 0 });
            state.iter().for_each(|state| initial[[i, usize::from(*state)]] = 1.0);
        }
        Self { world, discount, steps, initial, presence, price }
    }

    /// Their programme, with pulls for so many at each step, and where they stand.
    pub(super) fn with_programme<T>(
        &self,
        budget: &[f64],
        f: impl FnOnce(&Programme<'_>, ArrayView2<'_, f64>) -> T,
    ) -> T {
        let programme = Programme {
            motion: self.world.motion(),
            reward: self.world.reward(),
            discount: self.discount,
            horizon: self.steps,
            ending: Ending::State,
            group: None,
            budget,
            presence: Some(&self.presence),
        };
        f(&programme, self.initial.view())
    }

    /// What a pull is worth now in every state or label, `[N,L]`: also of arms of which nothing is known, if they should be there.
    pub(crate) fn advantage(&self) -> Array2<f64> {
        self.with_programme(&[0.0], |programme, _| {
            first_advantages(&Programme { presence: None, ..*programme }, self.price.view())
        })
    }

    /// What each is worth at these prices, `[N]`: with what all pulls cost, what no policy exceeds.
    pub(super) fn worths(&self) -> Vec<f64> {
        self.with_programme(&[0.0], |programme, initial| worths(programme, initial, self.price.view()))
    }

    /// What each is worth without a pull, `[N]`.
    pub(super) fn idle(&self) -> Vec<f64> {
        let never = Array2::from_elem(self.price.raw_dim(), FORBIDDING);
        self.with_programme(&[0.0], |programme, initial| worths(programme, initial, never.view()))
    }
}

/// What `budget` pulls at every step cost at prices `[1,H]`.
pub(super) fn spent(price: &Array2<f64>, discount: f64, budget: f64) -> f64 {
    budget * price.iter().enumerate().map(|(t, price)| price * discount.powi(t as i32)).sum::<f64>()
}
