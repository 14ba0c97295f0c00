//! A sheet that a program hands over: a list of objects in JSON, alone or as `rows` of an object.

use crate::error::{Error, Result};
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use restive_tables::show;
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::Arc;

/// Whether a file begins as JSON does.
pub(super) fn is_json(path: &Path) -> bool {
    use std::io::Read;
    let mut head = Vec::new();
    let opened = std::fs::File::open(path).and_then(|file| file.take(64).read_to_end(&mut head));
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
    opened.is_ok() && matches!(head.iter().find(|byte| !byte.is_ascii_whitespace()), Some(b'[' | b'{'))
}

/// The objects as a table of text, a column for every key; none where there are no objects.
pub(super) fn table(path: &Path, name: &str) -> Result<Option<RecordBatch>> {
    const EXPECTED: &str = "a list of objects, or an object with such a list in rows";
    let refused =
        |found: &str| Error::Refused(format!("{}: found {found}, expected {EXPECTED}", show::plain(name)));
    let bytes = std::fs::read(path).map_err(|answer| restive_tables::Error::Io {
        path: path.into(),
        doing: "read",
        answer,
    })?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    // what the parser says may quote the file
    let parsed: Value = serde_json::from_slice(bytes)
        .map_err(|error| refused(&format!("no JSON (line {}, column {})", error.line(), error.column())))?;
    let rows = match parsed {
        Value::Array(rows) => rows,
        Value::Object(mut object) => match object.remove("rows") {
            Some(Value::Array(rows)) => rows,
            _ => return Err(refused("an object without rows")),
        },
        _ => return Err(refused("a single value")),
    };
    let objects: Option<Vec<&Map<String, Value>>> = rows.iter().map(Value::as_object).collect();
    let objects = objects.ok_or_else(|| refused("something else than objects in the list"))?;
    let mut names: Vec<&str> = Vec::new();
    for key in objects.iter().flat_map(|object| object.keys()) {
        if !names.contains(&key.as_str()) {
            names.push(key);
        }
    }
    if names.is_empty() {
        return Ok(None);
    }
    let cell = |object: &Map<String, Value>, name: &str| match object.get(name) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => Some(other.to_string()),
    };
    let column = |name: &&str| -> (String, ArrayRef) {
        let cells = StringArray::from_iter(objects.iter().map(|object| cell(object, name)));
        (name.to_string(), Arc::new(cells))
    };
    RecordBatch::try_from_iter(names.iter().map(column)).map(Some).map_err(|_| refused("a table of no shape"))
}
