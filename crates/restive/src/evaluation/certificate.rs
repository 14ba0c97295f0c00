//! What a plan promises, held against what nobody could exceed.
//!
//! Given transitions, three numbers say where a plan stands over the H decisions ahead, the state after the last one counted too:
//!
//! | number | how it is known |
//! |---|---|
//! | no action: nobody is pulled | exactly: arms do not compete for nothing |
//! | bound: no policy within the budget reaches more | exactly: the dual of [`planning`](crate::planning) |
//! | value: what the plan reaches | by simulation, with a 95 % interval for the noise of its runs |
//!
//! and the **share** (value − no action)/(bound − no action) is how far on the way from doing nothing to the best conceivable the plan
//! comes. The true optimum lies below the bound, so that the share is if anything too small. Every run is paired with one in which nobody is
//! pulled and the noise is the same; what the pair differs by is far less noisy than a run, and no action is known exactly.
//!
//! The plan pulls those who are on the list at the first decision, whatever rules made it, and then the K arms that rank highest at each later one.
//!
//! **More and fewer pulls.** At K pulls a step the bound is min_λ D(λ) = min_λ (a(λ) + K Σ_t γ^t λ_t): the smallest of many straight lines in
//! K, and so concave, with the slope Σ_t γ^t λ_t at the prices that are found. That slope is what one more pull at every step is worth. Where
//! prices are nothing, more pulls bring nothing: `enough` is the most pulls that any step would use if they were free.
//!
//! **Availability.** [`Certified::certificate_available`] simulates a plan for arms that can be pulled at some decisions only. The bounds are those of
//! arms that are always available: they remain bounds, but are less close.
//!
//! Whether arms really move by these transitions is another question, which evidence from a log answers.
//!
//! ```
//! use restive::data::domain::Domain;
//! use restive::evaluation::{Certified, World};
//!
//! let domain = Domain { instances: 1, arms: 100, budget: 10, ..Domain::two_state() };
//! let instance = &domain.generate(1)?[0];
//! let world = World::new(instance.observation(), instance.reward(), instance.truth().unwrap());
//! let certified =
//!     Certified { world: &world, discount: 1.0, budget: 10, steps: 9, state: &[0; 100], first: None, index: None };
//! let certificate = certified.certificate(1);
//! assert!(certificate.value.low > certificate.no_action);
//! assert!(certificate.value.low <= certificate.bound); // but for noise, so is all of the interval
//! assert!(certificate.share().unwrap().mean > 0.9);
//! # Ok::<(), restive::Error>(())
//! ```

use super::World;
use crate::planning::{Ending, Prices, Programme, advantages, bound, prices, smoothed};
use crate::policy::Policy;
use crate::simulation::{Availability, Initial, Setting, values_to_the_end, values_to_the_end_available};
use crate::statistics::{Mean, mean};
use ndarray::{Array2, ArrayView2};

/// Steps of arms that are simulated for the plan, and for each point of the curve.
const WORK: [f64; 2] = [6e6, 1.5e6];
/// Runs, at least and at most.
const RUNS: [f64; 2] = [24.0, 400.0];
/// A price at which nobody is ever pulled.
const FORBIDDING: f64 = 1e300;
/// A pull that is worth less than this part of the range of the rewards is worth nothing.
const NOTHING: f64 = 1e-4;
/// The budgets of the curve, as parts of K.
const PARTS: [f64; 7] = [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0];

/// A plan, and whom it is for.
#[derive(Clone, Copy)]
pub struct Certified<'a> {
    /// how arms move and what they earn
    pub world: &'a World,
    /// γ of the value
    pub discount: f64,
    /// K
    pub budget: usize,
    /// H, the decisions that are ahead
    pub steps: usize,
    /// `[N]`: positions of the arms, as states or labels
    pub state: &'a [u16],
    /// `[N]`: whether each arm is pulled at the first decision. `None`: the K arms that rank highest.
    pub first: Option<&'a [bool]>,
    /// `[N,L]`: the indices that arms are ranked by. `None`: by the prices of the steps ahead.
    pub index: Option<ArrayView2<'a, f64>>,
}

/// What a plan promises.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// what is reached without a pull
    pub no_action: f64,
    /// what no policy within the budget exceeds
    pub bound: f64,
    /// what the plan reaches
    pub value: Mean,
    /// what one more pull at every decision adds to the bound
    pub one_more: f64,
    /// the most pulls that any decision would use if they cost nothing
    pub enough: usize,
    /// more and fewer pulls, fewest first; the first is none at all
    pub curve: Vec<Budgeted>,
}

/// What so many pulls a decision bring.
#[derive(Debug, Clone, PartialEq)]
pub struct Budgeted {
    /// K
    pub budget: usize,
    /// what no policy exceeds
    pub bound: f64,
    /// what the K arms of the highest rank at every decision reach
    pub value: Mean,
}

impl Certificate {
    /// How far the plan comes from no action to the bound; none where no policy gains anything that could be told from rounding.
    pub fn share(&self) -> Option<Mean> {
        let way = self.bound - self.no_action;
        let part = |x: f64| (x - self.no_action) / way;
        let Mean { mean, standard_error, low, high, numbers } = self.value;
        (way > 1e-9 * (1.0 + self.bound.abs())).then(|| Mean {
            mean: part(mean),
            standard_error: standard_error / way,
            low: part(low),
            high: part(high),
            numbers,
        })
    }
}

impl Certified<'_> {
    /// What the plan promises.
    pub fn certificate(&self, seed: u64) -> Certificate {
        self.certify(None, seed)
    }

    /// Like [`certificate`](Self::certificate), but arms are available at some decisions only, and policies choose among the available
    /// arms. The arms in `first` are pulled as they are.
    pub fn certificate_available(&self, availability: &Availability, seed: u64) -> Certificate {
        self.certify(Some(availability), seed)
    }

    fn certify(&self, availability: Option<&Availability>, seed: u64) -> Certificate {
        let n = self.world.motion().arms();
        assert_eq!(self.state.len(), n, "state: [N]");
        assert!(self.first.is_none_or(|first| first.len() == n), "first: [N]");
        let mut initial = Array2::zeros((n, self.world.motion().states()));
        self.state.iter().enumerate().for_each(|(i, s)| initial[[i, usize::from(*s)]] = 1.0);
        let found = |budget: usize| prices(&self.programme(&[budget as f64]), initial.view());
        let idle = self.programme(&[0.0]);
        let never = Array2::from_elem((1, self.steps), FORBIDDING);
        let no_action = bound(&idle, initial.view(), never.view());
        let [plan_runs, curve_runs] =
            WORK.map(|work| (work / (n as f64 * self.steps as f64)).clamp(RUNS[0], RUNS[1]) as usize);
        let start = Initial::States(Array2::from_shape_fn((1, n), |(_, i)| self.state[i]));
        let setting = |budget: usize| Setting {
            motion: self.world.motion(),
            reward: self.world.reward(),
            discount: self.discount,
            budget,
            horizon: self.steps,
        };
        let passive =
            values_to_the_end(&setting(0), &start, None, &Policy::NoAction, plan_runs.max(curve_runs), seed);
        let value = |budget: usize, first: Option<&[bool]>, prices: &Prices, runs: usize| {
            let (setting, policy) = (setting(budget), self.policy(budget, prices));
            let values = match availability {
                None => values_to_the_end(&setting, &start, first, &policy, runs, seed),
                Some(known) => {
                    values_to_the_end_available(&setting, &start, known, first, &policy, runs, seed)
                }
            };
            let gains: Vec<f64> =
                values.iter().zip(&passive).map(|(value, passive)| value - passive).collect();
            let Mean { mean, standard_error, low, high, numbers } =
                mean(&gains).expect("finite values of several runs");
            let [mean, low, high] = [mean, low, high].map(|gain| no_action + gain);
            Mean { mean, standard_error, low, high, numbers }
        };
        let here = found(self.budget);
        let enough = self.enough(initial.view());
        let still = Mean {
            mean: no_action,
            standard_error: 0.0,
            low: no_action,
            high: no_action,
            numbers: curve_runs,
        };
        let mut curve = vec![Budgeted { budget: 0, bound: no_action, value: still }];
        for budget in self.budgets(enough) {
            let found = found(budget);
            let value = value(budget, None, &found, curve_runs);
            curve.push(Budgeted { budget, bound: found.bound, value });
        }
        let weights = (0..self.steps).map(|t| self.discount.powi(t as i32));
        Certificate {
            no_action,
            bound: here.bound,
            value: value(self.budget, self.first, &here, plan_runs),
            one_more: here.price.iter().zip(weights).map(|(price, weight)| price * weight).sum(),
            enough,
            curve,
        }
    }

    fn programme<'a>(&'a self, budget: &'a [f64; 1]) -> Programme<'a> {
        Programme {
            motion: self.world.motion(),
            reward: self.world.reward(),
            discount: self.discount,
            horizon: self.steps,
            ending: Ending::State,
            group: None,
            budget,
            presence: None,
        }
    }

    /// Who is pulled, by index or beside prices.
    fn policy(&self, budget: usize, prices: &Prices) -> Policy {
        match self.index {
            Some(index) => Policy::Strict(index.to_owned()),
            None => Policy::Horizon(advantages(&self.programme(&[budget as f64]), prices.price.view())),
        }
    }

    /// The most pulls that any decision would use if they cost next to nothing.
    fn enough(&self, initial: ArrayView2<'_, f64>) -> usize {
        let unit = self.world.reward().range();
        if !(unit > 0.0) {
            return 0;
        }
        let price = Array2::from_elem((1, self.steps), NOTHING * unit);
        let free = smoothed(&self.programme(&[0.0]), initial, price.view(), 0.0);
        let pulls = free.d_price.iter().enumerate().map(|(t, d)| -d / self.discount.powi(t as i32));
        (pulls.fold(0.0, f64::max) - 1e-9).ceil().max(0.0) as usize
    }

    /// The budgets of the curve, but for none.
    fn budgets(&self, enough: usize) -> Vec<usize> {
        let n = self.state.len();
        let parts = PARTS.iter().map(|part| (part * self.budget as f64).round() as usize);
        let mut all: Vec<usize> = parts.chain([enough]).filter(|k| (1..=n).contains(k)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}
