//! Encodings against values computed by hand, and the differences between an encoding and a table by name.

use ndarray::array;
use restive::data::encoding::{ColumnKind, Encoding, Gap, Standardise, Unseen};
use restive::data::features::{Column, Features};
use restive::data::reference::{Reference, Typical};
use restive::error::FeatureFault;
use restive::{Error, Result};

fn number(values: &[f64]) -> Column {
    Column::Number(values.to_vec())
}

fn text(values: &[&str]) -> Column {
    Column::Text(values.iter().map(|v| Some(v.to_string())).collect())
}

fn features(columns: Vec<(&str, Column)>) -> Features {
    let arms = columns.first().map_or(0, |(_, column)| column.len());
    Features::new(arms, columns.into_iter().map(|(name, column)| (name.into(), column)).collect()).unwrap()
}

fn fault<T: std::fmt::Debug>(result: Result<T>) -> (String, FeatureFault) {
    match result {
        Err(Error::Feature { column, fault }) => (column, fault),
        other => panic!("{other:?}"),
    }
}

const NAN: f64 = f64::NAN;

#[test]
fn numbers_are_standardised_on_the_training_arms_and_gaps_become_the_mean() {
    // mean 3, population variance (4 + 0 + 4)/3
    let training = features(vec![
        ("x", number(&[1.0, 3.0, 5.0, NAN])),
        ("y", number(&[0.5, 0.5, 1.5, 1.5])),
        ("z", number(&[0.0, 0.0, NAN, 1.0])),
    ]);
    let sd = (8.0f64 / 3.0).sqrt();
    let encoding = Encoding::fit(&training, Standardise::Yes, &[]).unwrap();
    assert_eq!(encoding.names(), ["x", "x is missing", "y", "z", "z is missing"]);
    // zeros and ones stay what they are; a gap among them is their mean
    let expected = array![
        [-2.0 / sd, 0.0, -1.0, 0.0, 0.0],
        [0.0, 0.0, -1.0, 0.0, 0.0],
        [2.0 / sd, 0.0, 1.0, 1.0 / 3.0, 1.0],
        [0.0, 1.0, 1.0, 1.0, 0.0], // the gap is exactly 0
    ];
    let encoded = encoding.encode(&training).unwrap();
    assert!((&encoded - &expected).iter().all(|d| d.abs() < 1e-15), "{encoded}");
    assert_eq!(encoded[[3, 0]], 0.0);

    // other arms are measured by the training arms; columns are found by name
    let others = features(vec![("y", number(&[3.5])), ("z", number(&[2.0])), ("x", number(&[9.0]))]);
    let encoded = encoding.encode(&others).unwrap();
    assert!(
        (&encoded - &array![[6.0 / sd, 0.0, 5.0, 2.0, 0.0]]).iter().all(|d| d.abs() < 1e-15),
        "{encoded}"
    );

    let plain = Encoding::fit(&training, Standardise::No, &[]).unwrap();
    let expected = array![
        [1.0, 0.0, 0.5, 0.0, 0.0],
        [3.0, 0.0, 0.5, 0.0, 0.0],
        [5.0, 0.0, 1.5, 1.0 / 3.0, 1.0],
        [3.0, 1.0, 1.5, 1.0, 0.0]
    ];
    assert_eq!(plain.encode(&training).unwrap(), expected);
    assert_ne!(plain, encoding);
}

#[test]
fn text_is_one_hot_with_sorted_categories_and_strangers_are_counted() {
    let column =
        Column::Text(vec![Some("b".into()), None, Some("ä".into()), Some("a".into()), Some("".into())]);
    let training = features(vec![("c", column)]);
    let encoding = Encoding::fit(&training, Standardise::Yes, &[]).unwrap();
    let ColumnKind::Text { categories } = &encoding.columns[0].kind else { panic!("text") };
    assert_eq!(categories, &["a", "b", "ä"]);
    let expected = array![
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 1.0, 0.0],
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0], // an empty text is a missing one
    ];
    assert_eq!(encoding.encode(&training).unwrap(), expected);

    let strangers = features(vec![("c", text(&["z", "a", "x", "z"]))]);
    assert_eq!(encoding.encode(&strangers).unwrap().row(0).sum(), 0.0);
    let unseen = |category: &str, arms| Unseen { column: "c".into(), category: category.into(), arms };
    assert_eq!(encoding.unseen(&strangers), [unseen("x", 1), unseen("z", 2)]);
    assert_eq!(encoding.unseen(&training), []);
}

#[test]
fn columns_that_tell_nothing_are_refused_unless_dropped() {
    let cases = [
        ("constant", number(&[2.5, NAN, 2.5])),
        ("zero", number(&[0.0, 0.0, -0.0])),
        ("word", text(&["a", "a", "a"])),
    ];
    for (name, column) in cases {
        let table = features(vec![("x", number(&[1.0, 2.0, 3.0])), (name, column)]);
        let (column, found) = fault(Encoding::fit(&table, Standardise::Yes, &[]));
        assert!(column == name && matches!(found, FeatureFault::Constant { .. }), "{column}: {found}");
        let encoding = Encoding::fit(&table, Standardise::Yes, &[name]).unwrap();
        assert_eq!(encoding.encode(&table).unwrap().ncols(), 1);
        // dropped columns may be absent later
        encoding.encode(&features(vec![("x", number(&[1.0]))])).unwrap();
    }
    for column in [number(&[NAN, NAN]), Column::Text(vec![None, None])] {
        let table = features(vec![("x", column)]);
        assert_eq!(
            fault(Encoding::fit(&table, Standardise::No, &[])),
            ("x".into(), FeatureFault::AllMissing)
        );
    }
    // a word or nothing is two values
    let sparse = features(vec![("c", Column::Text(vec![Some("yes".into()), None]))]);
    assert_eq!(Encoding::fit(&sparse, Standardise::No, &[]).unwrap().width(), 2);
    let table = features(vec![("x", number(&[1.0, 2.0]))]);
    assert_eq!(fault(Encoding::fit(&table, Standardise::No, &["y"])), ("y".into(), FeatureFault::Absent));
}

#[test]
fn a_table_that_does_not_fit_is_refused_by_the_name_of_the_difference() {
    let training = features(vec![("x", number(&[1.0, 2.0])), ("c", text(&["a", "b"]))]);
    let encoding = Encoding::fit(&training, Standardise::Yes, &[]).unwrap();
    let encode = |columns| fault(encoding.encode(&features(columns)));
    let (x, c) = (|| number(&[1.0, 4.0]), || text(&["a", "a"]));
    assert_eq!(encode(vec![("x", x())]), ("c".into(), FeatureFault::Absent));
    assert_eq!(encode(vec![("x", x()), ("c", c()), ("z", x())]), ("z".into(), FeatureFault::Unexpected));
    let kind = FeatureFault::Kind { found: "text", expected: "numbers" };
    assert_eq!(encode(vec![("x", c()), ("c", c())]), ("x".into(), kind));
    let message = encoding.encode(&features(vec![("x", x()), ("c", number(&[1.0, 2.0]))])).unwrap_err();
    assert_eq!(message.to_string(), "feature c: found numbers, expected text as at training");
    // all differences at once, five of them in words
    let error = encoding.encode(&features(vec![("x", c()), ("z", x())])).unwrap_err();
    let expected = "feature x: found text, expected numbers as at training; feature c: found no such column, expected one; \
                    feature z: found a column that was not there at training, expected none";
    assert_eq!(error.to_string(), expected);
    let many = ["p", "q", "r", "s", "t", "u", "v"].map(|name| (name, x()));
    let message = encoding.encode(&features(many.into())).unwrap_err().to_string();
    assert!(
        message
            .ends_with("feature r: found a column that was not there at training, expected none; and 4 more"),
        "{message}"
    );
}

#[test]
fn gap_that_no_training_arm_has_is_encoded_as_the_mean_and_counted() {
    let training = features(vec![
        ("x", number(&[1.0, 2.0, 6.0])),
        ("poor", number(&[0.0, 1.0, 1.0])),
        ("c", text(&["a", "b", "b"])),
        ("gaps", number(&[NAN, 1.0, 3.0])),
    ]);
    let gaps = features(vec![
        ("x", number(&[NAN, 6.0])),
        ("poor", number(&[1.0, NAN])),
        ("c", Column::Text(vec![None, None])),
        ("gaps", number(&[NAN, 2.0])),
    ]);
    // x, poor, c = a, c = b, gaps and its indicator
    let plain = Encoding::fit(&training, Standardise::No, &[]).unwrap();
    let expected = array![[3.0, 1.0, 0.0, 0.0, 2.0, 1.0], [6.0, 2.0 / 3.0, 0.0, 0.0, 2.0, 0.0]];
    assert_eq!(plain.encode(&gaps).unwrap(), expected);
    let scaled = Encoding::fit(&training, Standardise::Yes, &[]).unwrap();
    let encoded = scaled.encode(&gaps).unwrap();
    assert_eq!((encoded[[0, 0]], encoded[[1, 1]], encoded[[0, 5]]), (0.0, 2.0 / 3.0, 1.0));
    let gap = |column: &str, is_number, arms| Gap { column: column.into(), is_number, arms };
    assert_eq!(plain.gaps(&gaps), [gap("x", true, 1), gap("poor", true, 1), gap("c", false, 2)]);
    assert_eq!(plain.gaps(&training), []);
    // a typical arm has the mean too, so that nothing of a prediction is due to the missing number
    let reference = Reference::new(&training, &scaled).encode(&scaled);
    assert_eq!((encoded[[0, 0]], encoded[[1, 1]]), (reference[0], reference[1]));
}

#[test]
fn features_are_checked_when_they_are_made() {
    let make = |columns: Vec<(&str, Column)>| {
        Features::new(2, columns.into_iter().map(|(name, column)| (name.into(), column)).collect())
    };
    assert_eq!(
        fault(make(vec![("x", number(&[1.0, 2.0])), ("x", text(&["a", "b"]))])).1,
        FeatureFault::Duplicate
    );
    assert_eq!(fault(make(vec![("x", number(&[1.0, f64::INFINITY]))])).1, FeatureFault::Infinite { arm: 1 });
    assert!(matches!(make(vec![("x", number(&[1.0]))]), Err(Error::Shape { .. })));
}

#[test]
fn extreme_columns_are_standardised_without_overflow() {
    for scale in [1e300, 1e-300] {
        let table = features(vec![("x", number(&[-scale, scale]))]);
        let encoded = Encoding::fit(&table, Standardise::Yes, &[]).unwrap().encode(&table).unwrap();
        // two values lie one standard deviation from their mean; rounding of the scale
        assert!((encoded[[0, 0]] + 1.0).abs() < 1e-15 && (encoded[[1, 0]] - 1.0).abs() < 1e-15, "{encoded}");
    }
}

#[test]
fn arms_can_be_selected_and_stacked() {
    let table = features(vec![("x", number(&[1.0, NAN, 3.0])), ("c", text(&["a", "b", "c"]))]);
    let parts = [table.select_arms(&[0]), table.select_arms(&[1, 2])];
    assert_eq!(Features::stack(&parts), table);
}

#[test]
fn a_reference_is_what_is_typical_of_the_training_arms() {
    let text = |words: &[&str]| {
        Column::Text(words.iter().map(|word| (!word.is_empty()).then(|| word.to_string())).collect())
    };
    let known = Features::new(
        5,
        vec![
            ("age".into(), Column::Number(vec![20.0, 30.0, f64::NAN, 40.0, 50.0])),
            ("poor".into(), Column::Number(vec![0.0, 1.0, 1.0, 1.0, 1.0])),
            ("tie".into(), text(&["b", "a", "c", "b", "a"])),
            ("gaps".into(), text(&["", "", "", "x", "y"])),
        ],
    )
    .unwrap();
    let encoding = Encoding::fit(&known, Standardise::Yes, &[]).unwrap();
    let reference = Reference::new(&known, &encoding);
    let category = |text: &str| Typical::Category(text.into());
    assert_eq!(
        reference.columns,
        [Typical::Number(35.0), Typical::Number(0.8), category("a"), category("x")]
    );
    assert_eq!(encoding.groups(), [0..2, 2..3, 3..6, 6..9]);
    // age (the mean is 0 once standardised) and its indicator; poor; tie = a, b, c; gaps = x, y and their indicator
    assert_eq!(reference.encode(&encoding).to_vec(), [0.0, 0.0, 0.8, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    let older = Reference::of_encoding(&encoding);
    assert_eq!(older.columns[..2], reference.columns[..2]);
    assert_eq!(older.encode(&encoding).to_vec(), [0.0, 0.0, 0.8, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
}
