//! `restive plan PROGRAMME`: this week's list, recorded.

use super::PlanArguments;
use crate::shared::begin::use_threads;
use crate::shared::display::{counted, grouped};
use crate::shared::failure::Usage;
use crate::shared::say;
use jiff::Timestamp;
use restive_pipeline::Rules;
use restive_programme::{Programme, REHEARSAL, Week, WeekAsked, check_list, recognise_list, write_list};
use restive_tables::{check_file, show};
use std::io::{self, Write};

pub(super) fn run(arguments: &PlanArguments) -> anyhow::Result<()> {
    let folder = &arguments.model;
    if arguments.people.is_some() || arguments.instance.is_some() {
        let message = "--people and --instance are for a MODEL and a STUDY: a programme has its own people";
        return Err(Usage(message.into()).into());
    }
    let asked = WeekAsked {
        plan: arguments.asked(None, Rules::default()),
        rules: arguments.rules.as_deref().map(Rules::read).transpose()?,
        model: arguments.named.clone(),
        again: arguments.again,
        rehearse: arguments.rehearse,
    };
    asked.plan.check()?;
    for out in &arguments.out {
        check_list(out, arguments.system).map_err(|error| Usage(error.to_string()))?;
        check_file(out, arguments.force.then_some(recognise_list))?;
    }
    use_threads(arguments.threads)?;
    let programme = Programme::open(folder)?;
    let week = programme.plan(&asked, Timestamp::now())?;
    for out in &arguments.out {
        write_list(&week.list, out, arguments.system, arguments.force)?;
    }
    match arguments.json {
        true => say::print_json(&week)?,
        false => say::print(|text| write_text(&week, arguments, text))?,
    }
    week.notes.iter().for_each(say::note);
    week.warnings.iter().for_each(say::warning);
    Ok(())
}

fn write_text(week: &Week, arguments: &PlanArguments, text: &mut Vec<u8>) -> io::Result<()> {
    let rows = if arguments.out.is_empty() { arguments.rows } else { 0 };
    let shown = &week.rows[..week.rows.len().min(rows)];
    for (arm, row) in shown {
        let line = format!("{:>4}  {}  {}", row.rank, show::cell(arm), show::plain(&row.reason()));
        writeln!(text, "{}", line.trim_end())?;
    }
    if let more @ 1.. = (week.rows.len() - shown.len()) as u64
        && rows > 0
    {
        writeln!(text, "… {} more; --out list.xlsx writes all, --rows N shows more", grouped(more))?;
    }
    if rows > 0 {
        writeln!(text)?;
    }
    writeln!(text, "{}: {}", week.list.title, week.list.subtitle)?;
    for (name, value) in &week.list.summary {
        writeln!(text, "  {name}: {value}")?;
    }
    match week.record.id.as_str() {
        REHEARSAL => writeln!(text, "a rehearsal: nothing was recorded")?,
        id => writeln!(
            text,
            "recorded as plan {id}, with the probabilities of {} people",
            grouped(week.record.people as u64)
        )?,
    }
    for out in &arguments.out {
        writeln!(text, "wrote {}", show::path(out))?;
    }
    if let Some(age) = week.model_age {
        writeln!(text, "model {}, {} old", week.record.facts.model, counted(age.max(0) as u64, "day"))?;
    }
    Ok(())
}
