//! The names of the arms, as the file gives them.
//!
//! Names are passed through to the output untouched: a Parquet column of integers stays a column of integers of
//! the same type, text stays text. Names read from CSV are text. Nothing asks whether they are unique, because
//! that question cannot be answered in bounded memory. A name is for people: one of more than [`LONGEST`] characters is refused.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int64Array, downcast_primitive_array};
use arrow_schema::DataType;
use std::io::Write;
use std::sync::Arc;

/// The most characters of a name, of a column or a category too.
pub(crate) const LONGEST: usize = 4096;

/// What is expected in the place of a longer one.
pub(crate) const SHORTER: &str = "at most 4096 characters";

/// How many characters a name has, where that is too many.
pub(crate) fn too_long(name: &str) -> Option<usize> {
    (name.len() > LONGEST).then(|| name.chars().count()).filter(|characters| *characters > LONGEST)
}

/// The names of the arms of one batch.
#[derive(Debug, Clone)]
pub enum ArmNames {
    /// The file has no names: arms are numbered, this batch from the given number.
    Counted(u64),
    /// A column of text (`Utf8`) or of integers, without nulls.
    Column(ArrayRef),
}

impl ArmNames {
    /// Whether a column of that type can name arms.
    pub(crate) fn can_be(data_type: &DataType) -> bool {
        data_type.is_integer() || *data_type == DataType::Utf8
    }

    /// The name of the arm at a position of the batch.
    pub fn name(&self, position: usize) -> String {
        let mut name = Vec::new();
        self.append(position, &mut name);
        String::from_utf8(name).expect("names are text")
    }

    /// Appends the name of one arm to a line of text.
    pub(crate) fn append(&self, position: usize, line: &mut Vec<u8>) {
        match self {
            ArmNames::Counted(first) => write!(line, "{}", first + position as u64),
            ArmNames::Column(names) => match names.as_string_opt::<i32>() {
                Some(names) => line.write_all(names.value(position).as_bytes()),
                None => downcast_primitive_array!(
                    names => write!(line, "{:?}", names.value(position)),
                    other => unreachable!("names are text or integers, not {other}"),
                ),
            },
        }
        .expect("a vector takes all bytes");
    }

    /// The names as a column of the output.
    pub(crate) fn column(&self, arms: usize) -> ArrayRef {
        match self {
            ArmNames::Counted(first) => {
                Arc::new(Int64Array::from_iter_values((0..arms as u64).map(|i| (first + i) as i64)))
            }
            ArmNames::Column(names) => names.clone(),
        }
    }
}
