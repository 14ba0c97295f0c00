//! A roll holds what the study holds that is read whole: for random studies, in either format, whatever the order of rows.

mod faults;
mod made;
mod people;

use made::{Made, Random};
use restive::instance::{NO_ACTION, UNSEEN};
use restive_tables::{Piece, Roll, Study, StudyInstance};
use std::path::Path;

/// People of a study by the pieces of its roll: nobody is missing, nobody comes twice.
fn assert_same(study: &Study, roll: &Roll, pieces: &[Piece], rows: usize) {
    for (k, there) in study.instances.iter().enumerate() {
        let mut seen = vec![false; there.arms.len()];
        for piece in pieces.iter().filter(|piece| piece.instance == k) {
            let names = piece.positions.iter().map(|position| roll.name(*position as usize));
            assert!(names.eq(&piece.there.arms));
            assert!(piece.positions.is_sorted_by(|a, b| a < b) && piece.positions.len() <= rows);
            let number = |arm: &String| there.arms.iter().position(|other| other == arm).unwrap();
            let numbers: Vec<usize> = piece.there.arms.iter().map(number).collect();
            numbers.iter().for_each(|i| assert!(!std::mem::replace(&mut seen[*i], true)));
            assert_part(&piece.there, there, &numbers);
        }
        assert!(seen.iter().all(|seen| *seen));
    }
}

/// A piece is the arms of these numbers.
fn assert_part(piece: &StudyInstance, there: &StudyInstance, numbers: &[usize]) {
    assert_eq!((&piece.name, &piece.trajectory_names), (&there.name, &there.trajectory_names));
    assert_eq!(piece.features, there.features.select_arms(numbers));
    let split = there.split.as_ref().map(|split| numbers.iter().map(|i| split[*i]).collect::<Vec<_>>());
    assert_eq!(piece.split, split);
    let expected = there.trajectories.select_arms(numbers);
    assert_eq!(piece.trajectories.state(), expected.state());
    assert_eq!(piece.trajectories.action(), expected.action());
    assert_eq!(piece.trajectories.states(), expected.states());
}

fn assert_counts(study: &Study, roll: &Roll) {
    let counts = roll.counts();
    let logs = || study.instances.iter().map(|instance| &instance.trajectories);
    let (mut newcomers, mut decision_steps, mut steps) = (0, 0, 0);
    for (instance, found) in study.instances.iter().zip(roll.instances()) {
        let log = &instance.trajectories;
        assert_eq!((&found.name, found.people, found.steps), (&instance.name, log.arms(), log.steps()));
        for i in 0..log.arms() {
            let one = log.select_arms(&[i]);
            let is_known =
                one.state().iter().any(|s| *s != UNSEEN) || one.action().iter().any(|a| *a != NO_ACTION);
            newcomers += usize::from(!is_known);
        }
        for j in 0..log.trajectories() {
            for t in 0..log.steps() {
                let actions: Vec<u8> = (0..log.arms()).map(|i| log.action()[[j, t, i]]).collect();
                let decided = actions.iter().filter(|a| **a != NO_ACTION).count();
                assert_eq!(found.decisions[j][t], decided);
                assert_eq!(found.pulls[j][t], actions.iter().filter(|a| **a == 1).count());
                let seen = (0..log.arms()).filter(|i| log.state()[[j, t, *i]] != UNSEEN).count();
                assert_eq!(found.seen[j][t], seen);
                steps += usize::from(decided > 0);
                decision_steps = decision_steps.max(if decided > 0 { t + 1 } else { 0 });
            }
        }
    }
    assert_eq!(
        (counts.newcomers, counts.decision_steps, counts.steps, counts.people),
        (newcomers, decision_steps, steps, study.arms().iter().sum())
    );
    let sum = |count: fn(&restive::Trajectories) -> usize| logs().map(count).sum::<usize>();
    assert_eq!(counts.pulls, sum(|log| log.action().iter().filter(|a| **a == 1).count()));
    assert_eq!(counts.decisions, sum(|log| log.known_propensities().1));
    assert_eq!(counts.known_propensities, sum(|log| log.known_propensities().0));
    assert_eq!(counts.unobserved, sum(|log| log.state().iter().filter(|s| **s == UNSEEN).count()));
    assert_eq!(counts.cells, sum(|log| log.state().len()));
    assert_eq!(Some(counts.most_pulls), logs().map(|log| log.most_pulls()).max());
    assert_eq!(roll.over_budget(), study.over_budget());
    assert_eq!(counts.has_propensity, logs().any(|log| log.propensity().is_some()));
    assert_eq!(counts.has_reward, logs().any(|log| log.reward().is_some()));
    assert_eq!(roll.has_truth(), study.instances[0].truth.is_some());
}

fn pieces(roll: &Roll, rows: usize) -> Vec<Piece> {
    roll.pieces(rows).unwrap().collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_roll_is_the_study_whatever_the_order_and_the_format() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..60 {
        let made = Made::random(seed);
        let mut fingerprints = Vec::new();
        for (ending, group) in [("csv", 0), ("parquet", 3), ("parquet", 1000)] {
            made.write(folder.path(), ending, group);
            let (study, roll) = (Study::read(folder.path()).unwrap(), Roll::read(folder.path()).unwrap());
            assert_eq!(study.settings, roll.settings);
            assert_eq!(Roll::estimate(folder.path()).unwrap(), Some(roll.people() as u64));
            for rows in [1, 7, usize::MAX] {
                assert_same(&study, &roll, &pieces(&roll, rows), rows);
            }
            assert_counts(&study, &roll);
            assert_eq!(roll.fingerprint().unwrap(), study.fingerprint(), "seed {seed} {ending}");
            // without a pass before it
            let again = Roll::read(folder.path()).unwrap();
            assert_eq!(again.fingerprint().unwrap(), study.fingerprint());
            fingerprints.push(study.fingerprint());
            assert!(study.has_fingerprint(&study.fingerprint()));
            assert!(study.has_fingerprint(&study.earlier_fingerprint()));
            assert_ne!(study.fingerprint(), study.earlier_fingerprint());
            some(&study, &roll, seed);
        }
        fingerprints.dedup();
        assert_eq!(fingerprints.len(), 1, "seed {seed}");
    }
}

/// Some people, in any order and twice.
fn some(study: &Study, roll: &Roll, seed: u64) {
    let mut random = Random(seed + 1000);
    let asked: Vec<u32> = (0..random.below(12)).map(|_| random.below(roll.people()) as u32).collect();
    let found: Vec<Piece> = roll.some(&asked).unwrap().collect::<Result<_, _>>().unwrap();
    let mut positions: Vec<u32> = found.iter().flat_map(|piece| piece.positions.clone()).collect();
    let mut expected = asked;
    positions.sort_unstable();
    expected.sort_unstable();
    expected.dedup();
    assert_eq!(positions, expected);
    for piece in &found {
        let there = &study.instances[piece.instance];
        let number = |position: &u32| {
            assert_eq!(roll.instance_of(*position as usize), piece.instance);
            assert_eq!(roll.find(piece.instance, roll.name(*position as usize)), Some(*position as usize));
            there.arms.iter().position(|arm| arm == roll.name(*position as usize)).unwrap()
        };
        assert_part(&piece.there, there, &piece.positions.iter().map(number).collect::<Vec<_>>());
    }
}

/// Every kind of content counts; what only pads does not.
#[test]
fn the_fingerprint_knows_every_cell() {
    let folder = tempfile::tempdir().unwrap();
    let print = |made: &Made| {
        made.write(folder.path(), "csv", 0);
        let roll = Roll::read(folder.path()).unwrap();
        let print = roll.fingerprint().unwrap();
        assert_eq!(print, Study::read(folder.path()).unwrap().fingerprint());
        print
    };
    let seed = (0..).find(|seed| {
        let made = Made::random(*seed);
        made.truth.is_some()
            && made.trajectories.columns.len() == 9
            && made.settings.starts_with("states = 3")
    });
    let made = Made::random(seed.unwrap());
    let known = print(&made);
    let mut changes = 0;
    for (column, to) in [
        ("state", "0"),
        ("state", "1"),
        ("action", "1"),
        ("action", ""),
        ("propensity", "0.5"),
        ("reward", "3"),
    ] {
        let mut other = made.clone();
        let c = other.trajectories.column(column);
        let action = other.trajectories.column("action");
        let is_there = |row: &&mut Vec<String>| row[c] != to && !row[action].is_empty();
        let Some(row) = other.trajectories.rows.iter_mut().find(is_there) else { continue };
        row[c] = to.into();
        assert_ne!(print(&other), known, "{column}");
        changes += 1;
    }
    assert_eq!(changes, 6);
    for (column, to) in [("x", "77"), ("word", "green"), ("code", "5")] {
        let mut other = made.clone();
        let c = other.arms.column(column);
        other.arms.rows[0][c] = to.into();
        assert_ne!(print(&other), known, "{column}");
    }
    let mut other = made.clone();
    let truth = other.truth.as_mut().unwrap();
    truth.rows[0][2..5].rotate_right(1);
    assert_ne!(print(&other), known);
    let mut other = made.clone();
    other.truth = None;
    assert_ne!(print(&other), known);
    // a step of nothing makes the arrays longer, and nothing else
    let mut other = made.clone();
    let mut row = other.trajectories.rows[0].clone();
    let t = other.trajectories.column("t");
    row[t] = "9".into();
    for name in ["state", "action", "propensity", "reward"] {
        row[other.trajectories.column(name)] = String::new();
    }
    other.trajectories.rows.push(row);
    assert_eq!(print(&other), known);
}

/// Studies whose fingerprints stand on the cards of models of version 0.1.0.
#[test]
fn the_fingerprint_of_earlier_versions_is_known() {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../restive-cli/tests/stored");
    for (study, model) in [("study", "linear"), ("labels", "labels-model")] {
        let study = Study::read(&stored.join(study)).unwrap();
        let card = restive_tables::Model::read(&stored.join(model)).unwrap().card;
        assert_eq!(study.earlier_fingerprint(), card.fingerprint);
        assert!(study.has_fingerprint(&card.fingerprint) && !study.has_fingerprint("00"));
    }
}

fn write_small(folder: &Path) {
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("study.toml", "states = 2\ndiscount = 0.9\nbudget = 1\nhorizon = 9\nbehaviour = \"uniform\"\n");
    write("arms.csv", "arm,age,split\nBen,24,train\nAda,31,test\nCho,,validation\n");
    write(
        "trajectories.csv",
        "trajectory,t,arm,state,action\n1,0,Ada,0,1\n1,0,Ben,1,0\n1,1,Ada,1,\n1,1,Ben,0,\n",
    );
}

#[test]
fn a_file_that_changes_between_two_passes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    write_small(folder.path());
    let roll = Roll::read(folder.path()).unwrap();
    assert_eq!(pieces(&roll, 2).len(), 2);
    let arms = "arm,age,split\nBen,24,train\nAda,32,test\nDan,,validation\nEve,3,test\n";
    std::fs::write(folder.path().join("arms.csv"), arms).unwrap();
    let said = roll.pieces(2).map(drop).unwrap_err().to_string();
    assert!(said.contains("found a file that went from"), "{said}");
}

#[test]
fn studies_that_do_not_fit_into_a_byte_are_read_into_memory() {
    let folder = tempfile::tempdir().unwrap();
    write_small(folder.path());
    for (settings, found) in [
        (
            "states = 61\ndiscount = 0.9\nbudget = 1\nhorizon = 9\nbehaviour = \"uniform\"\n",
            "found 61 states",
        ),
        (
            "states = 2\ndiscount = 0.9\nbudget = 1\nhorizon = 9\nbehaviour = \"uniform\"\nobservation = \"collapsing\"\nchain = 4\n",
            "found states that are seen at pulls only",
        ),
    ] {
        std::fs::write(folder.path().join("study.toml"), settings).unwrap();
        let said = Roll::read(folder.path()).map(drop).unwrap_err().to_string();
        let end = "expected at most 60 states, seen at every step: other studies are read into memory";
        assert!(said.contains(found) && said.ends_with(end), "{said}");
        assert_eq!(Roll::estimate(folder.path()).unwrap(), None);
        let settings = restive_tables::StudySettings::from_text(Path::new("study.toml"), settings).unwrap();
        assert!(!Roll::can_read(&settings));
    }
}
