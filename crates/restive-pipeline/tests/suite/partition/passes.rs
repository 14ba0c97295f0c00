//! Passes over partitions, as an engine runs them.

use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rayon::prelude::*;
use restive_pipeline::partition::{Details, PlanJob, Sampled, Wanted};
use restive_pipeline::train_partition::{PartitionTraining, TrainJob};
use restive_pipeline::{Asked, Plan, Result, Trained};
use restive_testkit::Chance;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Batches of a folder of Parquet files, in the order of their names.
pub fn people_table(folder: &Path) -> Vec<RecordBatch> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let read = |path: PathBuf| {
        let reader =
            ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap().build().unwrap();
        reader.map(std::result::Result::unwrap).collect::<Vec<_>>()
    };
    files.into_iter().flat_map(read).collect()
}

/// Puts pieces of the batches, of at most `most` rows, into partitions at random. If there are several, one has more than half of the
/// rows; if there are more than two, one is empty.
pub fn deal(
    batches: &[RecordBatch],
    partitions: usize,
    most: usize,
    chance: &mut Chance,
) -> Vec<Vec<RecordBatch>> {
    let mut dealt = vec![Vec::new(); partitions];
    let filled = if partitions > 2 { partitions - 1 } else { partitions };
    for batch in batches {
        let mut first = 0;
        while first < batch.num_rows() {
            let rows = (1 + chance.below(most)).min(batch.num_rows() - first);
            let to = if chance.one_in(2) { 0 } else { chance.below(filled) };
            dealt[to].push(batch.slice(first, rows));
            first += rows;
        }
    }
    chance.shuffle(&mut dealt);
    dealt
}

/// Answers of all partitions as bytes, computed on the threads of the caller's pool, in random order.
fn answers(
    parts: &[Vec<RecordBatch>],
    chance: &mut Chance,
    answer: impl Fn(&[RecordBatch]) -> Result<Vec<u8>> + Sync,
) -> Result<Vec<Vec<u8>>> {
    let mut answers = parts.par_iter().map(|part| answer(part)).collect::<Result<Vec<_>>>()?;
    chance.shuffle(&mut answers);
    Ok(answers)
}

/// Makes a plan by all passes on all partitions. Jobs and answers are sent as bytes, and answers merged in random order.
pub fn plan_of_partitions(
    job: &PlanJob,
    parts: &[Vec<RecordBatch>],
    chance: &mut Chance,
) -> Result<(Plan, Vec<String>)> {
    let sent = job.to_bytes()?;
    let sampled = answers(parts, chance, |part| {
        let job = PlanJob::from_bytes(&sent)?;
        let mut sampled = Sampled::default();
        part.iter().try_for_each(|batch| job.sample(&mut sampled, batch))?;
        Ok(sampled.to_bytes())
    })?;
    let mut all = Sampled::default();
    sampled.iter().for_each(|answer| all.merge(Sampled::from_bytes(answer).unwrap()));
    let job = job.priced(all)?;

    let sent = job.to_bytes()?;
    let gathered = answers(parts, chance, |part| {
        let job = PlanJob::from_bytes(&sent)?;
        let mut gathered = job.gathered()?;
        part.iter().try_for_each(|batch| job.gather(&mut gathered, batch))?;
        Ok(gathered.to_bytes())
    })?;
    let mut all = job.gathered()?;
    for answer in &gathered {
        job.merge(&mut all, job.read_gathered(answer)?)?;
    }
    let draft = job.draft(all)?;

    let wanted = draft.wanted().to_bytes();
    let details = answers(parts, chance, |part| {
        let (wanted, mut details) = (Wanted::from_bytes(&wanted)?, Details::default());
        part.iter().try_for_each(|batch| job.details(&mut details, &wanted, batch))?;
        Ok(details.to_bytes())
    })?;
    let mut all = Details::default();
    details.iter().for_each(|answer| all.merge(Details::from_bytes(answer).unwrap()));
    draft.finish(all)
}

/// Trains a model by as many passes as the training requests. Returns it with warnings and the number of passes.
pub fn train_by_partitions(
    asked: &Asked,
    settings: &str,
    parts: &[Vec<RecordBatch>],
    chance: &mut Chance,
) -> Result<(Trained, Vec<String>, usize)> {
    let mut training = PartitionTraining::new(settings, asked.clone(), "a study")?;
    let mut passes = 0;
    while let Some(job) = training.job()? {
        passes += 1;
        let sent = job.to_bytes()?;
        let answers = answers(parts, chance, |part| {
            let job = TrainJob::from_bytes(&sent)?;
            let mut answer = job.begin();
            part.iter().try_for_each(|batch| job.take(&mut answer, batch))?;
            Ok(answer.to_bytes())
        })?;
        let mut all = job.begin();
        answers.iter().try_for_each(|answer| job.merge(&mut all, job.read(answer)?))?;
        training.answer(all)?;
    }
    assert_eq!(training.share(), 1.0);
    let warnings = training.warnings.iter().map(ToString::to_string).collect();
    Ok((Trained::new(training.finish()?)?, warnings, passes))
}
