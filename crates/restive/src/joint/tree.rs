//! Expectations over all joint actions, arm by arm, and their pullback.
//!
//! **What it is.** (P_a V)(x) = Σ_y Π_i P_i(x_i, a_i, y_i) V(y) for every joint action a. The product of arms is applied one arm at a
//! time, and joint actions that agree on the first arms share that work: a walk through the tree of decisions, arm 0 at
//! the root, passive first, leaves in the order of the joint actions. Branches that cannot end in exactly K pulls are not entered.
//!
//! **How it is computed.** Every [edge](super::edge) is the same loop, 2·M·M^N operations; memory is one vector per level.
//!
//! **Its pullback.** With cotangents at the leaves, edge by edge backwards: three times the work of the forward walk, which is
//! repeated so that there is no tape. Where only the cotangent of V is wanted ([`Tree::gather`]) it costs the same as the
//! forward walk.

use super::edge::{contract, correlate, spread};
use super::process::Joint;
use ndarray::{Array4, ArrayView4};

/// The transitions of the arms, and vectors for one walk.
pub(super) struct Tree<'a> {
    joint: &'a Joint,
    /// `[N,2,M,M]`: arm, action, state, next state
    matrices: Vec<f64>,
    /// one vector per level, `[N+1][M^N]`
    level: Vec<Vec<f64>>,
    /// their cotangents
    back: Vec<Vec<f64>>,
    /// of the matrices
    d_matrices: Vec<f64>,
}

impl<'a> Tree<'a> {
    pub fn new(joint: &'a Joint, transition: ArrayView4<'_, f64>) -> Self {
        let (n, m) = (joint.arms, joint.states);
        assert_eq!(transition.dim(), (n, m, 2, m), "transition: [N,M,2,M]");
        let mut matrices = Vec::with_capacity(2 * n * m * m);
        for i in 0..n {
            for a in 0..2 {
                matrices.extend((0..m * m).map(|at| transition[[i, at / m, a, at % m]]));
            }
        }
        let d_matrices = vec![0.0; matrices.len()];
        Self { joint, matrices, level: Vec::new(), back: Vec::new(), d_matrices }
    }

    fn vectors(&self, so_far: &mut Vec<Vec<f64>>) {
        so_far.resize_with(self.joint.arms + 1, || vec![0.0; self.joint.joint_states()]);
    }

    /// `leaf(a, P_a V)` for every joint action.
    pub fn expect(&mut self, value: &[f64], mut leaf: impl FnMut(usize, &[f64])) {
        let mut level = std::mem::take(&mut self.level);
        self.vectors(&mut level);
        level[0].copy_from_slice(value);
        let walk = Walk { joint: self.joint, matrices: &self.matrices };
        walk.down(0, self.joint.budget, &mut 0, &mut level, &mut leaf);
        self.level = level;
    }

    /// Σ_a P_aᵀ d_a, where `leaf(a, d_a)` writes d_a.
    pub fn gather(&mut self, out: &mut [f64], mut leaf: impl FnMut(usize, &mut [f64])) {
        let mut back = std::mem::take(&mut self.back);
        self.vectors(&mut back);
        let walk = Walk { joint: self.joint, matrices: &self.matrices };
        walk.gather(0, self.joint.budget, &mut 0, &mut back, &mut leaf);
        out.copy_from_slice(&back[0]);
        self.back = back;
    }

    /// The same with P_a V at hand, `leaf(a, P_a V, d_a)`; and Σ_a d_a·(P_a V) is differentiated by the transitions too.
    pub fn pull_back(
        &mut self,
        value: &[f64],
        out: &mut [f64],
        mut leaf: impl FnMut(usize, &[f64], &mut [f64]),
    ) {
        let (mut level, mut back) = (std::mem::take(&mut self.level), std::mem::take(&mut self.back));
        self.vectors(&mut level);
        self.vectors(&mut back);
        level[0].copy_from_slice(value);
        let walk = Walk { joint: self.joint, matrices: &self.matrices };
        let mut vectors = Vectors { level: &mut level, back: &mut back, d_matrices: &mut self.d_matrices };
        walk.up(0, self.joint.budget, &mut 0, &mut vectors, &mut leaf);
        out.copy_from_slice(&back[0]);
        (self.level, self.back) = (level, back);
    }

    /// What [`Tree::pull_back`] has gathered so far, `[N,M,2,M]`.
    pub fn d_transition(&self) -> Array4<f64> {
        let (n, m) = (self.joint.arms, self.joint.states);
        Array4::from_shape_fn((n, m, 2, m), |(i, s, a, next)| {
            self.d_matrices[((i * 2 + a) * m + s) * m + next]
        })
    }
}

/// The walk itself, with the vectors apart from it.
struct Walk<'a> {
    joint: &'a Joint,
    matrices: &'a [f64],
}

/// What the backward walk writes: the level of each arm, its cotangent, and those of the matrices.
struct Vectors<'a> {
    level: &'a mut [Vec<f64>],
    back: &'a mut [Vec<f64>],
    d_matrices: &'a mut [f64],
}

impl Walk<'_> {
    /// The actions of arm i that can still end in exactly the pulls that are left.
    fn actions(&self, i: usize, left: usize) -> impl Iterator<Item = usize> + use<> {
        let later = self.joint.arms - 1 - i;
        (0..2).filter(move |a| *a <= left && left - a <= later)
    }

    fn range(&self, i: usize, a: usize) -> std::ops::Range<usize> {
        let size = self.joint.states * self.joint.states;
        (i * 2 + a) * size..(i * 2 + a + 1) * size
    }

    fn down(
        &self,
        i: usize,
        left: usize,
        leaves: &mut usize,
        level: &mut [Vec<f64>],
        leaf: &mut impl FnMut(usize, &[f64]),
    ) {
        if i == self.joint.arms {
            leaf(*leaves, &level[i]);
            *leaves += 1;
            return;
        }
        for a in self.actions(i, left) {
            let (head, tail) = level.split_at_mut(i + 1);
            contract(&self.matrices[self.range(i, a)], &head[i], &mut tail[0], self.joint.states);
            self.down(i + 1, left - a, leaves, level, leaf);
        }
    }

    fn gather(
        &self,
        i: usize,
        left: usize,
        leaves: &mut usize,
        back: &mut [Vec<f64>],
        leaf: &mut impl FnMut(usize, &mut [f64]),
    ) {
        if i == self.joint.arms {
            leaf(*leaves, &mut back[i]);
            *leaves += 1;
            return;
        }
        back[i].fill(0.0);
        for a in self.actions(i, left) {
            self.gather(i + 1, left - a, leaves, back, leaf);
            let (head, tail) = back.split_at_mut(i + 1);
            spread(&self.matrices[self.range(i, a)], &tail[0], &mut head[i], self.joint.states);
        }
    }

    fn up(
        &self,
        i: usize,
        left: usize,
        leaves: &mut usize,
        vectors: &mut Vectors<'_>,
        leaf: &mut impl FnMut(usize, &[f64], &mut [f64]),
    ) {
        if i == self.joint.arms {
            leaf(*leaves, &vectors.level[i], &mut vectors.back[i]);
            *leaves += 1;
            return;
        }
        vectors.back[i].fill(0.0);
        for a in self.actions(i, left) {
            let (at, m) = (self.range(i, a), self.joint.states);
            let (head, tail) = vectors.level.split_at_mut(i + 1);
            contract(&self.matrices[at.clone()], &head[i], &mut tail[0], m);
            self.up(i + 1, left - a, leaves, vectors, leaf);
            let (head, tail) = vectors.back.split_at_mut(i + 1);
            spread(&self.matrices[at.clone()], &tail[0], &mut head[i], m);
            correlate(&tail[0], &vectors.level[i], &mut vectors.d_matrices[at], m);
        }
    }
}
