//! Studies of arms that are seen at pulls only: there and back, labels as they follow from actions, and one clear message for each
//! thing that cannot be.

use ndarray::array;
use proptest::prelude::*;
use restive::Reward;
use restive::data::domain::Domain;
use restive::data::features::{Column, Features};
use restive::instance::{Chain, NO_ACTION, Observation, UNSEEN};
use restive_tables::{Behaviour, Format, Settings, Study, StudyInstance};
use std::fs;
use std::path::Path;

fn generated(states: usize, chain: Chain) -> Study {
    let size =
        Domain { instances: 2, arms: 6, budget: 2, horizon: 5, trajectories: 4, ..Domain::collapsing() };
    let domain = Domain { states, observation: Observation::Collapsing(chain), ..size };
    let instances = domain.generate(3).unwrap();
    let settings = Settings {
        name: None,
        notes: None,
        reward: instances[0].reward().clone(),
        discount: 0.9,
        budget: 2,
        horizon: 5,
        observation: domain.observation,
        behaviour: Behaviour::Logged,
        text: vec![],
    };
    let numbers = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
    let instances = instances.into_iter().enumerate().map(|(k, instance)| StudyInstance {
        name: k.to_string(),
        arms: numbers(6),
        features: Features::new(
            6,
            vec![("x".into(), Column::Number(instance.features().column(0).to_vec()))],
        )
        .unwrap(),
        split: None,
        trajectory_names: numbers(4),
        trajectories: instance.trajectories().clone(),
        truth: instance.truth().cloned(),
    });
    Study { settings, instances: instances.collect() }
}

#[test]
fn what_is_written_is_what_is_read() {
    let folder = tempfile::tempdir().unwrap();
    // chains that end within the log, that end at once, that do not end
    let chains = [(2, Chain::Finite(3)), (3, Chain::Finite(10)), (3, Chain::Finite(1))];
    let chains = chains.into_iter().chain([(2, Chain::Infinite { beliefs: 12 })]);
    for (k, (states, chain)) in chains.enumerate() {
        let study = generated(states, chain);
        let mut fingerprints = vec![study.fingerprint()];
        for (name, format) in [("csv", Format::Csv), ("parquet", Format::Parquet)] {
            let path = folder.path().join(format!("{name}{k}"));
            study.write(&path, format, false, |_| ()).unwrap();
            let read = Study::read(&path).unwrap();
            assert_eq!(read, study, "{chain:?}");
            fingerprints.push(read.fingerprint());
        }
        fingerprints.dedup();
        assert_eq!(fingerprints.len(), 1);
    }
    let [finite, infinite] = [Chain::Finite(12), Chain::Infinite { beliefs: 12 }].map(|chain| {
        let mut study = generated(2, Chain::Infinite { beliefs: 12 });
        study.settings.observation = Observation::Collapsing(chain);
        study.fingerprint()
    });
    assert_ne!(finite, infinite);
}

const HEADER: &str = "trajectory,t,arm,last_state,since,state,action\n";

/// Two arms as text; `settings` are the lines of observation and chain.
fn text(folder: &Path, settings: &str, trajectories: &str) -> Result<Study, String> {
    let all =
        format!("states = 2\ndiscount = 1\nbudget = 1\nhorizon = 3\nbehaviour = \"uniform\"\n{settings}\n");
    fs::write(folder.join("study.toml"), all).unwrap();
    fs::write(folder.join("arms.csv"), "arm,x\nA,1\nB,2\n").unwrap();
    fs::write(folder.join("trajectories.csv"), trajectories).unwrap();
    Study::read(folder).map_err(|error| error.to_string())
}

const THREE: &str = "observation = \"collapsing\"\nchain = 3";
const INFINITE: &str = "observation = \"collapsing\"\nchain = \"infinite\"";

#[test]
fn labels_follow_from_pulls() {
    let folder = tempfile::tempdir().unwrap();
    // A starts two steps after state 1 was seen, B is unknown until it is pulled
    let rows =
        "1,0,A,1,1,,0\n1,0,B,,,1,1\n1,1,A,,,0,1\n1,1,B,,,,0\n1,2,A,,,,0\n1,2,B,,,,0\n1,3,A,,,,\n1,3,B,,,,\n";
    let read = text(folder.path(), THREE, &format!("{HEADER}{rows}")).unwrap();
    let logged = &read.instances[0].trajectories;
    let expected = array![[[4, UNSEEN], [5, 3], [0, 4], [1, 5]]];
    assert_eq!(logged.state(), expected.view());
    // without rewards: R(x) at pulls, unknown elsewhere
    let reward = logged.reward().unwrap();
    assert_eq!((reward[[0, 0, 1]], reward[[0, 1, 0]]), (1.0, 0.0));
    assert_eq!(reward.iter().filter(|r| r.is_nan()).count(), 6);
    assert_eq!(read.settings.reward, Reward::linear(2));
    // what follows may be said on every row, in any order of rows, or be left out with the last row
    let said = "1,2,B,1,1,,0\n1,0,A,1,1,,0\n1,0,B,,,1,1\n1,1,A,1,2,0,1\n1,1,B,1,0,,0\n1,2,A,0,0,,0\n";
    let again = text(folder.path(), THREE, &format!("{HEADER}{said}")).unwrap();
    assert_eq!(again.instances[0].trajectories.state(), expected.view());
    assert_eq!(again.fingerprint(), read.fingerprint());
    // without the two columns, counted from 1
    let bare = "trajectory,t,arm,state,action\n1,1,B,1,1\n1,2,B,,0\n1,3,B,,\n";
    let read = text(folder.path(), THREE, bare).unwrap();
    let expected = array![[[UNSEEN, UNSEEN], [UNSEEN, 3], [UNSEEN, 4]]];
    assert_eq!(read.instances[0].trajectories.state(), expected.view());
    assert_eq!(read.instances[0].trajectories.action()[[0, 2, 1]], NO_ACTION);
    // after a missing action nothing is known, until a row says so
    let gap = "1,0,A,1,0,,0\n1,1,A,,,,\n1,2,A,,,,0\n1,3,A,0,1,,\n";
    let read = text(folder.path(), THREE, &format!("{HEADER}{gap}")).unwrap();
    let state = read.instances[0].trajectories.state();
    assert_eq!(state.index_axis(ndarray::Axis(2), 0), array![[3, 4, UNSEEN, 1]].view());
}

#[test]
fn an_infinite_chain_keeps_what_the_data_and_the_horizon_need() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "1,0,A,1,6,,0\n1,1,A,,,0,1\n1,2,A,,,,\n";
    let read = text(folder.path(), INFINITE, &format!("{HEADER}{rows}")).unwrap();
    // since 7 is the eighth label, and three decisions may follow
    assert_eq!(read.settings.observation, Observation::Collapsing(Chain::Infinite { beliefs: 11 }));
    assert_eq!(read.instances[0].trajectories.state()[[0, 0, 0]], 11 + 6);
    let again = folder.path().join("again");
    read.write(&again, Format::Csv, false, |_| ()).unwrap();
    assert!(fs::read_to_string(again.join("study.toml")).unwrap().contains("beliefs = 11\n"));
    let back = Study::read(&again).unwrap();
    assert_eq!((&back.settings, back.fingerprint()), (&read.settings, read.fingerprint()));
    let given = text(folder.path(), &format!("{INFINITE}\nbeliefs = 8"), &format!("{HEADER}{rows}")).unwrap();
    assert_eq!(given.settings.observation, Observation::Collapsing(Chain::Infinite { beliefs: 8 }));
}

#[test]
fn steps_without_rows_count_towards_the_gap() {
    let folder = tempfile::tempdir().unwrap();
    // seen at step 0, then nobody wrote anything down until the pull of step 9
    let rows = "1,0,A,,,1,1\n1,1,A,,,,0\n1,9,A,,,0,1\n1,10,A,,,,\n";
    let read = text(folder.path(), INFINITE, &format!("{HEADER}{rows}")).unwrap();
    // since 8 at step 9 is the ninth label, and three decisions may follow
    assert_eq!(read.settings.observation, Observation::Collapsing(Chain::Infinite { beliefs: 12 }));
    // also at the end of a log that goes on for others
    let rows = "1,0,A,,,1,1\n1,5,B,,,,0\n1,6,B,,,1,1\n1,7,B,,,,\n";
    let read = text(folder.path(), INFINITE, &format!("{HEADER}{rows}")).unwrap();
    assert_eq!(read.settings.observation, Observation::Collapsing(Chain::Infinite { beliefs: 10 }));
    let rows = "1,0,A,,,1,1\n1,1,A,,,,0\n1,9,A,,,0,1\n1,10,A,,,,\n";
    for (settings, most) in [(THREE.to_string(), 3), (format!("{INFINITE}\nbeliefs = 8"), 8)] {
        let message = text(folder.path(), &settings, &format!("{HEADER}{rows}")).unwrap_err();
        assert!(message.contains("arm A") && message.contains("t 9"), "{message}");
        assert!(message.contains("a gap of 9 steps since a pull, expected at most "), "{message}");
        assert!(message.contains(&format!("at most {most}, the labels of the chain")), "{message}");
    }
}

#[test]
fn a_finite_chain_ends_where_the_table_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let stays = "1,0,A,1,1,,0\n1,1,A,1,2,,0\n1,2,A,1,2,,0\n1,3,A,1,2,1,1\n1,4,A,1,0,,\n";
    let read = text(folder.path(), THREE, &format!("{HEADER}{stays}")).unwrap();
    let state = read.instances[0].trajectories.state();
    assert_eq!(state.index_axis(ndarray::Axis(2), 0), array![[4, 5, 5, 5, 3]].view());
    // the same gap without saying so, or where nothing stays
    let silent = stays.replace("2,A,1,2", "2,A,,");
    let message = text(folder.path(), THREE, &format!("{HEADER}{silent}")).unwrap_err();
    for part in [
        "trajectories.csv: line 4 (arm A), column since",
        "t 2: found a gap of 4 steps",
        "expected at most 3, the labels of the chain",
    ] {
        assert!(message.contains(part), "{message}");
    }
    let message =
        text(folder.path(), &format!("{INFINITE}\nbeliefs = 3"), &format!("{HEADER}{silent}")).unwrap_err();
    assert!(message.contains("found a gap of 4 steps") && message.contains("raise beliefs"), "{message}");
    let message = text(folder.path(), INFINITE, &format!("{HEADER}{stays}")).unwrap_err();
    assert!(message.contains("found last_state 1, since 2, expected last_state 1, since 3"), "{message}");
    // the step after the last action has no row: the row of the action is named
    let last = "1,0,A,1,2,,0\n";
    let message = text(folder.path(), THREE, &format!("{HEADER}{last}")).unwrap_err();
    assert!(message.contains("line 2 (arm A)") && message.contains("a gap of 4 steps"), "{message}");
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "1,0,A,1,1,,0\n1,0,B,,,1,1\n1,1,A,1,2,0,1\n1,1,B,1,0,,0\n1,2,A,0,0,,\n1,2,B,1,1,,\n";
    assert!(text(folder.path(), THREE, &format!("{HEADER}{rows}")).is_ok());
    let cases: [(&str, &str, &[&str]); 12] = [
        (
            "1,0,A,1,1,,0",
            "1,0,A,1,1,1,0",
            &["line 2 (arm A), column state", "found 1, expected an empty cell"],
        ),
        ("1,2,A,0,0,,", "1,2,A,0,0,1,", &["line 6 (arm A), column state", "found 1, expected an empty cell"]),
        (
            "1,0,B,,,1,1",
            "1,0,B,,,,1",
            &["line 3 (arm B), column state", "found an empty cell, expected the state that the pull saw"],
        ),
        (
            "1,0,B,,,1,1",
            "1,0,B,,,2,1",
            &["line 3 (arm B), column state", "found 2, expected a state from 0 to 1"],
        ),
        (
            "1,1,B,1,0",
            "1,1,B,0,0",
            &["line 5 (arm B), column since", "found last_state 0, since 0, expected last_state 1, since 0"],
        ),
        (
            "1,1,A,1,2",
            "1,1,A,1,1",
            &["line 4 (arm A)", "found last_state 1, since 1, expected last_state 1, since 2"],
        ),
        (
            "1,2,B,1,1",
            "1,2,B,1,0",
            &["line 7 (arm B)", "found last_state 1, since 0, expected last_state 1, since 1"],
        ),
        (
            "1,0,A,1,1",
            "1,0,A,1,3",
            &["line 2 (arm A), column since", "found 3, expected a whole number from 0 to 2"],
        ),
        (
            "1,0,A,1,1",
            "1,0,A,2,1",
            &["line 2 (arm A), column last_state", "found 2, expected a state from 0 to 1"],
        ),
        (
            "1,0,A,1,1",
            "1,0,A,1,",
            &["line 2 (arm A), column since", "found an empty cell, expected a whole number"],
        ),
        ("1,0,A,1,1", "1,0,A,,1", &["line 2 (arm A), column last_state", "found an empty cell"]),
        ("1,0,A,1,1", "1,0,A,1,0.5", &["line 2 (arm A), column since", "found 0.5"]),
    ];
    for (from, to, parts) in cases {
        assert!(rows.contains(from), "{from}");
        let message =
            text(folder.path(), THREE, &format!("{HEADER}{}", rows.replacen(from, to, 1))).unwrap_err();
        for part in parts {
            assert!(message.contains(part), "no {part:?} in {message}");
        }
        assert!(!message.contains('\n'), "{message}");
    }
    // a label that is first said later is welcome, unless it takes a pull that was not there
    let later = rows.replacen("1,0,A,1,1,,0", "1,0,A,,,,0", 1);
    assert!(text(folder.path(), THREE, &format!("{HEADER}{later}")).is_ok());
    let pulled = later.replacen("1,1,A,1,2", "1,1,A,1,0", 1);
    let message = text(folder.path(), THREE, &format!("{HEADER}{pulled}")).unwrap_err();
    assert!(message.contains("line 4 (arm A)") && message.contains("expected since above 0"), "{message}");
    let message =
        text(folder.path(), THREE, "trajectory,t,arm,since,state,action\n1,0,A,1,,0\n").unwrap_err();
    assert!(message.contains("last_state") && message.contains("a label is both"), "{message}");
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let rows = format!("{HEADER}1,0,A,1,1,,0\n");
    let collapsing = "observation = \"collapsing\"\n";
    let cases = [
        (
            "chain = 3".to_string(),
            "line 6, column 9: chain: found 3, expected none: it belongs to observation = \"collapsing\"",
        ),
        ("beliefs = 3".into(), "beliefs: found 3, expected none"),
        (collapsing.into(), "found no chain, expected a line chain = …"),
        (
            format!("{collapsing}chain = 0"),
            "line 7, column 9: chain: found 0, expected a whole number of labels, at least 1, or \"infinite\"",
        ),
        (format!("{collapsing}chain = \"long\""), "chain: found \"long\""),
        (
            format!("{collapsing}chain = 3\nbeliefs = 4"),
            "beliefs: found 4, expected none: it belongs to chain = \"infinite\"",
        ),
        (
            format!("{INFINITE}\nbeliefs = 0"),
            "beliefs: found 0, expected a whole number of labels, at least 1",
        ),
        (
            format!("{collapsing}chain = 3000"),
            "chain: found 3000, expected at most 2048 labels for each of 2 states",
        ),
        (
            format!("{INFINITE}\nrewards = [0, [1, 0.5]]"),
            "chain: found \"infinite\", expected a whole number of labels: an infinite chain needs 2 states",
        ),
        (
            "observation = \"some\"".into(),
            "observation: found \"some\", expected \"full\" (at every step) or \"collapsing\" (at pulls only)",
        ),
    ];
    for (settings, part) in cases {
        let message = text(folder.path(), &settings, &rows).unwrap_err();
        assert!(message.contains(part), "no {part:?} in {message}");
    }
    let long = format!("{HEADER}1,0,A,1,2046,,0\n");
    let message = text(folder.path(), INFINITE, &long).unwrap_err();
    assert!(message.contains("a longest gap of 2048 steps and a horizon of 3"), "{message}");
}

/// Labels by the table of the reader's documentation, one arm at a time.
fn by_hand(rows: &[(bool, bool)], start: Option<(u16, u16)>) -> Vec<u16> {
    let (mut label, mut all) = (start, Vec::new());
    for &(is_pulled, seen) in rows.iter().chain(&[(false, false)]) {
        all.push(label.map_or(UNSEEN, |(s, h)| s * 64 + h));
        label = if is_pulled { Some((seen.into(), 0)) } else { label.map(|(s, h)| (s, h + 1)) };
    }
    all
}

proptest! {
    #![proptest_config(proptest::test_runner::Config { rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn labels_are_those_by_hand(
        rows in prop::collection::vec((any::<bool>(), any::<bool>()), 1..20),
        start in prop::option::of((0u16..2, 0u16..40)),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut log = HEADER.to_string();
        for (t, (is_pulled, seen)) in rows.iter().enumerate() {
            let label = start.filter(|_| t == 0).map_or(",".into(), |(s, h)| format!("{s},{h}"));
            let state = if *is_pulled { u8::from(*seen).to_string() } else { String::new() };
            log += &format!("1,{t},A,{label},{state},{}\n", u8::from(*is_pulled));
        }
        let read = text(folder.path(), "observation = \"collapsing\"\nchain = 64", &log).unwrap();
        let state = read.instances[0].trajectories.state();
        prop_assert_eq!(state.slice(ndarray::s![0, .., 0]).to_vec(), by_hand(&rows, start));
        let again = folder.path().join("again");
        read.write(&again, Format::Parquet, false, |_| ()).unwrap();
        let back = Study::read(&again).unwrap();
        prop_assert_eq!(back.instances[0].trajectories.state(), state);
        prop_assert_eq!(back.fingerprint(), read.fingerprint());
    }

    #[test]
    fn no_table_makes_the_reader_panic(
        rows in prop::collection::vec("1,[0-3],[AB],([012]|-1|),([0-3]|9|65535|1e9|0.5|),([012]|),([01]|)\n", 1..8),
        chain in prop::sample::select(vec!["1", "3", "\"infinite\"", "\"infinite\"\nbeliefs = 2"]),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let settings = format!("observation = \"collapsing\"\nchain = {chain}");
        match text(folder.path(), &settings, &(HEADER.to_string() + &rows.concat())) {
            Err(message) => prop_assert!(!message.contains('\n'), "{}", message),
            Ok(read) => {
                let again = folder.path().join("again");
                read.write(&again, Format::Csv, false, |_| ()).unwrap();
                prop_assert_eq!(Study::read(&again).unwrap().fingerprint(), read.fingerprint());
            }
        }
    }
}

/// A step as a table tells it: no row at all, or a row with perhaps an action (0, or 1 and what it saw) and perhaps a label.
type Told = Option<(Option<Option<u16>>, Option<(u16, u16)>)>;

/// Whether any pulls at steps without a record, and anything before the log, make all that a table says of an arm true: by
/// trying all of them. `age` is how many steps ago the arm was seen, as `since` counts.
fn is_possible(steps: &[Told], (seen, age): (u16, u16), last: Option<u16>) -> bool {
    let Some((now, later)) = steps.split_first() else { return true };
    let (action, label) = now.unwrap_or((None, None));
    let is_told = |(s, h): (u16, u16)| s == seen && (h == age || last == Some(h) && age > h);
    let left = || is_possible(later, (seen, age + 1), last);
    let pulled = |x: u16| is_possible(later, (x, 0), last);
    label.is_none_or(is_told)
        && match action {
            Some(None) => left(),
            Some(Some(x)) => pulled(x),
            None => left() || pulled(0) || pulled(1),
        }
}

proptest! {
    #![proptest_config(proptest::test_runner::Config { rng_seed: proptest::test_runner::RngSeed::Fixed(2), failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn a_label_is_refused_where_no_unlogged_pulls_explain_it(
        chain in prop::sample::select(vec![Some(1u16), Some(2), Some(3), Some(4), None]),
        cells in prop::collection::vec((0u8..10, 0u8..6, 0u16..2, 0u16..2, 0u16..4), 2..7),
    ) {
        let steps: Vec<Told> = cells.iter().map(|&(row, action, saw, s, h)| (row > 2).then(|| {
            let action = match action { 0..2 => None, 2..5 => Some(None), _ => Some(Some(saw)) };
            let label = (row > 6).then_some((s, chain.map_or(h, |chain| h.min(chain - 1))));
            (action, label)
        })).collect();
        let mut log = HEADER.to_string();
        for (t, told) in steps.iter().enumerate() {
            let Some((action, label)) = told else { continue };
            let label = label.map_or(",".into(), |(s, h)| format!("{s},{h}"));
            let action = match action { None => ",".into(), Some(None) => ",0".into(), Some(Some(x)) => format!("{x},1") };
            log += &format!("1,{t},A,{label},{action}\n");
        }
        // so that the log begins at 0 and has an arm that is left alone
        log += "1,0,B,,,,0\n";
        let folder = tempfile::tempdir().unwrap();
        let settings = match chain {
            Some(chain) => format!("observation = \"collapsing\"\nchain = {chain}"),
            None => format!("{INFINITE}\nbeliefs = 20"),
        };
        let read = text(folder.path(), &settings, &log);
        // a chain that ends without saying so is refused for that
        prop_assume!(!read.as_ref().is_err_and(|message| message.contains("found a gap of")));
        let starts = (0..2).flat_map(|s| (0..16).map(move |age| (s, age)));
        let expected = starts.into_iter().any(|start| is_possible(&steps, start, chain.map(|chain| chain - 1)));
        prop_assert_eq!(read.is_ok(), expected, "{:?}\n{}", read.err(), log);
    }
}
