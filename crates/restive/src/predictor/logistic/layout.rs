//! Where parameters lie within a fit.
//!
//! They are a matrix with a row for each column of the design, the intercept's first, and a column for each log-odds: those of
//! state 0, of state 1, …, of the shift that all states share, and of the hierarchical model those of the shift of state 0, of
//! state 1, …: `[F+1,(2M+1)(M−1)]`. The effect model has no such shifts but for their intercepts, the levels δ `[M,M−1]`, which
//! lie behind its matrix `[F+1,(M+1)(M−1)]`; and its common shift has no intercept (δ is it): that stretch stays zero.

use super::Logistic;
use ndarray::ArrayView2;

/// The sizes of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    /// F + 1
    pub columns: usize,
    /// M
    pub states: usize,
    /// whether each state has a shift of its own
    pub is_by_state: bool,
}

impl Layout {
    /// M − 1
    pub(super) fn odds(&self) -> usize {
        self.states - 1
    }

    /// Columns of the matrix of parameters.
    pub(super) fn width(&self) -> usize {
        let stretches = if self.is_by_state { 2 * self.states + 1 } else { self.states + 1 };
        stretches * self.odds()
    }

    /// Where the matrix ends, and the levels of the effect model begin.
    pub(super) fn levels(&self) -> usize {
        self.columns * self.width()
    }

    /// How many parameters there are, those that stay zero included.
    pub(super) fn len(&self) -> usize {
        self.levels() + if self.is_by_state { 0 } else { self.states * self.odds() }
    }

    /// Where the shift of a state lies for the k-th log-odds of column g; the effect model has that of the intercept alone.
    pub(super) fn own(&self, g: usize, s: usize, k: usize) -> usize {
        let (m, q) = (self.states, self.odds());
        match self.is_by_state {
            true => g * self.width() + (m + 1 + s) * q + k,
            false => self.levels() + s * q + k,
        }
    }

    /// The matrix.
    pub(super) fn matrix<'a>(&self, params: &'a [f64]) -> ArrayView2<'a, f64> {
        let shape = (self.columns, self.width());
        ArrayView2::from_shape(shape, &params[..self.levels()]).expect("its length")
    }

    /// Where the parameters of a model lie in this layout, in its order; `features` names that of each column but the intercept.
    fn places(&self, features: &[usize]) -> Vec<usize> {
        let (m, q, width) = (self.states, self.odds(), self.width());
        let mut column = vec![0; features.len()];
        features.iter().enumerate().for_each(|(g, f)| column[*f] = g + 1);
        let weights = |first: usize| column.iter().map(move |g| g * width + first);
        let mut starts: Vec<usize> = (0..m).flat_map(|s| weights(s * q)).collect();
        starts.extend((0..m).map(|s| s * q));
        starts.extend((0..m).map(|s| self.own(0, s, 0)));
        starts.extend(weights(m * q));
        if self.is_by_state {
            starts.push(m * q);
            starts.extend((0..m).flat_map(|s| weights((m + 1 + s) * q)));
        }
        starts.into_iter().flat_map(|start| start..start + q).collect()
    }

    /// The parameters of a model, in this layout.
    pub(super) fn take(&self, features: &[usize], model: &Logistic) -> Vec<f64> {
        let mut params = vec![0.0; self.len()];
        self.places(features).into_iter().zip(&model.params).for_each(|(place, x)| params[place] = *x);
        params
    }

    /// And back.
    pub(super) fn give(&self, features: &[usize], params: &[f64], model: &mut Logistic) {
        self.places(features).into_iter().zip(&mut model.params).for_each(|(place, x)| *x = params[place]);
    }
}
