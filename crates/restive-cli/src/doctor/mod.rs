//! `restive doctor`: what these data can and cannot answer, by severity, with what to do.

mod report;

use crate::shared::page::recognise;
use crate::shared::say;
use clap::Args;
use restive_pipeline::Doctor;
use restive_programme::{Programme, findings_page};
use restive_tables::{Study, check_file, refuse_input, write_files};
use std::path::PathBuf;
use std::process::ExitCode;

const ABOUT: &str = "\
Say what a study's data can and cannot answer, in plain words, by severity, with what to do.

STUDY is the folder of a study. No model is needed, and nothing is trained: counts, slopes within steps, small tests. Each check has \
a name and one answer:

  alignment            does a call act between its row and the next, or are states one row off?
  ids-shuffled         do rows of one name belong to one person, and features to the same people?
  states-never-change  do states change at all, and do all of them occur?
  revealed-by-calls    are outcomes known of those who were called more often than of others?
  behaviour            does what study.toml says of how people were chosen agree with the log?
  chosen               in turn, by lot, or by something that is seen?
  overlap              could everybody have been called; how many calls of a lot are these worth?
  availability         do calls of a person come in runs, as if some people could not be called at some decisions?
  clusters             are people with the same value of a column, such as a household, called together?
  assignment           do calls start and stop, or do they last once they are assigned?
  few-calls            how small an effect could be noticed, on average and between halves of people?
  memory               does the past beyond the current state foretell the next one?
  drift                do people move as before, at every step?
  coverage             how much of what could have been seen was, by step?
  joining-and-leaving  who came late, who left early, and were they worse off?
  not-seen-for-long    of whom is the last that is known old?
  identifiers, near-duplicates, numbers-as-text, empty-columns, outliers
                       what is wrong with columns of features?

A finding is serious (answers would mislead), a warning (they may), a note, or fine. A check that does not apply or has too few data says \
so in a note. What is known and accepted can be silenced by name, with a reason, in study.toml:

  silenced = { drift = \"the strike in May\" }

It is still listed, last, and does not count. Of a study of more than 100,000 people as many are looked at, and findings say so. Names of arms are never shown, and values of features only where a column has few.

Exit codes, for automation: 0 nothing but notes, 1 a warning, 2 a serious finding. A study that cannot be read is 1 and a wrong command \
line 2, as everywhere; then nothing is printed on standard output.

--json prints {\"study\", \"worst\", \"exit_code\", \"verdict\", \"findings\": [{\"name\", \"severity\", \"found\", \"what_to_do\", \"silenced\"}]}; what does not \
apply is absent.";

const EXAMPLES: &str = "\
Examples:
  restive doctor examples/study
  restive doctor examples/study --out doctor.html --force
  restive doctor examples/study --json";

/// Say what a study's data can and cannot answer
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct DoctorArguments {
    /// The folder of the study, or of a programme
    #[arg(value_name = "STUDY|PROGRAMME")]
    study: PathBuf,

    /// Write the findings as a page: .html
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Replace a page that is in the file
    #[arg(long, requires = "out")]
    force: bool,

    /// Print the findings as JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &DoctorArguments) -> anyhow::Result<ExitCode> {
    let recognise = arguments.force.then_some(recognise as restive_tables::Own);
    if let Some(out) = &arguments.out {
        refuse_input(out, &arguments.study, &Study::FILES)?;
        check_file(out, recognise)?;
    }
    let (doctor, name) = Doctor::of_folder(&Programme::study_in(&arguments.study)?)?;
    let name = name.unwrap_or_else(|| arguments.study.display().to_string());
    if let Some(out) = &arguments.out {
        let html = findings_page(&doctor, &name).html();
        write_files(&[(out.clone(), html.as_bytes())], recognise)?;
    }
    match arguments.json {
        true => say::print_json(&report::Json::new(&arguments.study, &doctor))?,
        false => say::print(|text| report::write_text(&doctor, &name, arguments.out.as_deref(), text))?,
    }
    Ok(ExitCode::from(doctor.exit_code()))
}
