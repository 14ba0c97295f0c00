//! The list as a workbook: a summary, then a sheet for each worker.
//!
//! Every text is written as text, never parsed: a name that looks like a formula stays a name, also after someone has edited the cell, for
//! columns of text are formatted as such. The three columns that a caller fills in take an outcome from a list, a date and any words. Each
//! row carries the person's id and the plan's, so that sheets may be cut, pasted, mailed singly or saved as CSV and still be read back:
//! [`reading_columns`](super::reading_columns) says under which headings.
//!
//! On paper: A4, landscape, as wide as one page, headings on every page, the worker and the number of the page below. The workbook says that
//! it was made on a fixed day, so that the same list gives the same bytes.
//!
//! ```
//! let workbook = restive_report::list::xlsx(&restive_report::list::example())?;
//! assert!(workbook.starts_with(b"PK"));
//! # Ok::<(), restive_report::list::Error>(())
//! ```

use super::data::List;
use super::error::{COLUMNS, ROWS, Result, within};
use super::look::Look;
use super::text::{cut, line};
use super::{sheet, summary};
use rust_xlsxwriter::{DocProperties, ExcelDateTime, Workbook};

/// The paper of every sheet: A4.
pub(super) const PAPER: u8 = 9;

/// The whole file.
pub fn xlsx(list: &List) -> Result<Vec<u8>> {
    let sheets = list.sheets();
    within("columns", list.columns.len(), COLUMNS - sheet::FIXED)?;
    within("sheets", sheets.len(), ROWS / 2)?;
    for sheet in &sheets {
        within("people on a sheet", sheet.rows.len(), ROWS - 1)?;
    }
    let (first, names) = list.sheet_names(&sheets);
    let look = Look::of(list);
    let mut workbook = Workbook::new();
    let choices = summary::write(workbook.add_worksheet(), list, &first, &sheets)?;
    for (sheet, name) in sheets.iter().zip(&names) {
        sheet::write(workbook.add_worksheet(), list, sheet, name, &look, choices.as_ref())?;
    }
    if sheets.is_empty() {
        // the headings, to show what would be there
        let nobody = super::order::Sheet { worker: None, rows: Vec::new() };
        let (_, names) = list.sheet_names(std::slice::from_ref(&nobody));
        sheet::write(workbook.add_worksheet(), list, &nobody, &names[0], &look, None)?;
    }
    finished(workbook, &list.title)
}

/// The bytes of a workbook.
pub(super) fn finished(mut workbook: Workbook, title: &str) -> Result<Vec<u8>> {
    let day = ExcelDateTime::from_ymd(2000, 1, 1)?;
    let properties = DocProperties::new().set_title(cut(&line(title), 255)).set_creation_datetime(&day);
    Ok(workbook.set_properties(&properties).save_to_buffer()?)
}

/// Text as it may stand in the header or footer of a page, where & begins a code.
pub(super) fn margin_text(text: &str, longest: usize) -> String {
    cut(&line(text), longest).replace('&', "&&")
}
