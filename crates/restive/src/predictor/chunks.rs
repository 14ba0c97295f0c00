//! Chunks of arms: the unit in which predictors share work among threads.

use crate::interrupt;
use ndarray::{Array4, ArrayViewMut2, ArrayViewMut4, Axis};
use rayon::prelude::*;

/// Arms per chunk; part of the arithmetic, because gradients are summed chunk by chunk.
pub(super) const CHUNK: usize = 1024;

/// `f(c, work[c])` for all c, in order; on this thread where there is only one.
pub(super) fn in_order<I: Send, T: Send>(work: Vec<I>, f: impl Fn(usize, I) -> T + Sync) -> Vec<T> {
    let f = |c, item| {
        interrupt::check();
        f(c, item)
    };
    if work.len() > 1 {
        work.into_par_iter().enumerate().map(|(c, item)| f(c, item)).collect()
    } else {
        work.into_iter().enumerate().map(|(c, item)| f(c, item)).collect()
    }
}

/// `[N,M,2,M]` in chunks `[≤1024, 2M²]`.
pub(super) fn rows_mut(transition: &mut Array4<f64>) -> Vec<ArrayViewMut2<'_, f64>> {
    fn flatten(chunk: ArrayViewMut4<'_, f64>) -> ArrayViewMut2<'_, f64> {
        let shape = (chunk.shape()[0], chunk.len() / chunk.shape()[0]);
        chunk.into_shape_with_order(shape).expect("contiguous")
    }
    transition.axis_chunks_iter_mut(Axis(0), CHUNK).map(flatten).collect()
}

/// The sum of the chunks' gradients, in order.
pub(super) fn sum(gradients: Vec<Vec<f64>>, len: usize) -> Vec<f64> {
    let mut gradients = gradients.into_iter();
    let mut total = gradients.next().unwrap_or_else(|| vec![0.0; len]);
    gradients.for_each(|d| total.iter_mut().zip(&d).for_each(|(total, d)| *total += d));
    total
}
