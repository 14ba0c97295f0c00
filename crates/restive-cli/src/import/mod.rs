//! `restive import`: from a programme's own exports to a study, by a mapping.

mod report;

use crate::shared::failure::Usage;
use crate::shared::progress::Progress;
use crate::shared::say;
use clap::{Args, ValueEnum};
use restive_import::{ImportAsked, Input, Mapping, import};
use restive_tables::Format;
use std::path::PathBuf;
use std::time::Instant;

const ABOUT: &str = "\
Make a study of a programme's own exports.

MAPPING is a file that says once what the exports mean: where the people are, where the records of messages or visits, where those of \
calls; how ids are compared and dates written; what a week is; when somebody is engaged; what counts as a call. Files are named \
relative to it. CSV of any delimiter and encoding, Excel, Parquet, gzip and zip are read.

PROGRAMME is a folder:
  study/               the study, for restive doctor, train, evaluate, plan; no name and no number in it
  people.parquet       for the list, readable by you alone: ids, the columns you keep, joined, left, do_not_call
  quarantine.csv       every row that could not be used: file, line, reason
  mapping.toml, records.parquet, summary.json: what the next import grows

The state of a row is what was known when its decision was made: it is computed from time stamps, and one person's weeks are told in a \
sentence. Every row of every file is counted into one place. The same command on fresher exports grows the same study: records are \
known by their keys, late outcomes amend, and what changed in the past is listed in changes.csv. The study of before stays until the \
new one is complete.";

const EXAMPLES: &str = "\
Examples:
  restive import examples/programme/mapping.toml --out calls
  restive import examples/programme/mapping.toml --out calls --pseudonymise calls.key";

/// Make a study of a programme's own exports
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct ImportArguments {
    /// What the exports mean
    #[arg(value_name = "MAPPING")]
    mapping: PathBuf,

    /// The folder of the programme: a new one, or that of earlier imports
    #[arg(long, value_name = "PROGRAMME")]
    out: PathBuf,

    /// Write keyed hashes instead of ids into the study; KEY is a file of its own, made where it is not there
    #[arg(long, value_name = "KEY")]
    pseudonymise: Option<PathBuf>,

    /// Forget the records of earlier imports
    #[arg(long)]
    afresh: bool,

    /// Format of the study's tables
    #[arg(long, value_enum, default_value_t = TableFormat::Csv)]
    format: TableFormat,

    /// Print what was done as JSON instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TableFormat {
    Csv,
    Parquet,
}

pub(crate) fn run(arguments: &ImportArguments) -> anyhow::Result<()> {
    let start = Instant::now();
    if arguments.mapping.is_dir() {
        let message =
            format!("{}: found a folder, expected the file of a mapping", arguments.mapping.display());
        return Err(Usage(message).into());
    }
    let mapping = Mapping::read(&arguments.mapping)?;
    let asked = ImportAsked {
        out: Some(arguments.out.clone()),
        pseudonymise: arguments.pseudonymise.clone(),
        afresh: arguments.afresh,
        format: Some(match arguments.format {
            TableFormat::Csv => Format::Csv,
            TableFormat::Parquet => Format::Parquet,
        }),
    };
    let progress = Progress::new("rows");
    let input = Input::Files { base: mapping.text.base() };
    let imported = import(&mapping, &input, &asked, |what, share| progress.say(share, what.to_string()))?;
    drop(progress);
    let report = report::Report::new(&arguments.out, &imported, start.elapsed());
    match arguments.json {
        true => say::print_json(&report)?,
        false => say::print(|text| report.write_text(text))?,
    }
    imported.summary.notes.iter().for_each(say::note);
    Ok(())
}
