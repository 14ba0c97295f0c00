//! What the scores of an evaluation rest on, in words: sources, assumptions, warnings.

use super::report::Report;
use crate::shared::display::counted;
use crate::shared::display::grouped;
use restive::Instance;
use restive::evaluation::{Behaviour, Estimator, Record};
use restive::instance::UNSEEN;

/// What an estimator judges by.
pub(crate) fn words(estimator: Estimator) -> &'static str {
    match estimator {
        Estimator::Is => {
            "importance sampling, arm by arm: it cannot see that other arms' states are those of the behaviour policy"
        }
        Estimator::Segmented => "the paper's metric, not evidence; one trajectory, step by step",
        Estimator::Simulated => "rollouts on transitions estimated from the log",
        Estimator::True => "rollouts on the true transitions",
        Estimator::Fluid => "the limit of many arms on transitions estimated from the log",
    }
}

impl Report<'_> {
    /// Where propensities come from.
    pub(crate) fn source_words(&self) -> &'static str {
        match self.source {
            None => "none: no importance sampling",
            Some(Behaviour::Logged) => "logged",
            Some(Behaviour::Uniform) => "uniform, K of N arms at random: an assumption",
            Some(Behaviour::Estimated) => {
                "estimated, the share of arms pulled at each step: right where the choice did not look at the arm"
            }
        }
    }

    /// What study.toml asks to be taken for granted.
    pub(crate) fn assumptions(&self) -> Vec<&'static str> {
        let rota = "as study.toml says, a fixed rota is taken for K of N arms at random";
        self.is_rota.then_some(rota).into_iter().collect()
    }

    /// The smallest and the largest budget of an instance.
    pub(crate) fn budgets(&self) -> [usize; 2] {
        let budgets = self.instances.iter().map(Instance::budget);
        [budgets.clone().min().unwrap_or(0), budgets.max().unwrap_or(0)]
    }

    /// Whether states are seen at pulls only.
    pub(crate) fn is_labelled(&self) -> bool {
        self.instances.iter().any(|instance| instance.observation().chain().is_some())
    }

    /// Where labels are not known from the first step on, what stands in for them.
    fn unknown_starts(&self) -> Option<String> {
        let of_labels = self.instances.iter().filter(|instance| instance.observation().chain().is_some());
        let (mut starts, mut unknown, mut arms) = (0u64, 0u64, 0u64);
        for instance in of_labels {
            let state = instance.trajectories().state();
            for starting in state.index_axis(ndarray::Axis(1), 0).columns() {
                let without = starting.iter().filter(|label| **label == UNSEEN).count() as u64;
                starts += starting.len() as u64;
                unknown += without;
                arms += u64::from(without > 0);
            }
        }
        (unknown > 0).then(|| {
            let (arms, unknown, starts) = (counted(arms, "arm"), grouped(unknown), counted(starts, "start"));
            format!(
                "{arms} with an unknown label at the start ({unknown} of {starts}; columns last_state and since): they are taken to have been \
                 last seen longer ago than the chain remembers"
            )
        })
    }

    /// What simulated and fluid values take for uniform because it was never logged: nothing in their intervals knows of it.
    fn unseen_rows(&self) -> Vec<String> {
        if self.is_labelled() {
            return self.few_sightings().into_iter().collect();
        }
        let mut warnings = Vec::new();
        for (action, name) in [(0, "passive"), (1, "active")] {
            let (mut rows, mut unseen) = (0usize, 0usize);
            for instance in self.instances {
                let counts = instance.trajectories().counts();
                for row in counts.view().index_axis_move(ndarray::Axis(2), action).rows() {
                    rows += 1;
                    unseen += usize::from(row.sum() == 0.0);
                }
            }
            let share = unseen as f64 / rows.max(1) as f64;
            let hidden = "simulated and fluid take them for uniform, and their intervals do not know it";
            if rows > 0 && unseen == rows {
                warnings.push(format!("no {name} transition was logged: {hidden}"));
            } else if share > 0.25 {
                let percent = 100.0 * share;
                let what = format!("{name} transitions (by arm and state) were never logged");
                warnings.push(format!("{percent:.0} % of the {what}: {hidden}"));
            }
        }
        warnings
    }

    /// Where states are seen at pulls only: a log that says little of each arm lets all of them look alike.
    fn few_sightings(&self) -> Option<String> {
        const ENOUGH: f64 = 50.0;
        let records = self.instances.iter().map(Record::new);
        let sightings: f64 = records.map(|record| record.total()).sum();
        let arms = self.instances.iter().map(Instance::arms).sum::<usize>().max(1);
        let each = sightings / arms as f64;
        (each < ENOUGH).then(|| {
            format!(
                "{each:.1} sightings an arm: where a log says so little of each, simulated and fluid take it for an average one, \
                 and gains come out too small; their intervals do not know it"
            )
        })
    }

    /// What the scores must not be read without.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let policies = &self.evaluation.policies;
        let has =
            |estimator| policies.iter().any(|(_, scores)| scores.iter().any(|s| s.estimator == estimator));
        let drift = self.evaluation.evidence.drift;
        if let Some(hindrance) = self.hindrance {
            warnings.push(format!("is and segmented are absent: {}", hindrance.words()));
        }
        if self.is_rota {
            warnings.push("a fixed rota is taken for K of N arms at random, as study.toml says".into());
        }
        if drift.is_visible() && (self.is_rota || has(Estimator::Segmented)) {
            warnings.push(format!(
                "the states drift over time (a state's share moves by up to {:.2}), which the segmented variant and a rota taken for chance assume not to happen",
                drift.largest
            ));
        }
        for (policy, estimator) in &self.evaluation.imputed {
            let name = estimator.name();
            warnings.push(format!(
                "{name}, {policy}: no value: the log knows no reward of anything that the policy does"
            ));
        }
        warnings.extend(self.unseen_rows());
        warnings.extend(self.unknown_starts());
        for (policy, scores) in policies {
            for score in scores {
                let name = score.estimator.name();
                if score.without_overlap > 0 {
                    let decisions = counted(score.without_overlap as u64, "decision");
                    warnings.push(format!("{name}, {policy}: {decisions} without overlap: the behaviour could not have done what the policy might"));
                }
                if score.dropped > 0 {
                    let terms = counted(score.dropped as u64, "term");
                    warnings.push(format!("{name}, {policy}: {terms} of which the log says nothing, counted as an average reward; the interval is wider for it"));
                }
            }
        }
        warnings
    }
}
