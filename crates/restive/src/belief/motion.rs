//! How the states of arms move: observed ones by their transitions, labels along their chains.
//!
//! The labels of an arm are the states of an ordinary one, but its transitions `[L,2,L]` are nearly empty: left alone,
//! (s, h) becomes (s, h+1), and a pull leads to one of M labels. [`Motion`] says which of both a kernel has before it, so that
//! what is done with labels costs O(L·M) and nobody writes L² numbers down.
//!
//! ```
//! use restive::belief::{Motion, beliefs};
//!
//! let p = ndarray::array![[[[0.8, 0.2], [0.4, 0.6]], [[0.3, 0.7], [0.1, 0.9]]]];
//! assert_eq!(Motion::from(p.view()).states(), 2);
//! let found = beliefs(p.view(), 10);
//! assert_eq!(Motion::from(&found.belief).states(), 20);
//! ```

use super::Belief;
use ndarray::{Array3, Array4, ArrayView2, ArrayView3, ArrayView4, Axis};

/// How the L distinguishable states of N arms move.
#[derive(Debug, Clone, Copy)]
pub enum Motion<'a> {
    /// states, by transitions `[N,L,2,L]`
    Rows(ArrayView4<'a, f64>),
    /// labels, along their chains
    Chains(&'a Belief),
}

impl Motion<'_> {
    /// N
    pub fn arms(&self) -> usize {
        match self {
            Motion::Rows(transition) => transition.len_of(Axis(0)),
            Motion::Chains(belief) => belief.arms(),
        }
    }

    /// L
    pub fn states(&self) -> usize {
        match self {
            Motion::Rows(transition) => transition.len_of(Axis(1)),
            Motion::Chains(belief) => belief.labels(),
        }
    }
}

impl<'a> From<ArrayView4<'a, f64>> for Motion<'a> {
    fn from(transition: ArrayView4<'a, f64>) -> Self {
        let (n, l, _, _) = transition.dim();
        assert_eq!(transition.dim(), (n, l, 2, l), "transition: [N,M,2,M]");
        Motion::Rows(transition)
    }
}

impl<'a> From<&'a Belief> for Motion<'a> {
    fn from(belief: &'a Belief) -> Self {
        Motion::Chains(belief)
    }
}

impl Belief {
    /// N
    pub fn arms(&self) -> usize {
        self.view().len_of(Axis(0))
    }

    /// L = M·T
    pub fn labels(&self) -> usize {
        self.view().len_of(Axis(1))
    }

    /// M
    pub fn states(&self) -> usize {
        self.view().len_of(Axis(2))
    }

    /// T, the labels of each chain
    pub fn chain(&self) -> usize {
        self.labels() / self.states()
    }

    /// The label that l becomes when its arm is left alone.
    #[inline(always)]
    pub fn later(l: usize, chain: usize) -> usize {
        if l % chain + 1 < chain { l + 1 } else { l }
    }

    /// The transitions between the labels of one arm written out, `[1,L,2,L]`: for kernels that know ordinary arms only.
    pub fn explicit(&self, arm: usize) -> Array4<f64> {
        let (labels, chain) = (self.labels(), self.chain());
        let mut transition = Array4::zeros((1, labels, 2, labels));
        for l in 0..labels {
            transition[[0, l, 0, Self::later(l, chain)]] = 1.0;
            for (x, b) in self.row(arm, l).iter().enumerate() {
                transition[[0, l, 1, x * chain]] = *b;
            }
        }
        transition
    }

    /// The rewards that labels expect, `[N,L,2]`, for a reward `[M,2]`.
    pub fn reward(&self, reward: ArrayView2<'_, f64>) -> Array3<f64> {
        let (n, _, m) = self.view().dim();
        assert_eq!(reward.dim(), (m, 2), "reward: [M,2]");
        self.reward_of_each(reward.broadcast((n, m, 2)).expect("[N,M,2]"))
    }

    /// The same for rewards of each arm, `[N,M,2]`.
    pub fn reward_of_each(&self, reward: ArrayView3<'_, f64>) -> Array3<f64> {
        let (n, labels, m) = self.view().dim();
        assert_eq!(reward.dim(), (n, m, 2), "reward: [N,M,2]");
        let mut expected = Array3::zeros((n, labels, 2));
        for ((mut out, belief), reward) in
            expected.outer_iter_mut().zip(self.view().outer_iter()).zip(reward.outer_iter())
        {
            for (mut out, b) in out.rows_mut().into_iter().zip(belief.rows()) {
                for (p, r) in b.iter().zip(reward.rows()) {
                    out[0] += p * r[0];
                    out[1] += p * r[1];
                }
            }
        }
        expected
    }
}
