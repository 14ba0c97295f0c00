//! By which columns people can be counted, and which groups there are: what a cap or a floor can be of. It is looked up once, and again after an
//! import.

use super::{Desk, Snapshot};
use restive_programme::Backdrop;
use std::sync::{Arc, Mutex, PoisonError};

/// Groups of a column that can be chosen one by one.
const MOST: usize = 40;
/// Columns that tell people apart, and no groups.
const OF_ONE: [&str; 8] =
    ["name", "full_name", "nombre", "phone", "phone_number", "mobile", "telephone", "msisdn"];

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// its groups; none where there are too many to choose from
    pub(crate) groups: Vec<String>,
}

/// Columns, with the people that they are of.
type Known = (Arc<Backdrop>, Arc<Vec<Column>>);

/// What was looked up last.
#[derive(Default)]
pub(super) struct Groups(Mutex<Option<Known>>);

impl Desk {
    /// The columns by which people can be counted. It blocks the first time: not for handlers.
    pub(crate) fn groups(&self, snapshot: &Snapshot) -> Arc<Vec<Column>> {
        let mut kept = self.groups.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((backdrop, columns)) if Arc::ptr_eq(backdrop, &snapshot.backdrop) => columns.clone(),
            _ => {
                let columns = Arc::new(columns(&snapshot.backdrop));
                *kept = Some((snapshot.backdrop.clone(), columns.clone()));
                columns
            }
        }
    }
}

fn columns(backdrop: &Backdrop) -> Vec<Column> {
    let contacts = &backdrop.contacts;
    // a form has column and group with the sign between them
    let is_it = |name: &&String| !OF_ONE.contains(&name.to_lowercase().as_str()) && !name.contains('=');
    let column = |name: &String| {
        let groups = contacts.values(name, MOST).unwrap_or_default();
        let groups = groups.into_iter().filter(|group| !group.is_empty() && *group != "*");
        Column { name: name.clone(), groups: groups.map(Into::into).collect() }
    };
    contacts.kept.iter().filter(is_it).map(column).collect()
}
