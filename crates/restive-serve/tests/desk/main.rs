//! The desk, through real sockets: what a browser sees, and what somebody else tries.

mod attack;
mod common;
mod data;
mod door;
mod evidence;
mod fairness;
mod person;
mod record;
mod week;
