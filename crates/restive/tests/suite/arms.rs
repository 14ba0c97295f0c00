//! Random arms of every kind that a kernel must survive.

use ndarray::{Array2, Array4};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Gamma};
use rand_xoshiro::Xoshiro256PlusPlus;

pub type Random = Xoshiro256PlusPlus;

pub fn random(seed: u64) -> Random {
    Random::seed_from_u64(seed)
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// rows uniform on the simplex
    Dense,
    /// rows from Dirichlet(0.1): most mass on one or two states
    Sparse,
    /// entries 0 and 1
    Deterministic,
    /// active rows within 1e-4 of the passive ones
    NearEqual,
}

pub const KINDS: [Kind; 4] = [Kind::Dense, Kind::Sparse, Kind::Deterministic, Kind::NearEqual];

/// One row of an arm.
pub fn row(kind: Kind, m: usize, random: &mut Random) -> Vec<f64> {
    let concentration = match kind {
        Kind::Deterministic => {
            let to = random.random_range(0..m);
            return (0..m).map(|s| if s == to { 1.0 } else { 0.0 }).collect();
        }
        Kind::Sparse => 0.1,
        Kind::Dense | Kind::NearEqual => 1.0,
    };
    let gamma = Gamma::new(concentration, 1.0).expect("a positive concentration");
    loop {
        let row: Vec<f64> = (0..m).map(|_| gamma.sample(random)).collect();
        let sum: f64 = row.iter().sum();
        if sum > 1e-100 {
            return normalised(row.iter().map(|p| p / sum).collect());
        }
    }
}

/// Scales once more, so that the sum is 1 to the last digit or so.
fn normalised(mut row: Vec<f64>) -> Vec<f64> {
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|p| *p /= sum);
    row
}

/// `[N,M,2,M]`
pub fn transitions(kind: Kind, n: usize, m: usize, random: &mut Random) -> Array4<f64> {
    let mut p = Array4::zeros((n, m, 2, m));
    for i in 0..n {
        for s in 0..m {
            let passive = row(kind, m, random);
            let mut active = row(kind, m, random);
            if kind == Kind::NearEqual {
                active = normalised(passive.iter().zip(&active).map(|(p, a)| p + 1e-4 * (a - p)).collect());
            }
            for next in 0..m {
                p[[i, s, 0, next]] = passive[next];
                p[[i, s, 1, next]] = active[next];
            }
        }
    }
    p
}

/// `[M,2]`: R(s) or R(s,a), uniform on [0,1].
pub fn reward(m: usize, depends_on_action: bool, random: &mut Random) -> Array2<f64> {
    let mut reward = Array2::from_shape_simple_fn((m, 2), || random.random::<f64>());
    if !depends_on_action {
        let state = reward.column(0).to_owned();
        reward.column_mut(1).assign(&state);
    }
    reward
}
