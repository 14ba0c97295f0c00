//! Small programmes that own their arrays.

use rand::RngExt;
use restive::fairness::{Groups, Period};
use restive::random::Random;

#[derive(Debug, Clone, Default)]
pub struct Case {
    pub enrolled: Vec<bool>,
    pub could: Vec<u32>,
    pub listed: Vec<u32>,
    pub outcomes: Vec<u32>,
    pub reached: Vec<u32>,
    pub benefit: Vec<f64>,
    pub need: Vec<f64>,
}

impl Case {
    pub fn period(&self) -> Period<'_> {
        Period {
            enrolled: &self.enrolled,
            could: &self.could,
            listed: &self.listed,
            outcomes: &self.outcomes,
            reached: &self.reached,
            benefit: &self.benefit,
            need: &self.need,
        }
    }

    /// Everybody could be called in so many weeks, and was on the list in so many of them; no outcome is known.
    pub fn listed(could: u32, listed: &[u32]) -> Self {
        let n = listed.len();
        Self {
            enrolled: vec![true; n],
            could: vec![could; n],
            listed: listed.to_vec(),
            outcomes: vec![0; n],
            reached: vec![0; n],
            benefit: vec![0.0; n],
            need: vec![0.0; n],
        }
    }
}

/// Everybody in one of so many groups.
pub fn groups(of: &[u32], count: u32) -> Groups {
    let of: Vec<Option<u32>> = of.iter().map(|g| Some(*g)).collect();
    Groups::new((0..count).map(|g| format!("group {g}")).collect(), &of, "").unwrap()
}

pub fn random_groups(random: &mut Random, n: usize, count: u32) -> Vec<u32> {
    (0..n).map(|_| random.random_range(0..count)).collect()
}
