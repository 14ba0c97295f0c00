//! Calls of the library that are measured: the only file of this package that contains names of `restive`.
//!
//! Each function prepares its inputs and returns a call; a call returns one number of its result, so that two builds can be compared.
//! If a name of the library changes, copy this file to `calls_COMMIT.rs` for the build before, and change this one.

use ndarray::{Array2, Array4};
use restive::data::domain::Domain;
use restive::index::general;
use restive::index::two_state::{Packing, index_and_pullback_into};
use restive::policy::soft_top_k::soft_top_k;
use restive::predictor::{Architecture, Predictor};
use restive::training::{Config, Decision, DecisionFocused, Value};
use restive::{Layout, Reward, Transition};
use std::hint::black_box;

pub type Call = Box<dyn FnMut() -> f64>;

/// Whittle indices of two-state arms and their gradient. `p`: `[N,4]`, or `[N,2,2,2]` if `is_full`; `d_index`: `[N,2]`.
pub fn two_state(p: Vec<f64>, is_full: bool, d_index: Vec<f64>) -> Call {
    let packing = if is_full { Packing::Full } else { Packing::Compact };
    let (mut index, mut d_p) = (vec![0.0; d_index.len()], vec![0.0; p.len()]);
    Box::new(move || {
        let reward = Reward::linear(2);
        let p = black_box(&p);
        index_and_pullback_into(p, packing, reward.view(), 0.99, &d_index, &mut index, &mut d_p);
        black_box(&index)[1] + black_box(&d_p)[1]
    })
}

/// Whittle indices of arms with M states and their gradient. `p`: `[N,M,2,M]`; `d_index`: `[N,M]`.
pub fn general(p: Vec<f64>, states: usize, d_index: Vec<f64>) -> Call {
    let arms = d_index.len() / states;
    let p = Array4::from_shape_vec((arms, states, 2, states), p).expect("one number for each transition");
    let p = Transition::new(p, Layout::Nsas).expect("rows sum to 1");
    let d_index = Array2::from_shape_vec((arms, states), d_index).expect("one number for each state");
    let reward = Reward::linear(states);
    Box::new(move || {
        let solved = general::differentiable_index(black_box(p.view()), reward.view(), 0.99);
        let cotangent = black_box(solved.pullback(d_index.view()));
        let value = solved.indices.index[[0, states - 1]];
        drop(cotangent);
        value
    })
}

/// Soft top-k of N scores and its gradient.
pub fn selection(score: Vec<f64>, d_pull: Vec<f64>, budget: f64, temperature: f64) -> Call {
    Box::new(move || {
        let selected = soft_top_k(black_box(&score), budget, temperature);
        let cotangent = black_box(selected.pullback(&d_pull));
        cotangent.d_score[0] + selected.pull[0]
    })
}

/// One decision-focused gradient step: features, network, indices, policy, value, and back. Two states, 16 features, 64 hidden units.
///
/// `is_published`: importance sampling of the logged trajectories as in the paper, otherwise the fluid value.
pub fn decision_focused_step(arms: usize, trajectories: usize, is_published: bool) -> Call {
    let domain = Domain { instances: 1, arms, budget: arms / 5, trajectories, ..Domain::two_state() };
    let instances = domain.generate(1).expect("a valid domain");
    let decision = match is_published {
        true => Decision::published(9),
        false => Decision { value: Value::Fluid, ..Decision::recommended(9) },
    };
    let config = Config::published();
    let kind = config.kind.clone();
    let predictor = Predictor::new(&Architecture { features: 16, states: 2, kind }, 1).expect("valid sizes");
    let training =
        DecisionFocused::new(config, decision, None, &instances, &[]).expect("logged trajectories");
    Box::new(move || black_box(training.objective(black_box(&predictor), 0, 0)).value)
}
