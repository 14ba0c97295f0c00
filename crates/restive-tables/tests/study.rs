//! Studies there and back: what is written is what is read, in either format, whatever the names and gaps.

use ndarray::{Array2, Array3};
use proptest::prelude::*;
use restive::data::encoding::{Encoding, Standardise};
use restive::data::features::{Column, Features};
use restive::data::split::{Group, Part};
use restive::instance::{Logged, NO_ACTION, UNSEEN};
use restive::{Layout, Reward, Trajectories, Transition};
use restive_tables::{Error, Format, Study, StudyBehaviour, StudyInstance, StudySettings};
use std::fs;
use std::path::Path;

/// In their order, the first of them a formula to a spreadsheet.
const NAMES: [&str; 5] = ["=1+1", "a, b", "say \"hi\"", "two\nlines", "Ñandú 鳥"];

/// Two instances with names to be careful of, text, gaps and trajectories of unequal length.
fn awkward() -> Study {
    let instance = |name: &str, n: usize| {
        let state = Array3::from_shape_fn((2, 4, n), |(j, t, i)| match (j, t, i) {
            (1, 2.., _) => UNSEEN,           // the second trajectory is shorter
            (0, 1, 1) | (0, _, 2) => UNSEEN, // one state unobserved, one arm a newcomer
            _ => ((j + t + i) % 3) as u16,
        });
        let action = Array3::from_shape_fn((2, 4, n), |(j, t, i)| match (j, t, i) {
            (1, 1.., _) | (_, 3, _) | (_, _, 2) => NO_ACTION,
            _ => u8::from((t + j) % n == i),
        });
        let propensity = Array3::from_shape_fn((2, 4, n), |(j, t, i)| match (j, t, i) {
            (0, 1, 0) => f64::NAN, // an action whose propensity is not known
            _ => 1.0 / (1.5 + (j + t + i) as f64),
        });
        let reward = Array3::from_shape_fn(
            (2, 4, n),
            |(j, t, i)| if i == 1 { f64::NAN } else { (j + t) as f64 / 3.0 },
        );
        let logged =
            Logged { state, action, propensity: Some(propensity), reward: Some(reward), available: None };
        let words = (0..n).map(|i| (i != 1).then(|| NAMES[i].to_string())).collect();
        let codes = (0..n).map(|i| Some(format!("{}", i % 2))).collect();
        let numbers = (0..n).map(|i| if i == 2 { f64::NAN } else { (i as f64 - 1.0) / 3.0 }).collect();
        let columns = vec![
            ("word, of mouth".to_string(), Column::Text(words)),
            ("code".into(), Column::Text(codes)), // looks like numbers
            ("größe \"x\"".into(), Column::Number(numbers)),
            ("never".into(), Column::Number(vec![f64::NAN; n])),
            ("silent".into(), Column::Text(vec![None; n])),
        ];
        let truth = ndarray::Array4::from_shape_fn((n, 3, 2, 3), |(i, s, a, next)| match next {
            0 => 1.0 / (3 + i + s + a) as f64,
            1 => 0.1,
            _ => 0.9 - 1.0 / (3 + i + s + a) as f64,
        });
        StudyInstance {
            name: name.into(),
            arms: NAMES[..n].iter().map(|name| name.to_string()).collect(),
            features: Features::new(n, columns).unwrap(),
            split: Some((0..n).map(|i| Part::ALL[i % 3]).collect()),
            clusters: None,
            trajectory_names: vec!["first; one".into(), "002".into()], // not in the order of their names
            trajectories: Trajectories::new(logged, 3).unwrap(),
            truth: Some(Transition::new(truth, Layout::Nsas).unwrap()),
        }
    };
    let reward =
        Array2::from_shape_fn((3, 2), |(s, a)| s as f64 / 3.0 - if s == 1 { a as f64 / 7.0 } else { 0.0 });
    let settings = StudySettings {
        name: Some("quotes \" and \\ slashes".into()),
        notes: Some("two\nlines".into()),
        unit: Some("engaged weeks".into()),
        reward: Reward::of_state_and_action(reward).unwrap(),
        discount: 0.97,
        budget: 2,
        ends: None,
        horizon: 6,
        observation: restive::instance::Observation::Full,
        behaviour: StudyBehaviour::Logged,
        cluster: None,
        assignment: Default::default(),
        text: vec!["word, of mouth".into(), "code".into(), "silent".into()],
        silenced: Default::default(),
    };
    Study { settings, instances: vec![instance("Ost, \"2\"", 5), instance("Süd 7", 3)] }
}

/// Bit for bit, where missing numbers are alike.
fn assert_same(a: &Study, b: &Study) {
    assert_eq!(a.settings, b.settings);
    assert_eq!(a.instances.len(), b.instances.len());
    for (a, b) in a.instances.iter().zip(&b.instances) {
        assert_eq!((&a.name, &a.arms, &a.features, &a.split), (&b.name, &b.arms, &b.features, &b.split));
        assert_eq!((&a.trajectory_names, &a.truth), (&b.trajectory_names, &b.truth));
        let (a, b) = (&a.trajectories, &b.trajectories);
        assert_eq!((a.state(), a.action()), (b.state(), b.action()));
        let bits = |x: f64| if x.is_nan() { 0 } else { x.to_bits() };
        let both = |all: &Trajectories| {
            [all.propensity(), all.reward()].map(|numbers| numbers.map(|x| x.mapv(bits)))
        };
        assert_eq!(both(a), both(b));
        assert_eq!(a.known_propensities(), b.known_propensities());
    }
    assert_eq!(a.fingerprint(), b.fingerprint());
}

fn write(study: &Study, folder: &Path, format: Format) {
    study.write(folder, format, false, |_| ()).unwrap();
}

#[test]
fn what_is_written_is_what_is_read() {
    let (study, folder) = (awkward(), tempfile::tempdir().unwrap());
    let (known, actions) = study.instances[0].trajectories.known_propensities();
    assert_eq!(known + 1, actions);
    for (name, format) in [("csv", Format::Csv), ("parquet", Format::Parquet)] {
        let path = folder.path().join(name);
        write(&study, &path, format);
        assert_same(&Study::read(&path).unwrap(), &study);
    }
}

#[test]
fn the_fingerprint_distinguishes_studies() {
    let study = awkward();
    let changes: [fn(&mut Study); 6] = [
        |s| s.settings.budget += 1,
        |s| s.instances[0].name.push('x'),
        |s| s.instances[1].arms[0].push('x'),
        |s| s.instances[0].features = s.instances[0].features.select_arms(&[1, 0, 2, 3, 4]),
        |s| s.instances[0].trajectories = s.instances[0].trajectories.select(&[1, 0]),
        |s| s.instances[1].truth = None,
    ];
    for change in changes {
        let mut other = study.clone();
        change(&mut other);
        assert_ne!(other.fingerprint(), study.fingerprint());
    }
    let mut noted = study.clone();
    noted.settings.notes = None;
    assert_eq!(noted.fingerprint(), study.fingerprint());
}

/// The settings of the tests say at most one pull.
#[test]
fn a_past_with_more_pulls_than_the_budget_is_kept_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let rows = |both: u8| {
        let steps = [(0, 1, 0), (1, 1, both), (2, both, 1)];
        let row = |(t, a, b): (usize, u8, u8)| format!("1,{t},A,0,{a}\n1,{t},B,1,{b}\n1,{t},C,1,{both}\n");
        "trajectory,t,arm,state,action\n".to_string() + &steps.map(row).concat()
    };
    let arms = "arm,x\nA,1\nB,2\nC,3\n";
    assert_eq!(text(folder.path(), arms, &rows(0)).unwrap().over_budget(), None);
    let study = text(folder.path(), arms, &rows(1)).unwrap();
    let over = study.over_budget().unwrap();
    assert_eq!((over.steps, over.most), (3, 3));
    let encoding = Encoding::fit(&study.instances[0].features, Standardise::Yes, &[]).unwrap();
    assert_eq!(study.instances(&encoding).unwrap()[0].trajectories().most_pulls(), 3);
}

#[test]
fn a_folder_is_replaced_only_on_request_and_only_if_it_is_a_study() {
    let (study, folder) = (awkward(), tempfile::tempdir().unwrap());
    let path = folder.path().join("study");
    fs::create_dir(&path).unwrap(); // an empty folder is as good as none
    write(&study, &path, Format::Csv);
    assert!(matches!(study.write(&path, Format::Csv, false, |_| ()), Err(Error::Exists { .. })));
    study.write(&path, Format::Parquet, true, |_| ()).unwrap();
    assert_same(&Study::read(&path).unwrap(), &study);
    fs::write(path.join("thesis.txt"), "years of work").unwrap();
    let error = study.write(&path, Format::Csv, true, |_| ()).unwrap_err().to_string();
    assert!(error.contains("thesis.txt"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
}

/// A small study as text.
fn text(folder: &Path, arms: &str, trajectories: &str) -> Result<Study, Error> {
    let settings = "states = 2\ndiscount = 1\nbudget = 1\nhorizon = 3\nbehaviour = \"uniform\"\n";
    fs::write(folder.join("study.toml"), settings).unwrap();
    fs::write(folder.join("arms.csv"), arms).unwrap();
    fs::write(folder.join("trajectories.csv"), trajectories).unwrap();
    Study::read(folder)
}

#[test]
fn steps_count_from_0_or_1_and_rows_come_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let arms = "arm,x\nA,1\nB,2\n";
    let rows = |first: usize, order: &[usize]| {
        let rows = ["A,0,1", "B,1,0", "A,1,", "B,,"]; // arm, state, action of steps 0 and 1
        let row = |k: &usize| format!("j,{},{}\n", first + k / 2, rows[*k]);
        "trajectory,t,arm,state,action\n".to_string() + &order.iter().map(row).collect::<String>()
    };
    let read = text(folder.path(), arms, &rows(0, &[0, 1, 2, 3])).unwrap();
    assert_same(&read, &text(folder.path(), arms, &rows(1, &[3, 0, 2, 1])).unwrap());
    let logged = &read.instances[0].trajectories;
    assert_eq!(logged.state(), ndarray::array![[[0, 1], [1, UNSEEN]]].view());
    assert_eq!(logged.action(), ndarray::array![[[1, 0], [NO_ACTION, NO_ACTION]]].view());
    assert_eq!(read.settings.reward, Reward::linear(2));
    let error = text(folder.path(), arms, &rows(2, &[0, 1, 2, 3])).unwrap_err().to_string();
    assert!(error.ends_with("column t: found 2 as the first step, expected 0 or 1"), "{error}");
    // whole numbers as a table of floats has them, spaces, Windows line ends
    let floats = rows(0, &[0, 1, 2, 3]).replace("A,0,1", "A,0.0, 1").replace("\n", "\r\n");
    assert_same(&read, &text(folder.path(), arms, &floats).unwrap());
}

#[test]
fn a_study_does_not_depend_on_the_order_of_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let arms = ["y,10,1", "y,9,2", "x,b,3", "x,B,4", "x,b10,5", "x,b9,6"];
    let rows = ["10,0,10,0", "10,1,10,1", "9,0,10,1", "9,1,10,", "9,0,9,1", "10,0,9,0"]
        .map(|row| format!("y,{row}"));
    let more = ["2024-11,0,b,1", "2024-9,0,b9,0"].map(|row| format!("x,{row}"));
    let rows: Vec<String> = rows.into_iter().chain(more).collect();
    let read = |arms: &[&str], rows: &[String]| {
        let rows: String = rows.iter().map(|row| format!("{row},\n")).collect();
        let rows = "instance,trajectory,t,arm,state,action\n".to_string() + &rows;
        text(folder.path(), &("instance,arm,f\n".to_string() + &arms.join("\n")), &rows).unwrap()
    };
    let study = read(&arms, &rows);
    let [x, y] = [&study.instances[0], &study.instances[1]];
    assert_eq!((x.name.as_str(), y.name.as_str()), ("x", "y"));
    assert_eq!(
        (&x.arms[..], &y.arms[..]),
        (&["B", "b", "b9", "b10"].map(String::from)[..], &["9", "10"].map(String::from)[..])
    );
    assert_eq!(x.features.columns()[0], Column::Number(vec![4.0, 3.0, 6.0, 5.0]));
    assert_eq!(y.trajectory_names, ["9", "10"]);
    assert_eq!(x.trajectory_names, ["2024-9", "2024-11"]);
    assert_eq!(
        y.trajectories.state(),
        ndarray::array![[[1, 1], [UNSEEN, UNSEEN]], [[0, 0], [UNSEEN, 1]]].view()
    );
    for shift in 1..8 {
        let (mut arms, mut rows) = (arms, rows.clone());
        arms.rotate_left(shift % 6);
        arms.swap(0, shift % 5);
        rows.rotate_right(shift);
        rows.swap(1, shift % 7);
        assert_same(&read(&arms, &rows), &study);
    }
}

#[test]
fn a_column_says_in_which_order_trajectories_happened() {
    let folder = tempfile::tempdir().unwrap();
    let arms = "arm,x\nA,1\nB,2\n";
    let read =
        |rows: &str| text(folder.path(), arms, &format!("trajectory,t,arm,state,action,order\n{rows}"));
    let study = read("spring,0,A,0,,1\nautumn,0,A,1,,2\nsummer,0,A,1,,1.5\nspring,0,B,1,,1\n").unwrap();
    assert_eq!(study.instances[0].trajectory_names, ["spring", "summer", "autumn"]);
    // equal ones by name
    let study = read("b,0,A,0,,-1\na,0,A,1,,-1\nc,0,A,0,,-2\n").unwrap();
    assert_eq!(study.instances[0].trajectory_names, ["c", "a", "b"]);
    for (rows, expected) in [
        (
            "a,0,A,0,,1\na,0,B,0,,2\n",
            "line 3 (arm B), column order, trajectory a, t 0: found 2, expected 1, as in other rows of the trajectory",
        ),
        (
            "a,0,A,0,,\n",
            "line 2 (arm A), column order, trajectory a, t 0: found an empty cell, expected a number that says when",
        ),
    ] {
        let said = read(rows).unwrap_err().to_string();
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn a_byte_order_mark_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let study =
        text(folder.path(), "arm,x\nA,1\nB,2\n", "trajectory,t,arm,state,action\n1,0,A,0,1\n1,1,A,1,\n")
            .unwrap();
    for name in ["study.toml", "arms.csv", "trajectories.csv"] {
        let path = folder.path().join(name);
        let marked = [b"\xef\xbb\xbf", &fs::read(&path).unwrap()[..]].concat();
        fs::write(&path, marked).unwrap();
    }
    assert_same(&Study::read(folder.path()).unwrap(), &study);
}

#[test]
fn the_kind_of_a_feature_is_its_type_or_its_first_cell() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "trajectory,t,arm,state,action\n1,0,A,0,\n";
    let read = text(folder.path(), "\u{feff}arm,x,c,d\nA, ,nan,3\nB,1e1,b,\nC,NaN, ,-0.5\n", rows).unwrap();
    let columns = read.instances[0].features.columns();
    assert_eq!(columns[0], Column::Number(vec![f64::NAN, 10.0, f64::NAN]));
    assert_eq!(columns[1], Column::Text(vec![None, Some("b".into()), None]));
    assert_eq!(columns[2], Column::Number(vec![3.0, f64::NAN, -0.5]));

    // Parquet needs no list of text columns
    let (study, path) = (awkward(), folder.path().join("study"));
    write(&study, &path, Format::Parquet);
    let settings = fs::read_to_string(path.join("study.toml")).unwrap();
    let lines: Vec<&str> = settings.lines().filter(|line| !line.starts_with("text")).collect();
    assert_eq!(lines.len() + 1, settings.lines().count());
    fs::write(path.join("study.toml"), lines.join("\n")).unwrap();
    let read = Study::read(&path).unwrap();
    assert_eq!(read.instances[0].features, study.instances[0].features);
    assert_eq!(read.fingerprint(), study.fingerprint());
}

#[test]
fn instances_with_missing_values_are_encoded() {
    let study = awkward();
    let group = |instance, arms: &[usize]| Group { instance, arms: arms.to_vec() };
    let dropped = ["never", "silent"];
    let all = study.features(&[group(0, &[0, 1, 2, 3, 4]), group(1, &[0, 1, 2])]);
    let encoding = Encoding::fit(&all, Standardise::Yes, &dropped).unwrap();
    let instances = study.instances(&encoding).unwrap();
    assert_eq!((instances[0].arms(), instances[1].arms()), (5, 3));
    // 4 words and their gap, 2 codes, a number and its gap
    assert_eq!(instances[0].features().ncols(), 4 + 1 + 2 + 1 + 1);
    let few = study.features(&[group(0, &[0, 3])]);
    let encoding = Encoding::fit(&few, Standardise::No, &dropped).unwrap();
    // arms 0 and 3 have words and numbers: a missing word is none of theirs, a missing number is their mean, (-1/3 + 2/3) / 2
    let instances = study.instances(&encoding).unwrap();
    let features = instances[0].features();
    assert_eq!(features.row(1).to_vec(), [0.0, 0.0, 0.0, 1.0, 0.0]);
    assert!((features[[2, 4]] - 1.0 / 6.0).abs() < 1e-15, "{features}");
}

#[test]
fn damaged_parquet_never_panics() {
    let (study, folder) = (awkward(), tempfile::tempdir().unwrap());
    let path = folder.path().join("study");
    write(&study, &path, Format::Parquet);
    for name in ["arms.parquet", "trajectories.parquet", "truth.parquet"] {
        let file = path.join(name);
        let whole = fs::read(&file).unwrap();
        for place in (0..whole.len()).step_by(11) {
            let mut damaged = whole.clone();
            damaged[place] ^= 0xff;
            for (bytes, is_cut) in [(&whole[..place], true), (&damaged[..], false)] {
                fs::remove_file(&file).unwrap();
                fs::write(&file, bytes).unwrap();
                match Study::read(&path) {
                    Ok(_) => assert!(!is_cut, "{name} cut at {place}"),
                    Err(error) => {
                        let message = error.to_string();
                        assert!(message.starts_with(path.to_str().unwrap()), "{message}");
                        assert!(!message.contains('\n'), "{message}");
                    }
                }
            }
        }
        fs::write(&file, whole).unwrap();
    }
}

proptest! {
    #![proptest_config(proptest::test_runner::Config { rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn no_table_makes_the_reader_panic(
        arms in "(arm|instance|split|x)(,(arm|instance|split|x)){0,3}\n([A-C0-2,\"\n]|1e999|nan|test){0,30}",
        rows in "(([01]|A|-1|70000|1e9|nan|\"|),){3}[01]?,[01]?\n"
    ) {
        let folder = tempfile::tempdir().unwrap();
        let rows = "trajectory,t,arm,state,action\n".to_string() + &rows;
        for result in [text(folder.path(), &arms, &rows), text(folder.path(), "arm,x\nA,1\nB,2\n", &rows)] {
            if let Err(error) = result {
                prop_assert!(!error.to_string().contains('\n'), "{}", error);
            }
        }
    }
}

#[test]
fn silenced_checks_are_kept_and_are_no_part_of_the_data() {
    let (mut study, folder) = (awkward(), tempfile::tempdir().unwrap());
    let fingerprint = study.fingerprint();
    study.settings.silenced.insert("drift".into(), "the \"strike\"\nin May".into());
    study.settings.silenced.insert("ids-shuffled".into(), "known".into());
    assert_eq!(study.fingerprint(), fingerprint);
    write(&study, &folder.path().join("s"), Format::Csv);
    assert_same(&Study::read(&folder.path().join("s")).unwrap(), &study);
}
