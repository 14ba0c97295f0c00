//! `restive fairness`: whom the lists served.

mod text;

use crate::shared::begin::{ModelAndStudy, use_threads};
use crate::shared::failure::Usage;
use crate::shared::page::recognise;
use crate::shared::say;
use crate::shared::values::threads;
use clap::Args;
use restive_pipeline::PlanAsked;
use restive_programme::Programme;
use restive_programme::fairness::{FairnessAsked, WhichLists, of_model, page};
use restive_tables::{Model, Study, check_file, refuse_input, write_files};
use std::path::PathBuf;

const ABOUT: &str = "\
Whom the lists served: the people, the places, the reached and the worth of every group, against chance.

Lists are those on record, with changes by hand; of a MODEL and a STUDY it is the list of now. Groups are the values of a column: \
features of the study, columns kept of people, and state. Numbers of many values are cut at their quartiles. A group's places are held against a \
lottery among all who could be called: a range that nineteen lotteries of twenty keep, and a verdict that knows how many groups were \
looked at. More or fewer than chance is what a list by worth should have: it is a question, and no accusation, and what people can expect without a call stands \
beside it.

Counts of 1 to 9 people (--least 10) are withheld, with everything in the same answer from which they could be worked out, also in JSON and \
on the page. Answers over different lists or by other cuts can be subtracted from each other: pass on one of them. A floor would give a group more places at the cost of others: --floor COLUMN=VALUE tells what the list would be worth less, place by \
place, and who would pay. Without it the price is told for every group that is passed over beyond chance.";

const EXAMPLES: &str = "\
Examples:
  restive fairness calls
  restive fairness calls --by district --by age --last 8
  restive fairness calls --cross district,state --out fairness.html
  restive fairness calls --floor district=south --json
  restive fairness model examples/study --by district";

/// Tell whom the lists served: every group's places against chance, and what a floor would cost
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct FairnessArguments {
    /// The folder of a programme; or that of a model, before that of a study
    #[arg(value_name = "PROGRAMME|MODEL")]
    model: PathBuf,

    /// The folder of the study
    #[arg(value_name = "STUDY")]
    study: Option<PathBuf>,

    /// A column to group people by [default: features of at most 10 values, and state]
    #[arg(long, value_name = "COLUMN")]
    by: Vec<String>,

    /// Two columns to cross
    #[arg(long, value_name = "A,B", value_parser = pair(','))]
    cross: Vec<[String; 2]>,

    /// The plan, by its id [default: the latest]
    #[arg(long, value_name = "ID", conflicts_with_all = ["study", "last"])]
    plan: Option<String>,

    /// The lists of the last N plans together
    #[arg(long, value_name = "N", conflicts_with = "study", value_parser = clap::value_parser!(u16).range(1..))]
    last: Option<u16>,

    /// People below which a count is withheld
    #[arg(long, value_name = "N", default_value_t = FairnessAsked::default().least)]
    least: u64,

    /// Tell what a floor on the places of a group would cost [default: of those passed over]
    #[arg(long, value_name = "COLUMN=VALUE", value_parser = pair('='))]
    floor: Vec<[String; 2]>,

    /// Seed of tie-breaks, of a MODEL and a STUDY
    #[arg(long, requires = "study")]
    seed: Option<u64>,

    /// Write a page to this file, .html
    #[arg(short, long, value_name = "PAGE")]
    out: Option<PathBuf>,

    /// Replace a page that is in the file
    #[arg(long, requires = "out")]
    force: bool,

    /// Print JSON instead of text
    #[arg(long)]
    json: bool,

    /// Threads to compute with [default: one per core]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = threads())]
    threads: Option<u16>,
}

/// Two texts with a sign between.
fn pair(sign: char) -> impl Fn(&str) -> Result<[String; 2], String> + Clone {
    move |text: &str| match text.split_once(sign) {
        Some((a, b)) if !a.trim().is_empty() && !b.trim().is_empty() => {
            Ok([a, b].map(|part| part.trim().to_string()))
        }
        _ => Err(format!("expected two texts with {sign} between")),
    }
}

impl FairnessArguments {
    fn asked(&self) -> FairnessAsked {
        FairnessAsked {
            by: self.by.clone(),
            cross: self.cross.clone(),
            lists: match (&self.plan, self.last) {
                (Some(id), _) => WhichLists::Plan(id.clone()),
                (None, Some(count)) => WhichLists::Last(count.into()),
                (None, None) => WhichLists::Latest,
            },
            least: self.least,
            floors: self.floor.clone(),
        }
    }

    /// Refuses, before any work is done, a page that cannot be written.
    fn check_out(&self) -> anyhow::Result<()> {
        let Some(out) = &self.out else { return Ok(()) };
        if out.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("html")) {
            let message = format!("--out: found {}, expected a name that ends in .html", out.display());
            return Err(Usage(message).into());
        }
        if let Some(study) = &self.study {
            refuse_input(out, &self.model, &Model::FILES)?;
            refuse_input(out, study, &Study::FILES)?;
        }
        Ok(check_file(out, self.force.then_some(recognise))?)
    }
}

pub(crate) fn run(arguments: &FairnessArguments) -> anyhow::Result<()> {
    arguments.check_out()?;
    use_threads(arguments.threads)?;
    let asked = arguments.asked();
    let answer = match &arguments.study {
        Some(study) => {
            let read = ModelAndStudy::read(&arguments.model, &Programme::study_in(study)?)?;
            let default = PlanAsked::default();
            let plan = PlanAsked { seed: arguments.seed.unwrap_or(default.seed), ..default };
            of_model(&read.applied()?, &plan, &read.name(), &asked)?
        }
        None if !Programme::is_one(&arguments.model) && arguments.model.join("card.json").exists() => {
            let message = format!("{}: found a model and no STUDY, expected both", arguments.model.display());
            return Err(Usage(message).into());
        }
        None => Programme::open(&arguments.model)?.fairness(&asked)?,
    };
    if let Some(out) = &arguments.out {
        let html = page(&answer).html();
        write_files(&[(out.clone(), html.as_bytes())], arguments.force.then_some(recognise))?;
    }
    match arguments.json {
        true => say::print_json(&answer)?,
        false => say::print(|text| text::write(&answer, arguments.out.as_deref(), text))?,
    }
    answer.notes.iter().for_each(say::note);
    Ok(())
}
