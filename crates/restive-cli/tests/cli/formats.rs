//! Every format in, every format out, the same answer.

use crate::arms::*;
use crate::harness::*;
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, Float32Array, Int8Array, Int64Array, LargeStringArray, StringArray, StringViewArray,
    UInt64Array,
};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs;
use std::sync::Arc;

#[test]
fn every_format_in_gives_the_same_in_every_format_out() {
    let (folder, arms) = (cli(), compact_arms(300, 2));
    let (compact, full_rows) = (arms.as_flattened().to_vec(), full(&arms));
    let by_action: Vec<f64> =
        full_rows.chunks(8).flat_map(|p| [p[0], p[1], p[4], p[5], p[2], p[3], p[6], p[7]]).collect();
    let big_endian: Vec<u8> = full_rows.iter().flat_map(|x| x.to_be_bytes()).collect();
    let columns = full_columns(2);
    folder.write("compact.csv", csv(&COMPACT, &compact));
    folder.write("full.csv", csv(&columns, &full_rows));
    write_parquet(&folder.path("compact.parquet"), float_columns(&COMPACT, &compact));
    write_parquet(&folder.path("full.parquet"), float_columns(&columns, &full_rows));
    folder.write("nsas.npy", npy("<f8", "(300, 2, 2, 2)", &f64_bytes(&full_rows)));
    folder.write("nass.npy", npy("<f8", "(300, 2, 2, 2)", &f64_bytes(&by_action)));
    folder.write("big.npy", npy(">f8", "(300, 2, 2, 2)", &big_endian));

    let expected = index(&folder, "compact.csv", "expected.csv");
    assert_eq!(expected.len(), 300);
    let inputs =
        ["compact.csv", "full.csv", "compact.parquet", "full.parquet", "nsas.npy", "nass.npy", "big.npy"];
    for input in inputs {
        let layout = if input == "nass.npy" { "--layout nass" } else { "" };
        let from_csv = index(&folder, &format!("{input} {layout}"), "w.csv");
        for out in ["w.parquet", "w.npy"] {
            assert_eq!(index(&folder, &format!("{input} {layout}"), out), from_csv, "{input} to {out}");
        }
        for (found, expected) in from_csv.iter().zip(&expected) {
            assert_eq!((&found.arm, found.is_indexable), (&expected.arm, expected.is_indexable), "{input}");
            // 1 − p and p sum to 1 within one rounding, and the library divides by that sum
            let is_close = found.index.iter().zip(&expected.index).all(|(a, b)| (a - b).abs() < 1e-12);
            assert!(is_close, "{input}: {found:?}, {expected:?}");
        }
    }
}

#[test]
fn single_precision_is_accepted() {
    let (folder, arms) = (cli(), compact_arms(50, 3));
    let narrow: Vec<f32> = arms.as_flattened().iter().map(|p| *p as f32).collect();
    let columns = COMPACT.iter().enumerate().map(|(c, name)| {
        let column: ArrayRef =
            Arc::new(Float32Array::from_iter_values(narrow.iter().skip(c).step_by(4).copied()));
        (name.to_string(), column)
    });
    write_parquet(&folder.path("arms.parquet"), columns.collect());
    let bytes: Vec<u8> = narrow.iter().flat_map(|p| [1.0 - p, *p]).flat_map(f32::to_le_bytes).collect();
    folder.write("arms.npy", npy("<f4", "(50, 2, 2, 2)", &bytes));
    folder.write("arms.csv", csv(&COMPACT, arms.as_flattened()));
    let expected = index(&folder, "arms.csv --discount 0.9", "w.csv");
    for input in ["arms.parquet", "arms.npy"] {
        let found = index(&folder, &format!("{input} --discount 0.9"), "w.parquet");
        for (found, expected) in found.iter().zip(&expected) {
            // single precision carries 6e-8 in each probability; at discount 0.9 an index magnifies it up to 100-fold
            assert!(found.index.iter().zip(&expected.index).all(|(a, b)| (a - b).abs() < 1e-5), "{input}");
        }
    }
}

#[test]
fn integer_columns_are_probabilities_too() {
    let folder = cli();
    let mut columns = float_columns(&COMPACT, &[0.2, 0.8, 0.0, 1.0]);
    columns[2].1 = Arc::new(Int64Array::from(vec![0]));
    columns[3].1 = Arc::new(Int8Array::from(vec![1]));
    write_parquet(&folder.path("arms.parquet"), columns);
    folder.write("arms.csv", csv(&COMPACT, &[0.2, 0.8, 0.0, 1.0]));
    assert_eq!(index(&folder, "arms.parquet", "a.csv"), index(&folder, "arms.csv", "b.csv"));
}

#[test]
fn arm_names_of_every_type_pass_through() {
    let mut dictionary = StringDictionaryBuilder::<Int32Type>::new();
    ["x", "y"].iter().for_each(|name| dictionary.append_value(name));
    let cases: Vec<(ArrayRef, [&str; 2])> = vec![
        (Arc::new(StringArray::from(vec!["x", "y"])), ["x", "y"]),
        (Arc::new(LargeStringArray::from(vec!["x", "y"])), ["x", "y"]),
        (Arc::new(StringViewArray::from(vec!["x", "y"])), ["x", "y"]),
        (Arc::new(dictionary.finish()), ["x", "y"]),
        (Arc::new(Int64Array::from(vec![-7, 12])), ["-7", "12"]),
        (Arc::new(Int8Array::from(vec![-7, 12])), ["-7", "12"]),
        (Arc::new(UInt64Array::from(vec![7, u64::MAX])), ["7", "18446744073709551615"]),
    ];
    for (names, expected) in cases {
        let folder = cli();
        let case = names.data_type().to_string();
        let mut columns = float_columns(&COMPACT, &[0.2, 0.8, 0.5, 0.5, 0.1, 0.3, 0.5, 0.6]);
        columns.insert(2, ("arm".into(), names.clone()));
        write_parquet(&folder.path("arms.parquet"), columns);
        let found = index(&folder, "arms.parquet", "w.csv");
        assert_eq!(found.iter().map(|a| a.arm.as_str()).collect::<Vec<_>>(), expected, "{case}");
        folder.run("index arms.parquet --out w.parquet").success();
        // a column of names keeps its type, text apart: every kind of text is plain text
        let file = fs::File::open(folder.path("w.parquet")).unwrap();
        let schema = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().schema().clone();
        let kept = if names.data_type().is_integer() { names.data_type().clone() } else { DataType::Utf8 };
        assert_eq!(*schema.field(0).data_type(), kept, "{case}");
        if [DataType::Utf8, DataType::Int64].contains(&kept) {
            assert_eq!(read_answers(&folder.path("w.parquet")), found, "{case}");
        }
    }
}

#[test]
fn csv_names_with_commas_quotes_and_breaks_survive() {
    let folder = cli();
    let row = ",0.2,0.8,0.5,0.5\n";
    let names = ["\"a, b\"", "\"say \"\"hi\"\"\"", "\"two\nlines\"", "naïve 名"];
    let text: String = names.iter().map(|name| format!("{name}{row}")).collect();
    folder.write("arms.csv", format!("arm,{}\n{text}", COMPACT.join(",")));
    folder.run("index arms.csv --out w.csv").success();
    let written = fs::read_to_string(folder.path("w.csv")).unwrap();
    names.iter().for_each(|name| assert!(written.contains(&format!("\n{name},")), "{name}: {written}"));
    let parsed = index(&folder, "arms.csv", "w.parquet");
    let expected = ["a, b", "say \"hi\"", "two\nlines", "naïve 名"];
    assert_eq!(parsed.iter().map(|a| a.arm.as_str()).collect::<Vec<_>>(), expected);
}

#[test]
fn csv_may_have_blank_lines_spaces_carriage_returns_and_a_byte_order_mark() {
    let folder = cli();
    folder.write("plain.csv", "p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1\n0.2,0.8,0.5,0.5\n0.1,0.9,0.4,0.6\n");
    folder.write(
        "windows.csv",
        "\u{feff}p_0_0_1, p_0_1_1 ,p_1_0_1,\"p_1_1_1\"\r\n 0.2 ,0.8,0.5,5e-1\r\n\r\n\"0.1\",.9,0.4,0.6",
    );
    assert_eq!(index(&folder, "windows.csv", "a.csv"), index(&folder, "plain.csv", "b.csv"));
}

#[test]
fn other_columns_are_ignored_with_one_note() {
    let folder = cli();
    folder.write("arms.csv", "age,p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1,district\n31,0.2,0.8,0.5,0.5,north\n");
    let run = folder.run("index arms.csv --out w.csv").success();
    assert_eq!(stderr(&run), "restive: note: arms.csv: columns not used: age, district\n");
}

#[test]
fn verbose_adds_last_crossings_status_and_residual() {
    let folder = cli();
    // Pulled in state 0 it moves to state 1 for ever, and state 1 earns 1 per step: γ/(1−γ) = 1 at γ = 0.5.
    folder.write("arms.csv", csv(&COMPACT, &[0.0, 1.0, 1.0, 1.0]));
    folder.run("index arms.csv --discount 0.5 --verbose --out w.csv").success();
    let written = fs::read_to_string(folder.path("w.csv")).unwrap();
    // left alone neither state moves, so d = 1 − γ = 0.5 and the residual is ε/d
    let expected = format!(
        "arm,w_0,w_1,is_indexable,last_0,last_1,status,residual\n0,1.0,0.0,true,1.0,0.0,exact,{:?}\n",
        f64::EPSILON / 0.5
    );
    assert_eq!(written, expected);
    folder.run("index arms.csv --discount 0.5 --verbose --out w.parquet").success();
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    // more than two batches
    let (folder, arms) = (cli(), compact_arms(600_000, 4));
    write_parquet(&folder.path("arms.parquet"), float_columns(&COMPACT, arms.as_flattened()));
    for out in ["csv", "parquet", "npy"] {
        let bytes = [1, 2, 5].map(|threads| {
            let name = format!("w{threads}.{out}");
            folder.run(&format!("index arms.parquet --threads {threads} --out {name}")).success();
            fs::read(folder.path(&name)).unwrap()
        });
        assert!(bytes[0] == bytes[1] && bytes[1] == bytes[2], "{out}");
    }
    let answers = read_answers(&folder.path("w1.parquet"));
    assert_eq!(answers.len(), 600_000);
    assert!(answers.iter().enumerate().all(|(i, answer)| answer.arm == i.to_string()));
}

#[test]
fn an_existing_output_is_replaced_only_upon_success() {
    let folder = cli();
    folder.write("good.csv", csv(&COMPACT, &[0.2, 0.8, 0.5, 0.5]));
    folder.write("bad.csv", csv(&COMPACT, &[0.2, 0.8, 0.5, 1.5]));
    folder.run("index good.csv --discount 0.5 --out w.csv").success();
    let before = fs::read(folder.path("w.csv")).unwrap();
    folder.run("index bad.csv --out w.csv --force").failure();
    assert_eq!(fs::read(folder.path("w.csv")).unwrap(), before);
    folder.run("index good.csv --out w.csv --force").success();
    assert_ne!(fs::read(folder.path("w.csv")).unwrap(), before);
    assert_eq!(folder.listing(), ["bad.csv", "good.csv", "w.csv"]);
}

#[cfg(unix)]
#[test]
fn outputs_have_the_permissions_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = cli();
    folder.write("arms.csv", csv(&COMPACT, &[0.2, 0.8, 0.5, 0.5]));
    folder.run("index arms.csv --out w.csv").success();
    let mode = |name: &str| fs::metadata(folder.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("w.csv"), mode("arms.csv"));
}
