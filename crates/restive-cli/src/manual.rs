//! The manual pages: one file for the program and one for each command, `restive-COMMAND.1`.
//!
//! Pages of an earlier version are replaced; a file of that name that is no page of restive is not.

use crate::arguments::Arguments;
use clap::CommandFactory;
use std::io;
use std::path::{Path, PathBuf};

/// Writes the pages into a folder that is there, all or none.
pub(crate) fn write(folder: &Path) -> anyhow::Result<()> {
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    let mut pages = Vec::new();
    add(command, folder, &mut pages)?;
    let pages: Vec<(PathBuf, &[u8])> = pages.iter().map(|(path, page)| (path.clone(), &page[..])).collect();
    Ok(restive_tables::write_files(&pages, Some(recognise))?)
}

/// The pages of the commands of a command, and its own.
fn add(command: clap::Command, folder: &Path, pages: &mut Vec<(PathBuf, Vec<u8>)>) -> io::Result<()> {
    for within in command.get_subcommands().filter(|within| !within.is_hide_set()) {
        add(within.clone(), folder, pages)?;
    }
    let (page, mut text) = (clap_mangen::Man::new(command), Vec::new());
    page.render(&mut text)?;
    pages.push((folder.join(page.get_filename()), text));
    Ok(())
}

fn recognise(path: &Path) -> restive_tables::Result<()> {
    restive_tables::recognise_bytes(path, "something else", "a manual page of restive", |text| {
        text.split(|byte| *byte == b'\n').any(|line| line.starts_with(b".TH restive"))
    })
}
