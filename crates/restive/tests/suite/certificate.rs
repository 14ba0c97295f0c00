//! Certificates against all arms as one process (every joint state, every set of pulls, every step back from the end), and the way that
//! plans come on the published domains.

use crate::arms::{KINDS, Kind, random, transitions};
use ndarray::Array4;
use restive::data::domain::Domain;
use restive::evaluation::{Certificate, Certified, World};
use restive::index::whittle_index;
use restive::instance::Observation;
use restive::statistics::Mean;
use restive::{Instance, Layout, Reward, Transition};

/// The value of joint states (digits base M) at the first step, the state after the last decision counted; `first` decides the first step.
fn optimum(p: &Array4<f64>, budget: usize, discount: f64, steps: usize, first: Option<usize>) -> Vec<f64> {
    let (n, m) = (p.shape()[0], p.shape()[1]);
    let digits = |code: usize| -> Vec<usize> { (0..n).map(|i| code / m.pow(i as u32) % m).collect() };
    let earned = |code: usize| -> f64 { digits(code).iter().map(|s| *s as f64 / (m - 1) as f64).sum() };
    let joint = m.pow(n as u32);
    let mut value: Vec<f64> = (0..joint).map(earned).collect();
    for t in (0..steps).rev() {
        let here = |code: usize| {
            let state = digits(code);
            let worth = |set: usize| -> f64 {
                let chance = |to: usize| -> f64 {
                    digits(to).iter().enumerate().map(|(i, s)| p[[i, state[i], set >> i & 1, *s]]).product()
                };
                earned(code) + discount * (0..joint).map(|to| chance(to) * value[to]).sum::<f64>()
            };
            let sets = (0..1usize << n).filter(|set| match first.filter(|_| t == 0) {
                Some(first) => *set == first,
                None => set.count_ones() as usize <= budget,
            });
            sets.map(worth).fold(f64::NEG_INFINITY, f64::max)
        };
        value = (0..joint).map(here).collect();
    }
    value
}

#[test]
fn no_policy_of_an_enumerable_programme_passes_the_bound() {
    for seed in 0..24 {
        let (n, m) = ([2, 3, 4][seed % 3], [2, 3][seed % 2]);
        let (budget, steps) = (1 + seed % 2, 1 + seed % 5);
        let discount = [1.0, 0.9][seed % 2];
        let p = transitions(KINDS[seed % 4], n, m, &mut random(seed as u64));
        let (reward, transition) = (Reward::linear(m), Transition::new(p.clone(), Layout::Nsas).unwrap());
        let world = World::new(Observation::Full, &reward, &transition);
        let state: Vec<u16> = (0..n).map(|i| ((i + seed) % m) as u16).collect();
        let code = (0..n).map(|i| usize::from(state[i]) * m.pow(i as u32)).sum::<usize>();
        let solved = whittle_index(transition.view(), reward.view(), 0.9, Observation::Full).index;
        for index in [None, Some(solved.view())] {
            let certified =
                Certified { world: &world, discount, budget, steps, state: &state, first: None, index };
            let certificate = certified.certificate(seed as u64);
            let best = optimum(&p, budget, discount, steps, None)[code];
            let none = optimum(&p, 0, discount, steps, None)[code];
            assert!(
                certificate.bound >= best - 1e-9,
                "seed {seed}: bound {} below {best}",
                certificate.bound
            );
            assert!((certificate.no_action - none).abs() < 1e-9, "seed {seed}");
            // no simulated plan is better than the best one, but for noise
            assert!(
                certificate.value.mean <= best + 5.0 * certificate.value.standard_error + 1e-9,
                "seed {seed}"
            );
            for point in &certificate.curve {
                let best = optimum(&p, point.budget, discount, steps, None)[code];
                assert!(point.bound >= best - 1e-9, "seed {seed}, budget {}", point.budget);
            }
        }
    }
}

#[test]
fn the_list_is_what_is_pulled_first() {
    // one decision: the value of a list is a sum, and a list of the wrong people is worth less
    let p = transitions(Kind::Dense, 4, 2, &mut random(5));
    let (reward, transition) = (Reward::linear(2), Transition::new(p.clone(), Layout::Nsas).unwrap());
    let world = World::new(Observation::Full, &reward, &transition);
    for set in 0..16usize {
        let first: Vec<bool> = (0..4).map(|i| set >> i & 1 == 1).collect();
        let certified = Certified {
            world: &world,
            discount: 0.9,
            budget: 4,
            steps: 1,
            state: &[0, 1, 0, 1],
            first: Some(&first),
            index: None,
        };
        let found = certified.certificate(3).value;
        let code = 2 + 8;
        let truth = optimum(&p, 4, 0.9, 1, Some(set))[code];
        assert!(
            (found.mean - truth).abs() <= 4.5 * found.standard_error + 1e-9,
            "set {set}: {found:?} {truth}"
        );
    }
}

fn published(instance: &Instance, by_index: bool) -> Certificate {
    let truth = instance.truth().unwrap();
    let world = World::new(instance.observation(), instance.reward(), truth);
    let state = vec![0; instance.arms()];
    let solved = whittle_index(truth.view(), instance.reward().view(), 0.99, Observation::Full);
    let index = by_index.then(|| solved.index.view());
    Certified { world: &world, discount: 1.0, budget: 20, steps: 9, state: &state, first: None, index }
        .certificate(7)
}

#[test]
fn plans_come_within_three_per_cent_of_the_way() {
    for domain in [Domain::two_state(), Domain::five_state()] {
        let instances = Domain { instances: 3, trajectories: 1, ..domain }.generate(11).unwrap();
        for instance in &instances {
            let share = published(instance, false).share().unwrap();
            assert!(share.low > 0.97 && share.mean < 1.0 + 4.0 * share.standard_error, "{share:?}");
            let index = published(instance, true).share().unwrap();
            assert!(index.mean > 0.8 && index.mean < share.mean + 0.01, "{index:?} {share:?}");
        }
    }
}

#[test]
fn more_pulls_bring_less_and_less() {
    for domain in [Domain::two_state(), Domain::five_state()] {
        let instances = Domain { instances: 2, trajectories: 1, ..domain }.generate(5).unwrap();
        for certificate in instances.iter().map(|instance| published(instance, false)) {
            let slope = |of: &dyn Fn(usize) -> f64, k: usize| {
                let budget = |k: usize| certificate.curve[k].budget as f64;
                (of(k + 1) - of(k)) / (budget(k + 1) - budget(k))
            };
            let bound = |k: usize| certificate.curve[k].bound;
            let value = |k: usize| certificate.curve[k].value.mean;
            let noise = |k: usize| certificate.curve[k].value.standard_error;
            for k in 0..certificate.curve.len() - 2 {
                let tolerance = 1e-3 * certificate.bound; // the descent ends within .02 % of the smallest bound
                assert!(slope(&bound, k) >= slope(&bound, k + 1) - tolerance, "bound at {k}");
                let width = (certificate.curve[k + 1].budget - certificate.curve[k].budget) as f64;
                let reach = 4.0 * (noise(k) + 2.0 * noise(k + 1) + noise(k + 2)) / width.min(5.0);
                assert!(slope(&value, k) >= slope(&value, k + 1) - reach, "value at {k}");
            }
            // what one more pull is worth lies between the slopes on both sides of K
            let here = certificate.curve.iter().position(|point| point.budget == 20).unwrap();
            let (before, after) = (slope(&bound, here - 1), slope(&bound, here));
            assert!(
                (after * 0.9..=before * 1.1).contains(&certificate.one_more),
                "{before} {} {after}",
                certificate.one_more
            );
        }
    }
}

#[test]
fn enough_is_where_more_brings_nothing() {
    // ten arms that a pull helps and five that it harms, for one decision: ten pulls are enough
    let help = |i: usize| if i < 10 { 0.3 } else { -0.1 };
    let p = Array4::from_shape_fn((15, 2, 2, 2), |(i, _, a, to)| {
        let up = 0.4 + a as f64 * help(i);
        if to == 1 { up } else { 1.0 - up }
    });
    let (reward, transition) = (Reward::linear(2), Transition::new(p, Layout::Nsas).unwrap());
    let world = World::new(Observation::Full, &reward, &transition);
    let at = |budget| Certified {
        world: &world,
        discount: 1.0,
        budget,
        steps: 3,
        state: &[0; 15],
        first: None,
        index: None,
    };
    let found = at(4).certificate(1);
    assert_eq!(found.enough, 10);
    assert!((found.one_more - 3.0 * 0.3).abs() < 0.01, "{}", found.one_more); // each of three decisions
    let beyond = at(12).certificate(1);
    assert_eq!(beyond.one_more, 0.0);
    assert_eq!(beyond.enough, 10);
}

#[test]
fn nothing_to_gain_has_no_share() {
    let p = Array4::from_elem((3, 2, 2, 2), 0.5);
    let (reward, transition) = (Reward::linear(2), Transition::new(p, Layout::Nsas).unwrap());
    let world = World::new(Observation::Full, &reward, &transition);
    let certified = Certified {
        world: &world,
        discount: 1.0,
        budget: 1,
        steps: 4,
        state: &[0; 3],
        first: None,
        index: None,
    };
    let found = certified.certificate(2);
    assert_eq!(found.share(), None);
    assert_eq!((found.enough, found.one_more), (0, 0.0));
    let Mean { mean, .. } = found.value;
    assert!((mean - found.no_action).abs() < 1e-9);
}
