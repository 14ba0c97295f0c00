//! `restive evaluate`: does the ranking find the right people, and what would the plan bring beside others?

mod arguments;
mod evidence;
mod page;
mod report;

use crate::shared::begin::{ModelAndStudy, check_table, model_and_study, use_threads};
use crate::shared::progress::Progress;
use crate::shared::say;
pub(crate) use arguments::EvaluateArguments;
use report::{recognise, write_table, write_text};
use restive_pipeline::{EstimatorsName, Outcome};
use restive_tables::{Looks, Model, Study, check_file, refuse_input, write_files};
use std::path::Path;

pub(crate) fn run(arguments: &EvaluateArguments) -> anyhow::Result<()> {
    let asked = arguments.asked();
    asked.check()?;
    let (model, study) = &model_and_study(&arguments.model, arguments.study.as_deref())?;
    if let Some(out) = &arguments.out {
        check_table(out, arguments.force.then_some(recognise), model, study)?;
    }
    if let Some(page) = &arguments.page {
        refuse_input(page, model, &Model::FILES)?;
        refuse_input(page, study, &Study::FILES)?;
        check_file(page, arguments.force.then_some(crate::shared::page::recognise))?;
    }
    use_threads(arguments.threads)?;
    let read = ModelAndStudy::read(model, study)?;
    let is_judged = asked.estimators == EstimatorsName::Judged;
    let mut looks = is_judged.then(|| Looks::read(study)).transpose()?;
    let progress = Progress::new("folds");
    let evaluated = read.applied()?.evaluate(&asked, looks.as_mut(), |heard| {
        let (fold, folds) = (heard.fold + 1, heard.folds);
        progress.say(heard.share, format!("fold {fold} of {folds}: {}", heard.message));
        Ok::<_, restive_pipeline::Error>(())
    })?;
    drop(progress);
    let counted = match (&looks, &evaluated.evidence) {
        (Some(looks), Some(Outcome::Answer(_))) => written_down(looks, study),
        _ => None,
    };
    if let Some(out) = &arguments.out {
        write_table(&evaluated, out, arguments.force)?;
    }
    if let Some(page) = &arguments.page {
        let html = page::page(&evaluated, &read.name()).html();
        write_files(
            &[(page.clone(), html.as_bytes())],
            arguments.force.then_some(crate::shared::page::recognise),
        )?;
    }
    match arguments.json {
        true => say::print_json(&evaluated)?,
        false => say::print(|text| {
            let wrote = [arguments.out.as_deref(), arguments.page.as_deref()];
            write_text(&evaluated, text, &wrote)
        })?,
    }
    evaluated.about.notes.iter().for_each(say::note);
    evaluated.about.warnings.iter().for_each(say::warning);
    counted.iter().for_each(say::warning);
    Ok(())
}

/// Writes looks down; where that cannot be, says so: the answer is there all the same.
pub(crate) fn written_down(looks: &Looks, study: &Path) -> Option<String> {
    let refused = looks.write(study).err()?;
    Some(format!("this look at the study is not counted, later ones will know nothing of it: {refused}"))
}
