//! People with a missing number, people in a state without a move in the training, studies of one decision: the same list in memory, of a
//! stream and of partitions.

use crate::oracle::trained_on;
use crate::partition::passes::{deal, people_table, plan_of_partitions};
use restive_pipeline::partition::PlanJob;
use restive_pipeline::{
    Applied, Error, EvaluateAsked, Passing, Plan, PlanAsked, PolicyName, PredictorName, Rules, Trained,
};
use restive_tables::{Roll, Study, write_people};
use restive_testkit::Chance;
use restive_testkit::random_study::{LearnableOptions, RandomStudy};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Step that is planned: a learnable study has four decisions.
const NOW: usize = 4;

fn study(seed: u64, states: usize) -> RandomStudy {
    RandomStudy::learnable(seed, &LearnableOptions { arms: 150, groups: 2, states, ends: None })
}

/// A plan and its notes in every mode.
fn plans(study: &RandomStudy, trained: &Trained, asked: &PlanAsked) -> [(Plan, Vec<String>); 3] {
    let folder = tempfile::tempdir().unwrap();
    let (there, people) = (folder.path().join("study"), folder.path().join("people"));
    study.write(&there);
    let read = Study::read(&there).unwrap();
    let applied = Applied::new(trained, &read, "the model", "the people").unwrap();
    let mut roll = Roll::read(&there).unwrap();
    roll.limit_pieces(7);
    write_people(&roll, &people, 2).unwrap();
    let mut chance = Chance::new(5);
    let dealt = deal(&people_table(&people), 3, 20, &mut chance);
    let job = PlanJob::new(trained.clone(), &study.settings, asked.clone(), NOW).unwrap();
    [
        (applied.plan(asked).unwrap(), applied.notes.clone()),
        Passing::new(trained, &roll, "the model", "the people").unwrap().plan(asked).unwrap(),
        plan_of_partitions(&job, &dealt, &mut chance).unwrap(),
    ]
}

fn digits(plan: &Plan) -> String {
    serde_json::to_string(plan).unwrap()
}

#[test]
fn missing_number_is_the_training_mean_with_a_note_in_every_mode() {
    let mut random = study(610, 2);
    let own = random.arms.column("own");
    // numbers of any size, in all arms
    for (i, row) in random.arms.rows.iter_mut().enumerate() {
        row[own] = format!("{}", 1 + i * i % 37);
    }
    let trained = trained_on(&random, PredictorName::Effect);
    let split = random.arms.column("split");
    let known = |row: &&Vec<String>| row[split] == "train";
    let numbers: Vec<f64> =
        random.arms.rows.iter().filter(known).map(|row| row[own].parse().unwrap()).collect();
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let with = |cell: &str| {
        let mut changed = random.clone();
        changed.arms.rows.iter_mut().step_by(29).for_each(|row| row[own] = cell.into());
        changed
    };
    let gaps = random.arms.rows.iter().step_by(29).count();
    for history in [true, false] {
        let asked = PlanAsked { history: Some(history), ..PlanAsked::default() };
        let missing = plans(&with(""), &trained, &asked);
        let (at_mean, _) = &plans(&with(&mean.to_string()), &trained, &asked)[0];
        let (before, _) = &plans(&random, &trained, &asked)[0];
        assert_ne!(digits(&missing[0].0), digits(before));
        for (plan, notes) in &missing {
            assert_eq!(digits(plan), digits(&missing[0].0));
            let names = |plan: &Plan| plan.plan.iter().map(|row| row.arm.clone()).collect::<Vec<_>>();
            assert_eq!(names(plan), names(at_mean));
            for (row, expected) in plan.plan.iter().zip(&at_mean.plan) {
                assert!((row.worth.value() - expected.worth.value()).abs() < 1e-12, "{}", row.arm);
            }
            let note = format!(
                "feature own: {gaps} arms without a value, which all training arms have: encoded as their mean"
            );
            assert!(notes.contains(&note), "{notes:?}");
        }
    }
}

/// Nobody is seen any more after the first time in the highest state. Returns who is there at the end.
fn end_at_the_highest_state(study: &mut RandomStudy, highest: &str) -> BTreeSet<(String, String)> {
    let [instance, t, arm, state, action] =
        ["instance", "t", "arm", "state", "action"].map(|name| study.trajectories.column(name));
    let mut first: BTreeMap<(String, String), usize> = BTreeMap::new();
    for row in study.trajectories.rows.iter().filter(|row| row[state] == highest) {
        let now: usize = row[t].parse().unwrap();
        let first = first.entry((row[instance].clone(), row[arm].clone())).or_insert(now);
        *first = now.min(*first);
    }
    let end = |row: &[String]| first.get(&(row[instance].clone(), row[arm].clone())).copied();
    study.trajectories.rows.retain(|row| end(row).is_none_or(|end| row[t].parse::<usize>().unwrap() <= end));
    for row in &mut study.trajectories.rows {
        if row[state] == highest {
            row[action].clear();
        }
    }
    first.into_keys().collect()
}

#[test]
fn people_in_a_state_without_a_move_are_left_out_and_counted_in_every_mode() {
    let mut random = study(611, 3);
    let ended = end_at_the_highest_state(&mut random, "2");
    assert!(ended.len() > 20, "{}", ended.len());
    let trained = trained_on(&random, PredictorName::Effect);
    assert_eq!(trained.model.card.unobserved_states, [2]);
    for policy in [PolicyName::Whittle, PolicyName::Horizon] {
        let remaining = (policy == PolicyName::Horizon).then_some(3);
        let asked = PlanAsked { policy: Some(policy), remaining, ..PlanAsked::default() };
        let found = plans(&random, &trained, &asked);
        for (plan, _) in &found {
            assert_eq!(digits(plan), digits(&found[0].0));
            assert_eq!(plan.unobserved, ended.len());
            assert!(!plan.plan.is_empty());
            assert!(plan.plan.iter().all(|row| !ended.contains(&(row.instance.clone(), row.arm.clone()))));
            let warnings: Vec<String> = plan.warnings().iter().map(ToString::to_string).collect();
            let expected =
                format!("{} arms left out: the training saw no move from their state", ended.len());
            assert!(warnings.iter().any(|warning| warning.starts_with(&expected)), "{warnings:?}");
        }
        // everybody of them has the reason
        let why = "in a state from which the training saw no move";
        let excluded = found[0].0.excluded.iter().filter(|one| one.why == why).count();
        assert_eq!(excluded, ended.len());
    }
    // nobody in such a state can be put on the list
    let (_, arm) = ended.first().unwrap();
    let rules = Rules::parse(Path::new("rules.toml"), &format!("must_call = [\"{arm}\"]")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    random.write(folder.path());
    let read = Study::read(folder.path()).unwrap();
    let applied = Applied::new(&trained, &read, "the model", "the people").unwrap();
    let refused = applied.plan(&PlanAsked { rules, ..PlanAsked::default() }).err().unwrap().to_string();
    assert!(refused.contains("is in a state from which the training saw no move"), "{refused}");
}

#[test]
fn one_decision_is_ranked_by_the_effect_on_the_next_reward_in_every_mode() {
    let mut random = study(612, 3);
    random.settings = random.settings.replace("horizon = 6", "horizon = 1");
    random.settings += "rewards = [0.0, 0.25, 1.0]\n";
    let trained = trained_on(&random, PredictorName::Hierarchical);
    let asked = PlanAsked { history: Some(false), ..PlanAsked::default() };
    let found = plans(&random, &trained, &asked);
    let folder = tempfile::tempdir().unwrap();
    random.write(folder.path());
    let read = Study::read(folder.path()).unwrap();
    let applied = Applied::new(&trained, &read, "the model", "the people").unwrap();
    let (plan, _) = &found[0];
    assert_eq!((plan.index_discount, plan.steps), (None, [1, 1]));
    let mut effects = vec![Vec::new(); 2];
    for one in &plan.eligible {
        let p = applied.predictions[one.instance].view();
        let next = |action: usize| -> f64 {
            let chance = |state: usize| p[[one.arm, usize::from(one.state), action, state]];
            0.25 * chance(1) + chance(2)
        };
        let effect = 0.9 * (next(1) - next(0));
        assert!((one.score - effect).abs() < 1e-12 && (one.value.unwrap() - effect).abs() < 1e-12);
        effects[one.instance].push(effect);
    }
    for (instance, effects) in effects.iter_mut().enumerate() {
        effects.sort_by(|a, b| b.total_cmp(a));
        let listed = plan.plan.iter().filter(|row| row.instance == read.instances[instance].name);
        let listed: Vec<f64> = listed.map(|row| row.worth.value()).collect();
        assert!(effects[0] > effects[effects.len() - 1] + 0.01);
        assert!(listed.iter().zip(&*effects).all(|(score, effect)| (score - effect).abs() < 1e-12));
    }
    for (other, _) in &found[1..] {
        assert_eq!(digits(other), digits(plan));
    }
}

/// One decision for everybody, from one state. Means of chances near 1 in the world of judges must stay probabilities.
#[test]
fn one_decision_from_one_state_is_evaluated() {
    let options = LearnableOptions { arms: 600, groups: 1, states: 2, ends: None };
    let mut random = RandomStudy::learnable(613, &options);
    random.settings =
        random.settings.replace("horizon = 6", "horizon = 1").replace("budget = 75", "budget = 300");
    let [t, arm, state, action] =
        ["t", "arm", "state", "action"].map(|name| random.trajectories.column(name));
    random.trajectories.rows.retain(|row| row[t] == "0" || row[t] == "1");
    let mut names: Vec<String> = random.arms.rows.iter().map(|row| row[1].clone()).collect();
    let mut chance = Chance::new(613);
    chance.shuffle(&mut names);
    let called: BTreeSet<String> = names.into_iter().take(280).collect();
    for row in &mut random.trajectories.rows {
        let is_called = called.contains(&row[arm]);
        if row[t] == "0" {
            row[state] = "1".into();
            row[action] = usize::from(is_called).to_string();
        } else {
            let stays = chance.next() < if is_called { 0.97 } else { 0.9 };
            row[state] = usize::from(stays).to_string();
            row[action].clear();
        }
    }
    let trained = trained_on(&random, PredictorName::Auto);
    assert_eq!(trained.model.card.unobserved_states, [0]);
    let folder = tempfile::tempdir().unwrap();
    random.write(folder.path());
    let read = Study::read(folder.path()).unwrap();
    let applied = Applied::new(&trained, &read, "the model", "the study").unwrap();
    let asked =
        EvaluateAsked { runs: Some(20), resamples: Some(20), deals: Some(19), ..EvaluateAsked::default() };
    let evaluated = applied.evaluate(&asked, None, |_| Ok::<_, Error>(())).unwrap();
    assert!(!evaluated.policies.is_empty());
    for (name, scores) in &evaluated.policies {
        assert!(scores.iter().all(|score| score.value.value.is_finite()), "{name}");
    }
}
