//! What a pull is worth at each step in each state, the pulls of later steps being paid for: A_t(s) = Q_t(s,1) − Q_t(s,0) + λ_t.
//!
//! These are the scores of a plan. Arms that compete for one budget are ranked by them: their common price λ_t would change no
//! rank. Outside its steps the advantage of an arm is 0; whether it may be pulled says [`Programme::is_present`].

use super::Programme;
use super::arm::{Arms, Memory};
use crate::interrupt;
use ndarray::{Array2, Array3, ArrayView2};
use rayon::prelude::*;

/// Arms per task.
const CHUNK: usize = 1024;

/// The advantage of a pull at every step, `[H,N,L]`, at prices `[G,H]`.
pub fn advantages(programme: &Programme<'_>, price: ArrayView2<'_, f64>) -> Array3<f64> {
    advantages_before(programme, price, 0.0, programme.horizon)
}

/// The same with every later maximum softened at a temperature.
pub(super) fn softened_advantages(
    programme: &Programme<'_>,
    price: ArrayView2<'_, f64>,
    temperature: f64,
) -> Array3<f64> {
    advantages_before(programme, price, temperature, programme.horizon)
}

/// The advantage of a pull at the first step, `[N,L]`: all that a plan for this step needs, in 1/H of the memory.
pub fn first_advantages(programme: &Programme<'_>, price: ArrayView2<'_, f64>) -> Array2<f64> {
    advantages_before(programme, price, 0.0, 1).index_axis_move(ndarray::Axis(0), 0)
}

/// Those of the steps before `steps`, `[steps,N,L]`.
fn advantages_before(
    programme: &Programme<'_>,
    price: ArrayView2<'_, f64>,
    temperature: f64,
    steps: usize,
) -> Array3<f64> {
    let arms = Arms::new(programme);
    programme.check_price(price);
    let price = price.as_standard_layout();
    let (n, l) = (programme.motion.arms(), programme.motion.states());
    let mut found = Array3::zeros((steps, n, l));
    // for each chunk of arms its part of every step
    let mut parts: Vec<Vec<&mut [f64]>> = (0..n.div_ceil(CHUNK)).map(|_| Vec::with_capacity(steps)).collect();
    for step in found.as_slice_mut().expect("row-major").chunks_exact_mut(n * l) {
        parts.iter_mut().zip(step.chunks_mut(CHUNK * l)).for_each(|(parts, part)| parts.push(part));
    }
    parts.into_par_iter().enumerate().for_each(|(c, mut part)| {
        interrupt::check();
        let mut memory = Memory::new(programme);
        for k in 0..part[0].len() / l {
            let i = c * CHUNK + k;
            let price = price.row(programme.group_of(i));
            let price = price.to_slice().expect("row-major");
            arms.backward(i, price, temperature, &mut memory, |t, s, advantage| {
                if t < steps {
                    part[t][k * l + s] = advantage;
                }
            });
        }
    });
    found
}
