//! Features on a common scale: numbers to mean 0 and standard deviation 1, columns of zeros and ones as they are.
//!
//! A column of zeros and ones has its scale already. To standardise it would make rare categories loud: on data like those of a
//! maternal health programme that cost four points of the way from random to oracle.

use ndarray::{Array2, ArrayView2, Axis};

/// Scales further apart than this are not for a network to even out.
const UNEVEN: f64 = 100.0;

/// (x − shift)/scale for each feature.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// `[F]`
    pub shift: Vec<f64>,
    /// `[F]`, above 0
    pub scale: Vec<f64>,
}

impl Scaling {
    /// That of some arms, `[N,F]` each.
    pub fn learn(arms: &[ArrayView2<'_, f64>]) -> Self {
        let columns: Vec<[f64; 2]> = columns(arms).iter().map(|column| column.shift_and_scale()).collect();
        Self {
            shift: columns.iter().map(|[shift, _]| *shift).collect(),
            scale: columns.iter().map(|[_, scale]| *scale).collect(),
        }
    }

    /// This one, and then another on what it gives.
    pub(super) fn then(&self, other: &Self) -> Self {
        let both = self.shift.iter().zip(&self.scale).zip(other.shift.iter().zip(&other.scale));
        Self {
            shift: both.clone().map(|((shift, scale), (then, _))| shift + scale * then).collect(),
            scale: both.map(|((_, scale), (_, then))| scale * then).collect(),
        }
    }

    /// Whether it changes nothing.
    pub fn is_identity(&self) -> bool {
        self.shift.iter().all(|shift| *shift == 0.0) && self.scale.iter().all(|scale| *scale == 1.0)
    }

    /// Features `[N,F]`, scaled.
    pub fn apply(&self, features: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut scaled = features.to_owned();
        for (f, mut column) in scaled.axis_iter_mut(Axis(1)).enumerate() {
            let (shift, scale) = (self.shift[f], self.scale[f]);
            if shift != 0.0 || scale != 1.0 {
                column.mapv_inplace(|x| (x - shift) / scale);
            }
        }
        scaled
    }
}

/// Whether the features of some arms (`[N,F]` each) are so far from each other, or from 1, in size that a network should not be
/// given them as they are: money beside years.
pub fn is_uneven(arms: &[ArrayView2<'_, f64>]) -> bool {
    are_uneven(columns(arms).into_iter().filter_map(|column| column.size()))
}

/// The same of features with these sizes, the roots of their mean squares; zeros and ones have none.
pub fn are_uneven(sizes: impl IntoIterator<Item = f64>) -> bool {
    let sizes = sizes.into_iter();
    let (least, most) = sizes.fold((1.0f64, 1.0f64), |(least, most), size| (least.min(size), most.max(size)));
    most / least > UNEVEN
}

/// What is asked of one feature.
struct Column {
    arms: f64,
    is_binary: bool,
    mean: f64,
    /// of the squares about the mean
    variance: f64,
}

impl Column {
    fn shift_and_scale(&self) -> [f64; 2] {
        let sd = self.variance.sqrt();
        if self.is_binary || self.arms == 0.0 || !(sd > 1e-12 * self.mean.abs()) {
            return [0.0, 1.0];
        }
        [self.mean, sd]
    }

    /// The root of the mean square; none of zeros and ones, or of zeros alone.
    fn size(&self) -> Option<f64> {
        let size = (self.mean * self.mean + self.variance).sqrt();
        (!self.is_binary && size > 0.0).then_some(size)
    }
}

fn columns(arms: &[ArrayView2<'_, f64>]) -> Vec<Column> {
    let width = arms.first().map_or(0, |arms| arms.ncols());
    let column = |f: usize| {
        let values = || arms.iter().flat_map(|arms| arms.column(f).into_iter().copied());
        let n = values().count() as f64;
        let mean = values().sum::<f64>() / n.max(1.0);
        let variance = values().map(|x| (x - mean).powi(2)).sum::<f64>() / n.max(1.0);
        Column { arms: n, is_binary: values().all(|x| x == 0.0 || x == 1.0), mean, variance }
    };
    (0..width).map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn numbers_are_standardised_and_zeros_and_ones_are_not() {
        let (first, second) = (array![[20.0, 1.0, 7.0], [30.0, 0.0, 7.0]], array![[40.0, 0.0, 7.0]]);
        let scaling = Scaling::learn(&[first.view(), second.view()]);
        let scaled = scaling.apply(second.view());
        assert!((scaled[[0, 0]] - 10.0 / (200.0f64 / 3.0).sqrt()).abs() < 1e-14);
        assert_eq!([scaled[[0, 1]], scaled[[0, 2]]], [0.0, 7.0]); // a column that never changes says nothing
        assert!(!scaling.is_identity());
        assert!(Scaling::learn(&[array![[1.0], [0.0]].view()]).is_identity());
    }

    #[test]
    fn money_beside_years_is_uneven() {
        let people = |money: f64| array![[0.4, 1.0, money], [-0.7, 0.0, 2.0 * money]];
        assert!(is_uneven(&[people(8000.0).view()]));
        assert!(!is_uneven(&[people(3.0).view()]));
        assert!(is_uneven(&[array![[2e4], [3e4]].view()])); // alone it is as large
        assert!(!is_uneven(&[array![[0.0], [0.0]].view()]));
    }
}
