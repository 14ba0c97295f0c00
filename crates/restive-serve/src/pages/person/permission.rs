//! Permission to see a person, decided from what is in memory: no list, model or record is read for it.
//!
//! An unknown id and the id of a person that the session may not see take the same steps, so that neither the response nor its time
//! tells them apart.

use crate::desk::{App, Snapshot};
use crate::security::role::Role;
use crate::security::session::Session;
use restive_tables::Contact;
use std::time::Instant;

/// Returns the person with an id if the session may see them: a caller with a worker's name sees the people of that worker.
pub(super) fn visible<'a>(session: &Session, snapshot: &'a Snapshot, id: &str) -> Option<&'a Contact> {
    let contacts = &snapshot.backdrop.contacts;
    let contact = contacts.arm(id).and_then(|arm| contacts.person(arm).ok())?;
    let (Role::Caller, Some(worker)) = (session.role, session.worker.as_deref()) else {
        return Some(contact);
    };
    let column = snapshot.draft.as_deref().and_then(|draft| draft.worker.as_deref()).unwrap_or("worker");
    let place = contacts.kept.iter().position(|kept| kept == column);
    place.and_then(|k| contact.kept.get(k)).is_some_and(|name| name == worker).then_some(contact)
}

/// Whether the session may open the page of an id: a visible person who is or was on a list, or was just found by the same user.
pub(super) fn is_open(desk: &App, session: &Session, snapshot: &Snapshot, id: &str) -> bool {
    let is_found = desk.finds.is_open(&session.who, id, Instant::now());
    let arm = snapshot.backdrop.contacts.arm(id);
    let was_listed = arm.zip(snapshot.draft.as_deref()).is_some_and(|(arm, draft)| draft.was_listed(arm));
    visible(session, snapshot, id).is_some() && (is_found || was_listed)
}
