//! Beliefs: what is known of an arm whose state is seen only when it is pulled.
//!
//! # What it is
//! A *collapsing* arm moves like any other, but its state is observed only at a pull. What is known of it is a **label**
//! (s, h): the state s that the last pull saw, and the h = 0, 1, … steps that have passed since the step after that pull. The
//! belief, the distribution of the state now, follows from the arm's transitions:
//!
//! ```text
//! b(s, 0) = P₁(s, ·)        b(s, h+1) = b(s, h)·P₀
//! ```
//!
//! Left alone, (s, h) becomes (s, h+1); pulled, it becomes (x, 0) with probability b(s, h)(x), for x is what the pull sees. The
//! reward is expected under the belief, b·R. So the labels are the states of an ordinary arm, whose transitions and rewards
//! are made of beliefs; [`Motion`] is how kernels meet both. A chain keeps T labels for each s; the last one, left alone, stays where it is. Labels are numbered
//! s·T + h.
//!
//! # Its pullback
//! From the last belief of each chain to the first: with d the cotangent that has arrived at b(s, h+1),
//! d_P₀(x, ·) += b(s, h)(x)·d, and P₀·d arrives at b(s, h); d_P₁(s, ·) is what arrives at b(s, 0). Rows are centred: a
//! row of probabilities sums to 1, so only directions that keep the sum count. O(M²) for each label.
//!
//! ```
//! use restive::belief::{beliefs, label};
//!
//! let p = ndarray::array![[[[0.8, 0.2], [0.4, 0.6]], [[0.3, 0.7], [0.1, 0.9]]]];
//! let found = beliefs(p.view(), 10);
//! let b = found.belief.row(0, label(1, 0, 10));
//! assert_eq!(b, [0.1, 0.9]); // just after state 1 was seen and acted upon
//! let settled = found.belief.row(0, label(1, 9, 10));
//! assert!((settled[1] - 0.4).abs() < 1e-2); // in the long run two days in five
//! ```

mod motion;
mod observation;

use crate::interrupt;
pub use motion::Motion;
use ndarray::{Array3, Array4, ArrayView3, ArrayView4};
pub use observation::{Chain, Observation};
use rayon::prelude::*;

/// The number of the label (s, h) in chains of `chain` labels.
pub fn label(s: usize, h: usize, chain: usize) -> usize {
    s * chain + h
}

/// The beliefs of N arms, `[N,M·T,M]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Belief(Array3<f64>);

impl Belief {
    /// Beliefs from anywhere, `[N,M·T,M]`: counted ones, say.
    pub fn new(values: Array3<f64>) -> Self {
        assert!(values.is_standard_layout(), "beliefs: row-major");
        let (_, labels, m) = values.dim();
        assert!(m > 0 && labels > 0 && labels % m == 0, "beliefs: [N,M·T,M]");
        Self(values)
    }

    /// `[N,M·T,M]`
    pub fn view(&self) -> ArrayView3<'_, f64> {
        self.0.view()
    }

    /// The beliefs of an arm, `[M·T,M]` in a row.
    pub fn arm(&self, arm: usize) -> &[f64] {
        let (_, labels, m) = self.0.dim();
        &self.0.as_slice().expect("row-major")[arm * labels * m..][..labels * m]
    }

    /// The belief of an arm with a label, `[M]`.
    pub fn row(&self, arm: usize, label: usize) -> &[f64] {
        let (_, labels, m) = self.0.dim();
        &self.0.as_slice().expect("row-major")[(arm * labels + label) * m..][..m]
    }
}

/// Beliefs that remember the transitions they come from.
pub struct Beliefs<'a> {
    /// `[N,M·T,M]`
    pub belief: Belief,
    transition: ArrayView4<'a, f64>,
    chain: usize,
}

/// What a cotangent of the beliefs becomes on their input.
#[derive(Debug, Clone, PartialEq)]
pub struct BeliefCotangent {
    /// `[N,M,2,M]`; rows sum to zero
    pub d_transition: Array4<f64>,
}

/// The beliefs of arms with transitions `[N,M,2,M]`, in chains of `chain` labels for each state.
pub fn beliefs(transition: ArrayView4<'_, f64>, chain: usize) -> Beliefs<'_> {
    let (n, m, _, _) = transition.dim();
    assert_eq!(transition.dim(), (n, m, 2, m), "transition: [N,M,2,M]");
    assert!(chain > 0, "chain: at least one label");
    let mut values = Array3::zeros((n, m * chain, m));
    let arms = transition.as_standard_layout();
    let arms = arms.as_slice().expect("row-major").par_chunks(2 * m * m);
    let out = values.as_slice_mut().expect("row-major").par_chunks_mut(m * chain * m);
    arms.zip(out).for_each(|(p, b)| {
        interrupt::check();
        forward(p, m, chain, b);
    });
    Beliefs { belief: Belief(values), transition, chain }
}

impl Beliefs<'_> {
    /// What a cotangent of the beliefs (`[N,M·T,M]`) becomes on the transitions.
    pub fn pullback(&self, d_belief: ArrayView3<'_, f64>) -> BeliefCotangent {
        assert_eq!(d_belief.dim(), self.belief.0.dim(), "d_belief: [N,M·T,M]");
        let (_, m, _, _) = self.transition.dim();
        let chain = self.chain;
        let mut d_transition = Array4::zeros(self.transition.raw_dim());
        let transition = self.transition.as_standard_layout();
        let d_belief = d_belief.as_standard_layout();
        let inputs = (transition.as_slice().expect("row-major").par_chunks(2 * m * m))
            .zip(self.belief.0.as_slice().expect("row-major").par_chunks(chain * m * m))
            .zip(d_belief.as_slice().expect("row-major").par_chunks(chain * m * m));
        let out = d_transition.as_slice_mut().expect("row-major").par_chunks_mut(2 * m * m);
        inputs.zip(out).for_each_init(
            || vec![0.0; 2 * m],
            |scratch, (((p, b), d_b), d_p)| {
                interrupt::check();
                backward(p, m, chain, b, d_b, d_p, scratch);
                for row in d_p.chunks_exact_mut(m) {
                    let mean = row.iter().sum::<f64>() / m as f64;
                    row.iter_mut().for_each(|d| *d -= mean);
                }
            },
        );
        BeliefCotangent { d_transition }
    }
}

/// The beliefs of one arm, `[M,T,M]`, with transitions `[M,2,M]`.
pub(crate) fn forward(p: &[f64], m: usize, chain: usize, b: &mut [f64]) {
    for (s, b) in b.chunks_exact_mut(chain * m).enumerate() {
        b[..m].copy_from_slice(&p[(2 * s + 1) * m..][..m]);
        for h in 1..chain {
            let (before, now) = b.split_at_mut(h * m);
            now[..m].fill(0.0);
            for (x, &share) in before[(h - 1) * m..].iter().enumerate() {
                let row = &p[2 * x * m..][..m];
                now[..m].iter_mut().zip(row).for_each(|(b, p)| *b += share * p);
            }
        }
    }
}

/// Adds to `d_p` (`[M,2,M]`, rows not centred) what a cotangent of one arm's beliefs becomes; `scratch` has 2M numbers.
pub(crate) fn backward(
    p: &[f64],
    m: usize,
    chain: usize,
    b: &[f64],
    d_b: &[f64],
    d_p: &mut [f64],
    scratch: &mut [f64],
) {
    let (mut arrived, mut earlier) = scratch.split_at_mut(m);
    for s in 0..m {
        let (b, d_b) = (&b[s * chain * m..][..chain * m], &d_b[s * chain * m..][..chain * m]);
        arrived.fill(0.0);
        for h in (0..chain).rev() {
            arrived.iter_mut().zip(&d_b[h * m..][..m]).for_each(|(a, d)| *a += d);
            if h == 0 {
                break;
            }
            for (x, earlier) in earlier.iter_mut().enumerate() {
                let (row, share) = (2 * x * m, b[(h - 1) * m + x]);
                let mut sum = 0.0;
                for (to, a) in arrived.iter().enumerate() {
                    d_p[row + to] += share * a;
                    sum += p[row + to] * a;
                }
                *earlier = sum;
            }
            std::mem::swap(&mut arrived, &mut earlier);
        }
        let first = &mut d_p[(2 * s + 1) * m..][..m];
        first.iter_mut().zip(&*arrived).for_each(|(d, a)| *d += a);
    }
}
