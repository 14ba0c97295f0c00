//! Integration tests of the library, in one binary.
//!
//! | file | content |
//! |---|---|
//! | `arms`, `logs`, `planning_programme`, `trial_world` | random arms, logs and programmes of the tests, and the programme in which trials are run |
//! | `oracle` | slow reference implementations |
//! | `rooms` | dependencies that packages and modules may have |
//! | `golden`, `golden_time` | numbers from `reference/` |
//! | `invariants` | properties of the indices of all arms |
//! | `recovery` | fast kernels against enumeration and against bisection over policy iteration |
//! | `gradients`, `world_gradients` | pullbacks against finite differences |
//! | `per_arm`, `pieces` | rewards and discounts of each arm, and batches of any size and order: the same bits as arms one by one |
//! | `selection`, `knapsack` | soft and strict top-k, with equal and with different costs of pulls |
//! | `actions` | more than two actions, against all policies |
//! | `joint` | all arms as one process |
//! | `belief`, `labels`, `known` | beliefs, chains of labels, and the knowledge of arms at gaps of the log |
//! | `collapsing`, `collapsing_gradients`, `collapsing_learning` | arms whose states are seen at pulls only |
//! | `horizon` | indices of arms that end |
//! | `planning`, `planning_exact`, `planning_gradients`, `planning_smooth` | prices against textbook recursions, linear programs, enumeration and finite differences |
//! | `planning_worth`, `certificate` | values of plans in simulation, and their bounds against the joint process |
//! | `encoding`, `split`, `survey` | features and parts of a study |
//! | `predictor`, `effect`, `hierarchical`, `auto` | predictors, and the training that chooses among them |
//! | `two_stage`, `decision_focused`, `recipe`, `minibatch` | methods of training |
//! | `sightings`, `passing` | fits to observations of single states, and fits to streamed arms |
//! | `programme`, `maternal` | learning from one trajectory with few pulls, and the synthetic maternal programme |
//! | `contributions` | shares of features against all orders |
//! | `history`, `history_gate`, `intervals` | shrinkage of predictions toward the history of each arm |
//! | `simulation` | simulation against enumeration of joint chains |
//! | `cwpdis`, `segmented`, `propensity`, `likelihood`, `strength`, `fluid`, `foreseen`, `start`, `evaluate`, `coverage` | estimators against direct formulas, enumeration and repetition |
//! | `evidence`, `recorded`, `alignment` | evidence from logs, with recorded propensities, and from rows that are shifted in time |
//! | `availability`, `availability_values`, `availability_ratios` | arms that can be pulled at some steps only |
//! | `cluster_resamples` | resamples of whole clusters |
//! | `evidence_shapes`, `evidence_course` | availability, clusters and courses, on the logs of `evidence_log`, against plain loops |
//! | `allocation` | places under rules, against all lists and all orders of keys |
//! | `fairness` | groups that lists served, against fractions, all random assignments, all lists, and all tables that a printed one leaves possible |
//! | `trial`, `trial_coverage`, `trial_design` | trials computed by hand and repeated trials |
//! | `statistics`, `sum` | tests of tables, and exact sums |
//! | `interrupt` | kernels that are stopped |

mod actions;
mod alignment;
mod allocation;
mod arms;
mod auto;
mod availability;
mod availability_ratios;
mod availability_values;
mod belief;
mod certificate;
mod cluster_resamples;
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
mod evidence_course;
mod evidence_log;
mod evidence_shapes;
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
