//! The penalty ½·Σ ρ·uᵀ·Q·u over stretches u of M − 1 log-odds, Q = 2·(I − 1·1ᵀ/M): the squared differences between all M next
//! states, times 2/M, whichever of them is the reference.

use super::Held;

/// Of the effect model: precision of the passive weights, for uniqueness only.
const WEIGHT: f64 = 1e-3;
/// And of the passive biases and of δ, for existence only.
const BIAS: f64 = 1e-6;
/// Of the hierarchical model: precision of the intercepts, for existence only; but for those of the states' own shifts.
const LOOSE: f64 = 1e-4;
const LEVEL: f64 = 1.0;

/// ρ of each stretch, in the layout of a [`Problem`](super::problem::Problem).
pub(super) struct Ridge {
    /// F + 1
    columns: usize,
    /// M
    states: usize,
    pub held: Held,
}

impl Ridge {
    pub(super) fn new(columns: usize, states: usize, held: Held) -> Self {
        Self { columns, states, held }
    }

    /// ρ of a column's weight for the moves from a state.
    pub(super) fn passive(&self, column: usize) -> f64 {
        match (self.held, column) {
            (Held::Effect(_), 0) => BIAS,
            (Held::Effect(_), _) => WEIGHT,
            (Held::Hierarchical(_), 0) => LOOSE,
            (Held::Hierarchical([passive, ..]), _) => passive,
        }
    }

    /// ρ of a column's weight in the shift of a state; the effect model has that of the intercept alone, the level.
    pub(super) fn own(&self, column: usize) -> f64 {
        match (self.held, column) {
            (Held::Effect(_), _) => BIAS,
            (Held::Hierarchical(_), 0) => LEVEL,
            (Held::Hierarchical([_, _, by_state]), _) => by_state,
        }
    }

    /// ρ of a column's weight in the shift that all states share.
    pub(super) fn common(&self, column: usize) -> f64 {
        match (self.held, column) {
            (Held::Effect(_), 0) => 0.0,
            (Held::Effect(precision), _) => precision,
            (Held::Hierarchical(_), 0) => LOOSE,
            (Held::Hierarchical([_, common, _]), _) => common,
        }
    }

    /// Q at (k, l).
    pub(super) fn form(&self, k: usize, l: usize) -> f64 {
        2.0 * (f64::from(k == l) - 1.0 / self.states as f64)
    }

    /// ρ of every stretch, in order.
    fn stretches(&self) -> impl Iterator<Item = f64> {
        let (is_by_state, m) = (self.held.is_by_state(), self.states);
        let weights = (0..self.columns).flat_map(move |g| {
            let own = std::iter::repeat_n(self.own(g), if is_by_state { m } else { 0 });
            std::iter::repeat_n(self.passive(g), m).chain([self.common(g)]).chain(own)
        });
        weights.chain(std::iter::repeat_n(self.own(0), if is_by_state { 0 } else { m }))
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

    /// uᵀ·Q·u of a stretch.
    pub(super) fn size(&self, u: &[f64]) -> f64 {
        let mean = u.iter().sum::<f64>() / self.states as f64;
        u.iter().map(|x| 2.0 * x * (x - mean)).sum()
    }
}
