//! Files: tables of arms and of Whittle indices, [studies](study), [models](model).
//!
//! [`ArmReader`] reads the transition probabilities of many arms from a `.csv`, `.parquet` or `.npy` file, a
//! batch at a time and in bounded memory; every batch has been checked by the library's border
//! ([`restive::Transition`], [`restive::CompactTransition`]). [`IndexWriter`] writes their indices in any of
//! the same formats, also batch by batch; the file appears under its name only when it is complete.
//!
//! # What a table of arms looks like
//! One row per arm and one column `p_S_A_NEXT` per probability P(s, a, s′): `p_0_1_2` is the probability of
//! moving from state 0, when pulled (action 1), to state 2. For two states the four columns `p_0_0_1`,
//! `p_0_1_1`, `p_1_0_1`, `p_1_1_1` suffice. An optional column `arm` names the arms; without it they are
//! numbered from 0. Other columns are ignored, and [`ArmReader::ignored`] lists them.
//!
//! # Errors
//! Each [`Error`] names the file, the row as the file's own tools count it (the line of a CSV as an editor
//! shows it, the row of a Parquet file from 0, the arm of an array from 0), the arm's name, what was found and
//! what was expected.
//!
//! ```
//! use restive::{Layout, Reward, index::two_state};
//! use restive_tables::{ArmReader, Probabilities};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("arms.csv");
//! std::fs::write(&path, "arm,p_0_0_1,p_0_1_1,p_1_0_1,p_1_1_1\nA,0.2,0.8,0.5,0.5\n").unwrap();
//! let mut reader = ArmReader::open(&path, Layout::Nsas)?;
//! while let Some(batch) = reader.next_batch()? {
//!     let Probabilities::Compact(arms) = &batch.probabilities else { unreachable!("four columns") };
//!     let solved = two_state::index_compact(arms.view(), Reward::linear(2).view(), 0.5);
//!     assert_eq!(batch.names.name(0), "A");
//!     assert!((solved.index[[0, 0]] - 6.0 / 17.0).abs() < 1e-15);
//! }
//! # Ok::<(), restive_tables::Error>(())
//! ```

mod choice;
mod columns;
mod error;
mod foreign;
mod format;
mod formula;
pub mod memory;
pub mod model;
mod names;
mod order;
mod own;
mod read;
pub mod show;
pub mod study;
pub mod words;
mod write;

pub use columns::{ColumnFault, NameFault};
pub use error::{Error, Place, Result, RowNumber};
pub use foreign::{Content, ForeignFile, Wanted};
pub use format::Format;
pub use formula::unguarded_cell;
pub use model::Model;
pub use names::ArmNames;
pub use order::by_name;
pub use own::{recognise_bytes, recognise_names, recognise_table};
pub use read::{ArmBatch, ArmReader, ParquetTable, Probabilities};
pub use study::{
    CHECKS, Contact, Contacts, Looks, People, PeopleColumns, PeoplePiece, Piece, Pieces, Roll, RollCounts,
    RollInstance, Study, StudyBehaviour, StudyInstance, StudySettings, arm_key, begins_column, is_own_column,
    moves_column, texts_key, unsupported_in_passes, write_people,
};
pub use write::{
    Cells, Detail, FolderDraft, IndexWriter, Own, abandon_drafts, check_file, make_folder,
    make_private_folders, refuse_input, remove_file, remove_folder, remove_leftovers, replace_file,
    sync_folder, write_files, write_private_file, write_private_files, write_private_table, write_table,
};
