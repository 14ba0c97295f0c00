//! Exports of every shape, from their files to a study.

mod again;
mod damage;
mod demo;
mod demo_weeks;
mod everywhere;
mod first_mapping;
mod kit;
mod messaging;
mod order;
mod outcomes;
mod planned;
mod planted;
mod refused;
mod stranger;
mod systems;
