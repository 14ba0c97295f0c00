//! The rankings that are judged: tables of Whittle indices, `[N,M]` for every judged group.
//!
//! | ranking | from | discount of its index |
//! |---|---|---|
//! | `single-effect`, `single-linear`, `single-network` | each to convergence | 1 − 1/H |
//! | `auto` | several, of which folds choose; in folds, of the first [worlds](WORLDS_WITH_AUTO) only | 1 − 1/H |
//! | `decision-focused` | as published | 0.99 |
//! | `wrong-people` | the effect model, dealt to others of the group, other ones in every log | 1 − 1/H |
//! | `oracle-matched` | the true transitions | 1 − 1/H |

use super::logs::shuffled;
use super::regimes::Setup;
use crate::experiment::quality::singles::single;
use crate::{Method, PUBLISHED_DISCOUNT, learn};
use ndarray::{Array2, ArrayView4, Axis};
use restive::Instance;
use restive::index::whittle_index;
use restive::predictor::Predictor;
use restive::random::Random;
use restive::training::Method as Training;
use restive_pipeline::Profile;

/// In the order of the tables.
pub(super) const RANKINGS: [Method; 7] = [
    Method::SingleEffect,
    Method::SingleLinear,
    Method::SingleNetwork,
    Method::Auto,
    Method::DecisionFocused,
    Method::WrongPeople,
    Method::OracleMatched,
];

/// Worlds in whose folds `auto` is trained: it takes as long as all the others.
pub(super) const WORLDS_WITH_AUTO: usize = 10;

/// A table for every judged group.
pub(super) struct Ranked {
    pub(super) method: Method,
    pub(super) tables: Vec<Array2<f64>>,
}

/// Trained on some people.
pub(super) struct Trained(Vec<(Method, Predictor)>);

impl Trained {
    /// `world` counts the worlds of a regime.
    pub(super) fn new(
        setup: &Setup,
        both: [&[Instance]; 2],
        seed: u64,
        world: usize,
    ) -> restive::Result<Self> {
        let config = setup.problem.recipe(both[0], seed).two_stage;
        let mut found = Vec::new();
        for method in [Method::SingleEffect, Method::SingleLinear, Method::SingleNetwork] {
            found.push((method, single(method, &config, both)?));
        }
        if setup.logs.is_some() || world < WORLDS_WITH_AUTO {
            let auto = learn::train(Training::Auto(config), both, |_| ())?;
            found.push((Method::Auto, auto.fitted.predictor));
        }
        let (config, decision) = setup.problem.as_published(Profile::Published, seed);
        let focused = learn::train(Training::DecisionFocused(config, decision, None), both, |_| ())?;
        found.push((Method::DecisionFocused, focused.fitted.predictor));
        Ok(Self(found))
    }

    /// Their tables for a group, in the order of training.
    pub(super) fn tables(&self, setup: &Setup, group: &Instance) -> Vec<(Method, Array2<f64>)> {
        let table = |(method, predictor): &(Method, Predictor)| {
            let discount = match method {
                Method::DecisionFocused => PUBLISHED_DISCOUNT,
                _ => matched(setup),
            };
            (*method, index(group, predictor.predict(group.features()).view(), discount))
        };
        self.0.iter().map(table).collect()
    }
}

/// The ranking by who knows everything.
pub(super) fn oracle(setup: &Setup, group: &Instance) -> Array2<f64> {
    let truth = group.truth().expect("synthetic instances know their truth").view();
    index(group, truth, matched(setup))
}

/// The ranking with each person's indices given to another.
pub(super) fn wrong_people(ranked: &Ranked, random: &mut Random) -> Ranked {
    let dealt = |table: &Array2<f64>| table.select(Axis(0), &shuffled((0..table.nrows()).collect(), random));
    Ranked { method: Method::WrongPeople, tables: ranked.tables.iter().map(dealt).collect() }
}

fn matched(setup: &Setup) -> f64 {
    Method::OracleMatched.index_discount(setup.horizon())
}

fn index(group: &Instance, transition: ArrayView4<'_, f64>, discount: f64) -> Array2<f64> {
    whittle_index(transition, group.reward().view(), discount, group.observation()).index
}
