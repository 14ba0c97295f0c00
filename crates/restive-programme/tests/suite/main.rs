//! A programme without a face: lists that are edited, people who are looked at, weeks that are put away.

mod archive;
mod common;
mod damage;
mod draft;
mod exports;
mod person;
mod verify;
