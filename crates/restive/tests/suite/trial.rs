//! Estimators of trials: worked by hand, against textbook formulas, brute force, and every refusal once.

use super::trial_world::{Setting, trial};
use ndarray::{Array2, array};
use proptest::prelude::*;
use rand::RngExt;
use restive::random::stream;
use restive::statistics::{student_quantile, welch_t};
use restive::trial::{
    Asked, Cut, Edge, Estimator, Gap, Group, Parts, Record, Refusal, Rule, Rules, analyse, difference,
    divergence, exchange, lin, subgroup, subgroup_adjusted,
};

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{found} {expected}");
}

fn groups(policy: usize, control: usize) -> Vec<Group> {
    [vec![Group::Policy; policy], vec![Group::Control; control]].concat()
}

/// A record of which nothing but outcomes is known.
fn bare(group: Vec<Group>, outcome: Array2<f64>) -> Parts {
    let call = outcome.map(|_| false);
    let covariates = Array2::zeros((group.len(), 0));
    Parts { group, outcome, call, covariates, cluster: None, rules: Err(Gap::NotLogged) }
}

/// Two weeks; in week 0 the first `called` people of each arm score 2 and the others 1, and nobody scores in week 1. Outcomes
/// of week 0 are `first`, of week 1 `second`.
fn called_once(size: usize, called: usize, first: &[f64], second: &[f64]) -> Parts {
    let group = groups(size, size);
    let n = 2 * size;
    let score = Array2::from_shape_fn((n, 2), |(i, t)| match t {
        0 => 1.0 + f64::from(u8::from(i % size < called)),
        _ => f64::NAN,
    });
    let call = Array2::from_shape_fn((n, 2), |(i, t)| t == 0 && i < called);
    // those of the control arm who score 2 go first, those who score 1 last
    let tie = Array2::from_shape_fn((n, 2), |(i, _)| match i {
        i if i < size => 0.5 - i as f64 / 1000.0,
        i if i < size + called => 0.9 - i as f64 / 1000.0,
        i => 0.1 - i as f64 / 10000.0,
    });
    let outcome = Array2::from_shape_fn((n, 2), |(i, t)| if t == 0 { first[i] } else { second[i] });
    let policy = Rule::of_lists(score, &tie, &call, &group, Group::Policy);
    let rules = Ok(Rules { policy, control: None, tie, prognosis: None });
    Parts { group, outcome, call, covariates: Array2::zeros((n, 0)), cluster: None, rules }
}

/// The first `ones[k]` of each run of `size[k]` people have 1.
fn ones(runs: &[(usize, usize)]) -> Vec<f64> {
    runs.iter().flat_map(|&(size, ones)| (0..size).map(move |i| f64::from(u8::from(i < ones)))).collect()
}

/// 20 people an arm, 10 called or would have been. Uncalled: 8 of 20 in week 0, 10 of 20 in week 1.
fn example() -> Parts {
    let first = ones(&[(10, 6), (10, 5), (10, 3), (10, 3)]);
    let second = ones(&[(10, 7), (10, 5), (10, 5), (10, 5)]);
    called_once(20, 10, &first, &second)
}

#[test]
fn the_difference_worked_by_hand() {
    let outcome = array![[1., 0.], [1., 1.], [0., 0.], [0., 0.], [1., 0.], [0., 1.]];
    // sums 1, 2, 0 and 0, 1, 1: means 1 and 2/3, variances 1 and 1/3; 3·(1/3), 3·√(1/3 + 1/9)
    let found = difference(&Record::new(bare(groups(3, 3), outcome.clone())).unwrap()).unwrap();
    near(found.estimate, 1.0);
    near(found.se, 2.0);
    near(found.high - found.low, 2.0 * 1.959963984540054 * 2.0);
    near(found.detectable(), (1.959963984540054 + 0.8416212335729143) * 2.0);
    // the third person's week 1 is missing: of 0 and 1 the mean is .5, and the two weigh 3/2, so that the weeks are
    // -.25, 1.25 and .5, the sums .75, 2.25 and .5 with mean 7/6 and variance 43/48
    let mut missing = outcome;
    missing[[2, 1]] = f64::NAN;
    let found = difference(&Record::new(bare(groups(3, 3), missing)).unwrap()).unwrap();
    near(found.estimate, 1.5);
    near(found.se, 3.0 * (43.0 / 48.0 / 3.0 + 1.0 / 9.0f64).sqrt());
}

#[test]
fn the_exchange_worked_by_hand() {
    // a: six 2 - .9, one 1 - .9, three 0 - .9, ten zeros: sum 4, squares 9.7; b: three, two, five: sum -1, squares 7.7
    let found = exchange(&Record::new(example()).unwrap()).unwrap();
    near(found.estimate, 5.0);
    // the called of the policy arm, with mean .4, are moved to the -.1 of their like: sum -1, squares 9.7 - 4 + 2.5
    near(found.se * found.se, 20.0 * ((8.2 - 1.0 / 20.0) + (7.7 - 1.0 / 20.0)) / 19.0);
    assert_eq!((found.people, found.called, found.calls), (20, 10, Some(10)));
    near(found.per_person_called().unwrap().estimate, 0.5);
    near(found.per_call().unwrap().se, found.se / 10.0);
    let widened = found.for_population().unwrap();
    near(widened.se * widened.se, found.se * found.se + 0.5 * 25.0 / 10.0);
}

#[test]
fn the_subgroup_worked_by_hand() {
    // means 1.3 and .8; squares 25 - 16.9 and 14 - 6.4, over 9
    let found = subgroup(&Record::new(example()).unwrap()).unwrap();
    near(found.estimate, 5.0);
    near(found.se * found.se, 100.0 * (8.1 / 9.0 / 10.0 + 7.6 / 9.0 / 10.0));
}

#[test]
fn the_adjusted_subgroup_worked_by_hand() {
    // 20 called an arm. Policy: 15 with prognosis 1 (eight 2, five 1, two 0) and 5 with prognosis 0 (four 1, one 0).
    // Control: 10 with prognosis 1 (five 2, five 0) and 10 with prognosis 0 (five 1, five 0).
    let first = ones(&[(15, 13), (5, 4), (5, 0), (10, 5), (10, 5), (5, 2)]);
    let second = ones(&[(15, 8), (5, 0), (5, 0), (10, 5), (10, 0), (5, 1)]);
    let mut parts = called_once(25, 20, &first, &second);
    let high = |i: usize| i < 15 || (25..35).contains(&i);
    let prognosis = Array2::from_shape_fn((50, 2), |(i, _)| f64::from(u8::from(high(i))));
    parts.rules.as_mut().unwrap().prognosis = Some(prognosis);
    let found = subgroup_adjusted(&Record::new(parts).unwrap()).unwrap();
    // cell means 1 and .5: 21 - 15 + 4 - 2.5
    near(found.estimate, 7.5);
    // residuals of the policy arm: eight 1, five 0, two -1, four .5, one -.5; of the control arm: 1 and .5 with weights 1.5 and .5
    let policy = 20.0 * (11.25 - 7.5 * 7.5 / 20.0) / 19.0;
    let control = (10.0 * 2.25 + 10.0 * 0.25 * 0.25) / 0.9;
    near(found.se * found.se, policy + control);
}

#[test]
fn the_difference_is_welchs() {
    let mut random = stream(1, &[]);
    let outcome = Array2::from_shape_fn((50, 3), |(i, _)| random.random::<f64>() * (1.0 + i as f64));
    let sums: Vec<f64> = outcome.outer_iter().map(|row| row.sum()).collect();
    let test = welch_t(&sums[..20], &sums[20..]).unwrap();
    let found = difference(&Record::new(bare(groups(20, 30), outcome)).unwrap()).unwrap();
    near(found.estimate, 20.0 * test.difference);
    near(found.se, 20.0 * test.standard_error);
}

/// A⁻¹ by Gauss and Jordan.
fn inverse(a: &Array2<f64>) -> Array2<f64> {
    let n = a.nrows();
    let mut wide =
        Array2::from_shape_fn(
            (n, 2 * n),
            |(i, j)| if j < n { a[[i, j]] } else { f64::from(u8::from(i == j - n)) },
        );
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| wide[[i, k]].abs().total_cmp(&wide[[j, k]].abs())).unwrap();
        for j in 0..2 * n {
            wide.swap([k, j], [pivot, j]);
        }
        let row = wide.row(k).to_owned() / wide[[k, k]];
        for i in 0..n {
            let factor = wide[[i, k]];
            if i == k { wide.row_mut(i).assign(&row) } else { wide.row_mut(i).scaled_add(-factor, &row) }
        }
    }
    wide.slice(ndarray::s![.., n..]).to_owned()
}

#[test]
fn the_regression_is_that_of_the_normal_equations() {
    for (seed, columns) in [(1, 0), (2, 1), (3, 3)] {
        let mut random = stream(seed, &[]);
        let n = 60;
        let x = Array2::from_shape_fn((n, columns), |_| 100.0 + random.random::<f64>());
        let outcome = Array2::from_shape_fn((n, 2), |(i, _)| random.random::<f64>() + x.row(i).sum() * 0.5);
        let mut parts = bare(groups(24, 36), outcome.clone());
        parts.covariates = x.clone();
        let y = outcome.sum_axis(ndarray::Axis(1));
        let mean = x.mean_axis(ndarray::Axis(0)).unwrap();
        let design = Array2::from_shape_fn((n, 2 + 2 * columns), |(i, k)| {
            let z = f64::from(u8::from(i < 24));
            match k {
                0 => 1.0,
                1 => z,
                k if k < 2 + columns => x[[i, k - 2]] - mean[k - 2],
                k => z * (x[[i, k - 2 - columns]] - mean[k - 2 - columns]),
            }
        });
        let inner = inverse(&design.t().dot(&design));
        let beta = inner.dot(&design.t().dot(&y));
        let residual = &y - &design.dot(&beta);
        let sandwich = |meat: Array2<f64>| 24.0 * inner.dot(&meat).dot(&inner)[[1, 1]].sqrt();
        let mut meat = Array2::zeros(inner.dim());
        for i in 0..n {
            let row = design.row(i).insert_axis(ndarray::Axis(1)).to_owned();
            let leverage = row.t().dot(&inner).dot(&row)[[0, 0]];
            meat = meat + row.dot(&row.t()) * (residual[i] * residual[i] / (1.0 - leverage));
        }
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-6 * b.abs(), "{a} {b}");
        let found = lin(&Record::new(parts.clone()).unwrap()).unwrap();
        close(found.estimate, 24.0 * beta[1]);
        close(found.se, sandwich(meat));

        let cluster: Vec<usize> = (0..n).map(|i| i / 4).collect();
        let mut meat = Array2::zeros(inner.dim());
        for g in 0..15 {
            let mut sum = Array2::<f64>::zeros((design.ncols(), 1));
            for i in 4 * g..4 * g + 4 {
                sum = sum + design.row(i).insert_axis(ndarray::Axis(1)).to_owned() * residual[i];
            }
            meat = meat + sum.dot(&sum.t()) * (15.0 / 14.0);
        }
        parts.cluster = Some(cluster);
        let found = lin(&Record::new(parts).unwrap()).unwrap();
        close(found.estimate, 24.0 * beta[1]);
        close(found.se, sandwich(meat));
        near(found.high - found.low, 2.0 * student_quantile(14.0) * found.se);
    }
}

#[test]
fn a_covariate_that_everybody_shares_is_left_out() {
    let mut parts = example();
    let plain = difference(&Record::new(parts.clone()).unwrap()).unwrap();
    parts.covariates = Array2::from_elem((40, 1), 0.1);
    let found = lin(&Record::new(parts).unwrap()).unwrap();
    near(found.estimate, plain.estimate);
    near(found.se, plain.se); // HC2 of two means is Welch's
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Somebody of the control arm would have been called if fewer of the policy arm than it has places stand above her (the cut
    /// is the last called), or at most as many (the first not called).
    #[test]
    fn weeks_of_divergence_by_counting(seed in 0u64..10_000, is_against in any::<bool>(), ineligible in 0.0..0.4f64) {
        let setting = Setting { people: [14, 17], places: [4, if is_against { 3 } else { 0 }], weeks: 4, ineligible, ..Setting::default() };
        let (record, _) = trial(&setting, seed);
        let parts = record.parts();
        let rules = parts.rules.as_ref().unwrap();
        let n = record.people();
        for edge in [Edge::LastCalled, Edge::FirstNotCalled] {
            let found = divergence(&record, edge).unwrap();
            for i in 0..n {
                let other = if parts.group[i] == Group::Policy { Group::Control } else { Group::Policy };
                let rank_in = |arm: Group, t: usize| {
                    let score = if arm == Group::Policy { &rules.policy.score } else { &rules.control.as_ref().unwrap().score };
                    let key = |j: usize| (score[[j, t]], rules.tie[[j, t]]);
                    let eligible = |j: &usize| parts.group[*j] == arm && !score[[*j, t]].is_nan();
                    (score[[i, t]], (0..n).filter(eligible).filter(|&j| j != i && key(j) > key(i)).count(), (0..n).filter(eligible).count())
                };
                let would = |t: usize| {
                    let places = setting.places[usize::from(other == Group::Control)];
                    if places == 0 { return false; }
                    let (score, rank, eligible) = rank_in(other, t);
                    let is_full = eligible > places;
                    !score.is_nan() && (!is_full || if edge == Edge::LastCalled { rank < places } else { rank <= places })
                };
                let is_last = |t: usize| {
                    let own = parts.group[i];
                    let places = setting.places[usize::from(own == Group::Control)];
                    if places == 0 { return false; }
                    let (score, rank, eligible) = rank_in(own, t);
                    edge == Edge::LastCalled && !score.is_nan() && rank + 1 == places && eligible > places
                };
                let differs = |t: &usize| parts.call[[i, *t]] != would(*t) || is_last(*t);
                prop_assert_eq!(found.week[i], (0..4).find(differs).unwrap_or(4));
            }
        }
    }
}

#[test]
fn cuts_without_room_and_with_room() {
    assert_eq!(Cut::of([(0.5, 0.1, false), (f64::NAN, 0.2, false)]), Cut::NOBODY);
    assert_eq!(Cut::of([(0.5, 0.1, true), (f64::NAN, 0.2, false)]), Cut::EVERYBODY);
}

#[test]
fn gaps_are_refused_and_the_difference_still_answers() {
    for gap in [Gap::AtPulls, Gap::NotLogged, Gap::Refitted, Gap::Overridden, Gap::SpillOver] {
        let record = Record::new(Parts { rules: Err(gap), ..example() }).unwrap();
        for estimator in [exchange, subgroup, subgroup_adjusted] {
            assert_eq!(estimator(&record), Err(Refusal::Gap(gap)));
        }
        let said = gap.to_string();
        assert!(said.contains("found") && said.contains("expected"), "{said}");
        let analysis = analyse(&record, &Asked::default());
        assert_eq!(analysis.primary, Some(Estimator::Lin));
    }
}

#[test]
fn clusters_leave_the_regression_alone() {
    let cluster = Some((0..40).map(|i| i / 4).collect());
    let record = Record::new(Parts { cluster, ..example() }).unwrap();
    for estimator in [difference, exchange, subgroup, subgroup_adjusted] {
        assert_eq!(estimator(&record), Err(Refusal::Clusters));
    }
    let asked = Asked { protocol: Some(Estimator::Subgroup) };
    let analysis = analyse(&record, &asked);
    assert_eq!((analysis.primary, analysis.departs_from_protocol), (Some(Estimator::Lin), true));
    assert_eq!(analysis.apart, None);

    let cluster = Some((0..40).map(|i| i / 20).collect());
    let few = lin(&Record::new(Parts { cluster, ..example() }).unwrap());
    assert_eq!(few, Err(Refusal::TooFewClusters { group: Group::Policy, found: 1, expected: 2 }));
}

#[test]
fn too_few_people_are_refused() {
    let first = vec![0.0; 40];
    let parts = called_once(20, 9, &first, &first);
    let record = Record::new(parts).unwrap();
    let refused = Err(Refusal::TooFewPeople { group: Group::Control, found: 9, expected: 10 });
    assert_eq!((exchange(&record), subgroup(&record)), (refused, refused));
    // ten and five for the constant, five for what the model expects
    let mut parts = example();
    parts.rules.as_mut().unwrap().prognosis = Some(Array2::from_shape_fn((40, 2), |(i, _)| (i % 3) as f64));
    let refused = Err(Refusal::TooFewPeople { group: Group::Control, found: 10, expected: 20 });
    assert_eq!(subgroup_adjusted(&Record::new(parts).unwrap()), refused);
}

#[test]
fn a_call_that_no_rule_explains_is_refused() {
    let mut parts = example();
    parts.call[[35, 1]] = true;
    let refused = Err(Refusal::NotByRule { person: 35, week: 1, is_called: true });
    assert_eq!(exchange(&Record::new(parts).unwrap()), refused);
    let said = Refusal::NotByRule { person: 3, week: 0, is_called: false }.to_string();
    assert_eq!(said, "person 3, week 0: found no call, expected what score, tie and cut say");
}

#[test]
fn a_week_of_which_nothing_is_known_is_refused() {
    let mut parts = example();
    (0..10).for_each(|i| parts.outcome[[i, 1]] = f64::NAN);
    let record = Record::new(parts.clone()).unwrap();
    let refused = Err(Refusal::Unobserved { group: Group::Policy, week: 1, people: 10 });
    assert_eq!((exchange(&record), subgroup(&record)), (refused, refused));
    assert!(difference(&record).is_ok());
    (0..20).for_each(|i| parts.outcome[[i, 1]] = f64::NAN);
    let refused = Err(Refusal::Unobserved { group: Group::Policy, week: 1, people: 20 });
    assert_eq!(difference(&Record::new(parts).unwrap()), refused);
}

#[test]
fn covariates_that_determine_each_other_are_refused() {
    let covariates = Array2::from_shape_fn((40, 2), |(i, k)| (i * (k + 1)) as f64);
    assert_eq!(lin(&Record::new(Parts { covariates, ..example() }).unwrap()), Err(Refusal::Collinear));
    let mut random = stream(5, &[]);
    let covariates = Array2::from_shape_fn((40, 19), |_| random.random::<f64>());
    let refused = Err(Refusal::TooManyColumns { found: 40, columns: 40 });
    assert_eq!(lin(&Record::new(Parts { covariates, ..example() }).unwrap()), refused);
}

#[test]
fn a_prognosis_that_is_not_there_is_refused() {
    assert_eq!(subgroup_adjusted(&Record::new(example()).unwrap()), Err(Refusal::Gap(Gap::NotLogged)));
    let mut parts = example();
    let mut prognosis = Array2::zeros((40, 2));
    prognosis[[22, 0]] = f64::NAN;
    parts.rules.as_mut().unwrap().prognosis = Some(prognosis);
    let refused = Err(Refusal::NoPrognosis { person: 22, week: 0 });
    assert_eq!(subgroup_adjusted(&Record::new(parts).unwrap()), refused);
}

#[test]
fn records_that_are_not_records_are_errors() {
    let said = |parts: Parts| Record::new(parts).unwrap_err().to_string();
    let mut parts = example();
    parts.outcome[[1, 0]] = f64::INFINITY;
    assert_eq!(said(parts), "outcome: entry 2: found inf, expected a finite number");
    let parts = Parts { call: Array2::from_elem((40, 3), false), ..example() };
    assert_eq!(said(parts), "call: found shape [40, 3], expected [40, 2]");
    let parts = Parts { cluster: Some(vec![4; 40]), ..example() };
    assert_eq!(said(parts), "cluster: found people of both arms in cluster 4, expected one arm");
    let parts = Parts { group: groups(39, 1), ..example() };
    assert_eq!(said(parts), "group: found 1 people in the control arm, expected at least 2");
    let mut parts = example();
    parts.rules.as_mut().unwrap().policy.cut.pop();
    assert_eq!(said(parts), "cut: found shape [1], expected [2]");
    let parts = bare(groups(2, 2), Array2::zeros((4, 0)));
    assert_eq!(said(parts), "outcome: found no weeks, expected at least 1");
}

#[test]
fn the_analysis_chooses_flags_and_keeps_to_a_protocol() {
    let setting =
        Setting { people: [300, 300], places: [30, 0], missing: [0.25, 0.05], ..Setting::default() };
    let (record, _) = trial(&setting, 3);
    let analysis = analyse(&record, &Asked::default());
    assert_eq!(analysis.primary, Some(Estimator::Adjusted));
    assert!(analysis.missing.unwrap().is_different() && !analysis.is_contradictory());
    let asked = Asked { protocol: Some(Estimator::Exchange) };
    let by_protocol = analyse(&record, &asked);
    assert_eq!((by_protocol.primary, by_protocol.departs_from_protocol), (Some(Estimator::Exchange), false));
    assert_eq!(by_protocol.primary_effect().unwrap(), exchange(&record).unwrap().for_population().unwrap());

    // people who were never called fare better in the policy arm: only the difference sees it, and the record is in doubt
    let mut parts = record.parts().clone();
    for i in 0..300 {
        if parts.call.row(i).iter().all(|call| !call) {
            parts.outcome.row_mut(i).fill(1.0);
        }
    }
    let analysis = analyse(&Record::new(parts).unwrap(), &Asked::default());
    assert!(analysis.is_contradictory(), "{:?}", analysis.apart);

    let (whole, _) = trial(&Setting { missing: [0.0, 0.0], ..setting }, 3);
    assert_eq!(analyse(&whole, &Asked::default()).missing, None);
}
