//! Surveys against the encoding of all arms at once, and against sums of whole numbers, which are exact.

use crate::arms::random;
use rand::RngExt;
use restive::Error;
use restive::data::encoding::{ColumnKind, Encoding, Standardise};
use restive::data::features::{Column, Features};
use restive::data::reference::Reference;
use restive::data::survey::Survey;
use restive::error::FeatureFault;

/// Numbers of several sizes, zeros and ones, words; with gaps.
fn table(n: usize) -> Features {
    let mut random = random(91);
    let gap = |i: usize, x: f64| if i % 11 == 3 { f64::NAN } else { x };
    let age: Vec<f64> = (0..n).map(|_| 20.0 + 25.0 * random.random::<f64>()).collect();
    let day: Vec<f64> = (0..n).map(|i| gap(i, 1.7e9 + (random.random::<f64>() * 1e6).round())).collect();
    let own: Vec<f64> = (0..n).map(|i| gap(i, f64::from(random.random_bool(0.3)))).collect();
    let huge: Vec<f64> = (0..n).map(|_| 1e308 * (2.0 * random.random::<f64>() - 1.0)).collect();
    let tiny: Vec<f64> =
        (0..n).map(|i| if i % 977 == 0 { 1e-150 } else { 1e-200 * random.random::<f64>() }).collect();
    let word = |i: usize| {
        (!i.is_multiple_of(13)).then(|| ["north", "south", "east", "coast"][i * i % 7 % 4].to_string())
    };
    let columns = vec![
        ("age", Column::Number(age)),
        ("day", Column::Number(day)),
        ("own", Column::Number(own)),
        ("huge", Column::Number(huge)),
        ("tiny", Column::Number(tiny)),
        ("district", Column::Text((0..n).map(word).collect())),
    ];
    Features::new(n, columns.into_iter().map(|(name, column)| (name.to_string(), column)).collect()).unwrap()
}

/// By pieces of a size, of which every third is surveyed elsewhere and sent.
fn surveyed(known: &Features, size: usize) -> Survey {
    let none = known.select_arms(&[]);
    let (mut here, mut there) = (Survey::like(&none), Survey::like(&none));
    for (at, first) in (0..known.arms()).step_by(size).enumerate() {
        let arms: Vec<usize> = (first..known.arms().min(first + size)).collect();
        let to = if at % 3 == 2 { &mut there } else { &mut here };
        to.add(&known.select_arms(&arms)).unwrap();
    }
    let sent = Survey::from_bytes(&there.to_bytes()).unwrap();
    assert_eq!(sent.to_bytes(), there.to_bytes());
    here.merge(&sent).unwrap();
    here
}

#[test]
fn the_encoding_of_pieces_is_that_of_all_arms() {
    let known = table(3000);
    let all = Encoding::fit(&known, Standardise::Yes, &["district"]).unwrap();
    let with_words = Encoding::fit(&known, Standardise::No, &[]).unwrap();
    for size in [1, 17, 1000, 3000] {
        let survey = surveyed(&known, size);
        assert_eq!(survey.arms(), 3000);
        let found = survey.encoding(Standardise::Yes, &["district"]).unwrap();
        assert_eq!((found.names(), &found.dropped), (all.names(), &all.dropped));
        for (found, all) in found.columns.iter().zip(&all.columns) {
            assert_eq!((&found.name, found.has_missing), (&all.name, all.has_missing));
            match (&found.kind, &all.kind) {
                (ColumnKind::Number { mean, sd }, ColumnKind::Number { mean: m, sd: s }) => {
                    // the plain sums of all arms round 3,000 times, by half of 2⁻⁵² each; a mean near zero is a difference of
                    // numbers as large as the sd
                    let rounding = 3000.0 * f64::EPSILON / 2.0;
                    assert!((mean - m).abs() <= rounding * m.abs().max(*s), "{}: {mean} not {m}", all.name);
                    assert!((sd / s - 1.0).abs() < rounding, "{}: {sd} not {s}", all.name);
                }
                (found, all) => assert_eq!(found, all),
            }
        }
        let found = survey.encoding(Standardise::No, &[]).unwrap();
        assert_eq!(found.columns[5], with_words.columns[5]);
        let (reference, truth) = (survey.reference(&found), Reference::new(&known, &with_words));
        assert_eq!(reference.columns[5], truth.columns[5]);
        assert_eq!(reference.columns[2], truth.columns[2]);
        assert_eq!(reference.columns.len(), truth.columns.len());
    }
}

#[test]
fn moments_are_those_of_whole_numbers() {
    // 10¹² + 0 … 6, one arm at a time: mean and variance are known exactly
    let values: Vec<f64> = (0..7000).map(|i| 1e12 + f64::from(i * 3 % 7)).collect();
    let known = Features::new(7000, vec![("x".into(), Column::Number(values))]).unwrap();
    for size in [1, 999] {
        let encoding = surveyed(&known, size).encoding(Standardise::Yes, &[]).unwrap();
        let ColumnKind::Number { mean, sd } = encoding.columns[0].kind else { panic!("{encoding:?}") };
        assert_eq!(mean, 1e12 + 3.0);
        assert!((sd - 2.0).abs() < 1e-15, "{sd}");
    }
}

#[test]
fn the_faults_are_those_of_all_arms() {
    let number = |values: &[f64]| Column::Number(values.to_vec());
    let text = |values: &[Option<&str>]| Column::Text(values.iter().map(|v| v.map(String::from)).collect());
    let columns = [
        number(&[7.25; 4]),
        number(&[0.0, -0.0, 0.0, 0.0]),
        number(&[f64::NAN, 3.0, 3.0, f64::NAN]),
        number(&[f64::NAN; 4]),
        text(&[None; 4]),
        text(&[Some("a"); 4]),
        text(&[Some("a"), None, None, None]),
        number(&[1.0, 1.0, 1.0, 0.0]),
    ];
    for column in columns {
        let known = Features::new(4, vec![("x".into(), column)]).unwrap();
        let all = Encoding::fit(&known, Standardise::Yes, &[]);
        for size in [1, 4] {
            assert_eq!(surveyed(&known, size).encoding(Standardise::Yes, &[]), all);
        }
    }
    let known = table(50);
    let absent = surveyed(&known, 50).encoding(Standardise::Yes, &["nothing"]);
    assert_eq!(absent, Encoding::fit(&known, Standardise::Yes, &["nothing"]));
}

#[test]
fn other_columns_are_refused_by_name() {
    let known = |name: &str, column: Column| Features::new(1, vec![(name.into(), column)]).unwrap();
    let mut survey = Survey::like(&known("x", Column::Number(vec![1.0])));
    let kind = survey.add(&known("x", Column::Text(vec![None]))).unwrap_err();
    let fault = FeatureFault::Kind { found: "text", expected: "numbers" };
    assert_eq!(kind, Error::Features { differences: vec![("x".into(), fault)] });
    let other = Survey::like(&known("y", Column::Number(vec![1.0])));
    let differences = vec![("x".into(), FeatureFault::Absent), ("y".into(), FeatureFault::Unexpected)];
    assert_eq!(survey.merge(&other).unwrap_err(), Error::Features { differences });
    assert_eq!(survey.arms(), 0);
}

#[test]
fn broken_bytes_are_refused() {
    let bytes = surveyed(&table(40), 40).to_bytes();
    for end in (0..bytes.len()).step_by(3) {
        assert!(matches!(Survey::from_bytes(&bytes[..end]), Err(Error::Unsuitable { .. })));
    }
    for at in 0..bytes.len() {
        let mut wrong = bytes.clone();
        wrong[at] ^= 0xff;
        // refused, or other numbers; never more than an error
        if let Ok(survey) = Survey::from_bytes(&wrong) {
            let _ = survey.encoding(Standardise::Yes, &[]);
        }
    }
}
