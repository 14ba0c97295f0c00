//! `restive report`: one page for a director.

use crate::shared::begin::use_threads;
use crate::shared::failure::Usage;
use crate::shared::page::recognise;
use crate::shared::progress::Progress;
use crate::shared::say;
use crate::shared::values::threads;
use clap::Args;
use jiff::Timestamp;
use restive_pipeline::{Outcome, SEED};
use restive_programme::evidence::written_down;
use restive_programme::{Programme, ReportAsked, ReportSource};
use restive_tables::{Looks, Model, Study, check_file, refuse_input, show, write_files};
use std::io::Write;
use std::path::{Path, PathBuf};

const ABOUT: &str = "\
One page for a director, from the programme's own study: whom to call, why, what it brings, what is unknown.

It prints on two sides of paper and reads on a phone. It opens with a verdict: how much more calls by the list would bring than calls at \
random, by what past calls did (restive evaluate), or that this is not shown, and what to do. Then come what was learnt, whom the list calls and \
why, what more or fewer calls would bring by the model, whom the list serves, group by group, and what nobody knows yet.

Of a PROGRAMME it is about the latest list on record, or, where there is none or --model names another model, about the one that would be made \
now. Of a MODEL and a STUDY it is about the list that they make. Nobody can be found on the page: it has no names and no ids, and groups of fewer than ten \
people are withheld, and as many others as it takes that these cannot be worked out.

The evidence takes as long as restive evaluate does, and is counted as a look in STUDY/looks.csv; --quick leaves it out, and the page says so.";

const EXAMPLES: &str = "\
Examples:
  restive report calls --out report.html
  restive report calls --quick --by district --out quick.html
  restive report model examples/study --out study.html";

/// One page for a director: whom to call, why, what it brings, what is unknown
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct ReportArguments {
    /// The folder of a programme; or that of a model, before that of a study
    #[arg(value_name = "PROGRAMME|MODEL")]
    model: PathBuf,

    /// The folder of the study
    #[arg(value_name = "STUDY")]
    study: Option<PathBuf>,

    /// The page: .html
    #[arg(short, long, value_name = "PAGE")]
    out: PathBuf,

    /// Replace a page that is in the file
    #[arg(long)]
    force: bool,

    /// The model of the programme, by name [default: that of the latest list, else as the rules say, else the newest]
    #[arg(long = "model", value_name = "NAME", conflicts_with = "study")]
    named: Option<String>,

    /// The columns by which to tell whom the list serves, three at most: features, or what the mapping keeps of people [default: the first
    /// of the features]
    #[arg(long, value_name = "COLUMN", num_args = 1..)]
    by: Vec<String>,

    /// Leave out the evidence of past calls
    #[arg(long)]
    quick: bool,

    /// Seed of all random numbers
    #[arg(long, default_value_t = SEED)]
    seed: u64,

    /// Print all facts of the page as JSON
    #[arg(long)]
    json: bool,

    /// Threads to compute with [default: one per core]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = threads())]
    threads: Option<u16>,
}

pub(crate) fn run(arguments: &ReportArguments) -> anyhow::Result<()> {
    let out = &arguments.out;
    if out.extension().is_none_or(|extension| extension != "html") {
        let message = format!("--out {}: found no .html, expected a name that ends in it", show::path(out));
        return Err(Usage(message).into());
    }
    let study = match &arguments.study {
        Some(study) => Programme::study_in(study)?,
        None => Programme::study_in(&arguments.model)?,
    };
    refuse_input(out, &arguments.model, &Model::FILES)?;
    refuse_input(out, &study, &Study::FILES)?;
    check_file(out, arguments.force.then_some(recognise))?;
    use_threads(arguments.threads)?;
    let source = source(arguments, &study)?;
    let asked = ReportAsked { by: arguments.by.clone(), quick: arguments.quick, seed: arguments.seed };
    let mut looks = (!arguments.quick).then(|| Looks::read(&study)).transpose()?;
    let progress = Progress::new("folds");
    let report = source.report(&asked, looks.as_mut(), |heard| {
        let (fold, folds) = (heard.fold + 1, heard.folds);
        progress.say(heard.share, format!("fold {fold} of {folds}: {}", heard.message));
        Ok::<_, restive_programme::Error>(())
    })?;
    drop(progress);
    let counted = match (&looks, &report.evidence) {
        (Some(looks), Some(Outcome::Answer(_))) => written_down(looks, &study),
        _ => None,
    };
    let page = report.page();
    write_files(&[(out.clone(), page.html().as_bytes())], arguments.force.then_some(recognise))?;
    match arguments.json {
        true => say::print_json(&report)?,
        false => say::print(|text| writeln!(text, "{}\nwrote {}", page.verdict, show::path(out)))?,
    }
    counted.iter().chain(&report.warnings).for_each(say::warning);
    Ok(())
}

/// What the page is about.
fn source(arguments: &ReportArguments, study: &Path) -> anyhow::Result<ReportSource> {
    let first = &arguments.model;
    if arguments.study.is_some() {
        if first.join("study.toml").exists() && !first.join("card.json").exists() {
            let message = format!(
                "{}: found a study, expected the folder of a model: MODEL comes before STUDY",
                show::path(first)
            );
            return Err(Usage(message).into());
        }
        return Ok(ReportSource::of_model(first, study, arguments.seed)?);
    }
    if !Programme::is_one(first) && first.join("card.json").exists() {
        let message = format!("{}: found a model and no STUDY, expected both", show::path(first));
        return Err(Usage(message).into());
    }
    let programme = Programme::open(first)?;
    Ok(ReportSource::of_programme(&programme, arguments.named.as_deref(), arguments.seed, Timestamp::now())?)
}
