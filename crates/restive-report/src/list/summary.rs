//! The first sheet of a workbook: what a planner should know, what callers should do, and who calls how many.
//!
//! Two columns, names at the left and what belongs to them at the right. The outcomes are listed here too: a drop-down holds at most 255
//! characters and divides its choices at commas, and where the words do not fit it refers to this list. Where they fit it holds them itself, so
//! that a sheet that is mailed alone keeps them.

use super::data::{Direction, List};
use super::error::Result;
use super::look::TEXT;
use super::order::Sheet;
use super::text::{CELL, clean, cut, line};
use super::words::reading_outcomes;
use super::xlsx::{PAPER, margin_text};
use rust_xlsxwriter::{DataValidation, Format, FormatAlign, FormatBorder, Formula, Worksheet};

/// What callers may choose from.
pub(super) enum Choices {
    Words(Vec<String>),
    /// where the words stand
    Cells(String),
}

impl Choices {
    pub fn rule(&self) -> Result<DataValidation> {
        Ok(match self {
            Choices::Words(words) => DataValidation::new().allow_list_strings(words)?,
            Choices::Cells(range) => DataValidation::new().allow_list_formula(Formula::new(range)),
        })
    }
}

/// Writes the sheet, and says what callers may choose from.
pub(super) fn write(
    to: &mut Worksheet,
    list: &List,
    name: &str,
    sheets: &[Sheet],
) -> Result<Option<Choices>> {
    let words = &list.words;
    let plain = Format::new().set_num_format_index(TEXT).set_text_wrap().set_align(FormatAlign::Top);
    let bold = plain.clone().set_bold();
    let number = Format::new().set_num_format("0").set_align(FormatAlign::Left);
    let ruled = bold.clone().set_border_bottom(FormatBorder::Medium);
    let title = Format::new().set_num_format_index(TEXT).set_bold().set_font_size(16);
    let text = |text: &str| cut(&clean(text), CELL);

    to.set_name(name)?.set_column_width(0, 32)?.set_column_width(1, 90)?;
    to.write_string_with_format(0, 0, cut(&line(&list.title), CELL), &title)?;
    to.write_string_with_format(
        1,
        0,
        cut(&line(&list.subtitle), CELL),
        &Format::new().set_num_format_index(TEXT),
    )?;
    let mut row = 3;
    let plan = (words.plan.clone(), list.plan.clone());
    for (name, value) in std::iter::once(&plan).chain(&list.summary) {
        to.write_string_with_format(row, 0, text(name), &bold)?;
        to.write_string_with_format(row, 1, text(value), &plain)?;
        row += 1;
    }

    row += 1;
    to.write_string_with_format(row, 0, text(&words.how), &bold)?;
    for line in &words.how_lines {
        to.write_string_with_format(row, 1, text(line), &plain)?;
        row += 1;
    }
    row += 1;
    let (first, outcomes) =
        (row, reading_outcomes(&list.outcomes).into_iter().map(|o| o.1).collect::<Vec<String>>());
    to.write_string_with_format(row, 0, text(&words.outcome), &bold)?;
    for outcome in &outcomes {
        to.write_string_with_format(row, 1, outcome, &plain)?;
        row += 1;
    }

    row += 1;
    to.write_string_with_format(row, 0, text(&words.worker), &ruled)?;
    to.write_string_with_format(row, 1, text(&words.people), &ruled)?;
    for sheet in sheets {
        row += 1;
        to.write_string_with_format(row, 0, text(list.worker(sheet)), &plain)?;
        to.write_number_with_format(row, 1, sheet.rows.len() as f64, &number)?;
    }
    row += 1;
    if sheets.is_empty() {
        to.write_string_with_format(row, 0, text(&words.nobody), &plain)?;
    } else {
        to.write_string_with_format(row, 0, text(&words.all), &bold)?;
        to.write_number_with_format(row, 1, list.rows.len() as f64, &number.set_bold())?;
    }

    to.set_paper_size(PAPER).set_print_fit_to_pages(1, 0).set_margins(0.6, 0.6, 0.75, 0.75, 0.35, 0.35);
    to.set_footer(format!("&C{}", margin_text(&list.plan, 100)));
    to.set_right_to_left(list.direction == Direction::RightToLeft);

    let length = |word: &String| word.replace('"', "\"\"").encode_utf16().count() + 1;
    let fits = outcomes.iter().map(length).sum::<usize>() <= 255 && outcomes.iter().all(|w| !w.contains(','));
    Ok(match outcomes.len() as u32 {
        0 => None,
        _ if fits => Some(Choices::Words(outcomes)),
        count => {
            let quoted = name.replace('\'', "''");
            Some(Choices::Cells(format!("='{quoted}'!$B${}:$B${}", first + 1, first + count)))
        }
    })
}
