//! The columns of a data frame, from NumPy to Arrow and back.
//!
//! A column comes in as an array of float64, int64, uint64 or bool, or of objects: text, numbers or truths, with None and NaN for
//! what is missing. Objects that are all whole numbers, all numbers or all truths become those; where text is among them they are
//! text, and the checks of a study decide what the column is. Anything else is passed on as the name of its type.
//!
//! A column goes out as float64 (NaN where a number is missing), as int64 where no whole number is, or as a list of text and None.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, NullArray, RecordBatch, RecordBatchOptions,
    StringArray, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use numpy::{PyArray1, PyArrayMethods, ToPyArray};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PyString};
use restive_tables::study::TYPE;
use std::collections::HashMap;
use std::sync::Arc;

/// A column: its name and an array, or the name of a type that has no place in a table.
pub(crate) type Column<'py> = (String, Bound<'py, PyAny>);

/// Columns of as many rows as a table; `what` is its name.
pub(crate) fn table(what: &str, rows: usize, columns: &[Column<'_>]) -> PyResult<RecordBatch> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::<ArrayRef>::new());
    for (name, column) in columns {
        let (array, unreadable) = array(column, rows)?;
        if array.len() != rows {
            let (found, name) = (array.len(), name.escape_debug());
            let message =
                format!("{what}: column {name}: found {found} rows, expected {rows} as in the first column");
            return Err(PyValueError::new_err(message));
        }
        let field = Field::new(name, array.data_type().clone(), true);
        fields.push(match unreadable {
            Some(kind) => field.with_metadata(HashMap::from([(TYPE.into(), kind)])),
            None => field,
        });
        arrays.push(array);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let schema = Arc::new(Schema::new(fields));
    RecordBatch::try_new_with_options(schema, arrays, &options)
        .map_err(|error| PyValueError::new_err(format!("{what}: {error}")))
}

/// The array, and the name of its type where it cannot be read.
fn array(column: &Bound<'_, PyAny>, rows: usize) -> PyResult<(ArrayRef, Option<String>)> {
    if let Ok(kind) = column.cast::<PyString>() {
        return Ok((Arc::new(NullArray::new(rows)), Some(kind.to_string_lossy().into())));
    }
    let plain = |array: ArrayRef| Ok((array, None));
    if let Ok(values) = column.cast::<PyArray1<f64>>() {
        return plain(Arc::new(Float64Array::from(values.readonly().as_array().to_vec())));
    }
    if let Ok(values) = column.cast::<PyArray1<i64>>() {
        return plain(Arc::new(Int64Array::from(values.readonly().as_array().to_vec())));
    }
    if let Ok(values) = column.cast::<PyArray1<u64>>() {
        return plain(Arc::new(UInt64Array::from(values.readonly().as_array().to_vec())));
    }
    if let Ok(values) = column.cast::<PyArray1<bool>>() {
        return plain(Arc::new(BooleanArray::from(values.readonly().as_array().to_vec())));
    }
    let Ok(values) = column.cast::<PyArray1<Py<PyAny>>>() else {
        return Err(PyTypeError::new_err(
            "expected an array of one axis of float64, int64, uint64, bool or object",
        ));
    };
    let (py, values) = (column.py(), values.readonly());
    let mut cells = Vec::with_capacity(rows);
    for value in values.as_array() {
        match Cell::of(value.bind(py)) {
            Some(cell) => cells.push(cell),
            None => {
                let kind = value.bind(py).get_type().name()?.to_string();
                return Ok((Arc::new(NullArray::new(rows)), Some(kind)));
            }
        }
    }
    plain(of_cells(cells))
}

enum Cell {
    Missing,
    Text(String),
    Truth(bool),
    Whole(i64),
    Number(f64),
}

impl Cell {
    /// None for an object that has no place in a table.
    fn of(object: &Bound<'_, PyAny>) -> Option<Self> {
        if object.is_none() {
            return Some(Cell::Missing);
        }
        if let Ok(text) = object.cast::<PyString>() {
            return Some(Cell::Text(text.to_string_lossy().into()));
        }
        if let Ok(truth) = object.cast::<PyBool>() {
            return Some(Cell::Truth(truth.is_true()));
        }
        if let Ok(whole) = object.extract::<i64>() {
            return Some(Cell::Whole(whole));
        }
        match object.extract::<f64>() {
            Ok(number) if number.is_nan() => Some(Cell::Missing),
            Ok(number) => Some(Cell::Number(number)),
            // the missing value of pandas' own types
            Err(_) => object.get_type().name().is_ok_and(|name| name == "NAType").then_some(Cell::Missing),
        }
    }
}

fn of_cells(cells: Vec<Cell>) -> ArrayRef {
    let all = |is: fn(&Cell) -> bool| cells.iter().all(|cell| matches!(cell, Cell::Missing) || is(cell));
    if all(|_| false) {
        return Arc::new(NullArray::new(cells.len()));
    }
    if all(|cell| matches!(cell, Cell::Truth(_))) {
        let truth = |cell: &Cell| if let Cell::Truth(truth) = cell { Some(*truth) } else { None };
        return Arc::new(cells.iter().map(truth).collect::<BooleanArray>());
    }
    if all(|cell| matches!(cell, Cell::Whole(_))) {
        let whole = |cell: &Cell| if let Cell::Whole(whole) = cell { Some(*whole) } else { None };
        return Arc::new(cells.iter().map(whole).collect::<Int64Array>());
    }
    if all(|cell| matches!(cell, Cell::Whole(_) | Cell::Number(_))) {
        let number = |cell: &Cell| match cell {
            Cell::Whole(whole) => Some(*whole as f64),
            Cell::Number(number) => Some(*number),
            _ => None,
        };
        return Arc::new(cells.iter().map(number).collect::<Float64Array>());
    }
    let text = |cell: Cell| match cell {
        Cell::Missing => None,
        Cell::Text(text) => Some(text),
        Cell::Truth(truth) => Some(truth.to_string()),
        Cell::Whole(whole) => Some(whole.to_string()),
        Cell::Number(number) => Some(number.to_string()),
    };
    Arc::new(cells.into_iter().map(text).collect::<StringArray>())
}

/// The columns of a table that comes in pieces of one schema.
pub(crate) fn columns<'py>(py: Python<'py>, pieces: &[RecordBatch]) -> PyResult<Vec<Column<'py>>> {
    let Some(first) = pieces.first() else { return Ok(Vec::new()) };
    let fields = first.schema_ref().fields().iter().enumerate();
    let column = |(k, field): (usize, &Arc<Field>)| {
        let arrays: Vec<&ArrayRef> = pieces.iter().map(|piece| piece.column(k)).collect();
        Ok((field.name().clone(), cells(py, &arrays)?))
    };
    fields.map(column).collect()
}

fn cells<'py>(py: Python<'py>, arrays: &[&ArrayRef]) -> PyResult<Bound<'py, PyAny>> {
    match arrays[0].data_type() {
        DataType::Utf8 => text(py, arrays.iter().flat_map(|array| array.as_string::<i32>().iter())),
        DataType::Int32 => {
            whole(py, arrays.iter().flat_map(|array| array.as_primitive::<Int32Type>().iter()))
        }
        _ => {
            let all = arrays.iter().flat_map(|array| array.as_primitive::<Float64Type>().iter());
            Ok(all.map(|x| x.unwrap_or(f64::NAN)).collect::<Vec<f64>>().to_pyarray(py).into_any())
        }
    }
}

/// Text and None; neighbours that are alike are one object.
pub(crate) fn text<'a, 'py>(
    py: Python<'py>,
    cells: impl Iterator<Item = Option<&'a str>>,
) -> PyResult<Bound<'py, PyAny>> {
    let list = PyList::empty(py);
    let mut last: Option<(&str, Bound<'py, PyString>)> = None;
    for cell in cells {
        let Some(cell) = cell else {
            list.append(py.None())?;
            continue;
        };
        let word = match last.take() {
            Some((before, word)) if before == cell => word,
            _ => PyString::new(py, cell),
        };
        list.append(&word)?;
        last = Some((cell, word));
    }
    Ok(list.into_any())
}

/// Whole numbers, as float64 where some are missing.
pub(crate) fn whole<'py>(
    py: Python<'py>,
    cells: impl Iterator<Item = Option<i32>> + Clone,
) -> PyResult<Bound<'py, PyAny>> {
    let known: Option<Vec<i64>> = cells.clone().map(|cell| cell.map(i64::from)).collect();
    Ok(match known {
        Some(known) => known.to_pyarray(py).into_any(),
        None => {
            cells.map(|cell| cell.map_or(f64::NAN, f64::from)).collect::<Vec<f64>>().to_pyarray(py).into_any()
        }
    })
}
