//! `restive generate`: a synthetic study, as in the published experiments.

mod maternal;
mod out;
mod programme;

use crate::shared::values::discount;
use clap::{Args, Subcommand};
use maternal::MaternalArguments;
use out::OutArguments;
use programme::ProgrammeArguments;
use restive::data::domain::Domain;
use restive_pipeline::generate::{ChainLength, Synthetic, collapsing};
use std::time::Instant;

const ABOUT: &str = "\
Generate a synthetic study, as in the published experiments.

For every arm and state the probabilities of the next state, when left alone and when pulled, are uniform on the simplex, \
drawn again until a pull raises the expected reward by the margin. A fixed random network turns them into features. The \
trajectories start in uniform states and pull arms at random. In the domain collapsing a state is seen at a pull only: arms start at \
a uniform label (the last state seen, and the steps since), and the logged reward is that expected under the true belief. The study knows its true transitions (truth), and its column \
split deals the instances to train, validation and test in the proportions 70/10/20, in order.

STUDY becomes a folder: study.toml, arms, trajectories, truth. The same seed gives the same study. The commands maternal \
and programme have options of their own; programme writes exports for restive import instead of a study.";

const EXAMPLES: &str = "\
Examples:
  restive generate two-state --out synthetic
  restive generate collapsing --out seen-at-pulls --chain infinite
  restive generate five-state --out small --seed 7 --instances 3 --trajectories 10 --format csv
  restive generate maternal --out programme
  restive generate programme --out exports";

const TWO_STATE: &str = "\
Examples:
  restive generate two-state --out synthetic
  restive generate two-state --out sparse --trajectories 1 --features-kept 4 --format csv";

const FIVE_STATE: &str = "\
Examples:
  restive generate five-state --out synthetic
  restive generate five-state --out small --seed 7 --instances 3 --trajectories 10 --format csv";

const COLLAPSING: &str = "\
Examples:
  restive generate collapsing --out seen-at-pulls
  restive generate collapsing --out without-end --chain infinite";

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
    #[command(long_about = ABOUT, after_help = TWO_STATE)]
    TwoState(DomainArguments),
    /// Five states, from worst to best
    #[command(long_about = ABOUT, after_help = FIVE_STATE)]
    FiveState(DomainArguments),
    /// States that are seen at pulls only
    #[command(long_about = ABOUT, after_help = COLLAPSING)]
    Collapsing(CollapsingArguments),
    Maternal(MaternalArguments),
    Programme(ProgrammeArguments),
}

#[derive(Debug, Args)]
struct DomainArguments {
    #[command(flatten)]
    sizes: SizeArguments,

    #[command(flatten)]
    out: OutArguments,
}

#[derive(Debug, Args)]
struct CollapsingArguments {
    #[command(flatten)]
    sizes: SizeArguments,

    /// How many states [default: 2]
    #[arg(long, value_name = "M")]
    states: Option<usize>,

    /// Labels kept for each state, of which the last one stays, or infinite [default: 10]
    #[arg(long, value_name = "T|infinite")]
    chain: Option<ChainLength>,

    /// Labels kept for each state with --chain infinite, more than the horizon [default: 10 + the horizon]
    #[arg(long, value_name = "N")]
    beliefs: Option<usize>,

    #[command(flatten)]
    out: OutArguments,
}

#[derive(Debug, Args)]
struct SizeArguments {
    /// How many instances
    #[arg(long, default_value_t = Domain::two_state().instances, value_name = "N")]
    instances: usize,

    /// Arms per instance
    #[arg(long, default_value_t = Domain::two_state().arms, value_name = "N")]
    arms: usize,

    /// Arms that may be pulled per step
    #[arg(long, default_value_t = Domain::two_state().budget, value_name = "K")]
    budget: usize,

    /// Decision steps per trajectory, and of a deployment
    #[arg(long, default_value_t = Domain::two_state().horizon, value_name = "H")]
    horizon: usize,

    /// Trajectories per instance
    #[arg(long, default_value_t = Domain::two_state().trajectories, value_name = "J")]
    trajectories: usize,

    /// By how much a pull must raise the expected reward of the next state
    #[arg(long, default_value_t = Domain::two_state().margin, allow_hyphen_values = true)]
    margin: f64,

    /// Standard deviation of the noise that is added to every feature
    #[arg(long, default_value_t = Domain::two_state().feature_noise, allow_hyphen_values = true, value_name = "SD")]
    feature_noise: f64,

    /// How many of the 16 features are kept
    #[arg(long, default_value_t = Domain::two_state().features_kept, value_name = "N")]
    features_kept: usize,

    /// Discount per step, from 0 to 1
    #[arg(long, default_value_t = Domain::two_state().discount, value_parser = discount, allow_hyphen_values = true)]
    discount: f64,
}

impl SizeArguments {
    /// The domain with these sizes.
    fn domain(&self, published: Domain) -> Domain {
        let &Self { instances, arms, budget, horizon, trajectories, .. } = self;
        let &Self { margin, feature_noise, features_kept, discount, .. } = self;
        let logged = Domain { instances, arms, budget, horizon, trajectories, ..published };
        Domain { margin, feature_noise, features_kept, discount, ..logged }
    }
}

pub(crate) fn run(arguments: &GenerateArguments) -> anyhow::Result<()> {
    let start = Instant::now();
    let (synthetic, out) = match &arguments.study {
        Generated::TwoState(DomainArguments { sizes, out }) => {
            (Synthetic::TwoState(sizes.domain(Domain::two_state())), out)
        }
        Generated::FiveState(DomainArguments { sizes, out }) => {
            (Synthetic::FiveState(sizes.domain(Domain::five_state())), out)
        }
        Generated::Collapsing(CollapsingArguments { sizes, states, chain, beliefs, out }) => {
            let domain = collapsing(sizes.domain(Domain::collapsing()), *states, *chain, *beliefs)?;
            (Synthetic::Collapsing(domain), out)
        }
        Generated::Maternal(arguments) => (Synthetic::Maternal(arguments.programme()), &arguments.out),
        Generated::Programme(arguments) => return programme::run(arguments),
    };
    out.check()?;
    let study = synthetic.study(out.seed)?;
    out.write(&study)?;
    out.print(synthetic.name(), &study, start.elapsed())
}
