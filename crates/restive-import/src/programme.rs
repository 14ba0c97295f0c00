//! The folder of an import in that of a programme: what an import writes, and what the next one finds.
//!
//! | file | what it holds |
//! |---|---|
//! | `study/` | the study: no name, no number |
//! | `people.parquet` | for the list, readable by its owner alone: [`Contacts`] |
//! | `mapping.toml` | the mapping as it was |
//! | `quarantine.csv` | rows that could not be used: file, line, what, reason |
//! | `records.parquet` | all records so far: [`earlier`](crate::earlier) |
//! | `summary.json` | what the import said, and digests of the other files |
//! | `changes.csv` | what a later import changed of the past |
//!
//! Every import writes a folder of its own and then [switches](crate::imported) to it. Whatever else is in the folder of the programme (models,
//! rules, lists, the ledger) stays where it is.

use crate::accounts::Quarantined;
use crate::changes::Change;
use crate::dates::{date_of, iso_day};
use crate::earlier::RECORDS;
use crate::error::{Error, Result};
use crate::imported::{self, CHANGES, ImportedFolder, LOOKS, MAPPING, PEOPLE, STUDY, SUMMARY};
use crate::last::LastCall;
use crate::mapping::Mapping;
use crate::registry::{NEVER, Registry};
use crate::source::{Input, Reading, Source};
use crate::summary::Summary;
use restive_tables::{
    Cells, Contacts, FolderDraft, Format, Study, make_folder, recognise_bytes, write_private_table,
    write_table,
};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// What an earlier import left.
pub(crate) struct Previous {
    pub(crate) imported: ImportedFolder,
    pub(crate) summary: Summary,
    pub(crate) study: Study,
    pub(crate) people: PreviousPeople,
    mapping: String,
}

/// The people of an earlier import.
#[derive(Default)]
pub(crate) struct PreviousPeople {
    pub(crate) ids: Vec<String>,
    pub(crate) arms: Vec<String>,
    pub(crate) joined: Vec<i64>,
    pub(crate) left: Vec<i64>,
    pub(crate) never_call: Vec<bool>,
    pub(crate) last_calls: Vec<LastCall>,
    pub(crate) keep: HashMap<String, Vec<String>>,
}

impl Previous {
    /// What is in the folder of a programme; nothing where no import has finished. Every file is checked in full: a new study is made of them.
    pub(crate) fn read(programme: &Path) -> Result<Option<Self>> {
        imported::refuse_other(programme)?;
        if imported::is_new(programme) {
            return Ok(None);
        }
        let (imported, summary) = ImportedFolder::open(programme)?;
        if let Some(damage) = imported.verify(&summary)?.into_iter().next() {
            return Err(damage.into());
        }
        Ok(Some(Self {
            study: Study::read(&imported.study())?,
            people: read_people(imported.folder())?,
            mapping: read_text(&imported.mapping())?,
            imported,
            summary,
        }))
    }

    /// Like [`read`](Self::read), where nothing of what is there is needed: damage of it is only noted.
    pub(crate) fn read_if_whole(programme: &Path, notes: &mut Vec<String>) -> Result<Option<Self>> {
        imported::refuse_other(programme)?;
        Self::read(programme).or_else(|damage| {
            notes.push(format!(
                "changes since the import before are not listed, because it is damaged: {damage}"
            ));
            Ok(None)
        })
    }

    /// Refuses a mapping whose rules are others than those that the records so far were read by.
    pub(crate) fn check_mapping(&self, mapping: &Mapping) -> Result<()> {
        let rules = |text: &str| {
            let mut table: toml::Table = toml::from_str(text).ok()?;
            keep_ends(&mut table);
            forget(&mut table);
            forget_answers(&mut table);
            Some(table)
        };
        let (then, now) = (rules(&self.mapping), rules(&mapping.text.text));
        if then == now {
            return Ok(());
        }
        let empty = toml::Table::new();
        let (then, now) = (then.as_ref().unwrap_or(&empty), now.as_ref().unwrap_or(&empty));
        let mut sections: Vec<&String> =
            then.keys().chain(now.keys()).filter(|key| then.get(*key) != now.get(*key)).collect();
        sections.sort();
        sections.dedup();
        let names: Vec<&str> = sections.iter().map(|name| name.as_str()).collect();
        Err(Error::Refused(format!(
            "{}: found another mapping than that of the earlier imports (it differs in {}), expected the same rules, or an import \
             afresh from all exports",
            self.imported.programme().display(),
            names.join(", ")
        )))
    }
}

/// What may differ from import to import: the files, and where the periods end.
fn forget(table: &mut toml::Table) {
    for key in ["file", "until", "study"] {
        table.remove(key);
    }
    for (_, value) in table.iter_mut() {
        match value {
            toml::Value::Table(inner) => forget(inner),
            toml::Value::Array(list) => {
                list.iter_mut().filter_map(toml::Value::as_table_mut).for_each(forget)
            }
            _ => {}
        }
    }
}

/// Renames the column `until` of `[availability]`, which is a rule, unlike the end of the periods.
fn keep_ends(table: &mut toml::Table) {
    let Some(rule) = table.get_mut("availability").and_then(toml::Value::as_table_mut) else { return };
    if let Some(column) = rule.remove("until") {
        rule.insert("ends".into(), column);
    }
}

/// Words of those who left or must not be called: they decide nothing of the records.
fn forget_answers(table: &mut toml::Table) {
    let Some(people) = table.get_mut("people").and_then(toml::Value::as_table_mut) else { return };
    for key in ["left", "do_not_call"] {
        if let Some(column) = people.get_mut(key).and_then(toml::Value::as_table_mut) {
            column.remove("yes");
            column.remove("no");
        }
    }
}

fn read_text(path: &Path) -> Result<String> {
    Ok(std::fs::read_to_string(path).map_err(|answer| restive_tables::Error::Io {
        path: path.into(),
        doing: "read",
        answer,
    })?)
}

fn read_people(folder: &Path) -> Result<PreviousPeople> {
    let reading = Reading { file: PEOPLE.into(), ..Reading::default() };
    let mut source = Source::open(&reading, &Input::Files { base: folder })?;
    let header = source.header().to_vec();
    let position = |name: &str| {
        header.iter().position(|column| column == name).ok_or_else(|| {
            let found = format!(
                "{}: found no column {name}, expected the people of an import",
                folder.join(PEOPLE).display()
            );
            Error::Refused(found)
        })
    };
    let own = Contacts::COLUMNS.map(position);
    let mut own: Vec<usize> = own.into_iter().collect::<Result<_>>()?;
    // the import of an earlier version wrote none of them
    let last = Contacts::has_last(&header).then_some(Contacts::COLUMNS.len());
    own.extend(last.into_iter().flat_map(|k| [k, k + 1]));
    let all: Vec<usize> = (0..header.len()).collect();
    let mut people = PreviousPeople::default();
    let mut keep: Vec<Vec<String>> = vec![Vec::new(); header.len()];
    let day = |cell: &str, absent: i64| cell.parse().map_or(absent, crate::dates::day_of);
    source.rows(&all, |row| -> Result<()> {
        people.arms.push(row.cell(own[0]).into());
        people.ids.push(row.cell(own[1]).into());
        people.joined.push(day(row.cell(own[2]), i64::MIN));
        people.left.push(day(row.cell(own[3]), NEVER));
        people.never_call.push(row.cell(own[4]) == "true");
        people.last_calls.push(last.map_or_else(LastCall::default, |k| LastCall {
            day: row.cell(k).parse().ok().map(crate::dates::day_of),
            outcome: row.cell(k + 1).into(),
        }));
        keep.iter_mut().enumerate().for_each(|(k, cells)| cells.push(row.cell(k).into()));
        Ok(())
    })?;
    people.keep = header
        .into_iter()
        .zip(keep)
        .enumerate()
        .filter(|(k, _)| !own.contains(k))
        .map(|(_, kept)| kept)
        .collect();
    Ok(people)
}

/// The columns of `people.parquet`, as things stand on the day of the next decision.
pub(crate) fn people_columns(
    registry: &mut Registry,
    decision: i64,
    last_calls: Vec<LastCall>,
) -> Vec<(String, Cells)> {
    let day = |day: &i64| match date_of(*day) {
        Some(_) if *day != i64::MIN && *day != NEVER => iso_day(*day),
        _ => String::new(),
    };
    let stay = registry.joined.iter().zip(&registry.left);
    let is_there = stay.map(|(joined, left)| *joined <= decision && decision < *left);
    let last_days = last_calls.iter().map(|last| last.day.map_or(String::new(), iso_day));
    let mut columns = vec![
        ("arm".to_string(), Cells::Text(registry.arms.clone())),
        ("id".into(), Cells::Text(std::mem::take(&mut registry.ids))),
        ("joined".into(), Cells::Text(registry.joined.iter().map(day).collect())),
        ("left".into(), Cells::Text(registry.left.iter().map(day).collect())),
        ("do_not_call".into(), Cells::Truth(registry.never_call.clone())),
        ("is_there".into(), Cells::Truth(is_there.collect())),
        ("last_call".into(), Cells::Text(last_days.collect())),
        ("last_outcome".into(), Cells::Text(last_calls.iter().map(|last| last.outcome.clone()).collect())),
    ];
    columns.extend(
        std::mem::take(&mut registry.keep).into_iter().map(|(name, cells)| (name, Cells::Text(cells))),
    );
    columns
}

/// Recognises a mapping, also one that is not filled in: TOML that says something of people.
pub fn recognise_mapping(path: &Path) -> restive_tables::Result<()> {
    recognise_bytes(path, "something else", "a mapping", |bytes| {
        let text = std::str::from_utf8(bytes).unwrap_or("").trim_start_matches('\u{feff}');
        text.parse::<toml::Table>().is_ok_and(|table| table.contains_key("people"))
    })
}

/// What is to be written.
pub(crate) struct Pieces<'a> {
    pub(crate) study: &'a Study,
    pub(crate) people: &'a [(String, Cells)],
    pub(crate) mapping: &'a Mapping,
    pub(crate) quarantined: &'a [Quarantined],
    pub(crate) summary: &'a Summary,
    pub(crate) changes: &'a [Change],
    pub(crate) format: Format,
}

/// Whether the results of the last import are as it wrote them.
fn is_whole(programme: &Path) -> bool {
    let opened = ImportedFolder::open(programme);
    opened.is_ok_and(|(imported, summary)| imported.verify(&summary).is_ok_and(|damage| damage.is_empty()))
}

/// Writes the results of an import and switches to them; returns where they are, and the summary as it was written. `records` writes the records to a path.
pub(crate) fn write(
    programme: &Path,
    has_previous: bool,
    pieces: Pieces<'_>,
    records: impl FnOnce(&Path) -> Result<()>,
    progress: impl FnMut(f64),
) -> Result<(ImportedFolder, Summary)> {
    let all = imported::folder(programme);
    make_folder(&all).map_err(|answer| restive_tables::Error::Io {
        path: all.clone(),
        doing: "make",
        answer,
    })?;
    let draft = FolderDraft::create_in(&all)?;
    let people: Vec<(&str, &Cells)> =
        pieces.people.iter().map(|(name, cells)| (name.as_str(), cells)).collect();
    write_private_table(&draft.file(PEOPLE), None, &people)?;
    records(&draft.file(RECORDS))?;
    let write_text = |name: &str, text: &str| {
        fs::write(draft.file(name), text).map_err(|answer| Error::from(draft.refused(name)(answer)))
    };
    write_text(MAPPING, &pieces.mapping.text.text)?;
    let q = pieces.quarantined;
    let text = |cell: fn(&Quarantined) -> String| Cells::Text(q.iter().map(cell).collect());
    let whole = |cells: Vec<u32>| Cells::Whole(cells.into_iter().map(|x| i32::try_from(x).ok()).collect());
    let columns = vec![
        ("file", text(|q| q.file.clone())),
        ("line", whole(q.iter().map(|q| q.line).collect())),
        ("what", text(|q| q.what.into())),
        ("reason", text(|q| q.reason.clone())),
    ];
    write_table(&draft.file(ImportedFolder::QUARANTINE), None, columns)?;
    if has_previous {
        write_table(&draft.file(CHANGES), None, crate::changes::columns(pieces.changes))?;
    }
    pieces.study.write(&draft.file(STUDY), pieces.format, false, progress)?;
    let files = imported::files(&draft.file("")).map_err(draft.refused(""))?;
    let summary = Summary { files, ..pieces.summary.clone() };
    let text = serde_json::to_string_pretty(&summary).expect("plain values") + "\n";
    let name = imported::name_of(text.as_bytes());
    let before = imported::current(programme).ok();
    if before.as_ref() == Some(&name) && is_whole(programme) {
        // the same import once more: its time is new
        return Ok((imported::switch(programme, &name)?, summary));
    }
    write_text(SUMMARY, &text)?;
    // what was judged on the study so far is counted on
    let looks = before.map(|before| all.join(before).join(LOOKS)).filter(|looks| looks.is_file());
    if let Some(looks) = looks {
        fs::copy(&looks, draft.file(LOOKS)).map_err(|answer| restive_tables::Error::Io {
            path: looks,
            doing: "copy",
            answer,
        })?;
    }
    // what an import left that did not finish, or was damaged since, keeps its name
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|name| !all.join(name).exists());
    let name = free.expect("one of all numbers is free");
    draft.put_in_place_as(&name)?;
    Ok((imported::switch(programme, &name)?, summary))
}
