//! `restive trial design`: how small an effect would be found, and the plan to agree on.

use crate::shared::begin::use_threads;
use crate::shared::display::{counted, grouped, write_aligned};
use crate::shared::failure::Usage;
use crate::shared::progress::Progress;
use crate::shared::say;
use crate::shared::values::threads;
use clap::Args;
use restive_pipeline::Identification;
use restive_programme::{
    AtEffect, AtSize, DesignAsked, Designed, Programme, design_on_study, recognise_protocol,
};
use restive_tables::{Own, check_file, show, write_files};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const ABOUT: &str = "\
Say how small an effect a trial would find with these people, and write the plan to agree on.

Randomised would be everybody who has a state, is there and may be called. Trials are simulated whole: people move as the model says, with \
their records, each list takes the K highest, and every estimator answers. Printed are, by estimator: the total effect that is found in four of \
five trials, over all weeks and people and per person called; how often an effect is found where there is none (false alarms), where calls do \
half of what the model expects, and all of it. The plan names the first estimator that always answered.

  adjusted subgroup, subgroup   those who are called against those whom the list would have called in the other group
  exchange                      the same, averaged over every way the lot could have fallen without changing a list
  regression                    all people, with what the model expected of each
  difference                    all people, the difference of two means

--out FILE writes the plan as a TOML file with a sentence beside every line. It can be edited until restive trial assign registers it.";

/// Say how small an effect a trial would find with these people, and write the plan to agree on
#[derive(Debug, Args)]
#[command(
    long_about = ABOUT,
    after_help = "Examples:\n  restive trial design calls\n  restive trial design calls --weeks 12 --share 0.67 --strata district --out protocol.toml\n  restive trial design calls --by worker --json"
)]
pub(crate) struct DesignArguments {
    /// The folder that restive import filled, or that of a model before STUDY
    #[arg(value_name = "PROGRAMME|MODEL")]
    first: PathBuf,

    /// The folder of a study
    #[arg(value_name = "STUDY")]
    study: Option<PathBuf>,

    /// The name of the trial [default: the first day of its first week]
    #[arg(long, value_name = "NAME")]
    id: Option<String>,

    /// How many lists the trial has
    #[arg(long, default_value_t = 8, value_name = "N")]
    weeks: usize,

    /// The share of people from whom lists are made; nobody calls the others
    #[arg(long, default_value_t = 0.5, value_name = "SHARE")]
    share: f64,

    /// Draw whole clusters: people with the same value of this column, such as worker or centre [default: the study's clusters]
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,

    /// Draw people one by one, although the study declares clusters
    #[arg(long, conflicts_with = "by")]
    by_person: bool,

    /// Draw within these: columns of people or features
    #[arg(long, value_name = "COLUMN", num_args = 1..)]
    strata: Vec<String>,

    /// How much clusters differ by themselves, in log-odds
    #[arg(long, default_value_t = 0.2, value_name = "SD")]
    cluster_sd: f64,

    /// How many trials to simulate for each number
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = trials)]
    trials: usize,

    /// Of the draw, and of all that is simulated
    #[arg(long, default_value_t = restive_pipeline::SEED, value_name = "SEED", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: u64,

    /// Write the plan to agree on: .toml
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Replace a plan that is in the file
    #[arg(long, requires = "out")]
    force: bool,

    /// Print JSON instead of text
    #[arg(long)]
    json: bool,

    /// Threads to compute with [default: one per core]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = threads())]
    threads: Option<u16>,
}

fn trials(text: &str) -> Result<usize, String> {
    let expected = "expected a whole number from 2 to 100000";
    text.parse().ok().filter(|trials| (2..=100_000).contains(trials)).ok_or_else(|| expected.into())
}

pub(crate) fn run(arguments: &DesignArguments) -> anyhow::Result<()> {
    use_threads(arguments.threads)?;
    let recognise = arguments.force.then_some(recognise_protocol as Own);
    if let Some(out) = &arguments.out {
        if out.extension().is_none_or(|ending| ending != "toml") {
            let found = show::path(out);
            return Err(Usage(format!("--out {found}: found another ending, expected .toml")).into());
        }
        check_file(out, recognise)?;
    }
    let asked = DesignAsked {
        id: arguments.id.clone(),
        weeks: arguments.weeks,
        share: arguments.share,
        by: if arguments.by_person { Some(String::new()) } else { arguments.by.clone() },
        strata: arguments.strata.clone(),
        cluster_sd: arguments.cluster_sd,
        trials: arguments.trials,
        seed: arguments.seed,
    };
    let progress = Progress::new("trials");
    let told = |share: f64| progress.say(share, "simulating trials".into());
    let designed = match &arguments.study {
        Some(study) => design_on_study(&arguments.first, &Programme::study_in(study)?, &asked, told)?,
        None => Programme::open(&arguments.first)?.design_trial(&asked, told)?,
    };
    drop(progress);
    if let Some(out) = &arguments.out {
        let text = designed.protocol.text(designed.people, &designed.noun);
        write_files(&[(out.clone(), text.as_bytes())], recognise)?;
    }
    match arguments.json {
        true => say::print_json(&designed)?,
        false => say::print(|text| write_text(&designed, arguments.out.as_deref(), text))?,
    }
    designed.warnings.iter().for_each(say::warning);
    Ok(())
}

fn write_text(designed: &Designed, out: Option<&Path>, text: &mut Vec<u8>) -> io::Result<()> {
    let Designed { protocol, noun, .. } = designed;
    let [people, list, control] =
        [designed.people, designed.groups[0], designed.groups[1]].map(|count| grouped(count as u64));
    let unit = show::plain(&protocol.counts);
    writeln!(
        text,
        "{people} people may be called: {list} in the group that lists are made of, {control} left alone"
    )?;
    if let Some(clusters) = designed.clusters {
        writeln!(
            text,
            "drawn by {}, {}",
            show::name(protocol.by.as_deref().unwrap_or_default()),
            counted(clusters as u64, "cluster")
        )?;
    }
    if designed.strata > 1 {
        writeln!(
            text,
            "drawn within {}",
            counted(designed.strata as u64, "stratum").replace("stratums", "strata")
        )?;
    }
    writeln!(
        text,
        "{}, one a {noun}, of {} places: about {:.0} people called, and {:.0} of the others would have been",
        counted(protocol.weeks as u64, "list"),
        grouped(designed.budget as u64),
        designed.called,
        designed.would_be_called
    )?;
    match designed.effects {
        Identification::Identified => {
            writeln!(text, "the model expects the calls to bring {:.1} {unit} in all\n", designed.expected)?;
        }
        _ => writeln!(
            text,
            "assumed, as the model has it and the log does not identify it: the calls bring {:.1} {unit} in all\n",
            designed.expected
        )?,
    }
    let heading = ["estimator", "finds in all", "per called", "false alarms", "at half", "as expected"];
    let mut table = vec![heading.map(String::from).to_vec()];
    table.extend(designed.estimators.iter().map(|one| row(one, designed)));
    write_aligned(text, &table)?;
    writeln!(
        text,
        "\"finds\": the effect in {unit} that is found in four of five trials; then how often an effect is found where there is none,\n\
         half of what the model expects, and all of it ({} for each number)\n",
        counted(designed.trials as u64, "simulated trial")
    )?;
    let mut table = vec![["people", "finds in all", "per called", "as expected"].map(String::from).to_vec()];
    table.extend(designed.sizes.iter().map(size));
    write_aligned(text, &table)?;
    writeln!(text, "by {}, which the plan names", protocol.primary.name())?;
    if let Some(out) = out {
        let out = show::path(out);
        writeln!(text, "\nwrote {out}: read it, have it signed, then restive trial assign PROGRAMME {out}")?;
    }
    Ok(())
}

fn row(one: &AtEffect, designed: &Designed) -> Vec<String> {
    let [none, half, whole] = one.power.map(percent);
    let name = match designed.protocol.primary == one.estimator {
        true => format!("{} *", one.estimator.name()),
        false => one.estimator.name().into(),
    };
    vec![name, number(one.detectable, 1), number(one.detectable_per_person_called, 2), none, half, whole]
}

fn size(one: &AtSize) -> Vec<String> {
    vec![
        grouped(one.people as u64),
        number(one.detectable, 1),
        number(one.detectable_per_person_called, 2),
        percent(one.power),
    ]
}

fn number(x: Option<f64>, decimals: usize) -> String {
    x.map_or("refused".into(), |x| format!("{x:.decimals$}"))
}

fn percent(x: Option<f64>) -> String {
    x.map_or("–".into(), |x| format!("{:.0} %", 100.0 * x))
}
