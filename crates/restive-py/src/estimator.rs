//! Training, and what a model says of a study: the inner half of `restive.TwoStage` and `restive.DecisionFocused`.
//!
//! Training runs without the interpreter's lock and takes it between epochs: to see whether someone wants it to end (Ctrl-C), and to
//! report. What is trained here is what `restive train` trains: the same code makes the same weights.

use crate::arms::{slice, view};
use crate::asked::{asked_for, evaluation_asked};
use crate::border::{check_finite, check_shape, floats};
use crate::columns::{Column, text, whole};
use crate::error::raise;
use crate::refusal::{keywords, of_pipeline, of_tables};
use crate::study::NativeStudy;
use crate::threads::{pool, run};
use numpy::{PyArray4, PyReadonlyArray2, PyUntypedArrayMethods, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use restive::Transition;
use restive::data::encoding::{ColumnKind, EncodedColumn};
use restive::data::split::Part;
use restive::evaluation::Estimate;
use restive::instance::Layout;
use restive_pipeline::identification::{Identification, not_stated, store_refusal};
use restive_pipeline::options::TRAINING;
use restive_pipeline::{
    Applied, Error, EstimatorsName, Outcome, Plan, PlanAsked, Trained, Training, card, evidence_of_scores,
};
use restive_tables::Looks;
use std::path::PathBuf;

/// A trained predictor.
#[pyclass(frozen, module = "restive._restive")]
pub(crate) struct NativeModel {
    pub(crate) trained: Trained,
}

/// Why a training ended early.
enum Ended {
    Refused(Error),
    Raised(PyErr),
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Ended::Refused(error)
    }
}

/// Trains; `visit(share, message)` hears of every epoch. The model, and what should be known of it.
#[pyfunction]
fn train(
    py: Python<'_>,
    study: &NativeStudy,
    asked: &Bound<'_, PyDict>,
    visit: Option<Py<PyAny>>,
) -> PyResult<(NativeModel, Vec<String>)> {
    let (asked, pool) = (asked_for(asked)?, pool()?);
    let training = run(py, || Training::new(&study.study, &asked, "tables"))?.map_err(of_pipeline)?;
    // the thread that was asked is the one that hears of Ctrl-C
    let outcome = py.detach(|| {
        training.run(Default::default(), Some(&pool), |step| {
            let heard = Python::attach(|py| {
                py.check_signals()?;
                visit.as_ref().map_or(Ok(()), |visit| visit.call1(py, (step.share, step.message)).map(drop))
            });
            heard.map_err(Ended::Raised)
        })
    });
    let progressed = outcome.map_err(|ended| match ended {
        Ended::Refused(error) => of_pipeline(error),
        Ended::Raised(error) => error,
    })?;
    let model = run(py, || training.model(progressed.members, progressed.histories))?;
    let warnings = training.warnings.into_iter().chain(card::warnings(&model.card));
    let warnings = warnings.map(|message| keywords(&message)).collect();
    Ok((NativeModel { trained: Trained::new(model).map_err(of_pipeline)? }, warnings))
}

/// Columns of numbers, the answer as JSON, warnings, and the model with a refusal if there is one.
type Evaluation<'py> = (Vec<Column<'py>>, String, Vec<String>, Option<NativeModel>);

#[pymethods]
impl NativeModel {
    #[staticmethod]
    fn load(folder: PathBuf) -> PyResult<Self> {
        Ok(Self { trained: Trained::read(&folder).map_err(of_pipeline)? })
    }

    fn save(&self, folder: PathBuf, replace: bool) -> PyResult<()> {
        self.trained.model.write(&folder, replace).map_err(of_tables)
    }

    /// The configuration, the history and the predictor of the card, as JSON.
    fn card(&self) -> [String; 3] {
        let card = &self.trained.model.card;
        let json = |part: serde_json::Result<serde_json::Value>| part.expect("plain values").to_string();
        [
            json(serde_json::to_value(&card.configuration)),
            json(serde_json::to_value(&card.history)),
            json(serde_json::to_value(&card.predictor)),
        ]
    }

    /// What the model reads: columns and whether they are text, columns that it leaves out, and what the encoded ones are called.
    fn reads(&self) -> (Vec<(String, bool)>, Vec<String>, Vec<String>) {
        let encoding = &self.trained.model.card.encoding;
        let column =
            |column: &EncodedColumn| (column.name.clone(), matches!(column.kind, ColumnKind::Text { .. }));
        (encoding.columns.iter().map(column).collect(), encoding.dropped.clone(), encoding.names())
    }

    /// P of arms whose features are encoded, `[N,F]`.
    fn predict_encoded<'py>(
        &self,
        py: Python<'py>,
        features: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray4<f64>>> {
        let features = floats("features", features)?;
        let width = self.trained.model.card.encoding.width();
        let fits = features.ndim() == 2 && features.shape()[1] == width;
        check_shape("features", &format!("[N, {width}], the encoded columns"), features.shape(), fits)?;
        check_finite("features", slice(&features), features.shape())?;
        let features = view(&features).into_dimensionality().expect("two axes");
        let predicted = run(py, || Transition::new(self.trained.ensemble.predict(features), Layout::Nsas))?;
        Ok(predicted.map_err(raise)?.view().to_pyarray(py))
    }

    /// P of every instance, `[N,M,2,M]`; the study's name is for messages.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        study: &NativeStudy,
        name: &str,
    ) -> PyResult<Vec<Bound<'py, PyArray4<f64>>>> {
        let applied = || Applied::new(&self.trained, &study.study, "the model", name);
        let applied = run(py, applied)?.map_err(of_pipeline)?;
        Ok(applied.predictions.iter().map(|p| p.view().to_pyarray(py)).collect())
    }

    /// The mean log-likelihood per transition of a part, or of all.
    fn score(&self, py: Python<'_>, study: &NativeStudy, part: &str) -> PyResult<f64> {
        let applied = self.applied(py, study)?;
        let groups = match Part::ALL.into_iter().find(|known| known.name() == part) {
            Some(known) => {
                let split = applied.split().map_err(|error| of_pipeline(error.into()))?;
                split.part(known).to_vec()
            }
            None if part == "all" => applied.all(),
            None => {
                let message = format!("part: found {part:?}, expected one of train, validation, test, all");
                return Err(PyValueError::new_err(message));
            }
        };
        let loss = run(py, || applied.loss(&groups))?;
        if loss.transitions == 0.0 {
            let message =
                format!("part: found no transition in {part:?}, expected some; \"all\" takes every arm");
            return Err(PyValueError::new_err(message));
        }
        Ok(-loss.per_transition)
    }

    /// The numbers as columns, the whole answer as JSON, warnings, and the refused model if the evaluation refuses its effects. The refusal
    /// is also written into the folder of the model, if it has one.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        study: &NativeStudy,
        asked: &Bound<'py, PyDict>,
        model_folder: Option<PathBuf>,
    ) -> PyResult<Evaluation<'py>> {
        let asked = evaluation_asked(asked)?;
        let applied = self.applied(py, study)?;
        let is_judged = asked.estimators == EstimatorsName::Judged;
        let folder = study.folder.as_ref().filter(|_| is_judged);
        let mut looks = folder.map(|folder| Looks::read(folder)).transpose().map_err(of_tables)?;
        let evaluated = run(py, || applied.evaluate(&asked, looks.as_mut(), |_| Ok::<_, Error>(())))?;
        let evaluated = evaluated.map_err(of_pipeline)?;
        let mut warnings = evaluated.about.warnings.clone();
        if let (Some(looks), Some(folder), Some(Outcome::Answer(_))) = (&looks, folder, &evaluated.evidence) {
            let refused = looks.write(folder).err();
            warnings
                .extend(refused.map(|refused| format!("this look at the study is not counted: {refused}")));
        }
        let refusal = evaluated.refusal.as_ref();
        let stored = refusal.zip(model_folder.as_deref());
        warnings.extend(stored.and_then(|(refusal, folder)| store_refusal(folder, refusal)));
        let rows = evaluated.quantities();
        let numbers = |cell: fn(&Estimate) -> f64| {
            rows.iter().map(|row| cell(&row.estimate)).collect::<Vec<_>>().to_pyarray(py).into_any()
        };
        let columns = vec![
            ("policy".into(), text(py, rows.iter().map(|row| Some(row.policy)))?),
            ("estimator".into(), text(py, rows.iter().map(|row| Some(row.estimator.name())))?),
            ("quantity".into(), text(py, rows.iter().map(|row| Some(row.quantity)))?),
            ("value".into(), numbers(|estimate| estimate.value)),
            ("low".into(), numbers(|estimate| estimate.low)),
            ("high".into(), numbers(|estimate| estimate.high)),
            ("ess".into(), numbers(|estimate| estimate.effective_sample_size.unwrap_or(f64::NAN))),
            ("covers".into(), text(py, rows.iter().map(|row| Some(row.estimate.covers.words())))?),
        ];
        let mut answer = serde_json::to_value(&evaluated).expect("plain values");
        answer["about"]["notes"] = evaluated.about.notes.iter().map(keywords).collect();
        Ok((columns, answer.to_string(), warnings, refusal.map(|refusal| self.refused(refusal))))
    }

    /// The columns and the facts of [`planned`].
    fn plan<'py>(
        &self,
        py: Python<'py>,
        study: &NativeStudy,
        budget: Option<usize>,
        policy: Option<String>,
        remaining: Option<usize>,
        history: Option<bool>,
        only_beneficial: bool,
        index_discount: Option<f64>,
        instance: Option<String>,
        seed: u64,
    ) -> PyResult<(Vec<Column<'py>>, Bound<'py, PyDict>)> {
        let applied = self.applied(py, study)?;
        let policy = policy.map(|name| name.parse()).transpose();
        let policy = policy.map_err(|message: String| PyValueError::new_err(format!("policy: {message}")))?;
        let asked = PlanAsked {
            budget,
            policy,
            remaining,
            only_beneficial,
            history,
            index_discount,
            instance,
            seed,
            ..PlanAsked::default()
        };
        let plan = run(py, || applied.plan(&asked))?.map_err(of_pipeline)?;
        let notes = applied.notes.clone();
        planned(py, &plan, notes)
    }
}

/// The columns of a plan, then facts: json, policy, budget, steps, index_discount, bound, no_action, history, never_observed, notes, warnings.
pub(crate) fn planned<'py>(
    py: Python<'py>,
    plan: &Plan,
    notes: Vec<String>,
) -> PyResult<(Vec<Column<'py>>, Bound<'py, PyDict>)> {
    let rows = &plan.plan;
    let mut columns = vec![
        ("instance".into(), text(py, rows.iter().map(|row| Some(row.instance.as_str())))?),
        ("arm".into(), text(py, rows.iter().map(|row| Some(row.arm.as_str())))?),
    ];
    for (c, name) in plan.columns().iter().enumerate() {
        let cells = rows.iter().map(|row| row.place.cells()[c].map(i32::from));
        columns.push((name.to_string(), whole(py, cells)?));
    }
    let numbers = |number: fn(&restive_pipeline::PlannedArm) -> f64| {
        rows.iter().map(number).collect::<Vec<_>>().to_pyarray(py)
    };
    columns.push((plan.score_name().into(), numbers(|row| row.worth.value()).into_any()));
    columns.push(("rank".into(), whole(py, rows.iter().map(|row| Some(row.rank as i32)))?));
    columns.push(("inclusion".into(), numbers(|row| row.inclusion).into_any()));
    let effects = plan.effects.identified();
    if effects.is_some() {
        let pays: Vec<bool> =
            rows.iter().filter_map(|row| row.effects.map(|effects| effects.is_beneficial)).collect();
        columns.push(("is_beneficial".into(), pays.to_pyarray(py).into_any()));
    }

    let facts = PyDict::new(py);
    facts.set_item("json", serde_json::to_string(plan).expect("plain values"))?;
    facts.set_item("policy", plan.policy.name())?;
    facts.set_item("budget", plan.budget)?;
    facts.set_item("steps", plan.steps[1])?;
    facts.set_item("index_discount", plan.index_discount)?;
    facts.set_item("effects", not_stated(plan.effects.identification()))?;
    facts.set_item("bound", effects.map(|effects| effects.bound.any_policy))?;
    facts.set_item("no_action", effects.map(|effects| effects.bound.no_action))?;
    facts.set_item("history", plan.history.as_ref().map(ToString::to_string))?;
    facts.set_item("never_observed", plan.never_observed)?;
    let notes = notes.into_iter().chain(plan.note());
    facts.set_item("notes", notes.collect::<Vec<_>>())?;
    facts.set_item("warnings", plan.warnings().iter().map(keywords).collect::<Vec<_>>())?;
    Ok((columns, facts))
}

impl NativeModel {
    /// The model with a refusal on its card.
    fn refused(&self, refusal: &Identification) -> Self {
        let mut trained = self.trained.clone();
        trained.model.card.identification = refusal.clone();
        Self { trained }
    }

    fn applied<'a>(&'a self, py: Python<'_>, study: &'a NativeStudy) -> PyResult<Applied<'a>> {
        let applied = || Applied::new(&self.trained, &study.study, "the model", "the study");
        run(py, applied)?.map_err(of_pipeline)
    }
}

/// What the evidence says of anybody's ranking: a table `[N,M]` of scores for each instance; JSON.
#[pyfunction]
fn evidence(
    py: Python<'_>,
    study: &NativeStudy,
    scores: Vec<PyReadonlyArray2<'_, f64>>,
    asked: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let asked = evaluation_asked(asked)?;
    let scores: Vec<_> = scores.iter().map(|scores| scores.as_array().to_owned()).collect();
    let outcome = run(py, || evidence_of_scores(&study.study, &scores, &asked))?.map_err(of_pipeline)?;
    Ok(serde_json::to_value(&outcome).expect("plain values").to_string())
}

/// The sentence of every option of training, by its keyword.
#[pyfunction]
fn options(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let described = PyDict::new(py);
    for option in TRAINING {
        described.set_item(option.name.replace('-', "_"), option.sentence)?;
    }
    Ok(described)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<NativeModel>()?;
    module.add_function(wrap_pyfunction!(evidence, module)?)?;
    module.add_function(wrap_pyfunction!(options, module)?)?;
    module.add_function(wrap_pyfunction!(train, module)?)
}
