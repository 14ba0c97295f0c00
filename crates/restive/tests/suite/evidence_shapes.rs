//! Evidence of logs with availability and with clusters, against plain loops over rows, and against chance.

use super::evidence_log::{
    BUDGET, HORIZON, Log, Row, STATES, assert_close, assert_uniform, below, settings, stacked, table,
};
use ndarray::{Array2, Array3};
use rand::RngExt;
use restive::evidence::{Design, Evidence, Judge, Judged};
use restive::instance::{Instance, Logged, NO_ACTION, Parts, UNSEEN};
use restive::random::{Random, stream};
use restive::statistics::normal_quantile;
use restive::{Reward, Trajectories};

/// x less its mean within cells.
fn centred(rows: &[Row], x: &[f64]) -> Vec<f64> {
    let of = |row: &Row| {
        let same = || rows.iter().zip(x).filter(|(other, _)| other.cell == row.cell).map(|(_, x)| *x);
        same().sum::<f64>() / same().count() as f64
    };
    rows.iter().zip(x).map(|(row, x)| x - of(row)).collect()
}

#[test]
fn random_calls_bring_the_mean_weighted_outcome_of_available_decisions() {
    for seed in 0..5 {
        let log = Log::by_lot(5, 24, seed);
        let found = log.evidence(settings(Design::Uniform));
        let rows = log.rows();
        let mean = rows.iter().map(Row::score).sum::<f64>() / rows.len() as f64;
        let scale = (HORIZON * BUDGET) as f64;
        assert_close(found.random().value, scale * mean);
        let apart: Vec<f64> = rows.iter().map(|row| row.score() - mean).collect();
        assert_close(found.random().error, scale * log.error(&rows, &apart) / rows.len() as f64);
        assert_eq!(found.calls(), rows.iter().filter(|row| row.is_called).count());
        // without the column, the unavailable are controls
        let undeclared = Log { available: None, ..log }.evidence(settings(Design::Uniform));
        assert!((undeclared.random().value - found.random().value).abs() > 1e-3);
    }
}

#[test]
fn arms_that_are_never_available_change_nothing() {
    for design in [Design::Uniform, Design::Estimated, Design::Logged] {
        let mut log = Log::by_lot(5, 24, 1);
        log.propensity = Some(log.action.mapv(|action| if action == 1 { 0.4 } else { 0.6 }));
        let steps = log.state.nrows();
        let more = |is_available: bool| {
            let shape = (steps, 30);
            let propensity = log.propensity.as_ref().unwrap();
            // two propensities that could not be read, and one that differs
            let unread = [f64::NAN, 7.0, 0.9];
            let logged = |i: usize, t: usize| if is_available { 0.7 } else { unread[(i + t) % 3] };
            Log {
                state: Array2::from_shape_fn(shape, |(t, i)| match i < 24 {
                    true => log.state[[t, i]],
                    false => ((i * i + 5 * t) % STATES) as u16,
                }),
                action: Array2::from_shape_fn(shape, |(t, i)| match i < 24 {
                    true => log.action[[t, i]],
                    false => 0,
                }),
                available: Some(Array2::from_shape_fn(shape, |(t, i)| match i < 24 {
                    true => log.available.as_ref().unwrap()[[t, i]],
                    false => is_available,
                })),
                propensity: Some(Array2::from_shape_fn(shape, |(t, i)| match i < 24 {
                    true => propensity[[t, i]],
                    false => logged(i, t),
                })),
                ..log.clone()
            }
        };
        let said = |log: &Log| {
            let found = log.evidence(settings(design));
            (found.random(), found.practice(), found.calls(), found.recorded(), found.balance(None))
        };
        assert_eq!(said(&more(false)), said(&log), "{design:?}");
        assert_ne!(said(&more(true)).0, said(&log).0, "{design:?}");
    }
}

#[test]
fn states_of_unavailable_arms_stay_a_part_of_their_history() {
    let judge = Judge::fit(&[Log { available: None, ..Log::by_lot(6, 150, 5) }.instance()]).unwrap();
    let log = Log::by_lot(6, 60, 6);
    let available = log.available.as_ref().unwrap();
    let mut other = log.clone();
    for i in 0..60 {
        if !available[[1, i]] && !available[[2, i]] && log.state[[2, i]] != UNSEEN {
            other.state[[2, i]] = (log.state[[2, i]] + 1) % STATES as u16;
        }
    }
    assert_ne!(other.state, log.state);
    let everyone: Vec<usize> = (0..60).collect();
    let judged = |log: &Log| {
        let instance = log.instance();
        let judged = [Judged { instance: &instance, arms: &everyone, judge: &judge }];
        Evidence::new(&judged, settings(Design::Uniform)).unwrap().random()
    };
    // a state between two decisions without a row: outcomes are the same, expected outcomes are not
    let without_judge = |log: &Log| log.evidence(settings(Design::Uniform)).random();
    assert_eq!(without_judge(&other), without_judge(&log));
    assert!((judged(&other).value - judged(&log).value).abs() > 1e-9);
}

#[test]
fn the_unavailable_have_no_turn() {
    let mut log = Log::by_lot(3, 3, 0);
    log.state.fill(1);
    log.action = ndarray::array![[0, 1, 0], [0, 0, 1], [0, 1, 0], [NO_ACTION, NO_ACTION, NO_ACTION]];
    let said = |available: Option<Array2<bool>>| {
        let found = Log { available, ..log.clone() }.evidence(settings(Design::Rota));
        let ranking = found.ranking(&[table(3)]).unwrap();
        (found.out_of_turn(), found.redealt(&ranking, 9).is_some())
    };
    // the first arm joins the second round; whole schedules cannot change hands
    let available = Array2::from_shape_fn((4, 3), |(t, i)| i > 0 || t > 1);
    assert_eq!(said(Some(available)), (0, false));
    assert_eq!(said(None), (1, true));
}

#[test]
fn availability_is_checked_and_selected_and_keeps_propensities_from_being_read() {
    let mut log = Log::by_lot(2, 4, 0);
    log.action = ndarray::array![[1, 0, 0, 0], [0, 1, 0, 0], [NO_ACTION, NO_ACTION, NO_ACTION, NO_ACTION]];
    log.available = Some(Array2::from_shape_fn((3, 4), |(t, i)| i < 3 || t == 2));
    let mut propensity = Array2::from_elem((3, 4), 0.5);
    (propensity[[0, 3]], propensity[[1, 3]], propensity[[1, 2]]) = (9.0, f64::NAN, f64::NAN);
    log.propensity = Some(propensity);
    log.clusters = Some(vec![5, 5, 8, 2]);
    let instance = log.instance();
    let all = instance.trajectories();
    assert_eq!(all.known_propensities(), (5, 6));
    assert_eq!([all.is_available([0, 0, 3]), all.is_available([0, 0, 2])], [false, true]);
    assert_eq!(all.propensity().unwrap()[[0, 0, 3]], 1.0);
    // moves of the unavailable are passive moves
    log.state.fill(1);
    assert_eq!(log.instance().trajectories().counts().view()[[3, 1, 0, 1]], 2.0);

    let selected = instance.select_arms(&[3, 0]);
    assert_eq!(selected.clusters(), Some(&[2, 5][..]));
    let some = selected.trajectories().available().unwrap();
    assert!(!some[[0, 1, 0]] && some[[0, 1, 1]]);

    let short = Parts { clusters: Some(vec![1; 3]), ..instance.parts().clone() };
    let said = Instance::new(short).unwrap_err().to_string();
    assert_eq!(said, "clusters: found shape [3], expected [4], one per arm");
    log.action[[1, 3]] = 1;
    let logged = Logged {
        state: stacked(&log.state),
        action: stacked(&log.action),
        propensity: None,
        reward: None,
        available: log.available.as_ref().map(stacked),
    };
    let said = Trajectories::new(logged.clone(), STATES).unwrap_err().to_string();
    let expected =
        "action: trajectory 0, step 1, arm 3: found 1, expected 0, because the arm was not available";
    assert_eq!(said, expected);
    assert!(Trajectories::new(Logged { available: None, ..logged }, STATES).unwrap().is_available([0, 1, 3]));
}

#[test]
fn errors_are_sums_over_clusters() {
    for seed in 0..5 {
        let mut log = Log::by_lot(5, 40, seed);
        // numbers with gaps; the last cluster has one arm
        log.clusters = Some((0..40).map(|i| 7 * (i / 3)).collect());
        let found = log.evidence(settings(Design::Uniform));
        assert_eq!(found.clusters(), Some(14));
        let rows = log.rows();
        let score: Vec<f64> = rows.iter().map(Row::score).collect();
        let mean = score.iter().sum::<f64>() / rows.len() as f64;
        let apart: Vec<f64> = score.iter().map(|x| x - mean).collect();
        let scale = (HORIZON * BUDGET) as f64 / rows.len() as f64;
        assert_close(found.random().error, scale * log.error(&rows, &apart));

        let table = table(40);
        let z = |row: &Row| {
            let own = |i: usize| table[[0, i, usize::from(row.cell.1)]];
            let before = (0..40).filter(|i| own(*i) > own(row.arm)).count();
            -normal_quantile((before as f64 + 0.5) / 40.0)
        };
        let w = centred(&rows, &rows.iter().map(z).collect::<Vec<_>>());
        let y = centred(&rows, &score);
        let square: f64 = w.iter().map(|w| w * w).sum();
        let slope = w.iter().zip(&y).map(|(w, y)| w * y).sum::<f64>() / square;
        let psi: Vec<f64> = w.iter().zip(&y).map(|(w, y)| w * (y - slope * w) / square).collect();
        let error = log.error(&rows, &psi) * (14.0_f64 / 13.0).sqrt();
        let statistic = found.ranking(&[table]).unwrap().statistic;
        assert!((statistic - slope / error).abs() < 1e-7, "{statistic} {}", slope / error);
    }
}

#[test]
fn clusters_of_one_arm_are_no_clusters() {
    let plain = Log::by_lot(5, 40, 3);
    let own = Log { clusters: Some((0..40).rev().collect()), ..plain.clone() };
    let [plain, own] = [plain, own].map(|log| log.evidence(settings(Design::Uniform)));
    assert_eq!((plain.clusters(), own.clusters()), (None, Some(40)));
    let said = |found: &Evidence| {
        let ranking = found.ranking(&[table(40)]).unwrap();
        let dealt = found.redealt(&ranking, 50);
        (ranking.statistic, ranking.plan, ranking.top, found.random(), found.deciles(&ranking), dealt)
    };
    let [(a, b, c, d, e, f), (a2, b2, c2, d2, e2, f2)] = [said(&plain), said(&own)];
    assert_eq!((a, b, c, d, f), (a2, b2, c2, d2, f2));
    assert_eq!(format!("{e:?}"), format!("{e2:?}"));
}

#[test]
fn balance_is_by_cluster() {
    for seed in 0..5 {
        let mut log = Log::by_lot(5, 40, seed);
        let rows = log.rows();
        let value = |row: &Row| {
            let now = || {
                rows.iter().filter(|other| other.cell.0 == row.cell.0).map(|other| f64::from(other.cell.1))
            };
            f64::from(row.cell.1) - now().sum::<f64>() / now().count() as f64
        };
        let parts: Vec<f64> = rows.iter().map(|row| row.surprise() * value(row)).collect();
        let sum: f64 = parts.iter().sum();
        let plain: f64 = rows.iter().map(|row| row.share * (1.0 - row.share) * value(row).powi(2)).sum();
        assert_close(log.evidence(settings(Design::Uniform)).balance(None).state, sum / plain.sqrt());
        log.clusters = Some((0..40).map(|i| i / 4).collect());
        let expected = sum / log.error(&rows, &parts);
        assert_close(log.evidence(settings(Design::Uniform)).balance(None).state, expected);
    }
}

/// Households of 6 and of 10, called and faring as one, and a ranking of households.
fn households(seed: u64) -> (Log, Array3<f64>) {
    let mut random = stream(seed, &[39]);
    let households = 30;
    let of: Vec<u32> = (0..households).flat_map(|h| vec![h; if h % 2 == 0 { 6 } else { 10 }]).collect();
    let mut order: Vec<usize> = (0..households as usize).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, random.random_range(0..=i));
    }
    let mut own = |draw: fn(&mut Random) -> f64| -> Vec<f64> { (0..30).map(|_| draw(&mut random)).collect() };
    let (fate, rank) = (own(|random| random.random()), own(|random| random.random()));
    let household = |i: usize| of[i] as usize;
    let shape = (2, of.len());
    let log = Log {
        state: Array2::from_shape_fn(shape, |(t, i)| u16::from(t == 1 && fate[household(i)] < 0.5)),
        action: Array2::from_shape_fn(shape, |(t, i)| match t {
            0 => u8::from(order[household(i)] < 10),
            _ => NO_ACTION,
        }),
        available: None,
        propensity: None,
        clusters: Some(of.clone()),
        reward: Reward::linear(2),
        discount: 0.9,
    };
    let table = Array3::from_shape_fn((1, of.len(), 2), |(_, i, _)| rank[household(i)]);
    (log, table)
}

#[test]
fn calls_of_households_that_do_nothing_make_p_uniform_by_household_only() {
    let logs = 80;
    let p = |log: &Log, table: &Array3<f64>| {
        let found = log.evidence(settings(Design::Uniform));
        found.redealt(&found.ranking(std::slice::from_ref(table)).unwrap(), 99).unwrap()
    };
    let (mut by_household, mut by_arm) = (Vec::new(), Vec::new());
    for seed in 0..logs {
        let (log, table) = households(seed);
        by_household.push(p(&log, &table));
        by_arm.push(p(&Log { clusters: None, ..log }, &table));
    }
    assert_uniform(&mut by_household);
    // the error by arm is too small by √8.5: 28 % are below 5 %; fewer than 12 of 80 once in 300 times
    assert!(below(&by_arm) >= 12, "{} of {logs}", below(&by_arm));
}
