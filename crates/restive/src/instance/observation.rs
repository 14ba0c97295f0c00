//! What is seen of the arms.

pub use crate::index::collapsing::Chain;

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

    /// L, the number of states that are told apart: M, or M chains of labels.
    pub fn labels(self, states: usize) -> usize {
        match self {
            Observation::Full => states,
            Observation::Collapsing(chain) => states * chain.beliefs(),
        }
    }
}
