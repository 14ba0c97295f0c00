//! Yᵀ·X of some arms, as far as it is needed: the heart of a pass.
//!
//! X are features, Y the same ones weighted, and behind them the residuals: of the first part the lower half is a Gram matrix, the
//! second is a gradient. Both are filled up with zeros to whole tiles of 4 × 8 numbers, each of which stays in registers
//! while all arms go by. Sums go in the order of the arms and without fused operations: the same bits on every processor.

use crate::simd::for_cpu;

/// Rows and columns of a tile.
pub(super) const HIGH: usize = 4;
pub(super) const WIDE: usize = 8;

for_cpu! {
    /// Adds Σ y_g·x_h over the arms to `out`, `[height,width]`, for all tiles that reach below the diagonal; `x` `[n,width]` and
    /// `y` `[n,height]`, whole tiles.
    pub(super) fn update(x: &[f64], width: usize, y: &[f64], height: usize, out: &mut [f64]) = tiles
}

#[inline(always)]
fn tiles(x: &[f64], width: usize, y: &[f64], height: usize, out: &mut [f64]) {
    for g in (0..height).step_by(HIGH) {
        for h in (0..width).step_by(WIDE).take_while(|h| *h < g + HIGH) {
            let mut sums = [[0.0; WIDE]; HIGH];
            for (x, y) in x.chunks_exact(width).zip(y.chunks_exact(height)) {
                let (x, y) = (&x[h..h + WIDE], &y[g..g + HIGH]);
                for r in 0..HIGH {
                    for c in 0..WIDE {
                        sums[r][c] += y[r] * x[c];
                    }
                }
            }
            for r in 0..HIGH {
                let out = &mut out[(g + r) * width + h..][..WIDE];
                (0..WIDE).for_each(|c| out[c] += sums[r][c]);
            }
        }
    }
}

/// The next multiple.
pub(super) fn filled(length: usize, tile: usize) -> usize {
    length.div_ceil(tile) * tile
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
    use rand::RngExt;

    #[test]
    fn tiles_below_the_diagonal_are_sums_over_all_arms() {
        for (n, width, height) in [(1, 8, 4), (7, 24, 20), (64, 16, 16), (3, 32, 40)] {
            let mut random = stream(n as u64, &[1]);
            // whole numbers: sums are exact in any order
            let mut whole = |length: usize| -> Vec<f64> {
                (0..length).map(|_| f64::from(random.random_range(-9..9i32))).collect()
            };
            let (x, y) = (whole(n * width), whole(n * height));
            let mut out = vec![1.0; height * width];
            update(&x, width, &y, height, &mut out);
            for (g, h) in (0..height).flat_map(|g| (0..width).map(move |h| (g, h))).filter(|(g, h)| h <= g) {
                let sum: f64 = (0..n).map(|i| y[i * height + g] * x[i * width + h]).sum();
                assert_eq!(out[g * width + h], 1.0 + sum, "{g}, {h}");
            }
        }
    }
}
