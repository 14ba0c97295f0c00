//! The scores of an evaluation, as text or a table with one row per number; `evaluate_json` prints them as JSON.

use super::about::words;
use super::arguments::{EvaluateArguments, word};
use crate::shared::display::counted;
use crate::shared::display::{Decimals, write_aligned};
use restive::Instance;
use restive::evaluation::{Behaviour, Estimate, Estimator, Evaluation, EvaluationSettings, Hindrance, Score};
use restive_tables::{Cells, write_table};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// Average negative log-likelihood of the transitions that were logged, or of the sightings where states are seen at pulls only.
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
    /// why importance sampling is absent although propensities were asked for
    pub(crate) hindrance: Option<Hindrance>,
    /// of the index
    pub(crate) discount: f64,
    pub(crate) settings: &'a EvaluationSettings,
    pub(crate) arguments: &'a EvaluateArguments,
    pub(crate) instances: &'a [Instance],
    pub(crate) notes: Vec<String>,
}

impl Report<'_> {
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
            writeln!(text, "{}: {}; 95 % intervals cover {covers}", estimator.name(), words(estimator))?;
            write_aligned(text, &table(&rows))?;
            writeln!(text)?;
        }
        let Loss { per_trajectory, per_transition } = self.loss;
        let count = |count: usize, what| counted(count as u64, what);
        writeln!(
            text,
            "predictive loss  {per_trajectory:.3} per trajectory, {per_transition:.4} per {} (knowing nothing: {:.4})",
            if self.is_labelled() { "sighting" } else { "transition" },
            (self.instances[0].states() as f64).ln()
        )?;
        let arms = self.instances.iter().map(Instance::arms).sum();
        let [least, most] = self.budgets();
        let budget = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let (instances, arms) = (count(self.instances.len(), "instance"), count(arms, "arm"));
        write!(
            text,
            "judged on        {} part: {instances}, {arms}, budget {budget}; ",
            word(self.arguments.part)
        )?;
        writeln!(text, "index discount {:.4}", self.discount)?;
        writeln!(text, "propensities     {}", self.source_words())?;
        for assumption in self.assumptions() {
            writeln!(text, "assumption       {assumption}")?;
        }
        if let Some(out) = out {
            writeln!(text, "wrote            {}", out.display())?;
        }
        Ok(())
    }
}

/// A share of the largest value below which a number is rounding.
const NOISE: f64 = 1e-11;

/// One row per policy.
fn table(rows: &[(&String, &Score)]) -> Vec<Vec<String>> {
    let has_size = rows.iter().any(|(_, score)| score.value.effective_sample_size.is_some());
    let estimates = rows.iter().flat_map(|(_, score)| {
        [Some(score.value), score.gain_over_random, score.gain_over_no_action].into_iter().flatten()
    });
    let decimals = Decimals::of(estimates.flat_map(|e| [e.value, e.low, e.high]));
    // differences of values that are equal but for the order of their sums
    let noise = NOISE * rows.iter().fold(0.0, |most: f64, (_, score)| most.max(score.value.value.abs()));
    let number = |x: f64| match x {
        x if x.is_nan() => "–".to_string(),
        x => decimals.format(if x.abs() < noise { 0.0 } else { x }),
    };
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

#[cfg(test)]
mod tests {
    use super::*;
    use restive::evaluation::Covers;

    #[test]
    fn rounding_is_shown_as_nothing() {
        let estimate = |value: f64, low, high| Estimate {
            value,
            low,
            high,
            effective_sample_size: None,
            covers: Covers::Arms,
        };
        let score = Score {
            estimator: Estimator::Fluid,
            value: estimate(41.5, 40.0, 43.0),
            gain_over_random: Some(estimate(-8.88e-16, -1.7e-15, 2.1e-15)),
            gain_over_no_action: Some(estimate(1e-7, 0.5, f64::NAN)),
            dropped: 0,
            without_overlap: 0,
        };
        let name = "random".to_string();
        let shown = &table(&[(&name, &score)])[1];
        assert_eq!(shown[3..5], ["0.0000", "[0.0000, 0.0000]"]);
        assert_eq!(shown[5..], ["1.00e-7", "[0.5000, –]"]);
    }
}
