//! Imports: from a mapping and files, or a mapping and data frames, to a study and its people.

use crate::columns::{self, Column};
use crate::programme::{cells, refused};
use crate::study::{NativeStudy, table_format};
use crate::threads::run;
use arrow_array::RecordBatch;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyList;
use restive_import::{ImportAsked, ImportedFolder, Input, Mapping, MappingText};
use restive_programme::grow;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A frame: its name, how many rows, and its columns.
type Frame<'py> = (String, usize, Vec<Column<'py>>);

/// (the study, what the import said as JSON, people, quarantine).
#[pyfunction]
fn import_study<'py>(
    py: Python<'py>,
    text: String,
    path: PathBuf,
    frames: Option<Vec<Frame<'py>>>,
    out: Option<PathBuf>,
    pseudonymise: Option<PathBuf>,
    afresh: bool,
    format: &str,
) -> PyResult<(NativeStudy, String, Vec<Column<'py>>, Vec<Column<'py>>)> {
    let format = table_format(format)?;
    let mut tables: Option<BTreeMap<String, Vec<RecordBatch>>> = None;
    if let Some(frames) = frames {
        let table = |(name, rows, columns): &Frame<'_>| {
            Ok((name.clone(), vec![columns::table(name, *rows, columns)?]))
        };
        tables = Some(frames.iter().map(table).collect::<PyResult<_>>()?);
    }
    let asked = ImportAsked { out, pseudonymise, afresh, format: Some(format), planned: Vec::new() };
    let imported = run(py, || {
        let mapping = Mapping::parse(MappingText { path, text })?;
        let input = match &tables {
            Some(tables) => Input::Tables(tables),
            None => Input::Files { base: mapping.text.base() },
        };
        grow(&mapping, &input, &asked, |_, _| {})
    })?
    .map_err(refused)?;
    let summary = serde_json::to_string(&imported.summary).expect("plain values");
    let people: Vec<Column<'py>> = imported
        .people
        .iter()
        .map(|(name, column)| Ok((name.clone(), cells(py, column)?)))
        .collect::<PyResult<_>>()?;
    let rows = &imported.quarantined;
    let text = |texts: Vec<&str>| Ok::<_, PyErr>(PyList::new(py, texts)?.into_any());
    let lines: Vec<i64> = rows.iter().map(|row| i64::from(row.line)).collect();
    let quarantine: Vec<Column<'py>> = vec![
        ("file".into(), text(rows.iter().map(|row| &*row.file).collect())?),
        ("line".into(), PyArray1::from_vec(py, lines).into_any()),
        ("what".into(), text(rows.iter().map(|row| row.what).collect())?),
        ("reason".into(), text(rows.iter().map(|row| &*row.reason).collect())?),
    ];
    let folder = imported.folder.as_ref().map(ImportedFolder::study);
    Ok((NativeStudy { study: imported.study, folder }, summary, people, quarantine))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(import_study, module)?)
}
