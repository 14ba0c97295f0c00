//! `restive generate programme`: exports of a synthetic health programme, and the truth behind them.

use crate::shared::display::{counted, duration, grouped, peak_memory};
use crate::shared::failure::Usage;
use crate::shared::say;
use clap::{Args, ValueEnum};
use restive_import::demo::{self, PlantedCount, ProgrammeOptions, SyntheticProgramme};
use restive_tables::show::{self, plain};
use restive_tables::{FolderDraft, recognise_bytes, recognise_names};
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

const ABOUT: &str = "\
Generate the exports of a synthetic health programme, and the truth behind them.

All names, people, calls and effects are invented. Never dial the phone numbers. People get messages every week; people who listen are \
engaged. Caseworkers call some of them each week.

Files in FOLDER:
  registry.csv, messages.csv, calls.csv: exports of the systems of the programme
  mapping.toml       mapping of the exports, for restive import
  truth/truth.csv    true probabilities, in the columns of the table truth of a study
  truth/people.csv   people without faults; states and calls by week, effects and the hidden trait
  truth/calls.csv    calls that were made, with the states before, after and without the call
  truth/planted.csv  number of rows, and of faults of each kind, in each export

The truth counts weeks from 0. The same options give the same bytes. People, states and calls do not depend on --no-faults. An option out of range ends with exit code 2.";

const EXAMPLES: &str = "\
Examples:
  restive generate programme --out exports
  restive generate programme --out small --people 200 --weeks 12 --no-faults
  restive generate programme --out confounded --assignment hunch --seed 7";

/// Exports of a synthetic programme, and the truth behind them
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(super) struct ProgrammeArguments {
    /// Folder to write
    #[arg(short, long, value_name = "FOLDER")]
    out: PathBuf,

    /// Number of people, 20 to 100000
    #[arg(long, default_value_t = ProgrammeOptions::default().people, value_name = "N")]
    people: usize,

    /// Number of weeks, 4 to 520
    #[arg(long, default_value_t = ProgrammeOptions::default().weeks, value_name = "N")]
    weeks: usize,

    /// Calls per week, 1 to a third of the people [default: 6 per 100 people]
    #[arg(long, value_name = "N")]
    calls: Option<usize>,

    /// Choice of people for calls
    #[arg(long, value_enum, default_value_t = Assignment::Random)]
    assignment: Assignment,

    /// Write exports without the faults of real ones
    #[arg(long)]
    no_faults: bool,

    /// Seed of all random numbers
    #[arg(long, default_value_t = restive_pipeline::SEED)]
    seed: u64,

    /// Replace the synthetic programme in the folder
    #[arg(long)]
    force: bool,

    /// Print a summary as JSON instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Assignment {
    /// Each person who may be called has the same probability
    Random,
    /// By a trait that no export contains, which confounds the effect of calls
    Hunch,
}

#[derive(Serialize)]
struct ProgrammeSummary {
    out: String,
    seed: u64,
    people: usize,
    weeks: usize,
    /// Calls per week.
    calls: usize,
    assignment: Assignment,
    has_faults: bool,
    /// Rows and faults in each export.
    counts: Vec<Count>,
    seconds: f64,
    peak_memory_bytes: Option<u64>,
}

#[derive(Serialize)]
struct Count {
    file: &'static str,
    what: &'static str,
    count: usize,
}

impl From<PlantedCount> for Count {
    fn from(PlantedCount { file, what, count }: PlantedCount) -> Self {
        Self { file, what, count }
    }
}

pub(super) fn run(arguments: &ProgrammeArguments) -> anyhow::Result<()> {
    let start = Instant::now();
    let options = arguments.options();
    options.check().map_err(|fault| Usage(fault.to_string()))?;
    let draft = FolderDraft::create(&arguments.out, arguments.force.then_some(recognise))?;
    let (files, counts) = SyntheticProgramme::new(&options)?.files();
    std::fs::create_dir(draft.file(TRUTH)).map_err(draft.refused(TRUTH))?;
    for file in files {
        std::fs::write(draft.file(file.name), file.bytes).map_err(draft.refused(file.name))?;
    }
    draft.put_in_place()?;
    let summary = ProgrammeSummary {
        out: arguments.out.display().to_string(),
        seed: options.seed,
        people: options.people,
        weeks: options.weeks,
        calls: options.calls,
        assignment: arguments.assignment,
        has_faults: options.faults,
        counts: counts.into_iter().map(Count::from).collect(),
        seconds: start.elapsed().as_secs_f64(),
        peak_memory_bytes: peak_memory(),
    };
    match arguments.json {
        true => say::print_json(&summary),
        false => say::print(|text| summary.write_text(text)),
    }
}

impl ProgrammeArguments {
    fn options(&self) -> ProgrammeOptions {
        ProgrammeOptions {
            people: self.people,
            weeks: self.weeks,
            calls: self.calls.unwrap_or((self.people * 6 / 100).max(1)),
            assignment: match self.assignment {
                Assignment::Random => demo::Assignment::Random,
                Assignment::Hunch => demo::Assignment::Hunch,
            },
            faults: !self.no_faults,
            seed: self.seed,
            ..ProgrammeOptions::default()
        }
    }
}

impl ProgrammeSummary {
    fn write_text(&self, text: &mut Vec<u8>) -> io::Result<()> {
        let chosen = match self.assignment {
            Assignment::Random => "at random",
            Assignment::Hunch => "by hunch",
        };
        let faults = if self.has_faults { "with faults" } else { "without faults" };
        writeln!(
            text,
            "synthetic, not real data: {} people, {}, {} a week {chosen}, {faults}, seed {}; {}; wrote {}",
            grouped(self.people as u64),
            counted(self.weeks as u64, "week"),
            counted(self.calls as u64, "call"),
            self.seed,
            duration(self.seconds),
            plain(&self.out)
        )?;
        let mut file = "";
        for Count { file: of, what, count } in self.counts.iter().filter(|one| one.count > 0) {
            if *of != file {
                writeln!(text, "{of}")?;
                file = of;
            }
            writeln!(text, "{:>9}  {what}", grouped(*count as u64))?;
        }
        let mapping = Path::new(&self.out).join(MAPPING);
        writeln!(text, "Next: restive import {} --out calls", show::path(&mapping))
    }
}

const TRUTH: &str = "truth";
const MAPPING: &str = "mapping.toml";

/// Refuses a folder that is not a synthetic programme and nothing else.
fn recognise(folder: &Path) -> restive_tables::Result<()> {
    recognise_names(folder, &["registry.csv", "messages.csv", "calls.csv", MAPPING], &[TRUTH])?;
    let truth = folder.join(TRUTH);
    recognise_names(&truth, &["truth.csv", "people.csv", "calls.csv", "planted.csv"], &[])?;
    recognise_bytes(
        &truth.join("planted.csv"),
        "other columns",
        "the counts of a synthetic programme",
        |bytes| bytes.starts_with(b"file,what,count\n"),
    )
}
