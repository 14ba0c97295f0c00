//! `restive import --init`: a first mapping, beside the exports or elsewhere.

use crate::shared::say;
use restive_import::{Input, init, recognise_mapping};
use restive_tables::{check_file, refuse_input, show, write_files};
use std::io::Write;
use std::path::{Component, Path, PathBuf};

/// Writes a mapping for these files; they are named in it relative to its own folder.
pub(super) fn run(files: &[PathBuf], out: &Path, is_forced: bool) -> anyhow::Result<()> {
    let replace = is_forced.then_some(recognise_mapping as restive_tables::Own);
    for file in files {
        refuse_input(out, file, &[])?;
    }
    check_file(out, replace)?;
    let folder = out.parent().unwrap_or(Path::new(""));
    let names: Vec<String> = files.iter().map(|file| relative(file, folder)).collect();
    let text = init(&names, &Input::Files { base: folder })?;
    write_files(&[(out.into(), text.as_bytes())], replace)?;
    let open = text.lines().filter(|line| line.starts_with("# DECIDE")).count();
    say::print(|answer| {
        writeln!(answer, "{}: a mapping; {open} things to decide, each marked DECIDE", show::path(out))
    })
}

/// A file as seen from a folder.
fn relative(file: &Path, folder: &Path) -> String {
    let shown = |path: &Path| path.to_string_lossy().into_owned();
    if file.is_absolute() || folder.as_os_str().is_empty() {
        return shown(file);
    }
    let whole = |path: &Path| {
        let here = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        here.canonicalize().ok()
    };
    // the last part may be a pattern or have a # in it: only folders are looked up
    let parent = file.parent().unwrap_or(Path::new(""));
    let (Some(from), Some(to), Some(name)) = (whole(folder), whole(parent), file.file_name()) else {
        return shown(file);
    };
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let mut path: PathBuf = from[common..].iter().map(|_| "..").collect();
    path.extend(&to[common..]);
    shown(&path.join(name))
}
