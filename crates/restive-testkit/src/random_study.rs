//! Random small studies in files, for comparing readers with the [naive one](crate::naive_study).
//!
//! A study has 1 to 3 groups with 1 to 40 arms and 1 to 3 trajectories each. It has missing values, missing rows, weeks without any
//! row, trajectories of different length, arms that join late or never, and names that other groups use too. The columns `instance`,
//! `split`, `order`, `propensity`, `reward` and the table of true transitions are present at random, and rows come in random order.
//!
//! If states are observed at pulls only, each arm is simulated. The label (s, h) before a step is the last observed state and the number
//! of steps since. Rows contain labels always, at random or never. The log is valid for a chain of labels that ends within the log, for
//! one that does not, and for an infinite one.

use crate::chance::Chance;
use std::fs;
use std::path::Path;

/// Observation of states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Observed {
    /// States of all rows.
    Always,
    /// States of pulled arms only.
    AtPulls,
}

/// A table as text.
#[derive(Debug, Clone)]
pub struct TextTable {
    /// Name of each column, and whether its cells are numbers.
    pub columns: Vec<(String, bool)>,
    /// Cells by row.
    pub rows: Vec<Vec<String>>,
}

impl TextTable {
    fn new(columns: &[(&str, bool)]) -> Self {
        let columns = columns.iter().map(|(name, is_number)| (name.to_string(), *is_number)).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Position of a column.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn column(&self, name: &str) -> usize {
        self.columns.iter().position(|(other, _)| other == name).unwrap()
    }

    /// Content of the table as CSV.
    pub fn csv(&self) -> String {
        let cell = |cell: &str| match cell.contains([',', '"', '\n']) {
            true => format!("\"{}\"", cell.replace('"', "\"\"")),
            false => cell.to_string(),
        };
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        let header = line(self.columns.iter().map(|(name, _)| name.clone()).collect());
        let rows = self.rows.iter().map(|row| line(row.iter().map(|text| cell(text)).collect()));
        header + &rows.collect::<String>()
    }

    fn remove(&mut self, name: &str) {
        let Some(c) = self.columns.iter().position(|(other, _)| other == name) else { return };
        self.columns.remove(c);
        self.rows.iter_mut().for_each(|row| _ = row.remove(c));
    }
}

/// A study as text.
#[derive(Debug, Clone)]
pub struct RandomStudy {
    /// Content of `study.toml`.
    pub settings: String,
    /// Table of arms.
    pub arms: TextTable,
    /// Table of trajectories.
    pub trajectories: TextTable,
    /// Table of true transition probabilities.
    pub truth: Option<TextTable>,
}

/// Labels in the rows of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Labelled {
    Never,
    Sometimes,
    Always,
}

/// Sizes and options that all groups share.
struct Shape {
    states: usize,
    /// Smallest step, 0 or 1.
    first: usize,
    observed: Observed,
    labelled: Labelled,
    /// Number of labels per state; `None` if the chain is infinite or too long to end.
    chain_end: Option<usize>,
    /// Whether only pulls have rows.
    has_pulls_only: bool,
}

impl RandomStudy {
    /// Creates a study.
    pub fn new(seed: u64, observed: Observed) -> Self {
        let mut chance = Chance::new(seed + 1);
        let (shape, settings) = shape(&mut chance, observed);
        let mut study = Self::empty(settings, shape.states);
        let groups = 1 + chance.below(3);
        for k in 0..groups {
            study.add_group(&mut chance, &shape, &format!("site, {}", 10 - k));
        }
        let mut may_drop = |table: &mut TextTable, name: &str, is_needed: bool| {
            if !is_needed && chance.one_in(2) {
                table.remove(name);
            }
        };
        let is_logged = study.settings.contains("\"logged\"");
        may_drop(&mut study.arms, "split", false);
        may_drop(&mut study.trajectories, "order", false);
        may_drop(&mut study.trajectories, "reward", false);
        may_drop(&mut study.trajectories, "propensity", is_logged);
        if shape.has_pulls_only {
            study.trajectories.remove("propensity");
        }
        if shape.labelled == Labelled::Never {
            study.trajectories.remove("last_state");
            study.trajectories.remove("since");
        }
        if groups == 1 && chance.one_in(2) {
            let tables = [&mut study.arms, &mut study.trajectories].into_iter().chain(&mut study.truth);
            tables.for_each(|table| table.remove("instance"));
        }
        if chance.one_in(2) {
            study.truth = None;
        }
        study.reorder(&mut chance);
        study
    }

    fn empty(settings: String, states: usize) -> Self {
        let arms = [("instance", false), ("arm", false), ("x", true), ("word", false), ("code", false)];
        let trajectories = [("instance", false), ("order", true), ("trajectory", false), ("t", true)];
        let cells =
            [("arm", false), ("last_state", true), ("since", true), ("state", true), ("action", true)];
        let values = [("propensity", true), ("reward", true)];
        let mut truth = TextTable::new(&[("instance", false), ("arm", false)]);
        for (s, a) in (0..states).flat_map(|s| [(s, 0), (s, 1)]) {
            truth.columns.extend((0..states).map(|next| (format!("p_{s}_{a}_{next}"), true)));
        }
        Self {
            settings,
            arms: TextTable::new(&[&arms[..], &[("y", true), ("split", false)]].concat()),
            trajectories: TextTable::new(&[&trajectories[..], &cells, &values].concat()),
            truth: Some(truth),
        }
    }

    /// Puts the rows in random order, leaves their order, or sorts them by step.
    pub fn reorder(&mut self, chance: &mut Chance) {
        let t = self.trajectories.column("t");
        match chance.below(3) {
            0 => {}
            1 => self.trajectories.rows.sort_by_key(|row| row[t].clone()),
            _ => chance.shuffle(&mut self.trajectories.rows),
        }
        if chance.one_in(2) {
            chance.shuffle(&mut self.arms.rows);
            self.truth.iter_mut().for_each(|truth| chance.shuffle(&mut truth.rows));
        }
    }

    /// Writes the study as CSV.
    ///
    /// # Panics
    /// If a file cannot be written.
    pub fn write(&self, folder: &Path) {
        self.write_tables(folder, "csv", |table, path| fs::write(path, table.csv()).unwrap());
    }

    /// Writes the study with tables in a format of the caller. The folder is emptied before.
    ///
    /// # Panics
    /// If a file cannot be written.
    pub fn write_tables(&self, folder: &Path, ending: &str, write: impl Fn(&TextTable, &Path)) {
        fs::create_dir_all(folder).unwrap();
        for file in fs::read_dir(folder).unwrap() {
            fs::remove_file(file.unwrap().path()).unwrap();
        }
        fs::write(folder.join("study.toml"), &self.settings).unwrap();
        let tables = [("arms", Some(&self.arms)), ("trajectories", Some(&self.trajectories))];
        for (name, table) in tables.into_iter().chain([("truth", self.truth.as_ref())]) {
            table.iter().for_each(|table| write(table, &folder.join(format!("{name}.{ending}"))));
        }
    }

    fn add_group(&mut self, chance: &mut Chance, shape: &Shape, group: &str) {
        let arms = match chance.below(4) {
            0 => 1 + chance.below(40),
            _ => 1 + chance.below(12),
        };
        let runs: Vec<Run> = (0..1 + chance.below(3)).map(|j| Run::new(chance, shape, j)).collect();
        for i in 0..arms {
            let name = format!("{}{}", ["", "a\"b ", "Ñ"][i % 3], 7 * i);
            self.add_arm(chance, shape, group, &name, i == 0);
            // the first arm has all rows, so that each group has one and the smallest step is known
            if i == 0 || !chance.one_in(6) {
                for (j, run) in runs.iter().enumerate() {
                    let rows = match shape.observed {
                        Observed::Always => run.rows(chance, shape, i == 0 && j == 0),
                        Observed::AtPulls => run.rows_at_pulls(chance, shape, i == 0 && j == 0),
                    };
                    self.trajectories.rows.extend(rows.into_iter().map(|(t, cells)| {
                        let t = (t + shape.first).to_string();
                        let front = [group.into(), run.order.to_string(), run.name.clone(), t, name.clone()];
                        front.into_iter().chain(cells).collect()
                    }));
                }
            }
        }
    }

    fn add_arm(&mut self, chance: &mut Chance, shape: &Shape, group: &str, name: &str, is_first: bool) {
        let x = match chance.below(5) {
            0 => ["", "NaN"][chance.below(2)].to_string(),
            1 => "-0".to_string(),
            n => format!("{}", (n as f64 - 3.0) / 7.0 + chance.below(3) as f64),
        };
        // a column of text without any text would have no type in CSV
        let word = if is_first { "red" } else { *chance.pick(&["", "red", "blue, or not"]) }.to_string();
        let code = chance.below(3).to_string();
        let split = chance.pick(&["train", "validation", "test"]).to_string();
        self.arms.rows.push(vec![group.into(), name.into(), x, word, code, String::new(), split]);
        let mut row = vec![group.into(), name.into()];
        for _ in 0..2 * shape.states {
            let likely = chance.below(shape.states);
            row.extend((0..shape.states).map(|next| usize::from(next == likely).to_string()));
        }
        self.truth.iter_mut().for_each(|truth| truth.rows.push(row.clone()));
    }
}

/// Sizes of a [learnable](RandomStudy::learnable) study.
#[derive(Debug, Clone)]
pub struct LearnableOptions {
    /// Number of arms of all groups together.
    pub arms: usize,
    /// Number of groups.
    pub groups: usize,
    /// Number of states, M.
    pub states: usize,
    /// Step at which the programme ends.
    pub ends: Option<usize>,
}

impl RandomStudy {
    /// Creates a study whose moves depend on the features, so that a model can be trained.
    ///
    /// Many arms have equal features and states, so that plans have ties. Each group has one trajectory of four decisions, and one arm
    /// of 17 has no row. Arms of different groups have different names.
    pub fn learnable(seed: u64, options: &LearnableOptions) -> Self {
        let LearnableOptions { arms, groups, states, ends } = *options;
        let mut chance = Chance::new(seed + 1);
        let budget = arms / groups / 8;
        let mut settings = format!(
            "states = {states}\ndiscount = 0.9\nbudget = {budget}\nhorizon = 6\nbehaviour = \"uniform\"\n"
        );
        settings += &ends.map_or(String::new(), |ends| format!("ends = {ends}\n"));
        let columns = [("instance", false), ("arm", false), ("split", false), ("age", true)];
        let more = [("district", false), ("own", true)];
        let mut study = Self {
            settings,
            arms: TextTable::new(&[&columns[..], &more].concat()),
            trajectories: TextTable::new(&[
                ("instance", false),
                ("trajectory", false),
                ("t", true),
                ("arm", false),
                ("state", true),
                ("action", true),
            ]),
            truth: None,
        };
        for i in 0..arms {
            let (group, name) = (format!("g{}", i % groups), format!("p{}", i * 7919 % arms));
            let age = if chance.one_in(10) { String::new() } else { (20 + i % 13).to_string() };
            let split = chance.pick(&["train", "train", "train", "validation", "test"]).to_string();
            let district = ["north", "south", "east"][i * i % 5 % 3].to_string();
            let own = (i % 2).to_string();
            study.arms.rows.push(vec![group.clone(), name.clone(), split, age, district, own]);
            if i % 17 == 5 {
                continue;
            }
            let mut state = chance.below(states);
            for t in 0..5 {
                let is_pulled = t < 4 && chance.next() < 0.3;
                let action = if t < 4 { usize::from(is_pulled).to_string() } else { String::new() };
                let seen = if chance.one_in(10) { String::new() } else { state.to_string() };
                study.trajectories.rows.push(vec![
                    group.clone(),
                    "1".into(),
                    t.to_string(),
                    name.clone(),
                    seen,
                    action,
                ]);
                let up = 0.04 + 0.2 * f64::from(u8::from(is_pulled)) + 0.055 * (i % 13) as f64;
                state = match chance.next() < up {
                    true => (state + 1).min(states - 1),
                    false => state.saturating_sub(1),
                };
            }
        }
        chance.shuffle(&mut study.trajectories.rows);
        study
    }
}

fn shape(chance: &mut Chance, observed: Observed) -> (Shape, String) {
    let mut settings = "discount = 0.9\nbudget = 1\nhorizon = 3\ntext = [\"code\"]\n".to_string();
    settings += ["behaviour = \"uniform\"\n", "behaviour = \"logged\"\n"][chance.below(2)];
    let mut shape = Shape {
        states: 1 + chance.below(4),
        first: chance.below(2),
        observed,
        labelled: Labelled::Never,
        chain_end: None,
        has_pulls_only: false,
    };
    if observed == Observed::AtPulls {
        settings += "observation = \"collapsing\"\n";
        shape.labelled = *chance.pick(&[Labelled::Never, Labelled::Sometimes, Labelled::Always]);
        let chain = chance.below(3);
        if chain == 0 && shape.labelled == Labelled::Always {
            let end = 1 + chance.below(3);
            shape.chain_end = Some(end);
            settings += &format!("chain = {end}\n");
        } else if chain == 1 {
            shape.states = 2;
            settings += "chain = \"infinite\"\n";
            settings += ["", "beliefs = 40\n"][chance.below(2)];
        } else {
            settings += "chain = 40\n";
        }
        if shape.chain_end.is_none() && chance.one_in(3) {
            shape.has_pulls_only = true;
            settings = settings.replace("\"logged\"", "\"uniform\"") + "rows = \"pulls\"\n";
        }
    }
    settings += &format!("states = {}\n", shape.states);
    if !settings.contains("infinite") && chance.one_in(3) {
        let reward = |s| if s == 0 { "[-0.5, 1]".to_string() } else { format!("{}", s as f64 / 3.0) };
        let rewards: Vec<String> = (0..shape.states).map(reward).collect();
        settings += &format!("rewards = [{}]\n", rewards.join(", "));
    }
    (shape, settings)
}

/// One trajectory of a group.
struct Run {
    name: String,
    order: usize,
    steps: usize,
    /// Step of which no arm has a row.
    missing: usize,
}

impl Run {
    fn new(chance: &mut Chance, shape: &Shape, number: usize) -> Self {
        let name = format!("run {}", 8 + number);
        // a chain that ends within the log has to have all rows
        let missing = if chance.one_in(3) && shape.chain_end.is_none() { 1 } else { usize::MAX };
        let steps = 1 + chance.below(7) + usize::from(shape.chain_end.is_some());
        Self { name, order: chance.below(2), steps, missing }
    }

    /// First step of an arm and the number of its steps.
    fn member(&self, chance: &mut Chance, is_first: bool) -> (usize, usize) {
        let joined = if is_first || !chance.one_in(4) { 0 } else { chance.below(self.steps) };
        (joined, self.steps - if is_first { 0 } else { chance.below(self.steps) })
    }

    /// Rows of an arm: step, last state, since, state, action, propensity and reward.
    fn rows(&self, chance: &mut Chance, shape: &Shape, is_first: bool) -> Vec<(usize, Vec<String>)> {
        let (joined, end) = self.member(chance, is_first);
        let mut rows = Vec::new();
        for t in joined..end {
            let is_needed = is_first && t == 0;
            if (chance.one_in(5) || t == self.missing) && !is_needed {
                continue;
            }
            let state = if chance.one_in(4) { String::new() } else { chance.below(shape.states).to_string() };
            let action = if chance.one_in(4) { String::new() } else { chance.below(2).to_string() };
            rows.push((t, cells(chance, ["".into(), "".into(), state, action])));
        }
        rows
    }

    /// Like [`rows`](Self::rows), but with states at pulls only, of a simulated arm.
    fn rows_at_pulls(&self, chance: &mut Chance, shape: &Shape, is_first: bool) -> Vec<(usize, Vec<String>)> {
        let (joined, mut end) = self.member(chance, is_first);
        let has_all = shape.chain_end.is_some();
        if has_all {
            end = self.steps;
        }
        let is_known = chance.one_in(2) && shape.labelled != Labelled::Never;
        let mut label = is_known.then(|| (chance.below(shape.states), chance.below(4)));
        let mut rows = Vec::new();
        for t in 0..self.steps {
            let is_needed = is_first && t == 0;
            let (is_pulled, observed) = (chance.one_in(3) && !is_needed, chance.below(shape.states));
            let is_last = t + 1 == self.steps;
            // if only pulls have rows, each pull has one
            let has_row = match shape.has_pulls_only {
                true => is_pulled || is_needed || chance.one_in(4),
                false => {
                    let is_absent = (chance.one_in(5) && !has_all) || t == self.missing;
                    (joined..end).contains(&t) && (!is_absent || is_needed)
                }
            };
            let has_no_action = match shape.has_pulls_only {
                true => false,
                false => (chance.one_in(6) || (has_all && is_last)) && !is_needed,
            };
            if has_row {
                let is_labelled = match shape.labelled {
                    Labelled::Never => false,
                    Labelled::Sometimes => t == 0 || chance.one_in(2),
                    Labelled::Always => true,
                };
                let most = shape.chain_end.map_or(usize::MAX, |end| end - 1);
                let [last_state, since] = match label.filter(|_| is_labelled) {
                    Some((s, h)) => [s.to_string(), h.min(most).to_string()],
                    None => [String::new(), String::new()],
                };
                let [state, action] = match (has_no_action, is_pulled) {
                    (true, _) => ["".into(), "".into()],
                    (false, true) => [observed.to_string(), "1".into()],
                    (false, false) => ["".into(), "0".into()],
                };
                rows.push((t, cells(chance, [last_state, since, state, action])));
            }
            label = if is_pulled { Some((observed, 0)) } else { label.map(|(s, h)| (s, h + 1)) };
        }
        rows
    }
}

/// Cells of a row with a propensity and a reward.
fn cells(chance: &mut Chance, known: [String; 4]) -> Vec<String> {
    let propensity = if chance.one_in(3) { String::new() } else { "0.25".into() };
    let reward = if chance.one_in(3) { String::new() } else { format!("{}", chance.below(9) as f64 / 8.0) };
    known.into_iter().chain([propensity, reward]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naive_study::NaiveStudy;

    /// A study without one of these would make the comparison of readers weaker than the module says.
    #[test]
    fn studies_have_every_kind_of_gap() {
        let folder = tempfile::tempdir().unwrap();
        let mut found = [0; 7];
        for seed in 0..100 {
            let observed = [Observed::Always, Observed::AtPulls][seed as usize % 2];
            RandomStudy::new(seed, observed).write(folder.path());
            let study = NaiveStudy::read(folder.path());
            let has_step = |test: &dyn Fn(usize) -> bool, instance: &str, arm: Option<&str>| {
                study
                    .steps
                    .keys()
                    .any(|(i, _, a, t)| i == instance && arm.is_none_or(|arm| a == arm) && test(*t))
            };
            let arms = || study.arms.keys();
            let kinds = [
                arms().any(|(i, a)| !has_step(&|_| true, i, Some(a))),
                arms().any(|(i, a)| has_step(&|_| true, i, Some(a)) && !has_step(&|t| t == 0, i, Some(a))),
                study.trajectories.iter().any(|(i, runs)| {
                    runs.len() == 1 && has_step(&|t| t > 1, i, None) && !has_step(&|t| t == 1, i, None)
                }),
                study.trajectories.values().any(|runs| runs.len() > 1),
                study.trajectories.len() > 1,
                study.steps.values().any(|step| step.since.is_some()),
                study.steps.values().any(|step| step.propensity.is_some()),
            ];
            found.iter_mut().zip(kinds).for_each(|(found, is_kind)| *found += usize::from(is_kind));
        }
        assert!(found.iter().all(|found| *found >= 5), "{found:?}");
    }
}
