//! `auto`: the weights of a pool against an independent implementation, and the training that chooses.

use crate::hierarchical::made;
use ndarray::{Array2, Array4};
use restive::Instance;
use restive::data::domain::Domain;
use restive::data::split::{Group, arm_folds};
use restive::instance::Parts;
use restive::predictor::logistic::{Penalties, fit};
use restive::predictor::{Predictor, logs, pooled};
use restive::training::auto::{Auto, BaseName, Outcome, Seen, auto_folds, pool_weights};
use restive::training::{Choice, Config, Fit, Method, Recipe};

/// Three predictions of which the second is noisy and the third knows nothing.
fn predictions(m: usize) -> (Array4<f64>, [Array4<f64>; 3]) {
    let (x, counts) = made(60, 3, m);
    let penalties = Penalties::Fixed([3.0, 20.0, 150.0]);
    let p = fit(x.view(), counts.view(), penalties, None).unwrap().model.predict(x.view());
    let mut noisy = logs(p.view()) * 0.5;
    noisy.iter_mut().enumerate().for_each(|(at, z)| *z += 0.3 * (at as f64).sin());
    let noisy = pooled([(1.0, noisy)]);
    let nothing = Array4::from_elem(p.raw_dim(), 1.0 / m as f64);
    (counts, [p, noisy, nothing])
}

#[test]
fn pool_weights_are_those_of_an_independent_implementation() {
    // weights() and choose() of the reference by which the pool was specified, SciPy's L-BFGS-B, the same data in eight folds
    let golden = [
        (2, [1.003711326765674, 0.0, 0.3333333333333329], 0.003478318847612665, 0.04233262161807189),
        (
            3,
            [1.0744303504111916, 0.02427317580077586, 0.3333333333333334],
            0.2415447024231153,
            0.2834695285537327,
        ),
    ];
    for (m, weights, gain, error) in golden {
        let (counts, all) = predictions(m);
        let reward: Vec<f64> = (0..m).map(|s| s as f64 / (m - 1) as f64).collect();
        let fold = |k: usize| (0..60).filter(|i| i % 8 == k).collect::<Vec<_>>();
        let cut: Vec<(Array4<f64>, Vec<Array4<f64>>)> = (0..8)
            .map(|k| {
                let arms = fold(k);
                let some = |p: &Array4<f64>| p.select(ndarray::Axis(0), &arms);
                (some(&counts), all.iter().map(some).collect())
            })
            .collect();
        let seen = |(counts, p): &(Array4<f64>, Vec<Array4<f64>>)| (counts.clone(), p.clone());
        let owned: Vec<_> = cut.iter().map(seen).collect();
        let groups: Vec<Seen<'_>> = owned
            .iter()
            .map(|(counts, p)| Seen {
                counts: counts.view(),
                predictions: p.iter().map(|p| p.view()).collect(),
            })
            .collect();
        let found = pool_weights(&groups, &reward);
        for (found, golden) in found.weights.iter().zip(weights) {
            // its fit ends at 1e-7 of the objective, its weights at a gradient of 1e-7
            assert!((found - golden).abs() < 1e-5, "{m}: {found} {golden}");
        }
        let total = |errors: &[f64]| errors.iter().sum::<f64>();
        let best = found.alone.iter().min_by(|a, b| total(a).total_cmp(&total(b))).unwrap();
        let unit = 2.0 * total(&found.error) / total(&found.moves);
        let by_fold: Vec<f64> = best.iter().zip(&found.error).map(|(a, b)| (a - b) / unit).collect();
        let mean = total(&by_fold) / 8.0;
        let variance = by_fold.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 7.0;
        assert!((total(&by_fold) - gain).abs() < 1e-5 * (1.0 + gain), "{m}: {} {gain}", total(&by_fold));
        assert!(((8.0 * variance).sqrt() - error).abs() < 1e-5, "{m}: {} {error}", (8.0 * variance).sqrt());
    }
}

#[test]
fn no_weights_nearby_are_better() {
    let (counts, all) = predictions(3);
    let reward = [0.0, 0.3, 1.0];
    let seen = || Seen { counts: counts.view(), predictions: all.iter().map(|p| p.view()).collect() };
    let found = pool_weights(&[seen()], &reward).weights;
    let error = |b: &[f64]| {
        let p = pooled(b.iter().copied().zip(all.iter().map(|p| logs(p.view()))));
        let rows = p.rows().into_iter().zip(counts.rows());
        rows.map(|(p, n)| {
            let mean: f64 = p.iter().zip(reward).map(|(p, r)| p * r).sum();
            n.iter().zip(reward).map(|(n, r)| n * (r - mean).powi(2)).sum::<f64>()
        })
        .sum::<f64>()
    };
    let variance = error(&[1.0 / 3.0; 3]) / counts.sum();
    let objective = |b: &[f64]| {
        error(b) / (2.0 * variance) + b.iter().map(|b| (b - 1.0 / 3.0).powi(2)).sum::<f64>() / 2.0
    };
    let here = objective(&found);
    for (k, by) in (0..3).flat_map(|k| [(k, 1e-3), (k, -1e-3)]) {
        let mut moved = found.clone();
        moved[k] = f64::max(moved[k] + by, 0.0);
        assert!(objective(&moved) >= here - 1e-9, "weight {k} by {by}");
    }
}

fn domain() -> Domain {
    Domain { instances: 7, arms: 24, budget: 5, trajectories: 12, ..Domain::two_state() }
}

fn quick(train: &[Instance]) -> Config {
    Config { epochs: 40, ..Config::recommended(train) }
}

fn run(config: Config, train: &[Instance], validation: &[Instance]) -> Auto {
    let mut auto = Auto::new(config, train, validation).unwrap();
    while !auto.is_finished() {
        auto.round();
    }
    auto
}

#[test]
fn every_base_is_tried_and_the_answer_is_a_pool_of_fold_fits() {
    let instances = domain().generate(3).unwrap();
    let (train, validation) = instances.split_at(6);
    let auto = run(quick(train), train, validation);
    let verdict = auto.verdict().unwrap();
    let names: Vec<BaseName> = verdict.bases.iter().map(|base| base.name).collect();
    assert_eq!(names, [BaseName::Hierarchical, BaseName::Network, BaseName::StandardisedNetwork]);
    assert_eq!(verdict.folds, 6);
    assert_ne!(verdict.outcome, Outcome::Frequencies);
    assert!(verdict.loss < verdict.frequencies);
    let best = verdict.bases.iter().map(|base| base.loss).fold(f64::INFINITY, f64::min);
    assert!(verdict.outcome == Outcome::Pool || verdict.loss == best);
    let Predictor::Pool(pool) = auto.finish().predictor else { panic!("a pool") };
    assert!(pool.bases().iter().all(|base| base.fits.len() == 6));
    // the pool of the card's architecture is the same kind of thing
    let predictor = Predictor::Pool(pool);
    let rebuilt = Predictor::new(&predictor.architecture(), 0).unwrap();
    assert_eq!(rebuilt.architecture(), predictor.architecture());
    assert_eq!(rebuilt.flat().len(), predictor.flat().len());
}

#[test]
fn threads_and_interruptions_do_not_change_a_bit() {
    let instances = domain().generate(4).unwrap();
    let (train, validation) = instances.split_at(6);
    for method in [
        Method::Auto(quick(train)),
        Method::Recommended(Recipe { choice: None, ..Recipe::auto(quick(train), 9) }),
        Method::Recommended(Recipe { choice: Some(Choice::Weak), ..Recipe::auto(quick(train), 9) }),
    ] {
        let begin = || Fit::new(method.clone(), train, validation).unwrap();
        let with = |threads: usize| {
            let pool = rayon_pool(threads);
            let mut fit = begin();
            fit.run(Some(&pool), |_, _| Ok::<(), restive::Error>(())).unwrap();
            fit.finish()
        };
        let whole = with(2);
        assert_eq!(whole, with(1));
        let mut now = begin();
        let mut rounds = 0;
        while !now.is_finished() {
            now.advance();
            rounds += 1;
            // a Newton fit that is left half-way begins anew, so not all the time
            if [3usize, 30, 60, 61, 100, 140, 200].contains(&rounds) {
                let mut next = begin();
                next.restore(&now.snapshot()).unwrap();
                now = next;
            }
        }
        assert_eq!(whole, now.finish());
    }
}

fn rayon_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

#[test]
fn features_that_say_nothing_lead_to_bare_frequencies() {
    let instances = domain().generate(5).unwrap();
    // everybody moves alike, and what is known of them is noise
    let shuffled: Vec<Instance> = instances
        .iter()
        .map(|instance| {
            let arms = vec![0; instance.arms()];
            let alike = instance.select_arms(&arms);
            let features =
                Array2::from_shape_fn(instance.features().raw_dim(), |(i, f)| ((i * 7 + f * 3) as f64).sin());
            Instance::new(Parts { features, ..alike.parts().clone() }).unwrap()
        })
        .collect();
    let one = &shuffled[..1];
    let auto = run(quick(one), one, &shuffled[6..]);
    let verdict = auto.verdict().unwrap();
    assert_eq!(verdict.outcome, Outcome::Frequencies, "{verdict:?}");
    let p = auto.finish().predictor.predict(one[0].features());
    assert!(p.outer_iter().all(|arm| arm == p.index_axis(ndarray::Axis(0), 0)));
}

#[test]
fn money_beside_years_leaves_the_raw_network_out() {
    let instances = domain().generate(6).unwrap();
    let rich = |instance: &Instance| {
        let mut features = instance.features().to_owned();
        features.column_mut(0).mapv_inplace(|x| 2e4 * x + 1e5);
        Instance::new(Parts { features, ..instance.parts().clone() }).unwrap()
    };
    let rich: Vec<Instance> = instances.iter().map(rich).collect();
    let auto = run(quick(&rich[..6]), &rich[..6], &rich[6..]);
    let names: Vec<BaseName> = auto.verdict().unwrap().bases.iter().map(|base| base.name).collect();
    assert_eq!(names, [BaseName::Hierarchical, BaseName::StandardisedNetwork]);
    // and what is left is not moved by the units
    let plain = run(quick(&instances[..6]), &instances[..6], &instances[6..]);
    let [a, b] = [&auto, &plain].map(|auto| auto.verdict().unwrap().bases[0].loss);
    assert!((a - b).abs() < 1e-9, "{a} {b}");
}

#[test]
fn states_seen_at_pulls_only_are_served_too() {
    let domain = Domain { instances: 6, arms: 20, budget: 5, trajectories: 6, ..Domain::collapsing() };
    let instances = domain.generate(7).unwrap();
    let (train, validation) = instances.split_at(5);
    let auto = run(Config { epochs: 8, ..Config::recommended(train) }, train, validation);
    let verdict = auto.verdict().unwrap();
    assert_eq!(verdict.bases[0].name, BaseName::Linear);
    assert!(verdict.gain.is_none() && verdict.loss <= verdict.frequencies);
}

#[test]
fn few_instances_are_cut_by_arms_and_every_arm_is_left_out_once() {
    let groups = [(0, 5), (1, 9), (3, 4)].map(|(instance, n)| Group { instance, arms: (0..n).collect() });
    let folds = arm_folds(&groups, 8, 1).unwrap();
    assert_eq!(folds.len(), 8);
    let mut all: Vec<(usize, usize)> = folds
        .iter()
        .flatten()
        .flat_map(|group| group.arms.iter().map(|arm| (group.instance, *arm)))
        .collect();
    all.sort_unstable();
    let expected: Vec<(usize, usize)> =
        groups.iter().flat_map(|group| group.arms.iter().map(|arm| (group.instance, *arm))).collect();
    assert_eq!(all, expected);
    assert!(folds.iter().all(|fold| fold.iter().all(|group| group.arms.is_sorted())));
    let instances = Domain { instances: 2, ..domain() }.generate(8).unwrap();
    assert_eq!(auto_folds(&instances, 1).unwrap().len(), 8);
    assert!(Auto::new(quick(&instances), &[instances[0].select_arms(&[0])], &[]).is_err());
}
