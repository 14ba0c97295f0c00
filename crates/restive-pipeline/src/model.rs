//! Trained predictors to and from their folder on disk.
//!
//! The card's `predictor` says how to build an untrained predictor (kind, sizes, members of the ensemble), the weights are
//! its named parameters, `member_K.BLOCK` for every member K. A model that does not fit what its card says is refused.

use crate::error::{Error, Result, refuse};
use ndarray::{ArrayD, IxDyn};
use restive::predictor::effect::Precision;
use restive::predictor::{Architecture, Ensemble, Predictor, PredictorKind};
use restive_tables::model::{Model, Weights};
use serde_json::{Value, json};
use std::path::Path;

/// A trained predictor with the card it came with.
#[derive(Clone)]
pub struct Trained {
    /// the predictors
    pub ensemble: Ensemble,
    /// their card and weights
    pub model: Model,
}

impl Trained {
    /// Rebuilds the predictors of a model.
    pub fn new(model: Model) -> Result<Self> {
        Ok(Self { ensemble: rebuild(&model)?, model })
    }

    /// Reads a model and rebuilds its predictors.
    pub fn read(folder: &Path) -> Result<Self> {
        Self::new(Model::read(folder)?).map_err(Error::at(folder.display()))
    }
}

/// How to build the predictors anew, for the card.
pub fn describe(architecture: &Architecture, members: usize) -> Value {
    let kind = match &architecture.kind {
        PredictorKind::Network { hidden, dropout } => {
            json!({"kind": "network", "hidden": hidden, "dropout": dropout})
        }
        PredictorKind::Effect { precision: Precision::Fixed(precision) } => {
            json!({"kind": "effect", "precision": precision})
        }
        PredictorKind::Effect { precision: Precision::HeldOut { cap } } => {
            json!({"kind": "effect", "precision_cap": cap})
        }
    };
    let mut all =
        json!({"features": architecture.features, "states": architecture.states, "members": members});
    all.as_object_mut().expect("an object").extend(kind.as_object().expect("an object").clone());
    all
}

/// The weights of all members, by name.
pub fn weights(ensemble: &Ensemble) -> Weights {
    let members = ensemble.members.iter().enumerate();
    let named = members.flat_map(|(k, member)| {
        let params = member.params().into_iter();
        params.map(move |(name, block)| {
            (format!("member_{k}.{name}"), block.shape().to_vec(), block.iter().copied().collect())
        })
    });
    named.collect()
}

/// The predictors of a model or of a checkpoint.
pub fn rebuild(model: &Model) -> Result<Ensemble> {
    let card = &model.card.predictor;
    let expected = |what: &str| Error::Data(format!("card: predictor.{what}"));
    let number =
        |name: &str| card[name].as_u64().ok_or_else(|| expected(&format!("{name}: expected a whole number")));
    let real =
        |name: &str| card[name].as_f64().ok_or_else(|| expected(&format!("{name}: expected a number")));
    let kind = match card["kind"].as_str() {
        Some("network") => {
            let hidden = card["hidden"].as_array().ok_or_else(|| expected("hidden: expected a list"))?;
            let width = |h: &Value| {
                h.as_u64().map(|h| h as usize).ok_or_else(|| expected("hidden: expected whole numbers"))
            };
            PredictorKind::Network {
                hidden: hidden.iter().map(width).collect::<Result<_>>()?,
                dropout: real("dropout")?,
            }
        }
        Some("effect") if card["precision"].is_number() => {
            PredictorKind::Effect { precision: Precision::Fixed(real("precision")?) }
        }
        Some("effect") => {
            PredictorKind::Effect { precision: Precision::HeldOut { cap: real("precision_cap")? } }
        }
        other => refuse!("card: predictor.kind: found {other:?}, expected network or effect"),
    };
    let architecture =
        Architecture { features: number("features")? as usize, states: number("states")? as usize, kind };
    let most_states = 1024;
    if !(1..=most_states).contains(&architecture.states) {
        refuse!("card: predictor.states: found {}, expected 1 to {most_states}", architecture.states);
    }
    let encoded = model.card.encoding.width();
    if encoded != architecture.features {
        refuse!(
            "card: the encoding gives {encoded} features, the predictor expects {}",
            architecture.features
        );
    }
    let member = |k: u64| -> Result<Predictor> {
        let mut predictor = Predictor::new(&architecture, 0)?;
        let shapes: Vec<(String, Vec<usize>)> =
            predictor.params().into_iter().map(|(name, block)| (name, block.shape().to_vec())).collect();
        let block = |(name, shape): (String, Vec<usize>)| -> Result<(String, ArrayD<f64>)> {
            let numbers = model.array(&format!("member_{k}.{name}"), &shape)?.to_vec();
            Ok((name, ArrayD::from_shape_vec(IxDyn(&shape), numbers).expect("an array of that shape")))
        };
        let named = shapes.into_iter().map(block).collect::<Result<Vec<_>>>()?;
        predictor.set_params(&named)?;
        Ok(predictor)
    };
    let members = (0..number("members")?).map(member).collect::<Result<Vec<_>>>()?;
    if members.is_empty() {
        refuse!("card: predictor.members: found 0, expected at least 1");
    }
    Ok(Ensemble { members })
}
