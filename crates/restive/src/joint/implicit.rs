//! The fixed point of the soft Bellman equation, and its gradient by the implicit function theorem (Wang et al. 2021).
//!
//! **What it is.** V = T(V) with T(V)(x) = τ ln Σ_a exp(Q(x, a)/τ) and Q = R + γ P_a V.
//!
//! **How it is computed.** T is monotone and T(V + c) = T(V) + γc, so the fixed point lies between T(V) + γ/(1−γ)·min(T(V) − V) and
//! the same with max (MacQueen's bounds). Each sweep goes on from their middle: what is left then shrinks as the arms forget where
//! they were, not as γ, and the width of the bounds says when to stop.
//!
//! **Its pullback.** T has the derivative γP^π by V, P^π = Σ_a π_a P_a. A cotangent d_Q of Q = R + γ P V:
//!
//! ```text
//! g = γ Σ_a P_aᵀ d_Q(·, a)         what it says of V
//! (I − γ P^π)ᵀ λ = g               … through all sweeps: one linear system over M^N unknowns
//! D = d_Q + λ·π                     what each Q(x, a) is worth at the fixed point
//! d_P = Σ_x,a D(x, a) γ d(P_a V)(x)/dP
//! ```
//!
//! The system is solved by `krylov`, each application one walk through the `tree` of joint actions.

use super::plan::{Plan, PlanCotangent, PlanStatus, policy, sweep};
use super::process::Joint;
use super::tree::Tree;
use super::{krylov, soft};
use ndarray::{Array2, ArrayView4};

/// Of the size of the values: the width of the bounds at which sweeps stop.
const TOLERANCE: f64 = 1e-12;
/// Sweeps at most.
const SWEEPS: usize = 20_000;

/// A fixed point of any operator that is monotone and shifts by γ, within bounds.
pub(super) struct Fixed {
    pub value: Vec<f64>,
    pub residual: f64,
    pub status: PlanStatus,
    pub sweeps: usize,
}

/// `step(V, out)` writes T(V).
pub(super) fn fixed_point(x: usize, discount: f64, mut step: impl FnMut(&[f64], &mut [f64])) -> Fixed {
    let (mut value, mut next) = (vec![0.0; x], vec![0.0; x]);
    let reach = discount / (1.0 - discount);
    for sweeps in 1..=SWEEPS {
        step(&value, &mut next);
        let (mut low, mut high, mut size) = (f64::INFINITY, f64::NEG_INFINITY, 1.0f64);
        for (v, n) in value.iter().zip(&next) {
            (low, high, size) = (low.min(n - v), high.max(n - v), size.max(n.abs()));
        }
        let shift = 0.5 * reach * (low + high);
        value.iter_mut().zip(&next).for_each(|(v, n)| *v = n + shift);
        let residual = 0.5 * reach * (high - low);
        if residual <= TOLERANCE * (size + shift.abs()) {
            return Fixed { value, residual, status: PlanStatus::Converged, sweeps };
        }
        if sweeps == SWEEPS || !residual.is_finite() {
            return Fixed { value, residual, status: PlanStatus::NotConverged, sweeps };
        }
    }
    unreachable!("the last sweep returns")
}

pub(super) fn plan<'a>(joint: &'a Joint, transition: ArrayView4<'_, f64>, temperature: f64) -> Plan<'a> {
    let (x, actions) = (joint.joint_states(), joint.joint_actions());
    let mut tree = Tree::new(joint, transition);
    let mut q = vec![0.0; actions * x];
    let fixed = fixed_point(x, joint.discount, |value, next| {
        sweep(joint, &mut tree, value, &mut q);
        soft::maximum(&q, temperature, next);
    });
    sweep(joint, &mut tree, &fixed.value, &mut q);
    // of this Q, so that probabilities sum to 1 to the last digit
    let mut value = vec![0.0; x];
    soft::maximum(&q, temperature, &mut value);
    let q = Array2::from_shape_vec((actions, x), q).expect("A × X");
    Plan {
        policy: policy(&q, &value, temperature),
        value: fixed.value,
        q,
        status: fixed.status,
        residual: fixed.residual,
        sweeps: fixed.sweeps + 1,
        joint,
        transition: transition.to_owned(),
        temperature,
        tape: Vec::new(),
    }
}

pub(super) fn pullback(plan: &Plan<'_>, d_q: &[f64]) -> PlanCotangent {
    let (joint, discount) = (plan.joint, plan.joint.discount);
    let x = joint.joint_states();
    let pi = plan.policy.as_slice().expect("row-major");
    let mut tree = Tree::new(joint, plan.transition.view());
    let mut g = vec![0.0; x];
    tree.gather(&mut g, |a, d| {
        d.iter_mut().zip(&d_q[a * x..]).for_each(|(d, q)| *d = discount * q);
    });
    let solved = krylov::solve(&g, TOLERANCE, |lambda, out| {
        tree.gather(out, |a, d| {
            let pi = &pi[a * x..(a + 1) * x];
            d.iter_mut().zip(pi).zip(lambda).for_each(|((d, pi), l)| *d = discount * pi * l);
        });
        out.iter_mut().zip(lambda).for_each(|(o, l)| *o = l - *o);
    });
    let lambda = &solved.x;
    tree.pull_back(&plan.value, &mut g, |a, _, d| {
        let (pi, d_q) = (&pi[a * x..(a + 1) * x], &d_q[a * x..(a + 1) * x]);
        for k in 0..x {
            d[k] = discount * (d_q[k] + lambda[k] * pi[k]);
        }
    });
    let is_solved = solved.residual <= 1e3 * TOLERANCE;
    PlanCotangent {
        d_transition: tree.d_transition(),
        status: if is_solved { PlanStatus::Converged } else { PlanStatus::NotConverged },
        residual: solved.residual,
        sweeps: solved.applications + 2,
    }
}
