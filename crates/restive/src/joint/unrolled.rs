//! Soft value iteration, unrolled and reversed by hand (as POPCORN differentiates its planner; Futoma et al. 2020).
//!
//! **What it is.** V₀ = 0 and V_{h+1} = τ ln Σ_a exp(Q_h/τ) with Q_h = R + γ P_a V_h, for U sweeps; the plan is the last
//! Q = Q_{U−1}. The policy needs differences of values only, which settle as fast as the arms forget, so that some ten sweeps are
//! close to the fixed point whatever γ is.
//!
//! **Its pullback.** Backwards from D_{U−1} = d_Q:
//!
//! ```text
//! d_P += Σ D_h γ d(P_a V_h)/dP      λ_h = γ Σ_a P_aᵀ D_h      D_{h−1}(x, a) = λ_h(x) exp((Q_{h−1}(x, a) − V_h(x))/τ)
//! ```
//!
//! The tape holds V₀ … V_{U−1}; the Q of a sweep are computed again in the backward pass, so that they need not be kept. 4·U sweeps' work.

use super::plan::{Plan, PlanCotangent, PlanStatus, policy, sweep};
use super::process::Joint;
use super::soft;
use super::tree::Tree;
use ndarray::{Array2, ArrayView4};

pub(super) fn plan<'a>(
    joint: &'a Joint,
    transition: ArrayView4<'_, f64>,
    temperature: f64,
    sweeps: usize,
) -> Plan<'a> {
    assert!(sweeps > 0, "sweeps: at least 1");
    let (x, actions) = (joint.joint_states(), joint.joint_actions());
    let mut tree = Tree::new(joint, transition);
    let mut q = vec![0.0; actions * x];
    let (mut tape, mut value) = (Vec::with_capacity(sweeps), vec![0.0; x]);
    for _ in 0..sweeps {
        sweep(joint, &mut tree, &value, &mut q);
        tape.push(value.clone());
        soft::maximum(&q, temperature, &mut value);
    }
    let q = Array2::from_shape_vec((actions, x), q).expect("A × X");
    Plan {
        policy: policy(&q, &value, temperature),
        value,
        q,
        status: PlanStatus::Converged,
        residual: 0.0,
        sweeps,
        joint,
        transition: transition.to_owned(),
        temperature,
        tape,
    }
}

pub(super) fn pullback(plan: &Plan<'_>, d_q: &[f64]) -> PlanCotangent {
    let (joint, discount, temperature) = (plan.joint, plan.joint.discount, plan.temperature);
    let x = joint.joint_states();
    let mut tree = Tree::new(joint, plan.transition.view());
    let (mut lambda, mut below) = (vec![0.0; x], vec![0.0; x]);
    let mut q = vec![0.0; x];
    for (h, value) in plan.tape.iter().enumerate().rev() {
        match plan.tape.get(h + 1) {
            None => tree.pull_back(value, &mut below, |a, _, d| {
                d.iter_mut().zip(&d_q[a * x..]).for_each(|(d, q)| *d = discount * q);
            }),
            Some(after) => tree.pull_back(value, &mut below, |a, next, d| {
                q.copy_from_slice(next);
                joint.earn(a, &mut q);
                soft::probability(&q, after, temperature, d);
                d.iter_mut().zip(&lambda).for_each(|(d, l)| *d *= discount * l);
            }),
        }
        std::mem::swap(&mut lambda, &mut below);
    }
    PlanCotangent {
        d_transition: tree.d_transition(),
        status: PlanStatus::Converged,
        residual: 0.0,
        sweeps: plan.tape.len(),
    }
}
