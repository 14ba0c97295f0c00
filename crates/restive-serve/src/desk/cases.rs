//! What is read once for questions about single people, and read again after an import or a training.

use super::{Desk, Snapshot};
use restive_programme::{Backdrop, Casebook, Person, Result};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Study and model, with the picture's people that they belong to.
#[derive(Default)]
pub(super) struct Cases {
    kept: Mutex<Option<(Arc<Backdrop>, Arc<Casebook>)>>,
    computed: AtomicU64,
}

impl Desk {
    /// The person with an id; nobody where no one has it. It blocks: not for handlers.
    pub(crate) fn person(&self, snapshot: &Snapshot, id: &str) -> Result<Option<Person>> {
        self.cases.computed.fetch_add(1, Ordering::Relaxed);
        let book = self.casebook(snapshot)?;
        snapshot.programme.person(&snapshot.backdrop, &book, id)
    }

    /// Number of times that [`person`](Self::person) was called: a request that it answers has read model and ledger.
    pub(crate) fn people_computed(&self) -> u64 {
        self.cases.computed.load(Ordering::Relaxed)
    }

    /// Reads it ahead of the first question. What is wrong with it is told to whoever asks.
    pub(super) fn read_cases(&self) {
        let _ = self.casebook(&self.snapshot());
    }

    /// Whoever comes first reads it, and others wait for it.
    fn casebook(&self, snapshot: &Snapshot) -> Result<Arc<Casebook>> {
        // what is kept is replaced whole: a panic leaves nothing half done
        let mut kept = self.cases.kept.lock().unwrap_or_else(PoisonError::into_inner);
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
