//! How long a training will take, said before it begins.
//!
//! What a network or a decision costs depends on states, labels, layers and the machine; so it is measured: an epoch on at most 64
//! of the training arms, which takes milliseconds, times the arms and the epochs there will be at most. The effect model, whose steps do
//! not grow with the arms alone, is counted in [operations](restive::predictor::logistic::operations) at a common speed. Folds of the
//! recommended training share the threads. Such an estimate is good to a factor of two or three: enough to go for a coffee, or not.

use crate::train::Training;
use restive::Instance;
use restive::data::split::Group;
use restive::evaluation::Record;
use restive::predictor::logistic::{self, Form};
use restive::predictor::{Penalties, PredictorKind};
use restive::training::auto::FOLDS;
use restive::training::{Choice, Config, Decision, Fit, Method, Recipe};
use std::time::Instant;

/// Arms of the epoch that is measured.
const ARMS: usize = 64;
/// Operations in a second, of one thread.
const SPEED: f64 = 8e9;

impl Training {
    /// About how many seconds the training will take at most.
    pub fn estimate(&self) -> f64 {
        let [train, validation, _] = &self.parts;
        let Some(first) = train.first() else { return 0.0 };
        let some = Group { instance: 0, arms: (0..first.arms().min(ARMS)).collect() }.select(train);
        let count = |instances: &[Instance]| instances.iter().map(|i| i.arms() as f64).sum::<f64>();
        // validation arms are predicted, not learnt from
        let arms = count(train) + count(validation) / 3.0;
        let config = self.method.config();
        let threads = rayon::current_num_threads() as f64;
        let newton = |form: Form| {
            let stacked: Vec<_> = train.iter().map(Instance::features).collect();
            let features = ndarray::concatenate(ndarray::Axis(0), &stacked).expect("as many features each");
            let moves = train.iter().map(|instance| Record::new(instance).total()).sum();
            logistic::operations(features.view(), first.states(), moves, form) / (SPEED * threads)
        };
        let network = || config.epochs as f64 * arms * per_arm(Method::TwoStage(config.clone()), &some);
        let by_likelihood = || match &config.kind {
            PredictorKind::Effect { precision } => newton((*precision).into()),
            PredictorKind::Hierarchical { penalties } => newton((*penalties).into()),
            PredictorKind::Network { .. } | PredictorKind::Pool { .. } => network(),
        };
        // most networks stop well before their last epoch
        let auto = || {
            let folds = FOLDS as f64;
            newton(Penalties::Evidence.into()) * (1.0 + folds / 4.0)
                + network() * folds / threads.min(2.0 * folds)
        };
        let through = |config: &Config, decision: &Decision| {
            let method = Method::DecisionFocused(config.clone(), decision.clone(), None);
            config.epochs as f64 * arms * per_arm(method, &some)
        };
        let one = match &self.method {
            Method::TwoStage(_) => by_likelihood(),
            Method::Auto(_) => auto(),
            Method::DecisionFocused(config, decision, _) => through(config, decision),
            Method::Recommended(recipe) => {
                let preset = |choice| {
                    let (config, decision) = recipe.preset(choice, train.len());
                    through(&config, &decision)
                };
                let [weak, strong] = Choice::PRESETS.map(preset);
                let folds = match (recipe.choice, &train[..]) {
                    (Some(_), _) => 0,
                    (None, [single]) => (single.arms() / Recipe::ARMS_PER_FOLD).min(Recipe::FOLDS),
                    (None, several) => several.len().min(Recipe::FOLDS),
                } as f64;
                let at_once = (rayon::current_num_threads() as f64).min(folds + 1.0);
                let last = if recipe.choice == Some(Choice::Weak) { weak } else { strong };
                let first = if recipe.is_auto { auto() } else { by_likelihood() * (folds + 1.0) / at_once };
                first + (weak + strong) * folds / at_once + last
            }
        };
        one * self.members() as f64
    }
}

/// Seconds of an epoch for each arm, the best of two; none where these few arms cannot be trained on.
fn per_arm(method: Method, some: &Instance) -> f64 {
    let instances = std::slice::from_ref(some);
    let Ok(mut fit) = Fit::new(method, instances, &[]) else { return 0.0 };
    let mut best = f64::INFINITY;
    for _ in 0..2 {
        if fit.is_finished() {
            break;
        }
        let start = Instant::now();
        fit.advance();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best / some.arms() as f64
}
