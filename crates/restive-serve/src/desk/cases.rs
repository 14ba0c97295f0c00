//! What is read once for questions about single people, and read again after an import or a training.

use super::{Desk, Snapshot};
use restive_programme::{Backdrop, Casebook, Person, Result};
use std::sync::{Arc, Mutex, PoisonError};

/// Study and model, with the picture's people that they belong to.
#[derive(Default)]
pub(super) struct Cases(Mutex<Option<(Arc<Backdrop>, Arc<Casebook>)>>);

impl Desk {
    /// The person with an id; nobody where no one has it. It blocks: not for handlers.
    pub(crate) fn person(&self, snapshot: &Snapshot, id: &str) -> Result<Option<Person>> {
        let book = self.casebook(snapshot)?;
        snapshot.programme.person(&snapshot.backdrop, &book, id)
    }

    /// Reads it ahead of the first question. What is wrong with it is told to whoever asks.
    pub(super) fn read_cases(&self) {
        let _ = self.casebook(&self.snapshot());
    }

    /// Whoever comes first reads it, and others wait for it.
    fn casebook(&self, snapshot: &Snapshot) -> Result<Arc<Casebook>> {
        // what is kept is replaced whole: a panic leaves nothing half done
        let mut kept = self.cases.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            // people are read again when an import, a training or an editor changed files
            Some((backdrop, book)) if Arc::ptr_eq(backdrop, &snapshot.backdrop) => Ok(book.clone()),
            _ => {
                let book = Arc::new(snapshot.programme.casebook()?);
                *kept = Some((snapshot.backdrop.clone(), book.clone()));
                Ok(book)
            }
        }
    }
}
