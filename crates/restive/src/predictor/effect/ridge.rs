//! The penalty ½·Σ ρ·uᵀ·Q·u over stretches u of M − 1 log-odds, Q = 2·(I − 1·1ᵀ/M): the squared differences between all M next
//! states, times 2/M, whichever of them is the reference.

/// Precision of the passive weights, for uniqueness only.
const WEIGHT: f64 = 1e-3;
/// Precision of the passive biases and of δ, for existence only.
const BIAS: f64 = 1e-6;

/// ρ of each stretch, in the layout of a [`Problem`](super::problem::Problem).
pub(super) struct Ridge {
    /// F + 1
    columns: usize,
    /// M
    states: usize,
    precision: f64,
}

impl Ridge {
    pub(super) fn new(columns: usize, states: usize, precision: f64) -> Self {
        Self { columns, states, precision }
    }

    /// ρ of a column's weight for the moves from a state.
    pub(super) fn passive(&self, column: usize) -> f64 {
        if column == 0 { BIAS } else { WEIGHT }
    }

    /// ρ of a level.
    pub(super) fn level(&self) -> f64 {
        BIAS
    }

    /// ρ of a column's weight in the shift.
    pub(super) fn shift(&self) -> f64 {
        self.precision
    }

    /// Q at (k, l).
    pub(super) fn form(&self, k: usize, l: usize) -> f64 {
        2.0 * (f64::from(k == l) - 1.0 / self.states as f64)
    }

    /// ρ of every stretch, in order.
    fn stretches(&self) -> impl Iterator<Item = f64> {
        let weights = (0..self.columns).flat_map(|g| {
            let shift = if g == 0 { 0.0 } else { self.shift() };
            std::iter::repeat_n(self.passive(g), self.states).chain([shift])
        });
        weights.chain(std::iter::repeat_n(self.level(), self.states))
    }

    /// Adds ρ·Q·u of each stretch.
    pub(super) fn add_gradient(&self, params: &[f64], slope: &mut [f64]) {
        let q = (self.states - 1).max(1);
        let stretches = params.chunks_exact(q).zip(slope.chunks_exact_mut(q)).zip(self.stretches());
        for ((u, slope), rho) in stretches {
            let mean = u.iter().sum::<f64>() / self.states as f64;
            slope.iter_mut().zip(u).for_each(|(slope, u)| *slope += 2.0 * rho * (u - mean));
        }
    }

    pub(super) fn value(&self, params: &[f64]) -> f64 {
        let mut slope = vec![0.0; params.len()];
        self.add_gradient(params, &mut slope);
        0.5 * slope.iter().zip(params).map(|(g, u)| g * u).sum::<f64>()
    }
}
