//! The other single predictors, each to convergence: what one would have to choose among without folds that do.
//!
//! The effect model and the hierarchical one are given standardised numbers, and columns of zeros and ones as they are. Both are
//! fitted to moves: where states are seen at pulls only there is the linear predictor alone.

use crate::{Method, learn};
use restive::instance::Observation;
use restive::predictor::{Base, Penalties, Pool, Precision, Predictor, PredictorKind, Scaling};
use restive::training::{Config, Method as Training};
use restive::{Instance, Result};

/// Those that suit some instances, trained with the settings of the network; whoever has them need not scale features.
pub(super) fn singles(config: &Config, both: [&[Instance]; 2]) -> Result<Vec<(Method, Predictor)>> {
    let train = |kind: PredictorKind, both: [&[Instance]; 2]| {
        let method = Training::TwoStage(Config { kind, ..config.clone() });
        learn::train(method, both, |_| ()).map(|finished| finished.fitted.predictor)
    };
    let linear = PredictorKind::Network { hidden: vec![], dropout: 0.0 };
    let mut found = vec![(Method::SingleLinear, train(linear, both)?)];
    if both[0][0].observation() != Observation::Full {
        return Ok(found);
    }
    let features: Vec<_> = both[0].iter().map(Instance::features).collect();
    let scaling = Scaling::learn(&features);
    let scaled = |instance: &Instance| instance.clone().with_features(scaling.apply(instance.features()));
    let scaled = |instances: &[Instance]| instances.iter().map(scaled).collect::<Result<Vec<Instance>>>();
    let [scaled_train, scaled_validation] = [scaled(both[0])?, scaled(both[1])?];
    let effect = PredictorKind::Effect { precision: Precision::DEFAULT };
    let hierarchical = PredictorKind::Hierarchical { penalties: Penalties::Evidence };
    for (method, kind) in [(Method::SingleEffect, effect), (Method::SingleHierarchical, hierarchical)] {
        let fits = vec![train(kind, [&scaled_train, &scaled_validation])?];
        let base = Base { weight: 1.0, scaling: Some(scaling.clone()), fits };
        found.push((method, Predictor::Pool(Pool::new(vec![base])?)));
    }
    Ok(found)
}
