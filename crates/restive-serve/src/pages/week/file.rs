//! The list as a workbook, and to print: whoever the filter chooses, as the writers of [`restive_report::list`] have it.

use super::filter::Filter;
use super::row::Columns;
use crate::desk::App;
use crate::look::answer::{Answer, XLSX, file};
use crate::look::refusal::Refusal;
use crate::security::headers::REPORT_POLICY;
use crate::security::role::Planner;
use crate::security::session::Session;
use axum::extract::{Query, State};
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{Html, IntoResponse};
use restive_report::list::{self, List};

/// The list of those who are chosen, as it stands; noted, for it has names and numbers in it.
async fn list(desk: &App, session: Session, filter: &Filter, what: &'static str) -> Result<List, Refusal> {
    let snapshot = desk.snapshot();
    let draft = snapshot.draft.as_deref().ok_or_else(Refusal::not_found)?;
    let columns = Columns::of(&snapshot.backdrop, draft, true);
    let chosen = filter.chosen(&columns, draft, true);
    let rows = chosen.into_iter().filter_map(|k| draft.list.rows.get(k).cloned()).collect();
    let list = List { rows, ..(*draft.list).clone() };
    let (desk, plan) = (desk.clone(), list.plan.clone());
    let noted = tokio::task::spawn_blocking(move || desk.note(&session, what, &plan));
    noted.await.map_err(|_| Refusal::ours())?;
    Ok(list)
}

/// A workbook.
pub(crate) async fn xlsx(
    Planner(session): Planner,
    State(desk): State<App>,
    Query(filter): Query<Filter>,
) -> Answer {
    let list = list(&desk, session, &filter, "download").await?;
    let made = tokio::task::spawn_blocking(move || list::xlsx(&list).map(|bytes| (list.plan, bytes)));
    let (plan, bytes) = made.await.map_err(|_| Refusal::ours())?.map_err(|_| Refusal::ours())?;
    file(&format!("list-{plan}.xlsx"), XLSX, bytes)
}

/// A page to print.
pub(crate) async fn print(
    Planner(session): Planner,
    State(desk): State<App>,
    Query(filter): Query<Filter>,
) -> Answer {
    let list = list(&desk, session, &filter, "print").await?;
    Ok(([(CONTENT_SECURITY_POLICY, REPORT_POLICY)], Html(list::html(&list))).into_response())
}
