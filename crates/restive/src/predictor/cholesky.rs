//! Solves A·x = b for a symmetric positive definite A, in place, by A = L·Lᵀ.

use ndarray::Array2;

/// x, or nothing where A is not positive definite. Reads the lower half of `a` and overwrites it with L.
pub(super) fn solve(a: &mut Array2<f64>, b: &[f64]) -> Option<Vec<f64>> {
    let n = b.len();
    assert_eq!(a.dim(), (n, n), "a square matrix");
    let l = a.as_slice_mut().expect("contiguous");
    let dot = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| x * y).sum() };
    for i in 0..n {
        for j in 0..=i {
            let (head, row) = l.split_at_mut(i * n);
            if j < i {
                let above = &head[j * n..j * n + j + 1];
                row[j] = (row[j] - dot(&row[..j], &above[..j])) / above[j];
            } else {
                let pivot = row[i] - dot(&row[..i], &row[..i]);
                if !(pivot > 0.0 && pivot.is_finite()) {
                    return None;
                }
                row[i] = pivot.sqrt();
            }
        }
    }
    let mut x = b.to_vec();
    for i in 0..n {
        x[i] = (x[i] - dot(&l[i * n..i * n + i], &x[..i])) / l[i * n + i];
    }
    for i in (0..n).rev() {
        x[i] /= l[i * n + i];
        let (done, at) = (&l[i * n..i * n + i], x[i]);
        x[..i].iter_mut().zip(done).for_each(|(x, l)| *x -= l * at);
    }
    Some(x)
}
