//! A hostile hour for the program, in a minute or in full: kills, mutated inputs, hostile names, failing files.
//!
//! `scripts/torture` runs it and says what it takes; `cargo test` runs the short form. Everything is drawn from one seed, bounded
//! in count and in time, and happens in temporary folders. What must stay at zero is counted and printed, and any other number fails:
//!
//! | what | where |
//! |---|---|
//! | kills at random instants of every command that writes, with and without standard error | `kills` |
//! | mutated files of every kind, read in this process | `mutation`, `readers` |
//! | a full disk, closed descriptors, folders that cannot be written to | `faults` |
//! | names made of control characters, marks of direction and formulas | `names` |

mod faults;
mod folder;
mod kills;
mod mutation;
mod names;
mod readers;

use std::process::ExitCode;
use std::time::{Duration, Instant};

/// So long may nothing take.
pub(crate) const HANG: Duration = Duration::from_secs(10);

const HELP: &str = "\
A hostile hour for restive: kills, mutated inputs, hostile names, failing files.

Usage: scripts/torture [--long] [--kills N] [--inputs N] [--minutes N] [--seed N]

  --long       1,000 kills and 1,000,000 mutated inputs, in an hour and a half at most (else 60 and 20,000 in three minutes at most)
  --kills N    so many kills
  --inputs N   so many mutated inputs
  --minutes N  begin nothing new after so many minutes
  --seed N     another hour [default: 1]
";

/// How much, and from which seed.
pub(crate) struct Plan {
    pub(crate) kills: usize,
    pub(crate) inputs: usize,
    pub(crate) seed: u64,
    pub(crate) until: Instant,
}

impl Plan {
    /// Whether there is time left to begin something.
    pub(crate) fn has_time(&self) -> bool {
        Instant::now() < self.until
    }
}

/// What was done, and what must be zero.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) kills: usize,
    pub(crate) inputs: usize,
    pub(crate) runs: usize,
    /// each with what happened
    pub(crate) panics: Vec<String>,
    pub(crate) hangs: Vec<String>,
    pub(crate) drafts: Vec<String>,
    pub(crate) differing: Vec<String>,
    pub(crate) foreign: Vec<String>,
    pub(crate) painted: Vec<String>,
}

impl Tally {
    fn faults(&self) -> [(&'static str, &[String]); 6] {
        [
            ("panics", &self.panics),
            ("hangs over 10 s", &self.hangs),
            ("drafts left", &self.drafts),
            ("differing outputs", &self.differing),
            ("foreign files touched", &self.foreign),
            ("names that painted", &self.painted),
        ]
    }
}

fn arguments() -> Result<Option<Plan>, String> {
    let start = Instant::now();
    let (mut kills, mut inputs, mut minutes, mut seed) = (60, 20_000, 3, 1);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || {
            let text = words.next().unwrap_or_default();
            text.parse::<u64>().map_err(|_| format!("{word}: found {text:?}, expected a number"))
        };
        match word.as_str() {
            "--long" => (kills, inputs, minutes) = (1_000, 1_000_000, 90),
            "--kills" => kills = number()?,
            "--inputs" => inputs = number()?,
            "--minutes" => minutes = number()?,
            "--seed" => seed = number()?,
            "--help" | "-h" => {
                print!("{HELP}");
                return Ok(None);
            }
            // cargo test hands its own options and filters to every test
            filter if !filter.starts_with('-') && !"torture".contains(filter) => return Ok(None),
            "--list" | "--ignored" => return Ok(None),
            "--nocapture" | "--quiet" | "-q" | "--test-threads" | "--exact" | "torture" => {}
            other if other.starts_with("--test-threads") => {}
            other => return Err(format!("{other}: not an option\n\n{HELP}")),
        }
    }
    let until = start + Duration::from_secs(60 * minutes);
    Ok(Some(Plan { kills: kills as usize, inputs: inputs as usize, seed, until }))
}

fn main() -> ExitCode {
    let plan = match arguments() {
        Ok(Some(plan)) => plan,
        Ok(None) => return ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("torture: {message}");
            return ExitCode::from(2);
        }
    };
    if cfg!(not(unix)) {
        println!("torture: needs signals, which this system has not");
        return ExitCode::SUCCESS;
    }
    let start = Instant::now();
    let mut tally = Tally::default();
    let study = folder::Prepared::new();
    names::run(&study, &mut tally);
    faults::run(&study, &mut tally);
    readers::run(&plan, &study, &mut tally);
    kills::run(&plan, &study, &mut tally);
    println!(
        "seed {}: {} kills, {} mutated inputs, {} other runs in {:.0} s",
        plan.seed,
        tally.kills,
        tally.inputs,
        tally.runs,
        start.elapsed().as_secs_f64()
    );
    for (what, found) in tally.faults() {
        println!("{:6} {what}", found.len());
        found.iter().take(10).for_each(|each| println!("         {each}"));
    }
    let is_cut = tally.kills < plan.kills || tally.inputs < plan.inputs;
    if is_cut {
        println!("the time was over before all was done");
    }
    ExitCode::from(u8::from(tally.faults().iter().any(|(_, found)| !found.is_empty())))
}
