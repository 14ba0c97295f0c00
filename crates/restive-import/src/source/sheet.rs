//! Tables in workbooks: Excel's `.xlsx`, `.xlsb` and `.xls`, and OpenDocument.
//!
//! A workbook is opened once for all its sheets, because its texts lie apart from the sheets and are read first. The cells
//! of the newer formats of Excel are streamed. A row that is shorter than the header has empty cells at its end; one
//! with more cells than the header has a fault. A formula of `.xlsx` or `.ods` whose result was not stored is an [error](cell_error), not
//! an empty cell; the older formats of Excel store every result. An error that an `.ods` stores as a number with its name is read as the
//! number, because the decoder does not return the name. The decoder answers damage with an error or a panic; the latter is caught
//! at every step, and what it says is not repeated, because it may quote a cell.

use super::cell_error::NOT_CALCULATED;
use super::error::SourceError;
use super::find::{matches, similar};
use super::row::{Raw, trimmed};
use super::value::sheet_text;
use calamine::{
    CellType, Data, DataRef, Error, Ods, OdsError, Range, Reader, SheetType, Sheets, Xls, XlsError, Xlsb,
    Xlsx, XlsxError, open_workbook,
};
use restive_tables::show;
use std::fmt::Display;
use std::fs::File;
use std::io::BufReader;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// As many columns as a sheet can have.
const MOST_COLUMNS: u32 = 16_384;

/// The formats of workbooks.
#[derive(Clone, Copy)]
pub(super) enum Format {
    Xlsx,
    Xlsb,
    Xls,
    Ods,
}

pub(super) struct Workbook {
    sheets: Sheets<BufReader<File>>,
    file: String,
}

/// A row of a sheet as it is visited: its number from 0, its cells, how much of the sheet was read.
type Visit<'v> = dyn FnMut(u32, &[String], f64) -> ControlFlow<()> + 'v;

impl Workbook {
    pub(super) fn open(path: &Path, file: &str, format: Format) -> Result<Self, SourceError> {
        let bytes = BufReader::new(File::open(path).map_err(SourceError::io(file, "open"))?);
        let opened = catch_unwind(AssertUnwindSafe(|| match format {
            Format::Xlsx => Xlsx::new(bytes).map(Sheets::Xlsx).map_err(Error::Xlsx),
            Format::Xlsb => Xlsb::new(bytes).map(Sheets::Xlsb).map_err(Error::Xlsb),
            Format::Xls => Xls::new(bytes).map(Sheets::Xls).map_err(Error::Xls),
            Format::Ods => Ods::new(bytes).map(Sheets::Ods).map_err(Error::Ods),
        }));
        match opened {
            Ok(Ok(sheets)) => Ok(Self { sheets, file: file.into() }),
            Ok(Err(Error::Xls(XlsError::Password) | Error::Ods(OdsError::Password))) => Err(locked(file)),
            Ok(Err(_)) | Err(_) if is_wrapped(path) => Err(locked(file)),
            Ok(Err(error)) => Err(SourceError::damaged(file, "workbook", &error.to_string())),
            Err(_) => Err(SourceError::damaged(file, "workbook", CONTRADICTION)),
        }
    }

    /// The sheets that are wanted; the first where no pattern is given.
    pub(super) fn sheets(&self, pattern: Option<&str>) -> Result<Vec<String>, SourceError> {
        let sheets = self.sheets.sheets_metadata().iter();
        let mut names: Vec<String> = sheets
            .filter(|sheet| sheet.typ == SheetType::WorkSheet)
            .map(|sheet| sheet.name.clone())
            .collect();
        if names.is_empty() {
            return Err(SourceError::content(&self.file, "a workbook without sheets", "a table"));
        }
        let Some(pattern) = pattern else {
            names.truncate(1);
            return Ok(names);
        };
        let wanted: Vec<String> = names.iter().filter(|name| matches(pattern, name)).cloned().collect();
        if wanted.is_empty() {
            return Err(SourceError::Missing {
                file: self.file.clone(),
                found: "a workbook without it".into(),
                expected: format!("a sheet {}", show::name(pattern)),
                there: similar(pattern, names),
            });
        }
        Ok(wanted)
    }

    /// The first row after those to skip that has anything in it; empty where there is none.
    pub(super) fn header(&mut self, sheet: &str, skip: usize) -> Result<Vec<String>, SourceError> {
        let mut names = Vec::new();
        let _stopped = self.walk(sheet, &mut |row, cells, _| {
            if (row as usize) < skip || is_blank(cells) {
                return ControlFlow::Continue(());
            }
            names = cells.iter().map(|cell| trimmed(cell).to_string()).collect();
            ControlFlow::Break(())
        })?;
        while names.last().is_some_and(String::is_empty) {
            names.pop();
        }
        Ok(names)
    }

    /// Visits every row below the header.
    pub(super) fn each(
        &mut self,
        sheet: &str,
        (skip, has_header, width): (usize, bool, usize),
        visit: &mut dyn FnMut(&Raw) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, SourceError> {
        let (mut raw, mut is_header) = (Raw::default(), has_header);
        self.walk(sheet, &mut |row, cells, share| {
            if (row as usize) < skip || is_blank(cells) || std::mem::take(&mut is_header) {
                return ControlFlow::Continue(());
            }
            raw.clear();
            (raw.line, raw.share) = (u64::from(row) + 1, share);
            let last = cells.iter().rposition(|cell| !trimmed(cell).is_empty()).map_or(0, |last| last + 1);
            cells.iter().take(last.max(width)).for_each(|cell| raw.push(cell));
            (raw.ends.len()..width).for_each(|_| raw.push(""));
            visit(&raw)
        })
    }

    fn walk(&mut self, sheet: &str, visit: &mut Visit<'_>) -> Result<ControlFlow<()>, SourceError> {
        let file = format!("{}#{sheet}", self.file);
        let mut gathered = Gathered { row: None, last: 1, cells: Vec::new(), used: 0 };
        match &mut self.sheets {
            Sheets::Xlsx(book) => {
                let mut reader = guarded(&file, || book.worksheet_cells_reader(sheet))?;
                gathered.last = reader.dimensions().end.0.max(1);
                while let Some(cell) = guarded(&file, || reader.next_cell_with_formula_metadata())? {
                    let value = match (&cell.formula, &cell.value) {
                        (Some(_), DataRef::Empty) => &DataRef::SharedString(NOT_CALCULATED),
                        (_, value) => value,
                    };
                    if gathered.take(&file, cell.pos, value, visit)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
            Sheets::Xlsb(book) => {
                let mut reader = guarded(&file, || book.worksheet_cells_reader(sheet))?;
                gathered.last = reader.dimensions().end.0.max(1);
                while let Some(cell) = guarded(&file, || reader.next_cell())? {
                    if gathered.take(&file, cell.get_position(), cell.get_value(), visit)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
            others => {
                let values = guarded(&file, || others.worksheet_range(sheet))?;
                let formulas = match others {
                    Sheets::Ods(book) => guarded(&file, || book.worksheet_formula(sheet))?,
                    _ => Range::default(),
                };
                let ends = [values.end(), formulas.end()].into_iter().flatten();
                gathered.last = ends.map(|(row, _)| row).max().unwrap_or(0).max(1);
                for (place, cell) in cells(&values, &formulas) {
                    if gathered.take(&file, place, &cell, visit)?.is_break() {
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
        }
        Ok(gathered.flush(visit))
    }
}

/// The cells of the row in hand.
struct Gathered {
    row: Option<u32>,
    /// the last row of the sheet, as far as it is known
    last: u32,
    cells: Vec<String>,
    used: usize,
}

impl Gathered {
    /// Takes a cell; the row before it is visited where it is the first of another one.
    fn take(
        &mut self,
        file: &str,
        (row, column): (u32, u32),
        value: &DataRef<'_>,
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>, SourceError> {
        if column >= MOST_COLUMNS {
            return Err(SourceError::damaged(file, "workbook", CONTRADICTION));
        }
        if self.row != Some(row) {
            if self.flush(visit).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            self.row = Some(row);
        }
        let column = column as usize;
        if column >= self.cells.len() {
            self.cells.resize(column + 1, String::new());
        }
        self.used = self.used.max(column + 1);
        self.cells[column].clear();
        sheet_text(value, &mut self.cells[column]);
        Ok(ControlFlow::Continue(()))
    }

    fn flush(&mut self, visit: &mut Visit<'_>) -> ControlFlow<()> {
        let Some(row) = self.row.take() else { return ControlFlow::Continue(()) };
        let share = (f64::from(row) / f64::from(self.last)).min(1.0);
        let answer = visit(row, &self.cells[..self.used], share);
        self.cells[..self.used].iter_mut().for_each(String::clear);
        self.used = 0;
        answer
    }
}

fn is_blank(cells: &[String]) -> bool {
    cells.iter().all(|cell| trimmed(cell).is_empty())
}

/// Cells of a sheet by row and column, with [`NOT_CALCULATED`] for each formula without a value.
fn cells<'r>(
    values: &'r Range<Data>,
    formulas: &'r Range<String>,
) -> impl Iterator<Item = ((u32, u32), DataRef<'r>)> {
    let is_empty = move |place| matches!(values.get_value(place), None | Some(Data::Empty));
    let unknown = used(formulas).filter(move |(place, _)| is_empty(*place));
    let mut unknown = unknown.map(|(place, _)| (place, DataRef::SharedString(NOT_CALCULATED))).peekable();
    let mut known = used(values).map(|(place, cell)| (place, borrowed(cell))).peekable();
    std::iter::from_fn(move || {
        let is_unknown = match (known.peek(), unknown.peek()) {
            (Some((known, _)), Some((unknown, _))) => unknown < known,
            (known, _) => known.is_none(),
        };
        if is_unknown { unknown.next() } else { known.next() }
    })
}

/// Cells of a range that are not empty, with their rows and columns in the sheet.
fn used<T: CellType>(range: &Range<T>) -> impl Iterator<Item = ((u32, u32), &T)> {
    let (top, left) = range.start().unwrap_or((0, 0));
    let used = range.used_cells();
    used.map(move |(row, column, cell)| {
        ((top.saturating_add(row as u32), left.saturating_add(column as u32)), cell)
    })
}

fn borrowed(cell: &Data) -> DataRef<'_> {
    match cell {
        Data::Int(number) => DataRef::Int(*number),
        Data::Float(number) => DataRef::Float(*number),
        Data::String(text) => DataRef::SharedString(text),
        Data::Bool(yes) => DataRef::Bool(*yes),
        Data::DateTime(time) => DataRef::DateTime(*time),
        Data::DateTimeIso(text) => DataRef::DateTimeIso(text.clone()),
        Data::DurationIso(text) => DataRef::DurationIso(text.clone()),
        Data::Error(error) => DataRef::Error(error.clone()),
        Data::Empty => DataRef::Empty,
    }
}

const CONTRADICTION: &str = "its parts contradict each other";

fn guarded<T, E: Display>(file: &str, step: impl FnOnce() -> Result<T, E>) -> Result<T, SourceError> {
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(_)) | Err(_) => Err(SourceError::damaged(file, "workbook", CONTRADICTION)),
    }
}

fn locked(file: &str) -> SourceError {
    SourceError::content(file, "a workbook behind a password", "one without")
}

/// Whether a workbook that could not be opened is encrypted: the newer formats are then wrapped in a file of the older one.
fn is_wrapped(path: &Path) -> bool {
    let opened = catch_unwind(|| open_workbook::<Xlsx<_>, _>(path).err());
    matches!(opened, Ok(Some(XlsxError::Password)))
}
