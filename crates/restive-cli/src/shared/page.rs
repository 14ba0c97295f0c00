//! Pages that are in the way: one of ours may be replaced where that is asked for, and nothing else.

use restive_report::Page;
use restive_tables::recognise_bytes;
use std::path::Path;

/// Refuses a file that is no page of ours.
pub(crate) fn recognise(path: &Path) -> restive_tables::Result<()> {
    recognise_bytes(path, "something else", "a page", Page::recognises)
}
