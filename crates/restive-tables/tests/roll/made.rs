//! Studies made at random, as tables of text that are written as CSV or as Parquet, rows in any order.

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Random whole numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }

    fn one_in(&mut self, end: usize) -> bool {
        self.below(end) == 0
    }

    fn shuffle<T>(&mut self, all: &mut [T]) {
        for i in (1..all.len()).rev() {
            all.swap(i, self.below(i + 1));
        }
    }
}

/// A table: names of columns, whether they hold numbers, and rows of text.
#[derive(Clone)]
pub struct Text {
    pub columns: Vec<(&'static str, bool)>,
    pub rows: Vec<Vec<String>>,
}

impl Text {
    fn csv(&self) -> String {
        let cell = |cell: &str| match cell.contains([',', '"', '\n']) {
            true => format!("\"{}\"", cell.replace('"', "\"\"")),
            false => cell.to_string(),
        };
        let line = |cells: Vec<String>| cells.join(",") + "\n";
        let header = line(self.columns.iter().map(|(name, _)| name.to_string()).collect());
        header
            + &self
                .rows
                .iter()
                .map(|row| line(row.iter().map(|text| cell(text)).collect()))
                .collect::<String>()
    }

    fn batch(&self) -> RecordBatch {
        let column = |(c, (name, is_number)): (usize, &(&str, bool))| -> (String, ArrayRef) {
            let cells = self.rows.iter().map(|row| row[c].as_str());
            let array: ArrayRef = match is_number {
                true => Arc::new(Float64Array::from_iter(cells.map(|text| text.parse::<f64>().ok()))),
                false => {
                    Arc::new(StringArray::from_iter(cells.map(|text| (!text.is_empty()).then_some(text))))
                }
            };
            (name.to_string(), array)
        };
        RecordBatch::try_from_iter_with_nullable(
            self.columns.iter().enumerate().map(column).map(|(name, array)| (name, array, true)),
        )
        .unwrap()
    }

    /// Writes it under the name and the ending.
    pub fn write(&self, folder: &Path, name: &str, ending: &str, group: usize) {
        let path = folder.join(format!("{name}.{ending}"));
        if ending == "csv" {
            return fs::write(path, self.csv()).unwrap();
        }
        let batch = self.batch();
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group)).build();
        let file = fs::File::create(path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }

    pub fn column(&self, name: &str) -> usize {
        self.columns.iter().position(|(other, _)| *other == name).unwrap()
    }
}

/// A study as text.
#[derive(Clone)]
pub struct Made {
    pub settings: String,
    pub arms: Text,
    pub trajectories: Text,
    pub truth: Option<Text>,
}

impl Made {
    pub fn write(&self, folder: &Path, ending: &str, group: usize) {
        fs::create_dir_all(folder).unwrap();
        for file in fs::read_dir(folder).unwrap() {
            fs::remove_file(file.unwrap().path()).unwrap();
        }
        fs::write(folder.join("study.toml"), &self.settings).unwrap();
        self.arms.write(folder, "arms", ending, group);
        self.trajectories.write(folder, "trajectories", ending, group);
        self.truth.iter().for_each(|truth| truth.write(folder, "truth", ending, group));
    }

    /// Any study: instances interleaved, names that are in several of them, gaps, newcomers, trajectories of unequal length.
    pub fn random(seed: u64) -> Self {
        let mut random = Random(seed);
        let (states, instances) = (1 + random.below(4), 1 + random.below(3));
        let first = random.below(2);
        let [has_instance, has_split, has_order, has_propensity, has_reward, has_truth] = [
            instances > 1 || random.one_in(2),
            random.one_in(2),
            random.one_in(3),
            random.one_in(2),
            random.one_in(2),
            random.one_in(2),
        ];
        let mut arms = Text {
            columns: vec![
                ("instance", false),
                ("arm", false),
                ("x", true),
                ("word", false),
                ("code", false),
                ("y", true),
                ("split", false),
            ],
            rows: Vec::new(),
        };
        let mut trajectories = Text {
            columns: vec![
                ("instance", false),
                ("order", true),
                ("trajectory", false),
                ("t", true),
                ("arm", false),
                ("state", true),
                ("action", true),
                ("propensity", true),
                ("reward", true),
            ],
            rows: Vec::new(),
        };
        let mut truth = Text { columns: vec![("instance", false), ("arm", false)], rows: Vec::new() };
        const NAMES: [&str; 32] = [
            "p_0_0_0", "p_0_0_1", "p_0_0_2", "p_0_0_3", "p_0_1_0", "p_0_1_1", "p_0_1_2", "p_0_1_3",
            "p_1_0_0", "p_1_0_1", "p_1_0_2", "p_1_0_3", "p_1_1_0", "p_1_1_1", "p_1_1_2", "p_1_1_3",
            "p_2_0_0", "p_2_0_1", "p_2_0_2", "p_2_0_3", "p_2_1_0", "p_2_1_1", "p_2_1_2", "p_2_1_3",
            "p_3_0_0", "p_3_0_1", "p_3_0_2", "p_3_0_3", "p_3_1_0", "p_3_1_1", "p_3_1_2", "p_3_1_3",
        ];
        for s in 0..states {
            for a in 0..2 {
                truth.columns.extend((0..states).map(|next| (NAMES[8 * s + 4 * a + next], true)));
            }
        }
        for k in 0..instances {
            let people = 1 + random.below(40);
            let instance = if has_instance { format!("site, {}", 10 - k) } else { String::new() };
            let runs = 1 + random.below(3);
            let orders: Vec<usize> = (0..runs).map(|_| random.below(2)).collect();
            for i in 0..people {
                let arm = ["", "a\"b ", "Ñ"][i % 3].to_string() + &(7 * i).to_string();
                let number = |random: &mut Random| match random.below(5) {
                    0 => String::new(),
                    1 => "-0".to_string(),
                    n => format!("{}", (n as f64 - 3.0) / 7.0 + random.below(3) as f64),
                };
                let word = ["", "red", "blue, or not"][random.below(3)].to_string();
                let [x, y] = [number(&mut random), String::new()];
                let split = ["train", "validation", "test"][random.below(3)].to_string();
                let code = random.below(3).to_string();
                arms.rows.push(vec![instance.clone(), arm.clone(), x, word, code, y, split]);
                let mut row = vec![instance.clone(), arm.clone()];
                for _ in 0..2 * states {
                    let moved = random.below(states);
                    row.extend((0..states).map(|next| usize::from(next == moved).to_string()));
                }
                truth.rows.push(row);
                if random.one_in(6) && i > 0 {
                    continue; // a newcomer
                }
                for (j, order) in orders.iter().enumerate() {
                    let steps = 1 + random.below(5);
                    for t in 0..steps {
                        let is_first = i == 0 && j == 0 && t == 0;
                        if random.one_in(5) && !is_first {
                            continue;
                        }
                        let state =
                            if random.one_in(4) { String::new() } else { random.below(states).to_string() };
                        let action =
                            if random.one_in(4) { String::new() } else { random.below(2).to_string() };
                        let propensity = if random.one_in(3) { String::new() } else { "0.25".into() };
                        let reward = if random.one_in(3) {
                            String::new()
                        } else {
                            format!("{}", random.below(9) as f64 / 8.0)
                        };
                        trajectories.rows.push(vec![
                            instance.clone(),
                            order.to_string(),
                            format!("run {}", 8 + j),
                            (t + first).to_string(),
                            arm.clone(),
                            state,
                            action,
                            propensity,
                            reward,
                        ]);
                    }
                }
            }
        }
        let drop = |text: &mut Text, name: &str| {
            let c = text.column(name);
            text.columns.remove(c);
            text.rows.iter_mut().for_each(|row| _ = row.remove(c));
        };
        if !has_instance {
            [&mut arms, &mut trajectories, &mut truth].into_iter().for_each(|text| drop(text, "instance"));
        }
        if !has_split {
            drop(&mut arms, "split");
        }
        for (has, name) in [(has_order, "order"), (has_propensity, "propensity"), (has_reward, "reward")] {
            if !has {
                drop(&mut trajectories, name);
            }
        }
        // in the order of people, of steps, or none
        match random.below(3) {
            0 => {}
            1 => trajectories.rows.sort_by_key(|row| {
                row[trajectories.columns.iter().position(|c| c.0 == "t").unwrap()].clone()
            }),
            _ => random.shuffle(&mut trajectories.rows),
        }
        if random.one_in(2) {
            random.shuffle(&mut arms.rows);
            random.shuffle(&mut truth.rows);
        }
        let settings = format!(
            "states = {states}\ndiscount = 0.9\nbudget = 1\nhorizon = 3\nbehaviour = \"uniform\"\ntext = [\"code\"]\n"
        );
        Self { settings, arms, trajectories, truth: has_truth.then_some(truth) }
    }
}
