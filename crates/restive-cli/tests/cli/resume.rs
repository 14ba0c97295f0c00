//! Training that is interrupted: killed at any instant and started again, it ends in the same weights.

use crate::harness::{Cli, assert_output, cli, stderr};
use crate::running::{start, tell, wait_for};
use crate::train::{card, weights};
use std::fs;
use std::time::Duration;

/// Some hundred milliseconds of training, with dropout, in two fits.
const TRAIN: &str = "train s --profile paper --epochs 700 --ensemble 2 --threads 1";

fn study() -> Cli {
    let folder = cli();
    let size = "--instances 4 --arms 40 --budget 8 --trajectories 4";
    folder.run(&format!("generate two-state --out s {size}")).success();
    folder
}

#[test]
fn killed_again_and_again_it_ends_in_the_same_weights() {
    let folder = study();
    folder.run(&format!("{TRAIN} --out whole")).success();
    let command = format!("{TRAIN} --out killed");
    let (mut kills, mut resumed) = (0, 0);
    loop {
        let mut child = start(&folder, &command);
        // ever later, so that it ends on any machine
        std::thread::sleep(Duration::from_millis(15 + 12 * kills));
        let ended = child.try_wait().unwrap();
        if ended.is_none() {
            child.kill().unwrap(); // SIGKILL
        }
        let has_succeeded = child.wait().unwrap().success();
        let said = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
        resumed += usize::from(said.contains("killed.checkpoint: going on after "));
        if has_succeeded {
            break;
        }
        assert_eq!(ended, None, "{said}");
        kills += 1;
        assert!(kills < 300);
    }
    assert!(kills >= 3 && resumed >= 3, "killed {kills} times, resumed {resumed} times");
    assert!(weights(&folder, "killed") == weights(&folder, "whole"), "after {kills} kills");
    assert_eq!(card(&folder, "killed"), card(&folder, "whole"));
    assert!(!folder.path("killed.checkpoint").exists());
}

#[test]
fn a_checkpoint_of_another_training_is_refused_with_the_difference() {
    let folder = study();
    let mut child = start(&folder, "train s --profile published --epochs 100000 --out m");
    wait_for(&folder, "m.checkpoint");
    child.kill().unwrap();
    child.wait().unwrap();
    let refused = |options: &str, part: &str| {
        let message = stderr(&folder.run(&format!("train {options} --out m")).code(1));
        assert_eq!(message.lines().count(), 1, "{message}");
        assert!(message.contains("m.checkpoint: found a checkpoint of another training"), "{message}");
        assert!(message.contains(part) && message.contains("--restart"), "{message}");
        assert!(folder.path("m.checkpoint").exists() && !folder.path("m").exists());
    };
    refused("s --profile published --epochs 5", "epochs: was 100000, now 5");
    refused("s --profile paper --epochs 100000", "profile: was \"published\", now \"paper\"");
    refused("s --profile published --epochs 100000 --seed 1", "seed: was 0, now 1");
    refused("s --predictor effect", "predictor: was \"network\", now \"effect\"");
    folder
        .run("generate two-state --out other --instances 4 --arms 40 --budget 8 --trajectories 3")
        .success();
    refused("other --profile published --epochs 100000", "study: was ");

    folder.run("train s --profile published --epochs 5 --out reference").success();
    for option in ["--restart", "--force"] {
        let kept = fs::read(folder.path("m.checkpoint")).unwrap();
        folder.run(&format!("train s --profile published --epochs 5 --out m {option}")).success();
        assert!(!folder.path("m.checkpoint").exists());
        assert!(weights(&folder, "m") == weights(&folder, "reference"), "{option}");
        fs::remove_dir_all(folder.path("m")).unwrap();
        folder.write("m.checkpoint", kept);
    }
    folder.write("m.checkpoint", "nothing of ours");
    let message = stderr(&folder.run("train s --epochs 5 --out m").code(1));
    assert!(message.contains("m.checkpoint") && message.lines().count() == 1, "{message}");
}

#[test]
fn a_training_that_is_already_there_is_left_alone() {
    let folder = study();
    let command = "train s --profile published --epochs 2000 --out m";
    let mut child = start(&folder, command);
    wait_for(&folder, "m.checkpoint");
    let kept = fs::read(folder.path("m.checkpoint")).unwrap();
    assert!(child.wait().unwrap().success());
    let (first, written) = (weights(&folder, "m"), card(&folder, "m"));
    let again = folder.run(command).success();
    assert_output("train-again", &[&again]);
    assert_eq!(folder.run(&format!("{command} --json")).success().json()["is_new"], false);
    // killed between the model and the removal of the checkpoint
    folder.write("m.checkpoint", kept);
    folder.run(command).success();
    assert!(weights(&folder, "m") == first && card(&folder, "m") == written);
    assert_eq!(folder.listing(), ["m", "s"]);
    // anything else there is refused, or replaced with leave
    let message = stderr(&folder.run("train s --epochs 3 --out m").code(1));
    assert!(message.contains("m: found a folder with files"), "{message}");
    folder.run("train s --epochs 3 --out m --force").success();
    assert_eq!(card(&folder, "m")["configuration"]["epochs"], 3);
}

#[cfg(unix)]
#[test]
fn an_interruption_keeps_the_checkpoint_and_says_so() {
    let folder = study();
    let command = format!("{TRAIN} --out m");
    folder.run(&format!("{TRAIN} --out whole")).success();
    let mut child = start(&folder, &command);
    wait_for(&folder, "m.checkpoint");
    tell(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let message = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert!(
        message.contains("interrupted, m.checkpoint holds what was trained: the same command goes on"),
        "{message}"
    );
    assert_eq!(folder.listing(), ["m.checkpoint", "s", "whole"]);
    let run = folder.run(&command).success();
    assert!(stderr(&run).contains("note: m.checkpoint: going on after "), "{}", stderr(&run));
    assert!(weights(&folder, "m") == weights(&folder, "whole"));
}
