//! Studies: from tables in memory and from folders, and back.
//!
//! The class here is the inner half of `restive.Study`, which knows data frames; it knows columns. `arrays` is the door to the kernels:
//! the instances with their features as numbers, as a model reads them or, without one, as plainly as can be: numbers pass through, and a
//! column that is the same for everybody is no error, because nothing is learnt from it here.

use crate::columns::{self, Column};
use crate::data::dictionary;
use crate::estimator::NativeModel;
use crate::refusal::of_tables;
use crate::threads::run;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use restive::data::encoding::{ColumnKind, EncodedColumn, Encoding, Standardise};
use restive::data::features::{Column as Feature, Features};
use restive::instance::{Assignment, Chain, Observation};
use restive_pipeline::prepare;
use restive_tables::{Format, Study, StudyInstance};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The inner half of `restive.Study`.
#[pyclass(frozen, module = "restive._restive")]
pub(crate) struct NativeStudy {
    pub(crate) study: Study,
    /// where it was read, and where looks at it are counted
    pub(crate) folder: Option<PathBuf>,
}

/// A table: how many rows, and its columns.
type Table<'py> = (usize, Vec<Column<'py>>);

#[pymethods]
impl NativeStudy {
    /// From the text of study.toml and columns.
    #[staticmethod]
    fn from_tables(
        py: Python<'_>,
        settings: &str,
        arms: Table<'_>,
        trajectories: Table<'_>,
        truth: Option<Table<'_>>,
    ) -> PyResult<Self> {
        let batch = |what: &str, table: &Table<'_>| columns::table(what, table.0, &table.1);
        let (arms, trajectories) = (batch("arms", &arms)?, batch("trajectories", &trajectories)?);
        let truth = truth.map(|truth| batch("truth", &truth)).transpose()?;
        let study = run(py, || Study::from_tables(settings, &arms, &trajectories, truth.as_ref()))?;
        Ok(Self { study: study.map_err(of_tables)?, folder: None })
    }

    #[staticmethod]
    fn read(py: Python<'_>, folder: PathBuf) -> PyResult<Self> {
        let folder = run(py, || restive_programme::Programme::study_in(&folder))?
            .map_err(crate::programme::refused)?;
        Ok(Self { study: run(py, || Study::read(&folder))?.map_err(of_tables)?, folder: Some(folder) })
    }

    fn write(&self, py: Python<'_>, folder: PathBuf, format: &str, replace: bool) -> PyResult<()> {
        let format = table_format(format)?;
        run(py, || self.study.write(&folder, format, replace, |_| {}))?.map_err(of_tables)
    }

    /// arms, trajectories, truth: lists of (name, cells).
    #[allow(clippy::type_complexity)]
    fn tables<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Vec<Column<'py>>, Vec<Column<'py>>, Option<Vec<Column<'py>>>)> {
        let (arms, trajectories, truth) = run(py, || self.study.tables())?;
        Ok((
            columns::columns(py, &arms)?,
            columns::columns(py, &trajectories)?,
            truth.map(|truth| columns::columns(py, &truth)).transpose()?,
        ))
    }

    /// What `study.toml` says, by its keys; what is at its default is left out.
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (settings, said) = (&self.study.settings, PyDict::new(py));
        for (key, text) in [("name", &settings.name), ("notes", &settings.notes), ("unit", &settings.unit)] {
            text.as_ref().map_or(Ok(()), |text| said.set_item(key, text))?;
        }
        said.set_item("states", settings.reward.states())?;
        let rewards = PyList::empty(py);
        for row in settings.reward.view().rows() {
            match row[0] == row[1] {
                true => rewards.append(row[0])?,
                false => rewards.append([row[0], row[1]])?,
            }
        }
        said.set_item("rewards", rewards)?;
        said.set_item("discount", settings.discount)?;
        said.set_item("budget", settings.budget)?;
        said.set_item("horizon", settings.horizon)?;
        settings.ends.map_or(Ok(()), |ends| said.set_item("ends", ends))?;
        said.set_item("behaviour", settings.behaviour.name())?;
        settings.cluster.as_ref().map_or(Ok(()), |cluster| said.set_item("cluster", cluster))?;
        if settings.assignment == Assignment::PerPerson {
            said.set_item("assignment", "per-person")?;
        }
        if let Observation::Collapsing(chain) = settings.observation {
            said.set_item("observation", "collapsing")?;
            match chain {
                Chain::Finite(labels) => said.set_item("chain", labels)?,
                Chain::Infinite { beliefs } => {
                    said.set_item("chain", "infinite")?;
                    said.set_item("beliefs", beliefs)?;
                }
            }
        }
        let first = self.study.instances.first().map(|instance| &instance.features);
        let features = first.into_iter().flat_map(|features| features.names().iter().zip(features.columns()));
        let text: Vec<&str> =
            features.filter(|(_, c)| matches!(c, Feature::Text(_))).map(|(name, _)| name.as_str()).collect();
        if !text.is_empty() {
            said.set_item("text", text)?;
        }
        if !settings.silenced.is_empty() {
            said.set_item("silenced", &settings.silenced)?;
        }
        Ok(said)
    }

    #[getter]
    fn fingerprint(&self) -> String {
        self.study.fingerprint()
    }

    /// (name, arms, trajectories, steps) of every instance.
    fn instances(&self) -> Vec<(String, usize, usize, usize)> {
        let sizes = |instance: &StudyInstance| {
            let log = &instance.trajectories;
            (instance.name.clone(), instance.arms.len(), log.trajectories(), log.steps())
        };
        self.study.instances.iter().map(sizes).collect()
    }

    /// The names of the features.
    fn features(&self) -> Vec<String> {
        self.study.instances.first().map_or(Vec::new(), |first| first.features.names().to_vec())
    }

    /// What the encoded features are called, and every instance as arrays under its names; encoded as a model reads them, or plainly.
    fn arrays<'py>(
        &self,
        py: Python<'py>,
        model: Option<&NativeModel>,
    ) -> PyResult<(Vec<String>, Bound<'py, PyList>)> {
        let (encoding, instances) = run(py, || {
            let read = model.map(|model| model.trained.model.card.encoding.clone());
            let encoding = read.unwrap_or_else(|| plain(&prepare::features(&self.study)));
            let instances = self.study.instances(&encoding);
            (encoding, instances)
        })?;
        let all = PyList::empty(py);
        for (instance, named) in instances.map_err(of_tables)?.iter().zip(&self.study.instances) {
            let parts = dictionary(py, instance)?;
            parts.set_item("name", &named.name)?;
            parts.set_item("arms", &named.arms)?;
            parts.set_item("trajectories", &named.trajectory_names)?;
            let split = named.split.as_ref().map(|split| split.iter().map(|part| part.name()));
            parts.set_item("split", split.map(|split| split.collect::<Vec<_>>()))?;
            parts.set_item("clusters", named.clusters.as_ref())?;
            all.append(parts)?;
        }
        Ok((encoding.names(), all))
    }

    /// Some arms of some instances, by position, under a budget; `split` says whether the column is kept.
    fn select(
        &self,
        py: Python<'_>,
        chosen: Vec<(usize, Vec<usize>)>,
        budget: usize,
        split: bool,
    ) -> PyResult<Self> {
        let study = run(py, || {
            let part = |(k, arms): &(usize, Vec<usize>)| part(&self.study.instances[*k], arms, split);
            let mut settings = self.study.settings.clone();
            settings.budget = budget;
            Study { settings, instances: chosen.iter().map(part).collect() }
        })?;
        if let Some(few) = study.instances.iter().find(|instance| instance.arms.len() < budget) {
            let (name, arms) = (&few.name, few.arms.len());
            let message = format!(
                "budget: found {budget}, expected at most {arms}, the arms that are kept of instance {name}"
            );
            return Err(PyValueError::new_err(message));
        }
        Ok(Self { study, folder: None })
    }
}

/// Some arms of an instance.
fn part(whole: &StudyInstance, arms: &[usize], split: bool) -> StudyInstance {
    let parts = whole.split.as_ref().filter(|_| split);
    StudyInstance {
        name: whole.name.clone(),
        arms: arms.iter().map(|i| whole.arms[*i].clone()).collect(),
        features: whole.features.select_arms(arms),
        split: parts.map(|parts| arms.iter().map(|i| parts[*i]).collect()),
        clusters: whole.clusters.as_ref().map(|names| arms.iter().map(|i| names[*i].clone()).collect()),
        trajectory_names: whole.trajectory_names.clone(),
        trajectories: whole.trajectories.select_arms(arms),
        truth: whole.truth.as_ref().map(|truth| truth.select_arms(arms)),
    }
}

/// The encoding that changes least: numbers pass through, text becomes its categories, what is missing has an indicator.
fn plain(features: &Features) -> Encoding {
    let named = features.names().iter().zip(features.columns());
    let columns = named.map(|(name, column)| {
        let alone = Features::new(features.arms(), vec![(name.clone(), column.clone())]);
        let fitted = alone.and_then(|alone| Encoding::fit(&alone, Standardise::No, &[]));
        match fitted {
            Ok(mut fitted) => fitted.columns.remove(0),
            // alike or missing everywhere, which a predictor would not learn from
            Err(_) => {
                EncodedColumn { name: name.clone(), kind: alike(column), has_missing: column.missing() > 0 }
            }
        }
    });
    Encoding { standardise: Standardise::No, columns: columns.collect(), dropped: Vec::new() }
}

/// What is known of a column whose values are alike, where there are any.
fn alike(column: &Feature) -> ColumnKind {
    match column {
        Feature::Number(values) => {
            let mean = values.iter().copied().find(|x| !x.is_nan()).unwrap_or(0.0);
            ColumnKind::Binary { mean }
        }
        Feature::Text(values) => {
            let categories: BTreeSet<&String> = values.iter().flatten().collect();
            ColumnKind::Text { categories: categories.into_iter().cloned().collect() }
        }
    }
}

/// The format of a study's tables by its name.
pub(crate) fn table_format(name: &str) -> PyResult<Format> {
    match name {
        "csv" => Ok(Format::Csv),
        "parquet" => Ok(Format::Parquet),
        other => {
            let message = format!("format: found {other:?}, expected \"csv\" or \"parquet\"");
            Err(PyValueError::new_err(message))
        }
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<NativeStudy>()
}
