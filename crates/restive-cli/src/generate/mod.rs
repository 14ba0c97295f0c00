//! `restive generate`: a synthetic study, as in the published experiments.

mod maternal;
mod out;
mod seen;

use crate::shared::display::duration;
use crate::shared::display::{counted, peak_memory};
use crate::shared::failure::Usage;
use crate::shared::values::discount;
use clap::{Args, Subcommand, ValueEnum};
use maternal::MaternalArguments;
use out::{OutArguments, Summary};
use restive::Instance;
use restive::data::domain::{Domain, FEATURES};
use restive::data::features::{Column, Features};
use restive::data::split::Split;
use restive::instance::Chain;
use restive_tables::{Behaviour, Settings, Study, StudyInstance};
use seen::SeenArguments;
use std::io::Write;
use std::time::Instant;

const ABOUT: &str = "\
Generate a synthetic study, as in the published experiments.

For every arm and state the probabilities of the next state, when left alone and when pulled, are uniform on the simplex, \
drawn again until a pull raises the expected reward by the margin. A fixed random network turns them into features. The \
trajectories start in uniform states and pull arms at random. In the domain collapsing a state is seen at a pull only: arms start at \
a uniform label (the last state seen, and the steps since), and the logged reward is that expected under the true belief. The study knows its true transitions (truth), and its column \
split deals the instances to train, validation and test in the proportions 70/10/20, in order.

STUDY becomes a folder: study.toml, arms, trajectories, truth. The same seed gives the same study. The command maternal has \
options of its own.";

const EXAMPLES: &str = "\
Examples:
  restive generate two-state --out synthetic
  restive generate collapsing --out seen-at-pulls --chain infinite
  restive generate five-state --out small --seed 7 --instances 3 --trajectories 10 --format csv
  restive generate maternal --out programme";

/// Generate a synthetic study, as in the published experiments
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES, disable_help_subcommand = true)]
pub(crate) struct GenerateArguments {
    #[command(subcommand)]
    study: Generated,
}

#[derive(Debug, Subcommand)]
enum Generated {
    /// Two states: disengaged and engaged
    TwoState(DomainArguments),
    /// Five states, from worst to best
    FiveState(DomainArguments),
    /// States that are seen at pulls only
    Collapsing(DomainArguments),
    Maternal(MaternalArguments),
}

#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
struct DomainArguments {
    /// How many instances
    #[arg(long, default_value_t = 10, value_name = "N")]
    instances: usize,

    /// Arms per instance
    #[arg(long, default_value_t = 100, value_name = "N")]
    arms: usize,

    /// Arms that may be pulled per step
    #[arg(long, default_value_t = 20, value_name = "K")]
    budget: usize,

    /// Decision steps per trajectory, and of a deployment
    #[arg(long, default_value_t = 9, value_name = "H")]
    horizon: usize,

    /// Trajectories per instance
    #[arg(long, default_value_t = 100, value_name = "J")]
    trajectories: usize,

    /// By how much a pull must raise the expected reward of the next state
    #[arg(long, default_value_t = 0.2, allow_hyphen_values = true)]
    margin: f64,

    /// Standard deviation of the noise that is added to every feature
    #[arg(long, default_value_t = 0.0, allow_hyphen_values = true, value_name = "SD")]
    feature_noise: f64,

    /// How many of the 16 features are kept
    #[arg(long, default_value_t = FEATURES, value_name = "N")]
    features_kept: usize,

    /// Discount per step, from 0 to 1
    #[arg(long, default_value_t = 0.99, value_parser = discount, allow_hyphen_values = true)]
    discount: f64,

    #[command(flatten)]
    seen: SeenArguments,

    #[command(flatten)]
    out: OutArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Two states: disengaged and engaged
    TwoState,
    /// Five states, from worst to best
    FiveState,
    /// States that are seen at pulls only
    Collapsing,
}

impl Kind {
    /// The name, and the published sizes.
    pub(crate) fn domain(self) -> (&'static str, Domain) {
        match self {
            Kind::TwoState => ("two-state", Domain::two_state()),
            Kind::FiveState => ("five-state", Domain::five_state()),
            Kind::Collapsing => ("collapsing", Domain::collapsing()),
        }
    }
}

pub(crate) fn run(arguments: &GenerateArguments) -> anyhow::Result<()> {
    match &arguments.study {
        Generated::TwoState(arguments) => run_domain(Kind::TwoState, arguments),
        Generated::FiveState(arguments) => run_domain(Kind::FiveState, arguments),
        Generated::Collapsing(arguments) => run_domain(Kind::Collapsing, arguments),
        Generated::Maternal(arguments) => maternal::run(arguments),
    }
}

fn run_domain(kind: Kind, arguments: &DomainArguments) -> anyhow::Result<()> {
    let start = Instant::now();
    let (name, base) = kind.domain();
    let &DomainArguments { instances, arms, budget, horizon, trajectories, .. } = arguments;
    let is_collapsing = kind == Kind::Collapsing;
    let (states, observation) = arguments.seen.resolve(is_collapsing, &base, horizon)?;
    let &DomainArguments { margin, feature_noise, features_kept, discount, .. } = arguments;
    let seed = arguments.out.seed;
    let domain = Domain {
        instances,
        arms,
        budget,
        horizon,
        trajectories,
        margin,
        feature_noise,
        features_kept,
        discount,
        states,
        observation,
    };
    // what takes memory: a few bytes per arm and step, some hundred numbers per arm, and where labels are told apart their
    // beliefs
    const MOST_CELLS: f64 = 1e9;
    let beliefs = observation.chain().map_or(0.0, |chain| (states as f64).powi(2) * chain.beliefs() as f64);
    let of_arm = trajectories as f64 * (horizon as f64 + 1.0) + 200.0 + 2.0 * beliefs;
    let cells = instances as f64 * arms as f64 * of_arm;
    if cells > MOST_CELLS {
        let message = format!(
            "found {cells:.1e} cells of arms, trajectories, steps and labels, expected at most {MOST_CELLS:e}"
        );
        return Err(Usage(message).into());
    }
    let generated = domain.generate(seed).map_err(|e| Usage(e.to_string()))?;
    let study = study(name, &domain, seed, generated)?;

    arguments.out.write(&study)?;
    let summary = Summary {
        out: arguments.out.path(),
        domain: name,
        seed,
        states: domain.states,
        instances,
        arms,
        budget,
        horizon,
        trajectories,
        features: features_kept,
        rows: instances * trajectories * (horizon + 1) * arms,
        seconds: start.elapsed().as_secs_f64(),
        fingerprint: study.fingerprint(),
        peak_memory_bytes: peak_memory(),
    };
    arguments.out.print(&summary, |text| {
        let count = |count: usize, what| counted(count as u64, what);
        let (instances, arms) = (count(instances, "instance"), count(arms, "arm"));
        let seen = match observation.chain() {
            None => String::new(),
            Some(Chain::Finite(labels)) => format!(" seen at pulls only (chain {labels})"),
            Some(Chain::Infinite { .. }) => " seen at pulls only (chain infinite)".into(),
        };
        let (states, decisions) = (count(domain.states, "state"), count(horizon, "decision"));
        let runs = if trajectories == 1 { "trajectory" } else { "trajectories" };
        write!(
            text,
            "{instances} of {arms} with {states}{seen}, budget {budget}, {trajectories} {runs} of {decisions}, "
        )?;
        write!(text, "seed {seed}; ")?;
        writeln!(text, "{}; wrote {}", duration(summary.seconds), summary.out)
    })
}

/// The instances under names: numbers, and features f_00, f_01, …
pub(crate) fn study(
    name: &str,
    domain: &Domain,
    seed: u64,
    generated: Vec<Instance>,
) -> anyhow::Result<Study> {
    // too few arms for three parts: then the study does not say
    let split = Split::in_order(&vec![domain.arms; domain.instances], seed).ok().map(|split| split.parts());
    let reward = generated[0].reward().clone();
    let mut instances = Vec::with_capacity(generated.len());
    for (k, instance) in generated.into_iter().enumerate() {
        let numbers = |count: usize| (0..count).map(|i| i.to_string()).collect::<Vec<_>>();
        let features = instance.features();
        let columns = features.columns().into_iter().enumerate();
        let columns = columns.map(|(c, values)| (format!("f_{c:02}"), Column::Number(values.to_vec())));
        instances.push(StudyInstance {
            name: k.to_string(),
            arms: numbers(domain.arms),
            features: Features::new(domain.arms, columns.collect())?,
            split: split.as_ref().map(|parts| parts[k].clone()),
            trajectory_names: numbers(domain.trajectories),
            trajectories: instance.trajectories().clone(),
            truth: instance.truth().cloned(),
        });
    }
    let settings = Settings {
        name: Some(format!("{name}, seed {seed}")),
        notes: None,
        reward,
        discount: domain.discount,
        budget: domain.budget,
        horizon: domain.horizon,
        observation: domain.observation,
        behaviour: Behaviour::Logged,
        text: Vec::new(),
    };
    Ok(Study { settings, instances })
}
