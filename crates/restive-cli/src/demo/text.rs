//! What `restive demo` prints: whom to call next, what such calls bring, how the trainings compare, and where to look on.

use crate::shared::display::{Decimals, counted, duration, grouped, write_aligned};
use restive_lab::demo::{Brought, Findings};
use restive_pipeline::Plan;
use restive_report::Interval;
use restive_tables::show::{cell, path};
use std::io::{self, Write};
use std::path::Path;

/// Of a line.
const WIDTH: usize = 110;
/// People shown.
const ROWS: usize = 5;

pub(crate) fn write(
    text: &mut Vec<u8>,
    findings: &Findings<'_>,
    plan: &Plan,
    out: &Path,
    seconds: f64,
) -> io::Result<()> {
    let domain = findings.domain;
    let (runs, weeks) = (findings.count() as u64, counted(domain.horizon as u64, "week"));
    let about = format!(
        "A synthetic programme, {}: groups of {} people, {} of whom can be called each week. restive learnt from records of seven \
         groups how people move from state to state, called or not, and plans for people of others.",
        findings.name.name(),
        domain.arms,
        domain.budget
    );
    paragraph(text, &about)?;
    writeln!(text, "\nWhom to call next, the most useful call first:\n")?;
    people(text, plan, out)?;
    let instance = plan.plan.first().map_or(String::new(), |arm| format!(" --instance {}", arm.instance));

    let over = if runs == 1 { "so no intervals" } else { "mean ± 95 % interval" };
    let runs = counted(runs, "run");
    writeln!(text, "\nWhat that brings in {weeks} of calls, in rewards of a group ({runs}, {over}):\n")?;
    let Brought { random, plan, oracle, gain, share } = findings.brought();
    means(
        text,
        [("calls at random", random), ("calls by the plan", plan), ("true probabilities known", oracle)],
    )?;
    writeln!(text)?;
    let brought = format!(
        "The plan brings {:.1} more than calls at random{}: {:.0} % of the way to the plan of someone who knows everyone's true \
         probabilities{}.",
        gain.value + 0.0,
        ends(gain, 1),
        share.value,
        ends(share, 0)
    );
    paragraph(text, &brought)?;

    writeln!(text, "\nHow far other trainings go on that way, in %:\n")?;
    means(text, findings.trainings())?;
    writeln!(text)?;
    let metric = format!("{} report.html shows why.", findings.metric_verdict());
    paragraph(text, &metric)?;

    let file = |name: &str| path(&out.join(name));
    writeln!(
        text,
        "\n{}; wrote {}: report.html to open in a browser, figure.svg, results.csv, plan.csv, a study and two models",
        duration(seconds),
        path(out)
    )?;
    let (model, study) = (file("decision-focused"), file("study"));
    writeln!(text, "next: restive plan {model} {study}{instance}")?;
    writeln!(text, "      restive evaluate {} {}", file("two-stage"), file("study"))
}

/// The first people of the plan; the probability of a call where ties leave it to chance.
fn people(text: &mut Vec<u8>, plan: &Plan, out: &Path) -> io::Result<()> {
    let shown = &plan.plan[..plan.plan.len().min(ROWS)];
    let is_tied = shown.iter().any(|row| row.inclusion < 1.0);
    let decimals = Decimals::suiting(shown.iter().map(|row| row.worth.value()));
    let last = if is_tied { &["worth of a call", "probability"][..] } else { &["worth of a call"] };
    let header = ["person"].iter().chain(plan.columns()).chain(last);
    let mut rows = vec![header.map(|name| name.replace('_', " ")).collect::<Vec<_>>()];
    rows.extend(shown.iter().map(|row| {
        let mut cells = vec![cell(&row.arm)];
        cells.extend(row.place.texts());
        cells.push(decimals.format(row.worth.value()));
        cells.extend(is_tied.then(|| format!("{:.3}", row.inclusion)));
        cells
    }));
    write_aligned(text, &rows)?;
    match plan.plan.len() - shown.len() {
        0 => Ok(()),
        more => writeln!(text, "… {} more in {}", grouped(more as u64), path(&out.join("plan.csv"))),
    }
}

fn means<const N: usize>(text: &mut Vec<u8>, rows: [(&str, Interval); N]) -> io::Result<()> {
    write_aligned(text, &rows.map(|(name, mean)| vec![name.into(), with_reach(mean)]))
}

/// A sentence over as many lines as it needs.
fn paragraph(text: &mut Vec<u8>, sentence: &str) -> io::Result<()> {
    let mut line = String::new();
    for word in sentence.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(text, "{line}")?;
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    writeln!(text, "{line}")
}

/// The ends of an interval in words, where there are any.
fn ends(interval: Interval, decimals: usize) -> String {
    match interval.has_ends() {
        true => format!(" (95 % interval {:.decimals$} to {:.decimals$})", interval.low, interval.high),
        false => String::new(),
    }
}

/// A mean and how far its interval reaches.
fn with_reach(interval: Interval) -> String {
    let value = interval.value + 0.0;
    match interval.has_ends() {
        true => format!("{value:.1} ± {:>4.1}", interval.high - interval.value),
        false => format!("{value:.1}"),
    }
}
