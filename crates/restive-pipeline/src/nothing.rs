//! Nothing worse than nothing: a model must predict arms that it has not learnt from better than the bare frequencies of moves do.
//!
//! Frequencies know nobody: from each state, pulled or not, every arm moves as the training arms did together. Whoever predicts
//! worse than that has learnt something that is not so, and a list made with it is worse than one drawn by lot. Where the loss of
//! the validation arms is above that of the frequencies by more than its standard error over the arms, the model is not written, and the error names the
//! likeliest cause. Above by less it is written with a warning: a handful of validation arms cannot tell a useful model from none (on the
//! study of the examples, with twenty of them, the effect model is .002 above, and reaches 71 % of the way from random to oracle). (`auto` compares out of fold, and falls back to the frequencies by itself;
//! the profiles published and paper are written as they are, because they are meant to be what was published.)

use crate::error::{Error, Result};
use crate::loss::loss;
use crate::message::{Message, Opt, message};
use crate::train::Training;
use crate::words::counted;
use ndarray::Array3;
use restive::Instance;
use restive::evaluation::{Record, alike, frequencies, moments};
use restive::predictor::{Predictor, is_uneven};
use restive::training::{Finished, Fitted, Method, Status};
use restive_tables::model::configuration::{PredictorName, Profile};

impl Training {
    /// Refuses a fit by likelihood that held-out arms refute.
    pub(crate) fn refuse_worse_than_nothing(&self, trained: &Finished) -> Result<()> {
        let [train, validation, _] = &self.parts;
        let is_by_likelihood = matches!(self.method, Method::TwoStage(_) | Method::Recommended(_));
        let configuration = &self.card.configuration;
        let is_judged = is_by_likelihood && trained.choice.is_none() && !validation.is_empty();
        if !is_judged || !is_judged_by_profile(configuration.profile) {
            return Ok(());
        }
        // what training through the decision began with
        let first = trained.selection.as_ref().map_or(&trained.fitted, |(_, two_stage)| two_stage);
        let records: Vec<Record> = train.iter().map(Record::new).collect();
        let row = frequencies(&records.iter().collect::<Vec<_>>());
        let is_uneven = || is_uneven(&train.iter().map(Instance::features).collect::<Vec<_>>());
        let seen = records.iter().map(Record::total).sum::<f64>();
        let cause = || cause(first, is_uneven, seen);
        compared(validation, &first.predictor, &row).refuse_worse(configuration.predictor, cause)
    }
}

/// Whether what held-out arms refute is refused: the others are meant to be what was published.
pub(crate) fn is_judged_by_profile(profile: Profile) -> bool {
    profile == Profile::Recommended
}

/// The likeliest reason why a fit to so many transitions failed.
pub(crate) fn cause(fitted: &Fitted, is_uneven: impl FnOnce() -> bool, seen: f64) -> Message {
    let parameters = fitted.predictor.flat().len();
    if fitted.status == Status::Diverged {
        return message!("Training diverged; a lower ", Opt("learning-rate"), " may not");
    }
    if is_uneven() {
        return message!(
            "Features differ in size as rupees and years do; ",
            Opt("standardise"),
            " yes evens them out"
        );
    }
    let is_falling = fitted.history.last().is_some_and(|epoch| epoch.is_best);
    if fitted.status == Status::Completed && is_falling {
        let epochs = counted(fitted.history.len() as u64, "epoch");
        return message!(format!("The loss was still falling after {epochs}; give it more "), Opt("epochs"));
    }
    if seen < parameters as f64 {
        let seen = counted(seen as u64, "transition");
        return format!("There are too few transitions: {seen} for {parameters} parameters").into();
    }
    "Perhaps states and actions of a row belong to different steps, or features to other arms: see that every table speaks of \
     the same arms and weeks"
        .into()
}

/// −ln P of a transition of held-out arms.
pub(crate) struct Compared {
    /// by the model
    found: f64,
    /// by the frequencies
    nothing: f64,
    /// of the difference, over groups of arms
    error: f64,
}

/// Groups of arms over which a difference is compared: they are dealt to them in turn.
pub(crate) const GROUPS: usize = 20;

impl Compared {
    /// Of groups of arms: −Σ ln P by the model and by the frequencies, and how many moves.
    pub(crate) fn new(groups: &[[f64; 3]]) -> Self {
        let [found, nothing, moves] = [0, 1, 2].map(|k| groups.iter().map(|group| group[k]).sum::<f64>());
        let with_moves = groups.iter().filter(|group| group[2] > 0.0);
        let differences: Vec<f64> = with_moves.map(|[found, nothing, _]| found - nothing).collect();
        let (_, variance) = moments(&differences);
        let error = (variance * differences.len() as f64).sqrt() / moves;
        let error = if differences.len() > 1 { error } else { 0.0 };
        Self { found: found / moves, nothing: nothing / moves, error }
    }

    /// Refuses the model of a predictor where it is surely worse than the frequencies.
    pub(crate) fn refuse_worse(&self, name: PredictorName, cause: impl FnOnce() -> Message) -> Result<()> {
        let Self { found, nothing, error } = *self;
        // written so that what is no number is worse; without a transition nobody can tell
        if nothing.is_nan() || found <= nothing + error {
            return Ok(());
        }
        let said = format!(
            "the {name} model predicts validation arms worse than the bare frequencies of moves: found a loss of {found:.4} ± {error:.4} per \
             transition, expected at most {nothing:.4}; no model is written. "
        );
        let way = message!(
            ". ",
            Opt("predictor"),
            " auto chooses what suits the data, and frequencies where nothing does"
        );
        Err(Error::Data(Message::from(said).and(cause()).and(way)))
    }
}

fn compared(instances: &[Instance], predictor: &Predictor, row: &Array3<f64>) -> Compared {
    let arms: Vec<(usize, usize)> = instances
        .iter()
        .enumerate()
        .flat_map(|(k, instance)| (0..instance.arms()).map(move |i| (k, i)))
        .collect();
    let mut groups = vec![[0.0; 3]; GROUPS.min(arms.len())];
    for (group, sums) in groups.iter_mut().enumerate() {
        for (k, instance) in instances.iter().enumerate() {
            let own = arms.iter().skip(group).step_by(GROUPS).filter(|(of, _)| *of == k).map(|(_, i)| *i);
            let own: Vec<usize> = own.collect();
            if own.is_empty() {
                continue;
            }
            let some = instance.select_arms(&own);
            let record = Record::new(&some);
            let seen = record.total();
            if seen == 0.0 {
                continue;
            }
            let loss = |p: ndarray::Array4<f64>| seen * record.loss(p.view()).per_transition;
            let [found, nothing] = [predictor.predict(some.features()), alike(row, own.len())].map(loss);
            *sums = [sums[0] + found, sums[1] + nothing, sums[2] + seen];
        }
    }
    Compared::new(&groups)
}

/// −ln P of a transition of validation arms under the frequencies of training arms.
pub(crate) fn frequencies_loss(train: &[Instance], validation: &[Instance]) -> Option<f64> {
    let records: Vec<Record> = train.iter().map(Record::new).collect();
    let row = frequencies(&records.iter().collect::<Vec<_>>());
    let predictions: Vec<_> = validation.iter().map(|instance| alike(&row, instance.arms())).collect();
    let views: Vec<_> = predictions.iter().map(|p| p.view()).collect();
    (!validation.is_empty()).then(|| loss(validation, &views).per_transition).filter(|loss| loss.is_finite())
}
