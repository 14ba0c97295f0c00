//! What the plan of a ranking truly brings over random calls.
//!
//! Random calls reach everybody with probability K/N, whatever the others do, so what they are worth is known exactly, person by
//! person: U_t(s) = R(s) + γ Σ P̄(s, x) U_{t+1}(x) with P̄ the mean of both actions at that rate, U_H = R. What the strict policy of a
//! table is worth beyond that is, exactly,
//!
//! > E Σ_{t<H} γ^{t+1} Σ_i (a_it − K/N) Σ_x (P(s_it, 1, x) − P(s_it, 0, x)) U_{i,t+1}(x)
//!
//! on its own path. The sum varies far less from rollout to rollout than values do, and counts states 1 to H: none that no decision
//! could move. *Within* states is the part of it that comes of whom is called among those in the same state at the same decision, each
//! call against the mean of them; the rest comes of calling in one state rather than another, which comparisons within states
//! cannot see.

use ndarray::{Array2, Array3};
use restive::Instance;
use restive::policy::Policy;
use restive::simulation::{Initial, Setting, trajectories};
use restive::statistics::mean;

/// Rollouts of every group.
const ROLLOUTS: usize = 100;

/// A mean and the square of its standard error, and the part of it within states.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct True {
    pub(super) value: f64,
    pub(super) variance: f64,
    pub(super) within: f64,
}

impl std::iter::Sum for True {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |a, b| Self {
            value: a.value + b.value,
            variance: a.variance + b.variance,
            within: a.within + b.within,
        })
    }
}

/// What the calls of a table `[N,M]` bring in H decisions of a group, from where it starts, more than random calls.
pub(super) fn gain(
    instance: &Instance,
    start: &[u16],
    table: &Array2<f64>,
    horizon: usize,
    seed: u64,
) -> True {
    let (n, rate) = (instance.arms(), instance.budget() as f64 / instance.arms() as f64);
    let setting = Setting {
        motion: instance.truth().expect("synthetic instances know their truth").view().into(),
        reward: instance.reward().into(),
        discount: instance.discount(),
        budget: instance.budget(),
        horizon,
    };
    let initial = Initial::States(Array2::from_shape_fn((1, n), |(_, i)| start[i]));
    let log = trajectories(&setting, &initial, &Policy::Strict(table.clone()), ROLLOUTS, seed);
    let worth = worth_of_calls(instance, horizon, rate);
    let (state, action) = (log.state(), log.action());
    let (mut each, mut within) = (Vec::new(), 0.0);
    for r in 0..ROLLOUTS {
        let mut sum = 0.0;
        for t in 0..horizon {
            // of each state: people, calls, what calls to all would bring, what those that are made do
            let mut states = vec![[0.0; 4]; instance.states()];
            for i in 0..n {
                let s = usize::from(state[[r, t, i]]);
                let (call, worth) = (f64::from(u8::from(action[[r, t, i]] == 1)), worth[t][[i, s]]);
                sum += (call - rate) * worth;
                states[s].iter_mut().zip([1.0, call, worth, call * worth]).for_each(|(sum, x)| *sum += x);
            }
            let seen = states.iter().filter(|[people, ..]| *people > 0.0);
            within += seen.map(|[people, calls, all, made]| made - calls * all / people).sum::<f64>();
        }
        each.push(sum);
    }
    let found = mean(&each).expect("several rollouts");
    let within = within / ROLLOUTS as f64;
    True { value: found.mean, variance: found.standard_error.powi(2), within }
}

/// What a call brings at each decision, to each person in each state, where all other calls are random: `[N,M]` for t < H.
fn worth_of_calls(instance: &Instance, horizon: usize, rate: f64) -> Vec<Array2<f64>> {
    let p = instance.truth().expect("synthetic instances know their truth").view();
    let (n, m, discount) = (instance.arms(), instance.states(), instance.discount());
    let reward = instance.reward().view().column(0).to_vec();
    let mut later = Array2::from_shape_fn((n, m), |(_, s)| reward[s]);
    let mut worth = vec![Array2::zeros((n, m)); horizon];
    for t in (0..horizon).rev() {
        // [N, M, 2]: what comes next of either action
        let next = Array3::from_shape_fn((n, m, 2), |(i, s, a)| {
            (0..m).map(|x| p[[i, s, a, x]] * later[[i, x]]).sum::<f64>()
        });
        let factor = discount.powi(t as i32 + 1);
        worth[t] = Array2::from_shape_fn((n, m), |(i, s)| factor * (next[[i, s, 1]] - next[[i, s, 0]]));
        later = Array2::from_shape_fn((n, m), |(i, s)| {
            reward[s] + discount * ((1.0 - rate) * next[[i, s, 0]] + rate * next[[i, s, 1]])
        });
    }
    worth
}

#[cfg(test)]
mod tests {
    use super::*;
    use restive::data::domain::Domain;
    use restive::index::whittle_index;
    use restive::simulation::values;

    #[test]
    fn a_gain_is_the_difference_of_simulated_values() {
        for domain in [Domain::two_state(), Domain::five_state()] {
            let domain = Domain { instances: 1, arms: 20, budget: 4, trajectories: 1, ..domain };
            let instance = &domain.generate(3).unwrap()[0];
            let start: Vec<u16> = (0..20).map(|i| (i % domain.states) as u16).collect();
            let truth = instance.truth().unwrap().view();
            let table = whittle_index(truth, instance.reward().view(), 0.9, instance.observation()).index;
            let found = gain(instance, &start, &table, 9, 1);
            let setting = Setting {
                motion: truth.into(),
                reward: instance.reward().into(),
                discount: instance.discount(),
                budget: 4,
                // the reward of the state after the ninth decision
                horizon: 10,
            };
            let initial = Initial::States(Array2::from_shape_fn((1, 20), |(_, i)| start[i]));
            let [strict, random] = [Policy::Strict(table), Policy::Random]
                .map(|policy| values(&setting, &initial, &policy, 20_000, 5));
            let by_values = mean((&strict - &random).as_slice().unwrap()).unwrap();
            let error = (found.variance + by_values.standard_error.powi(2)).sqrt();
            assert!(by_values.mean > 1.0 && error < 0.5, "{found:?} {}", by_values.mean);
            assert!((found.value - by_values.mean).abs() < 4.0 * error, "{found:?} {}", by_values.mean);
        }
    }
}
