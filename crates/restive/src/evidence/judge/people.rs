//! What the judge is told of people: some columns of their features, standardised; their moves; their first states.
//!
//! The judge only has to foretell well enough that little noise is left: a hundred columns are plenty. Where there are more, those
//! that go furthest with the next reward of people who were not called are kept.

use crate::instance::{Instance, UNSEEN};
use ndarray::{Array1, Array2, Array4, ArrayView2, Axis};

/// Features that are looked at, at most.
pub const MOST_COLUMNS: usize = 128;
/// A standard deviation below which a column of zeros and ones is not stretched: rare categories would be loud.
const LEAST_SPREAD: f64 = 0.1;

/// The columns that are looked at.
#[derive(Clone)]
pub(crate) struct Columns {
    /// which of the features, how far they are moved, what they are divided by
    kept: Vec<(usize, f64, f64)>,
}

impl Columns {
    /// Those of some people.
    pub(crate) fn learn(people: &[Instance]) -> Self {
        let width = people.first().map_or(0, |instance| instance.features().ncols());
        let level = levels(people);
        let mut kept = Vec::new();
        for f in 0..width {
            let values = || people.iter().flat_map(move |instance| instance.features().column(f).to_vec());
            let n = level.len() as f64;
            let mean = values().sum::<f64>() / n;
            let variance = values().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
            let is_binary = values().all(|x| x == 0.0 || x == 1.0);
            let spread = variance.sqrt();
            if !(spread > 1e-12 * mean.abs().max(1e-300)) {
                continue;
            }
            let together: f64 = values().zip(&level).map(|(x, level)| (x - mean) * level).sum();
            let divisor = if is_binary { spread.max(LEAST_SPREAD) } else { spread };
            kept.push((f, mean, divisor, (together / spread).abs()));
        }
        if kept.len() > MOST_COLUMNS {
            kept.sort_by(|a, b| b.3.total_cmp(&a.3).then(a.0.cmp(&b.0)));
            kept.truncate(MOST_COLUMNS);
            kept.sort_by_key(|column| column.0);
        }
        Self { kept: kept.into_iter().map(|(f, mean, divisor, _)| (f, mean, divisor)).collect() }
    }

    pub(crate) fn len(&self) -> usize {
        self.kept.len()
    }

    /// `[N,F]` of those that are kept.
    pub(crate) fn read(&self, features: ArrayView2<'_, f64>) -> Array2<f64> {
        Array2::from_shape_fn((features.nrows(), self.kept.len()), |(i, k)| {
            let (f, mean, divisor) = self.kept[k];
            (features[[i, f]] - mean) / divisor
        })
    }
}

impl Columns {
    /// x·w of everybody (`[N]`) for three weights of standardised columns, without standardising anybody.
    pub(super) fn along(&self, features: ArrayView2<'_, f64>, weights: [&[f64]; 3]) -> [Array1<f64>; 3] {
        let (n, width) = features.dim();
        let mut plain = Array2::<f64>::zeros((width, 3));
        let mut less = [0.0; 3];
        for (k, (f, mean, divisor)) in self.kept.iter().enumerate() {
            for which in 0..3 {
                plain[[*f, which]] = weights[which][k] / divisor;
                less[which] += mean * plain[[*f, which]];
            }
        }
        let mut all = [0, 1, 2].map(|_| Array1::zeros(n));
        for (i, row) in features.rows().into_iter().enumerate() {
            let mut sums = [0.0; 3];
            for (x, w) in row.iter().zip(plain.rows()) {
                (0..3).for_each(|which| sums[which] += x * w[which]);
            }
            (0..3).for_each(|which| all[which][i] = sums[which] - less[which]);
        }
        all
    }
}

/// The mean next reward of everybody when not called, less that of all; 0 of those who were never seen so.
fn levels(people: &[Instance]) -> Vec<f64> {
    let mut levels = Vec::new();
    for instance in people {
        let counts = instance.trajectories().counts();
        for arm in counts.view().axis_iter(Axis(0)) {
            let (mut sum, mut moves) = (0.0, 0.0);
            for passive in arm.index_axis(Axis(1), 0).rows() {
                for (next, n) in passive.iter().enumerate() {
                    sum += n * instance.reward().view()[[next, 0]];
                    moves += n;
                }
            }
            levels.push(if moves > 0.0 { Some(sum / moves) } else { None });
        }
    }
    let known = levels.iter().flatten();
    let mean = known.clone().sum::<f64>() / known.count().max(1) as f64;
    levels.into_iter().map(|level| level.map_or(0.0, |level| level - mean)).collect()
}

/// How often people were first seen in each state: once in every trajectory, `[N,M]`.
pub(super) fn first_states(instance: &Instance) -> Array2<f64> {
    let state = instance.trajectories().state();
    let mut first = Array2::zeros((instance.arms(), instance.states()));
    for trajectory in state.axis_iter(Axis(0)) {
        for (i, steps) in trajectory.axis_iter(Axis(1)).enumerate() {
            if let Some(s) = steps.iter().find(|s| **s != UNSEEN) {
                first[[i, usize::from(*s)]] += 1.0;
            }
        }
    }
    first
}

/// People to fit to.
pub(super) struct People {
    /// `[N,F]`
    pub x: Array2<f64>,
    /// `[N,M,2,M]`
    pub moves: Array4<f64>,
    /// `[N,M]`
    pub first: Array2<f64>,
}

impl People {
    pub(super) fn new(columns: &Columns, people: &[Instance]) -> Self {
        let stack = |parts: Vec<Array2<f64>>| {
            let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
            ndarray::concatenate(Axis(0), &views).expect("as many columns everywhere")
        };
        let moves: Vec<_> =
            people.iter().map(|instance| instance.trajectories().counts().view().to_owned()).collect();
        let views: Vec<_> = moves.iter().map(|moves| moves.view()).collect();
        Self {
            x: stack(people.iter().map(|instance| columns.read(instance.features())).collect()),
            moves: ndarray::concatenate(Axis(0), &views).expect("as many states everywhere"),
            first: stack(people.iter().map(first_states).collect()),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.x.nrows()
    }
}
