//! Studies as CSV, made at random: people who move as their features say, rows in an order of their own.

use std::fmt::Write;
use std::path::Path;
use tempfile::TempDir;

/// Random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() * end as f64) as usize
    }
}

/// A study to be made.
#[derive(Debug, Clone)]
pub struct Made {
    pub seed: u64,
    pub states: usize,
    /// people of each instance
    pub people: Vec<usize>,
    /// decisions
    pub periods: usize,
    pub trajectories: usize,
    /// whether a column says who belongs to which part
    pub has_split: bool,
    /// whether the log has propensities, of some actions, and rewards
    pub has_values: bool,
    /// the share of decisions at which somebody is called
    pub called: f64,
    /// how much features say
    pub strength: f64,
    /// a line of the table of arms, and its header, as they are to be: what fails
    pub changed: fn(usize, &str) -> String,
}

impl Default for Made {
    fn default() -> Self {
        Self {
            seed: 1,
            states: 2,
            people: vec![900],
            periods: 6,
            trajectories: 1,
            has_split: false,
            has_values: false,
            called: 0.2,
            strength: 1.0,
            changed: |_, line| line.into(),
        }
    }
}

impl Made {
    /// Writes it into a folder that is removed in the end.
    pub fn write(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        self.write_to(folder.path());
        folder
    }

    /// Writes it into a folder that is there.
    pub fn write_to(&self, folder: &Path) {
        let mut random = Random(self.seed);
        let settings = format!(
            "states = {}\ndiscount = 0.9\nbudget = 3\nhorizon = 9\nbehaviour = \"uniform\"\n",
            self.states
        );
        std::fs::write(folder.join("study.toml"), settings).unwrap();
        let (mut arms, mut log) = (Vec::new(), Vec::new());
        for (k, n) in self.people.iter().enumerate() {
            for i in 0..*n {
                self.person(
                    &mut random,
                    &format!("site {}", 12 - k),
                    &format!("p{}", 3 * i),
                    &mut arms,
                    &mut log,
                );
            }
        }
        for rows in [&mut arms, &mut log] {
            for i in (1..rows.len()).rev() {
                rows.swap(i, random.below(i + 1));
            }
        }
        let split = if self.has_split { ",split" } else { "" };
        let header = format!("instance,arm,x,income,word,answer{split}");
        let lines = std::iter::once(&header).chain(&arms).enumerate();
        let arms: String = lines.map(|(row, line)| (self.changed)(row, line) + "\n").collect();
        std::fs::write(folder.join("arms.csv"), arms).unwrap();
        let values = if self.has_values { ",propensity,reward" } else { "" };
        let log = format!("instance,trajectory,t,arm,state,action{values}\n") + &log.concat();
        std::fs::write(folder.join("trajectories.csv"), log).unwrap();
    }

    fn person(
        &self,
        random: &mut Random,
        site: &str,
        name: &str,
        arms: &mut Vec<String>,
        log: &mut Vec<String>,
    ) {
        let m = self.states;
        let x = (random.next() + random.next() - 1.0) * 2.0;
        let income = (1000.0 + 9000.0 * random.next()).round();
        let word = ["own", "husband", "none at all", ""][random.below(4)];
        let answer = ["0", "1", ""][random.below(3)];
        let shown = if random.below(9) == 0 { String::new() } else { format!("{x}") };
        let mut line = format!("{site},{name},{shown},{income},{word},{answer}");
        if self.has_split {
            let part = ["train", "train", "train", "validation", "test"][random.below(5)];
            write!(line, ",{part}").unwrap();
        }
        arms.push(line);
        if random.below(30) == 0 {
            return; // a newcomer
        }
        for j in 0..self.trajectories {
            let mut state = random.below(m);
            for t in 0..=self.periods {
                let action = usize::from(random.next() < self.called);
                let seen = if random.below(25) == 0 { String::new() } else { state.to_string() };
                let acted = if t == self.periods { String::new() } else { action.to_string() };
                let mut row = format!("{site},run {j},{t},{name},{seen},{acted}");
                if self.has_values {
                    row += if acted.is_empty() || random.below(3) == 0 { ",,0.5" } else { ",0.25,1" };
                }
                log.push(row + "\n");
                let pull = self.strength * (x + if word == "own" { 0.6 } else { -0.2 }) + 0.7 * action as f64;
                let up = 1.0 / (1.0 + (-(pull + 0.5 * state as f64 - 0.4)).exp());
                // every move happens: what never does has no best log-odds
                state = match random.next() < up {
                    _ if random.below(6) == 0 => random.below(m),
                    true => (state + 1).min(m - 1),
                    false => state.saturating_sub(random.below(2)),
                };
            }
        }
    }
}
