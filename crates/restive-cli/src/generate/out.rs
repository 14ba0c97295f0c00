//! Where a synthetic study goes, and what is said of it: common to all of `restive generate`.

use crate::shared::display::{counted, duration, grouped, peak_memory};
use crate::shared::progress::Progress;
use crate::shared::say;
use clap::{Args, ValueEnum};
use restive::instance::Chain;
use restive_pipeline::generate::DomainName;
use restive_tables::show::plain;
use restive_tables::{Format, Study};
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct OutArguments {
    /// The folder to write
    #[arg(short, long, value_name = "STUDY")]
    out: PathBuf,

    /// Seed of all random numbers
    #[arg(long, default_value_t = restive_pipeline::SEED)]
    pub(crate) seed: u64,

    /// Format of the tables
    #[arg(long, value_enum, default_value_t = TableFormat::Parquet)]
    format: TableFormat,

    /// Replace the study that is in the folder
    #[arg(long)]
    force: bool,

    /// Print a summary as JSON instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TableFormat {
    Parquet,
    Csv,
}

#[derive(Serialize)]
struct GenerateSummary {
    out: String,
    domain: &'static str,
    seed: u64,
    states: usize,
    instances: usize,
    /// of each instance, as are the next four
    arms: usize,
    budget: usize,
    horizon: usize,
    trajectories: usize,
    features: usize,
    rows: usize,
    seconds: f64,
    fingerprint: String,
    peak_memory_bytes: Option<u64>,
}

impl OutArguments {
    /// Refuses a place where no study can go, before there is one.
    pub(crate) fn check(&self) -> restive_tables::Result<()> {
        Study::check_folder(&self.out, self.force)
    }

    pub(crate) fn write(&self, study: &Study) -> anyhow::Result<()> {
        let format = match self.format {
            TableFormat::Parquet => Format::Parquet,
            TableFormat::Csv => Format::Csv,
        };
        let progress = Progress::new("trajectories");
        let trajectories: usize =
            study.instances.iter().map(|instance| instance.trajectory_names.len()).sum();
        study.write(&self.out, format, self.force, |share| {
            progress.update(share, (share * trajectories as f64).round() as u64);
        })?;
        Ok(())
    }

    /// What was written, as JSON or in words.
    pub(crate) fn print(&self, name: DomainName, study: &Study, elapsed: Duration) -> anyhow::Result<()> {
        let first = &study.instances[0];
        let summary = GenerateSummary {
            out: self.out.display().to_string(),
            domain: name.name(),
            seed: self.seed,
            states: study.settings.reward.states(),
            instances: study.instances.len(),
            arms: first.arms.len(),
            budget: study.settings.budget,
            horizon: study.settings.horizon,
            trajectories: first.trajectory_names.len(),
            features: first.features.names().len(),
            rows: study.instances.iter().map(|instance| instance.trajectories.state().len()).sum(),
            seconds: elapsed.as_secs_f64(),
            fingerprint: study.fingerprint(),
            peak_memory_bytes: peak_memory(),
        };
        if self.json {
            return say::print_json(&summary);
        }
        say::print(|text| match name {
            DomainName::Maternal => summary.write_programme(text),
            _ => summary.write_domain(text, study.settings.observation.chain()),
        })
    }
}

impl GenerateSummary {
    fn write_domain(&self, text: &mut Vec<u8>, chain: Option<Chain>) -> io::Result<()> {
        let count = |count: usize, what| counted(count as u64, what);
        let (instances, arms) = (count(self.instances, "instance"), count(self.arms, "arm"));
        let (states, decisions) = (count(self.states, "state"), count(self.horizon, "decision"));
        let seen = match chain {
            None => String::new(),
            Some(Chain::Finite(labels)) => format!(" seen at pulls only (chain {labels})"),
            Some(Chain::Infinite { .. }) => " seen at pulls only (chain infinite)".into(),
        };
        let &Self { budget, trajectories, seed, .. } = self;
        let runs = if trajectories == 1 { "trajectory" } else { "trajectories" };
        write!(
            text,
            "{instances} of {arms} with {states}{seen}, budget {budget}, {trajectories} {runs} of {decisions}, "
        )?;
        writeln!(text, "seed {seed}; {}; wrote {}", duration(self.seconds), plain(&self.out))
    }

    fn write_programme(&self, text: &mut Vec<u8>) -> io::Result<()> {
        let called = (self.budget * self.horizon).min(self.arms);
        write!(
            text,
            "synthetic, not real data: {} of {} people, {} a week in each, {}, ",
            counted(self.instances as u64, "group"),
            grouped(self.arms as u64),
            counted(self.budget as u64, "call"),
            counted(self.horizon as u64, "week"),
        )?;
        let share = 100.0 * called as f64 / self.arms as f64;
        write!(text, "{share:.0} % called at least once, seed {}; ", self.seed)?;
        writeln!(text, "{}; wrote {}", duration(self.seconds), plain(&self.out))
    }
}
