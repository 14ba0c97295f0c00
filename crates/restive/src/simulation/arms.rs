//! Arms that move: cumulative transition rows, so that one uniform number picks the next state.

use crate::random::Random;
use ndarray::ArrayView4;
use rand::RngExt;

pub(super) struct Arms {
    n: usize,
    m: usize,
    /// Σ_{s″≤s′} P(s, a, s″), the last entry left out: `[N,M,2,M−1]`
    cumulative: Vec<f64>,
}

impl Arms {
    pub(super) fn new(transition: ArrayView4<'_, f64>) -> Self {
        let (n, m) = (transition.shape()[0], transition.shape()[1]);
        assert_eq!(transition.shape()[1..], [m, 2, m], "transition: [N,M,2,M]");
        let mut cumulative = Vec::with_capacity(n * m * 2 * (m - 1));
        for row in transition.rows() {
            let mut sum = 0.0;
            cumulative.extend(row.iter().take(m - 1).map(|p| {
                sum += p;
                sum
            }));
        }
        Self { n, m, cumulative }
    }

    pub(super) fn arms(&self) -> usize {
        self.n
    }

    pub(super) fn states(&self) -> usize {
        self.m
    }

    pub(super) fn uniform_states(&self, luck: &mut Random) -> Vec<u16> {
        (0..self.n).map(|_| luck.random_range(0..self.m as u16)).collect()
    }

    /// Moves every arm; draws one number per arm, whatever its action.
    pub(super) fn step(&self, state: &mut [u16], pull: &[bool], luck: &mut Random) {
        let width = self.m - 1;
        for (i, (s, &pull)) in state.iter_mut().zip(pull).enumerate() {
            let uniform: f64 = luck.random();
            let row = (2 * (i * self.m + usize::from(*s)) + usize::from(pull)) * width;
            // the next state is the number of sums that the draw has reached
            *s = self.cumulative[row..row + width].iter().map(|sum| u16::from(uniform >= *sum)).sum();
        }
    }
}
