//! The pipeline without a face: what it answers in memory, held against the library.

mod generate;
