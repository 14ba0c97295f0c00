//! Rolls and studies against the naive reader: for random studies, in either format, whatever the order of rows.

mod declared;
mod faults;
mod fixture;
mod naive;
mod parquet;
mod people;
mod recorded;

use naive::{assert_counts, assert_pieces, assert_positions, assert_study};
use parquet::write_parquet;
use rayon::{ThreadPool, ThreadPoolBuilder};
use restive::Trajectories;
use restive::data::features::{Column, Features};
use restive::instance::Logged;
use restive_tables::{Piece, Roll, Study};
use restive_testkit::Chance;
use restive_testkit::naive_study::NaiveStudy;
use restive_testkit::random_study::{Observed, RandomStudy};
use std::path::Path;
use std::sync::LazyLock;

/// Pools of 1 to 5 threads.
static POOLS: LazyLock<Vec<ThreadPool>> = LazyLock::new(|| {
    (1..=5).map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().unwrap()).collect()
});

fn pieces(roll: &Roll, rows: usize, threads: usize) -> Vec<Piece> {
    POOLS[threads - 1].install(|| roll.pieces(rows).unwrap().collect::<Result<_, _>>().unwrap())
}

/// Compares both readers with the naive reader: as CSV and as Parquet, with rows in two orders, pieces of 1 arm to all arms, and 1 to
/// 5 threads. Returns the fingerprint, which depends on none of them.
fn compare(folder: &Path, seed: u64, observed: Observed) -> String {
    let mut study = RandomStudy::new(seed, observed);
    let mut chance = Chance::new(seed + 1000);
    let mut fingerprints = Vec::new();
    for group in [None, Some(1 + chance.below(20)), Some(1000)] {
        study.write(folder);
        let naive = NaiveStudy::read(folder);
        if let Some(group) = group {
            write_parquet(&study, folder, group);
        }
        let read = Study::read(folder).unwrap();
        assert_study(&read, &naive);
        fingerprints.push(read.fingerprint());
        assert!(read.has_fingerprint(&read.fingerprint()));
        assert!(read.has_fingerprint(&read.earlier_fingerprint()));
        assert_ne!(read.fingerprint(), read.earlier_fingerprint());
        if observed == Observed::Always {
            let roll = Roll::read(folder).unwrap();
            assert_eq!(Roll::estimate(folder).unwrap(), Some(naive.arms.len() as u64));
            for rows in [1, 2 + chance.below(7), usize::MAX] {
                assert_pieces(&roll, &pieces(&roll, rows, 1 + chance.below(5)), &naive, rows);
            }
            assert_some(&roll, &naive, &mut chance);
            assert_counts(&roll, &naive);
            fingerprints.push(roll.fingerprint().unwrap());
            // without a pass before it
            fingerprints.push(Roll::read(folder).unwrap().fingerprint().unwrap());
        }
        study.reorder(&mut chance);
    }
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), 1, "fingerprints of seed {seed}");
    fingerprints.remove(0)
}

/// Reads some arms, in any order and twice.
fn assert_some(roll: &Roll, naive: &NaiveStudy, chance: &mut Chance) {
    let asked: Vec<u32> = (0..chance.below(12)).map(|_| chance.below(roll.people()) as u32).collect();
    let found: Vec<Piece> = roll.some(&asked).unwrap().collect::<Result<_, _>>().unwrap();
    let mut positions: Vec<u32> = found.iter().flat_map(|piece| piece.positions.clone()).collect();
    let mut expected = asked;
    positions.sort_unstable();
    expected.sort_unstable();
    expected.dedup();
    assert_eq!(positions, expected);
    found.iter().for_each(|piece| assert_positions(roll, piece, naive));
}

#[test]
fn both_readers_agree_with_the_naive_reader_on_300_studies() {
    let folder = tempfile::tempdir().unwrap();
    let mut fingerprints: Vec<String> =
        (0..300).map(|seed| compare(folder.path(), seed, Observed::Always)).collect();
    fingerprints.sort();
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), 300);
}

#[test]
fn reader_of_labels_agrees_with_the_naive_reader_on_200_studies() {
    let folder = tempfile::tempdir().unwrap();
    let mut fingerprints: Vec<String> =
        (0..200).map(|seed| compare(folder.path(), seed, Observed::AtPulls)).collect();
    fingerprints.sort();
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), 200);
}

fn disagrees(comparison: impl FnOnce()) -> bool {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(comparison)).is_err()
}

/// The comparison detects one missing row of either table.
#[test]
fn study_without_one_row_disagrees_with_the_naive_reader() {
    let folder = tempfile::tempdir().unwrap();
    let mut dropped = 0;
    for seed in 0..40 {
        let study = RandomStudy::new(seed, Observed::Always);
        study.write(folder.path());
        let naive = NaiveStudy::read(folder.path());
        let mut chance = Chance::new(seed + 2000);
        for which in 0..2 {
            let mut other = study.clone();
            let table = if which == 0 { &mut other.arms } else { &mut other.trajectories };
            let row = table.rows.remove(chance.below(table.rows.len()));
            other.truth = None;
            other.write(folder.path());
            // an arm with a log, the only row of a group or the last row with the smallest step is refused
            let Ok(read) = Study::read(folder.path()) else { continue };
            let roll = Roll::read(folder.path()).unwrap();
            // a row of a log without a state and an action is not a row
            let has_no_value = |name: &str| row[study.trajectories.column(name)].is_empty();
            if which == 1 && has_no_value("state") && has_no_value("action") {
                continue;
            }
            let mut naive = naive.clone();
            naive.arms.values_mut().for_each(|arm| arm.truth = None);
            assert!(disagrees(|| assert_study(&read, &naive)), "seed {seed}: {row:?}");
            let all = pieces(&roll, 5, 2);
            assert!(disagrees(|| assert_pieces(&roll, &all, &naive, 5)), "seed {seed}: {row:?}");
            dropped += 1;
        }
    }
    assert!(dropped > 20, "{dropped}");
}

/// The comparison detects a setting, a number of states and a kind of an empty column that differ.
#[test]
fn study_with_a_changed_setting_or_type_disagrees_with_the_naive_reader() {
    let folder = tempfile::tempdir().unwrap();
    RandomStudy::new(3, Observed::Always).write(folder.path());
    let naive = NaiveStudy::read(folder.path());
    let changes: [fn(&mut Study); 3] = [
        |study| study.settings.ends = Some(4),
        |study| {
            let log = &mut study.instances[0].trajectories;
            let logged = Logged {
                state: log.state().to_owned(),
                action: log.action().to_owned(),
                propensity: log.propensity().map(|all| all.to_owned()),
                reward: log.reward().map(|all| all.to_owned()),
                available: None,
            };
            *log = Trajectories::new(logged, log.states() + 1).unwrap();
        },
        |study| {
            let (features, arms) = (&study.instances[0].features, study.instances[0].arms.len());
            let columns = features.names().iter().cloned().zip(features.columns().iter().cloned());
            let mut columns: Vec<(String, Column)> = columns.collect();
            let (name, column) = columns.last_mut().unwrap();
            assert_eq!(name, "y");
            *column = Column::Text(vec![None; arms]);
            study.instances[0].features = Features::new(arms, columns).unwrap();
        },
    ];
    for (c, change) in changes.into_iter().enumerate() {
        let mut study = Study::read(folder.path()).unwrap();
        assert_study(&study, &naive);
        change(&mut study);
        assert!(disagrees(|| assert_study(&study, &naive)), "change {c}");
    }
}

/// Every kind of content counts; what only pads does not.
#[test]
fn the_fingerprint_knows_every_cell() {
    let folder = tempfile::tempdir().unwrap();
    let print = |made: &RandomStudy| {
        made.write(folder.path());
        let roll = Roll::read(folder.path()).unwrap();
        let print = roll.fingerprint().unwrap();
        assert_eq!(print, Study::read(folder.path()).unwrap().fingerprint());
        print
    };
    let seed = (0..).find(|seed| {
        let made = RandomStudy::new(*seed, Observed::Always);
        made.truth.is_some() && made.trajectories.columns.len() == 9 && made.settings.contains("states = 3")
    });
    let made = RandomStudy::new(seed.unwrap(), Observed::Always);
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
    assert_eq!(pieces(&roll, 2, 1).len(), 2);
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
