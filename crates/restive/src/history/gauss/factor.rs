//! Small symmetric matrices on the stack.
//!
//! A positive definite H is U·Uᵀ with U upper triangular; then H⁻¹ = L·Lᵀ with L = U⁻ᵀ lower triangular. So one factor L serves
//! to solve with H and to place points around a mode with the covariance H⁻¹.

pub(super) type Matrix<const K: usize> = [[f64; K]; K];

/// L with H⁻¹ = L·Lᵀ; none where H is not positive definite.
#[inline(always)]
pub(super) fn inverse_root<const K: usize>(h: &Matrix<K>) -> Option<Matrix<K>> {
    let mut u = [[0.0; K]; K];
    let mut inverse = [0.0; K];
    for j in (0..K).rev() {
        let mut pivot = h[j][j];
        for k in j + 1..K {
            pivot -= u[j][k] * u[j][k];
        }
        if !(pivot > 0.0 && pivot < f64::INFINITY) {
            return None;
        }
        inverse[j] = 1.0 / pivot.sqrt();
        u[j][j] = pivot * inverse[j];
        for i in 0..j {
            let mut sum = h[i][j];
            for k in j + 1..K {
                sum -= u[i][k] * u[j][k];
            }
            u[i][j] = sum * inverse[j];
        }
    }
    let mut root = [[0.0; K]; K];
    for j in 0..K {
        root[j][j] = inverse[j];
        for i in j + 1..K {
            let mut sum = 0.0;
            for k in j..i {
                sum -= u[k][i] * root[k][j];
            }
            root[i][j] = sum * inverse[i];
        }
    }
    Some(root)
}

/// L·Lᵀ·x
#[inline(always)]
pub(super) fn solve<const K: usize>(root: &Matrix<K>, x: &[f64; K]) -> [f64; K] {
    let mut half = [0.0; K];
    for j in 0..K {
        for i in j..K {
            half[j] += root[i][j] * x[i];
        }
    }
    let mut out = [0.0; K];
    for i in 0..K {
        for j in 0..=i {
            out[i] += root[i][j] * half[j];
        }
    }
    out
}

/// L·Lᵀ
pub(super) fn square<const K: usize>(root: &Matrix<K>) -> Matrix<K> {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..=i.min(j)).map(|k| root[i][k] * root[j][k]).sum()))
}

#[inline(always)]
pub(super) fn dot<const K: usize>(x: &[f64; K], y: &[f64; K]) -> f64 {
    let mut sum = 0.0;
    for k in 0..K {
        sum += x[k] * y[k];
    }
    sum
}

#[inline(always)]
pub(super) fn times<const K: usize>(a: &Matrix<K>, x: &[f64; K]) -> [f64; K] {
    let mut out = [0.0; K];
    for i in 0..K {
        out[i] = dot(&a[i], x);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_of_an_inverse_solves() {
        let h = [[4.0, 1.0, 0.5], [1.0, 3.0, -0.2], [0.5, -0.2, 2.0]];
        let root = inverse_root(&h).unwrap();
        let x = solve(&root, &[1.0, -2.0, 0.3]);
        let back = times(&h, &x);
        assert!(back.iter().zip([1.0, -2.0, 0.3]).all(|(found, b)| (found - b).abs() < 1e-14), "{back:?}");
        assert!((dot(&square(&root)[1], &h[1]) - 1.0).abs() < 1e-14);
        assert!(root[0][1] == 0.0 && root[1][2] == 0.0, "lower triangular");
        assert_eq!(inverse_root(&[[1.0, 2.0], [2.0, 1.0]]), None);
        assert_eq!(inverse_root(&[[f64::NAN]]), None);
    }
}
