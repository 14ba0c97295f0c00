//! The program through its built binary: files in, files out, and what it says when something is wrong.

mod answers;
mod bad_input;
mod collapsing;
mod collapsing_index;
mod decision_focused;
mod demo;
mod evaluate;
mod experiment;
mod experiment_cost;
mod experiment_joint;
mod experiment_quality;
mod files;
mod formats;
mod generate;
mod guide;
mod help;
mod maternal;
mod memory;
mod models;
mod plan;
mod process;
mod resume;
mod stored;
mod study;
mod terminal;
mod train;
