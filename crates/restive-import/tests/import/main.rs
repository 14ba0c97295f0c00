//! Exports of every shape, from their files to a study.

mod again;
mod answers;
mod cell_errors;
mod damage;
mod declared;
mod demo;
mod demo_weeks;
mod departures;
mod everywhere;
mod first_mapping;
mod headers;
mod kit;
mod messaging;
mod order;
mod outcomes;
mod planned;
mod planted;
mod refused;
mod stranger;
mod synonyms;
mod systems;
