//! What the guide and the README tell people to type works, and prints what they say.
//!
//! The blocks of a page that are marked `sh` are run by the shell, in order, in a folder that has `examples` in it, with the built
//! program on the path. A block marked `text` right below one is what it prints, but for durations; a line with … alone stands for
//! lines left out. Blocks marked `sh ignore` are for people alone (cargo, pip, an hour of work): the test lists them.

use crate::harness::cli;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A line that stands for any lines.
const LEFT_OUT: &str = "…";

/// A block of commands, and what the page says it prints.
#[derive(Debug, PartialEq)]
struct Block {
    line: usize,
    commands: String,
    is_run: bool,
    printed: Option<String>,
}

/// The blocks of commands of a page, in order.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut lines = page.lines().enumerate();
    // whether nothing but blank lines stands between here and the commands above
    let mut is_below = false;
    while let Some((number, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else {
            is_below &= line.trim().is_empty();
            continue;
        };
        let inside: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        let inside = inside.join("\n") + "\n";
        match (info, blocks.last_mut()) {
            ("sh" | "sh ignore", _) => {
                let is_run = info == "sh";
                blocks.push(Block { line: number + 1, commands: inside, is_run, printed: None });
                is_below = true;
            }
            ("text", Some(above)) if is_below => {
                above.printed = Some(inside);
                is_below = false;
            }
            _ => is_below = false,
        }
    }
    blocks
}

/// A line without its durations, names of imports, and the spaces at its end.
fn masked(line: &str) -> String {
    let is_import = |part: &str| part.len() == 16 && part.bytes().all(|digit| digit.is_ascii_hexdigit());
    let part = |part: &str| if is_import(part) { LEFT_OUT.to_string() } else { part.to_string() };
    let line: Vec<String> = line.trim_end().split('/').map(part).collect();
    let mut words: Vec<String> = line.join("/").split(' ').map(str::to_string).collect();
    for k in 1..words.len() {
        let unit = words[k].trim_end_matches([';', ',', '.']).to_string();
        let is_number = words[k - 1].parse::<f64>().is_ok();
        if is_number && matches!(&*unit, "ms" | "s" | "min") {
            words[k - 1] = "so".into();
            words[k] = words[k].replacen(&unit, "long", 1);
        }
    }
    words.join(" ")
}

/// Whether a page says what was printed.
fn agrees(said: &str, printed: &str) -> bool {
    let said: Vec<String> = said.lines().map(masked).collect();
    let printed: Vec<String> = printed.lines().map(masked).collect();
    let parts: Vec<&[String]> = said.split(|line| line == LEFT_OUT).collect();
    let [first, rest @ ..] = &parts[..] else { unreachable!("a split has a first part") };
    let Some((last, middle)) = rest.split_last() else { return said == printed };
    let Some(mut left) = printed.strip_prefix(*first) else { return false };
    for part in middle.iter().filter(|part| !part.is_empty()) {
        let Some(at) = left.windows(part.len()).position(|window| window == *part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(last)
}

/// Runs commands as a person would type them; what they print, errors among it.
fn run(folder: &Path, commands: &str) -> Result<String, String> {
    let program = Path::new(env!("CARGO_BIN_EXE_restive")).parent().expect("a folder").to_path_buf();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([program].into_iter().chain(std::env::split_paths(&path))).unwrap();
    let output = Command::new("sh")
        .args(["-euc", &format!("exec 2>&1\n{commands}")])
        .current_dir(folder)
        .env("PATH", path)
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let printed = String::from_utf8(output.stdout).expect("text");
    if output.status.success() { Ok(printed) } else { Err(printed) }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to)
        } else {
            fs::copy(entry.path(), to).map(|_| ()).unwrap()
        }
    }
}

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let guide = fs::read_dir(root.join("docs/guide")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> =
        guide.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    pages.sort();
    pages.insert(0, root.join("README.md"));
    pages
}

#[test]
fn every_command_of_the_guide_works_and_prints_what_the_page_says() {
    let pages = pages();
    assert!(pages.len() > 5, "{pages:?}");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut run_count = 0;
    for page in pages {
        let folder = cli();
        copy(&examples, &folder.path("examples"));
        for Block { line, commands, is_run, printed: said } in blocks(&fs::read_to_string(&page).unwrap()) {
            let place = format!("{}, line {line}", page.display());
            if !is_run {
                println!("{place}: not run:\n{commands}");
                continue;
            }
            let printed = run(&folder.path(""), &commands)
                .unwrap_or_else(|printed| panic!("{place}: these commands fail:\n{commands}\n{printed}"));
            run_count += 1;
            if let Some(said) = said {
                assert!(
                    agrees(&said, &printed),
                    "{place}: the page says\n{said}\nand printed was\n{printed}"
                );
            }
        }
    }
    assert!(run_count > 10, "{run_count}");
}

#[test]
fn a_page_that_says_something_else_is_noticed() {
    let page = "```sh\nrestive a\n```\n\n```text\none\n…\n3.1 ms; wrote two\n```\n\n```sh ignore\ncargo b\n```\n\nand\n\n```text\nother\n```\n";
    let block = |line, commands: &str, is_run, printed: Option<&str>| Block {
        line,
        commands: commands.into(),
        is_run,
        printed: printed.map(String::from),
    };
    let said = "one\n…\n3.1 ms; wrote two\n";
    assert_eq!(
        blocks(page),
        [block(1, "restive a\n", true, Some(said)), block(11, "cargo b\n", false, None)]
    );
    assert!(agrees(said, "one\nsome\nmore\n1.20 s; wrote two\n"));
    assert!(agrees(said, "one\n2.0 ms; wrote two\n"));
    for other in
        ["one\nmore\n", "more\n2 ms; wrote two\n", "one\n2 ms; wrote three\n", "one\n2 km; wrote two\n"]
    {
        assert!(!agrees(said, other), "{other}");
    }
    assert!(agrees("…\nb\n…\nd\n…\n", "a\nb\nc\nd\ne\n") && !agrees("…\nd\n…\nb\n…\n", "a\nb\nc\nd\ne\n"));
    assert!(
        run(Path::new("."), "true\nfalse\ntrue").is_err()
            && run(Path::new("."), "echo a >&2") == Ok("a\n".into())
    );
}
