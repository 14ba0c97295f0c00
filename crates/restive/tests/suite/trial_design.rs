//! Assignments: sizes, chances, balance. Power: against exact expectations and a loop written apart from it.

use ndarray::{Array2, Array4, array};
use proptest::prelude::*;
use rand::RngExt;
use restive::random::{Random, stream};
use restive::trial::{
    Asked, Clusters, Design, Estimator, Group, Parts, Power, Record, Refusal, Rule, Rules, Unit, World,
    analyse, assign, balance, power,
};
use restive::{Layout, Transition};

fn names(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("p{i}")).collect()
}

fn units<'a>(names: &'a [String], random: &mut Random) -> Vec<Unit<'a>> {
    let mut unit =
        |id| Unit { id, stratum: random.random_range(0..3), score: (random.random::<f64>() * 9.0).round() };
    names.iter().map(|id| unit(id.as_str())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn arms_have_their_sizes_whatever_the_order_of_rows(seed in any::<u64>(), n in 0usize..90, which in 0usize..4) {
        let shares: &[usize] = [&[1, 1][..], &[2, 1], &[30, 20, 20], &[5, 1]][which];
        let names = names(n);
        let mut random = stream(seed, &[]);
        let dealt = units(&names, &mut random);
        let arm = assign(&dealt, shares, seed).unwrap();
        let total: usize = shares.iter().sum();
        for (k, share) in shares.iter().enumerate() {
            let found = arm.iter().filter(|a| **a == k).count() as f64;
            prop_assert!((found - (n * share) as f64 / total as f64).abs() < 1.0);
        }
        let mut order: Vec<usize> = (0..n).collect();
        (1..n).rev().for_each(|i| order.swap(i, random.random_range(0..=i)));
        let shuffled: Vec<Unit> = order.iter().map(|&i| dealt[i]).collect();
        let again = assign(&shuffled, shares, seed).unwrap();
        prop_assert!(order.iter().zip(&again).all(|(&i, a)| arm[i] == *a));
    }
}

#[test]
fn every_unit_has_the_chance_that_its_share_says() {
    const DRAWS: u64 = 3000;
    let names = names(11);
    let dealt = units(&names, &mut stream(8, &[]));
    for (shares, expected) in [(&[1, 1][..], 0.5), (&[2, 1], 2.0 / 3.0), (&[3, 2, 2], 3.0 / 7.0)] {
        let mut first = [0.0; 11];
        for seed in 0..DRAWS {
            let arm = assign(&dealt, shares, seed).unwrap();
            first.iter_mut().zip(&arm).for_each(|(sum, a)| *sum += f64::from(u8::from(*a == 0)));
        }
        let chance = (expected * (1.0 - expected) / DRAWS as f64).sqrt();
        for sum in first {
            assert!((sum / DRAWS as f64 - expected).abs() < 4.5 * chance, "{sum} of {DRAWS}, {shares:?}");
        }
    }
}

#[test]
fn blocks_balance_better_than_coins() {
    let names = names(100);
    let mut random = stream(3, &[]);
    let dealt: Vec<Unit> = names.iter().map(|id| Unit { id, stratum: 0, score: random.random() }).collect();
    let score = Array2::from_shape_fn((100, 1), |(i, _)| dealt[i].score);
    let of = |is_policy: bool| if is_policy { Group::Policy } else { Group::Control };
    let (mut blocked, mut tossed) = (0.0, 0.0);
    for seed in 0..100 {
        let arm = assign(&dealt, &[1, 1], seed).unwrap();
        let by_block: Vec<Group> = arm.iter().map(|a| of(*a == 0)).collect();
        let by_coin: Vec<Group> = (0..100).map(|_| of(random.random())).collect();
        blocked += balance(&by_block, score.view())[0].abs();
        tossed += balance(&by_coin, score.view())[0].abs();
    }
    // pairs leave differences within pairs, of about 1/100, to chance
    assert!(blocked < 0.2 * tossed, "{blocked} {tossed}");
}

#[test]
fn balance_worked_by_hand() {
    use Group::{Control, Policy};
    // means 2 and 1, variances 2 and 2; the second is the same for everybody
    let found =
        balance(&[Policy, Control, Policy, Control], array![[1., 5.], [0., 5.], [3., 5.], [2., 5.]].view());
    assert_eq!(found, [1.0 / 2.0f64.sqrt(), 0.0]);
}

#[test]
fn assignments_that_cannot_be_made_are_errors() {
    let unit = |id, score| Unit { id, stratum: 0, score };
    let said = |units: &[Unit], shares: &[usize]| assign(units, shares, 1).unwrap_err().to_string();
    let two = [unit("a", 1.0), unit("a", 2.0)];
    assert_eq!(said(&two, &[1, 1]), "id: found \"a\" more than once, expected every id once");
    assert_eq!(said(&[unit("a", f64::NAN)], &[1, 1]), "score: entry 0: found NaN, expected a finite number");
    assert_eq!(said(&[], &[1]), "shares: found [1], expected at least two, none of them 0");
    assert_eq!(said(&[], &[1, 0]), "shares: found [1, 0], expected at least two, none of them 0");
}

/// Two-state people; a call adds up to `gain`.
struct Programme {
    transition: Transition,
    start: Array2<f64>,
    index: Array2<f64>,
    other: Array2<f64>,
}

const REWARD: [f64; 2] = [0.0, 1.0];

fn programme(n: usize, gain: f64) -> Programme {
    let mut random = stream(n as u64, &[5]);
    let mut p = Array4::zeros((n, 2, 2, 2));
    for i in 0..n {
        for s in 0..2 {
            let base = [0.1, 0.5][s] + 0.35 * random.random::<f64>();
            for (a, chance) in [base, (base + gain * random.random::<f64>()).min(1.0)].into_iter().enumerate()
            {
                p[[i, s, a, 0]] = 1.0 - chance;
                p[[i, s, a, 1]] = chance;
            }
        }
    }
    let index = Array2::from_shape_fn((n, 2), |(i, s)| p[[i, s, 1, 1]] - p[[i, s, 0, 1]]);
    let other = Array2::from_shape_fn((n, 2), |(i, s)| p[[i, s, 0, 0]]);
    let start = Array2::from_shape_fn((n, 2), |(_, s)| [0.4, 0.6][s]);
    Programme { transition: Transition::new(p, Layout::Nsas).unwrap(), start, index, other }
}

impl Programme {
    fn world(&self, is_against: bool) -> World<'_> {
        World {
            transition: &self.transition,
            reward: &REWARD,
            start: self.start.view(),
            index: self.index.view(),
            control: is_against.then_some(self.other.view()),
        }
    }
}

fn design(weeks: usize, budget: [usize; 2]) -> Design {
    Design { weeks, shares: [1, 1], budget, missing: 0.0, clusters: None, sizes: vec![1.0] }
}

fn of(found: &[Power], estimator: Estimator) -> Power {
    *found.iter().find(|power| power.estimator == estimator).unwrap()
}

#[test]
fn the_truth_is_that_of_the_chains_where_everybody_is_called() {
    let (n, weeks) = (60, 4);
    let people = programme(n, 0.3);
    let found = power(&people.world(false), &design(weeks, [n, 0]), &[0.0, 0.5, 1.0], 400, 9).unwrap();
    for (k, delta) in [0.0, 0.5, 1.0].into_iter().enumerate() {
        let mut expected = 0.0;
        for i in 0..n {
            let p = people.transition.view();
            for (sign, share) in [(1.0, delta), (-1.0, 0.0)] {
                let mut good = 0.6;
                for _ in 0..weeks {
                    let chance = |s: usize| p[[i, s, 0, 1]] + share * (p[[i, s, 1, 1]] - p[[i, s, 0, 1]]);
                    good = (1.0 - good) * chance(0) + good * chance(1);
                    expected += sign * good / 2.0; // half of the people are in the policy arm
                }
            }
        }
        let truth = found[5 * k].truth;
        assert!((truth.value - expected).abs() <= 4.0 * truth.error + 1e-12, "{truth:?} {expected}");
        assert!(delta > 0.0 || truth.value == 0.0);
    }
}

/// One trial of a programme, apart from the library but for the assignment and the analysis.
fn one_trial(people: &Programme, weeks: usize, places: [usize; 2], missing: f64, seed: u64) -> Record {
    let n = people.index.nrows();
    let mut random = stream(seed, &[99]);
    let p = people.transition.view();
    let mut ahead = Array2::<f64>::zeros((n, 2));
    let mut prognosis = ndarray::Array3::zeros((n, 2, weeks));
    for t in (0..weeks).rev() {
        let good = |i: usize, s: usize| p[[i, s, 0, 1]];
        ahead = Array2::from_shape_fn((n, 2), |(i, s)| {
            good(i, s) * (1.0 + ahead[[i, 1]]) + (1.0 - good(i, s)) * ahead[[i, 0]]
        });
        prognosis.slice_mut(ndarray::s![.., .., t]).assign(&ahead);
    }
    let start: Vec<usize> = (0..n).map(|_| usize::from(random.random::<f64>() < 0.6)).collect();
    let ids = names(n);
    let units: Vec<Unit> =
        (0..n).map(|i| Unit { id: &ids[i], stratum: 0, score: prognosis[[i, start[i], 0]] }).collect();
    let arm = assign(&units, &[1, 1], seed).unwrap();
    let tie: Vec<f64> = (0..n).map(|_| random.random()).collect();
    let (mut state, mut call) = (start.clone(), Array2::from_elem((n, weeks), false));
    let mut outcome = Array2::zeros((n, weeks));
    let [mut ours, mut theirs, mut expected] = [0; 3].map(|_| Array2::zeros((n, weeks)));
    for t in 0..weeks {
        for i in 0..n {
            ours[[i, t]] = people.index[[i, state[i]]];
            theirs[[i, t]] = people.other[[i, state[i]]];
            expected[[i, t]] = prognosis[[i, state[i], t]];
        }
        for (a, score) in [&ours, &theirs].into_iter().enumerate() {
            let mut order: Vec<usize> = (0..n).filter(|&i| arm[i] == a).collect();
            order.sort_by(|&i, &j| (score[[j, t]], tie[j]).partial_cmp(&(score[[i, t]], tie[i])).unwrap());
            order.iter().take(places[a]).for_each(|&i| call[[i, t]] = true);
        }
        for i in 0..n {
            let chance = p[[i, state[i], usize::from(call[[i, t]]), 1]];
            state[i] = usize::from(random.random::<f64>() < chance);
            let is_missing = random.random::<f64>() < missing;
            outcome[[i, t]] = if is_missing { f64::NAN } else { state[i] as f64 };
        }
    }
    let group: Vec<Group> =
        arm.iter().map(|a| if *a == 0 { Group::Policy } else { Group::Control }).collect();
    let tie = Array2::from_shape_fn((n, weeks), |(i, _)| tie[i]);
    let policy = Rule::of_lists(ours, &tie, &call, &group, Group::Policy);
    let control = Rule::of_lists(theirs, &tie, &call, &group, Group::Control);
    let control = (places[1] > 0).then_some(control);
    let rules = Ok(Rules { policy, control, tie, prognosis: Some(expected) });
    let covariates = Array2::from_shape_fn((n, 1), |(i, _)| prognosis[[i, start[i], 0]]);
    Record::new(Parts { group, outcome, call, covariates, cluster: None, rules }).unwrap()
}

#[test]
fn power_is_that_of_a_loop_written_apart() {
    const TRIALS: u64 = 150;
    let (n, weeks) = (600, 5);
    for (places, missing) in [([30, 0], 0.1), ([30, 30], 0.0)] {
        let people = programme(n, 0.5);
        let records: Vec<Record> =
            (0..TRIALS).map(|seed| one_trial(&people, weeks, places, missing, 31 + seed)).collect();
        let plan = Design { missing, ..design(weeks, places) };
        let found = power(&people.world(places[1] > 0), &plan, &[1.0], TRIALS as usize, 4).unwrap();
        let is_refused = |estimator: &Estimator| *estimator == Estimator::Subgroup && places[1] > 0;
        for estimator in Estimator::ALL.into_iter().filter(|estimator| !is_refused(estimator)) {
            let effects: Vec<_> =
                records.iter().map(|r| analyse(r, &Asked::default()).effect(estimator).unwrap()).collect();
            let mean = |of: &dyn Fn(&restive::trial::Effect) -> f64| {
                effects.iter().map(of).sum::<f64>() / TRIALS as f64
            };
            let power = of(&found, estimator);
            let rejected = mean(&|e| f64::from(u8::from(e.low > 0.0 || e.high < 0.0)));
            let both = (rejected + power.rejection.value) / 2.0;
            let error = (2.0 * both * (1.0 - both) / TRIALS as f64).sqrt();
            let name = estimator.name();
            assert!((rejected - power.rejection.value).abs() <= 4.0 * error, "{name}: {rejected} {power:?}");
            let error = 2.0f64.sqrt() * power.estimate.error;
            assert!((mean(&|e| e.estimate) - power.estimate.value).abs() < 4.0 * error, "{name}: {power:?}");
            let error = 2.0f64.sqrt() * power.se.error;
            assert!((mean(&|e| e.se) - power.se.value).abs() < 4.5 * error, "{name}: {power:?}");
            assert!((power.detectable / power.se.value - 2.8016).abs() < 1e-3);
        }
    }
}

#[test]
fn power_has_the_same_bits_for_every_number_of_threads() {
    let people = programme(200, 0.5);
    let plan = Design { missing: 0.1, sizes: vec![0.5, 1.0], ..design(4, [20, 0]) };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| power(&people.world(false), &plan, &[0.0, 1.0], 20, 1).unwrap());
        format!("{found:?}")
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn more_people_find_smaller_effects() {
    let people = programme(800, 0.5);
    let plan = Design { sizes: vec![0.25, 1.0], ..design(4, [40, 0]) };
    let found = power(&people.world(false), &plan, &[1.0], 40, 1).unwrap();
    let [small, large] = [&found[..5], &found[5..]].map(|part| of(part, Estimator::Exchange));
    assert_eq!((small.people, large.people), (100.0, 400.0));
    // per person called the noise goes down as the root of their number
    let each = |power: Power| power.detectable_per_person_called.unwrap();
    assert!((each(small) / each(large) - 2.0).abs() < 0.4, "{} {}", each(small), each(large));
}

#[test]
fn clusters_that_share_a_shock_are_covered_by_the_regression_alone() {
    let people = programme(600, 0.5);
    let clusters = Some(Clusters { of: (0..600).map(|i| i % 40).collect(), sd: 0.6 });
    let plan = Design { clusters, ..design(4, [30, 0]) };
    let trials = 300;
    let found = power(&people.world(false), &plan, &[0.0], trials, 2).unwrap();
    let lin = of(&found, Estimator::Lin);
    let chance = (0.95 * 0.05 / trials as f64).sqrt();
    assert!((lin.coverage.value - 0.95).abs() < 4.0 * chance, "{lin:?}");
    assert!(lin.bias.value.abs() < 4.0 * lin.bias.error, "{lin:?}");
    let plain = of(&found, Estimator::Difference);
    assert_eq!((plain.answered, plain.refused), (0, Some(Refusal::Clusters)));
    // people who were assigned one by one would be far more certain
    let alone = power(&people.world(false), &design(4, [30, 0]), &[0.0], 20, 2).unwrap();
    assert!(
        lin.se.value > 1.5 * of(&alone, Estimator::Lin).se.value,
        "{} {}",
        lin.se.value,
        of(&alone, Estimator::Lin).se.value
    );
}

#[test]
fn worlds_and_designs_that_cannot_be_are_errors() {
    let people = programme(20, 0.5);
    let said =
        |world: &World, plan: &Design, trials| power(world, plan, &[1.0], trials, 0).unwrap_err().to_string();
    let (world, plan) = (people.world(false), design(4, [2, 0]));
    assert_eq!(said(&world, &plan, 1), "trials: found 1, expected at least 2");
    assert_eq!(said(&world, &design(0, [2, 0]), 5), "weeks: found 0, expected at least 1");
    let short = World { reward: &REWARD[..1], ..world };
    assert_eq!(said(&short, &plan, 5), "reward: found shape [1], expected [2]");
    let start = Array2::from_elem((20, 2), 0.4);
    assert_eq!(
        said(&World { start: start.view(), ..world }, &plan, 5),
        "start: found [0.4, 0.4] of arm 0, expected chances that sum to 1"
    );
    let missing = Design { missing: 1.0, ..plan.clone() };
    assert_eq!(said(&world, &missing, 5), "missing: found 1, expected a rate from 0 to below 1");
    let sizes = Design { sizes: vec![0.0], ..plan.clone() };
    assert_eq!(said(&world, &sizes, 5), "sizes: found 0, expected above 0 and at most 1");
    let clusters = Some(Clusters { of: vec![0; 3], sd: 0.1 });
    assert_eq!(said(&world, &Design { clusters, ..plan }, 5), "clusters: found shape [3], expected [20]");
}
