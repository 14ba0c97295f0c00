//! What is done along chains of labels, against ordinary arms that have the labels for states and all their transitions written
//! down.

use crate::arms::{Kind, random, transitions};
use crate::gradients::{AGREEMENT, derivative, uniform};
use ndarray::{Array, Array2, Array4, Axis};
use restive::Reward;
use restive::RewardView;
use restive::belief::{Belief, beliefs, label};
use restive::evaluation::{DecomposedCotangent, MeanField, Relaxation, decomposed, fluid};
use restive::policy::Policy;
use restive::simulation::{Initial, Setting, planned_values, trajectories, values};

/// The transitions between labels, `[N,L,2,L]`, by their definition.
pub fn dense(belief: &Belief) -> Array4<f64> {
    let (n, labels, m) = belief.view().dim();
    let chain = labels / m;
    let mut transition = Array4::zeros((n, labels, 2, labels));
    for i in 0..n {
        for s in 0..m {
            for h in 0..chain {
                let l = label(s, h, chain);
                transition[[i, l, 0, label(s, (h + 1).min(chain - 1), chain)]] = 1.0;
                for x in 0..m {
                    transition[[i, l, 1, label(x, 0, chain)]] = belief.row(i, l)[x];
                }
            }
        }
    }
    transition
}

/// (M, T)
const SIZES: [(usize, usize); 7] = [(1, 1), (1, 5), (2, 1), (2, 2), (2, 10), (3, 7), (5, 4)];

struct World {
    belief: Belief,
    dense: Array4<f64>,
    reward: ndarray::Array3<f64>,
    start: Array2<f64>,
    index: Array2<f64>,
}

fn world(n: usize, m: usize, chain: usize, seed: u64) -> World {
    let mut noise = random(seed);
    let p = transitions(Kind::Dense, n, m, &mut noise);
    let belief = beliefs(p.view(), chain).belief;
    let reward = Reward::of_state_and_action(crate::arms::reward(m, true, &mut noise)).unwrap();
    let start = Array2::from_shape_fn((n, m * chain), |(i, l)| {
        if (i + l) % 3 == 1 { 0.0 } else { 0.1 + uniform(&mut noise).abs() }
    });
    let sums = start.sum_axis(Axis(1)).insert_axis(Axis(1));
    World {
        dense: dense(&belief),
        reward: belief.reward(reward.view()),
        start: if m * chain == 1 { Array2::ones((n, 1)) } else { start / sums },
        index: Array2::from_shape_fn((n, m * chain), |_| uniform(&mut noise)),
        belief,
    }
}

impl World {
    /// Mean fields of the transitions that are written down, and of the chains.
    fn fields(&self, discount: f64, budget: f64) -> [MeanField<'_>; 2] {
        let (reward, initial) = (RewardView::by_arm(self.reward.view()), self.start.view());
        let rows = MeanField { motion: self.dense.view().into(), reward, initial, discount, budget };
        [rows, MeanField { motion: (&self.belief).into(), ..rows }]
    }
}

fn close<D: ndarray::Dimension>(found: &Array<f64, D>, truth: &Array<f64, D>, tolerance: f64, what: &str) {
    let size = 1.0 + truth.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
    let gap = (found - truth).iter().fold(0.0, |a: f64, x| a.max(x.abs()));
    assert!(gap < tolerance * size, "{what}: {gap}");
}

#[test]
fn labels_meet_the_noise_of_ordinary_arms_bit_for_bit() {
    for (m, chain) in SIZES {
        let w = world(9, m, chain, 1);
        let reward = RewardView::by_arm(w.reward.view());
        let (discount, budget, horizon) = (0.9, 3, 12);
        let rows = Setting { motion: w.dense.view().into(), reward, discount, budget, horizon };
        let chains = Setting { motion: (&w.belief).into(), ..rows };
        for policy in [Policy::Random, Policy::NoAction, Policy::Strict(w.index.clone())] {
            let run = |setting: &Setting| {
                let log = trajectories(setting, &Initial::Uniform, &policy, 30, 5);
                (values(setting, &Initial::Uniform, &policy, 100, 5), log)
            };
            assert_eq!(run(&rows), run(&chains), "{m} {chain}");
        }
        let plan = Array2::from_shape_fn((12, 9), |(t, i)| (t + i) % 4 == 0);
        let planned = |setting: &Setting| planned_values(setting, &Initial::Uniform, plan.view(), 50, 6);
        assert_eq!(planned(&rows), planned(&chains));
    }
}

#[test]
fn masses_flow_along_chains_and_back_as_through_rows() {
    for (m, chain) in SIZES {
        let w = world(9, m, chain, 2);
        for temperature in [0.0, 0.3] {
            let [truth, found] =
                w.fields(0.95, 3.0).map(|field| fluid(w.index.view(), &field, temperature, 9));
            assert!((found.value - truth.value).abs() < 1e-12 * (1.0 + truth.value.abs()));
            assert!((&found.mass - &truth.mass).iter().all(|x| x.abs() < 1e-12));
            assert!((&found.pull - &truth.pull).iter().all(|x| x.abs() < 1e-11));
            let (found, truth) = (found.pullback(1.5), truth.pullback(1.5));
            close(&found.d_index, &truth.d_index, 1e-11, "d_index");
            close(&found.d_initial, &truth.d_initial, 1e-11, "d_initial");
            close(&found.d_reward, &truth.d_reward, 1e-11, "d_reward");
            assert!((found.d_budget - truth.d_budget).abs() < 1e-11);
            assert!((found.d_temperature - truth.d_temperature).abs() < 1e-10);
            assert!(found.d_transition.is_none());
        }
    }
}

#[test]
fn chains_are_solved_as_the_whole_matrix_is_and_their_pullback_is_the_derivative() {
    let mut sizes = SIZES.to_vec();
    sizes.push((2, 120));
    for (m, chain) in sizes {
        let w = world(6, m, chain, 3);
        let (budget, e) = (2.0, 0.4);
        let [_, chains] = w.fields(0.95, budget);
        let run = fluid(w.index.view(), &chains, e, 9);
        let relaxation = Relaxation::from_run(&run);
        for gamma in [0.0, 0.5, 0.9, 0.999, 1.0] {
            let [rows, chains] = w.fields(gamma, budget);
            let truth = decomposed(w.index.view(), &rows, e, &relaxation);
            let found = decomposed(w.index.view(), &chains, e, &relaxation);
            let gap = (found.value - truth.value).abs();
            assert!(gap < 1e-11 * (1.0 + truth.value.abs()), "{m} {chain} {gamma}: {gap}");
            assert_eq!(found.pull, truth.pull);
            let DecomposedCotangent { d_index, d_temperature } = found.pullback(1.0);
            let truth = truth.pullback(1.0);
            close(&d_index, &truth.d_index, 1e-11, &format!("{m} {chain} {gamma}"));
            assert!((d_temperature - truth.d_temperature).abs() < 1e-10 * (1.0 + truth.d_temperature.abs()));

            let mut noise = random(4);
            let d = Array2::from_shape_simple_fn(w.index.raw_dim(), || uniform(&mut noise));
            let value = |index: &Array2<f64>, e: f64| decomposed(index.view(), &chains, e, &relaxation).value;
            let along = derivative(|t| value(&(&w.index + &(&d * t)), e), 1e-4);
            let size = (d_index.mapv(|x| x * x).sum() * d.mapv(|x| x * x).sum()).sqrt();
            let gap = ((&d_index * &d).sum() - along).abs();
            assert!(gap < AGREEMENT * (1.0 + size), "{m} {chain} {gamma}: {gap}");
            let along = derivative(|t| value(&w.index, e + t), 1e-4);
            assert!((d_temperature - along).abs() < AGREEMENT * (1.0 + along.abs()), "{m} {chain} {gamma}");
        }
    }
}

/// At discount 1 a last label that is never pulled stays for ever. One such label has a value, two of them are two classes.
#[test]
fn the_average_reward_exists_where_it_does_for_the_whole_matrix() {
    let (m, chain, n) = (2, 5, 4);
    let w = world(n, m, chain, 7);
    let relaxation = Relaxation { charge: 0.1, mass: w.start.clone() };
    // as many chains are never pulled, the others always: strict, with the budget for exactly those
    for (left, is_regular) in [(0, true), (1, true), (2, false)] {
        let index = Array2::from_shape_fn((n, m * chain), |(_, l)| if l / chain < left { -1.0 } else { 1.0 });
        let budget: f64 = (&index.mapv(|w| f64::from(w > 0.0)) * &w.start).sum();
        for e in [0.0, 1e-3] {
            let solve = |field| decomposed(index.view(), &field, e, &relaxation);
            let [truth, found] = w.fields(1.0, budget).map(solve);
            assert_eq!(truth.value.is_finite(), is_regular, "{left} {e} {} {}", truth.value, truth.pull);
            assert_eq!(found.value.is_finite(), is_regular, "{left} {e} {}", found.value);
            if is_regular {
                assert!((found.value - truth.value).abs() < 1e-11);
                close(&found.pullback(1.0).d_index, &truth.pullback(1.0).d_index, 1e-11, "advantages");
            }
        }
    }
}
