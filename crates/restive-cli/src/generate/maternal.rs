//! `restive generate maternal`: a synthetic programme shaped like the maternal one of the paper.

use super::out::{OutArguments, Summary};
use crate::shared::display::{counted, peak_memory};
use crate::shared::display::{duration, grouped};
use crate::shared::failure::Usage;
use crate::shared::values::discount;
use clap::Args;
use restive::data::maternal::{Maternal, Programme};
use restive_tables::{Behaviour, Settings, Study, StudyInstance};
use std::io::Write;
use std::time::Instant;

const ABOUT: &str = "\
Generate a synthetic programme shaped like the maternal one of the paper, whose data cannot be shared. It is not real data.

People have the paper's features (in units and words, with age in years beside its five groups: train with --drop age to learn from \
exactly the paper's 43 columns). Each week they engage (state 1) or not (0). The log-odds of engaging next week are linear in \
the features, with coefficients of the seed, plus a part of the person's own; a call shifts them by an effect that is made likewise. \
The log is one trajectory: the people of a group are called in turn, and study.toml says round-robin-as-uniform, which is \
an assumption. People start where being left alone leads. The column split deals the groups to train, validation and test, 8, 1 and 3 of 12, in \
order. docs/MATERNAL.md says what the defaults rest on, and what the programme is not good for.";

const EXAMPLES: &str = "\
Examples:
  restive generate maternal --out programme
  restive generate maternal --out harder --groups 4 --explained-effect 0.1";

/// A synthetic programme shaped like the maternal one of the paper
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct MaternalArguments {
    /// How many groups; each is an instance
    #[arg(long, default_value_t = Maternal::default().groups, value_name = "N")]
    groups: usize,

    /// People of a group
    #[arg(long, default_value_t = Maternal::default().people, value_name = "N")]
    people: usize,

    /// Calls per week in a group
    #[arg(long, default_value_t = Maternal::default().budget, value_name = "K")]
    budget: usize,

    /// Weeks, each with one decision
    #[arg(long, default_value_t = Maternal::default().weeks, value_name = "H")]
    weeks: usize,

    /// Discount per week, from 0 to 1
    #[arg(long, default_value_t = Maternal::default().discount, value_parser = discount, allow_hyphen_values = true)]
    discount: f64,

    /// Probability that a typical person who does not engage, left alone, does not engage next week either
    #[arg(long, default_value_t = Maternal::default().stay_disengaged, allow_hyphen_values = true, value_name = "P")]
    stay_disengaged: f64,

    /// Probability that a typical person who engages, left alone, engages next week as well
    #[arg(long, default_value_t = Maternal::default().stay_engaged, allow_hyphen_values = true, value_name = "P")]
    stay_engaged: f64,

    /// Standard deviation over people of the log-odds of engaging when left alone
    #[arg(long, default_value_t = Maternal::default().baseline_spread, allow_hyphen_values = true, value_name = "SD")]
    baseline_spread: f64,

    /// Mean over people of what a call adds to the log-odds of engaging next week
    #[arg(long, default_value_t = Maternal::default().effect, allow_hyphen_values = true, value_name = "MEAN")]
    effect: f64,

    /// Standard deviation over people of that effect
    #[arg(long, default_value_t = Maternal::default().effect_spread, allow_hyphen_values = true, value_name = "SD")]
    effect_spread: f64,

    /// Share of the variance of log-odds when left alone that features explain
    #[arg(long, default_value_t = Maternal::default().explained_baseline, allow_hyphen_values = true, value_name = "SHARE")]
    explained_baseline: f64,

    /// Share of the variance of the effect that features explain
    #[arg(long, default_value_t = Maternal::default().explained_effect, allow_hyphen_values = true, value_name = "SHARE")]
    explained_effect: f64,

    #[command(flatten)]
    out: OutArguments,
}

pub(crate) fn run(arguments: &MaternalArguments) -> anyhow::Result<()> {
    let start = Instant::now();
    let &MaternalArguments { groups, people, budget, weeks, discount, .. } = arguments;
    let &MaternalArguments { stay_disengaged, stay_engaged, baseline_spread, effect, .. } = arguments;
    let &MaternalArguments { effect_spread, explained_baseline, explained_effect, .. } = arguments;
    let maternal = Maternal {
        groups,
        people,
        budget,
        weeks,
        discount,
        stay_disengaged,
        stay_engaged,
        baseline_spread,
        effect,
        effect_spread,
        explained_baseline,
        explained_effect,
    };
    // what takes memory: a few bytes per person and week, some hundred numbers and words per person
    const MOST_CELLS: f64 = 1e9;
    let cells = groups as f64 * people as f64 * (weeks as f64 + 200.0);
    if cells > MOST_CELLS {
        let message = format!("found {cells:.1e} cells of people and weeks, expected at most {MOST_CELLS:e}");
        return Err(Usage(message).into());
    }
    let seed = arguments.out.seed;
    let programme = maternal.generate(seed).map_err(|e| Usage(e.to_string()))?;
    let study = study(&maternal, seed, programme);
    arguments.out.write(&study)?;
    let summary = Summary {
        out: arguments.out.path(),
        domain: "maternal",
        seed,
        states: 2,
        instances: groups,
        arms: people,
        budget,
        horizon: weeks,
        trajectories: 1,
        features: study.instances[0].features.names().len(),
        rows: groups * people * (weeks + 1),
        seconds: start.elapsed().as_secs_f64(),
        fingerprint: study.fingerprint(),
        peak_memory_bytes: peak_memory(),
    };
    arguments.out.print(&summary, |text| {
        let called = (budget * weeks).min(people);
        write!(
            text,
            "synthetic, not real data: {} of {} people, {} a week in each, {}, ",
            counted(groups as u64, "group"),
            grouped(people as u64),
            counted(budget as u64, "call"),
            counted(weeks as u64, "week"),
        )?;
        write!(text, "{:.0} % called at least once, seed {seed}; ", 100.0 * called as f64 / people as f64)?;
        writeln!(text, "{}; wrote {}", duration(summary.seconds), summary.out)
    })
}

/// The programme under names: numbers for groups and people.
fn study(maternal: &Maternal, seed: u64, programme: Programme) -> Study {
    // too few people for three parts: then the study does not say
    let split = maternal.split(seed).ok().map(|split| split.parts());
    let reward = programme.instances[0].reward().clone();
    let groups = programme.people.into_iter().zip(&programme.instances).enumerate();
    let instances = groups.map(|(k, (people, instance))| StudyInstance {
        name: k.to_string(),
        arms: (0..maternal.people).map(|i| i.to_string()).collect(),
        features: people,
        split: split.as_ref().map(|parts| parts[k].clone()),
        trajectory_names: vec!["0".into()],
        trajectories: instance.trajectories().clone(),
        truth: instance.truth().cloned(),
    });
    let instances = instances.collect();
    let settings = Settings {
        name: Some(format!("maternal, synthetic, seed {seed}")),
        notes: Some(
            "Synthetic, shaped like the published maternal programme: not real data. Age is there in years and in groups; \
             without the years the encoded features are the paper's 43 columns."
                .into(),
        ),
        reward,
        discount: maternal.discount,
        budget: maternal.budget,
        horizon: maternal.weeks,
        observation: programme.instances[0].observation(),
        behaviour: Behaviour::RoundRobinAsUniform,
        text: Vec::new(),
    };
    Study { settings, instances }
}
