//! `restive evaluate`: what the model's policy is worth beside others, by every estimator that applies.

mod arguments;
mod report;

use crate::shared::begin::{ModelAndStudy, check_table, use_threads};
use crate::shared::say;
pub(crate) use arguments::EvaluateArguments;
use report::{recognise, write_table, write_text};

pub(crate) fn run(arguments: &EvaluateArguments) -> anyhow::Result<()> {
    let asked = arguments.asked();
    asked.check()?;
    if let Some(out) = &arguments.out {
        check_table(out, arguments.force.then_some(recognise), &arguments.model, &arguments.study)?;
    }
    use_threads(arguments.threads)?;
    let read = ModelAndStudy::read(&arguments.model, &arguments.study)?;
    let evaluated = read.applied()?.evaluate(&asked)?;
    if let Some(out) = &arguments.out {
        write_table(&evaluated, out, arguments.force)?;
    }
    match arguments.json {
        true => say::print_json(&evaluated)?,
        false => say::print(|text| write_text(&evaluated, text, arguments.out.as_deref()))?,
    }
    evaluated.about.notes.iter().for_each(say::note);
    evaluated.about.warnings.iter().for_each(say::warning);
    Ok(())
}
