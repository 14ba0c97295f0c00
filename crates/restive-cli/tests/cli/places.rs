//! Where outputs go: without `--force` nothing that exists is replaced, with it only what restive wrote, never an input.

use crate::arms::*;
use crate::harness::*;
use crate::running::*;
use crate::stored::stored;
use std::fs;
use std::path::Path;

/// The arms of `index`, and a model `m` with its study `s` for the other commands.
fn all() -> Cli {
    let folder = cli();
    folder.write("arms.csv", csv(&COMPACT, &[0.2, 0.8, 0.5, 0.5]));
    copy(&stored().join("linear"), &folder.path("m"));
    copy(&stored().join("study"), &folder.path("s"));
    folder
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for file in fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()) {
        fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
    }
}

const EVALUATE: &str = "evaluate m s --estimators published --part all --runs 2 --resamples 2";
const GENERATE: &str = "generate two-state --instances 3 --arms 5 --budget 1 --trajectories 2";
const TRAIN: &str = "train s --predictor effect --profile published";

/// Every file under a folder, with its content.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => all.extend(contents(&path)),
            false => all.push((path.display().to_string(), fs::read(&path).unwrap_or_default())),
        }
    }
    all.sort();
    all
}

/// Runs a command that must be refused, with this in its one line, and must not change anything.
fn refused(folder: &Cli, arguments: &str, code: i32, part: &str) {
    let before = contents(&folder.path(""));
    let run = folder.run(arguments).code(code);
    let message = stderr(&run);
    assert!(message.starts_with("restive: ") && message.contains(part), "{arguments}: {message}");
    assert_eq!(message.lines().count(), 1, "{arguments}: {message}");
    assert_eq!(stdout(&run), "", "{arguments}");
    assert!(contents(&folder.path("")) == before, "{arguments}: something changed");
}

#[test]
fn a_file_that_exists_is_not_replaced_without_force() {
    let folder = all();
    for (name, command) in [
        ("x.csv", "index arms.csv"),
        ("x.parquet", "index arms.csv"),
        ("x.npy", "index arms.csv"),
        ("x.csv", "plan m s"),
        ("x.parquet", "plan m s"),
        ("x.csv", EVALUATE),
    ] {
        folder.write(name, "precious");
        let part = format!("{name}: found a file, expected a new one, unless it is to be replaced: --force");
        refused(&folder, &format!("{command} --out {name}"), 1, &part);
        refused(&folder, &format!("{command} --out {name} --force"), 1, &format!("{name}: "));
    }
    // of two files that belong together, either counts
    fs::remove_file(folder.path("x.npy")).unwrap();
    folder.write("x.npy.verdict.npy", "precious");
    refused(&folder, "index arms.csv --out x.npy", 1, "x.npy.verdict.npy: found a file");
    refused(&folder, "index arms.csv --out x.npy --force", 1, "x.npy.verdict.npy: ");
}

#[test]
fn force_replaces_an_answer_of_the_same_kind_and_nothing_else() {
    let folder = all();
    let text = |name: &str| fs::read_to_string(folder.path(name)).unwrap();
    for name in ["w.csv", "w.parquet", "w.npy"] {
        folder.run(&format!("index arms.csv --out {name}")).success();
        let before = fs::read(folder.path(name)).unwrap();
        folder.run(&format!("index arms.csv --discount 0.5 --out {name} --force")).success();
        assert_ne!(fs::read(folder.path(name)).unwrap(), before);
    }
    // more or fewer columns of indices are indices all the same
    folder.run("index arms.csv --verbose --out w.csv --force").success();
    folder.run("index arms.csv --observation collapsing --chain 3 --out w.csv --force").success();
    folder.run("plan m s --out plan.csv").success();
    folder.run("plan m s --budget 1 --out plan.csv --force").success();
    folder.run(&format!("{EVALUATE} --out scores.csv")).success();
    folder.run(&format!("{EVALUATE} --seed 1 --out scores.csv --force")).success();
    // one kind is not another
    refused(&folder, "plan m s --out w.csv --force", 1, "w.csv: found columns arm, w_0_0");
    refused(&folder, &format!("{EVALUATE} --out plan.csv --force"), 1, "expected scores to replace");
    refused(&folder, "index arms.csv --out scores.csv --force", 1, "expected indices to replace");
    // somebody has worked on it
    let noted = text("plan.csv").replace('\n', ",reached\n");
    folder.write("plan.csv", noted);
    refused(&folder, "plan m s --out plan.csv --force", 1, "expected a plan to replace");
    // an array without verdicts beside it may be anybody's
    fs::remove_file(folder.path("w.npy.verdict.npy")).unwrap();
    refused(&folder, "index arms.csv --out w.npy --force", 1, "w.npy.verdict.npy: ");
    assert!(drafts(&folder).is_empty());
    // there is nothing to replace on a terminal
    refused(&folder, "index arms.csv --force", 2, "--out");
}

#[test]
fn no_input_is_replaced_under_any_name_even_by_force() {
    let folder = all();
    fs::remove_file(folder.path("s/truth.csv")).unwrap();
    for force in ["", " --force"] {
        for command in ["plan m s", EVALUATE] {
            for name in ["s/arms.csv", "./s/trajectories.csv", "m/../s/arms.csv"] {
                let part = format!("{name}: found the input as the output");
                refused(&folder, &format!("{command} --out {name}{force}"), 2, &part);
            }
            // what is not there would become a part of the study
            refused(
                &folder,
                &format!("{command} --out s/truth.csv{force}"),
                2,
                "found the input as the output",
            );
            refused(&folder, &format!("{command} --out s/arms.parquet{force}"), 2, "found the input");
        }
        refused(&folder, &format!("index arms.csv --out ./arms.csv{force}"), 2, "found the input");
        refused(&folder, &format!("{TRAIN} --out s{force}"), 1, "s: found ");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("s/arms.csv", folder.path("link.csv")).unwrap();
        refused(&folder, "plan m s --out link.csv --force", 2, "link.csv: found the input as the output");
    }
    folder.run("plan m s --out s/plan.csv").success();
}

#[test]
fn a_folder_is_replaced_by_force_only_where_its_content_is_of_the_kind() {
    let folder = all();
    let model = |files: &[(&str, &str)]| {
        let _ = fs::remove_dir_all(folder.path("x"));
        fs::create_dir(folder.path("x")).unwrap();
        files.iter().for_each(|(name, content)| folder.write(&format!("x/{name}"), content));
    };
    let card = "{\"name\": \"a card of another program\"}";
    for files in [
        &[("card.json", card)][..],
        &[("card.json", card), ("weights.safetensors", "years of work")],
        &[("weights.safetensors", "years of work")],
    ] {
        model(files);
        refused(&folder, &format!("{TRAIN} --out x"), 1, "x: found a folder with files");
        refused(&folder, &format!("{TRAIN} --out x --force"), 1, "card.json: ");
    }
    model(&[]);
    fs::create_dir(folder.path("x/card.json")).unwrap();
    folder.write("x/card.json/thesis.txt", "years of work");
    refused(&folder, &format!("{TRAIN} --out x --force"), 1, "found the folder \"card.json\" in the folder");

    for (name, content) in [
        ("study.toml", "title = \"another study\"\n"),
        ("arms.csv", "weapon,calibre\n1,2\n"),
        ("trajectories.csv", "x,y\n1,2\n"),
    ] {
        let _ = fs::remove_dir_all(folder.path("x"));
        copy(&stored().join("study"), &folder.path("x"));
        folder.write(&format!("x/{name}"), content);
        refused(&folder, &format!("{GENERATE} --out x --force"), 1, &format!("x/{name}: "));
    }
    model(&[("arms.csv", "weapon,calibre\n1,2\n")]);
    refused(&folder, &format!("{GENERATE} --out x --force"), 1, "x/study.toml: ");
    model(&[("report.html", "years of work")]);
    refused(&folder, "demo --out x --runs 1 --arms 5 --trajectories 2 --force", 1, "x/results.csv: ");

    copy(&stored().join("linear"), &folder.path("old"));
    folder.run(&format!("{TRAIN} --out old --force")).success();
    assert!(fs::read_to_string(folder.path("old/card.json")).unwrap().contains("effect"));
    assert_eq!(folder.listing(), ["arms.csv", "m", "old", "s", "x"]);
}

#[test]
fn a_checkpoint_of_another_program_is_not_replaced_by_any_option() {
    let folder = all();
    // arrays of somebody else, in the same format
    let header = br#"{"__metadata__":{"format":"pt"},"w":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}"#;
    let foreign = [&(header.len() as u64).to_le_bytes()[..], header, &1f64.to_le_bytes()].concat();
    for content in [&b"years of work"[..], b"", &foreign] {
        folder.write("x.checkpoint", content);
        for option in ["", " --restart", " --force", " --restart --force"] {
            refused(&folder, &format!("{TRAIN} --out x{option}"), 1, "x.checkpoint: found ");
        }
    }
    fs::remove_file(folder.path("x.checkpoint")).unwrap();
    fs::create_dir(folder.path("x.checkpoint")).unwrap();
    folder.write("x.checkpoint/thesis.txt", "years of work");
    refused(&folder, &format!("{TRAIN} --out x --force --restart"), 1, "x.checkpoint: ");
}

#[test]
fn what_is_no_result_is_not_replaced_by_an_experiment() {
    let folder = cli();
    let bars = "experiment bars --domain two-state --arms 10 --runs 1 --quick --out e";
    fs::create_dir(folder.path("e")).unwrap();
    let settings = format!(
        r#"{{"restive": "{}", "seed": 0, "profile": "published", "is_quick": true, "arms": 10}}"#,
        env!("CARGO_PKG_VERSION")
    );
    folder.write("e/experiment.json", settings);
    for name in ["bars.csv", "bars.parquet", "bars.svg", "bars.png", "report.html", "metric.csv"] {
        folder.write(&format!("e/{name}"), "years of work");
        refused(&folder, bars, 1, &format!("e/{name}: found "));
        fs::remove_file(folder.path(&format!("e/{name}"))).unwrap();
    }
}

#[test]
fn of_several_runs_with_one_place_one_wins_and_the_others_are_refused() {
    let folder = all();
    let outcome = |commands: Vec<String>, place: &str| {
        let mut children: Vec<_> = commands.iter().map(|command| start(&folder, command)).collect();
        let codes: Vec<_> = children.iter_mut().map(|child| wait(child)).collect();
        let won = codes.iter().filter(|code| **code == Some(0)).count();
        assert!(won == 1 && codes.iter().all(|code| matches!(code, Some(0 | 1))), "{codes:?}");
        for (child, code) in children.iter_mut().zip(&codes).filter(|(_, code)| **code == Some(1)) {
            let said = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
            assert!(
                said.contains(&format!("{place}: found a ")) && said.ends_with(": --force\n"),
                "{code:?}: {said}"
            );
        }
        codes.iter().position(|code| *code == Some(0)).unwrap()
    };
    let generate = |seed: usize, out: &str| format!("{GENERATE} --format csv --seed {seed} --out {out}");
    let winner = outcome((0..4).map(|seed| generate(seed, "study")).collect(), "study");
    folder.run(&generate(winner, "expected")).success();
    for file in ["arms.csv", "trajectories.csv", "truth.csv", "study.toml"] {
        let read = |place: &str| fs::read(folder.path(place).join(file)).unwrap();
        assert!(read("study") == read("expected"), "{file}");
    }
    let index = |k: usize| format!("index arms.csv --discount 0.{}5 --out w.csv", k + 1);
    let winner = outcome((0..4).map(index).collect(), "w.csv");
    folder.run(&index(winner).replace("w.csv", "expected.csv")).success();
    assert!(fs::read(folder.path("w.csv")).unwrap() == fs::read(folder.path("expected.csv")).unwrap());
    assert!(drafts(&folder).is_empty());
}

#[test]
fn the_folder_that_one_stands_in_is_refused_before_the_work() {
    let folder = all();
    let inside = |command: &str, code: i32, part: &str| {
        let place = folder.path("inside");
        let _ = fs::create_dir(&place);
        let run = folder.in_subfolder("inside").run(command).code(code);
        assert!(stderr(&run).contains(part) && stdout(&run).is_empty(), "{command}: {}", stderr(&run));
        assert!(fs::read_dir(&place).unwrap().next().is_none(), "{command}");
    };
    inside(&format!("{GENERATE} --out ."), 1, ".: found the folder that the program runs in");
    inside(&format!("{GENERATE} --out ../inside --force"), 1, "found the folder that the program runs in");
    inside(
        "demo --out . --runs 1 --arms 5 --trajectories 2",
        1,
        ".: found the folder that the program runs in",
    );
    inside(
        "train ../s --predictor effect --profile published --out .",
        2,
        "--out .: expected the name of a folder",
    );
    inside(
        "train ../s --predictor effect --profile published --out ../inside",
        1,
        "found the folder that the program runs in",
    );
    inside("index ../arms.csv --out ../w.csv/", 1, "w.csv");
}

#[cfg(unix)]
#[test]
fn a_link_stands_for_what_it_leads_to() {
    use std::os::unix::fs::symlink;
    let folder = all();
    fs::create_dir(folder.path("elsewhere")).unwrap();
    // to a folder: it is filled, and the link stays
    symlink("elsewhere", folder.path("link")).unwrap();
    folder.run(&format!("{GENERATE} --out link")).success();
    folder.run(&format!("{GENERATE} --seed 1 --out link --force")).success();
    folder.run("study elsewhere").success();
    // to a file of ours
    folder.run("index arms.csv --out w.csv").success();
    let before = fs::read(folder.path("w.csv")).unwrap();
    symlink("w.csv", folder.path("link.csv")).unwrap();
    refused(&folder, "index arms.csv --out link.csv", 1, "link.csv: found a file");
    folder.run("index arms.csv --discount 0.5 --out link.csv --force").success();
    assert_ne!(fs::read(folder.path("w.csv")).unwrap(), before);
    for name in ["link", "link.csv"] {
        assert!(fs::symlink_metadata(folder.path(name)).unwrap().is_symlink(), "{name}");
    }
    // to nothing
    symlink("nowhere.csv", folder.path("lost.csv")).unwrap();
    let part = "lost.csv: found a link that leads nowhere, expected a new name, or a link to something";
    refused(&folder, "index arms.csv --out lost.csv --force", 1, part);
    refused(&folder, &format!("{GENERATE} --out lost.csv"), 1, part);
    refused(&folder, &format!("{TRAIN} --out lost.csv"), 1, part);
    // the models of links are trained beside them
    symlink("elsewhere", folder.path("model")).unwrap();
    fs::remove_dir_all(folder.path("elsewhere")).unwrap();
    fs::create_dir(folder.path("elsewhere")).unwrap();
    folder.run(&format!("{TRAIN} --out model")).success();
    assert!(folder.path("elsewhere/card.json").exists() && drafts(&folder).is_empty());
}

#[cfg(unix)]
#[test]
fn a_pipe_or_a_device_is_no_place() {
    let folder = all();
    assert!(std::process::Command::new("mkfifo").arg(folder.path("pipe.csv")).status().unwrap().success());
    std::os::unix::fs::symlink("/dev/null", folder.path("null.csv")).unwrap();
    for command in ["index arms.csv", "plan m s", EVALUATE] {
        for (name, force) in [("pipe.csv", ""), ("pipe.csv", " --force"), ("null.csv", " --force")] {
            let message = stderr(&folder.run(&format!("{command} --out {name}{force}")).code(1));
            assert!(message.contains(&format!("{name}: found a pipe or a device")), "{message}");
        }
        let message = stderr(&folder.run(&format!("{command} --out /dev/stdout")).code(2));
        assert!(message.contains("/dev/stdout: found no ending, expected .csv"), "{message}");
    }
    let message = stderr(&folder.run(&format!("{GENERATE} --out /dev/null")).code(1));
    assert!(message.contains("/dev/null: found a file, expected a new or empty folder"), "{message}");
}

#[test]
fn manual_pages_replace_manual_pages_of_restive_only() {
    let folder = cli();
    fs::create_dir(folder.path("man")).unwrap();
    folder.run("man man").success();
    let pages = contents(&folder.path("man"));
    assert!(pages.len() > 10 && pages.iter().all(|(name, text)| name.ends_with(".1") && !text.is_empty()));
    folder.run("man man").success();
    assert!(contents(&folder.path("man")) == pages);
    folder.write("man/restive-plan.1", "years of work");
    refused(&folder, "man man", 1, "man/restive-plan.1: found something else, expected a manual page");
}
