//! Indices as comma-separated text. Numbers carry as many digits as it takes to read the same number back, and names come back too,
//! though none [starts a formula](crate::formula).

use super::Detail;
use crate::error::Result;
use crate::formula::guard;
use crate::names::ArmNames;
use crate::write::draft::Draft;
use crate::write::place::Own;
use restive::index::Indices;
use std::path::Path;

pub(crate) struct CsvIndices {
    draft: Draft,
    detail: Detail,
    /// the text of the batch in hand
    text: Vec<u8>,
}

impl CsvIndices {
    pub(crate) fn create(
        path: &Path,
        replace: Option<Own>,
        labels: &[String],
        detail: Detail,
    ) -> Result<Self> {
        let mut header = vec!["arm".to_string()];
        header.extend(labels.iter().map(|s| format!("w_{s}")));
        header.push("is_indexable".into());
        if detail == Detail::Full {
            header.extend(labels.iter().map(|s| format!("last_{s}")));
            header.extend(["status".into(), "residual".into()]);
        }
        let mut draft = Draft::create(path, replace)?;
        draft.write((header.join(",") + "\n").as_bytes())?;
        Ok(Self { draft, detail, text: Vec::new() })
    }

    pub(crate) fn write(&mut self, names: &ArmNames, solved: &Indices) -> Result<()> {
        let text = &mut self.text;
        text.clear();
        for (i, index) in solved.index.outer_iter().enumerate() {
            let start = text.len();
            names.append(i, text);
            end_name(text, start);
            index.iter().for_each(|w| append_number(*w, text));
            text.extend_from_slice(match solved.verdict(i) {
                Some(true) => b",true",
                Some(false) => b",false",
                None => b",",
            });
            if self.detail == Detail::Full {
                solved.last.row(i).iter().for_each(|w| append_number(*w, text));
                text.push(b',');
                text.extend_from_slice(solved.status[i].name().as_bytes());
                append_number(solved.residual[i], text);
            }
            text.push(b'\n');
        }
        self.draft.write(text)
    }

    pub(crate) fn finish(self) -> Result<Draft> {
        Ok(self.draft)
    }
}

fn append_number(number: f64, text: &mut Vec<u8>) {
    text.push(b',');
    // Adding 0 turns −0 into 0: a sign without meaning.
    text.extend_from_slice(zmij::Buffer::new().format(number + 0.0).as_bytes());
}

/// Makes a cell of the name that starts at `start`: text where it would be a formula, in quotes if it holds a separator, a quote or a
/// line break.
pub(crate) fn end_name(text: &mut Vec<u8>, start: usize) {
    guard(text, start);
    if !text[start..].iter().any(|byte| b",\"\r\n".contains(byte)) {
        return;
    }
    let name = text.split_off(start);
    text.push(b'"');
    for byte in name {
        text.push(byte);
        if byte == b'"' {
            text.push(byte);
        }
    }
    text.push(b'"');
}
