//! What transitions are taken to be where the log says little, and how far that may be wrong.
//!
//! A log has few pulls, and rows that nobody was seen in. What stands there is a prediction, weighed against the counts
//! ([`smoothed`](super::smoothed)), and what a policy is then worth rests on it more than on the log. A prediction that counts as a
//! fact makes intervals that are sure of what nobody has seen. So it may be drawn: the value itself rests on the best guess, but
//! every resample of the log meets another guess that the evidence behind the prediction allows, and the intervals cover both.
//!
//! The b-th resample of every instance has the same seed, which depends on nothing but b and the seed of the evaluation. All policies
//! meet the same guess, so that gains stay paired, and instances that one model predicts are wrong together, so that their mean is
//! no better known than the model. Guesses that have nothing to do with each other mix a number of their own into the seed.
//!
//! ```
//! use ndarray::array;
//! use rand::RngExt;
//! use restive::evaluation::Foreseen;
//! use restive::random::stream;
//! use restive::{Layout, Transition};
//!
//! // an arm of which a pull helps, by something between a little and a lot
//! let arm = |pulled: f64| {
//!     let p = array![[[[0.8, 0.2], [1.0 - pulled, pulled]], [[0.4, 0.6], [0.4, 0.6]]]];
//!     Transition::new(p, Layout::Nsas).unwrap()
//! };
//! let drawn = |seed: u64| arm(stream(seed, &[]).random_range(0.3..0.9));
//! let foreseen = Foreseen { transition: &arm(0.6), strength: [16.0; 2], drawn: Some(&drawn) };
//! assert!(foreseen.is_uncertain());
//! ```

use crate::instance::Transition;
use crate::random::stream;
use rand::RngExt;
use std::borrow::Cow;

/// The stream of the seeds of guesses: no other use of a seed begins with it.
const GUESS: u64 = 0x6775_6573;

/// What transitions are taken to be where the log says little.
#[derive(Clone, Copy)]
pub struct Foreseen<'a> {
    /// the best guess, `[N,M,2,M]`
    pub transition: &'a Transition,
    /// how many logged transitions it is worth, for each action
    pub strength: [f64; 2],
    /// another guess (`[N,M,2,M]`) that the evidence behind it allows, by seed; absent: it is certain
    pub drawn: Option<&'a (dyn Fn(u64) -> Transition + Sync)>,
}

impl Foreseen<'_> {
    /// Whether other guesses are possible.
    pub fn is_uncertain(&self) -> bool {
        self.drawn.is_some()
    }

    /// What is foreseen of all arms: by the guess of a seed, or the best one.
    pub(super) fn of_everybody(&self, guess: Option<u64>) -> Cow<'_, Transition> {
        match (self.drawn, guess) {
            (Some(drawn), Some(seed)) => Cow::Owned(drawn(seed)),
            _ => Cow::Borrowed(self.transition),
        }
    }

    /// What is foreseen of some arms, perhaps repeated: by the guess of a seed, or the best one.
    pub(super) fn of_arms(&self, arms: &[usize], guess: Option<u64>) -> Transition {
        // a guess is one for all arms, whichever of them are drawn
        self.of_everybody(guess).select_arms(arms)
    }
}

/// The seed of the guess of the b-th resample.
pub(super) fn guess_seed(seed: u64, b: usize) -> u64 {
    stream(seed, &[GUESS, b as u64]).random()
}
