//! The reference arm on a card: column → value, a number or a category; `null` where none of the known categories is meant.
//!
//! It has one entry for every column of the encoding and no other, each of its kind, and categories that the encoding knows: otherwise
//! what is said of people would be said against somebody whom the model cannot read.

use crate::show::quoted_name;
use restive::data::encoding::{ColumnKind, EncodedColumn, Encoding};
use restive::data::reference::{Reference, Typical};
use serde_json::{Number, Value};
use std::collections::BTreeMap;

/// As the card has it.
pub(super) fn written(reference: &Reference, encoding: &Encoding) -> BTreeMap<String, Value> {
    let value = |typical: &Typical| match typical {
        Typical::Number(x) => Number::from_f64(*x).map_or(Value::Null, Value::Number),
        Typical::Category(text) => Value::String(text.clone()),
        Typical::NoneOfTheKnown => Value::Null,
    };
    let columns = encoding.columns.iter().zip(&reference.columns);
    columns.map(|(column, typical)| (column.name.clone(), value(typical))).collect()
}

/// Reads it; says what was found and what was expected where it is wrong.
pub(super) fn read(
    mut columns: BTreeMap<String, Value>,
    encoding: &Encoding,
) -> Result<Reference, (String, String)> {
    let mut typical = |column: &EncodedColumn| {
        let name = quoted_name(&column.name);
        let wrong = |found: String, expected: &str| {
            Err((format!("reference: {found}"), format!("{expected} of feature {name}")))
        };
        let Some(value) = columns.remove(&column.name) else {
            return wrong(format!("nothing of feature {name}"), "what is typical");
        };
        match (&column.kind, &value) {
            (ColumnKind::Text { categories }, Value::String(text)) => match categories.contains(text) {
                true => Ok(Typical::Category(text.clone())),
                false => wrong(quoted_name(text), "a category"),
            },
            (ColumnKind::Text { .. }, Value::Null) => Ok(Typical::NoneOfTheKnown),
            (ColumnKind::Text { .. }, found) => wrong(kind(found).into(), "a category"),
            (_, found) => match found.as_f64() {
                Some(x) => Ok(Typical::Number(x)),
                None => wrong(kind(found).into(), "the mean"),
            },
        }
    };
    let read = encoding.columns.iter().map(&mut typical).collect::<Result<_, _>>()?;
    if let Some(name) = columns.keys().next() {
        let expected = "the features of the encoding and no other".to_string();
        return Err((format!("reference: feature {}", quoted_name(name)), expected));
    }
    Ok(Reference { columns: read })
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}
