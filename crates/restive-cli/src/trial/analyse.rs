//! `restive trial analyse`: what the calls brought, as it was agreed to be judged.

use super::page;
use crate::shared::display::{counted, grouped, write_aligned};
use crate::shared::failure::Usage;
use crate::shared::page::recognise;
use crate::shared::say;
use clap::Args;
use restive_programme::{AnalyseAsked, Analysed, EffectLine, Programme};
use restive_tables::{Own, check_file, show, write_files};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const ABOUT: &str = "\
Say what the calls of a trial brought, by the estimator that was agreed on, and beside it what all others say.

What is counted is the reward of the study in the weeks after each list, of everybody in the group to which the lot assigned her: those of the \
list group less what they would have had without calls. The interval is one of 95 %. An estimator that rests on something that the record \
does not have is refused, in words.

Refused altogether: a plan that was changed after it was registered, a record that was changed after it was written, and an analysis before the \
last week has an outcome, unless --interim asks for a look, which is marked as one.";

/// Say what the calls of a trial brought, by the estimator that was agreed on
#[derive(Debug, Args)]
#[command(
    long_about = ABOUT,
    after_help = "Examples:\n  restive trial analyse calls --protocol protocol.toml\n  restive trial analyse calls --out trial.html\n  restive trial analyse calls --interim --json"
)]
pub(crate) struct AnalyseArguments {
    /// The folder that restive import filled
    #[arg(value_name = "PROGRAMME")]
    programme: PathBuf,

    /// The trial, by its name [default: the one that runs, else the last one]
    #[arg(long, value_name = "ID")]
    trial: Option<String>,

    /// The plan that was agreed on: refused where it is not the one that was registered
    #[arg(long, value_name = "FILE")]
    protocol: Option<PathBuf>,

    /// Look at the weeks so far, before the last one has an outcome
    #[arg(long)]
    interim: bool,

    /// Write the result as a page: .html
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Replace a page that is in the file
    #[arg(long, requires = "out")]
    force: bool,

    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &AnalyseArguments) -> anyhow::Result<()> {
    let recognise = arguments.force.then_some(recognise as Own);
    if let Some(out) = &arguments.out {
        if out.extension().is_none_or(|ending| ending != "html") {
            let found = format!("--out: found {}, expected a name that ends in .html", show::path(out));
            return Err(Usage(found).into());
        }
        check_file(out, recognise)?;
    }
    let asked = AnalyseAsked {
        trial: arguments.trial.clone(),
        protocol: arguments.protocol.clone(),
        interim: arguments.interim,
    };
    let analysed = Programme::open(&arguments.programme)?.analyse_trial(&asked)?;
    if let Some(out) = &arguments.out {
        let html = page::page(&analysed).html();
        write_files(&[(out.clone(), html.as_bytes())], recognise)?;
    }
    match arguments.json {
        true => say::print_json(&analysed),
        false => say::print(|text| write_text(&analysed, arguments.out.as_deref(), text)),
    }
}

/// What stands above a look before the end.
pub(super) const INTERIM: &str = "AN INTERIM LOOK: NOT THE REGISTERED ANALYSIS";

fn write_text(analysed: &Analysed, out: Option<&Path>, text: &mut Vec<u8>) -> io::Result<()> {
    if analysed.interim {
        writeln!(text, "{INTERIM}\n")?;
    }
    writeln!(text, "{}\n", analysed.sentence)?;
    for line in about(analysed) {
        writeln!(text, "{line}")?;
    }
    let unit = show::plain(&analysed.protocol.counts);
    writeln!(text)?;
    let heading = ["estimator", &unit, "95 % interval", "per called", "per call", "finds"];
    let mut table = vec![heading.map(String::from).to_vec()];
    table.extend(analysed.effects.iter().map(row));
    write_aligned(text, &table)?;
    writeln!(text, "* counts; \"finds\": the effect that this trial would have found in four of five cases")?;
    for line in analysed.effects.iter() {
        if let Some(why) = &line.refused {
            writeln!(text, "{} is refused: {}", line.estimator, show::plain(why))?;
        }
    }
    for (name, lines) in [("CAUTION", &analysed.flags), ("not as planned", &analysed.deviations)] {
        for line in lines {
            writeln!(text, "{name}: {line}")?;
        }
    }
    writeln!(text, "\n{}", analysed.withheld)?;
    if let Some(out) = out {
        writeln!(text, "wrote {}", show::path(out))?;
    }
    Ok(())
}

/// What the result rests on.
pub(super) fn about(analysed: &Analysed) -> Vec<String> {
    let [list, control] = analysed.groups.map(|people| grouped(people as u64));
    let mut all = vec![
        format!(
            "trial {}: {list} people from whom lists were made ({} of them called, {} in all), {control} left alone, {}",
            show::name(&analysed.protocol.id),
            grouped(analysed.called as u64),
            counted(analysed.calls as u64, "call"),
            counted(analysed.weeks as u64, &analysed.noun)
        ),
        format!(
            "registered: {} counts; SHA-256 of the plan {}",
            analysed.protocol.primary.name(),
            analysed.digest
        ),
    ];
    if let Some(detectable) = analysed.protocol.detectable {
        all.push(format!(
            "planned to find {detectable:.1} {} or more",
            show::plain(&analysed.protocol.counts)
        ));
    }
    all
}

fn row(line: &EffectLine) -> Vec<String> {
    let name = format!("{}{}", line.estimator, if line.is_primary { " *" } else { "" });
    let Some(found) = &line.found else {
        return [name, "refused".into()].into_iter().chain((0..4).map(|_| "–".into())).collect();
    };
    let each = |x: Option<[f64; 3]>| x.map_or("–".into(), |[x, ..]| format!("{:.2}", x + 0.0));
    vec![
        name,
        format!("{:.1}", found.estimate + 0.0),
        format!("[{:.1}, {:.1}]", found.interval[0] + 0.0, found.interval[1] + 0.0),
        each(found.per_person_called),
        each(found.per_call),
        format!("{:.1}", found.detectable),
    ]
}
