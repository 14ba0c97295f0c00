//! Models for the tests to use, trained through the library.

use restive::data::encoding::{Encoding, Standardise};
use restive::data::split::{Group, Split};
use restive::predictor::logistic::Precision;
use restive::predictor::{Predictor, PredictorKind};
use restive::training::{Config, fit};
use restive_tables::Study;
use restive_tables::model::{Card, Configuration, History, Identification, Model, PredictorCard};
use serde_json::json;
use std::path::Path;

/// The seed on the card: it puts an arm of examples/study that misses its age among those learnt from.
pub(crate) const SEED: u64 = 2;

/// Fits the effect model to the training part of a study and writes it; the encoding and the predictor it holds.
pub(crate) fn write_model(study: &Path, folder: &Path) -> (Encoding, Predictor) {
    const PRECISION: f64 = 100.0;
    let study = Study::read(study).unwrap();
    let split = match study.given_split() {
        Some(split) => split.unwrap(),
        None => Split::seeded(&study.arms(), SEED).unwrap(),
    };
    let encoding = Encoding::fit(&study.features(&split.train), Standardise::Yes, &[]).unwrap();
    let instances = study.instances(&encoding).unwrap();
    let part = |groups: &[Group]| groups.iter().map(|group| group.select(&instances)).collect::<Vec<_>>();
    let kind = PredictorKind::Effect { precision: Precision::Fixed(PRECISION) };
    let config = Config { kind, seed: SEED, ..Config::published() };
    let predictor = fit(config, &part(&split.train), &part(&split.validation)).unwrap().predictor;
    let named = predictor.params().into_iter();
    let weights = named.map(|(name, block)| {
        (format!("member_0.{name}"), block.shape().to_vec(), block.iter().copied().collect())
    });
    let card = Card {
        restive: "0.1.0".into(),
        predictor: PredictorCard::new(&predictor.architecture(), 1),
        encoding: encoding.clone(),
        reference: None,
        configuration: configuration(&study),
        seed: SEED,
        fingerprint: study.fingerprint(),
        identification: Identification::Identified,
        history: History::default(),
        own_record: None,
        unobserved_states: Vec::new(),
        notes: String::new(),
    };
    Model { card, weights: weights.collect() }.write(folder, false).unwrap();
    (encoding, predictor)
}

/// What `restive train --predictor effect` would say of itself.
fn configuration(study: &Study) -> Configuration {
    let size = json!({"instances": 0, "arms": 0});
    let is_full = study.settings.observation.chain().is_none();
    serde_json::from_value(json!({
        "objective": "two-stage", "profile": "recommended", "predictor": "effect", "precision": 100.0, "ensemble": 1,
        "seed": SEED, "standardise": true, "drop": [], "index_discount": null,
        "observation": if is_full { "full" } else { "collapsing" },
        "split": {"origin": "seed", "train": size, "validation": size, "test": size},
    }))
    .unwrap()
}
