//! The desk, through real sockets: what a browser sees, and what somebody else tries.

mod attack;
mod common;
mod door;
mod week;
