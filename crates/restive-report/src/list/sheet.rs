//! The sheet of one worker: a row for each person, by rank, with three cells to fill in.
//!
//! From left to right: the id, the columns of the list, outcome, day and note, and in small grey letters the plan.

use super::data::{Cell, Day, List};
use super::error::Result;
use super::look::{Look, Style};
use super::order::Sheet;
use super::summary::Choices;
use super::text::{CELL, clean, cut};
use super::words::reading_columns;
use super::xlsx::{PAPER, margin_text};
use rust_xlsxwriter::{
    DataValidation, DataValidationRule, ExcelDateTime, Format, IgnoreError, Worksheet, XlsxError,
};

/// The columns that every sheet has: id, outcome, day, note, plan.
pub(super) const FIXED: usize = 5;

/// A date as spreadsheets count them; they know those from 1900 to 9999.
fn date(day: Day) -> std::result::Result<ExcelDateTime, XlsxError> {
    ExcelDateTime::from_ymd(day.year.try_into().unwrap_or(0), day.month, day.day)
}

/// Writes a cell; what a spreadsheet cannot hold as a number or a date becomes text.
fn put(to: &mut Worksheet, row: u32, k: u16, cell: &Cell, style: &Style, day: &Format) -> Result<()> {
    let text = |to: &mut Worksheet, text: &str| {
        to.write_string_with_format(row, k, cut(&clean(text), CELL), &style.text).map(|_| ())
    };
    match cell {
        Cell::Text(words) => text(to, words)?,
        // beyond 15 digits a spreadsheet forgets some
        Cell::Whole(x) if x.unsigned_abs() >= 1_000_000_000_000_000 => text(to, &x.to_string())?,
        Cell::Whole(x) => to.write_number_with_format(row, k, *x as f64, &style.number).map(|_| ())?,
        Cell::Number(x) if x.is_finite() => {
            to.write_number_with_format(row, k, *x, &style.number).map(|_| ())?;
        }
        Cell::Day(when) => match date(*when) {
            Ok(when) => to.write_date_with_format(row, k, &when, day).map(|_| ())?,
            Err(_) => text(to, &when.to_string())?,
        },
        Cell::Number(_) | Cell::None => to.write_blank(row, k, &style.text).map(|_| ())?,
    }
    Ok(())
}

/// What a caller may write into the cells for outcomes and days.
fn validate(
    to: &mut Worksheet,
    list: &List,
    outcome: u16,
    last: u32,
    choices: Option<&Choices>,
) -> Result<()> {
    let titled = |rule: DataValidation, title: &str, message: &str| {
        rule.set_error_title(short_title(title))?.set_error_message(cut(&clean(message), 255))
    };
    let [_, _, (_, outcome_heading), (_, day_heading), _] = reading_columns(&list.words);
    if let Some(choices) = choices {
        let rule = titled(choices.rule()?, &outcome_heading, &list.words.outcome_error)?;
        to.add_data_validation(1, outcome, last, outcome, &rule)?;
    }
    let first = date(list.start).or_else(|_| ExcelDateTime::from_ymd(1900, 1, 1))?;
    let rule = DataValidation::new().allow_date(DataValidationRule::GreaterThanOrEqualTo(first));
    let rule = titled(rule, &day_heading, &list.words.day_error)?;
    to.add_data_validation(1, outcome + 1, last, outcome + 1, &rule)?;
    Ok(())
}

/// The title of a message has room for 32 characters.
fn short_title(text: &str) -> String {
    cut(text, 32)
}

/// Writes the sheet.
pub(super) fn write(
    to: &mut Worksheet,
    list: &List,
    sheet: &Sheet,
    name: &str,
    look: &Look,
    choices: Option<&Choices>,
) -> Result<()> {
    let outcome = (list.columns.len() + 1) as u16;
    let (plan, last) = (outcome + 3, sheet.rows.len() as u32);
    to.set_name(name)?;
    let [_, _, fill @ ..] = reading_columns(&list.words);
    for (k, style) in (0..).zip(std::iter::once(&look.id).chain(&look.columns)) {
        to.write_string_with_format(0, k, &style.heading, &look.heading)?.set_column_width(k, style.width)?;
    }
    for (k, ((_, heading), width)) in (outcome..).zip(fill.iter().zip([look.outcome_width, 12.0, 30.0])) {
        to.write_string_with_format(0, k, heading, &look.heading_to_fill)?.set_column_width(k, width)?;
    }
    to.write_string_with_format(0, plan, &look.plan.heading, &look.heading)?;
    to.set_column_width(plan, look.plan.width)?;

    let plan_id = cut(&clean(&list.plan), CELL);
    for (at, row) in (1..).zip(&sheet.rows) {
        to.write_string_with_format(at, 0, cut(&clean(&row.id), CELL), &look.id.text)?;
        for (k, (style, (_, cell))) in (1..).zip(look.columns.iter().zip(list.cells(row))) {
            put(to, at, k, cell, style, &look.day)?;
        }
        to.write_blank(at, outcome, &look.words_to_fill)?;
        to.write_blank(at, outcome + 1, &look.day_to_fill)?;
        to.write_blank(at, outcome + 2, &look.words_to_fill)?;
        to.write_string_with_format(at, plan, &plan_id, &look.plan.text)?;
    }
    to.set_freeze_panes(1, 0)?.autofilter(0, 0, last, plan)?;
    if last > 0 {
        validate(to, list, outcome, last, choices)?;
        // ids and telephone numbers are text on purpose
        to.ignore_error_range(1, 0, last, plan, IgnoreError::NumberStoredAsText)?;
    }

    let page = margin_text(&list.words.page, 60).replace("{page}", "&P").replace("{pages}", "&N");
    let (title, subtitle) = (margin_text(&list.title, 50), margin_text(&list.subtitle, 70));
    to.set_landscape().set_paper_size(PAPER).set_print_fit_to_pages(1, 0).set_repeat_rows(0, 0)?;
    to.set_margins(0.4, 0.4, 0.75, 0.75, 0.35, 0.35);
    to.set_header(format!("&L{title}&R{subtitle}"));
    to.set_footer(format!("&C{} – {page}", margin_text(list.worker(sheet), 50)));
    to.set_right_to_left(list.direction == super::data::Direction::RightToLeft);
    Ok(())
}
