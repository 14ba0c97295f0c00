//! Partitions: columns that exclude people, bytes that are not an answer, and scores row by row.

pub mod passes;

use crate::oracle::{rules_of_kind, trained_on};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use passes::{people_table, plan_of_partitions};
use restive_pipeline::partition::{PlanJob, Sampled};
use restive_pipeline::{Applied, PlanAsked, PolicyName, PredictorName, Trained};
use restive_tables::{Roll, Study, write_people};
use restive_testkit::Chance;
use restive_testkit::random_study::{LearnableOptions, RandomStudy};
use std::sync::Arc;

/// A random study, its settings, a model that was trained on it, and its table of people in one file.
struct Fixture {
    study: Study,
    settings: String,
    trained: Trained,
    people: Vec<RecordBatch>,
}

fn fixture(seed: u64, arms: usize, groups: usize, predictor: PredictorName) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let random = RandomStudy::learnable(seed, &LearnableOptions { arms, groups, states: 2, ends: None });
    random.write(&folder.path().join("study"));
    let [study, people] = ["study", "people"].map(|name| folder.path().join(name));
    write_people(&Roll::read(&study).unwrap(), &people, 1).unwrap();
    Fixture {
        study: Study::read(&study).unwrap(),
        trained: trained_on(&random, predictor),
        settings: random.settings,
        people: people_table(&people),
    }
}

#[test]
fn columns_of_the_people_say_who_may_be_called() {
    let Fixture { settings, trained, people: plain, .. } = fixture(502, 300, 1, PredictorName::Effect);
    let mut chance = Chance::new(502);
    let job = PlanJob::new(trained, &settings, PlanAsked::default(), 4).unwrap();
    let mut plan = |people: Vec<RecordBatch>| plan_of_partitions(&job, &[people], &mut chance).unwrap().0;
    let everybody = plan(plain.clone());
    let first = everybody.plan[0].arm.clone();
    let with = |column: &str, is: bool| -> Vec<RecordBatch> {
        let add = |batch: &RecordBatch| {
            let arms =
                batch.column_by_name("arm").unwrap().as_any().downcast_ref::<StringArray>().unwrap().clone();
            let cells: BooleanArray = arms.iter().map(|arm| Some((arm == Some(&first)) == is)).collect();
            let mut fields: Vec<Arc<Field>> = batch.schema().fields().iter().cloned().collect();
            fields.push(Arc::new(Field::new(column, DataType::Boolean, true)));
            let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
            columns.push(Arc::new(cells));
            RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
        };
        plain.iter().map(add).collect()
    };
    let silent = plan(with("do_not_call", true));
    assert!(silent.plan.iter().all(|row| row.arm != first) && silent.not_to_be_called == 1);
    let gone = plan(with("is_there", false));
    assert!(gone.plan.iter().all(|row| row.arm != first) && gone.gone == 1);
}

#[test]
fn broken_bytes_are_refused_and_never_more() {
    let Fixture { settings, trained, people: batches, .. } = fixture(503, 200, 1, PredictorName::Effect);
    let asked = PlanAsked { rules: rules_of_kind(1, 200), ..PlanAsked::default() };
    let job = PlanJob::new(trained, &settings, asked, 4).unwrap();
    let mut sampled = Sampled::default();
    batches.iter().for_each(|batch| job.sample(&mut sampled, batch).unwrap());
    let job = job.priced(sampled.clone()).unwrap();
    let mut gathered = job.gathered().unwrap();
    batches.iter().for_each(|batch| job.gather(&mut gathered, batch).unwrap());
    let written = [sampled.to_bytes(), gathered.to_bytes()];
    for (which, bytes) in written.iter().enumerate() {
        let read = |bytes: &[u8]| match which {
            0 => Sampled::from_bytes(bytes).map(drop),
            _ => job.read_gathered(bytes).map(drop),
        };
        read(bytes).unwrap();
        for end in (0..bytes.len()).step_by(7) {
            assert!(read(&bytes[..end]).is_err());
        }
        for at in (0..bytes.len()).step_by(5) {
            let mut wrong = bytes.clone();
            wrong[at] ^= 0xff;
            _ = read(&wrong);
        }
    }
    assert!(job.read_gathered(&written[0]).is_err());
}

#[test]
fn scores_are_those_of_the_plan_row_by_row() {
    let Fixture { study, settings, trained, people: batches } =
        fixture(504, 300, 2, PredictorName::Hierarchical);
    let asked = PlanAsked { policy: Some(PolicyName::Whittle), ..PlanAsked::default() };
    let job = PlanJob::new(trained.clone(), &settings, asked.clone(), 4).unwrap();
    let mut sampled = Sampled::default();
    batches.iter().for_each(|batch| job.sample(&mut sampled, batch).unwrap());
    let job = job.priced(sampled).unwrap();
    let applied = Applied::new(&trained, &study, "the model", "the people").unwrap();
    let plan = applied.plan(&asked).unwrap();
    let mut found = 0;
    for batch in &batches {
        let scored = job.score(batch).unwrap();
        assert_eq!(scored.num_rows(), batch.num_rows());
        let text = |batch: &RecordBatch, name: &str| {
            batch.column_by_name(name).unwrap().as_any().downcast_ref::<StringArray>().unwrap().clone()
        };
        let number = |name: &str| {
            scored.column_by_name(name).unwrap().as_any().downcast_ref::<Float64Array>().unwrap().clone()
        };
        let (instances, arms) = (text(batch, "instance"), text(batch, "arm"));
        for row in 0..batch.num_rows() {
            let k = study.instances.iter().position(|there| there.name == instances.value(row)).unwrap();
            let arm = study.instances[k].arms.iter().position(|arm| arm == arms.value(row)).unwrap();
            let Some(one) = plan.eligible.iter().find(|one| (one.instance, one.arm) == (k, arm)) else {
                assert!(scored.columns().iter().all(|column| column.is_null(row)));
                continue;
            };
            found += 1;
            assert_eq!(number("index").value(row), one.score + 0.0);
            assert_eq!(number("value").value(row), one.value.unwrap() + 0.0);
            let reason = crate::stated(applied.reasons(k, &[(arm, one.state)], None).unwrap()).remove(0);
            assert_eq!(number("chance_left_alone").value(row), reason.chance_left_alone.value);
            assert_eq!(number("chance_called").value(row), reason.chance_called.value);
            let parts = reason.effect.iter().map(|part| (part.column.as_str(), part.amount));
            let record = reason.record.map(|record| ("own record", record.effect));
            let most = parts.chain(record).fold(0.0f64, |most, (_, amount)| most.max(amount.abs()));
            let name = text(&scored, "reason_effect").value(row).to_string();
            let parts = reason.effect.iter().map(|part| (part.column.as_str(), part.amount)).chain(record);
            let said = parts.clone().find(|(column, _)| *column == name).map_or(0.0, |(_, amount)| amount);
            assert!((said.abs() - most).abs() < 1e-12, "{name}: {said} not {most}");
            assert!((number("reason_effect_points").value(row) - reason.effect_points(said)).abs() < 1e-9);
            // a batch of one row has equal numbers
            if row % 11 == 0 {
                assert_eq!(job.score(&batch.slice(row, 1)).unwrap(), scored.slice(row, 1));
            }
        }
    }
    assert!(found > 100, "{found}");
}
