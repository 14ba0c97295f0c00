//! Bad input: one message that says where and what, the right exit code, and nothing left behind.

use crate::arms::*;
use crate::harness::*;
use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
use std::fs;
use std::sync::Arc;

const FAILURE: i32 = 1;
const USAGE: i32 = 2;

/// Runs the command on what the folder holds and checks everything that a refusal promises.
fn refused(folder: &Cli, arguments: &str, code: i32, parts: &[&str]) {
    let before = folder.listing();
    let run = folder.run(&format!("index {arguments}")).code(code);
    let message = stderr(&run);
    assert!(message.starts_with("restive: ") && message.ends_with('\n'), "{arguments}: {message}");
    assert_eq!(message.lines().count(), 1, "{arguments}: {message}");
    for part in parts {
        assert!(message.contains(part), "{arguments}: no {part:?} in {message}");
    }
    assert!(!message.contains("panicked") && !message.contains("internal error"), "{message}");
    assert_eq!(stdout(&run), "", "{arguments}");
    assert_eq!(folder.listing(), before, "{arguments}: something was left behind");
}

/// The same for one bad file, towards every format of output and the terminal.
fn refused_file(name: &str, content: impl AsRef<[u8]>, parts: &[&str]) {
    let folder = cli();
    folder.write(name, content);
    for out in ["", "--out w.csv", "--out w.parquet", "--out w.npy", "--json"] {
        refused(&folder, &format!("{name} {out}"), FAILURE, &[&[name, ": "].concat()]);
        refused(&folder, &format!("{name} {out}"), FAILURE, parts);
    }
}

const HEADER: &str = "arm,p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1\n";

#[test]
fn rows_that_do_not_sum_to_1() {
    let header = format!("arm,{}\n", full_columns(2).join(","));
    let good = "A1,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5\n";
    let bad = "B12,0.5,0.5,0.5,0.5,0.5,0.5,0.47,0.5\n";
    let message =
        "restive: arms.csv: line 18 (arm B12), state 1, active: found a sum of 0.97, expected 1 within 1e-6";
    refused_file("arms.csv", header.clone() + &good.repeat(16) + bad + good, &[message]);
    // within the tolerance
    let folder = cli();
    folder.write("arms.csv", header + "A1,0.5,0.5,0.5,0.5,0.5,0.5,0.4999999,0.5\n");
    folder.run("index arms.csv").success();
}

#[test]
fn numbers_that_are_no_probabilities() {
    for (cell, found) in [("NaN", "NaN"), ("-0.1", "-0.1"), ("1.5", "1.5"), ("inf", "inf"), ("1e400", "inf")]
    {
        let text = format!("{HEADER}A,0.2,0.8,0.5,0.5\nB,0.2,{cell},0.5,0.5\n");
        let expected = format!(
            "line 3 (arm B), state 0, active, next state 1: found {found}, expected a probability between 0 and 1"
        );
        refused_file("arms.csv", text, &[&expected]);
    }
}

#[test]
fn cells_of_text_that_are_no_numbers() {
    let row = |cell: &str| format!("{HEADER}A,0.2,0.8,0.5,0.5\n\nB,0.2,0.8,0.5,{cell}\n");
    refused_file(
        "arms.csv",
        row("high"),
        &["line 4 (arm B), column p_1_1_1: found \"high\", expected a number"],
    );
    refused_file(
        "arms.csv",
        row(""),
        &["line 4 (arm B), column p_1_1_1: found an empty cell, expected a number"],
    );
    refused_file("arms.csv", row("0.5 0.5"), &["found \"0.5 0.5\", expected a number"]);
    refused_file("arms.csv", row(&"x".repeat(5000)), &["xxx…\", expected a number"]);
    let unnamed = format!("{HEADER},0.2,0.8,0.5,0.5\n");
    refused_file("arms.csv", unnamed, &["line 2, column arm: found an empty cell, expected a name"]);
    let latin: Vec<u8> = [HEADER.as_bytes(), b"Jos\xe9,0.2,0.8,0.5,0.5\n"].concat();
    refused_file("arms.csv", latin, &["line 2", "column arm", "expected a name in UTF-8"]);
}

#[test]
fn lines_are_counted_as_an_editor_counts_them() {
    let windows = format!("{HEADER}A,0.2,0.8,0.5,0.5\n\n\nB,0.2,0.8,0.5,-1\n").replace('\n', "\r\n");
    refused_file("arms.csv", windows, &["line 5 (arm B), state 1, active"]);
    let broken_name = format!("{HEADER}\"A\nA\",0.2,0.8,0.5,0.5\nB,0.2,0.8,0.5,x\n");
    refused_file("arms.csv", broken_name, &["line 4 (arm B), column p_1_1_1"]);
    let unended = format!("{HEADER}A,0.2,0.8,0.5,0.5\nB,0.2,0.8,-1,0.5");
    refused_file("arms.csv", unended, &["line 3 (arm B), state 1, passive"]);
    let nameless = "p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1\n0.2,0.8,0.5,0.5\n0.2,0.8,0.5,7\n";
    refused_file("arms.csv", nameless, &["line 3 (arm 1), state 1, active"]);
}

#[test]
fn the_first_fault_of_a_file_is_named_even_if_a_later_one_is_met_first() {
    let text = format!("{HEADER}A,0.2,0.8,0.5,-1\nB,0.2,0.8,0.5,text\n");
    refused_file("arms.csv", text, &["line 2 (arm A), state 1, active"]);
}

#[test]
fn a_fault_far_down_the_file_leaves_nothing_behind() {
    let folder = cli();
    let text = format!("{HEADER}{}Z,0.2,0.8,0.5,-0.5\n", "A,0.2,0.8,0.5,0.5\n".repeat(300_000));
    folder.write("arms.csv", text);
    for out in ["w.csv", "w.parquet", "w.npy"] {
        refused(
            &folder,
            &format!("arms.csv --out {out}"),
            FAILURE,
            &["line 300002 (arm Z), state 1, active"],
        );
    }
}

#[test]
fn ragged_rows() {
    let short = format!("{HEADER}A,0.2,0.8,0.5,0.5\nB,0.2,0.8,0.5\n");
    refused_file("arms.csv", short, &["line 3: found 4 fields, expected 5 as in the header"]);
    let long = format!("{HEADER}A,0.2,0.8,0.5,0.5\n\nB,0.2,0.8,0.5,0.5,0.5\n");
    refused_file("arms.csv", long, &["line 4: found 6 fields, expected 5 as in the header"]);
}

#[test]
fn a_quotation_mark_that_is_left_open() {
    let folder = cli();
    // more rows after it than a row may have bytes
    folder.write(
        "arms.csv",
        format!("{HEADER}A,0.2,0.8,0.5,0.5\n\"{}", "B,0.2,0.8,0.5,0.5\n".repeat(4_000_000)),
    );
    let parts = ["arms.csv: ", "the row of line 3 does not end, is a quotation mark missing?"];
    refused(&folder, "arms.csv --out w.csv", FAILURE, &parts);
}

#[test]
fn files_without_arms() {
    for name in ["arms.csv", "arms.parquet", "arms.npy"] {
        refused_file(name, "", &["found an empty file, expected at least one arm"]);
    }
    refused_file("arms.csv", HEADER, &["found a header and no rows, expected at least one arm"]);
    refused_file(
        "arms.npy",
        npy("<f8", "(0, 2, 2, 2)", &[]),
        &["found an array without arms, expected at least one arm"],
    );
    refused_columns(float_columns(&COMPACT, &[]), &["the table has no rows, expected at least one arm"]);
}

#[test]
fn columns_that_are_missing_doubled_or_misnamed() {
    let row = "\n0.2,0.8,0.5,0.5,0.5\n";
    let with = |header: &str| format!("{header}{row}");
    refused_file("arms.csv", with("arm,p_0_0_1,p_0_1_1,p_1_0_1,x"), &["found no column p_1_1_1, expected"]);
    refused_file(
        "arms.csv",
        with("a,b,c,d,e"),
        &["found columns a, b, c, d, e, expected one column", "p_S_A_NEXT"],
    );
    refused_file(
        "arms.csv",
        with("p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1,p_0_0_1"),
        &["column p_0_0_1: found more than once"],
    );
    refused_file(
        "arms.csv",
        with("p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1,p_age"),
        &["column p_age: found no probability, expected p_S_A_NEXT"],
    );
    refused_file(
        "arms.csv",
        with("p_0_0_1,p_0_1_1,p_1_0_1,p_1_2_1,arm"),
        &["column p_1_2_1: found action 2"],
    );
    refused_file(
        "arms.csv",
        with("p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_9999999,arm"),
        &["state 9999999, expected at most"],
    );
    refused_file(
        "arms.csv",
        with("p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_2,arm"),
        &["found no columns p_0_0_0, p_0_0_2", "3 states"],
    );
    refused_file(
        "arms.csv",
        "p_0_0_1;p_0_1_1\n0.5;0.5\n",
        &["column p_0_0_1;p_0_1_1: found no probability, expected p_S_A_NEXT"],
    );
    refused_columns(
        float_columns(&["p_0_0_1", "q"], &[0.5, 0.5]),
        &["found no columns p_0_1_1, p_1_0_1, p_1_1_1"],
    );
    let doubled = [&COMPACT[..], &["p_0_0_1"]].concat();
    refused_columns(float_columns(&doubled, &[0.5; 5]), &["column p_0_0_1: found more than once"]);
}

fn refused_columns(columns: Vec<(String, ArrayRef)>, parts: &[&str]) {
    let folder = cli();
    write_parquet(&folder.path("arms.parquet"), columns);
    refused_file("arms.parquet", fs::read(folder.path("arms.parquet")).unwrap(), parts);
}

#[test]
fn parquet_cells_and_types() {
    let with = |c: usize, column: ArrayRef| {
        let mut columns = float_columns(&COMPACT, &[0.2, 0.8, 0.5, 0.5, 0.2, 0.8, 0.5, 0.5]);
        columns[c].1 = column;
        columns.push(("arm".into(), Arc::new(StringArray::from(vec!["A", "B"])) as ArrayRef));
        columns
    };
    let null: ArrayRef = Arc::new(Float64Array::from(vec![Some(0.5), None]));
    refused_columns(with(2, null), &["row 1 (arm B), column p_1_0_1: found null, expected a number"]);
    let text: ArrayRef = Arc::new(StringArray::from(vec!["0.5", "0.5"]));
    refused_columns(
        with(2, text),
        &["column p_1_0_1: found type Utf8, expected floating-point numbers or integers"],
    );
    let negative: ArrayRef = Arc::new(Float64Array::from(vec![0.5, -0.5]));
    refused_columns(with(3, negative), &["row 1 (arm B), state 1, active, next state 1: found -0.5"]);
    let nan: ArrayRef = Arc::new(Float64Array::from(vec![f64::NAN, 0.5]));
    refused_columns(with(0, nan), &["row 0 (arm A), state 0, passive, next state 1: found NaN"]);
    let two: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    refused_columns(with(0, two), &["row 1 (arm B), state 0, passive, next state 1: found 2"]);

    let named = |names: ArrayRef| {
        let mut columns = float_columns(&COMPACT, &[0.2, 0.8, 0.5, 0.5]);
        columns.push(("arm".into(), names));
        columns
    };
    refused_columns(
        named(Arc::new(Float64Array::from(vec![1.0]))),
        &["column arm: found type Float64, expected text or integers"],
    );
    refused_columns(
        named(Arc::new(StringArray::from(vec![None::<&str>]))),
        &["row 0, column arm: found null, expected a name"],
    );
}

#[test]
fn damaged_parquet() {
    let (folder, arms) = (cli(), compact_arms(2000, 5));
    write_parquet(&folder.path("arms.parquet"), float_columns(&COMPACT, arms.as_flattened()));
    let whole = fs::read(folder.path("arms.parquet")).unwrap();
    for length in [4, 11, 500, whole.len() / 2, whole.len() - 1] {
        refused_file("arms.parquet", &whole[..length], &["found an unreadable Parquet file"]);
    }
    // the footer is whole and the pages are not
    let mut hollow = whole.clone();
    hollow[4..2000].fill(0xff);
    refused_file("arms.parquet", &hollow, &["arms.parquet: "]);
}

#[test]
fn arrays_of_the_wrong_kind() {
    let uniform = |count: usize| f64_bytes(&vec![0.5; count]);
    let wanted = "expected [N, M, 2, M] (arm, state, action, next state)";
    refused_file("arms.npy", npy("<f8", "(2, 4)", &uniform(8)), &["found shape [2, 4]", wanted]);
    refused_file("arms.npy", npy("<f8", "(1, 2, 2, 3)", &uniform(12)), &["found shape [1, 2, 2, 3]", wanted]);
    refused_file("arms.npy", npy("<f8", "(1, 0, 2, 0)", &[]), &["found shape [1, 0, 2, 0]", wanted]);
    let by_action = npy("<f8", "(1, 2, 3, 3)", &uniform(18));
    refused_file("arms.npy", by_action, &["found shape [1, 2, 3, 3]", wanted, "the layout is nass"]);
    refused_file(
        "arms.npy",
        npy("<i8", "(1, 2, 2, 2)", &[0; 64]),
        &["type \"<i8\", expected float64 or float32"],
    );
    let fortran = npy_with_order("<f8", "True", "(1, 2, 2, 2)", &uniform(8));
    refused_file("arms.npy", fortran, &["found Fortran order, expected C order"]);
    let bytes =
        "found an unreadable NumPy file (56 bytes after the header, where shape [1, 2, 2, 2] takes 64)";
    refused_file("arms.npy", npy("<f8", "(1, 2, 2, 2)", &uniform(7)), &[bytes]);
    refused_file(
        "arms.npy",
        npy("<f8", "(1, 2, 2, 2)", &uniform(9)),
        &["(72 bytes after the header, where shape [1, 2, 2, 2] takes 64)"],
    );
    let huge = npy("<f8", "(18446744073709551615, 2, 2, 2)", &uniform(8));
    refused_file("arms.npy", huge, &["takes more than a file can hold"]);
    refused_file(
        "arms.npy",
        npy("<f8", "(1, 2, 2", &uniform(8)),
        &["found an unreadable NumPy file (its header is"],
    );
    refused_file("arms.npy", b"\x93NUMPY", &["found an unreadable NumPy file (it ends within the header)"]);
    let mut nan = vec![0.5; 24];
    nan[21] = f64::NAN;
    let nan = npy("<f8", "(3, 2, 2, 2)", &f64_bytes(&nan));
    refused_file("arms.npy", nan, &["arm 2, state 1, passive, next state 1: found NaN"]);
    let short = npy("<f8", "(1, 2, 2, 2)", &f64_bytes(&[0.4; 8]));
    refused_file("arms.npy", short, &["arm 0, state 0, passive: found a sum of 0.8, expected 1 within 1e-6"]);
}

#[test]
fn command_lines_that_cannot_be() {
    let folder = cli();
    folder.write("arms.csv", csv(&COMPACT, &[0.2, 0.8, 0.5, 0.5]));
    folder.write("three.csv", csv(&full_columns(3), &[1.0 / 3.0; 18]));
    folder.write("arms.npy.verdict.npy", npy("<f8", "(1, 2, 2, 2)", &f64_bytes(&[0.5; 8])));
    for discount in ["1.5", "-0.1", "nan", "high"] {
        let parts = ["--discount", discount, "expected a number from 0 to 1"];
        refused(&folder, &format!("arms.csv --discount {discount}"), USAGE, &parts);
    }
    let length = "--rewards: found 3, expected 2, one per state of arms.csv";
    refused(&folder, "arms.csv --rewards 0,0.5,1 --out w.csv", USAGE, &[length]);
    refused(&folder, "three.csv --rewards 0,1", USAGE, &["--rewards: found 2, expected 3"]);
    refused(
        &folder,
        "arms.csv --rewards 0,one",
        USAGE,
        &["--rewards", "found \"one\", expected a finite number"],
    );
    refused(
        &folder,
        "arms.txt",
        USAGE,
        &["arms.txt: found the ending .txt, expected .csv, .parquet or .npy"],
    );
    refused(&folder, "arms", USAGE, &["arms: found no ending, expected .csv, .parquet or .npy"]);
    refused(&folder, "arms.csv --out w.xlsx", USAGE, &["w.xlsx: found the ending .xlsx, expected .csv"]);
    for out in ["arms.csv", "./arms.csv"] {
        refused(
            &folder,
            &format!("arms.csv --out {out}"),
            USAGE,
            &["arms.csv: found the input as the output"],
        );
    }
    refused(
        &folder,
        "arms.npy.verdict.npy --out arms.npy",
        USAGE,
        &["arms.npy.verdict.npy: found the input as the output"],
    );
    refused(&folder, "three.csv --algorithm two-state", USAGE, &["--algorithm", "three.csv", "expected 2"]);
    refused(
        &folder,
        "arms.csv --algorithm bisection --discount 1",
        USAGE,
        &["--algorithm", "discount", "below 1"],
    );
    let too_long =
        ["--discount: found 0.999999, expected at most 0.9999", "--algorithm general takes any discount"];
    refused(&folder, "arms.csv --algorithm bisection --discount 0.999999", USAGE, &too_long);
    refused(&folder, "arms.csv --algorithm magic", USAGE, &["magic", "two-state"]);
    refused(&folder, "arms.csv --tolerance 1e-3", USAGE, &["--tolerance", "--algorithm bisection"]);
    refused(&folder, "arms.csv --algorithm bisection --tolerance 0", USAGE, &["--tolerance", "above 0"]);
    refused(&folder, "arms.csv --layout nass", USAGE, &["--layout", ".npy"]);
    refused(&folder, "arms.csv --threads 0", USAGE, &["--threads"]);
    refused(&folder, "arms.csv --out w.npy --verbose", USAGE, &["--verbose", ".npy"]);
    refused(&folder, "arms.csv --bogus", USAGE, &["--bogus"]);
    refused(&folder, "", USAGE, &["<ARMS>"]);
}

#[test]
fn files_and_folders_that_are_not_there() {
    let folder = cli();
    folder.write("arms.csv", csv(&COMPACT, &[0.2, 0.8, 0.5, 0.5]));
    fs::create_dir(folder.path("folder.csv")).unwrap();
    for name in ["none.csv", "none.parquet", "none.npy"] {
        refused(&folder, name, FAILURE, &[&format!("{name}: cannot open: no such file")]);
    }
    refused(&folder, "folder.csv", FAILURE, &["folder.csv: cannot read: is a directory"]);
    for out in ["none/w.csv", "none/w.parquet", "none/w.npy"] {
        let parts = [out, "cannot write: there is no folder none"];
        refused(&folder, &format!("arms.csv --out {out}"), FAILURE, &parts);
    }
    refused(&folder, "arms.csv --out folder.csv", FAILURE, &["folder.csv: cannot write: is a directory"]);
}

#[test]
fn a_negative_number_is_refused_as_the_value_that_it_is() {
    let folder = cli();
    let whole = "expected a whole number, not negative; see --help";
    for (arguments, expected) in [
        (
            "plan m s --budget -1",
            "'-1' for '--budget <K>': expected a whole number, not negative; see --help",
        ),
        ("plan m s --seed -1", whole),
        ("train s --out m --seed -1", whole),
        ("train s --out m --epochs -3", "'-3' for '--epochs <N>': expected a whole number from 1 to 100000"),
        ("evaluate m s --estimators published --runs -1", whole),
        ("generate two-state --out s --arms -5", whole),
        ("generate two-state --out s --arms many", whole),
        ("index arms.csv --rows -2", whole),
    ] {
        let message = stderr(&folder.run(arguments).code(2));
        assert!(message.contains(expected) && message.lines().count() == 1, "{arguments}: {message}");
        assert!(!message.contains(" -- "), "{arguments}: {message}");
    }
}
