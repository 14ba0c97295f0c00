//! A soft plan of the joint process, with its gradient by the transitions.
//!
//! A plan is Q(x, a) of every joint state and joint action, and the policy softmax(Q/τ). It is a
//! [fixed point](super::implicit) or what [unrolled sweeps](super::unrolled) reach. Given a cotangent of Q, whatever it comes from,
//! [`Plan::pullback`] returns that of the transitions; through the policy it is π·(d_π − Σ π d_π)/τ, through the value
//! V = τ ln Σ exp(Q/τ) it is π·d_V.

use super::process::Joint;
use super::tree::Tree;
use super::{implicit, soft, unrolled};
use ndarray::{Array2, Array4, ArrayView2, ArrayView4};

/// How the soft plan is made and differentiated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planner {
    /// the fixed point of the soft Bellman equation, by the implicit function theorem
    Implicit,
    /// so many sweeps of soft value iteration, through each of them
    Unrolled {
        /// at least 1
        sweeps: usize,
    },
}

/// Whether a fixed point or a solution was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanStatus {
    /// to about twelve digits
    Converged,
    /// not; the residual says how far off
    NotConverged,
}

/// A soft plan.
pub struct Plan<'a> {
    /// V of each joint state, `[X]`
    pub value: Vec<f64>,
    /// Q of each joint action and joint state, `[A,X]`
    pub q: Array2<f64>,
    /// the probability of each joint action in each joint state, `[A,X]`
    pub policy: Array2<f64>,
    /// whether the fixed point was reached; unrolled plans are what they are
    pub status: PlanStatus,
    /// how far V may be from the fixed point; 0 for unrolled plans
    pub residual: f64,
    /// sweeps over all joint states and actions
    pub sweeps: usize,
    pub(super) joint: &'a Joint,
    pub(super) transition: Array4<f64>,
    pub(super) temperature: f64,
    /// the values that sweeps began with, `[sweeps][X]`; none at a fixed point
    pub(super) tape: Vec<Vec<f64>>,
}

/// What a cotangent of Q becomes on the transitions, and how well that is known.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanCotangent {
    /// `[N,M,2,M]`, each row along the simplex: it sums to zero
    pub d_transition: Array4<f64>,
    /// whether the linear system was solved; unrolled plans need none
    pub status: PlanStatus,
    /// what is left of the linear system, relative
    pub residual: f64,
    /// sweeps, of which the last costs three
    pub sweeps: usize,
}

/// The soft plan of a joint process with these transitions (`[N,M,2,M]`) at a temperature above 0.
pub fn plan<'a>(
    joint: &'a Joint,
    transition: ArrayView4<'_, f64>,
    temperature: f64,
    planner: Planner,
) -> Plan<'a> {
    assert!(temperature > 0.0, "temperature: above 0");
    match planner {
        Planner::Implicit => implicit::plan(joint, transition, temperature),
        Planner::Unrolled { sweeps } => unrolled::plan(joint, transition, temperature, sweeps),
    }
}

impl Plan<'_> {
    /// What a cotangent of Q (`[A,X]`, row-major) becomes on the transitions.
    pub fn pullback(&self, d_q: ArrayView2<'_, f64>) -> PlanCotangent {
        assert_eq!(d_q.dim(), self.q.dim(), "d_q: [A,X]");
        let d_q = d_q.to_slice().expect("d_q: row-major");
        let mut pulled =
            if self.tape.is_empty() { implicit::pullback(self, d_q) } else { unrolled::pullback(self, d_q) };
        for mut row in pulled.d_transition.rows_mut() {
            let mean = row.sum() / row.len() as f64;
            row -= mean;
        }
        pulled
    }

    /// The cotangent of Q (`[A,X]`) when the policy has these cotangents: joint state, joint action, d_π.
    pub fn through_policy(&self, d_policy: &[(usize, usize, f64)]) -> Array2<f64> {
        let mut d_q = Array2::zeros(self.q.dim());
        for &(x, a, d) in d_policy {
            let through = d * self.policy[[a, x]] / self.temperature;
            d_q[[a, x]] += through;
            for b in 0..self.q.nrows() {
                d_q[[b, x]] -= through * self.policy[[b, x]];
            }
        }
        d_q
    }
}

/// One sweep: Q of V, `[A,X]` in a row.
pub(super) fn sweep(joint: &Joint, tree: &mut Tree<'_>, value: &[f64], q: &mut [f64]) {
    let x = joint.joint_states();
    tree.expect(value, |a, next| {
        let q = &mut q[a * x..(a + 1) * x];
        q.copy_from_slice(next);
        joint.earn(a, q);
    });
}

/// The policy of Q and V, `[A,X]`.
pub(super) fn policy(q: &Array2<f64>, value: &[f64], temperature: f64) -> Array2<f64> {
    let mut policy = Array2::zeros(q.dim());
    for (q, mut out) in q.outer_iter().zip(policy.outer_iter_mut()) {
        let (q, out) = (q.to_slice().expect("row-major"), out.as_slice_mut().expect("row-major"));
        soft::probability(q, value, temperature, out);
    }
    policy
}
