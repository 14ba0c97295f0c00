//! Tests of the web UI over real sockets: pages, forms and attacks.

mod attack;
mod capacity;
mod connections;
mod data;
mod demo;
mod door;
mod evidence;
mod fairness;
mod harness;
mod hostile;
mod lasting;
mod lock;
mod outcomes;
mod person;
mod points;
mod record;
mod routes;
mod tls;
mod trial;
mod users;
mod week;
mod weight;
mod world;
