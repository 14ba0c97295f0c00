//! Naive reader of studies, the oracle for the readers under test.
//!
//! Each row of `arms.csv`, `truth.csv` and `trajectories.csv` becomes one entry of a map. The reader has no batches, no threads and no
//! code of the readers under test. It reads valid studies only, and panics on any other.
//!
//! - Instances, arms and trajectories are identified by name. [`name_key`] gives their order.
//! - Steps count from 0; if the smallest step of the file is 1, 1 is subtracted.
//! - An empty cell and `NaN` are missing values. A row without any value is not a row.
//! - A row with `available` 0 is one of an arm that could not be pulled. The propensity of its action is 1; the cell is not read.
//! - If states are observed at pulls only, the state of a step is the last state observed before its action, and `since` the number of
//!   steps since then. Both follow from the actions. After missing rows the columns `last_state` and `since` give them.

use std::collections::BTreeMap;
use std::path::Path;

/// Instance and arm, in this order.
pub type ArmKey = (String, String);

/// Instance, trajectory, arm and step, in this order.
pub type StepKey = (String, String, String, usize);

/// A study as maps.
#[derive(Debug, Clone, PartialEq)]
pub struct NaiveStudy {
    /// Content of `study.toml`.
    pub settings: toml::Table,
    /// R(s, a) by state and action.
    pub rewards: Vec<[f64; 2]>,
    /// Number of labels per state if states are observed at pulls only.
    pub labels: Option<usize>,
    /// Names of the features in the order of the file.
    pub features: Vec<String>,
    /// Whether each feature is text. A feature without any value is a number.
    pub is_text: Vec<bool>,
    /// All arms.
    pub arms: BTreeMap<ArmKey, NaiveArm>,
    /// Columns of the table of trajectories.
    pub columns: Vec<String>,
    /// Names of the trajectories of each instance, in their order.
    pub trajectories: BTreeMap<String, Vec<String>>,
    /// Number of steps of the longest trajectory of each instance.
    pub lengths: BTreeMap<String, usize>,
    /// All steps of which anything is known.
    pub steps: BTreeMap<StepKey, NaiveStep>,
}

/// One arm.
#[derive(Debug, Clone, PartialEq)]
pub struct NaiveArm {
    /// Row of the table, from 0.
    pub row: usize,
    /// Part of the split.
    pub split: Option<String>,
    /// Cell of the column that the setting `cluster` names.
    pub cluster: Option<String>,
    /// Values of the features.
    pub features: Vec<Value>,
    /// True transition probabilities `[M,2,M]`.
    pub truth: Option<Vec<f64>>,
}

/// Value of a feature.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Empty cell or NaN.
    Missing,
    /// A measurement.
    Number(f64),
    /// A category.
    Text(String),
}

/// One step of one arm.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NaiveStep {
    /// State before the action.
    pub state: Option<usize>,
    /// Steps since the state was observed, if states are observed at pulls only.
    pub since: Option<usize>,
    /// 1 for a pull.
    pub action: Option<usize>,
    /// Probability of the action.
    pub propensity: Option<f64>,
    /// Reward of the step.
    pub reward: Option<f64>,
    /// Whether the arm could not be pulled, as `available` 0 states.
    pub is_unavailable: bool,
}

/// Sorting key of names: runs of digits compare as integers, other characters by code point, equal names as text.
pub fn name_key(name: &str) -> (Vec<(char, usize, String)>, String) {
    let mut parts: Vec<(char, usize, String)> = Vec::new();
    let mut is_in_number = false;
    for c in name.chars() {
        match (c.is_ascii_digit(), parts.last_mut().filter(|_| is_in_number)) {
            (true, Some((_, _, digits))) => digits.push(c),
            (true, None) => parts.push(('0', 0, c.into())),
            (false, _) => parts.push((c, 0, String::new())),
        }
        is_in_number = c.is_ascii_digit();
    }
    for (_, length, digits) in &mut parts {
        *digits = digits.trim_start_matches('0').into();
        *length = digits.len();
    }
    (parts, name.into())
}

/// Rows of a CSV file as maps from column to cell, and its header.
fn rows(path: &Path) -> (Vec<String>, Vec<BTreeMap<String, String>>) {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header: Vec<String> = reader.headers().unwrap().iter().map(String::from).collect();
    let rows = reader.records().map(|record| {
        header.iter().cloned().zip(record.unwrap().iter().map(String::from)).collect::<BTreeMap<_, _>>()
    });
    let rows = rows.collect();
    (header, rows)
}

/// Number in a cell; `None` if the column is absent or the value is missing.
fn number(row: &BTreeMap<String, String>, column: &str) -> Option<f64> {
    let cell = row.get(column)?.trim();
    let number: f64 = if cell.is_empty() { f64::NAN } else { cell.parse().unwrap() };
    (!number.is_nan()).then_some(number)
}

fn integer(row: &BTreeMap<String, String>, column: &str) -> Option<usize> {
    number(row, column).map(|number| number as usize)
}

fn arm_key(row: &BTreeMap<String, String>) -> ArmKey {
    (row.get("instance").map_or("0".into(), String::clone), row["arm"].clone())
}

impl NaiveStudy {
    /// Reads the study in a folder.
    ///
    /// # Panics
    /// If the study is not valid, or has no CSV files.
    pub fn read(folder: &Path) -> Self {
        let settings: toml::Table =
            std::fs::read_to_string(folder.join("study.toml")).unwrap().parse().unwrap();
        let states = settings["states"].as_integer().unwrap() as usize;
        let mut study = Self {
            rewards: rewards(&settings, states),
            settings,
            labels: None,
            features: Vec::new(),
            is_text: Vec::new(),
            arms: BTreeMap::new(),
            columns: Vec::new(),
            trajectories: BTreeMap::new(),
            lengths: BTreeMap::new(),
            steps: BTreeMap::new(),
        };
        study.read_arms(&folder.join("arms.csv"));
        if folder.join("truth.csv").exists() {
            study.read_truth(&folder.join("truth.csv"), states);
        }
        study.read_steps(&folder.join("trajectories.csv"));
        study
    }

    fn read_arms(&mut self, path: &Path) {
        let (header, rows) = rows(path);
        let cluster = self.settings.get("cluster").map(|name| name.as_str().unwrap().to_string());
        let is_feature = |name: &&String| {
            !["instance", "arm", "split"].contains(&name.as_str()) && Some(*name) != cluster.as_ref()
        };
        self.features = header.iter().filter(is_feature).cloned().collect();
        let listed = self.settings.get("text").and_then(|all| all.as_array()).cloned().unwrap_or_default();
        let is_text = |name: &String| {
            let is_number = |row: &BTreeMap<String, String>| {
                row[name].trim().is_empty() || row[name].trim().parse::<f64>().is_ok()
            };
            listed.iter().any(|other| other.as_str() == Some(name)) || !rows.iter().all(is_number)
        };
        self.is_text = self.features.iter().map(is_text).collect();
        for (position, row) in rows.iter().enumerate() {
            let value = |(name, is_text): (&String, &bool)| match row[name].trim().to_lowercase().as_str() {
                "" | "nan" => Value::Missing,
                _ if *is_text => Value::Text(row[name].clone()),
                number => Value::Number(number.parse().unwrap()),
            };
            let features = self.features.iter().zip(&self.is_text).map(value).collect();
            let cluster = cluster.as_ref().map(|name| row[name].clone());
            let split = row.get("split").cloned();
            let arm = NaiveArm { row: position, split, cluster, features, truth: None };
            assert!(self.arms.insert(arm_key(row), arm).is_none());
        }
    }

    fn read_truth(&mut self, path: &Path, states: usize) {
        for row in rows(path).1 {
            let mut truth = Vec::new();
            for s in 0..states {
                for a in 0..2 {
                    truth.extend((0..states).map(|next| number(&row, &format!("p_{s}_{a}_{next}")).unwrap()));
                }
            }
            self.arms.get_mut(&arm_key(&row)).unwrap().truth = Some(truth);
        }
    }

    fn read_steps(&mut self, path: &Path) {
        let (columns, rows) = rows(path);
        let has_reward = columns.iter().any(|name| name == "reward");
        self.columns = columns;
        let first = rows.iter().map(|row| integer(row, "t").unwrap()).min().unwrap();
        assert!(first <= 1);
        let is_collapsing =
            self.settings.get("observation").is_some_and(|o| o.as_str() == Some("collapsing"));
        let mut order = BTreeMap::new();
        // length of each trajectory, and the states that its pulls observed
        let (mut lengths, mut observed) = (BTreeMap::new(), BTreeMap::new());
        for row in &rows {
            let ((instance, arm), trajectory) = (arm_key(row), row["trajectory"].clone());
            let t = integer(row, "t").unwrap() - first;
            let run = (instance.clone(), trajectory.clone());
            order.insert(run.clone(), number(row, "order").unwrap_or(0.0));
            let length = lengths.entry(run).or_insert(0);
            *length = (t + 1).max(*length);
            let key = (instance, trajectory, arm, t);
            let action = integer(row, "action");
            let is_unavailable = number(row, "available") == Some(0.0);
            let propensity = match is_unavailable && row.contains_key("propensity") {
                true => Some(1.0),
                false => number(row, "propensity"),
            };
            let mut step = NaiveStep {
                state: integer(row, "state"),
                since: None,
                action,
                propensity: propensity.filter(|_| action.is_some()),
                reward: number(row, "reward"),
                is_unavailable,
            };
            if is_collapsing {
                if let Some(state) = step.state {
                    observed.insert(key.clone(), state);
                    if !has_reward {
                        step.reward = Some(self.rewards[state][1]);
                    }
                }
                (step.state, step.since) = (integer(row, "last_state"), integer(row, "since"));
            }
            assert!(self.steps.insert(key, step).is_none());
        }
        for (instance, name) in order.keys() {
            self.trajectories.entry(instance.clone()).or_default().push(name.clone());
        }
        for (instance, names) in &mut self.trajectories {
            let order = |name: &String| order[&(instance.clone(), name.clone())];
            names.sort_by(|a, b| order(a).total_cmp(&order(b)).then_with(|| name_key(a).cmp(&name_key(b))));
        }
        if is_collapsing {
            self.add_labels(&mut lengths, &observed);
        }
        for ((instance, _), length) in lengths {
            let longest = self.lengths.entry(instance).or_insert(0);
            *longest = length.max(*longest);
        }
        self.steps.retain(|_, step| *step != NaiveStep::default());
    }

    /// Fills in the states and ages that follow from the actions.
    fn add_labels(&mut self, lengths: &mut BTreeMap<ArmKey, usize>, observed: &BTreeMap<StepKey, usize>) {
        let has_pulls_only = self.settings.get("rows").is_some_and(|rows| rows.as_str() == Some("pulls"));
        let mut longest = 0;
        for ((instance, trajectory), length) in lengths {
            let arms: Vec<String> =
                self.arms.keys().filter(|key| key.0 == *instance).map(|key| key.1.clone()).collect();
            let key = |arm: &String, t: usize| (instance.clone(), trajectory.clone(), arm.clone(), t);
            let is_pull = |t: &usize| {
                arms.iter().any(|arm| self.steps.get(&key(arm, *t)).is_some_and(|s| s.action == Some(1)))
            };
            let pulled = (0..*length).filter(is_pull).max().map_or(0, |last| last + 1);
            if has_pulls_only {
                for (arm, t) in arms.iter().flat_map(|arm| (0..pulled).map(move |t| (arm, t))) {
                    let alone = NaiveStep { action: Some(0), ..NaiveStep::default() };
                    self.steps.entry(key(arm, t)).or_insert(alone);
                }
            }
            let is_decided =
                |arm: &String| self.steps.get(&key(arm, *length - 1)).is_some_and(|s| s.action.is_some());
            // the state after the last action needs no row
            *length += usize::from(arms.iter().any(is_decided));
            for arm in &arms {
                let mut age = 0;
                for t in 0..*length {
                    let before = (t > 0).then(|| self.steps.get(&key(arm, t - 1)).cloned()).flatten();
                    let follows = before.and_then(|before| match (before.action?, before.state) {
                        (1, _) => Some((observed[&key(arm, t - 1)], 0)),
                        (_, state) => Some((state?, before.since? + 1)),
                    });
                    let row = self.steps.entry(key(arm, t)).or_default();
                    if let (None, Some((state, since))) = (row.state, follows) {
                        (row.state, row.since) = (Some(state), Some(since));
                    }
                    // an unknown label is as old as the last known one has become
                    age = row.since.map_or(if age > 0 { age + 1 } else { 0 }, |since| since + 1);
                    longest = longest.max(age);
                }
            }
        }
        let integer = |name: &str| self.settings.get(name).and_then(|value| value.as_integer());
        let labels = integer("chain").or(integer("beliefs")).map(|labels| labels as usize);
        self.labels = Some(labels.unwrap_or(longest + integer("horizon").unwrap() as usize));
    }
}

/// R(s, a): a number, or a pair for passive and pulled. Default: s/(M−1).
fn rewards(settings: &toml::Table, states: usize) -> Vec<[f64; 2]> {
    let float = |value: &toml::Value| {
        value.as_float().or_else(|| value.as_integer().map(|integer| integer as f64)).unwrap()
    };
    let pair = |value: &toml::Value| match value.as_array() {
        Some(pair) => [float(&pair[0]), float(&pair[1])],
        None => [float(value); 2],
    };
    match settings.get("rewards") {
        Some(all) => all.as_array().unwrap().iter().map(pair).collect(),
        None => (0..states).map(|s| [s as f64 / (states.max(2) - 1) as f64; 2]).collect(),
    }
}
