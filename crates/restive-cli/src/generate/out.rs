//! Where a synthetic study goes, and what is said of it: common to all of `restive generate`.

use crate::shared::progress::Progress;
use clap::{Args, ValueEnum};
use restive_tables::{Format, Study};
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct OutArguments {
    /// The folder to write
    #[arg(short, long, value_name = "STUDY")]
    out: PathBuf,

    /// Seed of all random numbers
    #[arg(long, default_value_t = 1)]
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
pub(crate) struct Summary {
    pub(crate) out: String,
    pub(crate) domain: &'static str,
    pub(crate) seed: u64,
    pub(crate) states: usize,
    pub(crate) instances: usize,
    pub(crate) arms: usize,
    pub(crate) budget: usize,
    pub(crate) horizon: usize,
    pub(crate) trajectories: usize,
    pub(crate) features: usize,
    pub(crate) rows: usize,
    pub(crate) seconds: f64,
    pub(crate) fingerprint: String,
    pub(crate) peak_memory_bytes: Option<u64>,
}

impl OutArguments {
    pub(crate) fn path(&self) -> String {
        self.out.display().to_string()
    }

    pub(crate) fn write(&self, study: &Study) -> anyhow::Result<()> {
        let format = match self.format {
            TableFormat::Parquet => Format::Parquet,
            TableFormat::Csv => Format::Csv,
        };
        let progress = Progress::new("trajectories");
        let all: usize = study.instances.iter().map(|instance| instance.trajectory_names.len()).sum();
        study.write(&self.out, format, self.force, |share| {
            progress.update(share, (share * all as f64).round() as u64);
        })?;
        Ok(())
    }

    /// The summary as JSON, or in words.
    pub(crate) fn print(
        &self,
        summary: &Summary,
        words: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> anyhow::Result<()> {
        crate::print(|text| {
            if !self.json {
                return words(text);
            }
            serde_json::to_writer_pretty(&mut *text, summary)?;
            writeln!(text)
        })
    }
}
