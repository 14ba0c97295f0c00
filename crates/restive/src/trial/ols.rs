//! Least squares by orthogonal columns.
//!
//! Modified Gram-Schmidt, each column cleaned twice: X = Q·R with QᵀQ = I. For any sum of coefficients aᵀβ the weights of the
//! outcomes are w = Q·R⁻ᵀ·a, so that aᵀβ = wᵀy; the leverage of a row is the squared length of its row of Q.

/// The regression on some columns.
pub(super) struct Ols {
    /// columns of Q
    q: Vec<Vec<f64>>,
    /// R, by columns
    r: Vec<Vec<f64>>,
}

impl Ols {
    /// Columns of one length; nothing where one is (but for rounding) a sum of the others.
    pub(super) fn new(columns: &[Vec<f64>]) -> Option<Self> {
        let (mut q, mut r): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
        for column in columns {
            let (mut rest, mut along) = (column.clone(), vec![0.0; q.len()]);
            let length = dot(column, column).sqrt();
            for _ in 0..2 {
                for (known, along) in q.iter().zip(&mut along) {
                    let part = dot(known, &rest);
                    *along += part;
                    rest.iter_mut().zip(known).for_each(|(x, q)| *x -= part * q);
                }
            }
            let left = dot(&rest, &rest).sqrt();
            // beyond this, what is left is mostly the rounding of what was taken away
            if !(left > 1e-8 * length) {
                return None;
            }
            rest.iter_mut().for_each(|x| *x /= left);
            along.push(left);
            q.push(rest);
            r.push(along);
        }
        Some(Self { q, r })
    }

    /// The weights of the outcomes in aᵀβ.
    pub(super) fn weights(&self, a: &[f64]) -> Vec<f64> {
        let mut v: Vec<f64> = Vec::with_capacity(a.len());
        for (a, column) in a.iter().zip(&self.r) {
            let known: f64 = v.iter().zip(column).map(|(v, r)| v * r).sum();
            v.push((a - known) / column[column.len() - 1]);
        }
        let rows = self.q.first().map_or(0, Vec::len);
        (0..rows).map(|i| self.q.iter().zip(&v).map(|(q, v)| q[i] * v).sum()).collect()
    }

    /// β, by Qᵀy and back substitution.
    pub(super) fn coefficients(&self, y: &[f64]) -> Vec<f64> {
        let mut beta: Vec<f64> = self.q.iter().map(|q| dot(q, y)).collect();
        for k in (0..beta.len()).rev() {
            beta[k] /= self.r[k][k];
            let at = beta[k];
            beta[..k].iter_mut().zip(&self.r[k]).for_each(|(b, r)| *b -= r * at);
        }
        beta
    }

    /// 1 less the leverage of a row, at least 10⁻⁹: a row that is fitted exactly has no residual to inflate.
    pub(super) fn freedom(&self, row: usize) -> f64 {
        (1.0 - self.q.iter().map(|q| q[row] * q[row]).sum::<f64>()).max(1e-9)
    }
}

/// Σ xy.
pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}
