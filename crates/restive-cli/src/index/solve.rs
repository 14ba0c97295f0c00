//! From checked arms to indices: by which algorithm, and the count of what came out.

use super::arguments::{Algorithm, IndexArguments};
use super::observation::{chain, chain_name, refuse_too_many};
use crate::shared::failure::Usage;
use restive::Reward;
use restive::index::{self, IndexStatus, Indices, bisection, two_state};
use restive::instance::Chain;
use restive_tables::Probabilities;

/// Largest discount of bisection: some 250,000 sweeps for each of 30 halvings.
const MOST_OF_BISECTION: f64 = 0.9999;

/// How every batch is solved.
pub(crate) struct Question {
    pub(crate) reward: Reward,
    pub(crate) discount: f64,
    /// never `Auto`
    algorithm: index::Algorithm,
}

impl Question {
    /// What the command line asks of arms of that many states.
    pub(crate) fn new(arguments: &IndexArguments, states: usize) -> anyhow::Result<Self> {
        let reward = match &arguments.rewards {
            None => Reward::linear(states),
            Some(rewards) if rewards.states() == states => rewards.reward()?,
            Some(rewards) => {
                let (found, file) = (rewards.states(), arguments.arms.display());
                let message = format!("--rewards: found {found}, expected {states}, one per state of {file}");
                return Err(Usage(message).into());
            }
        };
        let (chain, discount) = (chain(arguments)?, arguments.discount);
        let algorithm = match (chain, arguments.algorithm) {
            (Some(chain), _) => index::Algorithm::Collapsing(chain),
            (None, Algorithm::Auto) => index::Algorithm::Auto,
            (None, Algorithm::TwoState) => index::Algorithm::TwoState,
            (None, Algorithm::General) => index::Algorithm::General,
            (None, Algorithm::Bisection) => index::Algorithm::Bisection(tolerance(arguments.tolerance)),
        };
        if let Some(chain) = chain {
            refuse_too_many(chain, states)?;
        }
        let option = chain.map_or("--algorithm".into(), |chain| format!("--chain {}", chain_name(chain)));
        let wrong = |e| Usage(format!("{option}: {}: {e}", arguments.arms.display()));
        algorithm.check(reward.view(), discount).map_err(wrong)?;
        if arguments.algorithm == Algorithm::Bisection && discount > MOST_OF_BISECTION {
            let message = format!(
                "--discount: found {discount}, expected at most {MOST_OF_BISECTION} for --algorithm bisection, whose sweeps grow with \
                 1/(1 - discount); --algorithm general takes any discount"
            );
            return Err(Usage(message).into());
        }
        if chain.is_some() && discount >= 1.0 {
            let message = "--discount 1: found arms seen at pulls only, expected a discount below 1 for them";
            return Err(Usage(message.into()).into());
        }
        Ok(Self { reward, discount, algorithm: algorithm.resolve(states) })
    }

    /// The chains of beliefs, where the state is seen only at pulls.
    pub(crate) fn chain(&self) -> Option<Chain> {
        match self.algorithm {
            index::Algorithm::Collapsing(chain) => Some(chain),
            _ => None,
        }
    }

    /// Solves a batch.
    pub(crate) fn solve(&self, probabilities: Probabilities) -> Indices {
        match (probabilities, self.algorithm) {
            (Probabilities::Compact(arms), index::Algorithm::TwoState) => {
                two_state::index_compact(arms.view(), self.reward.view(), self.discount)
            }
            (arms, algorithm) => {
                index::whittle_index(arms.into_full().view(), self.reward.view(), self.discount, algorithm)
            }
        }
    }

    /// By the name that the command line gives it.
    pub(crate) fn algorithm_name(&self) -> &'static str {
        match self.algorithm {
            index::Algorithm::Collapsing(Chain::Finite(_)) => "collapsing, finite chain",
            index::Algorithm::Collapsing(Chain::Infinite { .. }) => "collapsing, infinite chain",
            index::Algorithm::TwoState => "two-state",
            index::Algorithm::Bisection(_) => "bisection",
            index::Algorithm::General | index::Algorithm::Auto => "general",
        }
    }
}

/// The values are computed ten times more finely than the index that rests on them.
fn tolerance(asked: Option<f64>) -> bisection::Tolerance {
    match asked {
        None => bisection::Tolerance::default(),
        Some(index) => bisection::Tolerance { index, value: index / 10.0, ..Default::default() },
    }
}

pub(crate) const STATUSES: [IndexStatus; 4] =
    [IndexStatus::Exact, IndexStatus::Approximate, IndexStatus::IllConditioned, IndexStatus::Undetermined];

/// What came out, counted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub(crate) arms: u64,
    pub(crate) not_indexable: u64,
    /// in the order of [`STATUSES`]
    pub(crate) statuses: [u64; 4],
    /// over the arms that have one
    pub(crate) worst_residual: Option<f64>,
}

impl Tally {
    pub(crate) fn add(&mut self, solved: &Indices) {
        self.arms += solved.status.len() as u64;
        for (i, (status, residual)) in solved.status.iter().zip(&solved.residual).enumerate() {
            self.statuses[*status as usize] += 1;
            self.not_indexable += u64::from(solved.verdict(i) == Some(false));
            if !residual.is_nan() {
                self.worst_residual =
                    Some(self.worst_residual.map_or(*residual, |worst| worst.max(*residual)));
            }
        }
    }

    pub(crate) fn count(&self, status: IndexStatus) -> u64 {
        self.statuses[status as usize]
    }
}
