//! Decision-focused training: the chain rule of the paper,
//!
//! ```text
//! dEval/dw = dEval/dπ · dπ/dW · dW/dP · dP/dw
//! ```
//!
//! from the parameters w of the predictor through the transitions P, their Whittle indices W and the soft policy π to the
//! [value](mod@super::value) of that policy, and back. [`DecisionFocused::objective`] is that sentence in code.
//!
//! **From scratch**, as published: the value is judged by the log or by the transitions counted in it, and a share of the
//! predictive loss of the log is mixed in. **From a [`Prior`]**: training begins where two-stage training ended; the value is
//! judged by [smoothed](crate::evaluation::transitions) transitions, counts and the prior's predictions in proportion to what each is
//! worth; and the loss holds the predictions to the prior's (an anchor), not to the data once more.
//!
//! The published temperature depends on the offset of the indices ([`Temperature`](crate::policy::Temperature)): add a constant to all of them and
//! no decision changes, but the soft policy, and with it the published value, does. A predictor can climb that value by spreading
//! its indices without ranking arms any better. With a temperature relative to their spread it cannot.

use super::config::Config;
use super::descent::{Descent, EpochReport, Fitted, Status, Step};
use super::prepared::{Prepared, prepare};
use super::snapshot::Snapshot;
use super::two_stage::{dropout_seed, mean_loss};
use super::value::{Decision, Judge, resolve};
use crate::error::{Error, Result};
use crate::evaluation::Record;
use crate::index::differentiable_index;
use crate::instance::{Instance, check_discount};
use crate::predictor::{Architecture, Predictor};
use std::sync::Arc;

/// What is believed of arms before their own record is looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Prior {
    /// predicts the transitions
    pub predictor: Predictor,
    /// how many transitions a prediction is worth, for each action
    pub strength: [f64; 2],
}

/// The value of a predictor's decisions on one instance, with its gradient.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectiveValue {
    /// (value_weight · value − loss_weight · loss)/N, to be maximised
    pub objective: f64,
    /// of the soft policy, over all arms and steps
    pub value: f64,
    /// per trajectory: of the log, or of the anchor
    pub loss: f64,
    /// of the objective by the parameters
    pub gradient: Vec<f64>,
}

/// One instance, with its judge.
struct Task {
    prepared: Arc<Prepared>,
    /// what the loss counts where it is not the log
    anchor: Option<Record>,
    judge: Judge,
}

/// Decision-focused training between two epochs.
pub struct DecisionFocused {
    pub(super) descent: Descent,
    decision: Decision,
    train: Vec<Task>,
    validation: Vec<Arc<Prepared>>,
}

impl DecisionFocused {
    /// From scratch, or from a prior.
    pub fn new(
        config: Config,
        decision: Decision,
        prior: Option<&Prior>,
        train: &[Instance],
        validation: &[Instance],
    ) -> Result<Self> {
        let [train, validation] = prepare(train, validation, Some(&decision))?;
        Self::from_prepared(config, decision, prior, &train, &validation)
    }

    pub(super) fn from_prepared(
        config: Config,
        decision: Decision,
        prior: Option<&Prior>,
        train: &[Arc<Prepared>],
        validation: &[Arc<Prepared>],
    ) -> Result<Self> {
        config.check()?;
        decision.check()?;
        let first = &train[0];
        let (features, states) = (first.features.ncols(), first.reward.states());
        let predictor = match prior {
            Some(prior) => prior.predictor.clone(),
            None => {
                Predictor::new(&Architecture { features, states, kind: config.kind.clone() }, config.seed)?
            }
        };
        let task = |prepared: &Arc<Prepared>| {
            let (believed, anchor) = match prior {
                None => (prepared.world(None), None),
                Some(prior) => {
                    let prediction = prior.predictor.predict(prepared.features.view());
                    let believed = prepared.world(Some((prediction.view(), prior.strength)));
                    (believed, Some(prepared.record.expected(prediction.view())))
                }
            };
            Task { prepared: prepared.clone(), anchor, judge: Judge::new(prepared, &decision, believed) }
        };
        let train = train.iter().map(task).collect();
        let descent = Descent::new(config, predictor);
        Ok(Self { descent, decision, train, validation: validation.to_vec() })
    }

    /// The objective of a predictor on the k-th training instance, and its gradient. `seed` draws the dropout, if any.
    pub fn objective(&self, predictor: &Predictor, k: usize, seed: u64) -> ObjectiveValue {
        self.train[k].objective(&self.decision, predictor, seed)
    }

    /// One pass over the training instances. Training must not be finished.
    pub fn epoch(&mut self) -> EpochReport {
        let Self { descent, decision, train, validation } = self;
        let seed = descent.config.seed;
        let step = |predictor: &Predictor, k: usize, steps: u64| {
            let said = train[k].objective(decision, predictor, dropout_seed(seed, steps));
            let gradient = said.gradient.into_iter().map(|d| -d).collect();
            Step { loss: said.loss, value: Some(said.value), gradient }
        };
        descent.epoch(train.len(), step, |predictor| mean_loss(predictor, validation))
    }

    /// Whether no epoch is left.
    pub fn is_finished(&self) -> bool {
        self.descent.status != Status::Running
    }

    /// The predictor as it stands.
    pub fn predictor(&self) -> &Predictor {
        &self.descent.predictor
    }

    /// The epochs so far.
    pub fn history(&self) -> &[EpochReport] {
        &self.descent.history
    }

    /// The state of training, to be saved.
    pub fn snapshot(&self) -> Snapshot {
        self.descent.snapshot()
    }

    /// Goes on where a snapshot of the same training left off.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.descent.apply(snapshot, !self.validation.is_empty())
    }

    /// The predictor with the parameters that are kept so far.
    pub fn best(&self) -> Predictor {
        self.descent.best()
    }

    /// The predictor with the parameters that are kept.
    pub fn finish(self) -> Fitted {
        self.descent.finish()
    }
}

impl Task {
    /// The chain rule.
    fn objective(&self, decision: &Decision, predictor: &Predictor, seed: u64) -> ObjectiveValue {
        let (prepared, reward) = (&self.prepared, self.prepared.reward.view());
        // w → P → W → π → Eval
        let forward = predictor.forward_with_dropout(prepared.features.view(), seed);
        let transition = forward.transition.view();
        let indices = differentiable_index(transition, reward, decision.index_discount, prepared.observation);
        let index = indices.index();
        let temperature = resolve(decision.temperature, index);
        if !(temperature.is_finite() && index.iter().all(|w| w.is_finite())) {
            return ObjectiveValue::undefined(predictor);
        }
        let judged = self.judge.value(prepared, decision, index, temperature);
        let loss = self.anchor.as_ref().unwrap_or(&prepared.record).loss(transition);
        // Eval → π → W → P → w
        let per_arm = 1.0 / prepared.arms() as f64;
        let (value_weight, loss_weight) = (per_arm * decision.value_weight, per_arm * decision.loss_weight);
        let mut d_index = judged.d_index;
        let (w, d_w) = (index.as_slice(), d_index.as_slice_mut());
        let (w, d_w) = (w.expect("standard layout"), d_w.expect("standard layout"));
        decision.temperature.pullback_into(judged.d_temperature, w, d_w);
        d_index *= value_weight;
        let d_transition =
            indices.pullback(d_index.view()).d_transition + loss.pullback(-loss_weight).d_transition;
        ObjectiveValue {
            objective: value_weight * judged.value - loss_weight * loss.per_trajectory,
            value: judged.value,
            loss: loss.per_trajectory,
            gradient: forward.pullback(d_transition.view()).d_params,
        }
    }
}

impl ObjectiveValue {
    /// Where the indices are no numbers.
    fn undefined(predictor: &Predictor) -> Self {
        let gradient = vec![0.0; predictor.flat().len()];
        Self { objective: f64::NAN, value: f64::NAN, loss: f64::NAN, gradient }
    }
}

impl Decision {
    pub(super) fn check(&self) -> Result<()> {
        check_discount(self.index_discount)?;
        let range = |what, expected, found| Err(Error::Range { what, expected, found });
        if self.horizon == 0 {
            return range("horizon", "at least 1", 0.0);
        }
        for (what, weight) in [("value weight", self.value_weight), ("loss weight", self.loss_weight)] {
            if !(weight >= 0.0 && weight.is_finite()) {
                return range(what, "a number of at least 0", weight);
            }
        }
        Ok(())
    }
}
