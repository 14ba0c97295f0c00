//! `restive plan`: whom to pull next.

pub(crate) mod report;

use crate::shared::begin::{ModelAndStudy, check_table, use_threads};
use crate::shared::say;
use crate::shared::values::{choice, threads, yes_or_no};
use clap::Args;
use report::write_text;
use restive_pipeline::{Plan, PlanAsked, PolicyName};
use restive_tables::{Contacts, refuse_input};
use std::path::PathBuf;

const ABOUT: &str = "\
Plan whom to pull next: the K arms of each instance that rank highest in their latest recorded state.

Where the decisions that are left are known (--remaining N, or ends = T in study.toml, a step as column t counts), arms are ranked \
by the advantage of a pull now over none until the end, given the prices of pulls in the steps to come (policy horizon); the state \
after the last pull counts. Without an end they are ranked by their Whittle index (policy whittle). Either way the answer says what no \
policy could exceed over the steps ahead, and what would come without a pull.

MODEL is a folder that restive train wrote, STUDY the folder of a study with the same features. The latest state of an arm is \
the last one observed in the latest trajectory that observed it: trajectories follow each other by name, 9 before 10, or as the \
column order of the table says. An arm that was never observed has \
no state: it is left out, and the answer says how many are. Where states are seen at pulls only, an arm is ranked by its \
label at the end of the log: last_state, the last state that was seen, and since, the steps since then (0 just after a pull); a \
step without a row is one more step, and the last label of a chain means so many steps or more. An arm that was never seen is \
planned for too, as last seen longer ago than the chain remembers: its last_state and since are empty, and the answer says how many there are.

Exactly K arms are pulled in each instance (all, where there are fewer). An index or advantage of 0 or less means that a pull does not pay \
there; such arms are marked, and --only-beneficial leaves them out. Arms that tie for the last places share them at random: \
inclusion is the probability of being in the plan over all tie-breaks, 1 without ties. Equal arms are ranked by name.

An arm's own record counts beside the prediction where that helped to foretell arms that the model had not learnt from; the answer says \
whether, and by how much. --history yes and no decide otherwise. What a record says of an arm left alone is carried, in part or in \
whole, to what a pull would do; where few are ever pulled, that is what makes a record useful.";

const EXAMPLES: &str = "\
Examples:
  restive plan model examples/study
  restive plan model examples/study --remaining 4
  restive plan model examples/study --budget 3 --only-beneficial --out plan.csv
  restive plan model examples/study --history no --json";

/// Plan whom to pull next
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct PlanArguments {
    /// The folder of the model
    #[arg(value_name = "MODEL")]
    model: PathBuf,

    /// The folder of the study
    #[arg(value_name = "STUDY")]
    study: PathBuf,

    /// Arms to pull in each instance [default: the study's budget]
    #[arg(short, long, value_name = "K")]
    budget: Option<usize>,

    /// Leave out arms where a pull does not pay
    #[arg(long)]
    only_beneficial: bool,

    /// What arms are ranked by [default: horizon where the steps that are left are known, otherwise whittle]
    #[arg(long, value_parser = choice::<PolicyName>(PolicyName::described()))]
    policy: Option<PolicyName>,

    /// Decisions that are left, this one included [default: as ends in study.toml says, if it does]
    #[arg(long, value_name = "N")]
    remaining: Option<usize>,

    /// Let an arm's own record count beside the prediction: yes (as --history alone says) or no [default: where it helps]
    #[arg(long, value_name = "YES|NO", num_args = 0..=1, default_missing_value = "yes", value_parser = yes_or_no)]
    history: Option<bool>,

    /// Discount of the index, from 0 to 1 [default: the model's; where it has none, 1 - 1/H with H the study's horizon]
    #[arg(long, allow_hyphen_values = true)]
    index_discount: Option<f64>,

    /// Plan for this instance only
    #[arg(long, value_name = "NAME")]
    instance: Option<String>,

    /// The programme's people, as restive import wrote them: leaves out those who are gone or not to be called, and writes
    /// the columns that were kept (names, numbers) into OUT, which nobody but you may read then
    #[arg(long, value_name = "PEOPLE")]
    people: Option<PathBuf>,

    /// Seed of the tie-break
    #[arg(long, default_value_t = PlanAsked::default().seed)]
    seed: u64,

    /// Write the plan to this file: .csv or .parquet [default: show the first rows]
    #[arg(short, long, value_name = "OUT")]
    out: Option<PathBuf>,

    /// Replace a plan that is in the file
    #[arg(long, requires = "out")]
    force: bool,

    /// How many rows to show when there is no --out
    #[arg(long, default_value_t = 20, value_name = "N")]
    rows: usize,

    /// Print the plan as JSON instead of text
    #[arg(long)]
    json: bool,

    /// Threads to compute with [default: one per core]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = threads())]
    threads: Option<u16>,
}

pub(crate) fn run(arguments: &PlanArguments) -> anyhow::Result<()> {
    let asked = PlanAsked {
        budget: arguments.budget,
        policy: arguments.policy,
        remaining: arguments.remaining,
        only_beneficial: arguments.only_beneficial,
        history: arguments.history,
        index_discount: arguments.index_discount,
        instance: arguments.instance.clone(),
        seed: arguments.seed,
        people: arguments.people.as_deref().map(Contacts::read).transpose()?,
    };
    asked.check()?;
    if let Some(out) = &arguments.out {
        if let Some(people) = &arguments.people {
            refuse_input(out, people, &[])?;
        }
        check_table(out, arguments.force.then_some(Plan::recognise), &arguments.model, &arguments.study)?;
    }
    use_threads(arguments.threads)?;
    let read = ModelAndStudy::read(&arguments.model, &arguments.study)?;
    let applied = read.applied()?;
    let plan = applied.plan(&asked)?;
    if let Some(out) = &arguments.out {
        plan.write(out, arguments.force)?;
    }
    let rows = if arguments.out.is_some() { 0 } else { arguments.rows };
    match arguments.json {
        true => say::print_json(&plan)?,
        false => say::print(|text| write_text(&plan, text, rows, arguments.out.as_deref()))?,
    }
    applied.notes.iter().chain(&plan.note()).chain(&plan.left_out()).for_each(say::note);
    plan.warnings().iter().for_each(say::warning);
    Ok(())
}
