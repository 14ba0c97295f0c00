//! restive in DataFusion: what a model says of people as an SQL function, and plans of tables in partitions.
//!
//! ```sql
//! SELECT arm, restive_score(named_struct('arm', arm, 'age', age, 'state', state))['index'] AS index
//! FROM people ORDER BY index DESC LIMIT 100
//! ```
//!
//! [`register`] gives the function its name; its one argument is a struct of the columns of a table of people
//! ([`restive_pipeline::partition`]), its answer a struct of [`PlanJob::score_schema`]: index, value, chances, reasons. [`plan`] runs the three
//! passes of a plan on every partition of a data frame: the plan of one machine, to the last bit.

mod plan;
mod score;

pub use plan::plan;
pub use restive_pipeline::partition::PlanJob;
pub use score::{Score, register};
