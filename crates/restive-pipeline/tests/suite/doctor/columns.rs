//! Checks of columns, and that nothing is said that could name a person.

use super::made::{Made, PEOPLE, finding};
use restive::data::features::Column;
use restive_pipeline::{Doctor, Severity};
use restive_tables::Study;

fn with(column: Column) -> Study {
    let mut written = Made::default().written();
    written.columns.push(("added".into(), column));
    written.study()
}

fn text(value: impl Fn(usize) -> String) -> Column {
    Column::Text((0..PEOPLE).map(|i| Some(value(i))).collect())
}

#[test]
fn every_fault_of_a_column_is_found_under_its_name() {
    let level = |i: usize| ["Primary", "secondary", "none"][i % 3].to_string();
    let planted: Vec<(&str, Column)> = vec![
        ("identifiers", text(|i| format!("Person {i}"))),
        ("identifiers", Column::Number((0..PEOPLE).map(|i| 9.1e9 + 7919.0 * (i * i) as f64).collect())),
        ("near-duplicates", text(|i| if i % 10 == 0 { "primary ".into() } else { level(i) })),
        ("near-duplicates", text(|i| if i == 8 { "secondry".into() } else { level(i) })),
        ("numbers-as-text", text(|i| if i % 50 == 0 { "n/a".into() } else { format!("{},5", i % 40) })),
        ("numbers-as-text", text(|i| format!("₹ {},000", i % 40 + 1))),
        ("empty-columns", text(|_| "yes".into())),
        ("empty-columns", Column::Number(vec![f64::NAN; PEOPLE])),
        (
            "empty-columns",
            Column::Number((0..PEOPLE).map(|i| if i < 20 { i as f64 } else { f64::NAN }).collect()),
        ),
        (
            "outliers",
            Column::Number(
                (0..PEOPLE).map(|i| if i == 5 { 999.0 } else { 20.0 + (i % 17) as f64 }).collect(),
            ),
        ),
    ];
    for (name, column) in planted {
        let study = with(column.clone());
        let found = finding(&study, name);
        assert_eq!(found.severity, Severity::Warning, "{name} {column:?}");
        assert!(found.found.contains("added"), "{}", found.found);
    }
}

#[test]
fn columns_without_fault_are_left_alone() {
    let sound: Vec<Column> = vec![
        text(|i| ["Primary", "Secondary", "Primary and more"][i % 3].into()),
        text(|i| format!("ward {}", i % 12)),
        text(|i| ["18-24", "25-34", "35 and over"][i % 3].into()),
        // skewed, as incomes are
        Column::Number((0..PEOPLE).map(|i| (((i * 37) % PEOPLE) as f64 / 60.0).exp()).collect()),
        Column::Number((0..PEOPLE).map(|i| if i % 5 == 0 { 1.0 } else { 0.0 }).collect()),
    ];
    for column in sound {
        let study = with(column.clone());
        for name in ["identifiers", "near-duplicates", "numbers-as-text", "empty-columns", "outliers"] {
            let found = finding(&study, name);
            assert_eq!(found.severity, Severity::Fine, "{name}: {} {column:?}", found.found);
        }
    }
    // on purpose
    let mut declared = with(text(|i| format!("{},5", i % 40)));
    declared.settings.text = vec!["added".into()];
    assert_eq!(finding(&declared, "numbers-as-text").severity, Severity::Fine);
}

#[test]
fn nobody_is_named() {
    let names = ["Asha Rao", "Asha Rau", "Meera Iyer", "meera iyer"];
    let study = with(text(|i| format!("{} {}", names[i % 4], i / 4)));
    let said = format!("{:?}", Doctor::new(&study));
    assert!(!said.contains("Asha") && !said.to_lowercase().contains("meera"), "{said}");
}
