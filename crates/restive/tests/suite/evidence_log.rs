//! Small logs with availability and clusters, and their evidence by plain loops over rows.

use ndarray::{Array2, Array3, Axis};
use rand::RngExt;
use restive::evidence::{Design, Evidence, EvidenceSettings};
use restive::instance::{Assignment, Instance, Logged, NO_ACTION, Observation, Parts, UNSEEN};
use restive::planning::Ending;
use restive::random::stream;
use restive::{Reward, Trajectories};

pub(super) const BUDGET: usize = 2;
pub(super) const HORIZON: usize = 3;
pub(super) const STATES: usize = 3;

/// One trajectory; arrays are `[T,N]`.
#[derive(Clone)]
pub(super) struct Log {
    pub state: Array2<u16>,
    pub action: Array2<u8>,
    pub available: Option<Array2<bool>>,
    pub propensity: Option<Array2<f64>>,
    pub clusters: Option<Vec<u32>>,
    pub reward: Reward,
    pub discount: f64,
}

/// A decision of an available arm, whose state and next state were seen.
pub(super) struct Row {
    pub arm: usize,
    pub cell: (usize, u16),
    pub is_called: bool,
    /// Share of calls at the decision.
    pub share: f64,
    /// Next reward.
    pub next: f64,
}

impl Row {
    /// Score of a judge who expects 0.
    pub(super) fn score(&self) -> f64 {
        if self.is_called { self.next / self.share } else { -self.next / (1.0 - self.share) }
    }

    /// Called or not, less its chance.
    pub(super) fn surprise(&self) -> f64 {
        f64::from(u8::from(self.is_called)) - self.share
    }
}

pub(super) fn settings(design: Design) -> EvidenceSettings {
    EvidenceSettings {
        design,
        uses_recorded: false,
        horizon: HORIZON,
        ending: Ending::State,
        seed: 1,
        assignment: Assignment::PerDecision,
    }
}

/// Sums in another order differ in the last digits.
pub(super) fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * (1.0 + expected.abs()), "found {found}, expected {expected}");
}

pub(super) fn stacked<T: Clone>(array: &Array2<T>) -> Array3<T> {
    array.clone().insert_axis(Axis(0))
}

impl Log {
    /// Arms of which every second fares well, 70 % available, called by lot; one state in ten is not seen.
    pub(super) fn by_lot(decisions: usize, arms: usize, seed: u64) -> Self {
        let mut random = stream(seed, &[38]);
        let steps = decisions + 1;
        let mut state = Array2::from_shape_simple_fn((steps, arms), || random.random_range(0..STATES as u16));
        for t in 1..steps {
            for i in 0..arms {
                let top = STATES as u16 - 1;
                let best = random.random::<f64>() < [0.15, 0.85][i % 2];
                let stays = random.random::<f64>() < 0.4;
                state[[t, i]] = if stays { state[[t - 1, i]] } else { u16::from(best) * top };
            }
        }
        let available = Array2::from_shape_simple_fn((steps, arms), || random.random::<f64>() < 0.7);
        let action = Array2::from_shape_fn((steps, arms), |(t, i)| match t < decisions {
            true => u8::from(available[[t, i]] && random.random::<f64>() < 0.4),
            false => NO_ACTION,
        });
        let state = state.mapv(|s| if random.random::<f64>() < 0.1 { UNSEEN } else { s });
        Self {
            state,
            action,
            available: Some(available),
            propensity: None,
            clusters: None,
            reward: Reward::linear(STATES),
            discount: 0.9,
        }
    }

    pub(super) fn arms(&self) -> usize {
        self.state.ncols()
    }

    pub(super) fn instance(&self) -> Instance {
        let logged = Logged {
            state: stacked(&self.state),
            action: stacked(&self.action),
            propensity: self.propensity.as_ref().map(stacked),
            reward: None,
            available: self.available.as_ref().map(stacked),
        };
        Instance::new(Parts {
            features: Array2::zeros((self.arms(), 1)),
            trajectories: Trajectories::new(logged, self.reward.states()).unwrap(),
            reward: self.reward.clone(),
            budget: BUDGET,
            discount: self.discount,
            truth: None,
            observation: Observation::Full,
            clusters: self.clusters.clone(),
        })
        .unwrap()
    }

    pub(super) fn evidence(&self, settings: EvidenceSettings) -> Evidence {
        let (instance, everyone) = (self.instance(), (0..self.arms()).collect::<Vec<_>>());
        Evidence::without_judge(&[(&instance, &everyone[..])], settings).unwrap()
    }

    pub(super) fn is_open(&self, t: usize, i: usize) -> bool {
        let is_available = self.available.as_ref().is_none_or(|available| available[[t, i]]);
        self.action[[t, i]] != NO_ACTION && is_available
    }

    /// Rows of a uniform design whose pulls are assigned at every decision.
    pub(super) fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for t in 0..self.state.nrows() - 1 {
            let open: Vec<usize> = (0..self.arms()).filter(|i| self.is_open(t, *i)).collect();
            let calls = open.iter().filter(|i| self.action[[t, **i]] == 1).count();
            let share = calls as f64 / open.len() as f64;
            for i in open {
                let (s, next) = (self.state[[t, i]], self.state[[t + 1, i]]);
                if s != UNSEEN && next != UNSEEN && calls > 0 && share < 1.0 {
                    let next = self.reward.view()[[usize::from(next), 0]];
                    let is_called = self.action[[t, i]] == 1;
                    rows.push(Row { arm: i, cell: (t, s), is_called, share, next });
                }
            }
        }
        rows
    }

    /// Cluster of an arm; its own if none are declared.
    pub(super) fn cluster(&self, i: usize) -> usize {
        self.clusters.as_ref().map_or(i, |clusters| clusters[i] as usize)
    }

    /// √Σ (Σ x)², over arms or clusters.
    pub(super) fn error(&self, rows: &[Row], x: &[f64]) -> f64 {
        let most = (0..self.arms()).map(|i| self.cluster(i)).max().unwrap();
        let sum = |cluster: usize| -> f64 {
            rows.iter().zip(x).filter(|(row, _)| self.cluster(row.arm) == cluster).map(|(_, x)| x).sum()
        };
        (0..=most).map(|cluster| sum(cluster).powi(2)).sum::<f64>().sqrt()
    }
}

/// Numbers of arms and states, all different.
pub(super) fn table(arms: usize) -> Array3<f64> {
    assert!(arms * STATES < 307);
    Array3::from_shape_fn((1, arms, STATES), |(_, i, s)| ((i * STATES + s) * 17 % 307) as f64)
}

/// Number of p below .05.
pub(super) fn below(p: &[f64]) -> usize {
    p.iter().filter(|p| **p <= 0.05).count()
}

/// Numbers that are uniform, but for the steps of a hundredth: by Kolmogorov and Smirnov, and below .05.
pub(super) fn assert_uniform(p: &mut [f64]) {
    p.sort_by(f64::total_cmp);
    let n = p.len() as f64;
    let apart = p.iter().enumerate().map(|(k, p)| (p - (k as f64 + 0.5) / n).abs()).fold(0.0, f64::max);
    assert!(apart < 1.63 / n.sqrt() + 0.01, "{apart}");
    // of 80: above 10 once in 500 times
    assert!(below(p) * 8 <= p.len(), "{} of {n}", below(p));
}
