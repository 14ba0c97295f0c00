//! Which rule to use, and whether to use any: by people that the predictor has not been trained on.
//!
//! **Which.** The Gaussian rule where there are two states that are seen at every step and first states tell something of people
//! (b is at least 2.5 of its standard errors from 0: a programme whose people were met where they tend to be), otherwise carrying.
//!
//! **Whether.** Only if held-out people say that it helps: each person's moves are foretold from the earlier ones
//! (`prequential.rs`). The mean over people of the rule's lead in log-likelihood over the prediction alone has to be above 0 by
//! at least one standard error, and on the moves after a call, which is where decisions are won or lost, not below 0 by as much. (Calls alone are
//! too few to decide: on a maternal programme with a thousand called people a rule that wins five points of the way from random to
//! oracle leads on them by less than a standard error in five of eight runs.) Nobody is judged by numbers that were fitted to them: arms are dealt to [`FOLDS`] folds by their position, and each fold is
//! judged by the rule fitted to the others. Where the Gaussian rule does not help, carrying has its turn. The rule that is returned
//! is fitted to all. With fewer than [`LEAST_ARMS`] people who were called after something was known of them there is no rule.
//!
//! Where states are seen at pulls only, sightings of the second half of the time are foretold from the first (`sighted.rs`).

use super::{CarryFit, GaussFit, Rule, by_moves, by_sightings};
use crate::instance::{Observation, Trajectories};
use crate::statistics::Mean;
use ndarray::ArrayView4;
use std::fmt;

/// Folds of arms.
pub const FOLDS: usize = 4;
/// The fewest arms on whose calls a rule is judged.
pub const LEAST_ARMS: usize = 20;

/// The log of arms that the predictor has not been trained on.
#[derive(Debug, Clone, Copy)]
pub struct HeldOut<'a> {
    /// what was logged of them
    pub log: &'a Trajectories,
    /// when their states were seen
    pub observation: Observation,
    /// what was predicted of them, `[N,M,2,M]`
    pub prediction: ArrayView4<'a, f64>,
}

/// How much higher the log-likelihood of a person's moves is under a rule than under the prediction alone: the mean over people,
/// none where there are fewer than two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HistoryLead {
    /// on moves after a call, over those who were called; sightings, where states are seen at pulls only
    pub called: Option<Mean>,
    /// on all moves, over those who were seen to move
    pub all: Option<Mean>,
}

/// Why the rule is what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// the lead on all moves is at least a standard error, and calls do not contradict it
    Helps,
    /// it is less
    DoesNotHelp,
    /// so few held-out people were called after something was known of them
    TooLittle {
        /// how many
        arms: usize,
    },
}

/// What held-out people have to say.
#[derive(Debug, Clone, PartialEq)]
pub struct Learnt {
    /// the rule to plan with
    pub rule: Rule,
    /// the rule that was judged last, whether it helps or not
    pub candidate: Rule,
    /// why
    pub why: Why,
    /// carrying, fitted to all held-out people
    pub carry: CarryFit,
    /// its lead, cross-fitted
    pub carry_lead: HistoryLead,
    /// the Gaussian rule with b, fitted to all held-out people, where they have two states that are seen at every step
    pub gauss: Option<GaussFit>,
    /// its lead, cross-fitted, where b is sure
    pub gauss_lead: Option<HistoryLead>,
    /// what all of this rests on
    pub rests_on: RestsOn,
}

/// Numbers of held-out people and moves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RestsOn {
    /// arms with at least one move (or sighting)
    pub arms: usize,
    /// moves (or sightings)
    pub moves: usize,
    /// those after a call (or in the second half of the time)
    pub called: usize,
    /// arms with a call after an earlier move (or with sightings in both halves)
    pub called_later: usize,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Helps => write!(f, "what held-out arms did earlier foretells what they do later"),
            Why::DoesNotHelp => {
                write!(f, "what held-out arms did earlier does not surely foretell what they do later")
            }
            Why::TooLittle { arms } => {
                let were = if *arms == 1 { "arm was" } else { "arms were" };
                write!(
                    f,
                    "{arms} held-out {were} pulled after something was known of them, at least {LEAST_ARMS} are needed"
                )
            }
        }
    }
}

/// The rule for arms like the held-out ones. ρ of carrying is chosen, or known: 1 for a model of effects.
pub fn learn(held_out: &[HeldOut<'_>], rho: Option<f64>) -> Learnt {
    for HeldOut { log, observation, prediction } in held_out {
        assert_eq!(observation.labels(prediction.shape()[1]), log.states(), "prediction: [N,M,2,M]");
        assert_eq!(prediction.shape()[0], log.arms(), "prediction: [N,M,2,M]");
    }
    match held_out.first().map(|first| first.observation) {
        Some(Observation::Collapsing(_)) => by_sightings::learn(held_out, rho),
        _ => by_moves::learn(held_out, rho),
    }
}

/// What comes of the arms of a fold, by log; positions count on from log to log.
pub(super) fn on_fold<T>(
    held_out: &[HeldOut<'_>],
    fold: usize,
    judge: impl Fn(&HeldOut<'_>, &[usize]) -> Vec<T>,
) -> Vec<T> {
    let mut before = 0;
    let mut found = Vec::new();
    for held_out in held_out {
        let arms: Vec<usize> = (0..held_out.log.arms()).filter(|i| (before + i) % FOLDS == fold).collect();
        found.extend(judge(held_out, &arms));
        before += held_out.log.arms();
    }
    found
}

/// The gate: the first candidate that helps.
pub(super) fn judged(candidates: &[(Rule, HistoryLead)], rests_on: RestsOn) -> (Rule, Rule, Why) {
    let last = candidates.last().expect("a candidate").0;
    if rests_on.called_later < LEAST_ARMS {
        return (Rule::Alone, last, Why::TooLittle { arms: rests_on.called_later });
    }
    match candidates.iter().find(|(_, lead)| lead.helps()) {
        Some((rule, _)) => (*rule, *rule, Why::Helps),
        None => (Rule::Alone, last, Why::DoesNotHelp),
    }
}

impl HistoryLead {
    /// Whether the record is worth listening to.
    fn helps(&self) -> bool {
        let is_sure = |lead: &Mean| lead.mean > 0.0 && lead.mean >= lead.standard_error;
        match (&self.all, &self.called) {
            (Some(all), called) => {
                is_sure(all) && called.is_none_or(|called| called.mean > -called.standard_error)
            }
            (None, called) => called.as_ref().is_some_and(is_sure),
        }
    }
}
