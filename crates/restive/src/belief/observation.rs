//! When the state of an arm is seen, and how far the labels of an unseen arm are counted.

use crate::error::{Error, Result};
use ndarray::ArrayView2;

/// When the state of an arm is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Observation {
    /// at every step
    #[default]
    Full,
    /// at a pull only: what is known of an arm is a [label](crate::belief), kept in chains of labels
    Collapsing(Chain),
}

impl Observation {
    /// The chain of labels, where states are seen at pulls only.
    pub fn chain(self) -> Option<Chain> {
        match self {
            Observation::Full => None,
            Observation::Collapsing(chain) => Some(chain),
        }
    }

    /// L, the number of distinguishable states: M, or M chains of labels.
    pub fn labels(self, states: usize) -> usize {
        match self {
            Observation::Full => states,
            Observation::Collapsing(chain) => states * chain.beliefs(),
        }
    }
}

/// How a chain of beliefs ends, and how many beliefs of each have an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chain {
    /// T beliefs per observed state; the last one stays as it is
    Finite(usize),
    /// no end; the first `beliefs` of each chain are asked for. Two observed states, rewards by state
    Infinite {
        /// how many
        beliefs: usize,
    },
}

impl Chain {
    /// T: the beliefs of each chain that have an index.
    pub fn beliefs(self) -> usize {
        match self {
            Chain::Finite(beliefs) | Chain::Infinite { beliefs } => beliefs,
        }
    }

    /// Whether arms with this reward (`[M,2]`) can have such chains.
    pub fn check(self, reward: ArrayView2<'_, f64>) -> Result<()> {
        let range = |what, expected, found| Err(Error::Range { what, expected, found });
        let (states, beliefs) = (reward.nrows(), self.beliefs());
        match self {
            _ if beliefs == 0 => range("chain", "at least 1 belief per observed state", 0.0),
            _ if states.checked_mul(beliefs).is_none_or(|labels| labels > u32::MAX as usize) => {
                range("chain", "fewer than 2^32 beliefs of an arm", states as f64 * beliefs as f64)
            }
            Chain::Infinite { .. } if states != 2 => {
                range("states", "2 for an infinite chain; take a long finite one", states as f64)
            }
            Chain::Infinite { .. } => match reward.rows().into_iter().find(|r| r[0] != r[1]) {
                Some(row) => {
                    let expected = "the same for both actions for an infinite chain; take a long finite one";
                    range("reward", expected, row[1])
                }
                None => Ok(()),
            },
            Chain::Finite(_) => Ok(()),
        }
    }
}
