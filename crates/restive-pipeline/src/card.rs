//! How a training went, for the card of its model, and what should be known of it.

use crate::words::counted;
use restive::Instance;
use restive::data::split::Part;
use restive::evaluation::Record;
use restive::predictor::Ensemble;
use restive::training::{EpochReport, Fitted, Status};
use restive_tables::model::Card;
use serde_json::{Value, json};

fn status(status: Status) -> &'static str {
    match status {
        Status::Running => "running",
        Status::Completed => "completed",
        Status::StoppedEarly => "stopped early",
        Status::Diverged => "diverged",
        Status::Converged => "converged",
        Status::NotConverged => "not converged",
    }
}

/// How one fit went, for the card.
pub fn member_history(seed: u64, fitted: &Fitted) -> Value {
    let mut all = history(fitted);
    all["seed"] = seed.into();
    all
}

/// The epochs of a training. `kept_epoch` is null where the initial parameters were kept.
pub fn history(fitted: &Fitted) -> Value {
    let column = |of: fn(&EpochReport) -> Option<f64>| fitted.history.iter().map(of).collect::<Vec<_>>();
    let mut all = json!({
        "status": status(fitted.status),
        "kept_epoch": fitted.history.iter().rposition(|epoch| epoch.is_best),
        "train_loss": column(|epoch| Some(epoch.train_loss)),
        "validation_loss": column(|epoch| epoch.validation_loss),
        "learning_rate": column(|epoch| Some(epoch.learning_rate)),
    });
    if fitted.history.iter().any(|epoch| epoch.train_value.is_some()) {
        all["train_value"] = column(|epoch| epoch.train_value).into();
    }
    all
}

/// The losses of each part under the finished ensemble: per trajectory, the mean over instances as published; per
/// transition (or sighting, where states are seen at pulls only), over all of them. A part without arms has none.
pub fn losses(ensemble: &Ensemble, parts: &[Vec<Instance>; 3]) -> Value {
    let mut all = json!({});
    for (part, instances) in Part::ALL.iter().zip(parts).filter(|(_, instances)| !instances.is_empty()) {
        let (mean, total, seen) = loss(ensemble, instances);
        all[part.name()] =
            json!({"per_trajectory": mean, "per_transition": total / seen, "transitions": seen as u64});
    }
    all
}

/// The loss of some instances: per trajectory, the mean over instances; in all; and the transitions (or sightings) in it.
pub fn loss(ensemble: &Ensemble, instances: &[Instance]) -> (f64, f64, f64) {
    let (mut mean, mut total, mut seen) = (0.0, 0.0, 0.0);
    for instance in instances {
        let record = Record::new(instance);
        let transition = ensemble.predict(instance.features());
        let loss = record.loss(transition.view()).per_trajectory;
        mean += loss / instances.len() as f64;
        total += loss * instance.trajectories().trajectories() as f64;
        seen += record.total();
    }
    (mean, total, seen)
}

/// What should be known before a finished training is trusted.
pub fn warnings(card: &Card) -> Vec<String> {
    let mut warnings = Vec::new();
    let members = card.history["members"].as_array().cloned().unwrap_or_default();
    let count = |status: &str| members.iter().filter(|member| member["status"] == status).count();
    if count("diverged") > 0 {
        warnings.push(format!(
            "{} of {} diverged: the last parameters with a finite loss were kept; try a lower --learning-rate",
            count("diverged"),
            counted(members.len() as u64, "fit")
        ));
    }
    if count("not converged") > 0 {
        warnings.push("the effect model did not converge: its parameters are not the best ones".into());
    }
    let configuration = &card.configuration;
    if configuration["split"]["validation"]["arms"] == 0 && configuration["keep"] == "best" {
        warnings.push("no validation part: the last epoch was kept, nothing says when to stop".into());
    }
    // a loss that is no finite number is null in the card
    let loss = card.history["loss"]["train"]["per_transition"].as_f64().unwrap_or(f64::INFINITY);
    let blind = card.predictor["states"].as_f64().unwrap_or(f64::NAN).ln();
    if loss > blind {
        let advice = match configuration["standardise"] == false {
            true => "; try --standardise yes",
            false => "",
        };
        warnings.push(format!(
            "the training loss per {}, {loss:.3}, is above {blind:.3}, that of knowing nothing{advice}",
            counted_thing(configuration)
        ));
    }
    warnings
}

/// What the loss counts: transitions, or sightings where states are seen at pulls only.
pub fn counted_thing(configuration: &Value) -> &'static str {
    if configuration["observation"] == "collapsing" { "sighting" } else { "transition" }
}
