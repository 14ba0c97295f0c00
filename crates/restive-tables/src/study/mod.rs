//! A study: a folder that holds everything about a decision problem with data.
//!
//! | file | what it holds |
//! |---|---|
//! | `study.toml` | states, rewards, discount, budget, horizon, behaviour: [`StudySettings`] |
//! | `arms.csv` or `.parquet` | `instance, arm`, one column per feature, perhaps `split` (train, validation, test) and a column of clusters |
//! | `trajectories.csv` or `.parquet` | `instance, trajectory, t, arm, state, action`, perhaps `propensity`, `reward`, `available`, `order` |
//! | `truth.csv` or `.parquet` | where the data are synthetic: `instance, arm, p_S_A_NEXT` |
//! | `looks.csv` | in the folder, but not part of the study: evaluations made on it so far, [`Looks`] |
//!
//! A trajectory of H decisions has H + 1 rows per arm, of which the last has a state and an empty action. The state of row t is known
//! before the decision of row t, and the pull acts between t and t + 1; `t` counts from 0 or from 1. An unobserved state is empty.
//! Trajectories may be of unequal length, and missing rows stay unseen. An arm without rows is a newcomer. Where there is one
//! instance, all tables may leave out the column `instance`. Steps may have more pulls than the budget, which is that of decisions to
//! come ([`Study::over_budget`]).
//!
//! A study is what its rows say, in whatever order they come. Instances, arms and trajectories are in the order of their
//! [names](crate::by_name); a column `order` in the trajectories, a number for each of them, orders those instead.
//!
//! # Availability, clusters and pulls per person
//! - Column `available` of the trajectories: 0 or 1 in every row, the last step of a trajectory included; whether the arm could be
//!   pulled at that decision. A pull of an unavailable arm is refused, and the propensity of such a row is not read.
//! - `cluster = "household"` in `study.toml`: name of a column of the table of arms, text or integers without empty cells. Arms with
//!   equal names are one cluster, in all instances. The column is not a feature.
//! - `assignment = "per-person"` in `study.toml`: pulls are assigned at random once per arm and last for several decisions.
//!
//! They require `observation = "full"` and every arm in memory ([`unsupported_in_passes`]).
//!
//! # States that are seen at pulls only
//! With `observation = "collapsing"` in `study.toml` the column `state` holds what the step's pull saw, and is empty elsewhere. What is
//! known of an arm before an action is its *label*: the last state that was seen and the steps since, 0 just after a pull
//! ([`restive::belief`]). The trajectories in memory hold labels.
//!
//! - Labels follow from the pulls. Two more columns, `last_state` and `since`, may say them.
//! - On an arm's first row they say where it starts. Without them its label is unknown until its first pull, and it is taken to have
//!   been last seen longer ago than the chain remembers ([`restive::evaluation::known`]).
//! - On later rows they must be what follows from the actions; after missing rows, what pulls without a record can have led to.
//! - In a finite chain (`chain = 10`) `since` may stay at the last label, 9. A longer gap that no row declares so is refused.
//! - With `rows = "pulls"` the table has rows for pulls only, and an arm without a row was left alone.
//! - Without a column `reward` the reward is R(x, 1) at a pull that saw state x, and unknown elsewhere.
//!
//! ```
//! use restive::data::encoding::{Encoding, Standardise};
//! use restive::data::split::Split;
//! use restive_tables::Study;
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let folder = folder.path();
//! let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
//! write("study.toml", "states = 2\ndiscount = 0.9\nbudget = 1\nhorizon = 9\nbehaviour = \"uniform\"\n");
//! write("arms.csv", "arm,age\nAda,31\nBen,24\nCho,\n");
//! write("trajectories.csv", "trajectory,t,arm,state,action\n1,0,Ada,0,1\n1,0,Ben,1,0\n1,1,Ada,1,\n1,1,Ben,0,\n");
//!
//! let study = Study::read(folder)?;
//! let split = Split::seeded(&study.arms(), 1)?;
//! # let split = Split { train: vec![restive::data::split::Group { instance: 0, arms: vec![0, 1, 2] }], ..split };
//! let encoding = Encoding::fit(&study.features(&split.train), Standardise::Yes, &[])?;
//! let instances = study.instances(&encoding)?;
//! assert_eq!(instances[0].features()[[2, 1]], 1.0); // Cho's age is missing
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arms;
mod contacts;
mod declarations;
pub(crate) mod fingerprint;
mod looks;
mod people;
mod people_table;
mod roll;
mod settings;
mod table;
mod trajectories;
mod truth;
mod write;

pub use contacts::{Contact, Contacts};
pub use declarations::unsupported_in_passes;
pub use fingerprint::{arm_key, texts_key};
pub use looks::Looks;
pub use people::People;
pub use people_table::{PeopleColumns, PeoplePiece, begins_column, is_own_column, moves_column};
pub use roll::{Piece, Pieces, Roll, RollCounts, RollInstance, write_people};
pub use settings::{CHECKS, StudyBehaviour, StudySettings};
pub use table::TYPE;
pub(crate) use table::columns_of;

use crate::error::{Error, Result};
use crate::memory::require;
use arrow_array::RecordBatch;
use ndarray::Array2;
use restive::data::encoding::Encoding;
use restive::data::features::Features;
use restive::data::split::{Group, Part, Split};
use restive::instance::{OverBudget, Parts};
use restive::{Instance, Trajectories, Transition};
use settings::Rows;
use std::io;
use std::path::{Path, PathBuf};
use table::Origin;

const SETTINGS: &str = "study.toml";

/// A study, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// what holds for all instances
    pub settings: StudySettings,
    /// in the order of their names
    pub instances: Vec<StudyInstance>,
}

/// One instance of a study, its features not yet encoded.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyInstance {
    /// what it is called
    pub name: String,
    /// what its arms are called, `[N]`, in the order of their names
    pub arms: Vec<String>,
    /// what is known of them
    pub features: Features,
    /// the part of each arm, where the study says, `[N]`
    pub split: Option<Vec<Part>>,
    /// Name of the cluster of each arm, `[N]`; `None` if [`StudySettings::cluster`] names no column.
    pub clusters: Option<Vec<String>>,
    /// what its trajectories are called, `[J]`, from the first to the latest
    pub trajectory_names: Vec<String>,
    /// what was logged: states, or labels where states are seen at pulls only
    pub trajectories: Trajectories,
    /// the true transitions, where they are known
    pub truth: Option<Transition>,
}

impl Study {
    /// Reads and checks a study.
    pub fn read(folder: &Path) -> Result<Self> {
        let (settings, [arms_path, trajectories_path], truth_path) = open(folder)?;
        let truth = truth_path.as_deref().map(Origin::File);
        Self::assemble(settings, Origin::File(&arms_path), Origin::File(&trajectories_path), truth)
    }

    /// Checks a study whose tables are in memory, with the checks and messages of [`Study::read`]: `settings` is the text of
    /// `study.toml`, messages call the tables `arms`, `trajectories` and `truth`, and rows count from 0.
    pub fn from_tables(
        settings: &str,
        arms: &RecordBatch,
        trajectories: &RecordBatch,
        truth: Option<&RecordBatch>,
    ) -> Result<Self> {
        let settings = StudySettings::parse(Path::new(SETTINGS), settings)?;
        let [arms, trajectories] = [("arms", arms), ("trajectories", trajectories)]
            .map(|(name, table)| Origin::Memory(Path::new(name), table));
        let truth = truth.map(|table| Origin::Memory(Path::new("truth"), table));
        Self::assemble(settings, arms, trajectories, truth)
    }

    fn assemble(
        (mut settings, rows): (StudySettings, Rows),
        arms_origin: Origin<'_>,
        trajectories: Origin<'_>,
        truth: Option<Origin<'_>>,
    ) -> Result<Self> {
        let mut arms = arms::read(arms_origin, &settings)?;
        let (states, budget) = (settings.reward.states(), settings.budget);
        for (k, there) in arms.arms.iter().enumerate() {
            arms::refuse_few(arms_origin.path(), arms.instances.name(k), there.len(), budget)?;
        }
        let (logged, observation) = trajectories::read(trajectories, &mut arms, &settings, rows)?;
        settings.observation = observation;
        let truth = truth.map(|truth| truth::read(truth, &mut arms, states)).transpose()?;

        let mut truth = truth.map(|truth| truth.into_iter());
        let mut split = arms.split.map(|split| split.into_iter());
        let mut clusters = arms.clusters.map(|clusters| clusters.into_iter());
        let names = arms.instances.into_names().into_iter().zip(arms.arms);
        let rest = arms.features.into_iter().zip(logged);
        let instances =
            names.zip(rest).map(|((name, arms), (features, (trajectory_names, trajectories)))| {
                StudyInstance {
                    name,
                    arms: arms.into_names(),
                    features,
                    split: split.as_mut().and_then(Iterator::next),
                    clusters: clusters.as_mut().and_then(Iterator::next),
                    trajectory_names,
                    trajectories,
                    truth: truth.as_mut().and_then(Iterator::next),
                }
            });
        Ok(Self { settings, instances: instances.collect() })
    }

    /// The number of arms of each instance.
    pub fn arms(&self) -> Vec<usize> {
        self.instances.iter().map(|instance| instance.arms.len()).collect()
    }

    /// The split that the table of arms gives, where it does.
    pub fn given_split(&self) -> Option<restive::Result<Split>> {
        let parts: Option<Vec<Vec<Part>>> =
            self.instances.iter().map(|instance| instance.split.clone()).collect();
        parts.map(|parts| Split::given(&parts))
    }

    /// What is known of some arms, such as those of the training part, in one table.
    pub fn features(&self, groups: &[Group]) -> Features {
        let select = |group: &Group| self.instances[group.instance].features.select_arms(&group.arms);
        Features::stack(&groups.iter().map(select).collect::<Vec<_>>())
    }

    /// The logged steps with more pulls than the budget of the study, over all instances; none where no step has.
    pub fn over_budget(&self) -> Option<OverBudget> {
        let budget = self.settings.budget;
        let over = self.instances.iter().filter_map(|instance| instance.trajectories.over_budget(budget));
        over.reduce(|a, b| OverBudget { steps: a.steps + b.steps, most: a.most.max(b.most) })
    }

    /// Number of the cluster of each arm, by instance: equal names have equal numbers in all instances. `None` if arms have no clusters.
    pub fn cluster_numbers(&self) -> Option<Vec<Vec<u32>>> {
        declarations::cluster_numbers(&self.instances)
    }

    /// The instances with encoded features, in the order of the study.
    pub fn instances(&self, encoding: &Encoding) -> Result<Vec<Instance>> {
        let (arms, width) = (self.arms().iter().sum::<usize>(), encoding.width());
        require(
            "features",
            format!("{arms} arms of {width} encoded features"),
            8.0 * arms as f64 * width as f64,
        )?;
        let mut clusters = self.cluster_numbers().map(|numbers| numbers.into_iter());
        let encoded = |instance: &StudyInstance| {
            let features = instance.encode(encoding)?;
            let parts = Parts {
                features,
                trajectories: instance.trajectories.clone(),
                reward: self.settings.reward.clone(),
                budget: self.settings.budget,
                discount: self.settings.discount,
                truth: instance.truth.clone(),
                observation: self.settings.observation,
                clusters: clusters.as_mut().and_then(Iterator::next),
            };
            Instance::new(parts).map_err(|fault| refused(&instance.name, fault))
        };
        self.instances.iter().map(encoded).collect()
    }

    /// A 128-bit hash of the contents, as 32 hexadecimal digits: the same for CSV and Parquet, in memory and as a [`Roll`], and on
    /// every machine.
    pub fn fingerprint(&self) -> String {
        fingerprint::sums::of_study(self)
    }

    /// The fingerprint that earlier versions gave the same contents.
    pub fn earlier_fingerprint(&self) -> String {
        fingerprint::earlier::of_study(self)
    }

    /// Whether a fingerprint, as a model's card or a ledger has it, belongs to this study: of today's kind or of the earlier one.
    pub fn has_fingerprint(&self, text: &str) -> bool {
        self.fingerprint() == text || self.earlier_fingerprint() == text
    }
}

/// The settings of a study, the tables of arms and trajectories, and the truth where there is one.
#[allow(clippy::type_complexity)]
fn open(folder: &Path) -> Result<((StudySettings, Rows), [PathBuf; 2], Option<PathBuf>)> {
    if !folder.is_dir() {
        let source =
            io::Error::other(if folder.exists() { "it is no folder" } else { "there is no such folder" });
        return Err(Error::Io { path: folder.into(), doing: "open", answer: source });
    }
    if !folder.join(SETTINGS).exists() && folder.join("current").exists() {
        let expected = "the folder of a study: study/ in the folder of imported/ that current names";
        return Err(Error::content(folder, "", "the folder of a programme", expected));
    }
    let settings = StudySettings::read(&folder.join(SETTINGS))?;
    let part = |name| {
        table_of(folder, name)?.ok_or_else(|| {
            let found = format!("neither {name}.csv nor {name}.parquet");
            Error::content(folder, "", found, "one of them")
        })
    };
    let tables = [part("arms")?, part("trajectories")?];
    Ok((settings, tables, table_of(folder, "truth")?))
}

impl StudyInstance {
    /// The features as numbers, `[N,F]`.
    pub fn encode(&self, encoding: &Encoding) -> Result<Array2<f64>> {
        encoding.encode(&self.features).map_err(|fault| refused(&self.name, fault))
    }
}

/// What is wrong with the arms of an instance.
fn refused(instance: &str, fault: restive::Error) -> Error {
    Error::Instance { instance: instance.into(), fault: fault.into() }
}

/// The file of a table, by either ending; both would be one too many.
fn table_of(folder: &Path, name: &str) -> Result<Option<PathBuf>> {
    let [csv, parquet] = ["csv", "parquet"].map(|ending| folder.join(format!("{name}.{ending}")));
    match (csv.exists(), parquet.exists()) {
        (true, true) => {
            let found = format!("both {name}.csv and {name}.parquet");
            Err(Error::content(folder, "", found, "one of them"))
        }
        (true, false) => Ok(Some(csv)),
        (false, true) => Ok(Some(parquet)),
        (false, false) => Ok(None),
    }
}
