//! The exact optimum of the joint process, and the exact value of any policy: dynamic programming over M^N joint states.
//!
//! Over H steps, V_{h+1}(x) = max_a or Σ_a π(x, a) of R(x, a) + γ (P_a V_h)(x), from V₀ = 0: [`best_value`] and [`policy_value`]. For
//! ever, the fixed point of the maximum, within MacQueen's bounds: [`optimum`]. Nothing is sampled. Policies are `[A,X]`,
//! the probability of each joint action in each joint state.

use super::implicit::fixed_point;
use super::plan::{PlanStatus, sweep};
use super::process::Joint;
use super::tree::Tree;
use crate::policy::strict::strict_top_k;
use ndarray::{Array2, ArrayView2, ArrayView4, Axis};

/// The best that can be done for ever.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// V of each joint state, `[X]`
    pub value: Vec<f64>,
    /// Q of each joint action and joint state, `[A,X]`
    pub q: Array2<f64>,
    /// whether the fixed point was reached
    pub status: PlanStatus,
    /// how far V may be from it
    pub residual: f64,
}

/// The optimum of the infinite horizon.
pub fn optimum(joint: &Joint, transition: ArrayView4<'_, f64>) -> Optimum {
    let (x, actions) = (joint.joint_states(), joint.joint_actions());
    let mut tree = Tree::new(joint, transition);
    let mut q = vec![0.0; actions * x];
    let fixed = fixed_point(x, joint.discount, |value, next| {
        sweep(joint, &mut tree, value, &mut q);
        best(&q, next);
    });
    sweep(joint, &mut tree, &fixed.value, &mut q);
    let q = Array2::from_shape_vec((actions, x), q).expect("A × X");
    Optimum { value: fixed.value, q, status: fixed.status, residual: fixed.residual }
}

/// The value of the best policy over H steps, which may change from step to step, from each joint state: `[X]`.
pub fn best_value(joint: &Joint, transition: ArrayView4<'_, f64>, horizon: usize) -> Vec<f64> {
    over_steps(joint, transition, horizon, best)
}

/// The value of a policy (`[A,X]`) over H steps from each joint state: `[X]`.
pub fn policy_value(
    joint: &Joint,
    transition: ArrayView4<'_, f64>,
    policy: ArrayView2<'_, f64>,
    horizon: usize,
) -> Vec<f64> {
    let (x, actions) = (joint.joint_states(), joint.joint_actions());
    assert_eq!(policy.dim(), (actions, x), "policy: [A,X]");
    over_steps(joint, transition, horizon, |q, value| {
        value.fill(0.0);
        for (q, policy) in q.chunks_exact(x).zip(policy.outer_iter()) {
            value.iter_mut().zip(q).zip(policy).for_each(|((v, q), p)| *v += p * q);
        }
    })
}

/// The strict policy of a table of indices (`[N,M]`): the K arms with the highest index. Ties are broken at random, once for each joint state.
pub fn strict(joint: &Joint, index: ArrayView2<'_, f64>) -> Array2<f64> {
    assert_eq!(index.dim(), (joint.arms, joint.states), "index: [N,M]");
    let mut policy = Array2::zeros((joint.joint_actions(), joint.joint_states()));
    for x in 0..joint.joint_states() {
        let state = joint.state(x);
        let score: Vec<f64> = state.iter().enumerate().map(|(i, &s)| index[[i, usize::from(s)]]).collect();
        let pull = strict_top_k(&score, joint.budget, x as u64).pull;
        policy[[joint.action_code(&pull).expect("K arms are pulled"), x]] = 1.0;
    }
    policy
}

/// The policy that takes the joint action with the highest Q (`[A,X]`), the first where several have it.
pub fn greedy(q: ArrayView2<'_, f64>) -> Array2<f64> {
    let mut policy = Array2::zeros(q.dim());
    for (x, q) in q.axis_iter(Axis(1)).enumerate() {
        let best = q.iter().enumerate().fold(0, |best, (a, value)| if *value > q[best] { a } else { best });
        policy[[best, x]] = 1.0;
    }
    policy
}

/// Every joint action equally likely: random pulls.
pub fn uniform(joint: &Joint) -> Array2<f64> {
    let actions = joint.joint_actions();
    Array2::from_elem((actions, joint.joint_states()), 1.0 / actions as f64)
}

/// V ← max_a Q
fn best(q: &[f64], value: &mut [f64]) {
    value.fill(f64::NEG_INFINITY);
    for q in q.chunks_exact(value.len()) {
        value.iter_mut().zip(q).for_each(|(v, q)| *v = v.max(*q));
    }
}

fn over_steps(
    joint: &Joint,
    transition: ArrayView4<'_, f64>,
    horizon: usize,
    mut choose: impl FnMut(&[f64], &mut [f64]),
) -> Vec<f64> {
    let x = joint.joint_states();
    let mut tree = Tree::new(joint, transition);
    let (mut q, mut value) = (vec![0.0; joint.joint_actions() * x], vec![0.0; x]);
    for _ in 0..horizon {
        sweep(joint, &mut tree, &value, &mut q);
        choose(&q, &mut value);
    }
    value
}
