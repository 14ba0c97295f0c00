//! Nothing worse than nothing: a model must predict arms that it has not learnt from better than the bare frequencies of moves do.
//!
//! Frequencies know nobody: from each state, pulled or not, every arm moves as the training arms did together. Whoever predicts
//! worse than that has learnt something that is not so, and a list made with it is worse than one drawn by lot. Such a model is
//! not written; the error names the likeliest cause. (`auto` compares out of fold, and falls back to the frequencies by itself;
//! the profiles published and paper are written as they are, because they are meant to be what was published.)

use crate::error::{Error, Result};
use crate::loss::loss;
use crate::message::{Message, Opt, message};
use crate::train::Training;
use crate::words::counted;
use restive::Instance;
use restive::evaluation::{Record, alike, frequencies};
use restive::predictor::is_uneven;
use restive::training::{Finished, Fitted, Method, Status};
use restive_tables::model::configuration::Profile;

impl Training {
    /// Refuses a fit by likelihood that held-out arms refute.
    pub(crate) fn refuse_worse_than_nothing(&self, trained: &Finished) -> Result<()> {
        let [train, validation, _] = &self.parts;
        let is_by_likelihood = matches!(self.method, Method::TwoStage(_) | Method::Recommended(_));
        let configuration = &self.card.configuration;
        let is_judged = is_by_likelihood && trained.choice.is_none() && !validation.is_empty();
        if !is_judged || configuration.profile != Profile::Recommended {
            return Ok(());
        }
        // what training through the decision began with
        let first = trained.selection.as_ref().map_or(&trained.fitted, |(_, two_stage)| two_stage);
        let found = held_out(validation, |instance| first.predictor.predict(instance.features()));
        let records: Vec<Record> = train.iter().map(Record::new).collect();
        let row = frequencies(&records.iter().collect::<Vec<_>>());
        let nothing = held_out(validation, |instance| alike(&row, instance.arms()));
        // written so that what is no number is worse; without a transition nobody can tell
        if nothing.is_nan() || found <= nothing {
            return Ok(());
        }
        let name = configuration.predictor;
        let said = format!(
            "the {name} model predicts validation arms worse than the bare frequencies of moves: found a loss of {found:.4} per \
             transition, expected below {nothing:.4}; no model is written. "
        );
        let cause = self.cause(first, &records);
        let way = message!(
            "; ",
            Opt("predictor"),
            " auto chooses what suits the data, and frequencies where nothing does"
        );
        Err(Error::Data(Message::from(said).and(cause).and(way)))
    }

    /// The likeliest reason.
    fn cause(&self, fitted: &Fitted, records: &[Record]) -> Message {
        let [train, ..] = &self.parts;
        let features: Vec<_> = train.iter().map(Instance::features).collect();
        let seen = records.iter().map(Record::total).sum::<f64>();
        let parameters = fitted.predictor.flat().len();
        if fitted.status == Status::Diverged {
            return message!("Training diverged; a lower ", Opt("learning-rate"), " may not");
        }
        if is_uneven(&features) {
            return message!(
                "Features differ in size as rupees and years do; ",
                Opt("standardise"),
                " yes evens them out"
            );
        }
        let is_falling = fitted.history.last().is_some_and(|epoch| epoch.is_best);
        if fitted.status == Status::Completed && is_falling {
            let epochs = counted(fitted.history.len() as u64, "epoch");
            return message!(
                format!("The loss was still falling after {epochs}; give it more "),
                Opt("epochs")
            );
        }
        if seen < parameters as f64 {
            let seen = counted(seen as u64, "transition");
            return format!("There are too few transitions: {seen} for {parameters} parameters").into();
        }
        "Perhaps states and actions of a row belong to different steps, or features to other arms: see that every table speaks of \
         the same arms and weeks"
            .into()
    }
}

/// −ln P of a transition of some instances.
fn held_out(instances: &[Instance], predict: impl Fn(&Instance) -> ndarray::Array4<f64>) -> f64 {
    let predictions: Vec<_> = instances.iter().map(predict).collect();
    loss(instances, &predictions.iter().map(|p| p.view()).collect::<Vec<_>>()).per_transition
}
