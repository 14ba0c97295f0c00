//! *This week*: the list, whom of it one wants to see, and what may still be changed.
//!
//! | file | what happens there |
//! |---|---|
//! | `filter` | whom one wants to see |
//! | `row` | one person as the table has her |
//! | `edit` | moved up, left out, added, final: each from a version of the list, with a reason |
//! | `plan` | the list of the next period, made by a job |
//! | `file` | the list as a workbook, and to print |
//!
//! A viewer sees ids instead of names, and what lists are sorted by. Numbers of people are on no page: they are in the files for callers.

pub(crate) mod edit;
pub(crate) mod file;
mod filter;
pub(crate) mod plan;
mod row;

use crate::desk::{App, Snapshot};
use crate::look::answer::{Answer, page};
use crate::look::base::Base;
use crate::look::words::Words;
use crate::security::role::{Role, Viewer};
use askama::Template;
use axum::extract::{Query, State};
pub(crate) use filter::encoded;
use filter::{Choice, Filter};
use restive_programme::{Draft, ListChange, not_stated_of_people};
use row::RowView;
pub(crate) use row::{Columns, Said, told};

/// People on a page.
const PAGE: usize = 100;

#[derive(Template)]
#[template(path = "week.html")]
struct WeekPage<'a> {
    base: Base,
    w: &'static Words,
    snapshot: &'a Snapshot,
    /// what the list is: nothing where there is none
    week: Option<WeekView<'a>>,
    warnings: &'a [String],
}

struct WeekView<'a> {
    draft: &'a Draft,
    final_since: Option<&'a ListChange>,
    filter: &'a Filter,
    /// question without the page
    question: String,
    choices: Vec<Choice>,
    columns: Columns<'a>,
    rows: Vec<RowView<'a>>,
    /// how many are on the list, are chosen by the filter, have an outcome
    all: usize,
    chosen: usize,
    told: usize,
    page: usize,
    pages: usize,
    changes: Vec<Said<'a>>,
    unit: &'a str,
    /// Why effects of calls are not stated, for people; `None` if they are.
    not_stated: Option<String>,
}

impl WeekView<'_> {
    /// Reward that the calls are expected to add, if effects are stated.
    fn adds(&self) -> Option<f64> {
        self.draft.effects.identified().map(|effects| effects.value)
    }

    /// Whether it can still be changed by whoever looks.
    fn is_open(&self, base: &Base) -> bool {
        self.final_since.is_none() && base.is_planner()
    }
}

/// The list.
pub(crate) async fn show(
    Viewer(session): Viewer,
    State(desk): State<App>,
    base: Base,
    Query(filter): Query<Filter>,
) -> Answer {
    let snapshot = desk.snapshot();
    let names = session.role == Role::Planner;
    let week = snapshot.draft.as_deref().map(|draft| view(&snapshot, draft, &filter, names, base.w));
    let warnings = &snapshot.status.warnings;
    page(&WeekPage { w: base.w, base, snapshot: &snapshot, week, warnings })
}

fn view<'a>(
    snapshot: &'a Snapshot,
    draft: &'a Draft,
    filter: &'a Filter,
    names: bool,
    w: &'static Words,
) -> WeekView<'a> {
    let columns = Columns::of(&snapshot.backdrop, draft, names);
    let chosen: Vec<usize> = filter.chosen(&columns, draft, names);
    let pages = chosen.len().div_ceil(PAGE).max(1);
    let page = filter.page.clamp(1, pages);
    let shown = chosen.iter().skip((page - 1) * PAGE).take(PAGE);
    WeekView {
        rows: shown.map(|k| RowView::new(*k + 1, &draft.rows[*k], &columns, w)).collect(),
        final_since: draft.is_final(),
        question: filter.question(),
        choices: filter.choices(&columns, draft, w),
        all: draft.rows.len(),
        chosen: chosen.len(),
        told: draft.rows.iter().filter(|row| row.outcome.is_some()).count(),
        changes: draft.changes.iter().rev().map(|change| Said::of(change, &snapshot.backdrop, w)).collect(),
        unit: snapshot.backdrop.unit.as_deref().unwrap_or(""),
        not_stated: not_stated_of_people(draft.effects.identification())
            .map(|why| w.f1("week.not_stated", "why", why)),
        draft,
        filter,
        columns,
        page,
        pages,
    }
}
