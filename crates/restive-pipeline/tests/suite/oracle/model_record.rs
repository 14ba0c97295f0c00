//! A model as JSON: predictions of some arms, losses, penalties, encoding and the value of own records.

use ndarray::Axis;
use restive::data::encoding::ColumnKind;
use restive_pipeline::{Applied, Trained};
use restive_tables::Study;
use restive_tables::model::history::PartLoss;
use restive_tables::model::own_record::WrittenRule;
use restive_tables::model::{OwnRecord, WrittenPredictor};
use serde_json::{Value, json};
use std::path::Path;

/// Arms of each instance whose predictions are recorded.
const ARMS: usize = 10;

/// Relative tolerance of numbers of logistic models. A search for the value of own records ends at about 10⁻⁶ of its result.
pub fn tolerance(place: &str) -> f64 {
    if place.starts_with(".own_record") { 1e-6 } else { 1e-9 }
}

/// Relative tolerance of numbers of networks and pools: Adam divides by the root of squared gradients, so that rounding errors grow with
/// each epoch.
pub fn tolerance_of_epochs(place: &str) -> f64 {
    if place.starts_with(".own_record") { 1e-6 } else { 1e-7 }
}

/// Record of a model that was trained on the study of a folder.
pub fn record(trained: &Trained, folder: &Path) -> Value {
    let study = Study::read(folder).unwrap();
    let card = &trained.model.card;
    let applied = Applied::new(trained, &study, "the model", "the study").unwrap();
    let mut predictions = Vec::new();
    for (there, prediction) in study.instances.iter().zip(&applied.predictions) {
        let count = ARMS.min(there.arms.len());
        for i in (0..count).map(|k| k * there.arms.len() / count) {
            let rows: Vec<f64> = prediction.view().index_axis(Axis(0), i).iter().copied().collect();
            predictions.push(json!([there.name, there.arms[i], rows]));
        }
    }
    let columns = card.encoding.columns.iter().map(|column| {
        let learnt = match &column.kind {
            ColumnKind::Number { mean, sd } => json!([mean, sd]),
            ColumnKind::Binary { mean } => json!([mean]),
            ColumnKind::Text { categories } => json!(categories),
        };
        json!([column.name, column.has_missing, learnt])
    });
    let loss = card.history.loss.unwrap();
    let part = |loss: Option<PartLoss>| {
        loss.map(|loss| json!([loss.transitions, loss.per_transition, loss.per_trajectory]))
    };
    json!({
        "predictions": predictions,
        "columns": columns.collect::<Vec<_>>(),
        "losses": [part(loss.train), part(loss.validation), part(loss.test)],
        "kind": kind(&card.predictor.kind),
        "own_record": card.own_record.as_ref().map(own_record),
    })
}

fn kind(kind: &WrittenPredictor) -> Value {
    match kind {
        WrittenPredictor::Network { hidden, .. } => json!({ "hidden": hidden }),
        WrittenPredictor::Effect { precision, .. } => json!({ "precision": precision }),
        WrittenPredictor::Hierarchical { penalties } => {
            let penalties = penalties.unwrap();
            json!({ "penalties": [penalties.passive, penalties.common, penalties.by_state] })
        }
        WrittenPredictor::Pool { bases } => {
            bases.iter().map(|base| json!([base.weight, base.fits, self::kind(&base.kind)])).collect()
        }
    }
}

fn own_record(found: &OwnRecord) -> Value {
    let rule = match &found.rule {
        WrittenRule::Carry { passive, active, rho } => json!([passive, active, rho]),
        WrittenRule::Gauss { offset, slope, first, mean_first, covariance } => {
            json!([offset, slope, first, mean_first, covariance])
        }
    };
    let leads = [found.lead, found.lead_at_pulls];
    let leads = leads.map(|lead| lead.map(|lead| [lead.mean, lead.standard_error]));
    json!([rule, found.helps, leads, [found.arms, found.moves, found.pulls]])
}
