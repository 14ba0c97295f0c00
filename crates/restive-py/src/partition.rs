//! Plans and scores of Arrow batches: the inner half of `restive.arrow`.
//!
//! A batch comes and goes as the bytes of an Arrow stream of one batch, so that every engine's Arrow will do and nothing is shared with its
//! memory. Jobs and answers are bytes too: whatever an engine can send.

use crate::asked::asked_for;
use crate::columns::Column;
use crate::estimator::{NativeModel, planned};
use crate::refusal::{keywords, of_pipeline};
use crate::threads::run;
use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator};
use restive_pipeline::partition::{Details, Draft, GatheredPart, PlanJob, Sampled, Wanted};
use restive_pipeline::train_partition::{PartitionTraining, TrainJob};
use restive_pipeline::{PlanAsked, Rules, Trained, card};
use std::path::Path;
use std::sync::Mutex;

/// A plan to be made of partitions, or a score of batches.
#[pyclass(frozen, module = "restive._restive")]
pub(crate) struct NativeJob {
    job: PlanJob,
}

/// Lists whose people are to be looked at once more.
#[pyclass(frozen, module = "restive._restive")]
pub(crate) struct NativeDraft {
    draft: Mutex<Option<Draft>>,
}

#[pymethods]
impl NativeJob {
    #[new]
    fn new(
        model: &NativeModel,
        settings: &str,
        rules: Option<(String, String)>,
        step: usize,
        budget: Option<usize>,
        policy: Option<String>,
        remaining: Option<usize>,
        history: Option<bool>,
        only_beneficial: bool,
        index_discount: Option<f64>,
        instance: Option<String>,
        explore: Option<f64>,
        period: Option<String>,
        seed: u64,
    ) -> PyResult<Self> {
        let policy = policy.map(|name| name.parse()).transpose();
        let policy = policy.map_err(|message: String| PyValueError::new_err(format!("policy: {message}")))?;
        let rules = rules.map(|(path, text)| Rules::parse(Path::new(&path), &text)).transpose();
        let asked = PlanAsked {
            budget,
            policy,
            remaining,
            only_beneficial,
            history,
            index_discount,
            instance,
            explore,
            period,
            seed,
            rules: rules.map_err(of_pipeline)?.unwrap_or_default(),
            ..PlanAsked::default()
        };
        let job = PlanJob::new(model.trained.clone(), settings, asked, step).map_err(of_pipeline)?;
        Ok(Self { job })
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        Ok(Self { job: PlanJob::from_bytes(bytes).map_err(of_pipeline)? })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.job.to_bytes().map_err(of_pipeline)?))
    }

    /// What the model says of the people of a batch.
    fn score<'py>(&self, py: Python<'py>, batch: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let batch = read(batch)?;
        let scored = run(py, || self.job.score(&batch))?.map_err(of_pipeline)?;
        Ok(PyBytes::new(py, &write(&scored)?))
    }

    /// Those of a partition who may stand for everybody.
    fn sample<'py>(
        &self,
        py: Python<'py>,
        batches: &Bound<'py, PyIterator>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut sampled = Sampled::default();
        each(py, batches, |batch| self.job.sample(&mut sampled, batch))?;
        Ok(PyBytes::new(py, &sampled.to_bytes()))
    }

    /// The job with the prices that are found on those who stand for everybody.
    fn priced(&self, py: Python<'_>, answers: Vec<Vec<u8>>) -> PyResult<Self> {
        let job = run(py, || {
            let mut sampled = Sampled::default();
            for answer in &answers {
                sampled.merge(Sampled::from_bytes(answer)?);
            }
            self.job.priced(sampled)
        })?;
        Ok(Self { job: job.map_err(of_pipeline)? })
    }

    /// Counts, sums, and those of a partition who can still have a place.
    fn gather<'py>(
        &self,
        py: Python<'py>,
        batches: &Bound<'py, PyIterator>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut gathered = self.job.gathered().map_err(of_pipeline)?;
        each(py, batches, |batch| self.job.gather(&mut gathered, batch))?;
        Ok(PyBytes::new(py, &gathered.to_bytes()))
    }

    /// The answers of several partitions as one.
    fn merge<'py>(&self, py: Python<'py>, answers: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyBytes>> {
        let merged = run(py, || self.merged(&answers))?.map_err(of_pipeline)?;
        Ok(PyBytes::new(py, &merged.to_bytes()))
    }

    /// Deals the places.
    fn draft(&self, py: Python<'_>, answers: Vec<Vec<u8>>) -> PyResult<NativeDraft> {
        let draft = run(py, || self.job.draft(self.merged(&answers)?))?.map_err(of_pipeline)?;
        Ok(NativeDraft { draft: Mutex::new(Some(draft)) })
    }

    /// Those of a partition who are wanted, once more.
    fn details<'py>(
        &self,
        py: Python<'py>,
        wanted: &[u8],
        batches: &Bound<'py, PyIterator>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (wanted, mut details) = (Wanted::from_bytes(wanted).map_err(of_pipeline)?, Details::default());
        each(py, batches, |batch| self.job.details(&mut details, &wanted, batch))?;
        Ok(PyBytes::new(py, &details.to_bytes()))
    }
}

impl NativeJob {
    fn merged(&self, answers: &[Vec<u8>]) -> restive_pipeline::Result<GatheredPart> {
        let mut all = self.job.gathered()?;
        for answer in answers {
            self.job.merge(&mut all, self.job.read_gathered(answer)?)?;
        }
        Ok(all)
    }
}

#[pymethods]
impl NativeDraft {
    /// Who is to be looked at once more.
    fn wanted<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let draft = self.draft.lock().expect("nobody panics with it");
        let draft = draft.as_ref().ok_or_else(|| PyRuntimeError::new_err("the plan is finished already"))?;
        Ok(PyBytes::new(py, &draft.wanted().to_bytes()))
    }

    /// The columns and the facts of the plan.
    fn finish<'py>(
        &self,
        py: Python<'py>,
        answers: Vec<Vec<u8>>,
    ) -> PyResult<(Vec<Column<'py>>, Bound<'py, PyDict>)> {
        let draft = self.draft.lock().expect("nobody panics with it").take();
        let draft = draft.ok_or_else(|| PyRuntimeError::new_err("the plan is finished already"))?;
        let finished = run(py, || {
            let mut details = Details::default();
            for answer in &answers {
                details.merge(Details::from_bytes(answer)?);
            }
            draft.finish(details)
        })?;
        let (plan, notes) = finished.map_err(of_pipeline)?;
        planned(py, &plan, notes)
    }
}

/// A training of partitions, on its way.
#[pyclass(frozen, module = "restive._restive")]
pub(crate) struct NativeTraining {
    training: Mutex<Option<PartitionTraining>>,
}

#[pymethods]
impl NativeTraining {
    #[new]
    fn new(settings: &str, asked: &Bound<'_, PyDict>) -> PyResult<Self> {
        let training = PartitionTraining::new(settings, asked_for(asked)?, "tables").map_err(of_pipeline)?;
        Ok(Self { training: Mutex::new(Some(training)) })
    }

    /// What to ask of every partition next; none once the model is there.
    fn job<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.with(|training| {
            let job = training.job()?.map(|job| job.to_bytes()).transpose()?;
            Ok(job.map(|bytes| PyBytes::new(py, &bytes)))
        })
    }

    /// What one partition answers to a job.
    #[staticmethod]
    fn pass_<'py>(
        py: Python<'py>,
        job: &[u8],
        batches: &Bound<'py, PyIterator>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let job = TrainJob::from_bytes(job).map_err(of_pipeline)?;
        let mut part = job.begin();
        each(py, batches, |batch| job.take(&mut part, batch))?;
        Ok(PyBytes::new(py, &part.to_bytes()))
    }

    /// Takes what all partitions answered; how much is done, from 0 to 1.
    fn answer(&self, py: Python<'_>, answers: Vec<Vec<u8>>) -> PyResult<f64> {
        run(py, || {
            self.with(|training| {
                let Some(job) = training.job()? else { return Ok(1.0) };
                let mut all = job.begin();
                for answer in &answers {
                    job.merge(&mut all, job.read(answer)?)?;
                }
                training.answer(all)?;
                Ok(training.share())
            })
        })?
    }

    /// The model, and what should be known of it.
    fn finish(&self) -> PyResult<(NativeModel, Vec<String>)> {
        let training = self.training.lock().expect("nobody panics with it").take();
        let training = training.ok_or_else(|| PyRuntimeError::new_err("the training is finished already"))?;
        let warnings = training.warnings.clone();
        let model = training.finish().map_err(of_pipeline)?;
        let warnings = warnings.into_iter().chain(card::warnings(&model.card));
        let warnings = warnings.map(|message| keywords(&message)).collect();
        Ok((NativeModel { trained: Trained::new(model).map_err(of_pipeline)? }, warnings))
    }
}

impl NativeTraining {
    fn with<T>(
        &self,
        work: impl FnOnce(&mut PartitionTraining) -> restive_pipeline::Result<T>,
    ) -> PyResult<T> {
        let mut training = self.training.lock().expect("nobody panics with it");
        let training =
            training.as_mut().ok_or_else(|| PyRuntimeError::new_err("the training is finished already"))?;
        work(training).map_err(of_pipeline)
    }
}

/// Every batch in turn; an error says which of them it was, counted from 0.
fn each<'py>(
    py: Python<'py>,
    batches: &Bound<'py, PyIterator>,
    mut take: impl FnMut(&RecordBatch) -> restive_pipeline::Result<()> + Send,
) -> PyResult<()> {
    for (number, bytes) in batches.clone().enumerate() {
        let batch = read(bytes?.cast::<PyBytes>()?.as_bytes())?;
        let taken = run(py, || take(&batch))?;
        taken.map_err(|error| {
            let raised = of_pipeline(error);
            match raised.is_instance_of::<PyValueError>(py) {
                true => PyValueError::new_err(format!("batch {number}: {}", raised.value(py))),
                false => raised,
            }
        })?;
    }
    Ok(())
}

/// The batch of an Arrow stream.
fn read(bytes: &[u8]) -> PyResult<RecordBatch> {
    let wrong =
        |found: String| PyValueError::new_err(format!("batch: found {found}, expected one Arrow batch"));
    let mut reader = StreamReader::try_new(bytes, None).map_err(|error| wrong(error.to_string()))?;
    match reader.next() {
        Some(batch) => batch.map_err(|error| wrong(error.to_string())),
        None => Ok(RecordBatch::new_empty(reader.schema())),
    }
}

/// A batch as an Arrow stream.
fn write(batch: &RecordBatch) -> PyResult<Vec<u8>> {
    let wrong = |error: arrow_schema::ArrowError| PyRuntimeError::new_err(error.to_string());
    let mut writer = StreamWriter::try_new(Vec::new(), batch.schema_ref()).map_err(wrong)?;
    writer.write(batch).map_err(wrong)?;
    writer.into_inner().map_err(wrong)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<NativeJob>()?;
    module.add_class::<NativeDraft>()?;
    module.add_class::<NativeTraining>()
}
