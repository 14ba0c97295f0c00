//! What an import did, as text or JSON.

use crate::shared::display::{counted, duration, grouped, peak_memory, write_aligned};
use restive_import::{Account, Imported, Summary};
use restive_tables::show::{cell, path};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

#[derive(Serialize)]
pub(crate) struct Report<'a> {
    programme: String,
    #[serde(flatten)]
    summary: &'a Summary,
    /// Path of the file of rows that could not be used.
    quarantine: Option<String>,
    fingerprint: String,
    seconds: f64,
    peak_memory_bytes: Option<u64>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(out: &Path, imported: &'a Imported, elapsed: Duration) -> Self {
        Self {
            programme: out.display().to_string(),
            summary: &imported.summary,
            quarantine: imported.folder.as_ref().map(|folder| path(&folder.quarantine())),
            fingerprint: imported.study.fingerprint(),
            seconds: elapsed.as_secs_f64(),
            peak_memory_bytes: peak_memory(),
        }
    }

    pub(crate) fn write_text(&self, text: &mut Vec<u8>) -> io::Result<()> {
        let summary = self.summary;
        let people = |count: usize| match count {
            1 => "1 person".to_string(),
            count => format!("{} people", grouped(count as u64)),
        };
        let (first, last) = (summary.periods.first(), summary.periods.last());
        let days = first.zip(last).map_or(String::new(), |(first, last)| {
            let weeks = counted(summary.periods.len() as u64, &summary.period);
            format!(", {weeks} from {} until {}", first.state_from, last.decision)
        });
        writeln!(text, "{:<12} {}{days}", "study", people(summary.people))?;
        let guessed = if summary.is_budget_guessed { ", the median so far" } else { "" };
        writeln!(
            text,
            "{:<12} {} in {}; budget {}{guessed}",
            "calls",
            grouped(summary.calls),
            counted(summary.periods.len().saturating_sub(1) as u64, "decision"),
            grouped(summary.budget as u64)
        )?;
        let gone = [
            (summary.left, "have left"),
            (summary.do_not_call, "are not to be called"),
            (summary.absent, "are in the registry no more"),
        ];
        let gone: Vec<String> = gone
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{} {what}", grouped(*count as u64)))
            .collect();
        if !gone.is_empty() {
            writeln!(text, "{:<12} {}", "of these", gone.join(", "))?;
        }
        if let Some(changes) = &summary.changes {
            let known = summary.earlier.map_or(String::new(), |earlier| {
                format!(
                    "; of {} so far {} amended",
                    counted(earlier.known, "record"),
                    grouped(earlier.amended)
                )
            });
            writeln!(
                text,
                "{:<12} {}, {} new; {} and {} of the past are told otherwise{known}",
                "since before",
                people(changes.new_people),
                counted(changes.new_periods as u64, &summary.period),
                counted(changes.states as u64, "state"),
                counted(changes.actions as u64, "action")
            )?;
        }
        if let Some(planned) = &summary.planned {
            writeln!(text, "{:<12} {planned}", "lists")?;
        }
        writeln!(text, "\nWhere every row went:")?;
        write_aligned(text, &rows(&summary.accounts))?;
        if !summary.reasons.is_empty() {
            writeln!(text, "\nListed in {}:", self.quarantine.as_deref().unwrap_or("quarantine.csv"))?;
            for r in &summary.reasons {
                let what = if r.what == "row" { String::new() } else { format!(" ({})", r.what) };
                writeln!(text, "{:>9}  {}: {}{what}", grouped(r.rows), cell(&r.source), cell(&r.reason))?;
            }
        }
        if let Some(example) = &summary.example {
            writeln!(text, "\nWhat a row means. {example}")?;
        }
        writeln!(text, "\n{} is complete; {}", self.programme, duration(self.seconds))?;
        writeln!(text, "Next: restive doctor {}", self.programme)
    }
}

/// A line for each source, and the places of its rows.
fn rows(accounts: &[Account]) -> Vec<Vec<String>> {
    let header = ["source", "rows", "used", "repeated", "merged", "set aside", "outside", "quarantined"];
    let mut table = vec![header.map(String::from).to_vec()];
    for a in accounts {
        let mut row = vec![cell(&a.source)];
        row.extend([a.rows, a.used, a.repeated, a.merged, a.aside, a.outside, a.quarantined].map(grouped));
        table.push(row);
    }
    table
}
