//! Tables as bytes: delimiter, encoding and line ends of an export.

use super::draws::Draws;

/// A file that a synthetic programme writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportFile {
    /// Path of the file in the folder, for example `registry.csv` or `truth/people.csv`.
    pub name: &'static str,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

/// Number of rows, or of faults of one kind, in an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlantedCount {
    /// File name of the export.
    pub file: &'static str,
    /// Kind of the rows or cells that are counted.
    pub what: &'static str,
    /// Number of them.
    pub count: usize,
}

/// An export and the counts of its rows and faults.
pub(super) struct Table {
    pub(super) file: ExportFile,
    pub(super) planted: Vec<PlantedCount>,
}

impl Table {
    pub(super) fn new<const N: usize>(
        name: &'static str,
        bytes: Vec<u8>,
        counts: [(&'static str, usize); N],
    ) -> Self {
        let planted = counts.map(|(what, count)| PlantedCount { file: name, what, count }).into();
        Self { file: ExportFile { name, bytes }, planted }
    }
}

/// Form of a text table.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) delimiter: u8,
    /// Whether lines end in CRLF instead of LF.
    pub(super) is_crlf: bool,
    pub(super) encoding: Encoding,
}

/// Encoding of a text table.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Encoding {
    Utf8,
    /// UTF-8 with a byte-order mark.
    Utf8Mark,
    /// ISO-8859-1, which windows-1252 contains.
    Latin1,
}

impl Form {
    /// Comma, LF and UTF-8.
    pub(super) const PLAIN: Self = Self { delimiter: b',', is_crlf: false, encoding: Encoding::Utf8 };

    /// Header and rows as bytes.
    pub(super) fn write<R, C>(self, header: &[&str], rows: impl IntoIterator<Item = R>) -> Vec<u8>
    where
        R: IntoIterator<Item = C>,
        C: AsRef<[u8]>,
    {
        let terminator = if self.is_crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
        let mark = if self.encoding == Encoding::Utf8Mark { "\u{feff}" } else { "" };
        let mut writer = csv::WriterBuilder::new()
            .delimiter(self.delimiter)
            .terminator(terminator)
            .from_writer(Vec::from(mark));
        const IN_MEMORY: &str = "a table of equal rows can be written to memory";
        writer.write_record(header).expect(IN_MEMORY);
        for row in rows {
            writer.write_record(row).expect(IN_MEMORY);
        }
        let bytes = writer.into_inner().expect(IN_MEMORY);
        if self.encoding != Encoding::Latin1 {
            return bytes;
        }
        let text = String::from_utf8(bytes).expect("cells are text");
        text.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect()
    }
}

/// A phone number in one of the forms in which people write it.
pub(super) fn written_phone(draws: &mut Draws, number: &str) -> String {
    let (a, b) = number.split_at(5);
    match draws.below(7) {
        0 => format!("+91 {a} {b}"),
        1 => format!("+91{a}{b}"),
        2 => format!("0{a}{b}"),
        3 => format!("0{a} {b}"),
        4 => format!("{a} {b}"),
        5 => format!("{a}{b}"),
        _ => format!("+91-{a}-{b}"),
    }
}

/// A phone number in the form in which a system writes it.
pub(super) fn plain_phone(number: &str) -> String {
    format!("+91{number}")
}
