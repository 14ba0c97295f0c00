//! A week as one file: what was decided, by what, what was changed by hand, what came of it, and how to prove it later.
//!
//! | in it | what it is |
//! |---|---|
//! | `README.txt` | what this is, and how to verify it |
//! | `list.xlsx`, `list.html`, `list.json` | the list as it stands, changes by hand applied |
//! | `rules.toml`, `certificate.json`, `plan.json` | the rules and what they promised; how the plan was made, and of what |
//! | `changes.csv`, `outcomes.csv` | who changed what by hand and why; what came of every call, and what was said before it was amended or withdrawn |
//! | `record.json` | the links of the chain that seal all this |
//! | `SHA256SUMS` | a digest of every other file, for `sha256sum -c` |
//!
//! The bytes are those of the week alone: no clock and nothing of other weeks goes in, so that an archive that is made again is the same file
//! as long as nothing more was said of the week. The head in it is the last link about this week, and `restive audit verify --head`
//! says at any later time whether the record still leads through it. It has names and numbers in it: nobody but its owner may read it.

use crate::effects::record_json;
use crate::error::{Error, Result};
use crate::folder::Programme;
use crate::store::digest;
use restive_ledger::{Link, Outcome, Plan, Reader};
use restive_report::list;
use restive_tables::Contacts;
use serde_json::json;
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// A week as one file.
#[derive(Debug, Clone)]
pub struct Archive {
    /// the plan
    pub plan: String,
    /// the last link of the chain about this week
    pub head: String,
    /// what is in it, in order
    pub names: Vec<String>,
    /// a zip
    pub bytes: Vec<u8>,
}

impl Programme {
    /// The week of a plan as one file.
    pub fn archive(&self, plan: &str) -> Result<Archive> {
        let reader = self.record()?;
        let record = reader.plan(plan)?;
        let contacts = Contacts::read(&self.people())?;
        let id =
            |arm: &str| contacts.person(arm).map_or_else(|_| arm.to_string(), |person| person.id.clone());
        let list = self.list(Some(plan))?;
        let links: Vec<Link> = reader.chain()?.into_iter().filter(|link| is_about(link, plan)).collect();
        let head = links.last().map_or(String::new(), |link| link.link.clone());
        let pretty = |value: &serde_json::Value| serde_json::to_vec_pretty(value).expect("plain values");
        let effects = self.effects(&record)?;
        let facts = record_json(&record, &effects);
        let mut files: Vec<(&str, Vec<u8>)> = vec![
            ("list.xlsx", list::xlsx(&list)?),
            ("list.html", list::html(&list).into_bytes()),
            ("list.json", list::json(&list).into_bytes()),
            ("rules.toml", record.facts.rules.clone().into_bytes()),
            ("certificate.json", pretty(&serde_json::to_value(&effects).expect("plain values"))),
            ("plan.json", pretty(&facts)),
            ("changes.csv", changes(&reader, plan, &id)?),
            ("outcomes.csv", outcomes(&reader, plan, &id)?),
            ("record.json", pretty(&json!({ "plan": plan, "head": head, "links": links }))),
        ];
        files.insert(0, ("README.txt", readme(&record, &head).into_bytes()));
        let sums: String = files.iter().map(|(name, bytes)| format!("{}  {name}\n", digest(bytes))).collect();
        files.push(("SHA256SUMS", sums.into_bytes()));
        let bytes = packed(plan, &files)?;
        let names = files.into_iter().map(|(name, _)| name.into()).collect();
        Ok(Archive { plan: plan.into(), head, names, bytes })
    }
}

/// Whether a link is about a plan.
fn is_about(link: &Link, plan: &str) -> bool {
    link.subject.strip_prefix(plan).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

fn changes(reader: &Reader, plan: &str, id: &dyn Fn(&str) -> String) -> Result<Vec<u8>> {
    let mut out = String::from("at,done,id,who,why\r\n");
    for change in reader.list_changes(plan)? {
        let done = match change.done {
            restive_ledger::Done::Added => "added",
            restive_ledger::Done::Removed => "left out",
            restive_ledger::Done::MovedUp => "moved up",
            restive_ledger::Done::Final => "final",
        };
        let of = change.arm.as_deref().map_or(String::new(), id);
        line(&mut out, &[&change.at, done, &of, &change.who, &change.why]);
    }
    Ok(out.into_bytes())
}

fn outcomes(reader: &Reader, plan: &str, id: &dyn Fn(&str) -> String) -> Result<Vec<u8>> {
    let mut out = String::from("id,outcome,day,note,told_by,at,holds\r\n");
    let mut told = |outcome: Outcome, holds: &str| {
        let text = |text: Option<String>| text.unwrap_or_default();
        let (day, note) = (text(outcome.day), text(outcome.note));
        let code = outcome.code.word();
        line(&mut out, &[&id(&outcome.arm), code, &day, &note, &outcome.source, &outcome.received_at, holds]);
    };
    reader.outcomes(plan)?.into_iter().for_each(|outcome| told(outcome, "now"));
    let (mut before, withdrawn) = (reader.amended(plan)?, reader.withdrawn(plan)?);
    for one in &withdrawn {
        if let Some(at) = before.iter().rposition(|outcome| *outcome == one.outcome) {
            before.remove(at);
        }
    }
    before.into_iter().for_each(|outcome| told(outcome, "before"));
    withdrawn
        .into_iter()
        .for_each(|one| told(one.outcome, &format!("withdrawn by {} at {}", one.who, one.at)));
    Ok(out.into_bytes())
}

/// A line of a table: no cell starts a formula.
fn line(out: &mut String, cells: &[&str]) {
    for (k, cell) in cells.iter().enumerate() {
        if k > 0 {
            out.push(',');
        }
        let rest = cell.trim_start_matches('\'');
        let guard = if rest.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) { "'" } else { "" };
        match cell.contains([',', '"', '\r', '\n']) {
            true => out.extend(["\"", guard, &cell.replace('"', "\"\""), "\""]),
            false => out.extend([guard, cell]),
        }
    }
    out.push_str("\r\n");
}

fn readme(record: &Plan, head: &str) -> String {
    let facts = &record.facts;
    format!(
        "The week of plan {plan}: calls from {start} to {end}.\n\n\
         list.xlsx, list.html, list.json  whom to call, changes by hand applied\n\
         rules.toml                       the rules as they were then\n\
         certificate.json                 what the plan promised, by its model\n\
         plan.json                        how the plan was made ({made}, by model {model}), and of what\n\
         changes.csv                      what was changed by hand, by whom and why\n\
         outcomes.csv                     what came of the calls; \"before\" is what was said first and amended later, \"withdrawn\" what was taken back\n\
         record.json                      the links of the record's chain about this week\n\
         SHA256SUMS                       a digest of every file\n\n\
         To verify the files:    sha256sum -c SHA256SUMS\n\
         To verify the record:   restive audit verify PROGRAMME --head {head}\n\
         The head, to be noted where nobody who keeps the programme has a hand:\n{head}\n\n\
         There are names and numbers of people in here. Keep it as you keep the registry.\n",
        plan = record.id,
        start = facts.period_start,
        end = facts.period_end,
        made = facts.made_at,
        model = facts.model,
    )
}

/// The files in one, always with the same bytes.
fn packed(plan: &str, files: &[(&str, Vec<u8>)]) -> Result<Vec<u8>> {
    let refused = |what: String| Error::Refused(format!("plan {plan}: cannot make its archive: {what}"));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o600);
    let mut out = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        out.start_file(format!("week-{plan}/{name}"), options).map_err(|error| refused(error.to_string()))?;
        out.write_all(bytes).map_err(|error| refused(error.to_string()))?;
    }
    Ok(out.finish().map_err(|error| refused(error.to_string()))?.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_starts_a_formula() {
        let mut out = String::new();
        line(&mut out, &["=1+1", "'=1", "a,\"b\"", "2026-03-16", "\tx"]);
        assert_eq!(out, "'=1+1,''=1,\"a,\"\"b\"\"\",2026-03-16,'\tx\r\n");
    }

    #[test]
    fn links_are_those_of_the_plan_and_of_no_other() {
        let link = |subject: &str| Link {
            number: 1,
            at: String::new(),
            event: "outcome".into(),
            subject: subject.into(),
            digest: String::new(),
            link: String::new(),
        };
        assert!(
            is_about(&link("2026-03-16"), "2026-03-16") && is_about(&link("2026-03-16 B1"), "2026-03-16")
        );
        assert!(
            !is_about(&link("2026-03-16-2 B1"), "2026-03-16") && !is_about(&link("2026-03-1"), "2026-03-16")
        );
    }
}
