//! A small study with its true transition probabilities, for suites that need no programme.
//!
//! Each of `instances` groups has `arms` arms with states 0 to M−1. An arm has one number x in [0, 1] and one text. With probability
//! 0.2 + 0.5 x (plus 0.2 if it is pulled) its next state is one higher, otherwise one lower, within the range. At each of T steps, K
//! arms of a group are pulled at random, so that the propensity is K/N for pulled and 1 − K/N for passive arms. The last step has no action.
//! The study is written without code of the readers under test.

use crate::chance::Chance;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Sizes of a [`StudyFixture`].
#[derive(Debug, Clone)]
pub struct StudyOptions {
    /// Number of groups. Default: 2.
    pub instances: usize,
    /// Number of arms per group, N. Default: 12.
    pub arms: usize,
    /// Number of states, M. Default: 2.
    pub states: usize,
    /// Number of trajectories per group. Default: 2.
    pub trajectories: usize,
    /// Number of steps, T. Default: 6.
    pub steps: usize,
    /// Number of pulled arms per step, K. Default: 3.
    pub budget: usize,
    /// Seed of all random numbers. Default: 1.
    pub seed: u64,
}

impl Default for StudyOptions {
    fn default() -> Self {
        Self { instances: 2, arms: 12, states: 2, trajectories: 2, steps: 6, budget: 3, seed: 1 }
    }
}

/// One row of a log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoggedStep {
    /// State before the action.
    pub state: usize,
    /// 1 for a pull; `None` at the last step.
    pub action: Option<usize>,
    /// Probability of the action; `None` at the last step.
    pub propensity: Option<f64>,
}

/// A study and its truth, in memory.
pub struct StudyFixture {
    /// Sizes.
    pub options: StudyOptions,
    /// Number x of each arm, by group and arm.
    pub x: Vec<Vec<f64>>,
    /// Log by group, trajectory, step and arm.
    pub log: Vec<Vec<Vec<Vec<LoggedStep>>>>,
}

impl StudyFixture {
    /// Simulates a study.
    pub fn new(options: &StudyOptions) -> Self {
        let mut chance = Chance::new(options.seed);
        let mut fixture = Self { options: options.clone(), x: Vec::new(), log: Vec::new() };
        for g in 0..options.instances {
            fixture.x.push((0..options.arms).map(|_| chance.next()).collect());
            let trajectories = (0..options.trajectories).map(|_| fixture.simulate(g, &mut chance)).collect();
            fixture.log.push(trajectories);
        }
        fixture
    }

    /// Probabilities `[M, 2, M]` of the next states of an arm, row by row.
    pub fn truth(&self, group: usize, arm: usize) -> Vec<f64> {
        let states = self.options.states;
        let mut rows = vec![0.0; states * 2 * states];
        for state in 0..states {
            for action in 0..2 {
                let up = self.up(group, arm, action);
                let row = &mut rows[(state * 2 + action) * states..][..states];
                row[(state + 1).min(states - 1)] += up;
                row[state.saturating_sub(1)] += 1.0 - up;
            }
        }
        rows
    }

    fn up(&self, group: usize, arm: usize, action: usize) -> f64 {
        0.2 + 0.5 * self.x[group][arm] + 0.2 * action as f64
    }

    fn simulate(&self, group: usize, chance: &mut Chance) -> Vec<Vec<LoggedStep>> {
        let StudyOptions { arms, states, steps, budget, .. } = self.options;
        let mut state: Vec<usize> = (0..arms).map(|_| (chance.next() * states as f64) as usize).collect();
        let mut log = Vec::new();
        for step in 0..steps {
            let mut lots: Vec<(f64, usize)> = (0..arms).map(|arm| (chance.next(), arm)).collect();
            lots.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut action = vec![0; arms];
            lots.iter().take(budget).for_each(|(_, arm)| action[*arm] = 1);
            let rows = (0..arms).map(|arm| {
                let share = budget as f64 / arms as f64;
                let propensity = if action[arm] == 1 { share } else { 1.0 - share };
                let known = step + 1 < steps;
                LoggedStep {
                    state: state[arm],
                    action: known.then_some(action[arm]),
                    propensity: known.then_some(propensity),
                }
            });
            log.push(rows.collect());
            for arm in 0..arms {
                let is_up = chance.next() < self.up(group, arm, action[arm]);
                state[arm] = match is_up {
                    true => (state[arm] + 1).min(states - 1),
                    false => state[arm].saturating_sub(1),
                };
            }
        }
        log
    }

    /// Writes `study.toml`, `arms.csv`, `trajectories.csv` and `truth.csv` into a folder, which is created.
    ///
    /// # Panics
    /// If a file cannot be written.
    pub fn write(&self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        let write = |name: &str, text: String| fs::write(folder.join(name), text).unwrap();
        let StudyOptions { states, budget, .. } = self.options;
        let rewards: Vec<String> =
            (0..states).map(|s| format!("{:?}", s as f64 / (states - 1) as f64)).collect();
        write(
            "study.toml",
            format!(
                "states = {states}\nrewards = [{}]\ndiscount = 0.95\nbudget = {budget}\nhorizon = 4\nbehaviour = \"logged\"\n",
                rewards.join(", ")
            ),
        );
        write("arms.csv", self.arms());
        write("trajectories.csv", self.trajectories());
        write("truth.csv", self.truth_table());
    }

    fn arms(&self) -> String {
        let mut text = "instance,arm,x,kind,split\n".to_string();
        for (g, x) in self.x.iter().enumerate() {
            for (arm, x) in x.iter().enumerate() {
                let split = ["train", "train", "validation", "test"][arm % 4];
                let kind = ["even", "odd"][arm % 2];
                writeln!(text, "g{g},a{arm},{x},{kind},{split}").unwrap();
            }
        }
        text
    }

    fn trajectories(&self) -> String {
        let mut text = "instance,trajectory,t,arm,state,action,propensity\n".to_string();
        for (g, trajectories) in self.log.iter().enumerate() {
            for (j, steps) in trajectories.iter().enumerate() {
                for (t, rows) in steps.iter().enumerate() {
                    for (arm, row) in rows.iter().enumerate() {
                        let action = row.action.map_or(String::new(), |action| action.to_string());
                        let propensity = row.propensity.map_or(String::new(), |p| p.to_string());
                        writeln!(text, "g{g},{j},{t},a{arm},{},{action},{propensity}", row.state).unwrap();
                    }
                }
            }
        }
        text
    }

    fn truth_table(&self) -> String {
        let StudyOptions { states, arms, .. } = self.options;
        let column = |k: usize| format!("p_{}_{}_{}", k / (2 * states), k / states % 2, k % states);
        let columns: Vec<String> = (0..2 * states * states).map(column).collect();
        let mut text = format!("instance,arm,{}\n", columns.join(","));
        for g in 0..self.x.len() {
            for arm in 0..arms {
                let row: Vec<String> = self.truth(g, arm).iter().map(f64::to_string).collect();
                writeln!(text, "g{g},a{arm},{}", row.join(",")).unwrap();
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_is_a_distribution_and_pulls_are_the_budget() {
        let options = StudyOptions { states: 3, ..StudyOptions::default() };
        let study = StudyFixture::new(&options);
        for row in study.truth(1, 4).chunks(3) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{row:?}");
        }
        for steps in study.log.iter().flatten() {
            let (last, before) = steps.split_last().unwrap();
            assert!(last.iter().all(|row| row.action.is_none()));
            for rows in before {
                let pulled = rows.iter().filter(|row| row.action == Some(1)).count();
                assert_eq!(pulled, options.budget);
            }
        }
    }

    #[test]
    fn frequencies_of_a_long_log_are_the_truth() {
        let options =
            StudyOptions { instances: 1, arms: 4, steps: 20_000, budget: 1, ..StudyOptions::default() };
        let study = StudyFixture::new(&options);
        let steps = &study.log[0][0];
        for arm in 0..options.arms {
            let truth = study.truth(0, arm);
            let (mut counts, mut ups) = ([0.0; 4], [0.0; 4]);
            for pair in steps.windows(2) {
                let cell = pair[0][arm].state * 2 + pair[0][arm].action.unwrap();
                counts[cell] += 1.0;
                ups[cell] += pair[1][arm].state as f64;
            }
            for cell in 0..4 {
                let p = truth[cell * 2 + 1];
                // five standard errors
                let tolerance = 5.0 * (p * (1.0 - p) / counts[cell]).sqrt();
                assert!((ups[cell] / counts[cell] - p).abs() < tolerance, "{cell}");
            }
        }
    }
}
