//! The synthetic maternal programme: what it promises of sizes, of people, and of what features explain.

use ndarray::{Array1, Array2, ArrayView1, Axis, s};
use restive::data::features::{Column, Features};
use restive::data::maternal::{Maternal, POVERTY_LINE, Programme, rupees, schooling};
use restive::data::split::Part;

fn numbers(people: &Features, name: &str) -> Vec<f64> {
    match people.column(name) {
        Some(Column::Number(values)) => values.clone(),
        _ => panic!("{name}: numbers"),
    }
}

fn texts(people: &Features, name: &str) -> Vec<String> {
    match people.column(name) {
        Some(Column::Text(values)) => values.iter().map(|text| text.clone().unwrap()).collect(),
        _ => panic!("{name}: text"),
    }
}

fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().collect::<Array1<f64>>().mean().unwrap()
}

/// Log-odds of engaging in state 0 when left alone, and what a call adds in each state.
fn log_odds(programme: &Programme, k: usize) -> [Array1<f64>; 3] {
    let p = programme.instances[k].truth().unwrap().view();
    let logit = |s: usize, a: usize| p.slice(s![.., s, a, 1]).mapv(|p| (p / (1.0 - p)).ln());
    [logit(0, 0), logit(0, 1) - logit(0, 0), logit(1, 1) - logit(1, 0)]
}

/// Share of the variance that a linear regression on the columns explains: conjugate gradients on the normal equations, which
/// do not mind that the columns of a category sum to 1.
fn explained(x: &Array2<f64>, y: ArrayView1<'_, f64>) -> f64 {
    let x = x - &x.mean_axis(Axis(0)).unwrap();
    let y = &y - y.mean().unwrap();
    let mut w = Array1::<f64>::zeros(x.ncols());
    let mut residual = x.t().dot(&y);
    let mut direction = residual.clone();
    for _ in 0..500 {
        let norm = residual.dot(&residual);
        if norm < 1e-16 {
            break;
        }
        let along = x.dot(&direction);
        let step = norm / along.dot(&along);
        w.scaled_add(step, &direction);
        residual.scaled_add(-step, &x.t().dot(&along));
        direction = &residual + &(&direction * (residual.dot(&residual) / norm));
    }
    let left = &y - &x.dot(&w);
    1.0 - left.dot(&left) / y.dot(&y)
}

#[test]
fn features_explain_the_shares_that_are_asked_for() {
    let shares = [(0.4, 0.3), (0.1, 0.8), (0.0, 1.0)];
    for (seed, (explained_baseline, explained_effect)) in shares.into_iter().enumerate() {
        let asked = Maternal {
            groups: 1,
            people: 20_000,
            explained_baseline,
            explained_effect,
            ..Maternal::default()
        };
        let programme = asked.generate(seed as u64).unwrap();
        let x = programme.instances[0].features().to_owned();
        let [baseline, effect, in_state_1] = log_odds(&programme, 0);
        // a share of 20,000 people has a standard error of 0.006 at most, 43 columns explain 0.002 of pure noise
        assert!((explained(&x, baseline.view()) - explained_baseline).abs() < 0.02);
        assert!((explained(&x, effect.view()) - explained_effect).abs() < 0.02);
        // means and spreads: standard errors 0.007 and 0.006, and as much for the reference population
        let typical = (0.13f64 / 0.87).ln();
        assert!((baseline.mean().unwrap() - typical).abs() < 0.05 && (baseline.std(0.0) - 1.0).abs() < 0.04);
        assert!((effect.mean().unwrap() - 0.5).abs() < 0.04 && (effect.std(0.0) - 0.8).abs() < 0.04);
        assert!((&effect - &in_state_1).iter().all(|difference| difference.abs() < 1e-9), "one effect");
    }
}

#[test]
fn the_programme_has_the_published_sizes() {
    let maternal = Maternal::default();
    let programme = maternal.generate(3).unwrap();
    assert_eq!(programme.encoding.width(), 43);
    assert_eq!((programme.people.len(), programme.best_from_features.len()), (12, 12));
    for instance in &programme.instances {
        assert_eq!(instance.features().dim(), (639, 43));
        let log = instance.trajectories();
        assert_eq!(log.state().dim(), (1, 8, 639));
        assert!(log.propensity().is_none(), "a rota has no propensities");
        let calls = log.action().slice(s![0, ..7, ..]).mapv(u32::from);
        assert!(calls.sum_axis(Axis(1)).iter().all(|calls| *calls == 18));
        let called = calls.sum_axis(Axis(0));
        assert_eq!((called.sum(), *called.iter().max().unwrap()), (7 * 18, 1)); // 20 % of 639, nobody twice
    }
    let split = maternal.split(1).unwrap();
    let groups = Part::ALL.map(|part| split.part(part).iter().map(|g| g.instance).collect::<Vec<_>>());
    assert_eq!(groups, [(0..8).collect(), vec![8], vec![9, 10, 11]]);
    let split = |groups| Maternal { groups, people: 10, budget: 1, ..Maternal::default() }.split(1).unwrap();
    let sizes = |groups| Part::ALL.map(|part| split(groups).part(part).len());
    assert_eq!([sizes(3), sizes(4), sizes(24)], [[1, 1, 1], [2, 1, 1], [16, 2, 6]]);
    assert_eq!(split(1).part(Part::Train)[0].arms.len(), 7); // people of the one group

    // people start where being left alone leads: no trend in those who are never called (standard error of a week's share
    // 0.006, of which two make a difference)
    let share = |t: usize| {
        mean(programme.instances.iter().map(|instance| {
            instance.trajectories().state().slice(s![0, t, 126..]).mapv(f64::from).mean().unwrap()
        }))
    };
    assert!((share(7) - share(0)).abs() < 0.025, "{} {}", share(0), share(7));
    // published: values of 1,682 to 1,717 of a group under the policy that was played, out of 639·(1 + γ + … + γ⁶)
    assert!((0.38..0.42).contains(&share(0)), "{}", share(0));
}

#[test]
fn people_are_like_the_published_aggregates_and_hang_together() {
    let people = Features::stack(&Maternal::default().generate(4).unwrap().people);
    assert_eq!(people.arms(), 7668);
    let share = |name: &str, category: &str| {
        mean(texts(&people, name).into_iter().map(|text| f64::from(text == category)))
    };
    // those who were selected by one or the other method, as published, with a standard error of ours at both ends
    assert!((24.9..25.6).contains(&mean(numbers(&people, "age"))));
    assert!((17.2..24.3).contains(&mean(numbers(&people, "weeks pregnant at enrolment"))));
    assert!((0.03..0.13).contains(&mean(numbers(&people, "has given birth"))));
    assert!((0.53..0.60).contains(&share("language", "Hindi")));
    assert!((0.40..0.45).contains(&share("language", "Marathi")));
    assert!((0.81..0.87).contains(&share("phone owner", "woman")));
    assert!((0.11..0.17).contains(&share("phone owner", "husband")));
    assert!((0.47..0.70).contains(&share("enrolment channel", "community")));
    let income: Vec<f64> = texts(&people, "income").iter().map(|text| rupees(text).unwrap()).collect();
    assert!((10_200.0..11_200.0).contains(&mean(income.iter().copied())));
    assert!((0.93..0.95).contains(&mean(income.iter().map(|x| f64::from(*x < POVERTY_LINE)))));
    let level: Vec<f64> =
        texts(&people, "education").iter().map(|text| schooling(text).unwrap() as f64).collect();
    assert!((3.16..3.32).contains(&mean(level.iter().copied())));

    let correlation = |a: &[f64], b: &[f64]| {
        let (a, b) = (Array1::from(a.to_vec()), Array1::from(b.to_vec()));
        let (a, b) = (&a - a.mean().unwrap(), &b - b.mean().unwrap());
        a.dot(&b) / (a.dot(&a) * b.dot(&b)).sqrt()
    };
    let (age, parity) = (numbers(&people, "age"), numbers(&people, "parity"));
    assert!(correlation(&level, &income) > 0.2);
    assert!(correlation(&age, &parity) > 0.3);
    let (weeks, days) =
        (numbers(&people, "weeks pregnant at enrolment"), numbers(&people, "days since first call"));
    let [born, still, live, pregnancies] =
        ["has given birth", "stillbirths", "live births", "gravidity"].map(|name| numbers(&people, name));
    for i in 0..people.arms() {
        assert!(parity[i] == still[i] + live[i] && pregnancies[i] >= parity[i] + 1.0);
        let now = weeks[i] + days[i] / 7.0;
        assert!(if born[i] == 1.0 { now > 31.0 } else { now < 47.0 }, "within five deviations of the term");
    }
}

#[test]
fn the_best_from_features_is_right_on_average_and_exact_where_features_say_all() {
    let people = 60_000;
    let base = Maternal { groups: 1, people, weeks: 1, ..Maternal::default() };
    let all = Maternal { explained_baseline: 1.0, explained_effect: 1.0, people: 300, ..base.clone() };
    let programme = all.generate(5).unwrap();
    let [truth, best] = [programme.instances[0].truth().unwrap(), &programme.best_from_features[0]];
    assert!((&truth.view() - &best.view()).iter().all(|d| d.abs() < 1e-12));

    // whatever is known of people in a state (weights w), the truth is the prediction on average
    let programme = base.generate(6).unwrap();
    let (instance, best) = (&programme.instances[0], programme.best_from_features[0].view());
    let (truth, x) = (instance.truth().unwrap().view(), instance.features());
    let start = instance.trajectories().state().slice(s![0, 0, ..]).to_owned();
    for (s, a) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        for column in [None, Some(0), Some(9), Some(20)] {
            let there = (0..people).filter(|i| usize::from(start[*i]) == s);
            let error =
                |i: usize| (truth[[i, s, a, 1]] - best[[i, s, a, 1]]) * column.map_or(1.0, |c| x[[i, c]]);
            let errors: Array1<f64> = there.map(error).collect();
            let (mean, deviation) = (errors.mean().unwrap(), errors.std(1.0) / (errors.len() as f64).sqrt());
            assert!(mean.abs() < 4.0 * deviation, "({s}, {a}), {column:?}: {mean} ± {deviation}");
        }
    }
}

#[test]
fn a_programme_depends_on_its_seed_and_on_nothing_else() {
    let small = Maternal { groups: 3, people: 40, budget: 3, ..Maternal::default() };
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| small.generate(9).unwrap())
    };
    let programme = with(1);
    assert_eq!(programme, with(3));
    let other = small.generate(10).unwrap();
    assert_eq!(programme.encoding, other.encoding);
    assert!(programme.people[0] != other.people[0] && programme.people[0] != programme.people[1]);
    // a person's own noise has streams of its own: other parameters leave the people as they are
    assert_eq!(programme.people, Maternal { effect: 0.0, weeks: 3, ..small }.generate(9).unwrap().people);
}

#[test]
fn numbers_that_make_no_programme_are_refused() {
    let base = Maternal { groups: 1, people: 10, budget: 1, ..Maternal::default() };
    let refused = [
        Maternal { groups: 0, ..base.clone() },
        Maternal { people: 0, budget: 0, ..base.clone() },
        Maternal { weeks: 0, ..base.clone() },
        Maternal { budget: 11, ..base.clone() },
        Maternal { stay_engaged: 1.0, ..base.clone() },
        Maternal { stay_disengaged: f64::NAN, ..base.clone() },
        Maternal { baseline_spread: -1.0, ..base.clone() },
        Maternal { effect_spread: f64::INFINITY, ..base.clone() },
        Maternal { effect: f64::NAN, ..base.clone() },
        Maternal { explained_baseline: 1.1, ..base.clone() },
        Maternal { explained_effect: -0.1, ..base.clone() },
        Maternal { discount: 1.5, ..base.clone() },
    ];
    for maternal in refused {
        assert!(maternal.generate(1).is_err(), "{maternal:?}");
    }
    // the extremes are programmes, and their numbers are finite
    let extreme = Maternal { baseline_spread: 20.0, effect_spread: 20.0, effect: -20.0, ..base };
    assert!(extreme.generate(1).is_ok());
}
