//! What one trial knows, checked once.
//!
//! n people in two arms, T weeks. An outcome stands for the week after a decision. Calls are those that were *assigned* (intention
//! to treat), not those that were answered. What the rules saw is there for everybody on her own path, whichever arm she is
//! in: the score that the policy would give her, and, where the control arm follows another policy, the score that this one would.

use super::cut::Cut;
use super::refusal::Gap;
use crate::error::{Error, Result};
use ndarray::Array2;
use std::collections::BTreeMap;
use std::fmt;

/// The arm of a trial that a person is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// called by the policy under trial
    Policy,
    /// not called, or called by another policy
    Control,
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Group::Policy { "policy arm" } else { "control arm" })
    }
}

/// What a rule saw and where its lists ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// `[n,T]`: the score of everybody, of either arm, on her own path before the decision; NaN where she could not be called
    pub score: Array2<f64>,
    /// `[T]`: where the lists of the rule's own arm ended
    pub cut: Vec<Cut>,
}

impl Rule {
    /// A rule whose cuts are read off the lists of its own arm.
    pub fn of_lists(
        score: Array2<f64>,
        tie: &Array2<f64>,
        call: &Array2<bool>,
        group: &[Group],
        own: Group,
    ) -> Self {
        assert_eq!(score.dim(), call.dim(), "scores and calls: [n,T]");
        assert_eq!(score.dim(), tie.dim(), "scores and ties: [n,T]");
        assert_eq!(score.nrows(), group.len(), "groups: [n]");
        let mine: Vec<usize> = (0..group.len()).filter(|&i| group[i] == own).collect();
        let week = |t: usize| Cut::of(mine.iter().map(|&i| (score[[i, t]], tie[[i, t]], call[[i, t]])));
        let cut = (0..score.ncols()).map(week).collect();
        Self { score, cut }
    }
}

/// What both rules saw.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// the policy under trial
    pub policy: Rule,
    /// the other policy; none where the control arm is not called
    pub control: Option<Rule>,
    /// `[n,T]`: who goes first among equal scores, drawn before the assignment
    pub tie: Array2<f64>,
    /// `[n,T]`: the outcome that the fitted model expects from week t on of a person who is not called, by her state before
    /// decision t; only the week of divergence is read
    pub prognosis: Option<Array2<f64>>,
}

/// What a record is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// `[n]`: the arm of each person
    pub group: Vec<Group>,
    /// `[n,T]`: the outcome of the week after each decision; NaN where it is missing
    pub outcome: Array2<f64>,
    /// `[n,T]`: whether the rule of her arm assigned a call
    pub call: Array2<bool>,
    /// `[n,p]`: numbers that were fixed before the trial
    pub covariates: Array2<f64>,
    /// `[n]`: the cluster of each person, where clusters were assigned
    pub cluster: Option<Vec<usize>>,
    /// what both rules saw, or why that is not known
    pub rules: std::result::Result<Rules, Gap>,
}

/// A checked record of a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    parts: Parts,
}

impl Record {
    /// Checks the parts: shapes, numbers, at least two people in each arm, every cluster in one arm.
    pub fn new(parts: Parts) -> Result<Self> {
        let n = parts.group.len();
        let weeks = parts.outcome.ncols();
        let weekly = |what, found: &[usize]| shape(what, found, &[n, weeks]);
        weekly("outcome", parts.outcome.shape())?;
        weekly("call", parts.call.shape())?;
        shape("covariates", parts.covariates.shape(), &[n, parts.covariates.ncols()])?;
        if weeks == 0 {
            return Err(unsuitable("outcome", "no weeks", "at least 1"));
        }
        for group in [Group::Policy, Group::Control] {
            let found = parts.group.iter().filter(|g| **g == group).count();
            if found < 2 {
                return Err(unsuitable("group", format!("{found} people in the {group}"), "at least 2"));
            }
        }
        numbers("outcome", &parts.outcome, |x| !x.is_infinite())?;
        numbers("covariates", &parts.covariates, f64::is_finite)?;
        if let Some(cluster) = &parts.cluster {
            clusters(cluster, &parts.group)?;
        }
        if let Ok(rules) = &parts.rules {
            weekly("tie", rules.tie.shape())?;
            numbers("tie", &rules.tie, f64::is_finite)?;
            for rule in std::iter::once(&rules.policy).chain(&rules.control) {
                weekly("score", rule.score.shape())?;
                shape("cut", &[rule.cut.len()], &[weeks])?;
                numbers("score", &rule.score, |x| !x.is_infinite())?;
            }
            if let Some(prognosis) = &rules.prognosis {
                weekly("prognosis", prognosis.shape())?;
            }
        }
        Ok(Self { parts })
    }

    /// What it is made of.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// n, the number of people.
    pub fn people(&self) -> usize {
        self.parts.group.len()
    }

    /// T, the number of weeks.
    pub fn weeks(&self) -> usize {
        self.parts.outcome.ncols()
    }

    /// The number of people in an arm.
    pub fn size(&self, group: Group) -> usize {
        self.parts.group.iter().filter(|g| **g == group).count()
    }
}

fn shape(what: &'static str, found: &[usize], expected: &[usize]) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::Shape { what, expected: format!("{expected:?}"), found: found.to_vec() })
}

fn numbers(what: &'static str, array: &Array2<f64>, is_right: impl Fn(f64) -> bool) -> Result<()> {
    match array.iter().enumerate().find(|(_, x)| !is_right(**x)) {
        Some((position, found)) => Err(Error::NotFinite { what, position, found: *found }),
        None => Ok(()),
    }
}

fn clusters(cluster: &[usize], group: &[Group]) -> Result<()> {
    shape("cluster", &[cluster.len()], &[group.len()])?;
    let mut known = BTreeMap::new();
    for (c, g) in cluster.iter().zip(group) {
        if known.insert(*c, *g).is_some_and(|other| other != *g) {
            return Err(unsuitable("cluster", format!("people of both arms in cluster {c}"), "one arm"));
        }
    }
    Ok(())
}

/// What was handed in is not what is needed.
pub(super) fn unsuitable(what: &'static str, found: impl Into<String>, expected: &str) -> Error {
    Error::Unsuitable { what, found: found.into(), expected: expected.into() }
}
