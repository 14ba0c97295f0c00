//! Whose calls whoever looks may see, of one list: a caller her own people, a planner everybody.
//!
//! Everything that these pages show or write goes through here, so that an address that was guessed leads nowhere. A caller sees the latest
//! list once it is final: until then it may still change. Lists of earlier periods are there for what comes late.

use crate::desk::{App, Snapshot};
use crate::look::refusal::Refusal;
use crate::pages::week::Columns;
use crate::security::role::Role;
use crate::security::session::Session;
use restive_programme::{Draft, DraftRow, OpenList};
use restive_tables::Contact;
use std::sync::Arc;

/// A list, as one person may see it.
pub(super) struct Round {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) draft: Arc<Draft>,
    /// whether it is the list of the latest period
    pub(super) is_latest: bool,
    session: Session,
}

impl Round {
    /// Of the latest list, or of one that is named; nothing where there is no list yet.
    pub(super) async fn of(desk: &App, session: &Session, plan: &str) -> Result<Option<Self>, Refusal> {
        let snapshot = desk.snapshot();
        let Some(latest) = snapshot.draft.clone() else { return Ok(None) };
        let is_latest = plan.is_empty() || plan == latest.record.id;
        let draft = match is_latest {
            true => latest,
            false => {
                // a plan that was not made, or one that was replaced
                if !snapshot.status.plans.iter().any(|one| one.plan == plan) {
                    return Err(Refusal::not_found());
                }
                let (programme, backdrop) = (snapshot.programme.clone(), snapshot.backdrop.clone());
                let plan = plan.to_string();
                let read = move || programme.draft(&backdrop, Some(&plan));
                let found = tokio::task::spawn_blocking(read).await.map_err(|_| Refusal::ours())?;
                Arc::new(found.ok().flatten().ok_or_else(Refusal::not_found)?)
            }
        };
        Ok(Some(Self { snapshot, draft, is_latest, session: session.clone() }))
    }

    /// Whether whoever looks may see the list: a planner any, a caller one that is final or of an earlier period.
    pub(super) fn is_open(&self) -> bool {
        self.is_planner() || !self.is_latest || self.draft.is_final().is_some()
    }

    /// Whether whoever looks is a planner.
    pub(super) fn is_planner(&self) -> bool {
        self.session.role == Role::Planner
    }

    /// The columns of the list.
    pub(super) fn columns(&self) -> Columns<'_> {
        Columns::of(&self.snapshot.backdrop, &self.draft, true)
    }

    /// Her own people, in the order of the list, where they are also of that worker; everybody is of worker "".
    pub(super) fn people(&self, worker: &str) -> Vec<&DraftRow> {
        let columns = self.columns();
        let is_it = |row: &&DraftRow| {
            self.is_open()
                && is_hers(&self.session, &columns, &row.contact)
                && (worker.is_empty() || columns.cell("worker", row) == worker)
        };
        self.draft.rows.iter().filter(is_it).collect()
    }

    /// One of them, by id.
    pub(super) fn person(&self, id: &str) -> Option<&DraftRow> {
        self.people("").into_iter().find(|row| row.contact.id == id)
    }

    /// Lists of earlier periods with people of hers of whom no outcome is known: plan, first day, how many.
    pub(super) fn late(&self) -> Vec<(String, String, usize)> {
        let Some(latest) = self.snapshot.draft.as_deref() else { return Vec::new() };
        let columns = self.columns();
        let contacts = &self.snapshot.backdrop.contacts;
        let hers = |arm: &&String| {
            contacts.person(arm).is_ok_and(|contact| is_hers(&self.session, &columns, contact))
        };
        let count = |list: OpenList<'_>| {
            let left = list.arms.iter().filter(hers).count();
            (left > 0).then(|| (list.plan.into(), list.start.into(), left))
        };
        latest.open_lists().filter_map(count).collect()
    }
}

/// Whether somebody is one of those whom whoever looks calls.
fn is_hers(session: &Session, columns: &Columns<'_>, contact: &Contact) -> bool {
    match (session.role, session.worker.as_deref()) {
        (Role::Planner, _) | (Role::Caller, None) => true,
        (Role::Caller, Some(worker)) => !worker.is_empty() && columns.cell_of("worker", contact) == worker,
        (Role::Viewer, _) => false,
    }
}

/// Whether nobody has said yet what came of a place.
pub(super) fn is_left(row: &DraftRow) -> bool {
    row.outcome.is_none()
}
