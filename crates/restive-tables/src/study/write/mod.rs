//! A study goes out here, whole or not at all.

mod cells;

use super::looks::{COLUMNS, LOOKS};
use super::table::{Origin, Table};
use super::{SETTINGS, Study, StudyInstance, StudySettings};
use crate::by_name;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::own::recognise_names;
use crate::write::folder::FolderDraft;
use crate::write::table::TableWriter;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use cells::{Shape, arm_cells, names, trajectory_cells, trajectory_columns, truth_cells, truth_columns};
use restive::data::features::Column;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Rows of trajectories that are made at a time, where a step has no more.
const ROWS: usize = 1 << 20;

impl Study {
    /// The files that a study may hold, and the table beside it of what was judged.
    pub const FILES: [&str; 8] = [
        SETTINGS,
        "arms.csv",
        "arms.parquet",
        "trajectories.csv",
        "trajectories.parquet",
        "truth.csv",
        "truth.parquet",
        LOOKS,
    ];

    /// Writes the study into a folder, which appears when it is complete.
    ///
    /// A folder that holds files is refused, or replaced where `replace` is set and it [is](Self::recognise) a study. `format` is
    /// CSV or Parquet. `progress` hears what share of the trajectories has been written.
    pub fn write(
        &self,
        folder: &Path,
        format: Format,
        replace: bool,
        mut progress: impl FnMut(f64),
    ) -> Result<()> {
        let ending = match format {
            Format::Csv => "csv",
            Format::Parquet => "parquet",
            Format::Npy => {
                let expected = ".csv or .parquet for its tables";
                return Err(Error::Ending { path: folder.into(), found: "npy".into(), expected });
            }
        };
        let draft = FolderDraft::create(folder, replace.then_some(Self::recognise))?;
        let table = |name: &str, columns: Vec<(String, DataType)>| {
            let name = format!("{name}.{ending}");
            TableWriter::create(&draft.file(&name), folder.join(&name), format, columns)
        };
        fs::write(draft.file(SETTINGS), self.to_toml()).map_err(draft.refused(SETTINGS))?;
        let mut arms = table("arms", self.arm_columns())?;
        let has_clusters = self.has_clusters();
        self.instances.iter().try_for_each(|instance| arms.write(arm_cells(instance, has_clusters)))?;
        arms.finish()?;
        if self.has_truth() {
            let mut truth = table("truth", truth_columns(self.settings.reward.states()))?;
            self.instances.iter().try_for_each(|instance| truth.write(truth_cells(instance)))?;
            truth.finish()?;
        }
        let shape = self.trajectory_shape();
        let mut logged = table("trajectories", trajectory_columns(shape))?;
        let all: usize = self.instances.iter().map(|instance| instance.trajectories.trajectories()).sum();
        let mut done = 0;
        for instance in &self.instances {
            // some steps at a time: the rows of a million arms fill gigabytes
            let (steps, piece) = (instance.trajectories.steps(), (ROWS / instance.arms.len()).max(1));
            for j in 0..instance.trajectories.trajectories() {
                for start in (0..steps).step_by(piece) {
                    logged.write(trajectory_cells(instance, j, start..steps.min(start + piece), shape))?;
                    progress((done as f64 + start as f64 / steps as f64) / all as f64);
                }
                done += 1;
                progress(done as f64 / all as f64);
            }
        }
        logged.finish()?;
        draft.put_in_place()
    }

    /// Whether a study could be written into the folder, before there is one: says what [`Study::write`] would.
    pub fn check_folder(folder: &Path, replace: bool) -> Result<()> {
        FolderDraft::check(folder, replace.then_some(Self::recognise))
    }

    /// Refuses a folder that is not a study and nothing else: its settings must be those of a study, and its tables must have the
    /// columns of one.
    pub fn recognise(folder: &Path) -> Result<()> {
        recognise_names(folder, &Self::FILES, &[])?;
        StudySettings::read(&folder.join(SETTINGS))?;
        for path in Self::FILES.iter().map(|name| folder.join(name)).filter(|path| path.is_file()) {
            let needed: &[&'static str] = match path.file_stem().and_then(|stem| stem.to_str()) {
                Some("arms" | "truth") => &["arm"],
                Some("trajectories") => &["trajectory", "t", "arm", "state", "action"],
                Some("looks") => &COLUMNS,
                _ => continue,
            };
            let table = Table::open(Origin::File(&path))?;
            needed.iter().try_for_each(|name| table.need(name).map(drop))?;
        }
        Ok(())
    }

    /// The tables as they are written, in pieces: the arms by instance, the trajectories one by one, the truth by instance where
    /// it is known.
    pub fn tables(&self) -> (Vec<RecordBatch>, Vec<RecordBatch>, Option<Vec<RecordBatch>>) {
        let pieces = |columns: Vec<(String, DataType)>, cells: Vec<Vec<ArrayRef>>| {
            let fields = columns.into_iter().map(|(name, kind)| Field::new(name, kind, true));
            let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
            let piece =
                |cells| RecordBatch::try_new(schema.clone(), cells).expect("the columns of the schema");
            cells.into_iter().map(piece).collect::<Vec<_>>()
        };
        let shape = self.trajectory_shape();
        let logged = |instance: &StudyInstance| -> Vec<Vec<ArrayRef>> {
            let count = instance.trajectories.trajectories();
            (0..count)
                .map(|j| trajectory_cells(instance, j, 0..instance.trajectories.steps(), shape))
                .collect()
        };
        let truth = self.has_truth().then(|| {
            let cells = self.instances.iter().map(truth_cells).collect();
            pieces(truth_columns(self.settings.reward.states()), cells)
        });
        let arms = self.instances.iter().map(|instance| arm_cells(instance, self.has_clusters()));
        (
            pieces(self.arm_columns(), arms.collect()),
            pieces(trajectory_columns(shape), self.instances.iter().flat_map(logged).collect()),
            truth,
        )
    }

    /// The settings as `study.toml` has them; features of text are listed.
    pub fn to_toml(&self) -> String {
        let mut settings = self.settings.clone();
        settings.text = match self.instances.first() {
            None => Vec::new(),
            Some(first) => {
                let columns = first.features.names().iter().zip(first.features.columns());
                columns.filter(|(_, c)| matches!(c, Column::Text(_))).map(|(name, _)| name.clone()).collect()
            }
        };
        settings.to_toml()
    }

    fn has_truth(&self) -> bool {
        self.instances.iter().any(|instance| instance.truth.is_some())
    }

    /// Whether the table of arms has a column of clusters: its name and those of all clusters are known.
    fn has_clusters(&self) -> bool {
        self.settings.cluster.is_some() && self.instances.iter().all(|instance| instance.clusters.is_some())
    }

    fn trajectory_shape(&self) -> Shape {
        let has = |is_there: fn(&StudyInstance) -> bool| self.instances.iter().any(is_there);
        Shape {
            labels: self.settings.observation.chain().map(restive::instance::Chain::beliefs),
            has_propensity: has(|instance| instance.trajectories.propensity().is_some()),
            has_reward: has(|instance| instance.trajectories.reward().is_some()),
            has_available: has(|instance| instance.trajectories.available().is_some()),
            has_order: has(|instance| !instance.trajectory_names.is_sorted_by(|a, b| by_name(a, b).is_le())),
        }
    }

    fn arm_columns(&self) -> Vec<(String, DataType)> {
        let mut columns = names(&["instance", "arm"]);
        if let Some(first) = self.instances.first() {
            let features = first.features.names().iter().zip(first.features.columns());
            columns.extend(features.map(|(name, column)| match column {
                Column::Number(_) => (name.clone(), DataType::Float64),
                Column::Text(_) => (name.clone(), DataType::Utf8),
            }));
            let cluster = self.settings.cluster.iter().filter(|_| self.has_clusters());
            columns.extend(cluster.map(|name| (name.clone(), DataType::Utf8)));
            columns.extend(first.split.iter().map(|_| ("split".into(), DataType::Utf8)));
        }
        columns
    }
}
