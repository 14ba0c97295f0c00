//! `restive generate maternal`: a synthetic programme shaped like the maternal one of the paper.

use super::out::OutArguments;
use crate::shared::values::discount;
use clap::Args;
use restive::data::maternal::Maternal;

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
    pub(super) out: OutArguments,
}

impl MaternalArguments {
    /// The programme that is asked for.
    pub(super) fn programme(&self) -> Maternal {
        Maternal {
            groups: self.groups,
            people: self.people,
            budget: self.budget,
            weeks: self.weeks,
            discount: self.discount,
            stay_disengaged: self.stay_disengaged,
            stay_engaged: self.stay_engaged,
            baseline_spread: self.baseline_spread,
            effect: self.effect,
            effect_spread: self.effect_spread,
            explained_baseline: self.explained_baseline,
            explained_effect: self.explained_effect,
        }
    }
}
