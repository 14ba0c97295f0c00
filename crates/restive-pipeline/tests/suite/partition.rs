//! One plan by three ways: of a study in memory, of one that passes by, and of partitions that never meet; to the last byte.

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rand::RngExt;
use rand::seq::SliceRandom;
use restive::random::{Random, stream};
use restive_pipeline::partition::{Details, PlanJob, Sampled, Wanted};
use restive_pipeline::train_partition::{PartitionTraining, TrainJob};
use restive_pipeline::{
    Applied, Asked, Passing, Plan, PlanAsked, PolicyName, PredictorName, Rules, Trained, Training,
};
use restive_tables::{Roll, Study, write_people};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A small programme: numbers, words, gaps, people who were never seen, ties.
fn study(folder: &Path, people: usize, instances: usize, states: usize, random: &mut Random) {
    let mut settings = format!(
        "states = {states}\ndiscount = 0.9\nbudget = {}\nhorizon = 6\nbehaviour = \"uniform\"\n",
        people / instances / 8
    );
    if random.random_bool(0.5) {
        settings += "ends = 9\n";
    }
    let (mut arms, mut log) = (
        "instance,arm,split,age,district,own\n".to_string(),
        "instance,trajectory,t,arm,state,action\n".to_string(),
    );
    let mut rows = Vec::new();
    for i in 0..people {
        let (k, name) = (i % instances, format!("p{}", i * 7919 % people));
        let age = if random.random_bool(0.1) { String::new() } else { (20 + i % 13).to_string() };
        let split = ["train", "train", "train", "validation", "test"][random.random_range(0..5)];
        let district = ["north", "south", "east"][i * i % 5 % 3];
        arms += &format!("g{k},{name},{split},{age},{district},{}\n", i % 2);
        if i % 17 == 5 {
            continue; // never seen
        }
        let mut state = random.random_range(0..states);
        for t in 0..5 {
            let action = if t == 4 { String::new() } else { u8::from(random.random_bool(0.3)).to_string() };
            let seen = if random.random_bool(0.1) { String::new() } else { state.to_string() };
            rows.push(format!("g{k},1,{t},{name},{seen},{action}\n"));
            let up = 0.04 + 0.2 * f64::from(u8::from(action == "1")) + 0.055 * (i % 13) as f64;
            state =
                if random.random_bool(up) { (state + 1).min(states - 1) } else { state.saturating_sub(1) };
        }
    }
    rows.shuffle(random);
    rows.iter().for_each(|row| log += row);
    std::fs::create_dir_all(folder).unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("study.toml", &settings);
    write("arms.csv", &arms);
    write("trajectories.csv", &log);
}

fn trained(study: &Study, predictor: PredictorName) -> Trained {
    let asked = Asked { predictor: Some(predictor), ..Asked::default() };
    let training = Training::new(study, &asked, "a study").unwrap();
    let run = training.run(Default::default(), None, |_| Ok::<_, restive_pipeline::Error>(())).unwrap();
    Trained::new(training.model(run.members, run.histories)).unwrap()
}

/// Rules of every kind; some name people and values.
fn rules(kind: usize) -> Rules {
    let text = match kind {
        0 => return Rules::default(),
        1 => "[[limit]]\nby = \"district\"\nat_most = { north = 2, \"*\" = 4 }\nat_least = 1\n",
        2 => "must_call = [\"p3\", \"p10\"]\nnever_call = [\"p7\"]\n",
        3 => {
            "[[limit]]\nby = \"district\"\nat_most = 3\n[[limit]]\nby = \"age\"\nat_most = 1\n[[leave_out]]\nif = \"last_seen >= 3\"\n"
        }
        4 => "[cost]\ncolumn = \"own\"\nat_most = 3\n[[limit]]\nby = \"district\"\nat_most = 4\n",
        _ => "explore = 0.3\n[[cool_down]]\nperiods = 2\n[[limit]]\nby = \"district\"\nat_most = 4\n",
    };
    Rules::parse(Path::new("rules.toml"), text).unwrap()
}

fn table(folder: &Path) -> Vec<RecordBatch> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let read = |path: PathBuf| {
        let reader =
            ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap().build().unwrap();
        reader.map(Result::unwrap).collect::<Vec<_>>()
    };
    files.into_iter().flat_map(read).collect()
}

/// Skewed partitions: pieces of the batches, dealt at random; one has nobody.
fn partitions(batches: &[RecordBatch], random: &mut Random) -> Vec<Vec<RecordBatch>> {
    let mut parts = vec![Vec::new(); 4];
    for batch in batches {
        let mut first = 0;
        while first < batch.num_rows() {
            let rows = random.random_range(1..40).min(batch.num_rows() - first);
            let to = [0, 0, 0, 0, 1, 2][random.random_range(0..6)];
            parts[to].push(batch.slice(first, rows));
            first += rows;
        }
    }
    parts.shuffle(random);
    parts
}

/// As an engine would: every pass on every partition, from bytes to bytes, merged in any order.
fn of_partitions(
    job: &PlanJob,
    parts: &[Vec<RecordBatch>],
    random: &mut Random,
) -> restive_pipeline::Result<(Plan, Vec<String>)> {
    let sent = job.to_bytes()?;
    let mut answers = Vec::new();
    for part in parts {
        let job = PlanJob::from_bytes(&sent)?;
        let mut sampled = Sampled::default();
        part.iter().try_for_each(|batch| job.sample(&mut sampled, batch))?;
        answers.push(sampled.to_bytes());
    }
    answers.shuffle(random);
    let mut sampled = Sampled::default();
    answers.iter().for_each(|answer| sampled.merge(Sampled::from_bytes(answer).unwrap()));
    let job = job.priced(sampled)?;

    let sent = job.to_bytes()?;
    let mut answers = Vec::new();
    for part in parts {
        let job = PlanJob::from_bytes(&sent)?;
        let mut gathered = job.gathered()?;
        part.iter().try_for_each(|batch| job.gather(&mut gathered, batch))?;
        answers.push(gathered.to_bytes());
    }
    answers.shuffle(random);
    let mut gathered = job.gathered()?;
    for answer in &answers {
        job.merge(&mut gathered, job.read_gathered(answer)?)?;
    }
    let draft = job.draft(gathered)?;

    let wanted = draft.wanted().to_bytes();
    let mut details = Details::default();
    for part in parts {
        let mut here = Details::default();
        let wanted = Wanted::from_bytes(&wanted)?;
        part.iter().try_for_each(|batch| job.details(&mut here, &wanted, batch))?;
        details.merge(Details::from_bytes(&here.to_bytes())?);
    }
    draft.finish(details)
}

/// The same of a training: as many passes as it asks for.
fn trained_by_partitions(
    asked: &Asked,
    settings: &str,
    parts: &[Vec<RecordBatch>],
    random: &mut Random,
) -> (Trained, usize) {
    let mut training = PartitionTraining::new(settings, asked.clone(), "a study").unwrap();
    let mut passes = 0;
    while let Some(job) = training.job().unwrap() {
        passes += 1;
        let sent = job.to_bytes().unwrap();
        let mut answers = Vec::new();
        for part in parts {
            let job = TrainJob::from_bytes(&sent).unwrap();
            let mut answer = job.begin();
            part.iter().for_each(|batch| job.take(&mut answer, batch).unwrap());
            answers.push(answer.to_bytes());
        }
        answers.shuffle(random);
        let mut all = job.begin();
        answers.iter().for_each(|answer| job.merge(&mut all, job.read(answer).unwrap()).unwrap());
        training.answer(all).unwrap();
    }
    assert_eq!(training.share(), 1.0);
    (Trained::new(training.finish().unwrap()).unwrap(), passes)
}

#[test]
fn partitions_train_the_model_of_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    for run in 0..6 {
        let mut random = stream(run, &[505]);
        let there = folder.path().join(run.to_string());
        study(&there.join("study"), 280, 1 + run as usize % 2, 2 + run as usize % 3 / 2, &mut random);
        let study = Study::read(&there.join("study")).unwrap();
        let roll = Roll::read(&there.join("study")).unwrap();
        write_people(&roll, &there.join("people"), 3).unwrap();
        let settings = std::fs::read_to_string(there.join("study/study.toml")).unwrap();
        let parts = partitions(&table(&there.join("people")), &mut random);
        let predictor = if run % 2 == 0 { PredictorName::Hierarchical } else { PredictorName::Effect };
        let asked = Asked { predictor: Some(predictor), drop: vec!["own".into()], ..Asked::default() };
        let training = Training::new(&study, &asked, "a study").unwrap();
        let done = training.run(Default::default(), None, |_| Ok::<_, restive_pipeline::Error>(())).unwrap();
        let truth = training.model(done.members, done.histories);
        let (found, passes) = trained_by_partitions(&asked, &settings, &parts, &mut random);
        assert!(passes < 200, "{passes}");
        for ((name, shape, found), (also, same, truth)) in found.model.weights.iter().zip(&truth.weights) {
            assert_eq!((name, shape), (also, same));
            for (a, b) in found.iter().zip(truth) {
                assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "run {run} {name}: {a} not {b}");
            }
        }
        let (found, truth) = (&found.model.card, &truth.card);
        assert_eq!(found.configuration, truth.configuration);
        assert_eq!((found.reference.is_some(), found.encoding.names()), (true, truth.encoding.names()));
        let [found, truth] = [found, truth].map(|card| card.history.loss.unwrap());
        for (found, truth) in
            [(found.train, truth.train), (found.validation, truth.validation), (found.test, truth.test)]
        {
            let (found, truth) = (found.unwrap(), truth.unwrap());
            assert_eq!(found.transitions, truth.transitions);
            let [found, truth] = [found, truth].map(|loss| loss.per_transition.unwrap());
            assert!((found - truth).abs() < 1e-9, "{found} not {truth}");
        }
    }
}

fn words(plan: &Plan) -> String {
    serde_json::to_string(plan).unwrap()
}

#[test]
fn memory_stream_and_partitions_make_one_plan() {
    let folder = tempfile::tempdir().unwrap();
    let mut met = [0; 6];
    for run in 0..24 {
        let mut random = stream(run, &[501]);
        let there = folder.path().join(run.to_string());
        // rules that name people name them in every instance
        let (people, instances) =
            (random.random_range(150..330), if run % 6 == 2 { 1 } else { 1 + run as usize % 3 });
        study(&there.join("study"), people, instances, 2 + run as usize % 2, &mut random);
        let study = Study::read(&there.join("study")).unwrap();
        let predictor = if run % 2 == 0 { PredictorName::Hierarchical } else { PredictorName::Effect };
        let trained = trained(&study, predictor);
        let roll = Roll::read(&there.join("study")).unwrap();
        write_people(&roll, &there.join("people"), 3).unwrap();
        let settings = std::fs::read_to_string(there.join("study/study.toml")).unwrap();
        let asked = PlanAsked {
            rules: rules(run as usize % 6),
            history: [None, Some(true), Some(false)][run as usize / 3 % 3],
            policy: (run % 5 == 0).then_some(PolicyName::Whittle),
            only_beneficial: run % 4 == 3,
            seed: run,
            instance: (instances > 1 && run % 7 == 0).then(|| "g1".into()),
            ..PlanAsked::default()
        };
        let context = format!("run {run}");
        let applied = Applied::new(&trained, &study, "the model", "the people").unwrap();
        let in_memory = applied.plan(&asked);
        let streamed = Passing::new(&trained, &roll, "the model", "the people").unwrap().plan(&asked);
        let step = roll.instances()[0].planned_step();
        let job = PlanJob::new(trained.clone(), &settings, asked.clone(), step).unwrap();
        let parts = partitions(&table(&there.join("people")), &mut random);
        let parted = of_partitions(&job, &parts, &mut random);
        let (in_memory, (streamed, notes), (parted, few)) = match (in_memory, streamed, parted) {
            (Ok(a), Ok(b), Ok(c)) => (a, b, c),
            (Err(a), Err(b), Err(c)) => {
                assert_eq!((b.to_string(), c.to_string()), (a.to_string(), a.to_string()), "{context}");
                continue;
            }
            (a, b, c) => panic!("{context}: {:?} {:?} {:?}", a.err(), b.err(), c.err()),
        };
        assert_eq!(words(&streamed), words(&in_memory), "{context}");
        assert_eq!(words(&parted), words(&in_memory), "{context}");
        assert_eq!(notes, applied.notes, "{context}");
        // of one instance partitions say what holds for its people, the others what holds for everybody
        assert!(asked.instance.is_some() || few.iter().all(|note| notes.contains(note)), "{context}");
        assert!(!in_memory.plan.is_empty() && in_memory.certificate.is_some(), "{context}");
        met[run as usize % 6] += 1;
    }
    assert!(met.iter().all(|met| *met > 0), "{met:?}");
}

#[test]
fn columns_of_the_people_say_who_may_be_called() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = stream(1, &[502]);
    study(&folder.path().join("study"), 300, 1, 2, &mut random);
    let study = Study::read(&folder.path().join("study")).unwrap();
    let trained = trained(&study, PredictorName::Effect);
    let roll = Roll::read(&folder.path().join("study")).unwrap();
    write_people(&roll, &folder.path().join("people"), 1).unwrap();
    let settings = std::fs::read_to_string(folder.path().join("study/study.toml")).unwrap();
    let job = PlanJob::new(trained, &settings, PlanAsked::default(), 4).unwrap();
    let plain = table(&folder.path().join("people"));
    let everybody = of_partitions(&job, std::slice::from_ref(&plain), &mut random).unwrap().0;
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
    let silent = of_partitions(&job, &[with("do_not_call", true)], &mut random).unwrap().0;
    assert!(silent.plan.iter().all(|row| row.arm != first) && silent.not_to_be_called == 1);
    let gone = of_partitions(&job, &[with("is_there", false)], &mut random).unwrap().0;
    assert!(gone.plan.iter().all(|row| row.arm != first) && gone.gone == 1);
}

#[test]
fn broken_bytes_are_refused_and_never_more() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = stream(2, &[503]);
    study(&folder.path().join("study"), 200, 1, 2, &mut random);
    let study = Study::read(&folder.path().join("study")).unwrap();
    let roll = Roll::read(&folder.path().join("study")).unwrap();
    write_people(&roll, &folder.path().join("people"), 1).unwrap();
    let settings = std::fs::read_to_string(folder.path().join("study/study.toml")).unwrap();
    let asked = PlanAsked { rules: rules(1), ..PlanAsked::default() };
    let job = PlanJob::new(trained(&study, PredictorName::Effect), &settings, asked, 4).unwrap();
    let batches = table(&folder.path().join("people"));
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
    let folder = tempfile::tempdir().unwrap();
    let mut random = stream(3, &[504]);
    study(&folder.path().join("study"), 300, 2, 2, &mut random);
    let study = Study::read(&folder.path().join("study")).unwrap();
    let trained = trained(&study, PredictorName::Hierarchical);
    let roll = Roll::read(&folder.path().join("study")).unwrap();
    write_people(&roll, &folder.path().join("people"), 1).unwrap();
    let settings = std::fs::read_to_string(folder.path().join("study/study.toml")).unwrap();
    let asked = PlanAsked { policy: Some(PolicyName::Whittle), ..PlanAsked::default() };
    let job = PlanJob::new(trained.clone(), &settings, asked.clone(), 4).unwrap();
    let batches = table(&folder.path().join("people"));
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
            use arrow_array::Float64Array;
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
            assert_eq!(number("value").value(row), one.value + 0.0);
            let reason = applied.reasons(k, &[(arm, one.state)], None).unwrap().remove(0);
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
            // alone in its batch she has the same numbers
            if row % 11 == 0 {
                assert_eq!(job.score(&batch.slice(row, 1)).unwrap(), scored.slice(row, 1));
            }
        }
    }
    assert!(found > 100, "{found}");
}
