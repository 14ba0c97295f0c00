//! The fluid value against simulation, and its gradient against finite differences.

use crate::arms::{Kind, random, reward, transitions};
use crate::gradients::{AGREEMENT, derivative, tangent, uniform};
use ndarray::{Array2, Array4};
use rand::RngExt;
use restive::evaluation::{MeanField, fluid};
use restive::index;
use restive::policy::Policy;
use restive::policy::soft_top_k::{Crowd, soft_top_k};
use restive::simulation::{Initial, Setting, values};

#[test]
fn a_crowd_of_single_arms_is_soft_top_k() {
    let mut random = random(81);
    for (n, budget) in [(1, 0.4), (7, 3.0), (40, 0.3), (100, 20.0), (100, 99.5), (50, 49.0)] {
        for temperature in [0.0, 1e-12, 1e-6, 1e-3, 0.03, 0.3, 10.0, f64::INFINITY] {
            let score: Vec<f64> = (0..n).map(|_| random.random::<f64>()).collect();
            let c: Vec<f64> = (0..n).map(|_| uniform(&mut random)).collect();
            let arms = soft_top_k(&score, budget, temperature);
            let crowd = Crowd::new(&score, temperature);
            let (mass, mut pull, mut d_score) = (vec![1.0; n], vec![0.0; n], vec![0.0; n]);
            let solved = crowd.solve(&mass, budget, &mut pull);
            for (p, q) in pull.iter().zip(&arms.pull) {
                assert!(
                    (p - q).abs() < 1e-12,
                    "N={n} K={budget} e={temperature}: {p} not {q}, {:?} {:?} {:?}",
                    pull,
                    arms.pull,
                    score
                );
            }
            let found = crowd.pullback_into(&solved, &mass, &pull, &c, &mut d_score);
            let truth = arms.pullback(&c);
            // differences of the cotangents carry 1e-16, over the temperature
            let size = truth.d_score.iter().fold(1e-6 / temperature, |a, x| a.max(x.abs()));
            for (d, t) in d_score.iter().zip(&truth.d_score) {
                assert!((d - t).abs() <= 1e-9 * size, "N={n} K={budget} e={temperature}: {d} not {t}");
            }
            assert!((found.d_budget - truth.d_budget).abs() < 1e-9);
        }
    }
}

#[test]
fn a_crowd_spends_its_budget_whatever_its_masses() {
    let mut random = random(82);
    for case in 0..400 {
        let n = random.random_range(1..60);
        let score: Vec<f64> = (0..n).map(|_| (random.random::<f64>() * 8.0).round() / 8.0).collect();
        let mass: Vec<f64> = (0..n)
            .map(|_| match case % 4 {
                0 => f64::from(random.random_bool(0.5)),
                1 => random.random::<f64>(),
                2 => random.random::<f64>().powi(40),
                _ => f64::from(random.random_bool(0.3)) * random.random::<f64>(),
            })
            .collect();
        let total: f64 = mass.iter().sum();
        for share in [0.01, 0.3, 0.999] {
            let budget = if case % 4 == 0 { (share * total).round() } else { share * total };
            for temperature in [0.0, 1e-300, 1e-9, 1e-3, 0.1, 5.0] {
                let mut pull = vec![0.0; n];
                Crowd::new(&score, temperature).solve(&mass, budget, &mut pull);
                let spent: f64 = pull.iter().zip(&mass).map(|(p, m)| p * m).sum();
                let expected = budget.min(total);
                assert!(
                    (spent - expected).abs() <= 1e-12 * (1.0 + expected),
                    "{case} {share} {temperature}: {spent} not {expected}"
                );
                assert!(pull.iter().all(|p| (0.0..=1.0).contains(p)));
            }
        }
    }
}

#[test]
fn the_fluid_gradient_is_that_of_the_value() {
    let mut random = random(83);
    for (n, m, budget, temperature, is_certain) in
        [(4, 2, 1.0, 0.1, false), (6, 3, 2.5, 0.05, false), (5, 2, 2.0, 0.02, true), (12, 5, 3.0, 0.3, false)]
    {
        let p = transitions(Kind::Dense, n, m, &mut random);
        let r = reward(m, m == 3, &mut random);
        let w = Array2::from_shape_simple_fn((n, m), || 0.3 * uniform(&mut random));
        let mut start = Array2::from_shape_simple_fn((n, m), || random.random::<f64>());
        if is_certain {
            start.mapv_inplace(|_| 0.0);
            start.column_mut(1).fill(1.0);
        }
        start.rows_mut().into_iter().for_each(|mut row| row /= row.sum());
        let h = 1e-4 * (temperature / 0.1f64).min(1.0);
        let value = |p: &Array4<f64>, r: &Array2<f64>, w: &Array2<f64>, k: f64, e: f64, s: &Array2<f64>| {
            fluid(w.view(), &field(p, r, s, k), e, 6).value
        };
        let solved = fluid(w.view(), &field(&p, &r, &start, budget), temperature, 6);
        let d = solved.pullback(1.0);
        let close = |what: &str, found: f64, truth: f64, size: f64| {
            assert!(
                (found - truth).abs() <= AGREEMENT * size,
                "{what} N={n} M={m}: {found} not {truth}, size {size}"
            );
        };
        let length = |x: &Array2<f64>| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let direction = Array2::from_shape_simple_fn((n, m), || uniform(&mut random));
        let truth = derivative(|t| value(&p, &r, &(&w + &(&direction * t)), budget, temperature, &start), h);
        close("index", (&d.d_index * &direction).sum(), truth, length(&d.d_index) * length(&direction));
        let towards = tangent(&p, h, &mut random);
        let truth = derivative(|t| value(&(&p + &(&towards * t)), &r, &w, budget, temperature, &start), h);
        let d_transition = d.d_transition.as_ref().unwrap();
        let size = (d_transition.mapv(|x| x * x).sum() * towards.mapv(|x| x * x).sum()).sqrt();
        close("transition", (d_transition * &towards).sum(), truth, size);
        assert!(d_transition.rows().into_iter().all(|row| row.sum().abs() < 1e-12));
        let direction = Array2::from_shape_simple_fn((m, 2), || uniform(&mut random));
        let truth = derivative(|t| value(&p, &(&r + &(&direction * t)), &w, budget, temperature, &start), h);
        let d_reward = d.d_reward.sum_axis(ndarray::Axis(0));
        close("reward", (&d_reward * &direction).sum(), truth, length(&d_reward) * length(&direction));
        if !is_certain {
            let mut direction = Array2::from_shape_simple_fn((n, m), || uniform(&mut random));
            direction.rows_mut().into_iter().for_each(|mut row| row -= row.mean().unwrap());
            let truth =
                derivative(|t| value(&p, &r, &w, budget, temperature, &(&start + &(&direction * t))), h);
            close(
                "initial",
                (&d.d_initial * &direction).sum(),
                truth,
                length(&d.d_initial) * length(&direction),
            );
        }
        let truth = derivative(|t| value(&p, &r, &w, budget + t, temperature, &start), h);
        close("budget", d.d_budget, truth, d.d_budget.abs().max(0.1));
        let truth = derivative(|t| value(&p, &r, &w, budget, temperature + t, &start), h);
        close("temperature", d.d_temperature, truth, d.d_temperature.abs().max(0.1));
    }
}

fn field<'a>(p: &'a Array4<f64>, r: &'a Array2<f64>, start: &'a Array2<f64>, budget: f64) -> MeanField<'a> {
    let (motion, reward, initial) = (p.view().into(), r.view().into(), start.view());
    MeanField { motion, reward, initial, discount: 0.95, budget }
}

/// (fluid, simulated, standard error, gain over no action) of N copies of a few kinds of arms.
fn compare(n: usize, is_strict: bool, runs: usize) -> (f64, f64, f64, f64) {
    let kinds = transitions(Kind::Dense, 5, 2, &mut random(84));
    let p = Array4::from_shape_fn((n, 2, 2, 2), |(i, s, a, to)| kinds[[i % 5, s, a, to]]);
    // a little spread, so that no two arms tie
    let mut random = random(85);
    let w = index::two_state::index(p.view(), restive::Reward::linear(2).view(), 0.9).index;
    let w = w.mapv(|w| w + 1e-3 * random.random::<f64>());
    let reward = restive::Reward::linear(2);
    let budget = n / 5;
    let setting =
        Setting { motion: p.view().into(), reward: (&reward).into(), discount: 0.99, budget, horizon: 8 };
    let start = Array2::from_elem((n, 2), 0.5);
    let temperature = if is_strict { 0.0 } else { 0.05 };
    let (motion, initial) = (setting.motion, start.view());
    let field = MeanField { motion, reward: setting.reward, initial, discount: 0.99, budget: budget as f64 };
    let fluid = fluid(w.view(), &field, temperature, 8).value;
    let policy = if is_strict { Policy::Strict(w) } else { Policy::Soft(w, temperature) };
    let simulated = values(&setting, &Initial::Uniform, &policy, runs, 1);
    let passive = values(&setting, &Initial::Uniform, &Policy::NoAction, runs, 1);
    let mean = simulated.mean().unwrap();
    (fluid, mean, simulated.std(1.0) / (runs as f64).sqrt(), mean - passive.mean().unwrap())
}

#[test]
fn the_fluid_value_nears_the_simulated_one_as_one_over_n() {
    for is_strict in [false, true] {
        let mut biases = Vec::new();
        for (n, runs) in [(5, 40_000), (20, 40_000), (100, 20_000)] {
            let (fluid, simulated, error, gain) = compare(n, is_strict, runs);
            biases.push(((fluid - simulated) / gain, error / gain));
            println!(
                "strict {is_strict} N={n}: fluid {fluid:.4} simulated {simulated:.4} ± {error:.4}, gain {gain:.4}"
            );
        }
        println!("relative bias {biases:?}");
        let [small, middle, large] = biases[..] else { unreachable!() };
        // N·bias is level: four times the arms, at most 0.4 of the bias, within four standard errors
        assert!(small.0 > 0.0, "{biases:?}");
        assert!(middle.0 < 0.4 * small.0 + 4.0 * (middle.1 + 0.4 * small.1), "{biases:?}");
        assert!(large.0.abs() < 0.1 * small.0 + 4.0 * (large.1 + 0.1 * small.1), "{biases:?}");
        assert!(large.0.abs() < 0.02, "{biases:?}");
    }
}
