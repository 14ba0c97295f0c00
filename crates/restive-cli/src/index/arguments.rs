//! What `restive index` may be asked.

use super::observation::Observation;
use crate::shared::values::{discount, threads};
use clap::{Args, ValueEnum};
use ndarray::Array2;
use restive::Reward;
use restive_pipeline::generate::ChainLength;
use std::path::PathBuf;
use std::str::FromStr;

const ABOUT: &str = "\
Compute the Whittle index of every arm and state.

The Whittle index of a state is what a pull is worth there: the smallest payment for leaving the arm alone that \
makes leaving it alone as good as pulling. With a budget of K pulls, pull the K arms whose current state has the \
highest index. Each arm also gets a verdict, whether it is indexable; the ranking is only meaningful if it is.

ARMS is a .csv, .parquet or .npy file. A table has one row per arm and one column p_S_A_NEXT per probability: \
p_0_1_2 is the probability of moving from state 0, when pulled (action 1; 0 is passive), to state 2. For two \
states the columns p_0_0_1, p_0_1_1, p_1_0_1 and p_1_1_1 suffice. A column arm may name the arms; other columns are \
ignored. A .npy array is float32 or float64 of shape [N, M, 2, M] (see --layout).

With --observation collapsing the state of an arm is seen only when it is pulled. Indices are then those of beliefs: \
w_S_H is the index when the last pull found state S and H steps without a pull have passed since its own. --chain says what becomes of \
beliefs: with a number of them the last one stays as it is, as published; infinite (two states) lets them go on.

Files are streamed: memory does not grow with the number of arms.";

const EXAMPLES: &str = "\
Examples:
  restive index examples/arms.csv
  restive index examples/arms.csv --discount 0.95 --out indices.parquet
  restive index examples/arms_three_states.csv --rewards 0,0.5,1 --verbose --out indices.csv
  restive index examples/arms.csv --rewards 0/-0.1,1/0.9 --json
  restive index examples/arms.csv --observation collapsing --chain infinite --beliefs 5
  restive index examples/arms.csv --observation collapsing --chain 10 --out beliefs.csv";

/// Compute the Whittle index of every arm and state
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct IndexArguments {
    /// The file of arms: .csv, .parquet or .npy
    #[arg(value_name = "ARMS")]
    pub(crate) arms: PathBuf,

    /// Write the indices to this file: .csv, .parquet or .npy [default: show the first rows]
    ///
    /// Columns: arm, w_0 … w_{M-1} (w_S_H for beliefs), is_indexable (empty where it is not known). For OUT = w.npy the
    /// indices are an array [N, M] and the verdicts go to OUT.verdict.npy. The file appears when it is complete.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,

    /// Replace indices that are in the file
    #[arg(long, requires = "out")]
    pub(crate) force: bool,

    /// Reward of each state, from 0 to M-1; PASSIVE/ACTIVE where it depends on the action [default: s/(M-1)]
    ///
    /// `0,1` gives reward 1 in state 1. `0/-0.1,1/0.9` charges 0.1 for a pull in either state.
    #[arg(short, long, value_name = "R0,R1,…", allow_hyphen_values = true)]
    pub(crate) rewards: Option<Rewards>,

    /// Discount per step, from 0 to 1; 1 means the average reward per step
    #[arg(short, long, default_value_t = 0.99, value_parser = discount, allow_hyphen_values = true)]
    pub(crate) discount: f64,

    /// How to compute: auto takes the closed form for two states and the general algorithm otherwise
    #[arg(short, long, value_enum, default_value_t = Algorithm::Auto)]
    pub(crate) algorithm: Algorithm,

    /// Tolerance of an index for --algorithm bisection [default: 1e-6]
    #[arg(long, value_parser = tolerance, allow_hyphen_values = true)]
    pub(crate) tolerance: Option<f64>,

    /// What is seen of an arm
    #[arg(long, value_enum, default_value_t = Observation::Full)]
    pub(crate) observation: Observation,

    /// Beliefs per observed state, the last of which stays as it is; or infinite, for two states [default: infinite]
    ///
    /// For --observation collapsing.
    #[arg(long, value_name = "T|infinite", allow_hyphen_values = true)]
    pub(crate) chain: Option<ChainLength>,

    /// How many beliefs of an infinite chain to give an index [default: 10]
    #[arg(long, value_name = "N")]
    pub(crate) beliefs: Option<std::num::NonZeroUsize>,

    /// Order of the axes of a .npy array
    #[arg(long, value_enum, default_value_t = Layout::Nsas)]
    pub(crate) layout: Layout,

    /// How many arms to show when there is no --out
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(crate) rows: usize,

    /// Also give the last crossing of each state (last_0 …), the status and the residual of each arm
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// Print a summary as JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,

    /// Threads to compute with [default: one per core]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = threads())]
    pub(crate) threads: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Algorithm {
    /// The closed form for two states, the general algorithm otherwise
    Auto,
    /// The closed form; two states only
    TwoState,
    /// Exact for any number of states
    General,
    /// Bisection over value iteration; approximate, discount of at most 0.9999
    Bisection,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Layout {
    /// [arm, state, action, next state]
    Nsas,
    /// [arm, action, state, next state]
    Nass,
}

impl From<Layout> for restive::Layout {
    fn from(layout: Layout) -> Self {
        match layout {
            Layout::Nsas => restive::Layout::Nsas,
            Layout::Nass => restive::Layout::Nass,
        }
    }
}

/// Rewards R(s, a) as given on the command line, `[M,2]`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rewards(Vec<[f64; 2]>);

impl FromStr for Rewards {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(format!("found {text:?}, expected a finite number")),
        };
        let reward = |text: &str| match text.split_once('/') {
            Some((passive, active)) => Ok([number(passive)?, number(active)?]),
            None => number(text).map(|r| [r, r]),
        };
        text.split(',').map(reward).collect::<Result<_, String>>().map(Rewards)
    }
}

impl Rewards {
    pub(crate) fn states(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn reward(&self) -> restive::Result<Reward> {
        Reward::of_state_and_action(Array2::from_shape_fn((self.0.len(), 2), |(s, a)| self.0[s][a]))
    }
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(found) if found > 0.0 && found.is_finite() => Ok(found),
        _ => Err("expected a number above 0".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewards_are_per_state_and_perhaps_per_action() {
        assert_eq!("0,1".parse(), Ok(Rewards(vec![[0.0, 0.0], [1.0, 1.0]])));
        assert_eq!("-1 , 0/0.5".parse(), Ok(Rewards(vec![[-1.0, -1.0], [0.0, 0.5]])));
        for text in ["", "0,", "a", "0/1/2", "nan", "inf,1", "0;1"] {
            assert!(text.parse::<Rewards>().is_err(), "{text}");
        }
    }
}
