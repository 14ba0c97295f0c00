//! Why an estimator does not answer.
//!
//! A refusal is no error: the record is sound, yet what the estimator rests on is not in it. Every message reads `found …, expected …`.

use super::record::Group;
use std::fmt;

/// Why the rules of the two arms cannot be replayed on a person's own path, as whoever kept the record knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// a state is seen only at a pull, so that people who are not called have no score of their own
    AtPulls,
    /// scores, ties or cuts were not logged for every week and both arms
    NotLogged,
    /// the model was fitted anew to one arm only, so that scores mean something else in the other
    Refitted,
    /// lists were changed by hand without a record
    Overridden,
    /// what one person is given reaches others
    SpillOver,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Gap::AtPulls => {
                "found states that are seen at pulls only, expected states of everybody in every week"
            }
            Gap::NotLogged => {
                "found no full log of scores, ties and cuts, expected one of every week and both arms"
            }
            Gap::Refitted => {
                "found a model that was fitted anew to one arm, expected one model for both arms"
            }
            Gap::Overridden => {
                "found lists that were changed by hand without a record, expected every change recorded"
            }
            Gap::SpillOver => "found calls that reach others, expected calls that reach the called alone",
        })
    }
}

/// Why an estimator does not answer.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// the rules cannot be replayed
    #[error("{0}")]
    Gap(Gap),
    /// clusters were assigned, not people
    #[error(
        "found an assignment by cluster, expected one by person: only the regression with clusters answers"
    )]
    Clusters,
    /// the control arm makes calls by another rule
    #[error(
        "found another policy in the control arm, expected no calls there: the interval would be too short; the adjusted subgroup \
         and the exchange answer"
    )]
    AnotherPolicy,
    /// too few people whom the two rules would treat differently
    #[error(
        "{group}: found {found} people whom the two rules would treat differently, expected at least {expected}"
    )]
    TooFewPeople {
        /// the arm
        group: Group,
        /// how many there are
        found: usize,
        /// how many there must be
        expected: usize,
    },
    /// too few clusters
    #[error("{group}: found {found} clusters, expected at least {expected}")]
    TooFewClusters {
        /// the arm
        group: Group,
        /// how many there are
        found: usize,
        /// how many there must be
        expected: usize,
    },
    /// a call that the rule does not explain
    #[error(
        "person {person}, week {week}: found {}, expected what score, tie and cut say",
        if *.is_called { "a call" } else { "no call" }
    )]
    NotByRule {
        /// position of the person
        person: usize,
        /// the week
        week: usize,
        /// whether she was called
        is_called: bool,
    },
    /// nobody's outcome is known
    #[error("{group}, week {week}: found no outcome of {people} people, expected at least one")]
    Unobserved {
        /// the arm
        group: Group,
        /// the week
        week: usize,
        /// how many people there are whose outcomes should say it
        people: usize,
    },
    /// covariates that say the same
    #[error("covariates: found columns that determine each other, expected columns that each add something")]
    Collinear,
    /// as many columns as people
    #[error("covariates: found {found} people for {columns} columns, expected more people than columns")]
    TooManyColumns {
        /// how many people there are
        found: usize,
        /// how many columns there are
        columns: usize,
    },
    /// the fitted model's expectation is not there
    #[error(
        "prognosis: found none for person {person} in week {week}, expected one from the week of divergence on"
    )]
    NoPrognosis {
        /// position of the person
        person: usize,
        /// her week of divergence
        week: usize,
    },
}
