//! Studies from tables in memory: what files hold, and the same checks with the same words.

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, NullArray, RecordBatch, StringArray};
use arrow_schema::{Field, Schema};
use restive::data::features::Column;
use restive_tables::Study;
use restive_tables::study::TYPE;
use std::collections::HashMap;
use std::sync::Arc;

const SETTINGS: &str = "states = 2\ndiscount = 0.9\nbudget = 1\nhorizon = 9\nbehaviour = \"uniform\"\n";

fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

fn text(cells: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(cells.to_vec()))
}

fn numbers(cells: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(cells.to_vec()))
}

fn arms() -> Vec<(&'static str, ArrayRef)> {
    vec![("arm", text(&["Ada", "Ben"])), ("age", numbers(&[31.0, f64::NAN])), ("code", text(&["01", "02"]))]
}

fn logged() -> Vec<(&'static str, ArrayRef)> {
    vec![
        ("trajectory", Arc::new(Int64Array::from(vec![1; 4]))),
        ("t", Arc::new(Int64Array::from(vec![0, 0, 1, 1]))),
        ("arm", text(&["Ada", "Ben", "Ada", "Ben"])),
        ("state", numbers(&[0.0, 1.0, 1.0, 0.0])),
        ("action", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None, None]))),
    ]
}

fn refused(arms: Vec<(&str, ArrayRef)>, logged: Vec<(&str, ArrayRef)>) -> String {
    Study::from_tables(SETTINGS, &table(arms), &table(logged), None).unwrap_err().to_string()
}

fn with(
    mut columns: Vec<(&'static str, ArrayRef)>,
    name: &str,
    cells: ArrayRef,
) -> Vec<(&'static str, ArrayRef)> {
    columns.iter_mut().find(|(other, _)| *other == name).unwrap().1 = cells;
    columns
}

#[test]
fn a_study_in_memory_is_the_one_of_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("study.toml", &format!("{SETTINGS}text = [\"code\"]\n"));
    write("arms.csv", "arm,age,code\nAda,31,01\nBen,,02\n");
    write(
        "trajectories.csv",
        "trajectory,t,arm,state,action\n1,0,Ada,0,1\n1,0,Ben,1,0\n1,1,Ada,1,\n1,1,Ben,0,\n",
    );
    let read = Study::read(folder.path()).unwrap();
    let made = Study::from_tables(SETTINGS, &table(arms()), &table(logged()), None).unwrap();
    assert_eq!(made.fingerprint(), read.fingerprint());
    // and out again: one piece of arms, one trajectory
    let (arms, logged, truth) = read.tables();
    assert!(arms.len() == 1 && logged.len() == 1 && truth.is_none());
    let back = Study::from_tables(&read.to_toml(), &arms[0], &logged[0], None).unwrap();
    assert_eq!(back.fingerprint(), read.fingerprint());
}

#[test]
fn a_row_is_named_by_its_table_and_number() {
    let states = numbers(&[0.0, 1.0, 2.0, 0.0]);
    let said = refused(arms(), with(logged(), "state", states));
    assert_eq!(
        said,
        "trajectories: row 2 (arm Ada), column state, trajectory 1, t 1: found 2, expected a state from 0 to 1 or an empty cell"
    );
    // text that reads as numbers will do, but for the cell that does not
    let fine = with(logged(), "state", text(&["0", "1", "1", ""]));
    assert!(Study::from_tables(SETTINGS, &table(arms()), &table(fine), None).is_ok());
    let said = refused(arms(), with(logged(), "state", text(&["0", "up", "1", "0"])));
    assert!(
        said.starts_with("trajectories: row 1 (arm Ben), column state: found \"up\", expected a number"),
        "{said}"
    );
    let said = refused(arms(), logged().into_iter().filter(|(name, _)| *name != "t").collect());
    assert!(said.starts_with("trajectories: ") && said.contains('t'), "{said}");
    let said = refused(with(arms(), "arm", text(&["Ada", "Ada"])), logged());
    assert!(said.starts_with("arms: row 1 (arm Ada), instance 0: found the arm a second time"), "{said}");
    let none = RecordBatch::new_empty(table(arms()).schema());
    let said = Study::from_tables(SETTINGS, &none, &table(logged()), None).unwrap_err().to_string();
    assert!(said.starts_with("arms: found a header and no rows"), "{said}");
}

#[test]
fn a_misspelt_number_does_not_turn_a_measurement_into_categories() {
    let three = |cells: &[&str]| {
        let arms = vec![("arm", text(&["Ada", "Ben", "Cho"])), ("age", text(cells))];
        Study::from_tables(SETTINGS, &table(arms), &table(logged()), None)
    };
    let said = three(&["31", "24", "3O"]).unwrap_err().to_string();
    assert!(said.starts_with("arms: row 2 (arm Cho), column age: found \"3O\", expected a number"), "{said}");
    // all cells are numbers, or none: the type counts
    for cells in [["31", "24", ""], ["old", "young", ""]] {
        let study = three(&cells).unwrap();
        let expected = [Some(cells[0].to_string()), Some(cells[1].to_string()), None];
        assert_eq!(study.instances[0].features.columns()[0], Column::Text(expected.to_vec()));
    }
}

#[test]
fn names_may_be_whole_numbers_and_dates_are_no_features() {
    let numbered = with(arms(), "arm", numbers(&[7.0, 8.0]));
    let log = with(logged(), "arm", Arc::new(Int64Array::from(vec![7, 8, 7, 8])));
    let study = Study::from_tables(SETTINGS, &table(numbered), &table(log), None).unwrap();
    assert_eq!(study.instances[0].arms, ["7", "8"]);
    let said = refused(with(arms(), "arm", numbers(&[0.5, 1.0])), logged());
    assert_eq!(said, "arms: column arm: found type Float64, expected text or integers");

    let dated = |rows: usize, columns: &RecordBatch| {
        let metadata = HashMap::from([(TYPE.to_string(), "datetime64[ns]".to_string())]);
        let mut fields: Vec<Field> =
            columns.schema().fields().iter().map(|field| (**field).clone()).collect();
        fields.push(Field::new("since_when", arrow_schema::DataType::Null, true).with_metadata(metadata));
        let mut arrays = columns.columns().to_vec();
        arrays.push(Arc::new(NullArray::new(rows)));
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
    };
    // nobody reads that column of the trajectories
    assert!(Study::from_tables(SETTINGS, &table(arms()), &dated(4, &table(logged())), None).is_ok());
    let said = Study::from_tables(SETTINGS, &dated(2, &table(arms())), &table(logged()), None).unwrap_err();
    assert_eq!(
        said.to_string(),
        "arms: column since_when: found type datetime64[ns], expected numbers or text"
    );
}
