//! What an evaluation says: scores by policy and estimator, and the evidence behind them.

use super::{Behaviour, Drift, Estimate, Hindrance};

/// The rule behind a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimator {
    /// CWPDIS on several trajectories
    Is,
    /// the paper's single-trajectory variant: its metric, not evidence
    Segmented,
    /// rollouts on estimated transitions
    Simulated,
    /// rollouts on the true transitions
    True,
    /// the mean-field limit on estimated transitions
    Fluid,
}

impl Estimator {
    /// All of them.
    pub const ALL: [Estimator; 5] =
        [Estimator::Is, Estimator::Segmented, Estimator::Simulated, Estimator::True, Estimator::Fluid];

    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Estimator::Is => "is",
            Estimator::Segmented => "segmented",
            Estimator::Simulated => "simulated",
            Estimator::True => "true",
            Estimator::Fluid => "fluid",
        }
    }
}

/// What one estimator says of one policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// the rule
    pub estimator: Estimator,
    /// the value
    pub value: Estimate,
    /// paired, where the random policy is among the policies and has a value
    pub gain_over_random: Option<Estimate>,
    /// paired, where no action is among the policies and has a value
    pub gain_over_no_action: Option<Estimate>,
    /// terms about which the log says nothing
    pub dropped: usize,
    /// logged decisions that the behaviour policy could not have taken otherwise, while the target might
    pub without_overlap: usize,
}

/// What the log-based values rest on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evidence {
    /// where propensities came from
    pub behaviour: Option<Behaviour>,
    /// how the states drift over time, in the instance where they do so most
    pub drift: Drift,
    /// J, the fewest trajectories of an instance
    pub trajectories: usize,
    /// why nothing is judged by importance sampling although propensities were asked for
    pub hindrance: Option<Hindrance>,
}

/// All policies by all estimators.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// by name, in the order given
    pub policies: Vec<(String, Vec<Score>)>,
    /// policies of which an estimator knows nothing and has no score: the log has no reward of what they do
    pub imputed: Vec<(String, Estimator)>,
    /// what the log-based values rest on
    pub evidence: Evidence,
}

impl Evaluation {
    /// What one estimator says of one policy; none where it does not apply.
    pub fn score(&self, policy: &str, estimator: Estimator) -> Option<&Score> {
        let (_, scores) = self.policies.iter().find(|(name, _)| name == policy)?;
        scores.iter().find(|score| score.estimator == estimator)
    }
}
