//! `restive import`: from a programme's own exports to a study, by a mapping.

mod init;
mod report;

use crate::shared::failure::Usage;
use crate::shared::progress::Progress;
use crate::shared::say;
use clap::{Args, ValueEnum};
use restive_import::{ImportAsked, Input, Mapping};
use restive_programme::grow;
use restive_tables::Format;
use std::path::PathBuf;
use std::time::Instant;

const ABOUT: &str = "\
Make a study of a programme's own exports.

MAPPING is a file that says once what the exports mean: where the people are, where the records of messages or visits, where those of \
calls; how ids are compared and dates written; what a week is; when somebody is engaged; what counts as a call. Files are named \
relative to it. CSV of any delimiter and encoding, Excel, Parquet, gzip and zip are read.

PROGRAMME is a folder, which other commands take as it is. Each import writes a folder of its own in PROGRAMME/imported:
  study/               the study; no name and no number in it
  people.parquet       for the list, readable by you alone: ids, the columns you keep, joined, left, do_not_call
  quarantine.csv       every row that could not be used: file, line, reason
  mapping.toml, records.parquet, summary.json: what the next import grows
PROGRAMME/current names the last of them, and makes it visible in one step. PROGRAMME/exports.toml says where the mapping is, for an import again by restive serve.

The state of a row is what was known when its decision was made: it is computed from time stamps, and one person's weeks are told in a \
sentence. Every row of every file is counted into one place. The same command on fresher exports grows the same study: records are \
known by their keys, late outcomes amend, and what changed in the past is listed in changes.csv. The results of the import before stay \
until the next one. A file of them that was damaged or changed is refused; --afresh writes all of them again.

With --init, FILES are the exports themselves: a mapping is written for them, with what their columns and cells say (exports of Exotel, \
Twilio, CommCare, the Community Health Toolkit, DHIS2, ODK, KoboToolbox, RapidPro and FHIR are recognised) and with what a person must \
decide, marked DECIDE. No name and no number of anybody is written into it.";

const EXAMPLES: &str = "\
Examples:
  restive import --init examples/import/registry.csv examples/import/messages.csv
  restive import examples/import/mapping.toml --out calls
  restive import examples/import/mapping.toml --out secret --pseudonymise secret.key";

/// Make a study of a programme's own exports
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct ImportArguments {
    /// What the exports mean; with --init the exports themselves
    #[arg(value_name = "MAPPING|FILES", required = true)]
    files: Vec<PathBuf>,

    /// Write a mapping for FILES, with what is left to decide
    #[arg(long, conflicts_with_all = ["pseudonymise", "afresh", "format", "json"])]
    init: bool,

    /// The folder of the programme: a new one, or that of earlier imports; with --init the mapping [default: mapping.toml]
    #[arg(long, value_name = "PROGRAMME", required_unless_present = "init")]
    out: Option<PathBuf>,

    /// Let --init replace a mapping
    #[arg(long, requires = "init")]
    force: bool,

    /// Write keyed hashes instead of ids into the study; KEY is a file of its own, made where it is not there
    #[arg(long, value_name = "KEY")]
    pseudonymise: Option<PathBuf>,

    /// Forget the records of earlier imports, also where their files are damaged
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
    if arguments.init {
        let out = arguments.out.clone().unwrap_or_else(|| "mapping.toml".into());
        return init::run(&arguments.files, &out, arguments.force);
    }
    let ([path], Some(out)) = (&arguments.files[..], &arguments.out) else {
        let found = arguments.files.len();
        let message = format!("found {found} files, expected one mapping; --init writes one for exports");
        return Err(Usage(message).into());
    };
    if path.is_dir() {
        let message = format!("{}: found a folder, expected the file of a mapping", path.display());
        return Err(Usage(message).into());
    }
    let mapping = Mapping::read(path)?;
    let asked = ImportAsked {
        planned: Vec::new(),
        out: Some(out.clone()),
        pseudonymise: arguments.pseudonymise.clone(),
        afresh: arguments.afresh,
        format: Some(match arguments.format {
            TableFormat::Csv => Format::Csv,
            TableFormat::Parquet => Format::Parquet,
        }),
    };
    let progress = Progress::new("rows");
    let input = Input::Files { base: mapping.text.base() };
    let imported = grow(&mapping, &input, &asked, |what, share| progress.say(share, what.to_string()))?;
    drop(progress);
    let report = report::Report::new(out, &imported, start.elapsed());
    match arguments.json {
        true => say::print_json(&report)?,
        false => say::print(|text| report.write_text(text))?,
    }
    imported.summary.notes.iter().for_each(say::note);
    Ok(())
}
