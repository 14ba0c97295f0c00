//! Evidence against plain NumPy, against chance, and against what would game it.

use super::golden::{cases, numbers};
use ndarray::{Array2, Array3, Array4, Axis, array, s};
use rand::RngExt;
use restive::evidence::{Design, Evidence, EvidenceSettings, Judge, Judged};
use restive::instance::{Assignment, Instance, Logged, NO_ACTION, Observation, Parts, UNSEEN};
use restive::planning::Ending;
use restive::policy::Policy;
use restive::random::{Random, stream};
use restive::simulation::{Initial, Setting, trajectories, values};
use restive::{Layout, Reward, Trajectories, Transition};
use serde_json::Value;

fn settings(design: Design, horizon: usize) -> EvidenceSettings {
    EvidenceSettings {
        design,
        uses_recorded: false,
        horizon,
        ending: Ending::State,
        seed: 1,
        assignment: Assignment::PerDecision,
    }
}

/// Everybody of some instances, judged by one judge.
fn evidence(judged: &[Instance], judge: &Judge, settings: EvidenceSettings) -> Evidence {
    let arms: Vec<Vec<usize>> = judged.iter().map(|instance| (0..instance.arms()).collect()).collect();
    let judged: Vec<Judged> =
        judged.iter().zip(&arms).map(|(instance, arms)| Judged { instance, arms, judge }).collect();
    Evidence::new(&judged, settings).unwrap()
}

fn golden_instances(case: &Value) -> Vec<Instance> {
    let (m, n) = (case["states"].as_u64().unwrap() as usize, case["people"].as_u64().unwrap() as usize);
    let all = case["state"].as_array().unwrap().len();
    let state = numbers(&case["state"]);
    let steps = state.len() / all;
    let state = Array2::from_shape_vec((all, steps), state).unwrap();
    let action = Array2::from_shape_vec((all, steps - 1), numbers(&case["action"])).unwrap();
    let features = Array2::from_shape_vec((all, 2), numbers(&case["features"])).unwrap();
    let reward: Vec<f64> = numbers(&case["reward"]);
    let group = |g: usize| {
        let logged = Logged {
            state: Array3::from_shape_fn((1, steps, n), |(_, t, i)| state[[g * n + i, t]] as u16),
            action: Array3::from_shape_fn((1, steps, n), |(_, t, i)| match t + 1 < steps {
                true => action[[g * n + i, t]] as u8,
                false => NO_ACTION,
            }),
            propensity: None,
            reward: None,
            available: None,
        };
        Instance::new(Parts {
            features: features.slice(s![g * n..(g + 1) * n, ..]).to_owned(),
            trajectories: Trajectories::new(logged, m).unwrap(),
            reward: Reward::of_state(&reward).unwrap(),
            budget: case["budget"].as_u64().unwrap() as usize,
            discount: case["discount"].as_f64().unwrap(),
            truth: None,
            observation: Observation::Full,
            clusters: None,
        })
        .unwrap()
    };
    (0..all / n).map(group).collect()
}

#[test]
fn judge_scores_slope_and_gains_equal_plain_numpy() {
    for case in cases("evidence") {
        let all = golden_instances(&case);
        let (others, judged) = all.split_at(2);
        let judge = Judge::fit(others).unwrap();
        let ending =
            if case["is_ending_counted"].as_bool().unwrap() { Ending::State } else { Ending::Nothing };
        let horizon = case["horizon"].as_u64().unwrap() as usize;
        let asked = EvidenceSettings { ending, ..settings(Design::Uniform, horizon) };
        let evidence = evidence(judged, &judge, asked);
        let (m, n) = (all[0].states(), all[0].arms());
        let table = Array3::from_shape_vec((2, n, m), numbers(&case["table"])).unwrap();
        let tables: Vec<Array3<f64>> =
            table.outer_iter().map(|own| own.to_owned().insert_axis(Axis(0))).collect();
        let found = evidence.ranking(&tables).unwrap();
        // the judge stops when a step changes nothing in the fifth digit; scores hardly feel it
        for (name, found) in [
            ("slope_over_error", found.statistic),
            ("gain", found.gain.value),
            ("gain_error", found.gain.error),
            ("top", found.top.value),
            ("random", evidence.random().value),
        ] {
            let expected = case[name].as_f64().unwrap();
            assert!((found - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{name}: {found} {expected}");
        }
    }
}

/// Two groups of people who differ in how they fare and in what a call does to them, as features partly tell.
struct World {
    features: Vec<Array2<f64>>,
    truth: Vec<Transition>,
    budget: usize,
    weeks: usize,
}

fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

impl World {
    /// `effect` and `spread`: mean and standard deviation of what a call adds to the log-odds.
    fn new(people: usize, budget: usize, effect: f64, spread: f64, seed: u64) -> Self {
        let mut random = stream(seed, &[77]);
        let (mut features, mut truth) = (Vec::new(), Vec::new());
        for _ in 0..4 {
            let x = Array2::from_shape_fn((people, 3), |_| normal(&mut random));
            let mut p = Array4::zeros((people, 2, 2, 2));
            for i in 0..people {
                let level = x[[i, 0]] + 0.7 * normal(&mut random);
                let call = effect + spread * (0.6 * x[[i, 1]] + 0.8 * normal(&mut random));
                for s in 0..2 {
                    for a in 0..2 {
                        let eta = [-1.9, 1.1][s] + level + call * a as f64;
                        let up = 1.0 / (1.0 + (-eta).exp());
                        p[[i, s, a, 1]] = up;
                        p[[i, s, a, 0]] = 1.0 - up;
                    }
                }
            }
            features.push(x);
            truth.push(Transition::new(p, Layout::Nsas).unwrap());
        }
        Self { features, truth, budget, weeks: 7 }
    }

    fn setting<'a>(&self, truth: &'a Transition, reward: &'a Reward, horizon: usize) -> Setting<'a> {
        let (motion, reward) = (truth.view().into(), reward.into());
        Setting { motion, reward, discount: 0.99, budget: self.budget, horizon }
    }

    /// A log of all groups.
    fn log(&self, policy: &Policy, seed: u64) -> Vec<Instance> {
        let reward = Reward::linear(2);
        let group = |g: usize| {
            let setting = self.setting(&self.truth[g], &reward, self.weeks);
            let seed = stream(seed, &[g as u64]).random();
            let log = trajectories(&setting, &Initial::Uniform, policy, 1, seed);
            let (state, action) = (log.state().to_owned(), log.action().to_owned());
            // the chance of what was done
            let share = self.budget as f64 / state.len_of(Axis(2)) as f64;
            let propensity = action.mapv(|action| if action == 1 { share } else { 1.0 - share });
            self.instance(
                g,
                Logged { state, action, propensity: Some(propensity), reward: None, available: None },
            )
        };
        (0..4).map(group).collect()
    }

    fn instance(&self, g: usize, logged: Logged) -> Instance {
        Instance::new(Parts {
            features: self.features[g].clone(),
            trajectories: Trajectories::new(logged, 2).unwrap(),
            reward: Reward::linear(2),
            budget: self.budget,
            discount: 0.99,
            truth: Some(self.truth[g].clone()),
            observation: Observation::Full,
            clusters: None,
        })
        .unwrap()
    }

    /// The true one-step effects of the judged groups, `[1,N,2]`.
    fn effects(&self) -> Vec<Array3<f64>> {
        self.truth[2..].iter().map(effect_table).collect()
    }

    /// What features tell of them.
    fn features_tell(&self) -> Vec<Array3<f64>> {
        let table = |x: &Array2<f64>| Array3::from_shape_fn((1, x.nrows(), 2), |(_, i, _)| x[[i, 1]]);
        self.features[2..].iter().map(table).collect()
    }

    /// What the plan of a ranking brings over random calls, counting the state after every call.
    fn true_gain(&self, log: &[Instance], tables: &[Array3<f64>]) -> f64 {
        let reward = Reward::linear(2);
        let group = |g: usize| {
            // one more step, whose decision changes nothing that counts; the first state is the same for both
            let setting = self.setting(&self.truth[g], &reward, self.weeks + 1);
            let first = log[g].trajectories().state().slice(s![0..1, 0, ..]).to_owned();
            let run = |policy: &Policy| {
                values(&setting, &Initial::States(first.clone()), policy, 150, 5).mean().unwrap()
            };
            run(&Policy::Strict(tables[g - 2].index_axis(Axis(0), 0).to_owned())) - run(&Policy::Random)
        };
        group(2) + group(3)
    }
}

fn effect_table(truth: &Transition) -> Array3<f64> {
    let p = truth.view();
    Array3::from_shape_fn((1, truth.arms(), 2), |(_, i, s)| p[[i, s, 1, 1]] - p[[i, s, 0, 1]])
}

fn judged_by_others(log: &[Instance], design: Design) -> Evidence {
    let judge = Judge::fit(&log[..2]).unwrap();
    evidence(&log[2..], &judge, settings(design, 7))
}

/// Tables with people shuffled.
fn wrong_people(tables: &[Array3<f64>], random: &mut Random) -> Vec<Array3<f64>> {
    let shuffle = |table: &Array3<f64>| {
        let mut order: Vec<usize> = (0..table.len_of(Axis(1))).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, random.random_range(0..=i));
        }
        table.select(Axis(1), &order)
    };
    tables.iter().map(shuffle).collect()
}

#[test]
fn intervals_cover_and_wrong_people_are_not_believed() {
    let (mut covered, mut found, mut wrong, logs) = ([0, 0], 0, 0, 40);
    let mut random = stream(3, &[1]);
    for k in 0..logs {
        let world = World::new(500, 25, 0.5, 1.0, 900 + k / 10);
        let policy = if k % 2 == 0 { Policy::Random } else { Policy::RoundRobin };
        let design = if k % 2 == 0 { Design::Uniform } else { Design::Rota };
        let log = world.log(&policy, k);
        let evidence = judged_by_others(&log, design);
        for (at, tables) in [world.effects(), world.features_tell()].iter().enumerate() {
            let ranking = evidence.ranking(tables).unwrap();
            let [low, high] = ranking.plan.interval();
            let gain = world.true_gain(&log, tables);
            covered[at] += usize::from(low <= gain && gain <= high);
            found += usize::from(at == 0 && ranking.p < 0.05);
        }
        let shuffled = wrong_people(&world.effects(), &mut random);
        wrong += usize::from(evidence.ranking(&shuffled).unwrap().p < 0.05);
    }
    // 95 % of 40 is 38; below 34 or, of 5 %, above 6 is less likely than 1 in 100
    assert!(covered.iter().all(|covered| *covered >= 34), "{covered:?} of {logs}");
    assert!(wrong <= 6, "{wrong} of {logs}");
    assert!(found >= 30, "{found} of {logs}");
}

/// Logs of a test of p.
const LOGS: u64 = 100;

#[test]
fn calls_dealt_anew_make_p_uniform_where_calls_do_nothing() {
    for (policy, design) in [
        (Policy::Random, Design::Uniform),
        (Policy::Random, Design::Logged),
        (Policy::RoundRobin, Design::Rota),
    ] {
        let world = World::new(60, 6, 0.0, 0.0, 4);
        let mut random = stream(6, &[6]);
        let mut all: Vec<f64> = (0..LOGS)
            .map(|k| {
                let evidence = judged_by_others(&world.log(&policy, 1000 + k), design);
                // the order of a rota has nothing to do with people: their ranks are dealt anew for each log
                let ranking = evidence.ranking(&wrong_people(&world.features_tell(), &mut random)).unwrap();
                evidence.redealt(&ranking, 99).unwrap()
            })
            .collect();
        all.sort_by(f64::total_cmp);
        // Kolmogorov and Smirnov: 1.63/√n is exceeded once in a hundred times
        let n = LOGS as f64;
        let apart = all.iter().enumerate().map(|(k, p)| (p - (k as f64 + 0.5) / n).abs());
        let apart = apart.fold(0.0, f64::max);
        assert!(apart < 1.63 / n.sqrt() + 0.01, "{design:?}: {apart}");
    }
}

#[test]
fn constants_scales_and_rising_maps_change_no_digit() {
    let world = World::new(200, 10, 0.5, 1.0, 1);
    let evidence = judged_by_others(&world.log(&Policy::Random, 1), Design::Uniform);
    let plain = evidence.ranking(&world.features_tell()).unwrap();
    for map in [|x: f64| 3.0 * x + 7.0, |x: f64| x.tanh() - 1e3, f64::exp] {
        let mapped: Vec<Array3<f64>> = world.features_tell().iter().map(|table| table.mapv(map)).collect();
        let found = evidence.ranking(&mapped).unwrap();
        assert_eq!((found.plan, found.p), (plain.plan, plain.p));
    }
    // one number for everybody knows nobody
    let same: Vec<Array3<f64>> = world.features_tell().iter().map(|table| table.mapv(|_| 1.0)).collect();
    let found = evidence.ranking(&same).unwrap();
    assert!(found.gain.value.abs() < 1e-9 && found.statistic.abs() < 1e-9);
}

#[test]
fn calls_that_were_chosen_are_seen() {
    let world = World::new(400, 40, 0.5, 0.5, 2);
    // the badly off first: what caseworkers do
    let hunch = Array2::from_shape_fn((400, 2), |(_, s)| -(s as f64));
    let chosen = judged_by_others(&world.log(&Policy::Strict(hunch), 1), Design::Uniform);
    let balance =
        |evidence: &Evidence| evidence.balance(Some(&evidence.ranking(&world.features_tell()).unwrap()));
    assert_eq!(balance(&chosen).objection().unwrap().0, "state");
    // a rota that is taken for a lot
    let rota = world.log(&Policy::RoundRobin, 1);
    assert_eq!(balance(&judged_by_others(&rota, Design::Uniform)).objection().unwrap().0, "earlier calls");
    assert_eq!(balance(&judged_by_others(&rota, Design::Rota)).objection(), None);
    assert_eq!(judged_by_others(&rota, Design::Rota).out_of_turn(), 0);
    // a lot that is taken for a rota
    let lot = world.log(&Policy::Random, 1);
    assert_eq!(balance(&judged_by_others(&lot, Design::Uniform)).objection(), None);
    assert!(judged_by_others(&lot, Design::Rota).out_of_turn() > 100);
}

/// A log in which people are called the more likely the worse they fare and the more of a feature they have.
fn confounded(world: &World, seed: u64) -> Vec<Instance> {
    let group = |g: usize| {
        let mut random = stream(seed, &[g as u64, 9]);
        let (p, x, weeks) = (world.truth[g].view(), &world.features[g], world.weeks);
        let n = x.nrows();
        let mut state = Array3::from_elem((1, weeks + 1, n), 0u16);
        let mut action = Array3::from_elem((1, weeks + 1, n), NO_ACTION);
        for i in 0..n {
            state[[0, 0, i]] = u16::from(random.random::<bool>());
            for t in 0..weeks {
                let s = usize::from(state[[0, t, i]]);
                let eta = -2.2 + 1.0 * (s == 0) as u8 as f64 + 0.7 * x[[i, 0]];
                let a = usize::from(random.random::<f64>() < 1.0 / (1.0 + (-eta).exp()));
                action[[0, t, i]] = a as u8;
                state[[0, t + 1, i]] = u16::from(random.random::<f64>() < p[[i, s, a, 1]]);
            }
        }
        world.instance(g, Logged { state, action, propensity: None, reward: None, available: None })
    };
    (0..4).map(group).collect()
}

#[test]
fn estimated_propensities_undo_a_choice_that_the_log_shows() {
    let (mut covered, mut naive_refused, mut errors) = (0, 0, Vec::new());
    for k in 0..30 {
        let world = World::new(600, 80, 0.5, 1.0, 60 + k / 10);
        let log = confounded(&world, k);
        let evidence = judged_by_others(&log, Design::Estimated);
        let ranking = evidence.ranking(&world.effects()).unwrap();
        let gain = world.true_gain(&log, &world.effects());
        let [low, high] = ranking.plan.interval();
        covered += usize::from(low <= gain && gain <= high);
        errors.push((ranking.plan.value - gain) / ranking.plan.error);
        assert_eq!(evidence.balance(Some(&ranking)).objection(), None);
        assert_eq!(evidence.redealt(&ranking, 9), None);
        let naive = judged_by_others(&log, Design::Uniform);
        let seen = naive.balance(Some(&naive.ranking(&world.effects()).unwrap())).objection();
        naive_refused += usize::from(seen.is_some());
    }
    assert!(covered >= 26, "{covered} of 30, {errors:?}");
    assert_eq!(naive_refused, 30);
}

#[test]
fn missing_weeks_and_late_joiners_are_left_out_and_not_guessed() {
    let world = World::new(400, 30, 0.5, 1.0, 8);
    let whole = world.log(&Policy::Random, 3);
    let mut random = stream(5, &[5]);
    let thinned: Vec<Instance> = (0..4)
        .map(|g| {
            let log = whole[g].trajectories();
            let (mut state, mut action) = (log.state().to_owned(), log.action().to_owned());
            for i in 0..400 {
                let joins = if random.random::<f64>() < 0.2 { random.random_range(1..5) } else { 0 };
                for t in 0..8 {
                    if t < joins {
                        (state[[0, t, i]], action[[0, t, i]]) = (UNSEEN, NO_ACTION);
                    } else if random.random::<f64>() < 0.15 {
                        state[[0, t, i]] = UNSEEN;
                    }
                }
            }
            world.instance(g, Logged { state, action, propensity: None, reward: None, available: None })
        })
        .collect();
    let (all, some) =
        (judged_by_others(&whole, Design::Uniform), judged_by_others(&thinned, Design::Uniform));
    let [all_ranked, some_ranked] = [&all, &some].map(|evidence| evidence.ranking(&world.effects()).unwrap());
    assert!(some.calls() < all.calls() && some.calls() > all.calls() / 2);
    assert!(some_ranked.plan.error > all_ranked.plan.error);
    let apart = some_ranked.plan.value - all_ranked.plan.value;
    assert!(apart.abs() < 2.0 * some_ranked.plan.error, "{apart}");
    assert_eq!(some.balance(Some(&some_ranked)).objection(), None);
    assert!(some.redealt(&some_ranked, 99).unwrap() < 0.05);
    // whole schedules of people with gaps cannot change hands
    let rota = judged_by_others(&thinned, Design::Rota);
    assert_eq!(rota.redealt(&rota.ranking(&world.effects()).unwrap(), 9), None);
}

#[test]
fn groups_of_people_may_be_judged_in_any_order_and_by_any_number_of_threads() {
    let world = World::new(150, 10, 0.5, 1.0, 9);
    let log = world.log(&Policy::RoundRobin, 2);
    let judge = Judge::fit(&log[..2]).unwrap();
    let run = || {
        let evidence = evidence(&log[2..], &judge, settings(Design::Rota, 7));
        let ranking = evidence.ranking(&world.effects()).unwrap();
        (ranking.plan, evidence.redealt(&ranking, 50), evidence.deciles(&ranking))
    };
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let [one, three] = [1, 3].map(|threads| pool(threads).install(run));
    assert_eq!(one, three);

    // people in another order, their tables with them
    let order: Vec<usize> = (0..150).rev().collect();
    let turned: Vec<Instance> = log[2..].iter().map(|instance| instance.select_arms(&order)).collect();
    let tables: Vec<Array3<f64>> =
        world.effects().iter().map(|table| table.select(Axis(1), &order)).collect();
    let found = evidence(&turned, &judge, settings(Design::Rota, 7)).ranking(&tables).unwrap();
    assert!((found.plan.value - one.0.value).abs() < 1e-9);
}

#[test]
fn tables_that_do_not_fit_are_refused() {
    let world = World::new(50, 5, 0.5, 1.0, 9);
    let evidence = judged_by_others(&world.log(&Policy::Random, 2), Design::Uniform);
    let tables =
        |shape: (usize, usize, usize), x: f64| vec![Array3::from_elem(shape, x), Array3::zeros(shape)];
    for (shape, x, expected) in [
        ((1, 49, 2), 0.0, "scores: expected shape [1 or 7, 50, 2]"),
        ((3, 50, 2), 0.0, "scores: expected shape [1 or 7, 50, 2]"),
        ((1, 50, 2), f64::NAN, "scores"),
    ] {
        let said = evidence.ranking(&tables(shape, x)).err().unwrap().to_string();
        assert!(said.contains(expected) || said.contains("scores"), "{said}");
    }
    let mut logged = world.log(&Policy::Random, 2);
    let log = logged[2].trajectories();
    let (state, action) = (log.state().to_owned(), log.action().to_owned());
    logged[2] = world.instance(2, Logged { state, action, propensity: None, reward: None, available: None });
    let judge = Judge::fit(&logged[..1]).unwrap();
    let everyone: Vec<usize> = (0..50).collect();
    let judged = [Judged { instance: &logged[2], arms: &everyone, judge: &judge }];
    assert!(Evidence::new(&judged, settings(Design::Logged, 7)).is_err());
}

#[test]
fn draws_of_the_judge_spread_as_its_effect_would_over_other_logs() {
    let (mut covered, mut spreads) = (0, Vec::new());
    for k in 0..40 {
        let world = World::new(400, 30, 0.6, 0.0, 300 + k);
        let judge = Judge::fit(&world.log(&Policy::Random, k)[..2]).unwrap();
        for state in 0..2 {
            let (effect, error) = judge.effect(state);
            covered += usize::from((effect - 0.6).abs() < 1.96 * error);
        }
        spreads.push(judge.spread());
        if k == 0 {
            let drawn: Vec<f64> = (0..400).map(|seed| judge.drawn(seed).effect(1).0).collect();
            let mean = drawn.iter().sum::<f64>() / 400.0;
            let sd = (drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 399.0).sqrt();
            let (effect, error) = judge.effect(1);
            assert!((mean - effect).abs() < 0.2 * error && (sd / error - 1.0).abs() < 0.15, "{sd} {error}");
        }
    }
    // of 80 at 95 %: 76, below 69 less likely than 1 in 100; people differ by .7 beyond their features
    assert!(covered >= 69, "{covered} of 80");
    let spread = spreads.iter().sum::<f64>() / 40.0;
    assert!((spread - 0.7).abs() < 0.15, "{spread}");
    let world = World::new(300, 20, 0.6, 0.0, 1);
    let log = world.log(&Policy::Random, 1);
    let judge = Judge::fit(&log[..2]).unwrap();
    // the record of somebody who engages pulls the own part up
    let known = judge.transition(&log[2]);
    let unknown = judge.transition_by_features(&log[2]);
    let state = log[2].trajectories().state();
    let always: Vec<usize> = (0..300).filter(|i| (0..8).all(|t| state[[0, t, *i]] == 1)).collect();
    assert!(!always.is_empty());
    assert!(always.iter().all(|i| known.view()[[*i, 1, 0, 1]] > unknown.view()[[*i, 1, 0, 1]]));
    assert_eq!(
        array![1.0, 1.0],
        known.view().slice(s![0, 0, .., ..]).sum_axis(Axis(1)).mapv(|x| (x * 1e12).round() / 1e12)
    );
}

/// What would game it: choosing the best of many on the judged people is made good by counting them; learning from the judged cannot be
/// seen here, and must be kept out by whoever deals people to folds.
#[test]
fn the_best_of_many_must_be_counted_and_the_judged_must_not_be_learnt_from() {
    let world = World::new(300, 20, 0.5, 1.0, 40);
    let (mut plain, mut counted, mut learnt, logs, looks) = (0, 0, 0, 30, 20);
    let mut random = stream(8, &[8]);
    for k in 0..logs {
        let log = world.log(&Policy::Random, 700 + k);
        let evidence = judged_by_others(&log, Design::Uniform);
        let best = (0..looks)
            .map(|_| evidence.ranking(&wrong_people(&world.effects(), &mut random)).unwrap().p)
            .fold(1.0, f64::min);
        plain += usize::from(best < 0.05);
        counted += usize::from(best * f64::from(looks) < 0.05);
        // the outcomes of the calls themselves, taken for a ranking
        let outcomes = |instance: &Instance| {
            let (state, action) = (instance.trajectories().state(), instance.trajectories().action());
            Array3::from_shape_fn((1, 300, 2), |(_, i, _)| {
                let called = (0..7).filter(|t| action[[0, *t, i]] == 1);
                called.map(|t| f64::from(state[[0, t + 1, i]]) - 0.4).sum::<f64>()
            })
        };
        let tables: Vec<Array3<f64>> = log[2..].iter().map(outcomes).collect();
        learnt += usize::from(evidence.ranking(&tables).unwrap().p < 0.001);
    }
    assert!(plain >= 12, "the best of twenty that know nobody is below .05 in {plain} of {logs}");
    assert!(counted <= 5, "{counted} of {logs}"); // 5 %: above 5 less likely than 1 in 100
    assert_eq!(learnt, logs as usize, "whoever learnt from the judged looks as if he knew them");
}

#[test]
fn logged_propensities_of_a_lot_say_what_the_lot_says() {
    let world = World::new(150, 15, 0.5, 2.0, 12);
    let log = world.log(&Policy::Random, 4);
    let [lot, logged] = [Design::Uniform, Design::Logged].map(|design| judged_by_others(&log, design));
    let [lot_ranked, logged_ranked] = [&lot, &logged].map(|found| found.ranking(&world.effects()).unwrap());
    assert!((lot_ranked.statistic - logged_ranked.statistic).abs() < 1e-9);
    assert!(lot_ranked.statistic > 4.0);
    // so far out, no deal in 199 comes near
    assert_eq!(lot.redealt(&lot_ranked, 199), Some(1.0 / 200.0));
    assert_eq!(logged.redealt(&logged_ranked, 199), Some(1.0 / 200.0));
}

/// Where there are two thousand pulls the normal law says what deals would, but for the noise of the deals.
#[test]
fn the_normal_law_of_many_pulls_is_that_of_the_deals() {
    let programme = restive::data::maternal::Maternal {
        groups: 2,
        people: 3000,
        budget: 300,
        effect_spread: 1.0,
        ..Default::default()
    };
    let programme = programme.generate(8).unwrap();
    let judge = Judge::fit(&[programme.instances[0].select_arms(&(0..800).collect::<Vec<_>>())]).unwrap();
    let judged = &programme.instances[1..];
    let found = evidence(judged, &judge, settings(Design::Uniform, 7));
    assert!(found.calls() >= 2000, "{}", found.calls());
    let deals = 199;
    for seed in 0..6 {
        let mut random = stream(seed, &[7]);
        // rankings that know nothing, leaning to one side or the other of chance
        let table = Array3::from_shape_fn((1, judged[0].arms(), 2), |_| random.random::<f64>());
        let ranking = found.ranking(&[table]).unwrap();
        let dealt = found.redealt(&ranking, deals).unwrap();
        let noise = (ranking.p * (1.0 - ranking.p) / deals as f64).sqrt();
        // four standard errors of the deals, what the law may be off, and the 1 of (1 + as large)/(1 + deals)
        let most = 4.0 * noise + 0.0007 + 1.0 / (1.0 + deals as f64);
        assert!((dealt - ranking.p).abs() < most, "seed {seed}: {dealt} by deals, {} by the law", ranking.p);
    }
}
