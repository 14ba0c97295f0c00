//! Plans in memory, of a stream and of partitions, against the records and the naive reader.

use super::plan_cases::{KINDS, PlanCase, Planned, plan_cases, planned, rules, trained};
use super::plan_naive::{assert_plan, planned_step};
use super::plan_record::{record, tolerance};
use super::{
    POOLS, UNDETERMINED, changed_digits, determined, difference, read_records, shuffle_rows, write_records,
};
use crate::partition::passes::{deal, people_table, plan_of_partitions};
use restive_pipeline::partition::PlanJob;
use restive_pipeline::{Applied, Passing, Plan, PlanAsked, PredictorName, Result, Trained};
use restive_tables::model::WrittenPredictor;
use restive_tables::{Roll, Study, write_people};
use restive_testkit::Chance;
use restive_testkit::naive_study::NaiveStudy;
use restive_testkit::random_study::{LearnableOptions, RandomStudy};
use serde_json::{Value, json};
use std::path::Path;

const FILE: &str = "plans.json";

/// Makes a plan with its notes.
fn in_memory(trained: &Trained, folder: &Path, asked: &PlanAsked) -> Result<(Plan, Vec<String>)> {
    let study = Study::read(folder)?;
    let applied = Applied::new(trained, &study, "the model", "the people")?;
    Ok((applied.plan(asked)?, applied.notes))
}

/// Writes the study of a case with rows as generated or in another order.
fn write(study: &RandomStudy, order: usize, folder: &Path) {
    study.write(folder);
    if order > 0 {
        shuffle_rows(folder, order as u64);
    }
}

/// A plan must be the recorded one, and fit the rows of the study.
fn assert_recorded(
    (plan, notes): &(Plan, Vec<String>),
    recorded: &Value,
    folder: &Path,
    case: &PlanCase,
    context: &str,
) {
    let context = format!("{}, {context}", case.name);
    assert_eq!(difference(&record(plan, notes), recorded, tolerance, ""), None, "{context}");
    assert_plan(plan, &NaiveStudy::read(folder), case, &context);
}

/// All digits of a plan.
fn digits((plan, _): &(Plan, Vec<String>)) -> String {
    serde_json::to_string(plan).unwrap()
}

/// Cases whose study can be streamed or partitioned.
fn full_cases() -> impl Iterator<Item = (usize, PlanCase)> {
    plan_cases().into_iter().filter(|case| !case.is_labelled()).enumerate()
}

#[test]
fn plans_in_memory_are_the_recorded_ones() {
    let (folder, records) = (tempfile::tempdir().unwrap(), read_records(FILE));
    let cases = plan_cases();
    assert_eq!(records.len(), cases.len());
    for (c, case) in cases.iter().enumerate() {
        let Planned { study, trained } = planned(case.study);
        for order in 0..2 {
            write(study, order, folder.path());
            let threads = 1 + (c + 2 * order) % 5;
            let plan = POOLS[threads - 1].install(|| in_memory(trained, folder.path(), &case.asked)).unwrap();
            let context = format!("order {order}, {threads} threads");
            assert_recorded(&plan, &records[&case.name], folder.path(), case, &context);
        }
    }
}

/// Pieces of one arm, of a few and of all arms, with rows in two orders and 1 to 5 threads.
#[test]
fn plans_of_a_stream_are_the_recorded_ones() {
    let (folder, records) = (tempfile::tempdir().unwrap(), read_records(FILE));
    for (c, case) in full_cases() {
        let Planned { study, trained } = planned(case.study);
        write(study, 0, folder.path());
        let mut found = vec![digits(&in_memory(trained, folder.path(), &case.asked).unwrap())];
        for (k, rows) in [1, 2 + c, usize::MAX].into_iter().enumerate() {
            let (order, threads) = ((c + k) % 2, 1 + (c + 3 * k) % 5);
            write(study, order, folder.path());
            let context = format!("order {order}, pieces of {rows}, {threads} threads");
            let plan = POOLS[threads - 1].install(|| {
                let mut roll = Roll::read(folder.path()).unwrap();
                roll.limit_pieces(rows);
                Passing::new(trained, &roll, "the model", "the people").unwrap().plan(&case.asked).unwrap()
            });
            assert_recorded(&plan, &records[&case.name], folder.path(), &case, &context);
            found.push(digits(&plan));
        }
        found.dedup();
        assert_eq!(found.len(), 1, "{}: the last digits must not depend on mode or pieces", case.name);
    }
}

/// Record of a plan of partitions. They have no log, so that their notes are about features only. In a plan of one instance they are about
/// its arms, which is not recorded.
fn of_partitions(recorded: &Value, notes: &[String], case: &PlanCase) -> Value {
    let is_of_feature = |note: &&Value| note.as_str().unwrap().starts_with("feature ");
    let mut recorded = recorded.clone();
    recorded["notes"] = match case.asked.instance {
        Some(_) => json!(notes),
        None => recorded["notes"].as_array().unwrap().iter().filter(is_of_feature).cloned().collect(),
    };
    recorded
}

/// 1 to 7 partitions, some of them empty or with nearly all arms, with rows in two orders and 1 to 5 threads.
#[test]
fn plans_of_partitions_are_the_recorded_ones() {
    let (folder, records) = (tempfile::tempdir().unwrap(), read_records(FILE));
    for (c, case) in full_cases() {
        let Planned { study, trained } = planned(case.study);
        let there = folder.path().join("study");
        write(study, 0, &there);
        let mut found = vec![digits(&in_memory(trained, &there, &case.asked).unwrap())];
        for k in 0..2 {
            let (order, parts, threads) = ((c + k) % 2, 1 + (c + 4 * k) % 7, 1 + (c + 2 * k) % 5);
            let mut chance = Chance::new((10 * c + k) as u64);
            let people = folder.path().join(format!("people {c} {k}"));
            write(study, order, &there);
            write_people(&Roll::read(&there).unwrap(), &people, 3).unwrap();
            let most = [1, 40][(c / 2 + k) % 2];
            let dealt = deal(&people_table(&people), parts, most, &mut chance);
            let step = planned_step(&NaiveStudy::read(&there));
            let job = PlanJob::new(trained.clone(), &study.settings, case.asked.clone(), step).unwrap();
            let plan = POOLS[threads - 1].install(|| plan_of_partitions(&job, &dealt, &mut chance)).unwrap();
            let context = format!("order {order}, {parts} partitions, batches of {most}, {threads} threads");
            let recorded = of_partitions(&records[&case.name], &plan.1, &case);
            assert_recorded(&plan, &recorded, &there, &case, &context);
            found.push(digits(&plan));
        }
        found.dedup();
        assert_eq!(found.len(), 1, "{}: the last digits must not depend on mode or partitions", case.name);
    }
}

#[test]
fn rules_that_cannot_be_met_are_refused_by_every_mode() {
    let folder = tempfile::tempdir().unwrap();
    let (there, people) = (folder.path().join("study"), folder.path().join("people"));
    let options = LearnableOptions { arms: 150, groups: 1, states: 2, ends: None };
    let study = RandomStudy::learnable(50, &options);
    study.write(&there);
    let trained = trained(&study, PredictorName::Effect);
    let mut roll = Roll::read(&there).unwrap();
    roll.limit_pieces(7);
    write_people(&roll, &people, 1).unwrap();
    let text = "[[limit]]\nby = \"district\"\nat_least = 10\n";
    let rules = restive_pipeline::Rules::parse(Path::new("rules.toml"), text).unwrap();
    let asked = PlanAsked { rules, ..PlanAsked::default() };
    let job = PlanJob::new(trained.clone(), &study.settings, asked.clone(), 4).unwrap();
    let mut chance = Chance::new(50);
    let dealt = deal(&people_table(&people), 3, 20, &mut chance);
    let refusals = [
        in_memory(&trained, &there, &asked).err().unwrap(),
        Passing::new(&trained, &roll, "the model", "the people").unwrap().plan(&asked).err().unwrap(),
        plan_of_partitions(&job, &dealt, &mut chance).err().unwrap(),
    ];
    for refusal in refusals {
        let said = refusal.to_string();
        let has_facts = ["rules.toml: ", "cannot all be met", "budget 18", "2 places missing"];
        assert!(has_facts.iter().all(|fact| said.contains(fact)), "{said}");
    }
}

/// The records detect a missing arm and missing rows of the log.
#[test]
fn plans_of_studies_without_one_arm_are_not_the_recorded_ones() {
    let (folder, records) = (tempfile::tempdir().unwrap(), read_records(FILE));
    let (mut chance, mut compared) = (Chance::new(51), 0);
    for case in plan_cases().iter().step_by(5) {
        let Planned { study, trained } = planned(case.study);
        let recorded = &records[&case.name];
        let list = recorded["list"].as_array().unwrap();
        let row = &list[chance.below(list.len())];
        let is_of_row = |cells: &[String], arm: usize| row[0] == cells[0] && row[1] == cells[arm];
        let mut without_log = study.clone();
        without_log.trajectories.rows.retain(|cells| !is_of_row(cells, 3));
        let mut without_arm = without_log.clone();
        without_arm.arms.rows.retain(|cells| !is_of_row(cells, 1));
        for changed in [without_log, without_arm] {
            changed.write(folder.path());
            // the rules may name the arm
            let Ok((plan, _)) = in_memory(trained, folder.path(), &case.asked) else { continue };
            // the notes say that the study is another one
            let mut expected = recorded.clone();
            expected["notes"] = Value::Array(Vec::new());
            assert!(difference(&record(&plan, &[]), &expected, tolerance, "").is_some(), "{}", case.name);
            compared += 1;
        }
    }
    assert!(compared >= 12, "{compared}");
}

/// Record of a plan, with models whose last digits differ.
fn determined_record(planned: &Planned, folder: &Path, asked: &PlanAsked) -> Value {
    let plan = |trained: &Trained| {
        let (plan, notes) = in_memory(trained, folder, asked).unwrap();
        record(&plan, &notes)
    };
    let mut records = vec![plan(&planned.trained)];
    for pattern in 2..5 {
        let mut model = planned.trained.model.clone();
        let weights = model.weights.iter_mut().flat_map(|(_, _, numbers)| numbers).enumerate();
        weights.for_each(|(k, weight)| *weight *= changed_digits(k, pattern));
        records.push(plan(&crate::identified(Trained::new(model).unwrap())));
    }
    determined(&records, tolerance, "")
}

#[test]
#[ignore = "writes the records anew"]
fn record_plans() {
    let folder = tempfile::tempdir().unwrap();
    let mut records = Vec::new();
    let mut is_any_unstable = false;
    for case in plan_cases() {
        let planned = planned(case.study);
        planned.study.write(folder.path());
        let (plan, _) = in_memory(&planned.trained, folder.path(), &case.asked).unwrap();
        assert_plan(&plan, &NaiveStudy::read(folder.path()), &case, &case.name);
        let record = determined_record(planned, folder.path(), &case.asked);
        // the list must be known to all digits; the certificate need not be
        let mut list = record.clone();
        list.as_object_mut().unwrap().remove("certificate");
        if list.to_string().contains(UNDETERMINED) {
            println!("{}: choose another seed", case.name);
            is_any_unstable = true;
        }
        records.push((case.name, record));
    }
    assert!(!is_any_unstable);
    write_records(FILE, &records);
}

/// Every kind of rules is recorded with both policies, each requested and by default; a pool and a network are planned with; there is a
/// note of each kind.
#[test]
fn cases_have_all_kinds_of_rules_policies_models_and_notes() {
    let (cases, records) = (plan_cases(), read_records(FILE));
    let mut kinds: Vec<(usize, &str, bool)> =
        cases.iter().map(|case| (case.kind, case.policy.name(), case.asked.policy.is_none())).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!((kinds.len(), cases.len()), (4 * KINDS, 40));
    assert!(!rules(3, 150).is_by_rank_alone() && rules(0, 150).is_by_rank_alone());
    let kinds = [4, 13].map(|study| &planned(study).trained.model.card.predictor.kind);
    assert!(matches!(kinds, [WrittenPredictor::Pool { .. }, WrittenPredictor::Network { .. }]), "{kinds:?}");
    let notes = serde_json::to_string(&records.values().map(|record| &record["notes"]).collect::<Vec<_>>());
    let notes = notes.unwrap();
    for part in ["another study", "more pulls than the budget", "with west", "found 1 in every arm"] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
}
