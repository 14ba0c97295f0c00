//! A study goes out here, whole or not at all.

use super::write_table::TableWriter;
use super::{SETTINGS, Study, StudyInstance};
use crate::error::{Error, Result};
use crate::format::Format;
use crate::write::folder::FolderDraft;
use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use restive::data::features::Column;
use restive::instance::{NO_ACTION, UNSEEN};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// The files that a study may hold.
const OWN: [&str; 7] = [
    SETTINGS,
    "arms.csv",
    "arms.parquet",
    "trajectories.csv",
    "trajectories.parquet",
    "truth.csv",
    "truth.parquet",
];

impl Study {
    /// Writes the study into a folder, which appears when it is complete.
    ///
    /// A folder that holds files is refused, or replaced where `replace` is set and it holds nothing but a study. `format` is
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
        let draft = FolderDraft::create(folder, replace, &OWN)?;
        let table = |name: &str, columns: Vec<(String, DataType)>| {
            let name = format!("{name}.{ending}");
            TableWriter::create(&draft.file(&name), folder.join(&name), format, columns)
        };
        fs::write(draft.file(SETTINGS), self.to_toml()).map_err(draft.refused(SETTINGS))?;
        let mut arms = table("arms", self.arm_columns())?;
        self.instances.iter().try_for_each(|instance| arms.write(arm_cells(instance)))?;
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
            for j in 0..instance.trajectories.trajectories() {
                logged.write(trajectory_cells(instance, j, shape))?;
                done += 1;
                progress(done as f64 / all as f64);
            }
        }
        logged.finish()?;
        draft.put_in_place()
    }

    /// Whether a study could be written into the folder, before there is one: says what [`Study::write`] would.
    pub fn check_folder(folder: &Path, replace: bool) -> Result<()> {
        FolderDraft::check(folder, replace, &OWN).map(drop)
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
        let one = |instance: &StudyInstance, j: usize| trajectory_cells(instance, j, shape);
        let of = |instance: &StudyInstance| -> Vec<Vec<ArrayRef>> {
            (0..instance.trajectories.trajectories()).map(|j| one(instance, j)).collect()
        };
        let truth = self.has_truth().then(|| {
            let cells = self.instances.iter().map(truth_cells).collect();
            pieces(truth_columns(self.settings.reward.states()), cells)
        });
        (
            pieces(self.arm_columns(), self.instances.iter().map(arm_cells).collect()),
            pieces(trajectory_columns(shape), self.instances.iter().flat_map(of).collect()),
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

    fn trajectory_shape(&self) -> Shape {
        let has = |of: fn(&StudyInstance) -> bool| self.instances.iter().any(of);
        Shape {
            labels: self.settings.observation.chain().map(restive::instance::Chain::beliefs),
            has_propensity: has(|instance| instance.trajectories.propensity().is_some()),
            has_reward: has(|instance| instance.trajectories.reward().is_some()),
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
            columns.extend(first.split.iter().map(|_| ("split".into(), DataType::Utf8)));
        }
        columns
    }
}

fn names(names: &[&str]) -> Vec<(String, DataType)> {
    names.iter().map(|name| (name.to_string(), DataType::Utf8)).collect()
}

fn repeated(name: &str, count: usize) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(std::iter::repeat_n(name, count)))
}

fn arm_cells(instance: &StudyInstance) -> Vec<ArrayRef> {
    let mut cells = vec![repeated(&instance.name, instance.arms.len())];
    cells.push(Arc::new(StringArray::from_iter_values(&instance.arms)));
    cells.extend(instance.features.columns().iter().map(|column| -> ArrayRef {
        match column {
            Column::Number(values) => Arc::new(Float64Array::from_iter(values.iter().map(|x| known(*x)))),
            Column::Text(values) => Arc::new(StringArray::from_iter(values)),
        }
    }));
    cells.extend(instance.split.iter().map(|parts| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(parts.iter().map(|part| part.name())))
    }));
    cells
}

fn known(x: f64) -> Option<f64> {
    (!x.is_nan()).then_some(x)
}

fn truth_columns(m: usize) -> Vec<(String, DataType)> {
    let mut columns = names(&["instance", "arm"]);
    let entry = |k: usize| format!("p_{}_{}_{}", k / (2 * m), k / m % 2, k % m);
    columns.extend((0..2 * m * m).map(|k| (entry(k), DataType::Float64)));
    columns
}

fn truth_cells(instance: &StudyInstance) -> Vec<ArrayRef> {
    let truth = instance.truth.as_ref().expect("truth is known of all instances or of none");
    let mut cells = vec![repeated(&instance.name, instance.arms.len())];
    cells.push(Arc::new(StringArray::from_iter_values(&instance.arms)));
    let p = truth.view();
    let p = p.as_slice().expect("contiguous");
    let width = p.len() / instance.arms.len();
    cells.extend((0..width).map(|k| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values(p.iter().skip(k).step_by(width).copied()))
    }));
    cells
}

/// What the table of trajectories has.
#[derive(Clone, Copy)]
struct Shape {
    /// of each state, where states are seen at pulls only
    labels: Option<usize>,
    has_propensity: bool,
    has_reward: bool,
}

fn trajectory_columns(Shape { labels, has_propensity, has_reward }: Shape) -> Vec<(String, DataType)> {
    let mut columns = names(&["instance", "trajectory"]);
    columns.push(("t".into(), DataType::Int32));
    columns.extend(names(&["arm"]));
    let labels: &[&str] = if labels.is_some() { &["last_state", "since"] } else { &[] };
    let whole = labels.iter().chain(&["state", "action"]);
    columns.extend(whole.map(|name| (name.to_string(), DataType::Int32)));
    columns.extend(has_propensity.then(|| ("propensity".into(), DataType::Float64)));
    columns.extend(has_reward.then(|| ("reward".into(), DataType::Float64)));
    columns
}

/// The rows of one trajectory. Where nothing is known there is no row, but for the first arm, whose rows say how many steps
/// and trajectories there are. In chains of `labels` the state is what a pull saw, which is what the next label begins with.
fn trajectory_cells(
    instance: &StudyInstance,
    j: usize,
    Shape { labels, has_propensity, has_reward }: Shape,
) -> Vec<ArrayRef> {
    let logged = &instance.trajectories;
    let (state, action) = (logged.state(), logged.action());
    let reward = |t: usize, i: usize| logged.reward().and_then(|all| known(all[[j, t, i]]));
    let is_known =
        |t, i| state[[j, t, i]] != UNSEEN || action[[j, t, i]] != NO_ACTION || reward(t, i).is_some();
    let all = (0..logged.steps()).flat_map(|t| (0..logged.arms()).map(move |i| (t, i)));
    let rows: Vec<(usize, usize)> = all.filter(|(t, i)| *i == 0 || is_known(*t, *i)).collect();
    let whole = |of: &dyn Fn(usize, usize) -> Option<i32>| -> ArrayRef {
        Arc::new(Int32Array::from_iter(rows.iter().map(|(t, i)| of(*t, *i))))
    };
    let number = |of: &dyn Fn(usize, usize) -> Option<f64>| -> ArrayRef {
        Arc::new(Float64Array::from_iter(rows.iter().map(|(t, i)| of(*t, *i))))
    };
    let mut cells = vec![repeated(&instance.name, rows.len())];
    cells.push(repeated(&instance.trajectory_names[j], rows.len()));
    cells.push(whole(&|t, _| Some(t as i32)));
    cells.push(Arc::new(StringArray::from_iter_values(rows.iter().map(|(_, i)| &instance.arms[*i]))));
    let state = |t: usize, i: usize| Some(state[[j, t, i]]).filter(|s| *s != UNSEEN).map(i32::from);
    match labels.map(|labels| labels as i32) {
        None => cells.push(whole(&state)),
        Some(labels) => {
            cells.push(whole(&|t, i| state(t, i).map(|label| label / labels)));
            cells.push(whole(&|t, i| state(t, i).map(|label| label % labels)));
            cells.push(whole(&|t, i| match action[[j, t, i]] {
                1 if t + 1 < logged.steps() => state(t + 1, i).map(|label| label / labels),
                _ => None,
            }));
        }
    }
    cells.push(whole(&|t, i| Some(action[[j, t, i]]).filter(|a| *a != NO_ACTION).map(i32::from)));
    if has_propensity {
        let propensity = logged.propensity();
        cells.push(number(&|t, i| {
            let of = propensity.as_ref().filter(|_| action[[j, t, i]] != NO_ACTION);
            of.map(|all| all[[j, t, i]])
        }));
    }
    if has_reward {
        cells.push(number(&reward));
    }
    cells
}
