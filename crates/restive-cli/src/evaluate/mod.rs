//! `restive evaluate`: does the ranking find the right people, and what would the plan bring beside others?

mod arguments;
mod evidence;
mod report;

use crate::shared::begin::{check_table, model_and_study, refuse_study, use_threads};
use crate::shared::progress::Progress;
use crate::shared::say;
pub(crate) use arguments::EvaluateArguments;
use report::{recognise, write_table, write_text};
use restive_programme::evidence::{Terms, judge, page as evidence_page};
use restive_tables::{Model, Study, check_file, refuse_input, write_files};

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
    refuse_study(model)?;
    let progress = Progress::new("folds");
    let judged = judge([model, study], &asked, |heard| {
        let (fold, folds) = (heard.fold + 1, heard.folds);
        progress.say(heard.share, format!("fold {fold} of {folds}: {}", heard.message));
        Ok::<_, restive_programme::Error>(())
    })?;
    drop(progress);
    let evaluated = &judged.evaluated;
    if let Some(out) = &arguments.out {
        write_table(evaluated, out, arguments.force)?;
    }
    if let Some(page) = &arguments.page {
        let html = evidence_page(evaluated, &judged.study, Terms::Library).html();
        write_files(
            &[(page.clone(), html.as_bytes())],
            arguments.force.then_some(crate::shared::page::recognise),
        )?;
    }
    match arguments.json {
        true => say::print_json(evaluated)?,
        false => say::print(|text| {
            let wrote = [arguments.out.as_deref(), arguments.page.as_deref()];
            write_text(evaluated, text, &wrote)
        })?,
    }
    evaluated.about.notes.iter().for_each(say::note);
    evaluated.about.warnings.iter().for_each(say::warning);
    judged.notes.iter().for_each(say::warning);
    Ok(())
}
