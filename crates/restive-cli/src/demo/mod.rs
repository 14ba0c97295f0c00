//! `restive demo`: a plan for people, what it brings, and how the trainings compare, within a minute.

mod text;

use crate::shared::begin::use_threads;
use crate::shared::display::peak_memory;
use crate::shared::progress::Progress;
use crate::shared::say;
use crate::shared::values::{choice, threads};
use clap::Args;
use restive_lab::Heard;
use restive_lab::demo::{Demo, DemoAsked, check};
use restive_pipeline::SEED;
use restive_pipeline::generate::DomainName;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

const ABOUT: &str = "\
Show a plan for people and what it brings, on synthetic records, within a minute.

Each run generates a synthetic programme as in the published experiments: 10 groups of 100 people, of whom 20 can be called each \
week. restive learns from 7 groups how people move from state to state, validates on 1 and is tested on 2. Printed are first whom to \
call next in a test group and what such calls bring in 9 weeks, beside calls at random and the plan of someone who knows everyone's \
true probabilities; then how the trainings compare: two-stage and decision-focused, as recommended and as published. Intervals are \
95 % over the runs, differences are paired by run.

DIR becomes a folder: report.html (one page, needs no network; it has the published metric and why it can mislead as well), figure.svg, \
results.csv (every number), plan.csv (whom to call next), and of the first run the study and the two models of the recommended profile, \
as restive train writes them. The other commands work on them: restive plan DIR/decision-focused DIR/study.";

const EXAMPLES: &str = "\
Examples:
  restive demo
  restive plan restive-demo/decision-focused restive-demo/study --instance 8
  restive evaluate restive-demo/two-stage restive-demo/study
  restive demo --domain five-state --runs 2 --seed 7 --out five --json";

/// Show a plan for people, what it brings and how trainings compare, with a report
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct DemoArguments {
    /// The folder to write
    #[arg(short, long, value_name = "DIR", default_value = "restive-demo")]
    out: PathBuf,

    /// Which domain
    #[arg(long, default_value_t = DomainName::TwoState, value_parser = choice::<DomainName>(DomainName::described().take(3)))]
    domain: DomainName,

    /// How many runs, each with a seed of its own
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,

    /// Seed of the first run; the others follow it
    #[arg(long, default_value_t = SEED)]
    seed: u64,

    /// Replace the demo that is in the folder
    #[arg(long)]
    force: bool,

    /// Print all numbers as JSON instead of text
    #[arg(long)]
    json: bool,

    /// Threads to compute with [default: one per core]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = threads())]
    threads: Option<u16>,

    /// Arms per instance, of which a fifth may be pulled: smaller than published, for a quick look
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(u16).range(5..=1000))]
    arms: Option<u16>,

    /// Trajectories per instance
    #[arg(long, value_name = "J", hide = true, value_parser = clap::value_parser!(u16).range(1..=1000))]
    trajectories: Option<u16>,
}

pub(crate) fn run(arguments: &DemoArguments) -> anyhow::Result<()> {
    let start = Instant::now();
    use_threads(arguments.threads)?;
    check(&arguments.out, arguments.force)?;
    let asked = DemoAsked {
        domain: arguments.domain,
        arms: arguments.arms.map(usize::from),
        trajectories: arguments.trajectories.map(usize::from),
        runs: arguments.runs as usize,
        seed: arguments.seed,
        out: arguments.out.clone(),
    };
    let progress = Progress::new("runs");
    let demo = Demo::new(&asked, &|heard| {
        if let Heard::Progress { share, done, all } = heard {
            progress.say(share, format!("{done} of {all} runs done"));
        }
    })?;
    drop(progress);
    demo.write(arguments.force, &command(arguments))?;

    let seconds = start.elapsed().as_secs_f64();
    if arguments.json {
        let mut all = demo.findings().json();
        all["plan"] = serde_json::to_value(&demo.plan)?;
        all["restive"] = env!("CARGO_PKG_VERSION").into();
        all["out"] = arguments.out.display().to_string().into();
        all["seconds"] = json!(seconds);
        all["peak_memory_bytes"] = json!(peak_memory());
        return say::print_json(&all);
    }
    say::print(|text| text::write(text, &demo.findings(), &demo.plan, &arguments.out, seconds))
}

/// What to type to see it again.
fn command(arguments: &DemoArguments) -> String {
    let mut command = String::from("restive demo");
    if arguments.domain != DomainName::TwoState {
        command += &format!(" --domain {}", arguments.domain);
    }
    command += &format!(" --runs {} --seed {}", arguments.runs, arguments.seed);
    for (name, asked) in [("arms", arguments.arms), ("trajectories", arguments.trajectories)] {
        command += &asked.map_or(String::new(), |asked| format!(" --{name} {asked}"));
    }
    command + &format!(" --out {}", arguments.out.display())
}
