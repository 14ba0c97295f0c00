//! Whatever is wrong with a study, a roll says it in the words of the study that is read whole.

use crate::parquet::write_parquet;
use restive_tables::{Roll, Study};
use restive_testkit::Chance;
use restive_testkit::random_study::{Observed, RandomStudy, TextTable};
use std::fs;
use std::path::Path;

const SETTINGS: &str = "states = 2\ndiscount = 0.9\nbudget = 1\nhorizon = 2\nbehaviour = \"logged\"\n";
const ARMS: &str =
    "instance,arm,age,district\neast,Ada,31,north\neast,\"Ben, jr\",24,south\nwest,Ada,25,north\n";
const TRAJECTORIES: &str = "instance,trajectory,t,arm,state,action,propensity\n\
    east,1,0,Ada,0,1,0.5\neast,1,0,\"Ben, jr\",1,0,0.5\neast,1,1,Ada,1,,\neast,1,1,\"Ben, jr\",1,,\n\
    west,1,0,Ada,1,1,1\nwest,1,1,Ada,0,,\n";
const TRUTH: &str = "instance,arm,p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1\neast,Ada,0.1,0.2,0.3,0.4\n\
    east,\"Ben, jr\",0.1,0.2,0.3,0.4\nwest,Ada,0.3,0.6,0.5,0.9\n";

/// What reading all of it says.
fn said(folder: &Path) -> [Result<String, String>; 2] {
    let study = Study::read(folder).map(|study| study.fingerprint());
    let roll = Roll::read(folder).and_then(|roll| roll.fingerprint());
    [study, roll].map(|said| said.map_err(|error| error.to_string()))
}

/// Both refuse, in the same words; `says` is part of them.
fn refused(folder: &Path, says: &str) {
    let [study, roll] = said(folder);
    assert!(study.as_ref().is_err_and(|said| said.contains(says)), "{says}: {study:?}");
    assert_eq!(roll, study);
}

fn write(folder: &Path, changes: &[(&str, &str)]) {
    let all = [
        ("study.toml", SETTINGS),
        ("arms.csv", ARMS),
        ("trajectories.csv", TRAJECTORIES),
        ("truth.csv", TRUTH),
    ];
    all.iter().chain(changes).for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
}

#[test]
fn faults_of_text_have_the_same_words() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, &[]);
    let [study, roll] = said(folder);
    assert!(study.is_ok(), "{study:?}");
    assert_eq!(roll, study);
    let long = "x".repeat(5000);
    let name = |file: &str| match file {
        "a" => ("arms.csv", ARMS),
        "t" => ("trajectories.csv", TRAJECTORIES),
        _ => ("truth.csv", TRUTH),
    };
    let row = "west,1,0,Ada,1,1,1";
    let cases: &[(&str, &str, &str, &str)] = &[
        ("a", "instance,arm", "instance,name", "expected a column arm"),
        ("a", "west,Ada", "east,Ada", "line 4 (arm Ada), instance east: found the arm a second time"),
        ("a", "west,Ada", "west,", "column arm: found an empty cell"),
        ("a", "west,Ada", ",Ada", "column instance: found an empty cell"),
        ("a", "Ada,31", &format!("{long},31"), "column arm: found"),
        ("a", "west", &long, "column instance: found"),
        ("a", "25,north", &format!("25,{long}"), "column district: found"),
        ("a", "district", "age", "column age: found more than once"),
        ("a", "district", "split", "column split: found \"north\", expected train"),
        ("a", "31", "old", "column age: found \"old\", expected a number as in most"),
        ("a", "31,north", "31,7", "column district: found \"7\", expected text as in most"),
        ("a", "31", "inf", "column age: found an infinite number"),
        ("a", "west,Ada,25", "west,Ada", "line 4: found 3 fields"),
        ("a", ARMS, "arm,x\n", "found a header and no rows"),
        ("a", ARMS, "", "found an empty file"),
        ("t", "propensity\n", "other\n", "expected a column propensity: study.toml says"),
        ("t", "instance,", "other,", "expected a column instance"),
        ("t", row, "west,1,0,Ada,1,yes,1", "column action: found \"yes\", expected a number: 0 for an arm"),
        ("t", row, "west,1,0,Ada,good,1,1", "column state: found \"good\", expected a number: the states"),
        ("t", row, "west,1,0,Ada,2,1,1", "found 2, expected a state from 0 to 1"),
        ("t", row, "west,1,0,Ada,0.5,1,1", "found 0.5, expected a state"),
        ("t", row, "west,1,0,Ada,-1,1,1", "found -1, expected a state"),
        ("t", row, "west,1,0,Ada,1,2,1", "found 2, expected 0, 1 or an empty cell"),
        ("t", row, "west,1,0,Ada,1,-1,1", "found -1, expected 0, 1 or an empty cell"),
        ("t", row, "west,1,0,Ada,1,inf,1", "found inf, expected 0, 1 or an empty cell"),
        ("t", row, "west,1,-1,Ada,1,1,1", "found -1, expected a step"),
        ("t", row, "west,1,65536,Ada,1,1,1", "found 65536, expected a step"),
        ("t", row, "west,1,0.5,Ada,1,1,1", "found 0.5, expected a step"),
        ("t", row, "west,1,,Ada,1,1,1", "column t, instance west: found an empty cell"),
        ("t", row, "west,,0,Ada,1,1,1", "column trajectory"),
        ("t", row, &format!("west,{long},0,Ada,1,1,1"), "column trajectory"),
        ("t", row, "west,1,0,Eve,1,1,1", "\"Eve\", an arm without features"),
        ("t", row, "west,1,0,Ada ,1,1,1", "\"Ada\" is there, which differs in spaces"),
        ("t", row, "west,1,0,,1,1,1", "column arm"),
        ("t", row, "north,1,0,Ada,1,1,1", "column instance: found \"north\", expected an instance of"),
        ("t", row, "west ,1,0,Ada,1,1,1", "\"west\" is there, which differs in spaces"),
        ("t", row, "west,1,0,Ada,1,1,0", "above 0 and at most 1"),
        ("t", row, "west,1,0,Ada,1,1,1.5", "above 0 and at most 1"),
        ("t", row, "west,1,0,Ada,1,1,-0.1", "above 0 and at most 1"),
        ("t", "west,1,1,Ada,0,,", "west,1,0,Ada,0,,", "trajectory 1, t 0: found a second row"),
        ("t", "west,1,0,Ada,1,1,1\nwest,1,1,Ada,0,,\n", "", "instance west: found no rows"),
        ("t", "west,1,1,Ada,0,,", "west,1,1,Ada", "line 7: found 4 fields"),
        ("t", TRAJECTORIES, "", "found an empty file"),
        ("p", "west,Ada,0.3", "west,Ada,1.3", "state 0, passive, next state 1: found 1.3"),
        ("p", "west,Ada,0.3", "west,Ada,", "state 0, passive"),
        ("p", "west,Ada", "west,Eve", "found arm \"Eve\" of instance \"west\""),
        ("p", "west,Ada", "south,Ada", "found instance \"south\""),
        ("p", "west,Ada", "east,Ada", "found the arm of instance \"east\" a second time"),
        ("p", "west,Ada,0.3,0.6,0.5,0.9\n", "", "instance west, arm Ada: found no row"),
        ("p", "p_1_1_1", "note", "found no column p_1_1_1"),
    ];
    for (file, from, to, says) in cases {
        let (file, text) = name(file);
        assert!(text.contains(from), "{from}");
        write(folder, &[(file, &text.replacen(from, to, 1))]);
        refused(folder, says);
    }
    let late = TRAJECTORIES.replace("st,1,1,", "st,1,3,").replace("st,1,0,", "st,1,2,");
    write(folder, &[("trajectories.csv", &late)]);
    refused(folder, "column t: found 2 as the first step, expected 0 or 1");
    write(folder, &[("study.toml", &SETTINGS.replace("budget = 1", "budget = 2"))]);
    refused(folder, "instance west: found 1 arms, expected at least the budget of 2");
    write(folder, &[("study.toml", &(SETTINGS.to_string() + "text = [\"village\"]\n"))]);
    refused(folder, "text in study.toml: found \"village\", which is no feature");
    let full = "instance,arm,p_0_0_0,p_0_0_1,p_0_1_0,p_0_1_1,p_1_0_0,p_1_0_1,p_1_1_0,p_1_1_1\neast,Ada,0.5,0.4,1,0,1,0,1,0\n";
    let rest = "east,\"Ben, jr\",1,0,1,0,1,0,1,0\nwest,Ada,1,0,1,0,1,0,1,0\n";
    write(folder, &[("truth.csv", &format!("{full}{rest}"))]);
    refused(folder, "line 2 (arm Ada), state 0, passive: found a sum of 0.9, expected 1");
    for (rows, says) in [
        (
            "a,0,A,0,,1\na,0,B,0,,2\n",
            "line 3 (arm B), column order, trajectory a, t 0: found 2, expected 1, as in",
        ),
        (
            "a,0,A,0,,\n",
            "column order, trajectory a, t 0: found an empty cell, expected a number that says when",
        ),
        ("a,0,A,0,,inf\n", "column order, trajectory a, t 0: found inf"),
    ] {
        let rows = format!("trajectory,t,arm,state,action,order\n{rows}");
        let settings = SETTINGS.replace("logged", "uniform");
        write(
            folder,
            &[("study.toml", &settings), ("arms.csv", "arm,x\nA,1\nB,2\n"), ("trajectories.csv", &rows)],
        );
        refused(folder, says);
    }
}

/// Of two faults the first one counts, wherever it is found.
#[test]
fn one_cell_of_a_random_table_that_is_wrong_is_named_alike() {
    let folder = tempfile::tempdir().unwrap();
    let mut refusals = 0;
    for seed in 0..120 {
        let mut random = Chance::new(seed + 1);
        let mut made = RandomStudy::new(seed, Observed::Always);
        for _ in 0..1 + random.below(2) {
            let text: &mut TextTable =
                if random.below(3) == 0 { &mut made.arms } else { &mut made.trajectories };
            let (row, column) = (random.below(text.rows.len()), random.below(text.columns.len()));
            let odd = ["", "-1", "0.5", "99", "1e300", "7", "inf"][random.below(7)];
            match random.below(4) {
                0 => {
                    let again = text.rows[row].clone();
                    text.rows.push(again);
                }
                _ => text.rows[row][column] = odd.into(),
            }
        }
        for is_csv in [true, false] {
            if is_csv {
                made.write(folder.path());
            } else {
                write_parquet(&made, folder.path(), 5);
            }
            let [study, roll] = said(folder.path());
            assert_eq!(roll, study, "seed {seed}");
            refusals += usize::from(study.is_err());
        }
    }
    assert!((100..240).contains(&refusals), "{refusals}");
}

#[test]
fn damaged_parquet_never_panics() {
    let folder = tempfile::tempdir().unwrap();
    let made = RandomStudy::new(3, Observed::Always);
    write_parquet(&made, folder.path(), 7);
    for name in ["arms.parquet", "trajectories.parquet"] {
        let file = folder.path().join(name);
        let whole = fs::read(&file).unwrap();
        for place in (0..whole.len()).step_by(23) {
            let mut damaged = whole.clone();
            damaged[place] ^= 0xff;
            for (bytes, is_cut) in [(&whole[..place], true), (&damaged[..], false)] {
                fs::write(&file, bytes).unwrap();
                match Roll::read(folder.path()).and_then(|roll| roll.fingerprint()) {
                    Ok(_) => assert!(!is_cut, "{name} cut at {place}"),
                    Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
                }
            }
        }
        fs::write(&file, whole).unwrap();
    }
}
