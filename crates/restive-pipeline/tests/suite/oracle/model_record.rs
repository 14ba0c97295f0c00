//! A model as JSON: predictions of some arms, weights, card and warnings.

use ndarray::Axis;
use restive::data::encoding::{ColumnKind, Standardise};
use restive::data::reference::Typical;
use restive_pipeline::{Applied, Trained};
use restive_tables::Study;
use restive_tables::model::history::PartLoss;
use serde_json::{Value, json};
use std::path::Path;

/// Arms of each instance whose predictions are recorded.
const ARMS: usize = 10;

/// Longest list of numbers that is recorded in full.
const LISTED: usize = 16;

/// Relative tolerance of numbers of logistic models. A search for the value of own records ends at about 10⁻⁶ of its result; means and
/// standard deviations are exact to the recorded digits.
pub fn tolerance(place: &str) -> f64 {
    match place {
        _ if place.starts_with(".own_record") => 1e-6,
        _ if place.starts_with(".columns") || place.starts_with(".reference") => 1e-11,
        _ => 1e-9,
    }
}

/// Relative tolerance of numbers of networks and pools: Adam divides by the root of squared gradients, so that rounding errors grow with
/// each epoch.
pub fn tolerance_of_epochs(place: &str) -> f64 {
    tolerance(place).max(1e-7)
}

/// Record of a model that was trained on the study of a folder, with the warnings of the training.
pub fn record(trained: &Trained, warnings: &[String], folder: &Path) -> Value {
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
    let reference = card.reference.as_ref().unwrap().columns.iter().map(|typical| match typical {
        Typical::Number(mean) => json!(mean),
        Typical::Category(category) => json!(category),
        Typical::NoneOfTheKnown => Value::Null,
    });
    let loss = card.history.loss.unwrap();
    let part = |loss: Option<PartLoss>| {
        loss.map(|loss| json!([loss.transitions, loss.per_transition, loss.per_trajectory]))
    };
    json!({
        "predictions": predictions,
        "columns": columns.collect::<Vec<_>>(),
        "encoding": [json!(card.encoding.standardise == Standardise::Yes), json!(card.encoding.dropped)],
        "reference": reference.collect::<Vec<_>>(),
        "losses": [part(loss.train), part(loss.validation), part(loss.test), json!(loss.frequencies)],
        "members": with_sums(json!(card.history.members)),
        "predictor": with_sums(json!(card.predictor)),
        "weights": with_sums(json!(trained.model.weights)),
        "own_record": card.own_record,
        "configuration": card.configuration,
        "seed": card.seed,
        "fingerprint": card.fingerprint,
        "notes": card.notes,
        "warnings": warnings,
    })
}

/// Replaces each long list of numbers by its length and three sums: of the numbers, of their squares, and of their products with their
/// positions from 1.
fn with_sums(value: Value) -> Value {
    match value {
        Value::Array(all) => {
            let numbers: Option<Vec<f64>> = all.iter().map(Value::as_f64).collect();
            match numbers.filter(|numbers| numbers.len() > LISTED) {
                Some(numbers) => {
                    let sum = |term: fn((usize, &f64)) -> f64| numbers.iter().enumerate().map(term).sum();
                    let sums: [f64; 3] =
                        [sum(|(_, x)| *x), sum(|(_, x)| x * x), sum(|(k, x)| (k + 1) as f64 * x)];
                    json!({ "count": numbers.len(), "sums": sums })
                }
                None => all.into_iter().map(with_sums).collect(),
            }
        }
        Value::Object(all) => all.into_iter().map(|(key, value)| (key, with_sums(value))).collect(),
        value => value,
    }
}

/// One number of a long list, or the order of two, changes the record.
#[test]
fn sums_depend_on_each_number_and_the_order() {
    let numbers: Vec<f64> = (0..40).map(|k| f64::from(k * k % 23)).collect();
    let record = with_sums(json!({ "layer": [["weight", [40], numbers]] }));
    assert_eq!(record["layer"][0][2]["count"], 40);
    let (mut changed, mut swapped) = (numbers.clone(), numbers.clone());
    changed[7] += 1e-3;
    swapped.swap(3, 30);
    for other in [changed, swapped] {
        assert_ne!(with_sums(json!({ "layer": [["weight", [40], other]] })), record);
    }
    assert_eq!(with_sums(json!([1.5, 2.5])), json!([1.5, 2.5]));
}
