//! `restive outcomes`: filled-in lists, read back.

use crate::shared::display::{counted, grouped};
use crate::shared::say;
use clap::Args;
use jiff::Timestamp;
use restive_programme::{OutcomesAsked, Programme, Told};
use restive_tables::show;
use std::io::Write;
use std::path::PathBuf;

const ABOUT: &str = "\
Read filled-in lists back: what came of every call.

FILES are lists that restive plan wrote and callers filled in (.xlsx, .csv, .parquet, .json; sheets may be renamed, sorted, cut apart), or any table \
with the columns id and outcome, and perhaps plan, day and note. Rows without an outcome are not filled in yet, and no problem: files may \
come late, in parts and twice. The same again changes nothing; another outcome for the same person amends the first, which stays on \
record.

Outcomes: reached, no answer, not found, wrong number, refused, moved, later, not called; in the words of words.toml too. A call was made \
in all cases but not called. \"Reached\", \"refused\" and \"later\" are contacts: the person answered.

What cannot be used is listed with file, sheet and line, and the rest is recorded; the exit code is 1 then. The next restive import turns outcomes \
into the calls of the study, with the probabilities that the plan wrote down.";

const EXAMPLES: &str = "\
Examples:
  restive outcomes calls list.xlsx
  restive outcomes calls list.csv --plan 2026-03-30
  restive outcomes calls list.xlsx --day-format %d/%m/%Y --json";

/// Read filled-in lists back: what came of every call
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct OutcomesArguments {
    /// The folder that restive import filled
    #[arg(value_name = "PROGRAMME")]
    programme: PathBuf,

    /// Filled-in lists
    #[arg(value_name = "FILES", required = true)]
    files: Vec<PathBuf>,

    /// The plan of rows that do not name one [default: the latest]
    #[arg(long, value_name = "ID")]
    plan: Option<String>,

    /// How days are written that are text, such as %d/%m/%Y [default: 2026-03-17]
    #[arg(long, value_name = "FORMAT")]
    day_format: Option<String>,

    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &OutcomesArguments) -> anyhow::Result<std::process::ExitCode> {
    let programme = Programme::open(&arguments.programme)?;
    let asked = OutcomesAsked { plan: arguments.plan.clone(), day_format: arguments.day_format.clone() };
    let told = programme.outcomes(&arguments.files, &asked, Timestamp::now())?;
    match arguments.json {
        true => say::print_json(&told)?,
        false => say::print(|text| write_text(&told, text))?,
    }
    Ok(std::process::ExitCode::from(u8::from(!told.problems.is_empty())))
}

fn write_text(told: &Told, text: &mut Vec<u8>) -> std::io::Result<()> {
    let Told { rows, new, same, amended, not_filled_in, outside_list, problems, .. } = told;
    writeln!(
        text,
        "{}: {} new, {} as known, {} amended, {} not filled in, {} not used",
        counted(*rows as u64, "row"),
        grouped(*new as u64),
        grouped(*same as u64),
        grouped(*amended as u64),
        grouped(*not_filled_in as u64),
        grouped(problems.len() as u64)
    )?;
    if *outside_list > 0 {
        let calls = counted(*outside_list as u64, "call");
        writeln!(text, "{calls} to people who were not on the list: recorded, and no evidence")?;
    }
    if !problems.is_empty() {
        writeln!(text, "\nNot used:")?;
        for problem in problems {
            writeln!(text, "  {}", show::plain(problem))?;
        }
    }
    for (plan, missing, listed) in &told.missing {
        writeln!(
            text,
            "plan {plan}: {} of {} without an outcome yet",
            grouped(*missing as u64),
            grouped(*listed as u64)
        )?;
    }
    Ok(())
}
