//! To the top of a smooth function by its slopes, in a metric that is known beforehand: the quasi-Newton steps of Broyden, Fletcher,
//! Goldfarb and Shanno in limited memory.
//!
//! The first step is that of the metric, A⁻¹·slope. Where the function is flatter than its metric says (own parts that are not seen), the
//! last [`MEMORY`] pairs of a step and of what it changed in the slope correct it, by the two loops of Nocedal. A step is halved until the
//! function rises by some of what its slope promises, to the rounding of its sum. It ends where slope·A⁻¹·slope, twice what a step in
//! the metric would still gain, is below [`SMALL`].

use crate::cholesky::Cholesky;
use ndarray::Array1;
use std::collections::VecDeque;

/// Pairs that are kept.
const MEMORY: usize = 12;
/// Steps at most.
const STEPS: usize = 300;
/// Twice the log-likelihood that is left to gain: standard errors squared.
const SMALL: f64 = 1e-10;
/// The largest change of a parameter in a step.
const FAR: f64 = 2.0;
/// The part of what the slope promises that a step must bring.
const SOME: f64 = 1e-4;
/// The rounding of a value, as a part of it.
const ROUNDING: f64 = 1e-13;
const HALVINGS: usize = 40;

/// Where the function, given by value and slope, is largest.
pub(super) fn climb(
    mut at: Array1<f64>,
    metric: &Cholesky,
    mut function: impl FnMut(&Array1<f64>) -> (f64, Array1<f64>),
) -> Array1<f64> {
    let (mut value, mut slope) = function(&at);
    let mut pairs: VecDeque<Pair> = VecDeque::with_capacity(MEMORY + 1);
    for _ in 0..STEPS {
        let mut plain = slope.to_vec();
        metric.forward_one(&mut plain);
        if plain.iter().map(|x| x * x).sum::<f64>() < SMALL {
            break;
        }
        let mut step = direction(&slope, metric, &pairs);
        let mut promise = step.dot(&slope);
        if !(promise > 0.0) {
            // pairs that have grown stale
            pairs.clear();
            step = direction(&slope, metric, &pairs);
            promise = step.dot(&slope);
        }
        let furthest = step.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let mut share = (FAR / furthest).min(1.0);
        let slack = ROUNDING * value.abs();
        let mut found = None;
        for _ in 0..HALVINGS {
            let next = &at + &(&step * share);
            let (risen, its_slope) = function(&next);
            if risen >= value + SOME * share * promise - slack {
                found = Some((next, risen, its_slope));
                break;
            }
            share /= 2.0;
        }
        let Some((next, risen, its_slope)) = found else { break };
        let (moved, changed) = (&next - &at, &slope - &its_slope);
        let both = moved.dot(&changed);
        if both > f64::EPSILON * moved.dot(&moved).sqrt() * changed.dot(&changed).sqrt() {
            pairs.push_back(Pair { moved, changed, both });
            if pairs.len() > MEMORY {
                pairs.pop_front();
            }
        }
        (at, value, slope) = (next, risen, its_slope);
    }
    at
}

/// A step, and by how much the slope fell along it.
struct Pair {
    moved: Array1<f64>,
    changed: Array1<f64>,
    /// their product, above 0
    both: f64,
}

/// The slope times the inverse of the curvature, as far as it is known.
fn direction(slope: &Array1<f64>, metric: &Cholesky, pairs: &VecDeque<Pair>) -> Array1<f64> {
    let mut step = slope.clone();
    let mut parts = Vec::with_capacity(pairs.len());
    for pair in pairs.iter().rev() {
        let part = pair.moved.dot(&step) / pair.both;
        step.scaled_add(-part, &pair.changed);
        parts.push(part);
    }
    metric.solve(step.as_slice_mut().expect("contiguous"));
    for (pair, part) in pairs.iter().zip(parts.into_iter().rev()) {
        let beside = pair.changed.dot(&step) / pair.both;
        step.scaled_add(part - beside, &pair.moved);
    }
    step
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    /// ln of a mixture of bells: steep in one direction, nearly flat in another, with the metric of a bell alone.
    fn hill(x: &Array1<f64>) -> (f64, Array1<f64>) {
        let (a, b) = (x[0] - 1.0, x[1] + 2.0);
        let value = -0.5 * (a * a + 0.02 * b * b) - 0.25 * (a * b).powi(2) - a.powi(4);
        let slope = array![-a - 0.5 * a * b * b - 4.0 * a.powi(3), -0.02 * b - 0.5 * a * a * b];
        (value, slope)
    }

    #[test]
    fn the_top_of_a_bent_hill_is_found() {
        let metric = Cholesky::new(Array2::eye(2)).unwrap();
        for start in [array![0.0, 0.0], array![9.0, 30.0], array![1.0, -2.0]] {
            let top = climb(start, &metric, hill);
            assert!((top[0] - 1.0).abs() < 1e-4 && (top[1] + 2.0).abs() < 1e-3, "{top}");
        }
    }

    #[test]
    fn a_flat_fourth_power_comes_to_an_end() {
        let metric = Cholesky::new(array![[1.0]]).unwrap();
        let mut looks = 0;
        let top = climb(array![0.7], &metric, |x| {
            looks += 1;
            (-x[0].powi(4), array![-4.0 * x[0].powi(3)])
        });
        assert!(top[0].abs() < 0.02 && looks < 60, "{top} after {looks}");
    }
}
