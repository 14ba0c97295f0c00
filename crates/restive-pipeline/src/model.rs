//! Trained predictors to and from their folder on disk.
//!
//! The card's `predictor` says how to build an untrained predictor (kind, sizes, members of the ensemble), the weights are
//! its named parameters, `member_K.BLOCK` for every member K. A model that does not fit what its card says is refused.

use crate::error::{Error, Result, refuse};
use ndarray::{ArrayD, IxDyn};
use restive::predictor::{Architecture, BaseKind, Ensemble, Predictor, PredictorKind};
use restive_tables::model::{Model, Weights};
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
        Self::new(Model::read(folder)?).map_err(Error::at(folder.display().to_string()))
    }
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
    let Some(architecture) = card.architecture() else {
        refuse!("card: predictor: found no precision, expected precision or precision_cap");
    };
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
    // what a card claims is not made before it is known that the weights are there
    let weights = model.weights.iter().map(|(.., numbers)| numbers.len() as f64).sum::<f64>();
    let claimed = parameters(&architecture);
    if claimed > weights {
        refuse!(
            "card: predictor: found {claimed} parameters of a member, expected at most the {weights} of all weights"
        );
    }
    let member = |k: usize| -> Result<Predictor> {
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
    let members = (0..card.members).map(member).collect::<Result<Vec<_>>>()?;
    if members.is_empty() {
        refuse!("card: predictor.members: found 0, expected at least 1");
    }
    Ok(Ensemble { members })
}

/// No more than the parameters of a predictor: of a network the weights and biases of its layers, of a pool those of all its fits,
/// otherwise one for each feature.
pub(crate) fn parameters(architecture: &Architecture) -> f64 {
    let Architecture { features, states, kind } = architecture;
    match kind {
        PredictorKind::Network { hidden, .. } => {
            let mut widths = vec![*features as f64];
            widths.extend(hidden.iter().map(|units| *units as f64));
            widths.push(2.0 * (*states as f64).powi(2));
            widths.windows(2).map(|pair| (pair[0] + 1.0) * pair[1]).sum()
        }
        PredictorKind::Effect { .. } | PredictorKind::Hierarchical { .. } => *features as f64,
        PredictorKind::Pool { bases } => {
            let one = |base: &BaseKind| {
                let own = Architecture { kind: base.kind.clone(), ..architecture.clone() };
                base.fits as f64 * parameters(&own).max(1.0)
            };
            bases.iter().map(one).sum()
        }
    }
}
