//! A person's numbers do not depend on who stands in the same batch: pieces of any size, of arms in any order, give the bits of the whole.

use crate::arms::{KINDS, Kind, Random, random, reward, transitions};
use crate::planning_programme::Owned;
use ndarray::{Array, Array2, Array3, Array4, Axis, Dimension, RemoveAxis};
use rand::RngExt;
use rand::seq::SliceRandom;
use restive::belief::{Belief, Chain, Observation, beliefs};
use restive::evaluation::Record;
use restive::history::{Carry, Gauss, Past, Rule};
use restive::index::whittle_index;
use restive::instance::{Logged, Trajectories};
use restive::planning::{Ending, bound, first_advantages, spent, worths};
use restive::predictor::{
    Architecture, BaseKind, Ensemble, Logistic, Network, Penalties, Precision, Predictor, PredictorKind,
    Scaling,
};
use restive::sum::ExactSum;

/// More than a chunk of any kernel's, and no multiple of a vector's lanes.
const ARMS: usize = 2_061;
const SIZES: [usize; 4] = [1, 3, 7, 1_000];

/// `whole` holds for all arms what `of(arms)` computes for some of them, first axis arms.
fn check<D: Dimension + RemoveAxis>(
    whole: &Array<f64, D>,
    random: &mut Random,
    what: &str,
    of: impl Fn(&[usize]) -> Array<f64, D>,
) {
    let mut order: Vec<usize> = (0..whole.len_of(Axis(0))).collect();
    for size in SIZES {
        order.shuffle(random);
        for arms in order.chunks(size) {
            let (found, expected) = (of(arms), whole.select(Axis(0), arms));
            let is_same = found.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits());
            assert!(found.dim() == expected.dim() && is_same, "{what}, {size} at a time: {arms:?}");
        }
    }
}

/// Some arms of a programme.
fn some(owned: &Owned, arms: &[usize]) -> Owned {
    Owned {
        transition: owned.transition.select(Axis(0), arms),
        belief: owned.belief.as_ref().map(|belief| Belief::new(belief.view().select(Axis(0), arms))),
        reward: owned.reward.select(Axis(0), arms),
        discount: owned.discount,
        horizon: owned.horizon,
        ending: owned.ending,
        group: owned.group.as_ref().map(|group| arms.iter().map(|i| group[*i]).collect()),
        budget: owned.budget.clone(),
        presence: owned.presence.as_ref().map(|presence| arms.iter().map(|i| presence[*i].clone()).collect()),
        initial: owned.initial.select(Axis(0), arms),
    }
}

/// Programmes of two and five states and of chains, with groups and with arms that come and go.
fn programmes(random: &mut Random) -> Vec<Owned> {
    let mut made = Vec::new();
    for (m, has_chains) in [(2, false), (5, false), (2, true), (3, true)] {
        for is_plain in [true, false] {
            let mut owned = Owned::plain(ARMS, m, 7, 100.0, random);
            if has_chains {
                let belief = beliefs(owned.transition.view(), 3).belief;
                owned.reward = belief.reward(reward(m, true, random).view());
                owned.initial = Array2::from_shape_simple_fn((ARMS, 3 * m), || random.random::<f64>());
                owned.belief = Some(belief);
            }
            if !is_plain {
                owned.ending = Ending::State;
                owned.group = Some((0..ARMS).map(|_| random.random_range(0..3)).collect());
                owned.budget = vec![40.0, 0.0, 7.5];
                owned.presence =
                    Some((0..ARMS).map(|_| random.random_range(0..8)..random.random_range(0..9)).collect());
                owned.reward.mapv_inplace(|r| r + random.random::<f64>());
            }
            made.push(owned);
        }
    }
    made
}

#[test]
fn worths_and_advantages_are_those_of_each_arm_alone_and_bounds_of_all_in_any_pieces() {
    let mut random = random(401);
    for owned in programmes(&mut random) {
        let shape = (owned.budget.len(), owned.horizon);
        let price = Array2::from_shape_simple_fn(shape, || random.random::<f64>() * 0.3);
        let (programme, initial) = (owned.programme(), owned.initial.view());
        let whole = Array::from_vec(worths(&programme, initial, price.view()));
        assert!(whole.iter().filter(|x| **x != 0.0).count() > ARMS / 3);
        check(&whole, &mut random, "worths", |arms| {
            let some = some(&owned, arms);
            Array::from_vec(worths(&some.programme(), some.initial.view(), price.view()))
        });
        let first = first_advantages(&programme, price.view());
        check(&first, &mut random, "advantages", |arms| {
            first_advantages(&some(&owned, arms).programme(), price.view())
        });
        // one sum of many
        let found = bound(&programme, initial, price.view());
        let mut order: Vec<usize> = (0..ARMS).collect();
        order.shuffle(&mut random);
        let mut all = ExactSum::default();
        all.add(spent(&some(&owned, &[5]).programme(), price.view()));
        for arms in order.chunks(300) {
            let some = some(&owned, arms);
            all.merge(&worths(&some.programme(), some.initial.view(), price.view()).into_iter().collect());
        }
        assert_eq!(all.value().to_bits(), found.to_bits());
        let moved = some(&owned, &order);
        let moved = bound(&moved.programme(), moved.initial.view(), price.view());
        assert_eq!(moved.to_bits(), found.to_bits());
    }
}

#[test]
fn indices_are_those_of_each_arm_alone() {
    let mut random = random(402);
    for (m, arms) in [(2, ARMS), (5, 1_100)] {
        for kind in KINDS {
            let (p, reward) = (transitions(kind, arms, m, &mut random), reward(m, true, &mut random));
            let of = |p: &Array4<f64>| {
                let found = whittle_index(p.view(), reward.view(), 0.95, Observation::Full);
                let status = Array::from_iter(found.status.iter().map(|status| *status as u8 as f64));
                let rest = [found.residual.insert_axis(Axis(1)), status.insert_axis(Axis(1))];
                let all = [found.index.view(), found.last.view(), rest[0].view(), rest[1].view()];
                ndarray::concatenate(Axis(1), &all).unwrap()
            };
            check(
                &of(&p),
                &mut random,
                &format!("{m} states, {kind:?}"),
                |arms| of(&p.select(Axis(0), arms)),
            );
        }
    }
    let (p, reward) = (transitions(Kind::Dense, 300, 2, &mut random), reward(2, false, &mut random));
    let chain = Observation::Collapsing(Chain::Finite(6));
    let of = |p: &Array4<f64>| whittle_index(p.view(), reward.view(), 0.9, chain).index;
    check(&of(&p), &mut random, "collapsing", |arms| of(&p.select(Axis(0), arms)));
}

#[test]
fn predictions_are_those_of_each_person_alone() {
    let mut random = random(403);
    let network = |hidden: &[usize]| PredictorKind::Network { hidden: hidden.to_vec(), dropout: 0.0 };
    let effect = PredictorKind::Effect { precision: Precision::DEFAULT };
    let hierarchical = PredictorKind::Hierarchical { penalties: Penalties::Fixed([1.0, 2.0, 3.0]) };
    // one feature, a few, and more than matrix products take at once
    for (f, m) in [(1, 2), (17, 2), (9, 3), (300, 2)] {
        let features = Array2::from_shape_simple_fn((ARMS, f), || random.random::<f64>() * 2.0 - 1.0);
        let scaling = Scaling { shift: vec![0.1; f], scale: vec![0.7; f] };
        let base = |kind: &PredictorKind, weight| BaseKind {
            kind: kind.clone(),
            weight,
            scaling: Some(scaling.clone()),
            fits: 2,
        };
        let pool = PredictorKind::Pool { bases: vec![base(&effect, 0.4), base(&network(&[5]), 0.6)] };
        let kinds =
            [network(&[]), network(&[64]), network(&[13, 6]), effect.clone(), hierarchical.clone(), pool];
        let mut members = Vec::new();
        for kind in kinds {
            let what = format!("{f} features, {m} states, {kind:?}");
            let mut one = Predictor::new(&Architecture { features: f, states: m, kind }, 3).unwrap();
            one.update(|params| params.iter_mut().for_each(|x| *x += 0.3 * (random.random::<f64>() - 0.5)));
            check(&one.predict(features.view()), &mut random, &what, |arms| {
                one.predict(features.select(Axis(0), arms).view())
            });
            members.push(one);
        }
        let ensemble = Ensemble { members };
        check(&ensemble.predict(features.view()), &mut random, "ensemble", |arms| {
            ensemble.predict(features.select(Axis(0), arms).view())
        });
        // rows that lie apart in memory, and those of a matrix in columns
        let columns = features.t().as_standard_layout().into_owned().reversed_axes();
        let network = Network::new(f, m, &[64], 0.0, 3).unwrap();
        check(&network.predict(features.view()), &mut random, "by columns", |arms| match arms.len() {
            1_000 => network.predict(columns.select(Axis(0), arms).view()),
            _ => network.predict(features.select(Axis(0), arms).view()),
        });
        let mut model = Logistic::new(f, m, Precision::DEFAULT).unwrap();
        model.flat_mut().iter_mut().for_each(|x| *x = random.random::<f64>() - 0.5);
        let by_columns = model.predict(columns.view());
        check(&by_columns, &mut random, "by columns", |arms| {
            model.predict(features.select(Axis(0), arms).view())
        });
    }
}

/// A log of arms that move as they like.
fn log(arms: usize, m: usize, random: &mut Random) -> Trajectories {
    let state = Array3::from_shape_simple_fn((2, 9, arms), || random.random_range(0..m as u16));
    let action = Array3::from_shape_simple_fn((2, 9, arms), || u8::from(random.random_bool(0.3)));
    Trajectories::new(Logged { state, action, propensity: None, reward: None, available: None }, m).unwrap()
}

#[test]
fn what_a_record_makes_of_a_prediction_is_that_of_each_person_alone() {
    let mut random = random(404);
    let carry = |rho| Rule::Carry(Carry { strength: [7.0, 11.0], rho });
    let covariance =
        [[0.6, 0.1, 0.05, 0.0], [0.1, 0.5, 0.0, 0.1], [0.05, 0.0, 0.2, 0.02], [0.0, 0.1, 0.02, 0.3]];
    let offset = [0.1, -0.2, 0.05, 0.3];
    let gauss = Gauss { offset, slope: 0.9, first: 0.4, mean_first: 0.45, covariance };
    for (m, rule) in [(2, Rule::Alone), (2, carry(0.6)), (3, carry(1.0)), (2, Rule::Gauss(gauss))] {
        let (log, prediction) = (log(ARMS, m, &mut random), transitions(Kind::Dense, ARMS, m, &mut random));
        let of = |arms: &[usize]| {
            let past = Past::new(&log.select_arms(arms), Observation::Full);
            rule.apply(&past, prediction.select(Axis(0), arms).view()).unwrap().view().to_owned()
        };
        let all: Vec<usize> = (0..ARMS).collect();
        check(&of(&all), &mut random, &format!("{rule:?}, {m} states"), of);
    }
    // seen at pulls only, most of them soon after another: chains are as long as the latest sighting of a batch
    let chain = Chain::Finite(5);
    let seen = Array3::from_shape_fn((300, 10, 2), |(i, label, _)| match label % 5 {
        h if h > i % 7 => 0.0,
        _ => f64::from(random.random_range(0..4u8)),
    });
    let prediction = transitions(Kind::Dense, 300, 2, &mut random);
    let of = |arms: &[usize]| {
        let record = Record::Sightings { seen: seen.select(Axis(0), arms), chain, trajectories: 1 };
        let past = Past { record, first: vec![None; arms.len()] };
        carry(0.6).apply(&past, prediction.select(Axis(0), arms).view()).unwrap().view().to_owned()
    };
    let all: Vec<usize> = (0..300).collect();
    check(&of(&all), &mut random, "sightings", of);
}
