//! `restive compare`: which of several recipes, on people that none of their models saw.

use crate::shared::begin::use_threads;
use crate::shared::display::{counted, grouped, write_aligned};
use crate::shared::failure::Usage;
use crate::shared::progress::Progress;
use crate::shared::say;
use crate::shared::values::{choice, threads};
use clap::Args;
use restive_pipeline::identification::store_refusal;
use restive_pipeline::{Applied, BehaviourName, Compared, EvaluateAsked, Outcome, Trained, compare, signed};
use restive_programme::Programme;
use restive_programme::evidence::written_down;
use restive_tables::{Looks, Study, show};
use std::io::{self, Write};
use std::path::PathBuf;

const ABOUT: &str = "\
Compare recipes: which way of training finds those for whom a pull makes a difference?

Each MODEL stands for the recipe it was trained by. All recipes are trained anew in the same folds of the study's training and \
validation people, and everybody is ranked by models that never saw them; test people stay unseen, for a last look with restive \
evaluate --part test. The difference of two recipes is measured on the same pulls, so that most of the noise is shared; p-values \
are corrected for their number (Holm), and recipes that chance alone could have put in this order are said to be so. Every recipe is \
counted as a look at the study (STUDY/looks.csv).

It takes as long as five trainings of each recipe.";

const EXAMPLES: &str = "\
Examples:
  restive compare model other examples/study
  restive compare model other examples/study --folds 3 --json";

/// Compare recipes: which way of training finds the right people?
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES, override_usage = "restive compare [OPTIONS] MODEL MODEL... STUDY")]
pub(crate) struct CompareArguments {
    /// The folders of models, and last that of the study
    #[arg(value_name = "MODEL... STUDY", num_args = 3.., required = true)]
    folders: Vec<PathBuf>,

    /// Folds of people
    #[arg(long, default_value_t = EvaluateAsked::default().folds, value_name = "N")]
    folds: usize,

    /// How those who were pulled were chosen [default: as study.toml says]
    #[arg(long, value_parser = choice::<BehaviourName>(BehaviourName::described()))]
    behaviour: Option<BehaviourName>,

    /// Seed of the folds and, where the study does not say who is held out, of the split
    #[arg(long, default_value_t = EvaluateAsked::default().seed)]
    seed: u64,

    /// Print the comparison as JSON instead of text
    #[arg(long)]
    json: bool,

    /// Threads to compute with [default: one per core]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = threads())]
    threads: Option<u16>,
}

pub(crate) fn run(arguments: &CompareArguments) -> anyhow::Result<()> {
    let CompareArguments { folders, folds, behaviour, seed, .. } = arguments;
    let asked =
        EvaluateAsked { folds: *folds, behaviour: *behaviour, seed: *seed, ..EvaluateAsked::default() };
    asked.check()?;
    let (folder, models) = folders.split_last().expect("at least three folders");
    if !folder.join("study.toml").exists() && folder.join("card.json").exists() {
        let found = show::path(folder);
        return Err(Usage(format!(
            "{found}: found a model, expected the folder of a study: STUDY comes last"
        ))
        .into());
    }
    use_threads(arguments.threads)?;
    let study_folder = &Programme::study_in(folder)?;
    let study = Study::read(study_folder)?;
    let mut looks = Looks::read(study_folder)?;
    let trained: Vec<(String, Trained)> = models
        .iter()
        .map(|model| Ok((model.display().to_string(), Trained::read(model)?)))
        .collect::<restive_pipeline::Result<_>>()?;
    let study_name = folder.display().to_string();
    let applied: Vec<(String, Applied<'_>)> = trained
        .iter()
        .map(|(name, trained)| Ok((name.clone(), Applied::new(trained, &study, name, &study_name)?)))
        .collect::<restive_pipeline::Result<_>>()?;
    let progress = Progress::new("folds");
    let compared = compare(&applied, &asked, Some(&mut looks), |name, heard| {
        let (fold, folds) = (heard.fold + 1, heard.folds);
        progress.say(heard.share, format!("{name}: fold {fold} of {folds}"));
        Ok::<_, restive_pipeline::Error>(())
    })?;
    drop(progress);
    let not_counted = (!compared.recipes.is_empty()).then(|| written_down(&looks, study_folder)).flatten();
    let refusals = compared.refusals.iter();
    let not_stored: Vec<String> =
        refusals.filter_map(|(k, refusal)| store_refusal(&models[*k], refusal)).collect();
    match arguments.json {
        true => say::print_json(&compared)?,
        false => say::print(|text| write_text(&compared, text))?,
    }
    not_counted.iter().chain(&not_stored).for_each(say::warning);
    Ok(())
}

fn write_text(compared: &Compared, text: &mut Vec<u8>) -> io::Result<()> {
    if let Some(Outcome::Refused { reason, what_to_do }) = &compared.refused {
        writeln!(text, "No answer: {reason}.")?;
        return writeln!(text, "What to do: {what_to_do}.");
    }
    let unit = compared.unit.as_deref().unwrap_or("reward");
    let decisions = counted(compared.horizon as u64, "decision");
    writeln!(
        text,
        "counted  {unit} per 100 people over a programme of {decisions}, more than random pulls bring"
    )?;
    let (people, calls) = (grouped(compared.people as u64), counted(compared.calls as u64, "pull"));
    writeln!(
        text,
        "judged   {people} people in {} folds, by models that never saw them; on {calls}\n",
        compared.folds
    )?;
    let mut table = vec![
        ["model", "recipe", "gain", "interval", "p", "behind the first", "interval", "p (Holm)"]
            .map(String::from)
            .to_vec(),
    ];
    for recipe in &compared.recipes {
        let split = |shown: String| {
            let (value, interval) = shown.split_once(' ').expect("a value and an interval");
            [value.to_string(), interval.to_string()]
        };
        let [gain, gain_interval] = split(signed(recipe.gain));
        let [behind, behind_interval] =
            recipe.behind.map_or(["–".into(), "–".into()], |of| split(signed(of)));
        let p = |p: f64| if p < 0.001 { "< 0.001".to_string() } else { format!("{p:.3}") };
        table.push(vec![
            show::cell(&recipe.model),
            recipe.recipe.clone(),
            gain,
            gain_interval,
            p(recipe.p),
            behind,
            behind_interval,
            recipe.p_behind.map_or("–".into(), p),
        ]);
    }
    write_aligned(text, &table)?;
    let first = &compared.recipes[0];
    writeln!(text)?;
    match compared.is_decided() {
        true => writeln!(text, "{} is the best of them.", show::cell(&first.model))?,
        false => {
            let alike: Vec<String> = (compared.recipes.iter())
                .filter(|recipe| recipe.p_behind.is_none_or(|p| p >= 0.05))
                .map(|recipe| show::cell(&recipe.model))
                .collect();
            writeln!(text, "Cannot be told apart: {}.", alike.join(", "))?;
        }
    }
    match compared.looks {
        Some(looks) if looks > compared.recipes.len() => {
            writeln!(text, "{looks} recipes have been judged on these people so far.")
        }
        _ => Ok(()),
    }
}
