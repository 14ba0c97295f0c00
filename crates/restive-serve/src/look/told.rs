//! What the library says, in a page of the desk: the sections of a report, with its charts and tables, below a heading of ours.
//!
//! Its sentences are those of the command line, in English: whatever language the page is in, the template marks them so.

use restive_report::{Page, Section};

/// The sections of a report, with headings of that level.
pub(crate) fn sections(page: &Page, level: u8) -> String {
    some(&page.sections, level)
}

/// Some sections.
pub(crate) fn some<'a>(all: impl IntoIterator<Item = &'a Section>, level: u8) -> String {
    all.into_iter().map(|section| section.fragment(level)).collect()
}
