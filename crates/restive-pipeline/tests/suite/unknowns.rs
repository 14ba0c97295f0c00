//! People with a missing number: the same list in memory, of a stream and of partitions.

use crate::oracle::trained_on;
use crate::partition::passes::{deal, people_table, plan_of_partitions};
use restive_pipeline::partition::PlanJob;
use restive_pipeline::{Applied, Passing, Plan, PlanAsked, PredictorName, Trained};
use restive_tables::{Roll, Study, write_people};
use restive_testkit::Chance;
use restive_testkit::random_study::{LearnableOptions, RandomStudy};

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
