//! `restive plan`: whom to pull next.

mod programme;
pub(crate) mod report;

use crate::shared::begin::{check_table, read_model, use_threads};
use crate::shared::failure::Usage;
use crate::shared::progress::Progress;
use crate::shared::say;
use crate::shared::values::{choice, threads, yes_or_no};
use clap::Args;
use report::write_text;
use restive_pipeline::{Plan, PlanAsked, PolicyName, PricingProgress, Rules};
use restive_programme::{Programme, System};
use restive_tables::{Contacts, refuse_input};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const ABOUT: &str = "\
Plan whom to pull next: the K arms of each instance that rank highest in their latest recorded state.

Where the decisions that are left are known (--remaining N, or ends = T in study.toml, a step as column t counts), arms are ranked \
by the advantage of a pull now over none until the end, given the prices of pulls in the steps to come (policy horizon); the state \
after the last pull counts. Without an end they are ranked by their Whittle index (policy whittle). Either way the answer says what no \
policy could exceed over the steps ahead, and what would come without a pull.

PROGRAMME is a folder that restive import filled: this week's list is made with its newest model under its rules.toml, leaves out who is gone or must \
not be called, and is recorded in its ledger, with everybody's probability of being on it, before it is written. A week has one list: \
another has to be asked for (--again), and only as long as no outcome has come; --rehearse looks without recording. OUT may be .xlsx (a sheet for \
each worker, to be filled in), .html (to print), .csv, .parquet or .json, also several; --for commcare, cht or fhir writes for these systems. \
Each name has its reason; words.toml has the words.

MODEL is a folder that restive train wrote, STUDY the folder of a study with the same features: then nothing is recorded. The latest state of an arm is \
the last one observed in the latest trajectory that observed it: trajectories follow each other by name, 9 before 10, or as the \
column order of the table says. An arm that was never observed has \
no state: it is left out, and the answer says how many are. Where states are seen at pulls only, an arm is ranked by its \
label at the end of the log: last_state, the last state that was seen, and since, the steps since then (0 just after a pull); a \
step without a row is one more step, and the last label of a chain means so many steps or more. An arm that was never seen is \
planned for too, as last seen longer ago than the chain remembers: its last_state and since are empty, and the answer says how many there are.

Exactly K arms are pulled in each instance (all, where there are fewer, and fewer where the rules allow no more). Rules (rules.toml, or \
--rules FILE) say how many may be called of each value of a column, who must be called and who must not, after how long somebody is called again, \
and what calls cost; what each rule costs is told. Rules that cannot all be met are named, the smallest set of them. --explore SHARE \
keeps a share of the places for a draw among all others who may be called: what later tells what calls do. An index or advantage of 0 or less means that a pull does not pay \
there; such arms are marked, and --only-beneficial leaves them out. Arms that tie for the last places share them at random: \
inclusion is the probability of being in the plan over all tie-breaks and draws. Ties and draws are decided by a hash of seed, step (or day) and name, the same wherever it is computed.

An arm's own record counts beside the prediction where that helped to foretell arms that the model had not learnt from; the answer says \
whether, and by how much. --history yes and no decide otherwise. What a record says of an arm left alone is carried, in part or in \
whole, to what a pull would do; where few are ever pulled, that is what makes a record useful.";

const EXAMPLES: &str = "\
Examples:
  restive plan calls --rehearse --explore 0.1
  restive plan calls --out list.xlsx --out print.html
  restive plan calls --again --for fhir --out tasks.json
  restive plan model examples/study
  restive plan model examples/study --remaining 4
  restive plan model examples/study --budget 3 --only-beneficial --out plan.csv
  restive plan model examples/study --history no --json";

/// Plan whom to pull next
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct PlanArguments {
    /// The folder of a programme; or that of a model, before that of a study
    #[arg(value_name = "PROGRAMME|MODEL")]
    model: PathBuf,

    /// The folder of the study
    #[arg(value_name = "STUDY")]
    study: Option<PathBuf>,

    /// Arms to pull in each instance [default: as the rules say, else the study's budget]
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

    /// Discount of the index, from 0 to 1 [default: the model's; where it has none, 1 - 1/H with H the study's horizon, and the effect on the next reward for H = 1]
    #[arg(long, allow_hyphen_values = true)]
    index_discount: Option<f64>,

    /// Plan for this instance only
    #[arg(long, value_name = "NAME")]
    instance: Option<String>,

    /// The programme's people, as restive import wrote them: leaves out those who are gone or not to be called, and writes
    /// the columns that were kept (names, numbers) into OUT, which nobody but you may read then
    #[arg(long, value_name = "PEOPLE")]
    people: Option<PathBuf>,

    /// What the programme allows [default: rules.toml of the programme, if it is there]
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,

    /// The share of places that is drawn by lot among all others who may be called [default: as the rules say, else 0]
    #[arg(long, value_name = "SHARE")]
    explore: Option<f64>,

    /// The model of the programme, by name [default: as the rules say, else the newest]
    #[arg(long = "model", value_name = "NAME", conflicts_with = "study")]
    named: Option<String>,

    /// Make another list for a week that has one
    #[arg(long, conflicts_with = "study")]
    again: bool,

    /// Make the list, and record nothing
    #[arg(long, conflicts_with_all = ["study", "again"])]
    rehearse: bool,

    /// Write the list for another system
    #[arg(long = "for", value_name = "SYSTEM", requires = "out", conflicts_with = "study")]
    #[arg(value_parser = choice::<System>(System::described()))]
    system: Option<System>,

    /// Seed of tie-breaks and draws
    #[arg(long, default_value_t = PlanAsked::default().seed)]
    seed: u64,

    /// Write the list to this file: .xlsx, .html, .csv, .parquet or .json, of a MODEL and a STUDY .csv or .parquet [default: show
    /// the first rows]
    #[arg(short, long, value_name = "OUT")]
    out: Vec<PathBuf>,

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

impl PlanArguments {
    fn asked(&self, people: Option<Contacts>, rules: Rules) -> PlanAsked {
        PlanAsked {
            budget: self.budget,
            policy: self.policy,
            remaining: self.remaining,
            only_beneficial: self.only_beneficial,
            history: self.history,
            index_discount: self.index_discount,
            instance: self.instance.clone(),
            seed: self.seed,
            explore: self.explore,
            people,
            rules,
            pricing: pricing(),
            ..PlanAsked::default()
        }
    }
}

/// The people of a file, or of the folder of a programme.
fn read_people(path: &Path) -> anyhow::Result<Contacts> {
    Ok(Contacts::read(&Programme::people_in(path)?)?)
}

/// A progress bar while rules are priced; none for few rules, which take no time.
fn pricing() -> PricingProgress {
    const FEW: usize = 10;
    let bar = Mutex::new(None);
    PricingProgress::new(move |priced, all| {
        let mut bar = bar.lock().unwrap_or_else(PoisonError::into_inner);
        if priced == all {
            *bar = None;
        } else if all > FEW {
            let bar = bar.get_or_insert_with(|| Progress::new("rules priced"));
            bar.update(priced as f64 / all as f64, priced as u64);
        }
    })
}

pub(crate) fn run(arguments: &PlanArguments) -> anyhow::Result<()> {
    let Some(study) = &arguments.study else {
        if !Programme::is_one(&arguments.model) && arguments.model.join("card.json").exists() {
            let message = format!("{}: found a model and no STUDY, expected both", arguments.model.display());
            return Err(Usage(message).into());
        }
        return programme::run(arguments);
    };
    let study_folder = &Programme::study_in(study)?;
    let people = arguments.people.as_deref().map(read_people).transpose()?;
    let rules = arguments.rules.as_deref().map(Rules::read).transpose()?.unwrap_or_default();
    let asked = arguments.asked(people, rules);
    asked.check()?;
    for out in &arguments.out {
        for input in arguments.people.iter().chain(&arguments.rules) {
            refuse_input(out, input, &[])?;
        }
        check_table(out, arguments.force.then_some(Plan::recognise), &arguments.model, study_folder)?;
    }
    use_threads(arguments.threads)?;
    let trained = read_model(&arguments.model)?;
    let names = [&arguments.model, study].map(|folder| folder.display().to_string());
    let (plan, notes) = Plan::of_folder(&trained, study_folder, [&names[0], &names[1]], &asked)?;
    for out in &arguments.out {
        plan.write(out, arguments.force)?;
    }
    let rows = if arguments.out.is_empty() { arguments.rows } else { 0 };
    match arguments.json {
        true => say::print_json(&plan)?,
        false => {
            say::print(|text| write_text(&plan, text, rows, arguments.out.first().map(PathBuf::as_path)))?
        }
    }
    notes.iter().chain(&plan.note()).chain(&plan.left_out()).for_each(say::note);
    plan.warnings().iter().for_each(say::warning);
    Ok(())
}
