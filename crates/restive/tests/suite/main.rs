//! The library's integration tests, in one binary.
//!
//! `recovery`: two roads to one number · `gradients`: every pullback against finite differences ·
//! `invariants`: properties that hold for all inputs · `golden`: numbers from `reference/` · `rooms`: which room
//! may know which · `predictor`, `two_stage`, `decision_focused`, `recipe`, `programme`: learning · `maternal`: a synthetic programme · `encoding`, `split`:
//! features and parts of a study · `collapsing`, `collapsing_gradients`: arms seen only at pulls · `cwpdis`, `segmented`, `propensity`, `likelihood`, `strength`, `fluid`, `world_gradients`, `evaluate`, `foreseen`, `start`,
//! `coverage`: estimators against naive formulas, enumeration and repetition · `interrupt`: kernels that are told to stop. `per_arm`: rewards and discounts of the arms' own. `knapsack`: pulls that cost differently. `joint`: all arms as one process. `statistics`: tests of tables. `history`, `history_gate`, `intervals`: a person's own record beside the prediction.
//! `actions`: more than two of them, against all policies. `horizon`: indices of arms that end. `planning`, `planning_exact`, `planning_gradients`, `planning_worth`: prices against textbook recursions, linear programmes, enumeration and simulation, on the programmes of `planning_programme`. `hierarchical`, `auto`: the model between effect and linear, and the training that chooses. `passing`, `survey`: arms that pass by in pieces. `arms` draws random arms, `logs` random logs,
//! `oracle` holds the slow textbook truths. `contributions`: shares of features against all orders.
//! `oracle` holds the slow textbook truths. `allocation`: places under rules, against all lists and all orders of keys.
//! `oracle` holds the slow textbook truths. `allocation`: places under rules, against all lists and all orders of keys. `fairness`: whom lists served, against fractions, all deals,
//! `trial`, `trial_coverage`, `trial_design`: trials worked by hand and repeated, in the programme of `trial_world`.
//! all tables that a printed one leaves open and all lists.

mod actions;
mod alignment;
mod allocation;
mod arms;
mod auto;
mod belief;
mod certificate;
mod collapsing;
mod collapsing_gradients;
mod collapsing_learning;
mod contributions;
mod coverage;
mod cwpdis;
mod decision_focused;
mod effect;
mod encoding;
mod evaluate;
mod evidence;
mod fairness;
mod fluid;
mod foreseen;
mod golden;
mod golden_time;
mod gradients;
mod hierarchical;
mod history;
mod history_gate;
mod horizon;
mod interrupt;
mod intervals;
mod invariants;
mod joint;
mod knapsack;
mod known;
mod labels;
mod likelihood;
mod logs;
mod maternal;
mod minibatch;
mod oracle;
mod passing;
mod per_arm;
mod pieces;
mod planning;
mod planning_exact;
mod planning_gradients;
mod planning_programme;
mod planning_smooth;
mod planning_worth;
mod predictor;
mod programme;
mod propensity;
mod recipe;
mod recorded;
mod recovery;
mod rooms;
mod segmented;
mod selection;
mod sightings;
mod simulation;
mod split;
mod start;
mod statistics;
mod strength;
mod sum;
mod survey;
mod trial;
mod trial_coverage;
mod trial_design;
mod trial_world;
mod two_stage;
mod world_gradients;
