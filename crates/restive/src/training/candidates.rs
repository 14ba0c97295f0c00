//! The candidates of the recommended training on one set of training instances: two-stage training first, then the presets.

use super::decision_focused::{DecisionFocused, Prior};
use super::descent::{EpochReport, Fitted};
use super::prepared::Prepared;
use super::recipe::{Choice, Recipe};
use super::snapshot::Snapshot;
use super::two_stage::TwoStage;
use crate::error::Result;
use crate::evaluation::{World, fluid_by_step, strength};
use crate::instance::{Layout, Transition};
use crate::planning::Ending;
use crate::policy::{Policy, Temperature};
use crate::predictor::Predictor;
use crate::predictor::logistic::FitProgress;
use ndarray::{Array4, ArrayView2};
use std::sync::Arc;

/// The temperature at which candidates are compared, relative to the spread of the scores of a step: nearly strict.
const NEARLY_STRICT: f64 = 0.02;

/// Where the candidates begin.
pub(super) enum First {
    /// two-stage training, on its way
    Training(Box<TwoStage>),
    /// what was trained elsewhere
    Ready(Box<Fitted>),
}

impl First {
    pub fn is_finished(&self) -> bool {
        match self {
            First::Training(training) => training.is_finished(),
            First::Ready(_) => true,
        }
    }

    fn advance(&mut self) {
        if let First::Training(training) = self {
            training.advance();
        }
    }

    /// The predictor with the parameters that are kept so far.
    fn best(&self) -> Predictor {
        match self {
            First::Training(training) => training.best(),
            First::Ready(fitted) => fitted.predictor.clone(),
        }
    }

    /// The predictor as it stands.
    pub fn predictor(&self) -> &Predictor {
        match self {
            First::Training(training) => training.predictor(),
            First::Ready(fitted) => &fitted.predictor,
        }
    }

    pub fn history(&self) -> &[EpochReport] {
        match self {
            First::Training(training) => training.history(),
            First::Ready(fitted) => &fitted.history,
        }
    }

    /// Epochs made, and at most.
    pub fn progress(&self) -> (usize, usize) {
        match self {
            First::Training(training) => training.progress(),
            First::Ready(_) => (0, 0),
        }
    }

    pub fn fitting(&self) -> Option<FitProgress> {
        match self {
            First::Training(training) => training.fitting(),
            First::Ready(_) => None,
        }
    }

    pub fn finish(self) -> Fitted {
        match self {
            First::Training(training) => training.finish(),
            First::Ready(fitted) => *fitted,
        }
    }
}

/// The candidates of one set of training instances.
pub(super) struct Candidates {
    pub train: Vec<Arc<Prepared>>,
    validation: Vec<Arc<Prepared>>,
    held_out: Vec<Arc<Prepared>>,
    pub first: First,
    prior: Option<Prior>,
    /// weak and strong, once begun
    pub presets: [Option<DecisionFocused>; 2],
}

impl Prepared {
    /// What the plan made for so many steps with these transitions is worth in a world: its mean-field value, nearly strict.
    fn planned_value(&self, transition: Array4<f64>, believed: &World, horizon: usize) -> f64 {
        let transition = Transition::new(transition, Layout::Nsas).expect("predicted rows sum to 1");
        let own = World::new(self.observation, &self.reward, &transition);
        let plan =
            own.horizon_plan(self.discount, self.budget, horizon, Ending::Nothing, self.initial.view());
        let Policy::Horizon(scores) = plan else {
            unreachable!("a plan until an end has a table for each step")
        };
        let softness = |step: ArrayView2<'_, f64>| {
            Temperature::Spread(NEARLY_STRICT).resolve(step.as_slice().expect("row-major"))
        };
        let temperature: Vec<f64> = scores.outer_iter().map(softness).collect();
        fluid_by_step(scores.view(), &self.field(believed), &temperature, horizon)
    }
}

impl Candidates {
    /// At its beginning, with a training of its own. `held_out` are the instances that candidates are compared on, if they are.
    pub fn new(
        recipe: &Recipe,
        train: Vec<Arc<Prepared>>,
        validation: Vec<Arc<Prepared>>,
        held_out: Vec<Arc<Prepared>>,
    ) -> Result<Self> {
        let two_stage = TwoStage::from_prepared(recipe.two_stage.clone(), train.clone(), validation.clone())?;
        let first = First::Training(Box::new(two_stage));
        Ok(Self { train, validation, held_out, first, prior: None, presets: [None, None] })
    }

    /// The same from what was trained elsewhere.
    pub fn ready(
        fitted: Fitted,
        train: Vec<Arc<Prepared>>,
        validation: Vec<Arc<Prepared>>,
        held_out: Vec<Arc<Prepared>>,
    ) -> Self {
        let first = First::Ready(Box::new(fitted));
        Self { train, validation, held_out, first, prior: None, presets: [None, None] }
    }

    pub fn preset(&self, choice: Choice) -> Option<&DecisionFocused> {
        let k = Choice::PRESETS.iter().position(|preset| *preset == choice)?;
        self.presets[k].as_ref()
    }

    pub fn is_done(&self, presets: &[Choice]) -> bool {
        let is_done = |preset: &Choice| self.preset(*preset).is_some_and(DecisionFocused::is_finished);
        self.first.is_finished() && presets.iter().all(is_done)
    }

    /// One epoch of the first training that is not at its end, or of an effect model a step of its fit.
    pub fn advance(&mut self, recipe: &Recipe, presets: &[Choice]) {
        if !self.first.is_finished() {
            self.first.advance();
            return;
        }
        for preset in presets {
            let training = self.begin(recipe, *preset);
            if !training.is_finished() {
                training.epoch();
                return;
            }
        }
    }

    /// What two-stage training led to, and what its predictions are worth on the validation instances.
    pub fn prior(&mut self) -> &Prior {
        if self.prior.is_none() {
            let predictor = self.first.best();
            let predictions: Vec<_> =
                self.validation.iter().map(|prepared| predictor.predict(prepared.features.view())).collect();
            let pairs: Vec<_> = (self.validation.iter().zip(&predictions))
                .map(|(prepared, prediction)| (&prepared.record, prediction.view()))
                .collect();
            self.prior = Some(Prior { strength: strength(&pairs).map(|fit| fit.value), predictor });
        }
        self.prior.as_ref().expect("just made")
    }

    fn begin(&mut self, recipe: &Recipe, preset: Choice) -> &mut DecisionFocused {
        let k = Choice::PRESETS.iter().position(|other| *other == preset).expect("a preset");
        if self.presets[k].is_none() {
            let prior = self.prior().clone();
            let (config, decision) = recipe.preset(preset, self.train.len());
            let begun =
                DecisionFocused::from_prepared(config, decision, Some(&prior), &self.train, &self.validation);
            self.presets[k] = Some(begun.expect("recipe and instances were checked when training began"));
        }
        self.presets[k].as_mut().expect("just begun")
    }

    /// The value per arm of every candidate on the instances that were left out.
    pub fn values(&mut self, recipe: &Recipe) -> [f64; 3] {
        let prior = self.prior().clone();
        let [weak, strong] = &self.presets;
        let through = |training: &Option<DecisionFocused>| training.as_ref().expect("trained").best();
        let candidates = [prior.predictor.clone(), through(weak), through(strong)];
        let arms: usize = self.held_out.iter().map(|prepared| prepared.arms()).sum();
        let mut values = [0.0; 3];
        for prepared in &self.held_out {
            let features = prepared.features.view();
            let prediction = prior.predictor.predict(features);
            let believed = prepared.world(Some((prediction.view(), prior.strength)));
            for (value, candidate) in values.iter_mut().zip(&candidates) {
                let transition = candidate.predict(features);
                *value +=
                    prepared.planned_value(transition, &believed, recipe.decision.horizon) / arms as f64;
            }
        }
        values
    }

    pub fn save(&self, name: &str, all: &mut Snapshot) {
        if let First::Training(two_stage) = &self.first {
            all.extend(&format!("{name}.two-stage"), two_stage.snapshot());
        }
        for preset in Choice::PRESETS {
            if let Some(training) = self.preset(preset) {
                all.extend(&format!("{name}.{}", preset.name()), training.snapshot());
            }
        }
    }

    pub fn load(&mut self, name: &str, all: &Snapshot, recipe: &Recipe) -> Result<()> {
        if let First::Training(two_stage) = &mut self.first {
            two_stage.restore(&all.part(&format!("{name}.two-stage")))?;
        }
        for preset in Choice::PRESETS {
            let part = all.part(&format!("{name}.{}", preset.name()));
            if !part.counts.is_empty() && self.first.is_finished() {
                self.begin(recipe, preset).restore(&part)?;
            }
        }
        Ok(())
    }
}
