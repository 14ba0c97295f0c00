//! Evidence from chances that a log records for some of its decisions: against a planted truth, and against what must not matter.
//!
//! In the programme of these tests the first weeks were dealt in some way that nobody recorded; then plans call the highest by a hunch
//! for sure and draw others, the worse off with a larger chance, and record every chance.

use ndarray::{Array2, Array3, Array4};
use rand::RngExt;
use restive::evidence::{Design, Evidence, EvidenceSettings, Judge, Judged};
use restive::instance::{Assignment, Instance, Logged, NO_ACTION, Observation, Parts};
use restive::planning::Ending;
use restive::random::{Random, stream};
use restive::{Error, Layout, Reward, Trajectories, Transition};

const PEOPLE: usize = 120;
const SURE: usize = 20;
const UNPLANNED: usize = 3;
const WEEKS: usize = 8;

/// How the weeks without a plan were dealt.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    Lot,
    /// the worse off, and those with more of a feature, more likely
    Chosen,
}

struct Group {
    features: Array2<f64>,
    truth: Transition,
    logged: Logged,
}

impl Group {
    fn instance(&self) -> Instance {
        Instance::new(Parts {
            features: self.features.clone(),
            trajectories: Trajectories::new(self.logged.clone(), 2).unwrap(),
            reward: Reward::linear(2),
            budget: 30,
            discount: 0.99,
            truth: Some(self.truth.clone()),
            observation: Observation::Full,
            clusters: None,
        })
        .unwrap()
    }

    /// Whether somebody could have been drawn, or dealt a call of a week without a plan.
    fn is_open(&self, t: usize, i: usize) -> bool {
        let p = self.logged.propensity.as_ref().unwrap()[[0, t, i]];
        t < UNPLANNED || p < 1.0
    }
}

fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

/// People for whom a call does the more, and who fare the worse, the more the hunch (the second feature) says so.
fn group(before: Before, random: &mut Random) -> Group {
    let features = Array2::from_shape_fn((PEOPLE, 2), |_| normal(random));
    let mut p = Array4::zeros((PEOPLE, 2, 2, 2));
    for i in 0..PEOPLE {
        let (level, call) = (0.8 * features[[i, 0]] - 0.8 * features[[i, 1]], 0.6 + 0.9 * features[[i, 1]]);
        for s in 0..2 {
            for a in 0..2 {
                let up = 1.0 / (1.0 + (-([-1.0, 1.0][s] + level + call * a as f64)).exp());
                (p[[i, s, a, 1]], p[[i, s, a, 0]]) = (up, 1.0 - up);
            }
        }
    }
    let mut hunch: Vec<usize> = (0..PEOPLE).collect();
    hunch.sort_by(|a, b| features[[*b, 1]].total_cmp(&features[[*a, 1]]));
    let shape = (1, WEEKS + 1, PEOPLE);
    let mut state = Array3::from_shape_fn(shape, |_| u16::from(random.random::<bool>()));
    let mut action = Array3::from_elem(shape, NO_ACTION);
    let mut propensity = Array3::from_elem(shape, f64::NAN);
    for t in 0..WEEKS {
        for (rank, &i) in hunch.iter().enumerate() {
            let s = usize::from(state[[0, t, i]]);
            let chance = match (t < UNPLANNED, before) {
                (true, Before::Lot) => 0.25,
                (true, Before::Chosen) => {
                    1.0 / (1.0 + (1.8 - 1.2 * (s == 0) as u8 as f64 - 0.7 * features[[i, 0]]).exp())
                }
                (false, _) if rank < SURE => 1.0,
                (false, _) => [0.35, 0.1][s],
            };
            let a = usize::from(random.random::<f64>() < chance);
            action[[0, t, i]] = a as u8;
            if t >= UNPLANNED {
                propensity[[0, t, i]] = if a == 1 { chance } else { 1.0 - chance };
            }
            state[[0, t + 1, i]] = u16::from(random.random::<f64>() < p[[i, s, a, 1]]);
        }
    }
    let truth = Transition::new(p, Layout::Nsas).unwrap();
    Group {
        features,
        truth,
        logged: Logged { state, action, propensity: Some(propensity), reward: None, available: None },
    }
}

fn groups(before: Before, seed: u64) -> Vec<Group> {
    let mut random = stream(seed, &[5]);
    (0..4).map(|_| group(before, &mut random)).collect()
}

/// A judge of the last two groups, fitted to the first two.
fn judge(groups: &[Group]) -> Judge {
    Judge::fit(&[groups[0].instance(), groups[1].instance()]).unwrap()
}

/// The last two groups, judged by the first two.
fn evidence(groups: &[Group], design: Design, uses_recorded: bool) -> Evidence {
    judged_by(&judge(groups), groups, design, uses_recorded)
}

fn judged_by(judge: &Judge, groups: &[Group], design: Design, uses_recorded: bool) -> Evidence {
    let instances = [groups[2].instance(), groups[3].instance()];
    let everyone: Vec<usize> = (0..PEOPLE).collect();
    let judged: Vec<Judged> =
        instances.iter().map(|instance| Judged { instance, arms: &everyone, judge }).collect();
    let settings = EvidenceSettings {
        design,
        uses_recorded,
        horizon: 7,
        ending: Ending::State,
        seed: 1,
        assignment: Assignment::PerDecision,
    };
    Evidence::new(&judged, settings).unwrap()
}

fn hunches(groups: &[Group]) -> Vec<Array3<f64>> {
    let table = |group: &Group| Array3::from_shape_fn((1, PEOPLE, 2), |(_, i, _)| group.features[[i, 1]]);
    groups[2..].iter().map(table).collect()
}

/// The true mean effect of a call on the next state over decisions of the judged.
fn true_mean(groups: &[Group], is_in: impl Fn(&Group, usize, usize) -> bool) -> f64 {
    let (mut sum, mut rows) = (0.0, 0.0);
    for group in &groups[2..] {
        let p = group.truth.view();
        for t in 0..WEEKS {
            for i in (0..PEOPLE).filter(|i| is_in(group, t, *i)) {
                let s = usize::from(group.logged.state[[0, t, i]]);
                sum += p[[i, s, 1, 1]] - p[[i, s, 0, 1]];
                rows += 1.0;
            }
        }
    }
    sum / rows
}

/// Logs of a test of coverage.
const LOGS: u64 = 200;
/// Half the width of a 95 % interval in standard errors.
const REACH: f64 = 1.96;

#[test]
fn recorded_chances_cover_the_truth_of_those_who_could_have_been_drawn() {
    let planned = |group: &Group, t: usize, i: usize| t >= UNPLANNED && group.is_open(t, i);
    let (mut alone, mut mixed, mut modelled, mut ignored) = (vec![], vec![], vec![], vec![]);
    let mut seen = 0;
    for k in 0..LOGS {
        // how far the estimate is from the truth, in its standard errors
        let off = |evidence: &Evidence, groups: &[Group], truth: f64| {
            let ranking = evidence.ranking(&hunches(groups)).unwrap();
            let mean = evidence.deciles(&ranking).mean;
            ((mean.value - truth) / mean.error, evidence.balance(Some(&ranking)).objection().is_some())
        };
        let lots = groups(Before::Lot, 100 + k);
        let judge_of_lots = judge(&lots);
        let open = true_mean(&lots, Group::is_open);
        let found = |design, uses| judged_by(&judge_of_lots, &lots, design, uses);
        alone.push(off(&found(Design::Logged, false), &lots, true_mean(&lots, planned)).0);
        mixed.push(off(&found(Design::Uniform, true), &lots, open).0);
        // the plans taken for lots, nothing recorded
        let (wrong, is_seen) = off(&found(Design::Uniform, false), &lots, open);
        ignored.push(wrong);
        seen += usize::from(is_seen);
        if k % 2 == 0 {
            let chosen = groups(Before::Chosen, 100 + k);
            let evidence = evidence(&chosen, Design::Estimated, true);
            modelled.push(off(&evidence, &chosen, true_mean(&chosen, Group::is_open)).0);
        }
    }
    for (what, off) in [("alone", alone), ("mixed", mixed), ("modelled", modelled)] {
        let logs = off.len() as f64;
        let covered = off.iter().filter(|off| off.abs() <= REACH).count() as f64 / logs;
        // three standard errors of a share of 95 %
        assert!((covered - 0.95).abs() <= 3.0 * (0.95 * 0.05 / logs).sqrt(), "{what}: {covered}");
        let mean = off.iter().sum::<f64>() / logs;
        assert!(mean.abs() < 0.3, "{what}: off by {mean} standard errors on average");
    }
    let wrong = ignored.iter().sum::<f64>() / LOGS as f64;
    assert!(wrong.abs() > 0.6, "chances ignored: off by {wrong} standard errors on average");
    assert!(seen > 190, "chances ignored: seen in {seen} of {LOGS}");
}

#[test]
fn a_lot_that_was_recorded_for_some_weeks_says_what_the_lot_says() {
    let mut all = groups(Before::Lot, 7);
    for group in &mut all {
        // a lot in every week; in some of them the share is recorded
        let mut random = stream(3, &[group.features[[0, 0]].to_bits()]);
        let propensity = group.logged.propensity.as_mut().unwrap();
        for t in 0..WEEKS {
            let mut calls = 0;
            for i in 0..PEOPLE {
                let a = u8::from(random.random::<f64>() < 0.25);
                group.logged.action[[0, t, i]] = a;
                calls += usize::from(a);
            }
            let share = calls as f64 / PEOPLE as f64;
            for i in 0..PEOPLE {
                let of_action = if group.logged.action[[0, t, i]] == 1 { share } else { 1.0 - share };
                propensity[[0, t, i]] = if t >= UNPLANNED { of_action } else { f64::NAN };
            }
        }
    }
    let [lot, mixed] = [false, true].map(|uses| evidence(&all, Design::Uniform, uses));
    let [a, b] = [&lot, &mixed].map(|found| found.ranking(&hunches(&all)).unwrap());
    for (a, b) in [
        (a.statistic, b.statistic),
        (a.plan.value, b.plan.value),
        (a.plan.error, b.plan.error),
        (lot.random().value, mixed.random().value),
        (lot.balance(Some(&a)).expected, mixed.balance(Some(&b)).expected),
        (lot.calls() as f64, mixed.calls() as f64),
    ] {
        assert!((a - b).abs() < 1e-9 * (1.0 + a.abs()), "{a} {b}");
    }
    assert_eq!((lot.recorded().decisions, mixed.recorded().decisions), (0, WEEKS - UNPLANNED));
    let planned = all[2..].iter().flat_map(|group| {
        (UNPLANNED..WEEKS).map(|t| (0..PEOPLE).filter(|i| group.logged.action[[0, t, *i]] == 1).count())
    });
    assert_eq!(mixed.recorded().calls, planned.sum::<usize>());
    // those weeks alone
    assert_eq!(evidence(&all, Design::Logged, false).calls(), mixed.recorded().calls);
}

#[test]
fn who_was_sure_or_did_not_get_what_was_drawn_teaches_nothing_and_is_counted() {
    let plain = groups(Before::Lot, 11);
    let last = WEEKS - 1;
    let told = |groups: &[Group]| {
        let evidence = evidence(groups, Design::Uniform, true);
        let ranking = evidence.ranking(&hunches(groups)).unwrap();
        (ranking.statistic, ranking.plan.value, evidence.random().value, evidence.recorded())
    };
    let of = |groups: &[Group], t: usize, is: &dyn Fn(f64, u8) -> bool| -> usize {
        let logged = &groups[2].logged;
        let p = logged.propensity.as_ref().unwrap();
        (0..PEOPLE).find(|i| is(p[[0, t, *i]], logged.action[[0, t, *i]])).unwrap()
    };
    let turned = |mut groups: Vec<Group>, i: usize| {
        let next = &mut groups[2].logged.state[[0, last + 1, i]];
        *next = 1 - *next;
        groups
    };
    // the outcome of a certain call may be anything; that of a drawn one may not
    let certain = of(&plain, last, &|p, a| p == 1.0 && a == 1);
    assert_eq!(told(&turned(groups(Before::Lot, 11), certain)), told(&plain));
    let drawn = of(&plain, last, &|p, a| p < 1.0 && a == 1);
    assert_ne!(told(&turned(groups(Before::Lot, 11), drawn)), told(&plain));
    let recorded = told(&plain).3;
    assert_eq!((recorded.not_called, recorded.unlisted, recorded.untold), (0, 0, 0));
    assert_eq!(recorded.sure, 2 * SURE * (WEEKS - UNPLANNED));
    assert_eq!(recorded.share_astray(), 0.0);
    // listed and left alone, called and not listed, listed and nobody says
    let astray = || {
        let mut groups = groups(Before::Lot, 11);
        let left = of(&groups, last, &|p, a| p < 1.0 && a == 0);
        let logged = &mut groups[2].logged;
        logged.propensity.as_mut().unwrap()[[0, last, left]] = f64::NAN;
        logged.propensity.as_mut().unwrap()[[0, last, drawn]] = f64::NAN;
        logged.action[[0, last, certain]] = NO_ACTION;
        (groups, left)
    };
    let (with, left) = astray();
    let found = told(&with);
    assert_eq!((found.3.not_called, found.3.unlisted, found.3.untold), (1, 1, 1));
    assert_eq!(found.3.sure, recorded.sure - 1);
    let all = 3.0 + (found.3.calls + found.3.sure) as f64;
    assert_eq!(found.3.share_astray(), 3.0 / all);
    for i in [left, drawn, certain] {
        assert_eq!(told(&turned(astray().0, i)), found);
    }
}

#[test]
fn a_week_of_which_nobody_has_told_is_left_out() {
    let mut all = groups(Before::Lot, 12);
    let last = WEEKS - 1;
    let whole = evidence(&all, Design::Logged, false).recorded();
    let mut of_week = [0, 0];
    let logged = &mut all[2].logged;
    for i in 0..PEOPLE {
        let p = logged.propensity.as_ref().unwrap()[[0, last, i]];
        if logged.action[[0, last, i]] == 1 {
            of_week[usize::from(p == 1.0)] += 1;
            logged.action[[0, last, i]] = NO_ACTION;
        }
    }
    let found = evidence(&all, Design::Logged, false);
    let recorded = found.recorded();
    assert_eq!((recorded.calls, recorded.sure), (whole.calls - of_week[0], whole.sure - of_week[1]));
    assert_eq!(recorded.untold, of_week[0] + of_week[1]);
    // those who were left alone are no evidence without those who were called
    let before = found.random();
    let logged = &mut all[2].logged;
    let alone = (0..PEOPLE).find(|i| logged.action[[0, last, *i]] == 0).unwrap();
    logged.state[[0, last + 1, alone]] = 1 - logged.state[[0, last + 1, alone]];
    assert_eq!(evidence(&all, Design::Logged, false).random(), before);
}

#[test]
fn chances_that_lie_are_seen_and_true_ones_are_not_objected_to() {
    let (mut objections, logs) = (0, 40);
    for k in 0..logs {
        let mut all = groups(Before::Lot, 400 + k);
        let balance = |all: &[Group]| {
            let found = evidence(all, Design::Rota, true);
            assert_eq!(found.redealt(&found.ranking(&hunches(all)).unwrap(), 9), None);
            found.balance(Some(&found.ranking(&hunches(all)).unwrap()))
        };
        objections += usize::from(balance(&all).objection().is_some());
        assert!(balance(&all).earlier_calls.is_some());
        // the worse off were drawn with a larger chance, and one for all was written down
        for group in &mut all {
            let action = &group.logged.action;
            let p = group.logged.propensity.as_mut().unwrap();
            for ((j, t, i), p) in p.indexed_iter_mut().filter(|(_, p)| **p < 1.0) {
                *p = if action[[j, t, i]] == 1 { 0.225 } else { 0.775 };
            }
        }
        assert!(balance(&all).state < -3.0);
    }
    // five checks beyond 3 standard errors: one log in 70
    assert!(objections <= 3, "{objections} of {logs}");
}

#[test]
fn whoever_needs_all_propensities_says_how_many_are_missing() {
    use restive::evaluation::{Behaviour, Propensity};
    let log = Trajectories::new(groups(Before::Lot, 1)[0].logged.clone(), 2).unwrap();
    let (known, actions) = (PEOPLE * (WEEKS - UNPLANNED), PEOPLE * WEEKS);
    assert_eq!(log.known_propensities(), (known, actions));
    let refused = Propensity::new(&log, Behaviour::Logged, 30).unwrap_err();
    assert!(matches!(refused, Error::Unsuitable { what: "propensity", .. }));
    assert!(refused.to_string().contains("360 of 960 actions of which it is not known"), "{refused}");
    assert!(Propensity::new(&log, Behaviour::Estimated, 30).is_ok());
    let mut wrong = groups(Before::Lot, 1)[0].logged.clone();
    wrong.propensity.as_mut().unwrap()[[0, UNPLANNED, 0]] = 0.0;
    assert!(matches!(Trajectories::new(wrong, 2), Err(Error::Step { what: "propensity", .. })));
}
