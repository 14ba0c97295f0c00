//! Findings as a page: what was found, by how grave it is, and what to do.
//!
//! Those that ask for something have a heading each; those that are fine stand in a table at the end, and what was set aside below them
//! with its reason.
//!
//! ```
//! use restive_report::findings::{Listed, page};
//!
//! let drift = Listed { name: "drift".into(), found: "Since May people move otherwise.".into(), what_to_do: Some("ask why".into()), silenced: None };
//! let groups = vec![("Warnings".into(), vec![drift])];
//! let page = page("Doctor: calls".into(), "Usable, with one warning.".into(), groups, "restive".into());
//! assert!(page.html().contains("<h3>drift</h3>") && page.fragment().contains("What to do: ask why."));
//! ```

use crate::page::{Block, Page, Section};
use crate::table::{Cell, Column, Row, Table};

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// what it is called
    pub name: String,
    /// in one or two sentences
    pub found: String,
    /// where there is something to do, without a full stop
    pub what_to_do: Option<String>,
    /// why it was set aside, where it was
    pub silenced: Option<String>,
}

/// A page of findings in groups, each under its heading; empty groups are left out.
pub fn page(title: String, verdict: String, groups: Vec<(String, Vec<Listed>)>, footer: String) -> Page {
    let sections = groups.into_iter().filter(|(_, listed)| !listed.is_empty());
    let sections = sections.map(|(heading, listed)| Section { heading, blocks: blocks(listed) });
    Page { title, verdict, sections: sections.collect(), footer }
}

fn blocks(listed: Vec<Listed>) -> Vec<Block> {
    if listed.iter().all(|one| one.what_to_do.is_none() && one.silenced.is_none()) {
        let cells = |one: &Listed| Row::new(vec![Cell::text(&one.name), Cell::text(&one.found)]);
        let columns = vec![Column::text("check"), Column::text("found")];
        return vec![Block::Table(Table {
            caption: "What was found".into(),
            columns,
            rows: listed.iter().map(cells).collect(),
        })];
    }
    let mut blocks = Vec::new();
    for one in listed {
        blocks.push(Block::Heading(one.name));
        blocks.push(Block::Text(one.found));
        blocks.extend(one.what_to_do.map(|what| Block::Note(format!("What to do: {what}."))));
        blocks.extend(one.silenced.map(|why| Block::Text(format!("Silenced: {why}"))));
    }
    blocks
}
