//! `restive plan`: whom to pull next.

use crate::apply::{Applied, indices, refuse_other_than_tables};
use crate::arguments::discount;
use crate::failure::Usage;
use crate::history::History;
use crate::latest::latest;
use crate::plan_report::{LastSeen, Plan, Row};
use crate::summary::counted;
use clap::Args;
use restive::Instance;
use restive::evaluation::{Record, unknown_label};
use restive::instance::Observation;
use restive::policy::strict::strict_top_k;
use restive_tables::StudyInstance;
use std::io::Write;
use std::path::PathBuf;

const ABOUT: &str = "\
Plan whom to pull next: the K arms of each instance whose latest recorded state has the highest Whittle index.

MODEL is a folder that restive train wrote, STUDY the folder of a study with the same features. The latest state of an arm is \
the last one observed in the last trajectory that observed it, in the order of the file. An arm that was never observed has \
no state: it is left out, and the answer says how many are. Where states are seen at pulls only, an arm is ranked by its \
label at the end of the log: last_state, the last state that was seen, and since, the steps since then (0 just after a pull); a \
step without a row is one more step, and the last label of a chain means so many steps or more. An arm that was never seen is \
planned for too, as last seen longer ago than the chain remembers: its last_state and since are empty, and the answer says how many there are.

Exactly K arms are pulled in each instance (all, where there are fewer). An index of 0 or less means that a pull does not pay \
there; such arms are marked, and --only-beneficial leaves them out. Arms that tie for the last places share them by lot: \
inclusion is the probability of being in the plan over the lots, 1 without ties. Arms are ranked by index, equal ones in the \
order of the table.

With --history an arm's own record counts: its transitions are (n(s,a,s') + k m(s,a,s'))/(n(s,a) + k), where n counts what was \
recorded, m is the prediction and k what a prediction is worth. Features decide where little is recorded, a person's own record \
where much is. For each action k is the best of 0.5, 1, 2, ... 4096 on the records of the validation arms (of the test arms, where \
there are no others), under a weak prior around 16: the answer says which, and from how many transitions. Where no such arm has \
been seen twice in a state, k is 16. Where states are seen at pulls only, the transitions of an arm are those that suit its \
sightings best, the prediction being worth k transitions of each row.";

const EXAMPLES: &str = "\
Examples:
  restive plan model examples/study
  restive plan model examples/study --budget 3 --only-beneficial --out plan.csv
  restive plan model examples/study --history --json";

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

    /// Let an arm's own record count beside the prediction
    #[arg(long)]
    history: bool,

    /// Discount of the index, from 0 to 1 [default: the model's; where it has none, 1 - 1/H with H the study's horizon]
    #[arg(long, value_parser = discount, allow_hyphen_values = true)]
    index_discount: Option<f64>,

    /// Plan for this instance only
    #[arg(long, value_name = "NAME")]
    instance: Option<String>,

    /// Seed of the lots for ties
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Write the plan to this file: .csv or .parquet [default: show the first rows]
    #[arg(short, long, value_name = "OUT")]
    out: Option<PathBuf>,

    /// How many rows to show when there is no --out
    #[arg(long, default_value_t = 20, value_name = "N")]
    rows: usize,

    /// Print the plan as JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &PlanArguments) -> anyhow::Result<()> {
    refuse_other_than_tables(arguments.out.as_deref())?;
    let applied = Applied::read(&arguments.model, &arguments.study)?;
    let names = applied.study.instances.iter().map(|instance| instance.name.as_str());
    let chosen: Vec<usize> = match &arguments.instance {
        None => (0..applied.instances.len()).collect(),
        Some(name) => match names.clone().position(|other| other == name) {
            Some(k) => vec![k],
            None => {
                let some: Vec<&str> = names.take(5).collect();
                let message =
                    format!("--instance: found {name:?}, expected an instance such as {}", some.join(", "));
                return Err(Usage(message).into());
            }
        },
    };
    let observation = applied.study.settings.observation;
    let chain = observation.chain();
    let history = arguments.history.then(|| applied.history());
    let strength = history.as_ref().map(|history| history.strength.map(|of| of.value));
    let discount = applied.index_discount(arguments.index_discount);
    let budget = arguments.budget.unwrap_or(applied.study.settings.budget);
    let mut plan = Plan {
        budget,
        index_discount: discount,
        history,
        never_observed: 0,
        is_labelled: chain.is_some(),
        plan: Vec::new(),
    };
    let mut not_indexable = 0;
    for k in chosen {
        let instance = &applied.instances[k];
        let (table, not) = indices_of(instance, &applied, k, strength, discount)?;
        not_indexable += not;
        let lots = arguments.seed.wrapping_add(k as u64);
        let (rows, never_observed) = pulls(&applied.study.instances[k], &table, observation, budget, lots);
        plan.never_observed += never_observed;
        plan.plan.extend(rows.into_iter().filter(|row| row.is_beneficial || !arguments.only_beneficial));
    }
    if let Some(out) = &arguments.out {
        plan.write_table(out)?;
    }
    crate::print(|text| match (arguments.json, &arguments.out) {
        (true, _) => {
            serde_json::to_writer_pretty(&mut *text, &plan)?;
            writeln!(text)
        }
        (false, out) => {
            let rows = if out.is_some() { 0 } else { arguments.rows };
            plan.write_text(text, rows, out.as_deref())
        }
    })?;
    applied.notes.iter().for_each(|note| eprintln!("restive: note: {note}"));
    plan.history.iter().flat_map(History::warnings).for_each(|text| eprintln!("restive: warning: {text}"));
    if plan.never_observed > 0 {
        let arms = counted(plan.never_observed as u64, "arm");
        match chain {
            None => {
                eprintln!(
                    "restive: note: {arms} never observed, left out: without a state there is no index"
                );
            }
            Some(_) => eprintln!(
                "restive: note: {arms} never seen, ranked as last seen longer ago than the chain remembers; the columns last_state and \
                 since say what was known of an arm before the log"
            ),
        }
    }
    if not_indexable > 0 {
        let arms = counted(not_indexable as u64, "arm");
        eprintln!("restive: warning: {arms} not indexable: their ranking is a heuristic");
    }
    Ok(())
}

/// The arms of an instance to pull, by their indices (`[N,L]`) in their latest states or labels, best first; and how many arms
/// were never seen. `seed` draws the lots for ties.
pub(crate) fn pulls(
    there: &StudyInstance,
    table: &ndarray::Array2<f64>,
    observation: Observation,
    budget: usize,
    seed: u64,
) -> (Vec<Row>, usize) {
    let latest = latest(&there.trajectories, observation);
    let chain = observation.chain();
    let unknown = chain.map(|chain| unknown_label(&there.trajectories, chain));
    // (arm, what it is ranked by)
    let ranked = latest.iter().enumerate().filter_map(|(i, state)| Some((i, state.or(unknown)?)));
    let ranked: Vec<(usize, u16)> = ranked.collect();
    let score: Vec<f64> = ranked.iter().map(|&(i, state)| table[[i, usize::from(state)]]).collect();
    let top = strict_top_k(&score, budget, seed);
    let mut pulled: Vec<usize> = (0..ranked.len()).filter(|c| top.pull[*c]).collect();
    // stable: equal indices stay in the order of the table
    pulled.sort_by(|a, b| score[*b].partial_cmp(&score[*a]).expect("indices are numbers"));
    let rows = pulled.into_iter().enumerate().map(|(rank, c)| Row {
        instance: there.name.clone(),
        arm: there.arms[ranked[c].0].clone(),
        place: LastSeen::new(ranked[c].1, latest[ranked[c].0].is_some(), chain),
        index: score[c] + 0.0,
        rank: rank + 1,
        inclusion: top.inclusion[c],
        is_beneficial: score[c] > 0.0,
    });
    (rows.collect(), latest.iter().filter(|state| state.is_none()).count())
}

/// The indices of an instance, on the prediction alone or smoothed with the arms' own records.
fn indices_of(
    instance: &Instance,
    applied: &Applied,
    k: usize,
    strength: Option<[f64; 2]>,
    discount: f64,
) -> anyhow::Result<(ndarray::Array2<f64>, usize)> {
    let (prediction, reward) = (&applied.predictions[k], instance.reward().view());
    match strength {
        None => indices(prediction.view(), reward, discount, instance.observation()),
        Some(strength) => {
            let own = Record::new(instance).transition(Some((prediction.view(), strength)));
            indices(own.view(), reward, discount, instance.observation())
        }
    }
}
