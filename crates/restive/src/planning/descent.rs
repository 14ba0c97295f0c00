//! The minimum of a smooth convex function of a few numbers that are at least 0: projected quasi-Newton steps.
//!
//! Numbers at 0 that would rather be negative stay there; among the others a step goes along −B g, with B the inverse curvature that
//! the last steps have shown (L-BFGS: two loops over the pairs s = Δx, y = Δg, their products taken over the free numbers only),
//! and is cut off at 0:
//!
//! ```text
//! x(α) = max(0, x + α d),      f(x(α)) ≤ f(x) + 10⁻⁴ ⟨g, x(α) − x⟩
//! ```
//!
//! with α = 1, and less by interpolation where that fails (Bertsekas 1982). It ends where no number would move by more than the
//! tolerance, |x − max(0, x − g)| in the largest, or where f can no longer be told apart from itself.

use std::collections::VecDeque;

/// Pairs that are remembered.
const MEMORY: usize = 20;
/// The longest first step, when nothing is known of the curvature.
const FIRST: f64 = 0.1;
/// Numbers within this of 0 may be held there.
const NEAR: f64 = 1e-4;

/// Where a descent ended.
pub(super) struct Minimum {
    pub(super) x: Vec<f64>,
    pub(super) evaluations: usize,
    pub(super) is_converged: bool,
}

/// The minimum over x ≥ 0 of `f(x) = (value, gradient)`, from `x`, with at most `most` evaluations.
pub(super) fn minimise(
    mut x: Vec<f64>,
    tolerance: f64,
    most: usize,
    mut f: impl FnMut(&[f64]) -> (f64, Vec<f64>),
) -> Minimum {
    let (mut value, mut gradient) = f(&x);
    let mut evaluations = 1;
    let mut pairs: VecDeque<[Vec<f64>; 2]> = VecDeque::new();
    loop {
        let moved = |(x, g): (&f64, &f64)| (x - (x - g).max(0.0)).abs();
        let residual = x.iter().zip(&gradient).map(moved).fold(0.0, f64::max);
        if residual <= tolerance || evaluations >= most {
            return Minimum { x, evaluations, is_converged: residual <= tolerance };
        }
        let near = NEAR.min(residual);
        let is_free: Vec<bool> = x.iter().zip(&gradient).map(|(x, g)| *x > near || *g <= 0.0).collect();
        let direction = direction(&gradient, &is_free, &pairs);
        let mut alpha = 1.0;
        let (found, found_value, found_gradient) = loop {
            let there: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| (x + alpha * d).max(0.0)).collect();
            let step: Vec<f64> = there.iter().zip(&x).map(|(there, x)| there - x).collect();
            let slope = dot(&gradient, &step, None);
            let (value_there, gradient_there) = f(&there);
            evaluations += 1;
            if value_there <= value + 1e-4 * slope {
                break (there, value_there, gradient_there);
            }
            // f is flat here, as far as its digits go
            if -slope <= 1e-14 * value.abs() || evaluations >= most {
                return Minimum { x, evaluations, is_converged: evaluations < most };
            }
            // the minimum of the parabola through both values, where it lies between
            let parabola = -0.5 * slope / (value_there - value - slope);
            alpha *= parabola.clamp(0.1, 0.5);
        };
        let s: Vec<f64> = found.iter().zip(&x).map(|(a, b)| a - b).collect();
        let y: Vec<f64> = found_gradient.iter().zip(&gradient).map(|(a, b)| a - b).collect();
        if pairs.len() == MEMORY {
            pairs.pop_front();
        }
        pairs.push_back([s, y]);
        (x, value, gradient) = (found, found_value, found_gradient);
    }
}

/// −B g on the free numbers, −g on those that are held.
fn direction(gradient: &[f64], is_free: &[bool], pairs: &VecDeque<[Vec<f64>; 2]>) -> Vec<f64> {
    let free = Some(is_free);
    let useful: Vec<(&[f64], &[f64], f64)> = (pairs.iter())
        .map(|[s, y]| (&s[..], &y[..], dot(s, y, free)))
        .filter(|(_, y, product)| *product > 1e-12 * dot(y, y, free))
        .collect();
    let mut d: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let Some((_, y, product)) = useful.last() else {
        let largest = gradient.iter().fold(0.0f64, |a, g| a.max(g.abs()));
        d.iter_mut().for_each(|d| *d *= (FIRST / largest).min(1.0));
        return d;
    };
    let scale = product / dot(y, y, free);
    let mut shares = Vec::with_capacity(useful.len());
    for (s, y, product) in useful.iter().rev() {
        let share = dot(s, &d, free) / product;
        add(&mut d, -share, y, is_free);
        shares.push(share);
    }
    d.iter_mut().zip(is_free).for_each(|(d, is_free)| *d *= if *is_free { scale } else { 1.0 });
    for ((s, y, product), share) in useful.iter().zip(shares.iter().rev()) {
        let back = dot(y, &d, free) / product;
        add(&mut d, share - back, s, is_free);
    }
    d
}

fn dot(a: &[f64], b: &[f64], free: Option<&[bool]>) -> f64 {
    (0..a.len()).filter(|&j| free.is_none_or(|free| free[j])).map(|j| a[j] * b[j]).sum()
}

fn add(to: &mut [f64], factor: f64, from: &[f64], is_free: &[bool]) {
    (0..to.len()).filter(|&j| is_free[j]).for_each(|j| to[j] += factor * from[j]);
}

#[cfg(test)]
mod tests {
    use super::minimise;

    #[test]
    fn the_minimum_of_a_bounded_parabola_is_found() {
        // ½ xᵀ A x − bᵀ x with A = 11ᵀ + diag(1, 2, …): its minimum without bounds has negative numbers
        let b = [3.0, -1.0, 2.0, 0.5, -4.0, 1.0];
        let f = |x: &[f64]| {
            let sum: f64 = x.iter().sum();
            let gradient: Vec<f64> = (0..6).map(|j| sum + (j + 1) as f64 * x[j] - b[j]).collect();
            (0.5 * (0..6).map(|j| x[j] * (gradient[j] - b[j])).sum::<f64>(), gradient)
        };
        let found = minimise(vec![1.0; 6], 1e-9, 100, f);
        assert!(found.is_converged && found.evaluations < 30, "{}", found.evaluations);
        // with numbers 0 and 2 free: 2 x₀ + x₂ = 3, x₀ + 4 x₂ = 2
        let truth = [10.0 / 7.0, 0.0, 1.0 / 7.0, 0.0, 0.0, 0.0];
        assert!(found.x.iter().zip(truth).all(|(x, t)| (x - t).abs() < 1e-8), "{:?}", found.x);
        assert!(!minimise(vec![1.0; 6], 1e-9, 3, f).is_converged);
    }
}
