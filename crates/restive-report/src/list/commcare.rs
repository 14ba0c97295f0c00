//! The list for CommCare: a workbook for its import of cases.
//!
//! The importer takes the first sheet, matches rows to cases by the column `case_id`, and makes a case property of every other column; a
//! sheet that is called like a case type means something else to it, so the sheet has a name that says nothing (CommCare's help pages on
//! the case importer and on its bulk upload). All cells are text, and nothing is formatted.
//!
//! | property | |
//! |---|---|
//! | `case_id` | the id of the person |
//! | `restive_plan` | the plan |
//! | `restive_rank` | 1 for whom to call first |
//! | `restive_priority` | `high`, `medium` or `low`, by thirds of the list |
//! | `restive_reason` | why, in words |
//! | `restive_on_list` | `yes` |
//!
//! A case that has left the list keeps what an earlier import wrote: a case is on this list if its `restive_plan` is this plan.
//!
//! ```
//! let workbook = restive_report::list::commcare(&restive_report::list::example())?;
//! assert!(workbook.starts_with(b"PK"));
//! # Ok::<(), restive_report::list::Error>(())
//! ```

use super::data::List;
use super::error::{ROWS, Result, within};
use super::text::{CELL, clean, cut};
use super::xlsx::finished;
use rust_xlsxwriter::Workbook;

const PROPERTIES: [&str; 6] =
    ["case_id", "restive_plan", "restive_rank", "restive_priority", "restive_reason", "restive_on_list"];

/// The whole file.
pub fn commcare(list: &List) -> Result<Vec<u8>> {
    let people = list.people();
    within("people on a sheet", people.len(), ROWS - 1)?;
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    for (k, name) in (0..).zip(PROPERTIES) {
        sheet.write_string(0, k, name)?;
    }
    for (at, person) in (1..).zip(&people) {
        let row = person.row;
        let rank = row.rank.to_string();
        let priority = ["high", "medium", "low"][person.third];
        for (k, text) in (0..).zip([&row.id, &list.plan, &rank, priority, list.reason(row), "yes"]) {
            sheet.write_string(at, k, cut(&clean(text), CELL))?;
        }
    }
    finished(workbook, "")
}
