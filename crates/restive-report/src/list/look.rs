//! How the cells of a workbook look: formats by column and by what a cell holds, and widths that fit.
//!
//! A cell is formatted by its column if it holds what the column is meant for, and plainly otherwise, so that a stray number under a column of
//! dates is not shown as a date. All sheets have the same widths: those of the longest texts of the whole list, within bounds beyond which text
//! is wrapped.

use super::data::{Cell, Kind, List};
use super::words::{reading_columns, reading_outcomes};
use crate::draw::{SIZE, width_of};
use rust_xlsxwriter::{Color, Format, FormatAlign, FormatBorder};

/// The number of the format for text, in every spreadsheet.
pub(super) const TEXT: u8 = 49;

const RULE: Color = Color::RGB(0xBFBFBF);
const GREY: Color = Color::RGB(0x8C8C8C);

/// Formats and widths for all sheets.
pub(super) struct Look {
    /// the list's own columns
    pub columns: Vec<Style>,
    /// ids
    pub id: Style,
    /// the plan's id
    pub plan: Style,
    pub day: Format,
    pub heading: Format,
    /// over what a caller fills in
    pub heading_to_fill: Format,
    /// to be filled in with words
    pub words_to_fill: Format,
    /// to be filled in with a date
    pub day_to_fill: Format,
    /// how wide outcomes are
    pub outcome_width: f64,
}

/// One column.
pub(super) struct Style {
    pub heading: String,
    pub text: Format,
    pub number: Format,
    pub width: f64,
}

/// About how many characters wide a text is, in its widest line.
fn width(text: &str) -> f64 {
    text.lines().map(width_of).fold(0.0, f64::max) / (0.6 * SIZE)
}

fn cell_width(cell: &Cell) -> f64 {
    match cell {
        Cell::Text(text) => width(text),
        Cell::Whole(x) => x.to_string().len() as f64,
        Cell::Number(x) => x.abs().max(1.0).log10().floor().min(20.0) + 2.0,
        Cell::Day(_) => 10.0,
        Cell::None => 0.0,
    }
}

impl Look {
    pub fn of(list: &List) -> Self {
        let cell = Format::new()
            .set_align(FormatAlign::Top)
            .set_border_bottom(FormatBorder::Thin)
            .set_border_bottom_color(RULE);
        let words = cell.clone().set_num_format_index(TEXT);
        let day = cell.clone().set_num_format("yyyy-mm-dd").set_align(FormatAlign::Left);
        let to_fill = |format: &Format| {
            let pale = Color::RGB(0xFFF9E5);
            format.clone().set_border(FormatBorder::Thin).set_border_color(RULE).set_background_color(pale)
        };
        let heading = Format::new()
            .set_bold()
            .set_text_wrap()
            .set_align(FormatAlign::Top)
            .set_background_color(Color::RGB(0xE7EBEF))
            .set_border_bottom(FormatBorder::Medium);
        // a heading has a button to filter by
        let at_least = |heading: &str| (width(heading) + 4.0).min(20.0);
        let fitted = |heading: &str, texts: &mut dyn Iterator<Item = f64>, most: f64| {
            texts.fold(0.0, f64::max).min(most).max(at_least(heading)) + 1.0
        };

        let fixed = reading_columns(&list.words);
        let mut columns: Vec<Style> = Vec::with_capacity(list.columns.len());
        for (k, (column, heading)) in list.columns.iter().zip(list.headings()).enumerate() {
            let (most, decimals) = match column.kind {
                Kind::Text => (36.0, 0),
                Kind::Reason => (52.0, 0),
                Kind::Number { decimals } => (24.0, decimals.min(15)),
                Kind::Whole | Kind::Percent | Kind::Day => (24.0, 0),
            };
            let mut cells = list.rows.iter().filter_map(|row| row.cells.get(k)).map(cell_width);
            let width = fitted(&heading, &mut cells, most) + f64::from(decimals);
            let width = column.width.filter(|w| w.is_finite()).unwrap_or(width).clamp(2.0, 120.0);
            let text = match column.kind {
                // cells formatted as text show no more than 255 characters in older spreadsheets
                Kind::Reason => cell.clone().set_quote_prefix().set_text_wrap(),
                _ => words.clone().set_text_wrap(),
            };
            let number = match column.kind {
                Kind::Whole => cell.clone().set_num_format("0"),
                Kind::Number { .. } if decimals > 0 => {
                    cell.clone().set_num_format(format!("0.{}", "0".repeat(decimals.into())))
                }
                Kind::Number { .. } => cell.clone().set_num_format("0"),
                Kind::Percent => cell.clone().set_num_format("0%"),
                Kind::Text | Kind::Day | Kind::Reason => cell.clone(),
            };
            columns.push(Style { heading, text, number, width });
        }
        let ids = fitted(&fixed[0].1, &mut list.rows.iter().map(|row| width(&row.id)), 40.0);
        let plan = fitted(&fixed[1].1, &mut std::iter::once(width(&list.plan)), 40.0);
        let outcomes = &mut reading_outcomes(&list.outcomes).into_iter().map(|o| width(&o.1) + 3.0);
        let style = |k: usize, text: &Format, width| {
            let heading = fixed[k].1.clone();
            Style { heading, text: text.clone(), number: cell.clone(), width }
        };
        Self {
            id: style(0, &words, ids),
            plan: style(1, &words.clone().set_font_color(GREY).set_font_size(8), plan),
            outcome_width: fitted(&fixed[2].1, outcomes, 30.0),
            columns,
            day_to_fill: to_fill(&day),
            words_to_fill: to_fill(&words).set_text_wrap(),
            day,
            heading_to_fill: heading.clone().set_background_color(Color::RGB(0xFFE699)),
            heading,
        }
    }
}
