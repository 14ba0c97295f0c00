//! Damaged files are refused with a message, never with a panic and never without end.

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use restive::Layout;
use restive_tables::ArmReader;
use std::path::Path;
use std::sync::Arc;

const ARMS: usize = 40;

/// Reads a whole file: how many arms, or what is wrong.
fn read(path: &Path) -> Result<usize, String> {
    let mut reader = ArmReader::open(path, Layout::Nsas).map_err(|e| e.to_string())?;
    let mut arms = 0;
    while let Some(batch) = reader.next_batch().map_err(|e| e.to_string())? {
        arms += batch.probabilities.arms();
    }
    Ok(arms)
}

/// A small Parquet file with names, in the given compression.
fn parquet(compression: Compression) -> Vec<u8> {
    let numbers =
        |c: usize| Float64Array::from_iter_values((0..ARMS).map(|i| ((i * 7 + c * 3) % 10) as f64 / 10.0));
    let names = StringArray::from_iter_values((0..ARMS).map(|i| format!("arm-{}", i % 7)));
    let mut columns: Vec<(&str, ArrayRef)> = vec![("arm", Arc::new(names))];
    for (c, name) in ["p_0_0_1", "p_0_1_1", "p_1_0_1", "p_1_1_1"].into_iter().enumerate() {
        columns.push((name, Arc::new(numbers(c))));
    }
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

/// Writes a new file; writing over an old one makes some file systems wait for the disk.
fn write_anew(path: &Path, bytes: &[u8]) {
    let _ = std::fs::remove_file(path);
    std::fs::write(path, bytes).unwrap();
}

/// Damages the file at every place in turn and reads it.
fn damage_everywhere(name: &str, whole: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    write_anew(&path, whole);
    assert_eq!(read(&path), Ok(ARMS));
    for place in 0..whole.len() {
        write_anew(&path, &whole[..place]);
        let cut = read(&path);
        // a text may end after any row
        assert!(name.ends_with(".csv") || cut.is_err(), "{name} cut at {place}: {cut:?}");
        for flip in [0xff, 0x01] {
            let mut damaged = whole.to_vec();
            damaged[place] ^= flip;
            write_anew(&path, &damaged);
            // Some damage only changes a number; whatever is refused is refused in one line that names the file.
            if let Err(message) = read(&path) {
                assert!(message.starts_with(path.to_str().unwrap()), "{message}");
                assert!(!message.contains('\n'), "{message}");
            }
        }
    }
}

#[test]
fn damaged_parquet_never_panics() {
    for compression in
        [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(ZstdLevel::default())]
    {
        damage_everywhere("arms.parquet", &parquet(compression));
    }
}

#[test]
fn damaged_arrays_never_panic() {
    let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({ARMS}, 2, 2, 2), }}\n");
    let mut whole = b"\x93NUMPY\x01\x00".to_vec();
    whole.extend((text.len() as u16).to_le_bytes());
    whole.extend(text.as_bytes());
    whole.extend([0.5f64; 8 * ARMS].iter().flat_map(|p| p.to_le_bytes()));
    damage_everywhere("arms.npy", &whole);
}

#[test]
fn damaged_text_never_panics() {
    let row = "\"arm, 1\",0.25,0.75,0.5,1e-1\r\n";
    damage_everywhere(
        "arms.csv",
        format!("arm,p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1\r\n{}", row.repeat(ARMS)).as_bytes(),
    );
}
