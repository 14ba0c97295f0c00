//! What is seen of the arms.

/// When the state of an arm is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Observation {
    /// at every step
    #[default]
    Full,
    /// at a pull only: what is known of an arm is a [label](crate::belief), kept in chains of labels
    Collapsing(Chain),
}

/// How long the time since the last pull is told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chain {
    /// so many labels for each state; left alone, the last one stays where it is (as published)
    Finite(usize),
    /// without end; tables keep so many labels for each state
    Infinite {
        /// labels kept
        beliefs: usize,
    },
}

impl Chain {
    /// T, the labels kept for each state.
    pub fn labels(self) -> usize {
        match self {
            Chain::Finite(labels) | Chain::Infinite { beliefs: labels } => labels,
        }
    }
}

impl Observation {
    /// L, the number of states that are told apart: M, or M chains of labels.
    pub fn labels(self, states: usize) -> usize {
        match self {
            Observation::Full => states,
            Observation::Collapsing(chain) => states * chain.labels(),
        }
    }
}
