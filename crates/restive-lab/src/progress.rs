//! How far work has come that many threads share: each stretch tells its own share, whoever asked hears the sum.

use std::sync::Mutex;

/// What whoever asked for work hears of it, from any thread.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// how far it is
    Progress {
        /// of all work, from 0 to 1
        share: f64,
        /// stretches that are complete
        done: usize,
        /// stretches there are
        all: usize,
    },
    /// something to know, in a line
    Note(String),
}

/// Hears of work.
pub type Listener<'a> = &'a (dyn Fn(Heard) + Sync);

/// Stretches of work side by side.
pub(crate) struct Stretches<'a> {
    weights: Vec<f64>,
    shares: Mutex<Vec<f64>>,
    /// complete before the work began
    present: usize,
    listener: Listener<'a>,
}

impl<'a> Stretches<'a> {
    pub(crate) fn new(weights: Vec<f64>, present: usize, listener: Listener<'a>) -> Self {
        Self { shares: Mutex::new(vec![0.0; weights.len()]), weights, present, listener }
    }

    /// How far the k-th stretch is; 1 where it is complete.
    pub(crate) fn tell(&self, k: usize, share: f64) {
        let Ok(mut shares) = self.shares.lock() else { return };
        shares[k] = share;
        let done = self.present + shares.iter().filter(|share| **share >= 1.0).count();
        let made: f64 = shares.iter().zip(&self.weights).map(|(share, weight)| share * weight).sum();
        let share = made / self.weights.iter().sum::<f64>();
        (self.listener)(Heard::Progress { share, done, all: self.present + shares.len() });
    }
}
