//! The scores of an evaluation, as text, JSON or a table with one row per number.

use crate::display::{Decimals, write_aligned};
use crate::summary::counted;
use restive::Instance;
use restive::evaluation::{Behaviour, Estimate, Estimator, Evaluation, Score};
use restive_tables::{Cells, write_table};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// Average negative log-likelihood of the transitions that were logged.
#[derive(Serialize)]
pub(crate) struct Loss {
    pub(crate) per_trajectory: f64,
    pub(crate) per_transition: f64,
}

/// An evaluation and what it rests on.
pub(crate) struct Report<'a> {
    pub(crate) evaluation: Evaluation,
    pub(crate) loss: Loss,
    /// of propensities; absent: no importance sampling
    pub(crate) source: Option<Behaviour>,
    /// whether a rota is taken for chance
    pub(crate) is_rota: bool,
    /// of the index
    pub(crate) discount: f64,
    /// by name
    pub(crate) part: String,
    pub(crate) instances: &'a [Instance],
    pub(crate) notes: Vec<String>,
}

#[derive(Serialize)]
struct Json<'a> {
    policies: BTreeMap<&'a str, BTreeMap<&'static str, JsonScore>>,
    loss: &'a Loss,
}

#[derive(Serialize)]
struct JsonScore {
    value: f64,
    low: f64,
    high: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    ess: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gain_over_random: Option<JsonGain>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gain_over_no_action: Option<JsonGain>,
}

#[derive(Serialize)]
struct JsonGain {
    value: f64,
    low: f64,
    high: f64,
}

impl From<&Score> for JsonScore {
    fn from(score: &Score) -> Self {
        let gain = |gain: Option<Estimate>| {
            gain.map(|Estimate { value, low, high, .. }| JsonGain { value, low, high })
        };
        let Estimate { value, low, high, effective_sample_size: ess, .. } = score.value;
        let gain_over_no_action = gain(score.gain_over_no_action);
        Self { value, low, high, ess, gain_over_random: gain(score.gain_over_random), gain_over_no_action }
    }
}

impl Report<'_> {
    pub(crate) fn write_json(&self, text: &mut Vec<u8>) -> io::Result<()> {
        let of = |scores: &Vec<Score>| {
            scores.iter().map(|score| (score.estimator.name(), JsonScore::from(score))).collect()
        };
        let policies = self.evaluation.policies.iter().map(|(name, scores)| (name.as_str(), of(scores)));
        serde_json::to_writer_pretty(&mut *text, &Json { policies: policies.collect(), loss: &self.loss })?;
        writeln!(text)
    }

    /// Columns policy, estimator, quantity, value, low, high, ess, covers.
    pub(crate) fn write_table(&self, path: &Path) -> restive_tables::Result<()> {
        let (mut words, mut numbers) = ([const { Vec::new() }; 4], [const { Vec::new() }; 4]);
        for (policy, scores) in &self.evaluation.policies {
            for score in scores {
                let all = [
                    ("value", Some(score.value)),
                    ("gain_over_random", score.gain_over_random),
                    ("gain_over_no_action", score.gain_over_no_action),
                ];
                for (quantity, estimate) in all.into_iter().filter_map(|(name, e)| e.map(|e| (name, e))) {
                    let cells = [policy, score.estimator.name(), quantity, estimate.covers.words()];
                    words.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell.to_string()));
                    let size = estimate.effective_sample_size.unwrap_or(f64::NAN);
                    let cells = [estimate.value, estimate.low, estimate.high, size];
                    numbers.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
                }
            }
        }
        let [policy, estimator, quantity, covers] = words.map(Cells::Text);
        let [value, low, high, ess] = numbers.map(Cells::Number);
        let columns = vec![
            ("policy", policy),
            ("estimator", estimator),
            ("quantity", quantity),
            ("value", value),
            ("low", low),
            ("high", high),
            ("ess", ess),
            ("covers", covers),
        ];
        write_table(path, columns)
    }

    pub(crate) fn write_text(&self, text: &mut Vec<u8>, out: Option<&Path>) -> io::Result<()> {
        for estimator in Estimator::ALL {
            let rows = self.evaluation.policies.iter();
            let rows = rows.filter_map(|(name, scores)| {
                scores.iter().find(|score| score.estimator == estimator).map(|score| (name, score))
            });
            let rows: Vec<(&String, &Score)> = rows.collect();
            let Some((_, first)) = rows.first() else { continue };
            let covers = first.value.covers.words();
            writeln!(text, "{}: {}; 95 % intervals cover {covers}", estimator.name(), self.words(estimator))?;
            write_aligned(text, &table(&rows))?;
            writeln!(text)?;
        }
        let Loss { per_trajectory, per_transition } = self.loss;
        let count = |count: usize, what| counted(count as u64, what);
        writeln!(
            text,
            "predictive loss  {per_trajectory:.3} per trajectory, {per_transition:.4} per transition (knowing nothing: {:.4})",
            (self.instances[0].states() as f64).ln()
        )?;
        let arms = self.instances.iter().map(Instance::arms).sum();
        let least = self.instances.iter().map(Instance::budget).min().unwrap_or(0);
        let most = self.instances.iter().map(Instance::budget).max().unwrap_or(0);
        let budget = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let (instances, arms) = (count(self.instances.len(), "instance"), count(arms, "arm"));
        write!(text, "judged on        {} part: {instances}, {arms}, budget {budget}; ", self.part)?;
        writeln!(text, "index discount {:.4}", self.discount)?;
        let source = match self.source {
            None => "none: no importance sampling".to_string(),
            Some(Behaviour::Logged) => "logged".to_string(),
            Some(Behaviour::Uniform) => "uniform, K of N arms at random: an assumption".to_string(),
            Some(Behaviour::Estimated) => {
                "estimated, the share of arms pulled at each step: right where the choice did not look at the arm".to_string()
            }
        };
        writeln!(text, "propensities     {source}")?;
        if self.is_rota {
            writeln!(
                text,
                "assumption       as study.toml says, a fixed rota is taken for K of N arms at random"
            )?;
        }
        if let Some(out) = out {
            writeln!(text, "wrote            {}", out.display())?;
        }
        Ok(())
    }

    fn words(&self, estimator: Estimator) -> &'static str {
        match estimator {
            Estimator::Is => {
                "importance sampling, arm by arm: it cannot see that other arms' states are those of the behaviour policy"
            }
            Estimator::Segmented => "the paper's metric, not evidence; one trajectory, step by step",
            Estimator::Simulated => {
                "rollouts on transitions estimated from the log, uniform where never seen"
            }
            Estimator::True => "rollouts on the true transitions",
            Estimator::Fluid => "the limit of many arms on transitions estimated from the log",
        }
    }

    /// What the scores must not be read without.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let policies = &self.evaluation.policies;
        let has =
            |estimator| policies.iter().any(|(_, scores)| scores.iter().any(|s| s.estimator == estimator));
        let drift = self.evaluation.evidence.drift;
        if self.is_rota {
            warnings.push("a fixed rota is taken for K of N arms at random, as study.toml says".into());
        }
        if drift.is_visible() && (self.is_rota || has(Estimator::Segmented)) {
            warnings.push(format!(
                "the states drift over time (a state's share moves by up to {:.2}), which the segmented variant and a rota taken for chance assume not to happen",
                drift.largest
            ));
        }
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

/// One row per policy.
fn table(rows: &[(&String, &Score)]) -> Vec<Vec<String>> {
    let has_size = rows.iter().any(|(_, score)| score.value.effective_sample_size.is_some());
    let estimates = rows.iter().flat_map(|(_, score)| {
        [Some(score.value), score.gain_over_random, score.gain_over_no_action].into_iter().flatten()
    });
    let decimals = Decimals::of(estimates.flat_map(|e| [e.value, e.low, e.high]));
    let number = |x: f64| if x.is_nan() { "–".to_string() } else { decimals.format(x) };
    let interval = |e: &Estimate| format!("[{}, {}]", number(e.low), number(e.high));
    let mut header = vec!["policy".to_string(), "value".into(), "interval".into()];
    header.extend(has_size.then(|| "ess".into()));
    header.extend(["over random", "interval", "over no action", "interval"].map(String::from));
    let mut table = vec![header];
    for (name, score) in rows {
        let mut row = vec![name.to_string(), number(score.value.value), interval(&score.value)];
        if has_size {
            row.push(score.value.effective_sample_size.map_or("–".into(), |size| format!("{size:.1}")));
        }
        for gain in [score.gain_over_random, score.gain_over_no_action] {
            match gain {
                Some(gain) => row.extend([number(gain.value), interval(&gain)]),
                None => row.extend(["–".to_string(), "–".to_string()]),
            }
        }
        table.push(row);
    }
    table
}
