//! Where the posterior of one person is highest.
//!
//! Given counts n of four rows r = (s, a) with log-odds z_r = c_r + u_s + a v_s, the log-posterior of w = (u₀, u₁, v₀, v₁) is
//!
//! ```text
//! Σ n₁ z − n ln(1 + e^z) − ½ wᵀA⁻¹w
//! ```
//!
//! up to a constant: concave, with the gradient Xᵀ(n₁ − n p) − A⁻¹w and minus the Hessian H = Xᵀ diag(n p(1 − p)) X + A⁻¹. Newton's
//! method finds its top in five or six steps, of which none moves a number by more than 2. A step that arrives where the slope
//! along it is steeper the other way is halved, so that none leads away.

use super::factor::{Matrix, dot, inverse_root, solve, times};
use crate::simd::exp;

const MOST_STEPS: usize = 100;
const LONGEST: f64 = 2.0;
const TOLERANCE: f64 = 1e-8;

/// One person as the model sees them; rows in the order (0,0), (0,1), (1,0), (1,1) of state and action.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// moves to state 1
    pub(super) to_one: [f64; 4],
    /// all moves
    pub(super) total: [f64; 4],
    /// log-odds of the prediction
    pub(super) logit: [f64; 4],
    /// f − f̄
    pub(super) first: f64,
}

/// The mode w, and L with H⁻¹ = L·Lᵀ there.
pub(super) struct Mode {
    pub(super) w: [f64; 4],
    pub(super) root: Matrix<4>,
}

/// X·w: what deviations add to the four rows.
#[inline(always)]
pub(super) fn rows(w: &[f64; 4]) -> [f64; 4] {
    [w[0], w[0] + w[2], w[1], w[1] + w[3]]
}

/// σ(z)
#[inline(always)]
pub(super) fn sigmoid(z: f64) -> f64 {
    let e = exp(-z.abs());
    (if z < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

/// The mode for log-odds c without deviations; none where a number is not finite or no step is left.
#[inline(always)]
pub(super) fn mode(seen: &Seen, c: &[f64; 4], precision: &Matrix<4>) -> Option<Mode> {
    let mut w = [0.0; 4];
    let (mut step, mut promised) = ([0.0; 4], 0.0);
    for _ in 0..MOST_STEPS {
        let shift = rows(&w);
        let (mut rest, mut weight) = ([0.0; 4], [0.0; 4]);
        for r in 0..4 {
            let p = sigmoid(c[r] + shift[r]);
            rest[r] = seen.to_one[r] - seen.total[r] * p;
            weight[r] = seen.total[r] * p * (1.0 - p);
        }
        let pull = times(precision, &w);
        let slope =
            [rest[0] + rest[1] - pull[0], rest[2] + rest[3] - pull[1], rest[1] - pull[2], rest[3] - pull[3]];
        if -dot(&slope, &step) > promised {
            for k in 0..4 {
                step[k] *= 0.5;
                w[k] -= step[k];
            }
            promised *= 0.5;
            continue;
        }
        let mut h = *precision;
        h[0][0] += weight[0] + weight[1];
        h[1][1] += weight[2] + weight[3];
        h[2][2] += weight[1];
        h[3][3] += weight[3];
        h[0][2] += weight[1];
        h[2][0] += weight[1];
        h[1][3] += weight[3];
        h[3][1] += weight[3];
        let root = inverse_root(&h)?;
        step = solve(&root, &slope);
        let size = step.iter().fold(0.0f64, |most, d| most.max(d.abs()));
        let scale = if size > LONGEST { LONGEST / size } else { 1.0 };
        for k in 0..4 {
            step[k] *= scale;
            w[k] += step[k];
        }
        if size < TOLERANCE {
            return Some(Mode { w, root });
        }
        promised = dot(&slope, &step);
    }
    None
}
