//! What `restive demo` prints: the table, what it shows, whom to pull next, what was written and what to do with it.

use super::findings::Findings;
use crate::lab::compare::Method;
use crate::lab::metrics::Metric;
use crate::shared::display::counted;
use crate::shared::display::{Decimals, duration, grouped, write_aligned};
use restive::report::Interval;
use restive_pipeline::{LastSeen, Plan};
use std::io::{self, Write};
use std::path::Path;

/// Of a line.
const WIDTH: usize = 110;
/// Arms shown.
const ROWS: usize = 5;

pub(crate) fn write(
    text: &mut Vec<u8>,
    findings: &Findings<'_>,
    plan: &Plan,
    out: &Path,
    seconds: f64,
) -> io::Result<()> {
    let (domain, n) = (findings.domain, findings.runs.len());
    let intervals =
        if n == 1 { "no intervals: they need several" } else { "mean ± 95 % interval over runs" };
    writeln!(
        text,
        "{}: {} of {} instances with {} arms, {} pulls at each of {} steps; {intervals}\n",
        findings.name,
        counted(n as u64, "run"),
        domain.instances,
        domain.arms,
        domain.budget,
        domain.horizon
    )?;
    table(text, findings)?;
    writeln!(text)?;
    findings.sentences().iter().try_for_each(|sentence| paragraph(text, sentence))?;
    let matched = findings.matched_oracle();
    if (matched.value - 100.0).abs() >= 1.0 {
        writeln!(
            text,
            "The oracle itself goes {:.1} % of that way at the recommended index discount, {:.4}.",
            matched.value,
            Method::TwoStageRecommended.index_discount(domain.horizon)
        )?;
    }
    let instance = plan.plan.first().map_or("", |row| &row.instance);
    writeln!(text, "\nWhom to pull next in instance {instance} of the first run:")?;
    let shown = &plan.plan[..plan.plan.len().min(ROWS)];
    let decimals = Decimals::suiting(shown.iter().map(|row| row.index));
    let seen = LastSeen::header(plan.is_labelled);
    let header = ["arm"].iter().chain(seen).chain(&["index", "rank", "pull probability"]);
    let mut rows = vec![header.map(|name| name.to_string()).collect::<Vec<_>>()];
    rows.extend(shown.iter().map(|row| {
        let index = decimals.format(row.index);
        let seen = row.place.texts().into_iter();
        let last = [index, row.rank.to_string(), format!("{:.3}", row.inclusion)];
        std::iter::once(row.arm.clone()).chain(seen).chain(last).collect()
    }));
    write_aligned(text, &rows)?;
    if let more @ 1.. = plan.plan.len() - shown.len() {
        writeln!(text, "… {} more in {}", grouped(more as u64), out.join("plan.csv").display())?;
    }
    let file = |name: &str| out.join(name).display().to_string();
    writeln!(
        text,
        "\n{}; wrote {}: report.html to open in a browser, figure.svg, results.csv, plan.csv, a study and two models",
        duration(seconds),
        out.display()
    )?;
    writeln!(text, "next: restive plan {} {}", file("decision-focused"), file("study"))?;
    writeln!(text, "      restive evaluate {} {}", file("two-stage"), file("study"))
}

/// A sentence over as many lines as it needs, the second and those after it set in.
fn paragraph(text: &mut Vec<u8>, sentence: &str) -> io::Result<()> {
    let (mut line, mut lines) = (String::new(), Vec::new());
    for word in sentence.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(std::mem::replace(&mut line, String::from(" ")));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    lines.push(line);
    lines.iter().try_for_each(|line| writeln!(text, "{line}"))
}

fn table(text: &mut Vec<u8>, findings: &Findings<'_>) -> io::Result<()> {
    let header = ["", "loss", "soft: is", "soft: simulated", "strict: true", "% of way to oracle"];
    let mut table = vec![header.map(String::from).to_vec()];
    for method in Method::ALL {
        let mut row = vec![method.words().to_string()];
        let metrics = [Metric::Loss, Metric::Is, Metric::Simulated, Metric::StrictTrue];
        row.extend(metrics.map(|metric| shown(findings.of(method, metric))));
        row.push(shown(findings.share(method)));
        table.push(row);
    }
    write_aligned(text, &table)
}

/// A mean and how far its interval reaches.
fn shown(interval: Interval) -> String {
    if !interval.has_ends() {
        return format!("{:.1}", interval.value);
    }
    format!("{:.1} ± {:>4.1}", interval.value + 0.0, interval.high - interval.value)
}
