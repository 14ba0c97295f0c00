//! What a model's policy is worth beside others, by every estimator that applies.
//!
//! | file | what happens there |
//! |---|---|
//! | `asked` | what may be asked for, with its defaults |
//! | `log` | the arms that judge, and how likely each logged action was |
//! | `policies` | what is judged |
//! | `about` | what the scores rest on, in words |
//! | `evaluated` | the answer |

mod about;
mod asked;
mod evaluated;
mod log;
mod policies;

pub use asked::{BehaviourName, EvaluateAsked, JudgedPart, RatioName};
pub use evaluated::{AboutEstimator, AboutEvaluation, Evaluated, EvaluatedQuantity};

use crate::apply::Applied;
use crate::error::{Error, Result};
use crate::loss::loss;
use about::{is_labelled, judges_by, logged_decisions, notes, warnings};
use log::Source;
use restive::evaluation::{
    Behaviour, Case, Evaluation, EvaluationSettings, Hindrance, RatioUpTo, Score, evaluate,
};
use restive::{Instance, Transition};

impl Applied<'_> {
    /// Judges the model's policy and others.
    pub fn evaluate(&self, asked: &EvaluateAsked) -> Result<Evaluated> {
        asked.check()?;
        let groups = self.groups(asked.part)?;
        let source = Source::new(self, asked.behaviour)?;
        let index_discount = self.index_discount(asked.index_discount);
        let weighed = self.with_propensities(&groups, source.behaviour)?;
        let hindrance = weighed.is_none().then_some(Hindrance::Impossible);
        let judged = weighed.unwrap_or_else(|| self.select(&groups));
        let predictions: Vec<Transition> = groups.iter().map(|group| self.prediction(group)).collect();
        let has_truth = judged.iter().all(|instance| instance.truth().is_some());
        let horizon = self.study.settings.horizon;
        let (mut cases, mut not_indexable) = (Vec::new(), 0);
        for (instance, prediction) in judged.iter().zip(&predictions) {
            let truth = instance.truth().filter(|_| has_truth);
            let (policies, not) =
                policies::policies(instance, prediction, truth, index_discount, asked.temperature, horizon)?;
            not_indexable += not;
            cases.push(Case { instance, policies, prediction: None });
        }
        let settings = EvaluationSettings {
            behaviour: source.behaviour.filter(|_| hindrance.is_none()).map(|_| Behaviour::Logged),
            ratio_up_to: match asked.ratio {
                RatioName::ThisStep => RatioUpTo::ThisStep,
                RatioName::PreviousStep => RatioUpTo::PreviousStep,
            },
            runs: asked.runs,
            resamples: asked.resamples,
            seed: asked.seed,
            ..EvaluationSettings::new(horizon)
        };
        let evaluation =
            evaluate(&cases, &settings).map_err(|error| Error::at(self.study_name.as_str())(error.into()))?;
        let hindrance = hindrance.or(evaluation.evidence.hindrance);
        let views: Vec<_> = predictions.iter().map(Transition::view).collect();
        let about = AboutEvaluation {
            part: asked.part.name(),
            instances: judged.len(),
            arms: judged.iter().map(Instance::arms).sum(),
            budget: budgets(&judged),
            discount: judged[0].discount(),
            index_discount,
            temperature: asked.temperature.to_string(),
            horizon: settings.horizon,
            logged_decisions: logged_decisions(&judged),
            runs: settings.runs,
            resamples: settings.resamples,
            seed: settings.seed,
            ratio: asked.ratio.name(),
            propensities: source.words(),
            assumptions: source.assumptions(),
            estimators: estimators(&evaluation),
            warnings: warnings(&evaluation, source, hindrance, &judged),
            notes: notes(self, asked, source, &groups, &judged, not_indexable),
        };
        Ok(Evaluated {
            loss: loss(&judged, &views),
            uninformed_loss: (judged[0].states() as f64).ln(),
            is_labelled: is_labelled(&judged),
            policies: evaluation.policies,
            about,
        })
    }
}

/// The smallest and the largest budget of an instance.
fn budgets(judged: &[Instance]) -> [usize; 2] {
    let budgets = judged.iter().map(Instance::budget);
    [budgets.clone().min().unwrap_or(0), budgets.max().unwrap_or(0)]
}

/// What the numbers of each estimator rest on.
fn estimators(evaluation: &Evaluation) -> std::collections::BTreeMap<&'static str, AboutEstimator> {
    let about = |score: &Score| AboutEstimator {
        judges_by: judges_by(score.estimator),
        intervals_cover: score.value.covers.words(),
    };
    let scores = evaluation.policies.iter().flat_map(|(_, scores)| scores);
    scores.map(|score| (score.estimator.name(), about(score))).collect()
}
