//! `restive evaluate`: what the model's policy is worth beside others, by every estimator that applies.

mod arguments;
mod report;

use crate::shared::begin::{ModelAndStudy, refuse_other_than_tables, use_threads};
use crate::shared::say;
pub(crate) use arguments::EvaluateArguments;
use report::{write_table, write_text};

pub(crate) fn run(arguments: &EvaluateArguments) -> anyhow::Result<()> {
    let asked = arguments.asked();
    asked.check()?;
    refuse_other_than_tables(arguments.out.as_deref())?;
    use_threads(arguments.threads)?;
    let read = ModelAndStudy::read(&arguments.model, &arguments.study)?;
    let evaluated = read.applied()?.evaluate(&asked)?;
    if let Some(out) = &arguments.out {
        write_table(&evaluated, out)?;
    }
    match arguments.json {
        true => say::print_json(&evaluated)?,
        false => say::print(|text| write_text(&evaluated, text, arguments.out.as_deref()))?,
    }
    evaluated.about.notes.iter().for_each(say::note);
    evaluated.about.warnings.iter().for_each(say::warning);
    Ok(())
}
