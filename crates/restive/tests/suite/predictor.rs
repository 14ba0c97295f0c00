//! Predictors: forward passes against loops written out, pullbacks against finite differences, the effect model against
//! `reference/effect.py`, and what must hold for all of them.

use crate::arms::{Random, random};
use crate::golden::{cases, numbers};
use crate::gradients::{AGREEMENT, derivative};
use ndarray::{Array2, Array4, ArrayD, Axis};
use rand::RngExt;
use restive::predictor::adam::Adam;
use restive::predictor::logistic::{self, FitStatus, Form};
use restive::predictor::{
    Architecture, BaseKind, Ensemble, Network, Penalties, Precision, Predictor, PredictorKind,
};

fn uniform(random: &mut Random) -> f64 {
    2.0 * random.random::<f64>() - 1.0
}

pub fn features(n: usize, f: usize, random: &mut Random) -> Array2<f64> {
    Array2::from_shape_simple_fn((n, f), || 1.7 * uniform(random))
}

fn counts(n: usize, m: usize, most: u32, random: &mut Random) -> Array4<f64> {
    Array4::from_shape_simple_fn((n, m, 2, m), || f64::from(random.random_range(0..=most)))
}

pub fn kinds() -> [PredictorKind; 8] {
    let network = |hidden: &[usize], dropout| PredictorKind::Network { hidden: hidden.to_vec(), dropout };
    let effect = PredictorKind::Effect { precision: Precision::DEFAULT };
    let hierarchical = PredictorKind::Hierarchical { penalties: Penalties::Fixed([10.0, 50.0, 3000.0]) };
    let base =
        |kind: &PredictorKind, weight, fits| BaseKind { kind: kind.clone(), weight, scaling: None, fits };
    let alone = PredictorKind::Pool { bases: vec![base(&network(&[4], 0.0), 1.0, 3)] };
    let pool = PredictorKind::Pool {
        bases: vec![base(&hierarchical, 0.7, 1), base(&network(&[5], 0.0), 0.45, 2), base(&effect, 0.0, 1)],
    };
    [
        network(&[], 0.0),
        network(&[7], 0.0),
        network(&[6, 5], 0.0),
        network(&[9, 6], 0.3),
        effect,
        hierarchical,
        alone,
        pool,
    ]
}

/// With parameters away from zero, biases too.
pub fn predictor(kind: &PredictorKind, f: usize, m: usize, random: &mut Random) -> Predictor {
    let architecture = Architecture { features: f, states: m, kind: kind.clone() };
    let mut predictor = Predictor::new(&architecture, 3).unwrap();
    predictor.update(|flat| flat.iter_mut().for_each(|x| *x += 0.3 * uniform(random)));
    predictor
}

fn moved(predictor: &Predictor, direction: &[f64], t: f64) -> Predictor {
    let mut other = predictor.clone();
    other.update(|flat| flat.iter_mut().zip(direction).for_each(|(x, d)| *x += t * d));
    other
}

/// Where each named block lies in the flat vector.
fn blocks(predictor: &Predictor) -> Vec<(String, std::ops::Range<usize>)> {
    let mut start = 0;
    let stretch = |(name, view): (String, ndarray::ArrayViewD<f64>)| {
        start += view.len();
        (name, start - view.len()..start)
    };
    predictor.params().into_iter().map(stretch).collect()
}

#[test]
fn pullbacks_are_the_derivatives_of_any_function_of_the_transitions() {
    let mut random = random(61);
    let mut checked = 0;
    for kind in kinds() {
        for m in [2, 3, 5] {
            let (predictor, x) = (predictor(&kind, 4, m, &mut random), features(6, 4, &mut random));
            let n = counts(6, m, 3, &mut random) / 10.0;
            let c = n.mapv(|_| uniform(&mut random));
            // the loss of some counts, and a random weighting of the probabilities
            let value = |p: &Predictor| {
                let p = p.forward_with_dropout(x.view(), 5).transition;
                let terms = p.iter().zip(&n).zip(&c).map(|((p, n), c)| c * p - n * p.ln());
                terms.sum::<f64>()
            };
            let forward = predictor.forward_with_dropout(x.view(), 5);
            let d_p = &c - &(&n / &forward.transition);
            let gradient = forward.pullback(d_p.view()).d_params;
            for (name, range) in blocks(&predictor) {
                let mut direction = vec![0.0; gradient.len()];
                direction[range].fill_with(|| uniform(&mut random));
                let found: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
                let truth = derivative(|t| value(&moved(&predictor, &direction, t)), 1e-4);
                let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
                let error = (found - truth).abs() / (length(&gradient) * length(&direction));
                assert!(error < AGREEMENT, "{kind:?} M={m} {name}: {found} not {truth}");
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 3 * (2 + 4 + 6 + 6 + 4 + 6 + 3 * 4 + (6 + 2 * 4 + 4)));
}

#[test]
fn a_network_is_its_formula_written_out() {
    let mut random = random(62);
    let (n, f, m) = (3, 4, 3);
    let predictor =
        predictor(&PredictorKind::Network { hidden: vec![5, 6], dropout: 0.4 }, f, m, &mut random);
    let x = features(n, f, &mut random);
    let p = predictor.predict(x.view());
    let params = predictor.params();
    let names: Vec<&str> = params.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "layer_0.weight",
            "layer_0.bias",
            "layer_1.weight",
            "layer_1.bias",
            "layer_2.weight",
            "layer_2.bias"
        ]
    );
    for i in 0..n {
        let mut h: Vec<f64> = x.row(i).to_vec();
        for l in 0..3 {
            let (weight, bias) = (&params[2 * l].1, &params[2 * l + 1].1);
            let unit = |to: usize| {
                let z =
                    bias[[to]] + h.iter().enumerate().map(|(from, h)| h * weight[[from, to]]).sum::<f64>();
                if l < 2 { z.max(0.0) } else { z }
            };
            h = (0..bias.len()).map(unit).collect();
        }
        for s in 0..m {
            for a in 0..2 {
                let row = &h[(2 * s + a) * m..][..m];
                let sum: f64 = row.iter().map(|z| z.exp()).sum();
                for next in 0..m {
                    // rounding of a few dozen operations
                    assert!((p[[i, s, a, next]] - row[next].exp() / sum).abs() < 1e-14);
                }
            }
        }
    }
}

#[test]
fn rows_are_positive_and_sum_to_one_however_large_the_logits() {
    let mut random = random(63);
    for kind in kinds() {
        for scale in [1.0, 1e2, 1e4] {
            let mut predictor = predictor(&kind, 4, 3, &mut random);
            predictor.update(|flat| flat.iter_mut().for_each(|x| *x *= scale));
            let p = predictor.predict(features(50, 4, &mut random).view());
            assert!(p.iter().all(|p| *p > 0.0 && (1e3 / p).is_finite()));
            assert!(p.sum_axis(Axis(3)).iter().all(|sum| (sum - 1.0).abs() < 1e-15));
        }
    }
}

#[test]
fn dropout_leaves_out_its_share_and_keeps_the_mean_of_the_logits() {
    let mut random = random(64);
    let kind = PredictorKind::Network { hidden: vec![8], dropout: 0.25 };
    let (predictor, x) = (predictor(&kind, 3, 2, &mut random), features(1, 3, &mut random));
    let log_odds = |p: &Array4<f64>| p[[0, 1, 0, 1]].ln() - p[[0, 1, 0, 0]].ln();
    let draws: Vec<f64> = (0..20_000)
        .map(|seed| log_odds(&predictor.forward_with_dropout(x.view(), seed).transition))
        .collect();
    let draws = ndarray::Array1::from(draws);
    let (mean, truth) = (draws.mean().unwrap(), log_odds(&predictor.predict(x.view())));
    // logits are linear in the hidden units, so dropout leaves their mean alone: five standard errors
    assert!((mean - truth).abs() < 5.0 * draws.std(1.0) / 20_000f64.sqrt(), "{mean} not {truth}");
    // Σ w²h²·p/(1−p) is their variance, by the definition
    let (weights, hidden) = (predictor.params(), |unit: usize| {
        let (w, b) = (&predictor.params()[0].1.to_owned(), &predictor.params()[1].1.to_owned());
        (b[[unit]] + (0..3).map(|f| x[[0, f]] * w[[f, unit]]).sum::<f64>()).max(0.0)
    });
    let odds = |unit: usize| weights[2].1[[unit, 5]] - weights[2].1[[unit, 4]];
    let variance: f64 = (0..8).map(|unit| (odds(unit) * hidden(unit)).powi(2) * 0.25 / 0.75).sum();
    assert!((draws.var(1.0) / variance - 1.0).abs() < 0.05, "{} not {variance}", draws.var(1.0));
    // the same seed, the same units
    let again = |seed| predictor.forward_with_dropout(x.view(), seed).transition;
    assert_eq!(again(1), again(1));
    assert_ne!(again(1), predictor.predict(x.view()));
}

#[test]
fn many_arms_are_predicted_as_one_by_one_and_for_every_number_of_threads() {
    let mut random = random(65);
    for kind in kinds() {
        let (predictor, x) = (predictor(&kind, 4, 2, &mut random), features(2500, 4, &mut random));
        let d_p = Array4::from_shape_simple_fn((2500, 2, 2, 2), || uniform(&mut random));
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let forward = predictor.forward_with_dropout(x.view(), 1);
                (forward.pullback(d_p.view()).d_params, forward.transition, predictor.predict(x.view()))
            })
        };
        let (one, three) = (run(1), run(3));
        assert_eq!(one, three);
        for i in [0, 1023, 1024, 2047, 2499] {
            let alone = predictor.predict(x.slice(ndarray::s![i..=i, ..]));
            let error = (&alone.index_axis(Axis(0), 0) - &one.2.index_axis(Axis(0), i)).mapv(f64::abs).sum();
            assert!(error < 1e-14, "arm {i} is off by {error:e}"); // the last digits of a few dozen operations
        }
        // the gradient of all arms is the sum over parts of them
        if !matches!(kind, PredictorKind::Network { dropout: 0.3, .. }) {
            let part = |from: usize, to: usize| {
                let (x, d_p) =
                    (x.slice(ndarray::s![from..to, ..]), d_p.slice(ndarray::s![from..to, .., .., ..]));
                predictor.forward(x).pullback(d_p).d_params
            };
            let (head, tail) = (part(0, 700), part(700, 2500));
            for (all, (head, tail)) in one.0.iter().zip(head.iter().zip(&tail)) {
                assert!((all - head - tail).abs() < 1e-11, "{all} not {head} + {tail}"); // sums of 2,500 terms
            }
        }
    }
}

#[test]
fn parameters_go_out_and_come_in_by_name() {
    let mut random = random(66);
    for kind in kinds() {
        let trained = predictor(&kind, 4, 3, &mut random);
        let mut named: Vec<(String, ArrayD<f64>)> =
            trained.params().into_iter().map(|(name, view)| (name, view.to_owned())).collect();
        let mut other = Predictor::new(&trained.architecture(), 99).unwrap();
        assert_ne!(other, trained);
        named.reverse();
        other.set_params(&named).unwrap();
        assert_eq!(other, trained);

        let (name, array) = named[0].clone();
        let refused = |named: &[(String, ArrayD<f64>)]| {
            let mut untouched = trained.clone();
            let error = untouched.set_params(named).unwrap_err().to_string();
            assert_eq!(untouched, trained);
            error
        };
        assert!(refused(&named[1..]).contains(&name));
        named[0].0 = "layer_9.weight".into();
        assert!(refused(&named).contains("layer_9.weight"));
        named[0] = (name.clone(), ArrayD::zeros(vec![1, 1, 1, 1]));
        assert!(refused(&named).contains(&name));
        let mut nan = array;
        nan.fill(f64::NAN);
        named[0] = (name, nan);
        assert!(refused(&named).contains("finite"));
    }
}

#[test]
fn an_ensemble_predicts_the_mean_of_its_members() {
    let mut random = random(67);
    let x = features(5, 4, &mut random);
    let members: Vec<Predictor> = kinds().iter().map(|kind| predictor(kind, 4, 2, &mut random)).collect();
    let mut mean = Array4::zeros((5, 2, 2, 2));
    members.iter().for_each(|member| mean += &(member.predict(x.view()) / members.len() as f64));
    assert!((Ensemble { members }.predict(x.view()) - mean).iter().all(|d| d.abs() < 1e-15));
}

#[test]
fn settings_out_of_range_are_refused() {
    assert!(Network::new(3, 2, &[4, 0], 0.0, 1).is_err());
    assert!(Network::new(3, 2, &[4], 1.0, 1).is_err());
    assert!(Network::new(3, 2, &[4], f64::NAN, 1).is_err());
    for precision in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(logistic::Logistic::new(3, 2, Precision::Fixed(precision)).is_err());
    }
}

#[test]
fn adam_steps_by_the_corrected_means_of_all_gradients_so_far() {
    let gradients = [[0.3, -2.0], [0.1, 5.0], [-0.4, 1.0], [0.0, 1e-9]];
    let (mut x, mut adam) = (vec![1.0, 2.0], Adam::new(2, 1e-7));
    for t in 1..=gradients.len() {
        let before = x.clone();
        adam.step(&mut x, &gradients[t - 1], 0.05);
        for i in 0..2 {
            // means with weights βᵗ⁻ᵏ that sum to one
            let mean = |beta: f64, power: i32| {
                let weight = |k: usize| beta.powi((t - 1 - k) as i32);
                let sum: f64 = (0..t).map(|k| weight(k) * gradients[k][i].powi(power)).sum();
                sum / (0..t).map(weight).sum::<f64>()
            };
            let step = 0.05 * mean(0.9, 1) / (mean(0.999, 2).sqrt() + 1e-7);
            assert!((before[i] - x[i] - step).abs() < 1e-14);
        }
    }
}

#[test]
fn the_effect_model_is_the_reference_fit() {
    let mut seen = 0;
    for case in cases("effect") {
        let size = |name: &str| case[name].as_u64().unwrap() as usize;
        let (n, f, m) = (size("n"), size("f"), size("m"));
        let x = Array2::from_shape_vec((n, f), numbers(&case["features"])).unwrap();
        let counts = Array4::from_shape_vec((n, m, 2, m), numbers(&case["counts"])).unwrap();
        let precision = Precision::Fixed(case["precision"].as_f64().unwrap());
        let fitted = logistic::fit(x.view(), counts.view(), precision, None).unwrap();
        assert_eq!(fitted.status, FitStatus::Converged, "{case}");
        let truth = numbers(&case["params"]);
        assert_eq!(fitted.model.flat().len(), truth.len());
        for (found, truth) in fitted.model.flat().iter().zip(&truth) {
            // the last step was shorter than 1e-6, and what is left of the order of its square
            assert!(
                (found - truth).abs() < 1e-8 * truth.abs().max(1.0),
                "{found} not {truth}: {}",
                case["family"]
            );
        }
        seen += 1;
    }
    assert!(seen >= 8);
}

#[test]
fn renaming_the_states_renames_the_effect_model() {
    let mut random = random(68);
    let (x, n) = (features(40, 3, &mut random), counts(40, 3, 3, &mut random));
    let swap = [2, 0, 1];
    let renamed = Array4::from_shape_fn((40, 3, 2, 3), |(i, s, a, next)| n[[i, swap[s], a, swap[next]]]);
    let fit = |n: &Array4<f64>| logistic::fit(x.view(), n.view(), Precision::Fixed(10.0), None).unwrap();
    let (p, q) = (fit(&n).model.predict(x.view()), fit(&renamed).model.predict(x.view()));
    for ((i, s, a, next), q) in q.indexed_iter() {
        assert!((p[[i, swap[s], a, swap[next]]] - q).abs() < 1e-9); // two fits, each to a derivative of 1e-10
    }
}

#[test]
fn a_precise_effect_is_the_same_for_all_and_a_held_out_precision_is_the_likeliest_below_its_cap() {
    let mut random = random(69);
    let (x, n) = (features(60, 3, &mut random), counts(60, 2, 4, &mut random));
    let (other_x, other_n) = (features(60, 3, &mut random), counts(60, 2, 4, &mut random));
    let shift = |precision: f64| {
        let effect = logistic::fit(x.view(), n.view(), Precision::Fixed(precision), None).unwrap().model;
        let weights = &effect.flat()[effect.flat().len() - 3..];
        weights.iter().map(|c| c * c).sum::<f64>().sqrt()
    };
    assert!(shift(1e9) < 1e-6 && shift(1.0) > shift(100.0) && shift(100.0) > shift(1e4));

    let chosen = logistic::fit(
        x.view(),
        n.view(),
        Precision::HeldOut { cap: 200.0 },
        Some((other_x.view(), other_n.view())),
    );
    let chosen = chosen.unwrap();
    let Form::Effect(Precision::Fixed(precision)) = chosen.model.form() else {
        panic!("a chosen precision is fixed")
    };
    assert!(chosen.held_out.iter().all(|(tried, _)| *tried <= 200.0));
    for (tried, loss) in &chosen.held_out {
        let effect = logistic::fit(x.view(), n.view(), Precision::Fixed(*tried), None).unwrap().model;
        let p = effect.predict(other_x.view());
        let truth = -p.iter().zip(&other_n).map(|(p, n)| n * p.ln()).sum::<f64>();
        assert!((loss - truth).abs() < 1e-8 * truth);
    }
    let best = chosen.held_out.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    assert_eq!(best.0, precision);
    assert!(logistic::fit(x.view(), n.view(), Precision::HeldOut { cap: 200.0 }, None).is_err());
}

#[test]
fn one_state_no_features_and_no_arms_are_no_trouble() {
    for kind in kinds() {
        for (n, f, m) in [(3, 2, 1), (3, 0, 2), (0, 2, 2)] {
            let architecture = Architecture { features: f, states: m, kind: kind.clone() };
            let predictor = Predictor::new(&architecture, 1).unwrap();
            let x = Array2::zeros((n, f));
            let forward = predictor.forward(x.view());
            assert_eq!(forward.transition.shape(), [n, m, 2, m]);
            let gradient = forward.pullback(Array4::ones((n, m, 2, m)).view()).d_params;
            assert_eq!(gradient.len(), predictor.flat().len());
        }
    }
    let fitted = logistic::fit(
        Array2::zeros((3, 2)).view(),
        Array4::ones((3, 1, 2, 1)).view(),
        Precision::DEFAULT,
        None,
    );
    assert_eq!(fitted.unwrap().status, FitStatus::Converged);
}
