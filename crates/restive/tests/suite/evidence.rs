//! Evidence against plain NumPy, against chance, and against what would game it.

use super::golden::{cases, numbers};
use ndarray::{Array2, Array3, Array4, Axis, s};
use rand::RngExt;
use restive::data::maternal::Maternal;
use restive::evidence::{Design, Evidence, EvidenceSettings, Gain, Judge, Judged, Ranking};
use restive::instance::{Instance, Logged, NO_ACTION, Observation, Parts, UNSEEN};
use restive::planning::Ending;
use restive::policy::Policy;
use restive::random::stream;
use restive::simulation::{Initial, Setting, trajectories};
use restive::{Reward, Trajectories, Transition};
use serde_json::Value;

fn settings(design: Design, horizon: usize) -> EvidenceSettings {
    EvidenceSettings { design, horizon, ending: Ending::State, seed: 1 }
}

/// Everybody of some instances, judged by one judge.
fn evidence(judged: &[Instance], judge: &Judge, settings: EvidenceSettings) -> Evidence {
    let arms: Vec<Vec<usize>> = judged.iter().map(|instance| (0..instance.arms()).collect()).collect();
    let judged: Vec<Judged> =
        judged.iter().zip(&arms).map(|(instance, arms)| Judged { instance, arms, judge }).collect();
    Evidence::new(&judged, settings).unwrap()
}

fn golden_instances(case: &Value) -> Vec<Instance> {
    let (m, n) = (case["states"].as_u64().unwrap() as usize, case["people"].as_u64().unwrap() as usize);
    let all = case["state"].as_array().unwrap().len();
    let state = numbers(&case["state"]);
    let steps = state.len() / all;
    let state = Array2::from_shape_vec((all, steps), state).unwrap();
    let action = Array2::from_shape_vec((all, steps - 1), numbers(&case["action"])).unwrap();
    let features = Array2::from_shape_vec((all, 2), numbers(&case["features"])).unwrap();
    let reward: Vec<f64> = numbers(&case["reward"]);
    let group = |g: usize| {
        let logged = Logged {
            state: Array3::from_shape_fn((1, steps, n), |(_, t, i)| state[[g * n + i, t]] as u16),
            action: Array3::from_shape_fn((1, steps, n), |(_, t, i)| match t + 1 < steps {
                true => action[[g * n + i, t]] as u8,
                false => NO_ACTION,
            }),
            propensity: None,
            reward: None,
        };
        Instance::new(Parts {
            features: features.slice(s![g * n..(g + 1) * n, ..]).to_owned(),
            trajectories: Trajectories::new(logged, m).unwrap(),
            reward: Reward::of_state(&reward).unwrap(),
            budget: case["budget"].as_u64().unwrap() as usize,
            discount: case["discount"].as_f64().unwrap(),
            truth: None,
            observation: Observation::Full,
        })
        .unwrap()
    };
    (0..all / n).map(group).collect()
}

#[test]
fn judge_scores_slope_and_gains_equal_plain_numpy() {
    for case in cases("evidence") {
        let all = golden_instances(&case);
        let (others, judged) = all.split_at(2);
        let judge = Judge::fit(others).unwrap();
        let ending =
            if case["is_ending_counted"].as_bool().unwrap() { Ending::State } else { Ending::Nothing };
        let horizon = case["horizon"].as_u64().unwrap() as usize;
        let asked = EvidenceSettings { ending, ..settings(Design::Uniform, horizon) };
        let evidence = evidence(judged, &judge, asked);
        let (m, n) = (all[0].states(), all[0].arms());
        let table = Array3::from_shape_vec((2, n, m), numbers(&case["table"])).unwrap();
        let tables: Vec<Array3<f64>> =
            table.outer_iter().map(|own| own.to_owned().insert_axis(Axis(0))).collect();
        let found = evidence.ranking(&tables).unwrap();
        // the judge stops when a step changes nothing in the fifth digit; scores hardly feel it
        for (name, found) in [
            ("slope_over_error", found.statistic),
            ("gain", found.gain.value),
            ("gain_error", found.gain.error),
            ("top", found.top.value),
            ("random", evidence.random().value),
        ] {
            let expected = case[name].as_f64().unwrap();
            assert!((found - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{name}: {found} {expected}");
        }
    }
}
