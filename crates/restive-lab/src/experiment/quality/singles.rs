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
    let methods = [Method::SingleLinear, Method::SingleEffect, Method::SingleHierarchical];
    let is_suited =
        |method: &Method| *method == Method::SingleLinear || both[0][0].observation() == Observation::Full;
    let train = |method| single(method, config, both).map(|predictor| (method, predictor));
    methods.into_iter().filter(is_suited).map(train).collect()
}

/// One of them, or the network.
pub(in crate::experiment) fn single(
    method: Method,
    config: &Config,
    both: [&[Instance]; 2],
) -> Result<Predictor> {
    let train = |kind: PredictorKind, both: [&[Instance]; 2]| {
        let method = Training::TwoStage(Config { kind, ..config.clone() });
        learn::train(method, both, |_| ()).map(|finished| finished.fitted.predictor)
    };
    let kind = match method {
        Method::SingleNetwork => return train(config.kind.clone(), both),
        Method::SingleLinear => {
            return train(PredictorKind::Network { hidden: vec![], dropout: 0.0 }, both);
        }
        Method::SingleEffect => PredictorKind::Effect { precision: Precision::DEFAULT },
        Method::SingleHierarchical => PredictorKind::Hierarchical { penalties: Penalties::Evidence },
        other => unreachable!("{} is no single predictor", other.name()),
    };
    let features: Vec<_> = both[0].iter().map(Instance::features).collect();
    let scaling = Scaling::learn(&features);
    let scaled = |instance: &Instance| instance.clone().with_features(scaling.apply(instance.features()));
    let scaled = |instances: &[Instance]| instances.iter().map(scaled).collect::<Result<Vec<Instance>>>();
    let [scaled_train, scaled_validation] = [scaled(both[0])?, scaled(both[1])?];
    let fits = vec![train(kind, [&scaled_train, &scaled_validation])?];
    let base = Base { weight: 1.0, scaling: Some(scaling), fits };
    Ok(Predictor::Pool(Pool::new(vec![base])?))
}
