//! Whom the lists served, as text.

use crate::shared::display::{grouped, write_aligned};
use restive_programme::fairness::{Estimate, Fairness, Floor, Group, Table, Verdict};
use restive_tables::show;
use std::io::{self, Write};
use std::path::Path;

pub(super) fn write(answer: &Fairness, out: Option<&Path>, text: &mut Vec<u8>) -> io::Result<()> {
    writeln!(text, "{}", answer.verdict())?;
    writeln!(text, "{}", show::plain(&answer.about))?;
    for table in &answer.tables {
        writeln!(text)?;
        write_table(table, text)?;
    }
    writeln!(text)?;
    answer.read_it().iter().try_for_each(|said| writeln!(text, "{said}"))?;
    if answer.is_withheld() {
        writeln!(text, "{}", answer.withheld())?;
    }
    if !answer.floors.is_empty() {
        writeln!(text, "\nwhat a floor would cost")?;
    }
    for floor in &answer.floors {
        match floor.sentence() {
            Some(said) => writeln!(text, "  {said}")?,
            None => writeln!(text, "  {} {}:", show::name(&floor.column), show::name(&floor.group))?,
        }
        if floor.is_asked && !floor.steps.is_empty() {
            write_prices(floor, text)?;
        }
    }
    match out {
        Some(out) => writeln!(text, "wrote {}", show::path(out)),
        None => Ok(()),
    }
}

/// A number of a part: a dash where that is withheld, nothing where there is none.
fn cell<T, X>(part: Option<&T>, of: impl Fn(&T) -> Option<X>, words: impl Fn(X) -> String) -> String {
    match part {
        None => "–".into(),
        Some(part) => of(part).map_or(String::new(), words),
    }
}

fn share(x: f64) -> String {
    format!("{:.0} %", 100.0 * x)
}

fn interval(of: Estimate) -> String {
    format!("{:.0}–{:.0} %", 100.0 * of.low, 100.0 * of.high)
}

fn write_table(table: &Table, text: &mut Vec<u8>) -> io::Result<()> {
    let (has_reach, has_change) = (table.has_reach(), table.has_change());
    let mut heading =
        vec!["people", "of all", "callable", "places", "of all", "listed", "95 %", "by chance", "verdict"];
    heading.extend(has_reach.then_some("reached"));
    let has_effects = table.has_effects();
    heading.extend(has_effects.then_some(["worth each", "left alone"]).into_iter().flatten());
    heading.extend(has_change.then_some("change"));
    let mut rows = vec![vec![show::cell(&table.column)]];
    rows[0].extend(heading.into_iter().map(String::from));
    let count = |x: u64| grouped(x);
    let row = |group: &Group| {
        let (population, lists) = (group.population.as_ref(), group.lists.as_ref());
        let mut cells = vec![
            show::cell(&group.name),
            cell(population, |of| Some(of.people), count),
            cell(population, |of| of.share, share),
            cell(population, |of| Some(of.could), count),
            cell(lists, |of| Some(of.places), count),
            cell(lists, |of| of.share, share),
            cell(lists, |of| of.rate, |rate| share(rate.value)),
            cell(lists, |of| of.rate, interval),
            cell(
                lists,
                |of| of.by_chance,
                |chance| format!("{}–{}", grouped(chance.low), grouped(chance.high)),
            ),
            match group.verdict {
                Some(verdict) => verdict.words().into(),
                None => cell(lists, |_| None::<Verdict>, |verdict| verdict.words().into()),
            },
        ];
        if has_reach {
            cells.push(cell(group.reach.as_ref(), |of| of.rate, |rate| share(rate.value)));
        }
        if has_effects {
            cells.push(cell(lists, |of| of.worth_each, |of| format!("{:.2}", of.value)));
            cells.push(cell(population, |of| of.left_alone, |of| format!("{:.2}", of.value)));
        }
        if has_change {
            let points = |x: f64| format!("{:+.0}", 100.0 * x).replace('-', "−");
            let said =
                |of: Estimate| format!("{} ({} to {})", points(of.value), points(of.low), points(of.high));
            cells.push(cell(lists, |of| of.change, said));
        }
        cells
    };
    rows.extend(table.groups.iter().map(row));
    rows.push(row(&table.all));
    write_aligned(text, &rows)
}

fn write_prices(floor: &Floor, text: &mut Vec<u8>) -> io::Result<()> {
    let mut rows =
        vec![["  places at least", "lost", "%", "who has fewer places"].map(String::from).to_vec()];
    rows.extend(floor.steps.iter().map(|step| {
        let percent = step.percent.map_or(String::new(), |percent| format!("{percent:.2}"));
        vec![format!("    {}", step.floor), format!("{:.3}", step.lost), percent, step.pays()]
    }));
    write_aligned(text, &rows)
}
