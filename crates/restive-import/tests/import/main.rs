//! Exports of every shape, from their files to a study.
