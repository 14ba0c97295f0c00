//! The desk, through real sockets: what a browser sees, and what somebody else tries.

mod attack;
mod capacity;
mod common;
mod data;
mod door;
mod evidence;
mod fairness;
mod hostile;
mod lasting;
mod outcomes;
mod person;
mod points;
mod record;
mod routes;
mod tls;
mod trial;
mod week;
mod weight;
