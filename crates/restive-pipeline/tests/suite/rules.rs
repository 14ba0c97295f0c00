//! Plans under rules: every rule holds, what it costs is what the plan without it is worth more, probabilities are those of the draw.

use restive::data::domain::Domain;
use restive::data::features::{Column, Features};
use restive_pipeline::generate::Synthetic;
use restive_pipeline::{
    Applied, Asked, Chosen, Plan, PlanAsked, PolicyName, PredictorName, RulePrice, Rules, Trained, Training,
};
use restive_tables::Study;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

const ARMS: usize = 60;

/// A study of one instance, with a worker and a household for everybody.
fn study() -> Study {
    let domain = Domain { instances: 1, arms: ARMS, budget: 12, trajectories: 4, ..Domain::two_state() };
    let mut study = Synthetic::TwoState(domain).study(3).unwrap();
    let instance = &mut study.instances[0];
    let names = instance.features.names().to_vec();
    let mut columns: Vec<(String, Column)> =
        names.into_iter().zip(instance.features.columns().iter().cloned()).collect();
    let text = |name: &str, of: fn(usize) -> String| {
        (name.to_string(), Column::Text((0..ARMS).map(|i| Some(of(i))).collect()))
    };
    columns.push(text("worker", |i| format!("W{}", i % 4)));
    columns.push(text("household", |i| format!("H{}", i / 8 * 4 + i % 4)));
    columns.push(("minutes".into(), Column::Number((0..ARMS).map(|i| 2.0 + (i % 5) as f64).collect())));
    instance.features = Features::new(ARMS, columns).unwrap();
    study
}

/// Cost of a rule.
fn cost(price: &RulePrice) -> f64 {
    price.cost.unwrap().costs
}

struct Case {
    study: Study,
    trained: Trained,
}

impl Case {
    fn new() -> Self {
        let study = study();
        let drop = ["worker", "household", "minutes"].map(String::from).to_vec();
        let asked = Asked { predictor: Some(PredictorName::Effect), drop, ..Asked::default() };
        let training = Training::new(&study, &asked, "the study").unwrap();
        let done = training.run(Default::default(), None, |_| Ok::<_, restive_pipeline::Error>(())).unwrap();
        let trained = crate::identified(Trained::new(training.model(done.members, done.histories)).unwrap());
        Self { study, trained }
    }

    fn plan(&self, rules: &str, change: impl FnOnce(&mut PlanAsked)) -> Result<Plan, String> {
        let rules = Rules::parse(Path::new("rules.toml"), rules).map_err(|error| error.to_string())?;
        let mut asked = PlanAsked {
            rules,
            // what places are dealt by is then what they are worth
            policy: Some(PolicyName::Horizon),
            remaining: Some(5),
            history: Some(false),
            ..PlanAsked::default()
        };
        change(&mut asked);
        let applied = Applied::new(&self.trained, &self.study, "the model", "the study").unwrap();
        applied.plan(&asked).map_err(|error| error.to_string())
    }

    fn sound(&self, rules: &str) -> Plan {
        self.plan(rules, |_| {}).unwrap()
    }
}

fn arms(plan: &Plan) -> Vec<usize> {
    plan.plan.iter().map(|row| row.arm.parse().unwrap()).collect()
}

fn most(plan: &Plan, group: fn(usize) -> usize) -> usize {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    arms(plan).into_iter().for_each(|i| *counts.entry(group(i)).or_default() += 1);
    counts.values().copied().max().unwrap_or(0)
}

const WORKERS: &str = "[[limit]]\nby = \"worker\"\nat_most = 3\n";
const HOUSEHOLDS: &str = "[[limit]]\nby = \"household\"\nat_most = 1\n";

#[test]
fn caps_and_floors_hold_and_cost_what_the_plan_without_them_is_worth_more() {
    let case = Case::new();
    let free = case.sound("");
    assert_eq!((free.plan.len(), free.rules.len()), (12, 0));
    let workers = case.sound(WORKERS);
    assert!(most(&workers, |i| i % 4) <= 3 && workers.plan.len() == 12);
    let both = case.sound(&format!("{WORKERS}{HOUSEHOLDS}"));
    assert!(most(&both, |i| i % 4) <= 3 && most(&both, |i| i / 8 * 4 + i % 4) <= 1);
    let worth = |plan: &Plan| plan.plan.iter().map(|row| row.effects.unwrap().value).sum::<f64>();
    assert!((cost(&workers.rules[0]) - (worth(&free) - worth(&workers))).abs() < 1e-9);
    assert!((cost(&both.rules[1]) - (worth(&workers) - worth(&both))).abs() < 1e-9);
    assert!(both.rules.iter().all(|rule| cost(rule) >= 0.0));
    assert!((both.effects.identified().unwrap().value - worth(&both)).abs() < 1e-9);
    // a floor for those who rank low
    let counts = |plan: &Plan| arms(plan).into_iter().filter(|i| i % 4 == 1).count();
    let floor = case.sound("[[limit]]\nby = \"worker\"\nat_least = { W1 = 9 }\n");
    assert!(counts(&floor) >= 9 && counts(&free) < 9 && cost(&floor.rules[0]) > 0.0);
    // the cost of calls
    let cheap = case.sound("[cost]\ncolumn = \"minutes\"\nat_most = 30\n");
    assert!(arms(&cheap).iter().map(|i| 2.0 + (i % 5) as f64).sum::<f64>() <= 30.0 + 1e-9);
    assert!(cost(&cheap.rules[0]) > 0.0 && !cheap.plan.is_empty());
}

#[test]
fn people_are_left_out_and_put_in_as_the_rules_say() {
    let case = Case::new();
    let free = case.sound("");
    let first = free.plan[0].arm.clone();
    let without = case.sound(&format!("never_call = [\"{first}\"]"));
    assert!(!without.plan.iter().any(|row| row.arm == first));
    assert_eq!((without.rules[0].keeps_out, cost(&without.rules[0]) > 0.0), (Some(1), true));
    let last = (0..ARMS).find(|i| !arms(&free).contains(i)).unwrap();
    let with = case.sound(&format!("must_call = [\"{last}\"]"));
    let row = with.plan.iter().find(|row| row.arm == last.to_string()).unwrap();
    assert_eq!((row.chosen, row.inclusion, with.plan.len()), (Chosen::Must, 1.0, 12));
    // conditions look at features and at the log
    let even =
        case.sound("[[leave_out]]\nif = \"worker in ('W0', 'W2') or last_seen > 100\"\nbecause = \"even\"");
    assert!(arms(&even).iter().all(|i| i % 2 == 1));
    assert_eq!(even.rules[0].rule, "leave out: even");
    let log = &case.study.instances[0].trajectories;
    let (state, action) = (log.state(), log.action());
    let (j, last_step) = (log.trajectories() - 1, log.steps() - 2);
    let called = |i: usize, back: usize| action[[j, last_step - back, i]] == 1;
    let cooled = case.sound("[[cool_down]]\nperiods = 2\n");
    assert!(arms(&cooled).iter().all(|i| !called(*i, 0) && !called(*i, 1)));
    let recent = (0..ARMS).filter(|i| called(*i, 0) || called(*i, 1)).count();
    assert_eq!(cooled.rules[0].keeps_out, Some(recent));
    assert!(recent > 0 && state.len_of(ndarray::Axis(2)) == ARMS);
}

#[test]
fn rules_that_cannot_be_met_and_columns_that_are_not_there_are_named() {
    let case = Case::new();
    for (rules, part) in [
        ("[[limit]]\nby = \"worker\"\nat_least = 4\n", "cannot all be met"),
        ("[[limit]]\nby = \"worker\"\nat_least = 4\n", "budget 12"),
        ("[[limit]]\nby = \"worker\"\nat_least = 4\n", "4 places missing"),
        (
            "[[limit]]\nby = \"centre\"\nat_most = 4\n",
            "line 1, column 1: found no column centre, expected one of f_00",
        ),
        (
            "[[limit]]\nby = \"worker\"\nat_most = { W9 = 4 }\n",
            "found nobody with W9, expected a value such as W0",
        ),
        ("must_call = [\"nobody\"]", "must_call: found nobody with the id nobody"),
        (
            "must_call = [\"3\"]\nnever_call = [\"3\"]",
            "must_call: 3 is kept out by another rule (never_call)",
        ),
        ("[[leave_out]]\nif = \"ward = 3\"", "line 2, column 6: found no column ward"),
        ("[cost]\ncolumn = \"worker\"\nat_most = 3", "cost: column worker: found \"W0\" for 0"),
    ] {
        let said = case.plan(rules, |_| {}).err().unwrap();
        assert!(said.starts_with("rules.toml: ") && said.contains(part), "{said}");
    }
}

#[test]
fn a_draw_has_the_probabilities_that_are_written_down() {
    let case = Case::new();
    let drawn = |seed: u64| {
        let rules = format!("explore = 0.25\n{WORKERS}{HOUSEHOLDS}");
        case.plan(&rules, |asked| asked.seed = seed).unwrap()
    };
    let first = drawn(1);
    assert_eq!((first.explore, first.plan.len()), (3, 12));
    assert_eq!(first.plan.iter().filter(|row| row.chosen == Chosen::Draw).count(), 3);
    let total: f64 = first.eligible.iter().map(|one| one.inclusion).sum();
    assert!((total - 12.0).abs() < 1e-9, "{total}");
    // the same seed and period, the same list; another period, another draw
    let again: Vec<usize> = arms(&drawn(1));
    assert_eq!(arms(&first), again);
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    let deals = 400;
    for seed in 0..deals {
        let plan = drawn(seed);
        assert!(most(&plan, |i| i % 4) <= 3 && most(&plan, |i| i / 8 * 4 + i % 4) <= 1);
        arms(&plan).into_iter().for_each(|i| *counts.entry(i).or_default() += 1);
    }
    for one in &first.eligible {
        let found = *counts.get(&one.arm).unwrap_or(&0) as f64 / deals as f64;
        let error = (one.inclusion * (1.0 - one.inclusion) / deals as f64).sqrt();
        assert!((found - one.inclusion).abs() <= 5.0 * error + 1e-9, "{} {found} {}", one.arm, one.inclusion);
    }
    // what the draw costs is what its places bring less than by rank
    let price = first.rules.iter().find(|rule| rule.rule.contains("drawn by lot")).unwrap();
    let by_rank = case.sound(&format!("{WORKERS}{HOUSEHOLDS}"));
    let expected: f64 = first.eligible.iter().map(|one| one.inclusion * one.value.unwrap()).sum();
    assert!(
        (cost(price) - (by_rank.effects.identified().unwrap().value - expected)).abs() < 1e-9
            && cost(price) > 0.0
    );
}

#[test]
fn places_of_people_drawn_over_many_seeds_are_spread_evenly() {
    let case = Case::new();
    let seeds = 1_000;
    let mut means = Vec::new();
    let mut first = 0;
    for seed in 0..seeds {
        let plan = case.plan("explore = 0.25", |asked| asked.seed = seed).unwrap();
        let drawn: Vec<usize> =
            plan.plan.iter().filter(|row| row.chosen == Chosen::Draw).map(|row| row.rank).collect();
        assert_eq!((plan.plan.len(), drawn.len()), (12, 3));
        first += drawn.iter().filter(|rank| **rank == 1).count();
        means.push(drawn.iter().sum::<usize>() as f64 / 3.0);
        let scores = plan.plan.iter().filter(|row| row.chosen == Chosen::Rank).map(|row| row.worth.value());
        assert!(scores.collect::<Vec<_>>().is_sorted_by(|a, b| a >= b));
    }
    // the mean of 3 of the places 1 to 12, drawn without replacement
    let (n, k) = (12.0_f64, 3.0_f64);
    let variance = (n * n - 1.0) / 12.0 / k * (n - k) / (n - 1.0);
    let (mean, error) = (means.iter().sum::<f64>() / seeds as f64, (variance / seeds as f64).sqrt());
    assert!((mean - (n + 1.0) / 2.0).abs() <= 3.0 * error, "{mean} ± {error}");
    // each place is as likely as any other
    let (expected, error) = (seeds as f64 * k / n, (seeds as f64 * k / n * (1.0 - k / n)).sqrt());
    assert!((first as f64 - expected).abs() <= 4.0 * error, "{first} of {expected} ± {error}");
}

#[test]
fn share_that_is_drawn_is_kept_with_a_budget_above_what_caps_allow() {
    let case = Case::new();
    // 4 workers of at most 3 each: 12 places, whatever the budget; 25 % of them are 3
    for budget in [12, 13, 24, 60, 10_000_000] {
        let plan =
            case.plan(&format!("explore = 0.25\n{WORKERS}"), |asked| asked.budget = Some(budget)).unwrap();
        assert_eq!((plan.plan.len(), plan.drawn), (12, 3), "{budget}");
        let total: f64 = plan.eligible.iter().map(|one| one.inclusion).sum();
        assert!((total - 12.0).abs() < 1e-9, "{budget}: {total}");
        assert_eq!(plan.warnings().len(), 0, "{budget}: {:?}", plan.warnings());
    }
    // a cap of 1 leaves no place of a group for the draw, but one of all
    let narrow = "explore = 0.25\n[[limit]]\nby = \"household\"\nat_most = 1\n[[limit]]\nby = \"worker\"\nat_most = 3\n";
    let plan = case.plan(narrow, |asked| asked.budget = Some(60)).unwrap();
    assert_eq!((plan.plan.len(), plan.drawn), (12, 3));
    // nobody else may be called
    let all = case.plan("explore = 0.1", |asked| asked.budget = Some(10_000_000)).unwrap();
    assert_eq!((all.plan.len(), all.drawn), (ARMS, 6));
}
