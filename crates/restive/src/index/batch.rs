//! The outputs of a batch of arms while it is being computed: one row of crossings and one [`Outcome`] per arm.

use super::{IndexStatus, Indices};
use ndarray::Array2;
use rayon::prelude::*;

/// What is known of an arm beside its indices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    pub(super) is_indexable: bool,
    pub(super) status: IndexStatus,
    pub(super) residual: f64,
}

impl Outcome {
    /// Of an arm whose indices could not be determined.
    pub(super) const UNDETERMINED: Self =
        Self { is_indexable: false, status: IndexStatus::Undetermined, residual: f64::NAN };
}

/// First and last crossings, `[N,M]` each, and outcomes, `[N]`.
pub(super) struct Buffers {
    index: Array2<f64>,
    last: Array2<f64>,
    outcomes: Vec<Outcome>,
}

impl Buffers {
    pub(super) fn new(n: usize, m: usize) -> Self {
        let (index, last) = (Array2::zeros((n, m)), Array2::zeros((n, m)));
        Self { index, last, outcomes: vec![Outcome::UNDETERMINED; n] }
    }

    /// First crossings, last crossings and outcome of every arm.
    pub(super) fn par_arms(
        &mut self,
        m: usize,
    ) -> impl IndexedParallelIterator<Item = ((&mut [f64], &mut [f64]), &mut Outcome)> {
        let index = self.index.as_slice_mut().expect("standard layout").par_chunks_mut(m);
        let last = self.last.as_slice_mut().expect("standard layout").par_chunks_mut(m);
        index.zip(last).zip(self.outcomes.par_iter_mut())
    }

    pub(super) fn finish(self) -> Indices {
        Indices {
            index: self.index,
            last: self.last,
            is_indexable: self.outcomes.iter().map(|o| o.is_indexable).collect(),
            status: self.outcomes.iter().map(|o| o.status).collect(),
            residual: self.outcomes.iter().map(|o| o.residual).collect(),
        }
    }
}
