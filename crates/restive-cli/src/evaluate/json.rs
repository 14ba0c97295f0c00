//! The scores of an evaluation as JSON, with what they rest on.

use super::about::words;
use super::arguments::word;
use super::report::{Loss, Report};
use crate::shared::values::temperature_text;
use restive::Instance;
use restive::evaluation::{Estimate, Score};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

#[derive(Serialize)]
struct Json<'a> {
    policies: BTreeMap<&'a str, BTreeMap<&'static str, JsonScore>>,
    loss: &'a Loss,
    about: About<'a>,
}

/// What the numbers rest on.
#[derive(Serialize)]
struct About<'a> {
    part: String,
    instances: usize,
    arms: usize,
    /// the smallest and the largest of an instance
    budget: [usize; 2],
    /// of values
    discount: f64,
    index_discount: f64,
    temperature: String,
    /// decisions of a deployment: of simulated, true and fluid values
    horizon: usize,
    /// the most decisions of a log: of is and segmented
    logged_decisions: usize,
    runs: usize,
    resamples: usize,
    seed: u64,
    ratio: String,
    propensities: &'static str,
    assumptions: Vec<&'static str>,
    estimators: BTreeMap<&'static str, AboutEstimator>,
    warnings: Vec<String>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct AboutEstimator {
    judges_by: &'static str,
    intervals_cover: &'static str,
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
        let json = Json { policies: policies.collect(), loss: &self.loss, about: self.about() };
        serde_json::to_writer_pretty(&mut *text, &json)?;
        writeln!(text)
    }

    fn about(&self) -> About<'_> {
        let (settings, arguments) = (self.settings, self.arguments);
        let scores = self.evaluation.policies.iter().flat_map(|(_, scores)| scores);
        let estimator = |score: &Score| {
            let covers = score.value.covers.words();
            (
                score.estimator.name(),
                AboutEstimator { judges_by: words(score.estimator), intervals_cover: covers },
            )
        };
        About {
            part: word(arguments.part),
            instances: self.instances.len(),
            arms: self.instances.iter().map(Instance::arms).sum(),
            budget: self.budgets(),
            discount: self.instances[0].discount(),
            index_discount: self.discount,
            temperature: temperature_text(arguments.temperature),
            horizon: settings.horizon,
            logged_decisions: self.instances.iter().map(|i| i.trajectories().steps() - 1).max().unwrap_or(0),
            runs: settings.runs,
            resamples: settings.resamples,
            seed: settings.seed,
            ratio: word(arguments.ratio),
            propensities: self.source_words(),
            assumptions: self.assumptions(),
            estimators: scores.map(estimator).collect(),
            warnings: self.warnings(),
            notes: &self.notes,
        }
    }
}
