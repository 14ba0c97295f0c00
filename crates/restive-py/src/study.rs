//! Studies: from tables in memory and from folders, and back.
//!
//! The class here is the inner half of `restive.Study`, which knows data frames; it knows columns.

use crate::columns::{self, Column};
use crate::refusal::of_tables;
use crate::threads::run;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use restive::data::features::Column as Feature;
use restive::instance::{Chain, Observation};
use restive_tables::{Format, Study};
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
        let sizes = |instance: &restive_tables::StudyInstance| {
            let log = &instance.trajectories;
            (instance.name.clone(), instance.arms.len(), log.trajectories(), log.steps())
        };
        self.study.instances.iter().map(sizes).collect()
    }

    /// The names of the features.
    fn features(&self) -> Vec<String> {
        self.study.instances.first().map_or(Vec::new(), |first| first.features.names().to_vec())
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
