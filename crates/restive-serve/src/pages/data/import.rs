//! What the last import said, as the page tells it.

use crate::desk::Snapshot;
use crate::look::words::Words;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use restive_import::{Account, ImportedFolder, Summary};
use restive_pipeline::words::grouped;
use std::path::Path;

/// What the last import said.
pub(super) struct Import<'a> {
    summary: &'a Summary,
    /// when it was; empty where the system does not say
    pub(super) at: String,
    /// the day until which the records go
    pub(super) until: &'a str,
    pub(super) sources: Vec<Source<'a>>,
}

/// Where the rows of one source went.
pub(super) struct Source<'a> {
    pub(super) name: &'a str,
    pub(super) files: String,
    /// all, used, repeated, merged, set aside, outside, refused
    pub(super) counts: [String; 7],
}

impl<'a> Import<'a> {
    pub(super) fn of(snapshot: &'a Snapshot, folder: &Path) -> Self {
        let summary = &snapshot.programme.summary;
        let changed = ImportedFolder::pointer(folder).metadata().and_then(|found| found.modified()).ok();
        let at = changed.and_then(|time| Timestamp::try_from(time).ok());
        let source = |account: &'a Account| Source {
            name: &account.source,
            files: account.files.join(", "),
            counts: [
                account.rows,
                account.used,
                account.repeated,
                account.merged,
                account.aside,
                account.outside,
                account.quarantined,
            ]
            .map(grouped),
        };
        Self {
            at: at.map_or(String::new(), |at| {
                at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
            }),
            until: summary.periods.last().map_or("", |row| &row.decision),
            sources: summary.accounts.iter().map(source).collect(),
            summary,
        }
    }

    /// Rows of all sources: taken, and left.
    pub(super) fn taken(&self) -> [String; 2] {
        let all: u64 = self.summary.accounts.iter().map(|account| account.rows).sum();
        let used: u64 = self.summary.accounts.iter().map(|account| account.used).sum();
        [used, all - used].map(grouped)
    }

    /// What was told otherwise before, in sentences.
    pub(super) fn since(&self, w: &Words) -> Vec<String> {
        let mut said = Vec::new();
        if let Some(changed) = &self.summary.changes {
            said.push(w.f2("data.new", "people", changed.new_people, "periods", changed.new_periods));
            said.push(w.f2("data.otherwise", "states", changed.states, "calls", changed.actions));
        }
        if let Some(earlier) = &self.summary.earlier {
            said.push(w.f2("data.amended", "n", grouped(earlier.amended), "all", grouped(earlier.known)));
            if earlier.absent > 0 {
                said.push(w.f1("data.absent", "n", grouped(earlier.absent)));
            }
        }
        said
    }
}
