//! Studies of arms that are seen at pulls only: there and back, labels as they follow from actions; one clear message for each thing
//! that cannot be ([`refusals`]), and any table against labels by hand ([`properties`]).

mod properties;
mod refusals;

use ndarray::array;
use restive::Reward;
use restive::data::domain::Domain;
use restive::data::features::{Column, Features};
use restive::instance::{Chain, NO_ACTION, Observation, UNSEEN};
use restive_tables::{Format, Study, StudyBehaviour, StudyInstance, StudySettings};
use std::fs;
use std::path::Path;

fn generated(states: usize, chain: Chain) -> Study {
    let size =
        Domain { instances: 2, arms: 6, budget: 2, horizon: 5, trajectories: 4, ..Domain::collapsing() };
    let domain = Domain { states, observation: Observation::Collapsing(chain), ..size };
    let instances = domain.generate(3).unwrap();
    let settings = StudySettings {
        name: None,
        notes: None,
        unit: None,
        reward: instances[0].reward().clone(),
        discount: 0.9,
        budget: 2,
        ends: None,
        horizon: 5,
        observation: domain.observation,
        behaviour: StudyBehaviour::Logged,
        cluster: None,
        assignment: Default::default(),
        text: vec![],
        silenced: Default::default(),
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
        clusters: None,
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
