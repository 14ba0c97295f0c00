//! `cost-arms`: what a gradient step costs against the number of arms, with two states.

use super::cost::{self, Race, Road};
use super::units::Settings;
use super::{Experiment, cost_page};
use restive::training::Value;

pub(super) const EXAMPLES: &str = "\
Examples:
  restive experiment cost-arms --quick --out quick
  restive experiment report quick";

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: RACE.name,
    axis: Some("arms"),
    units: |_| cost::units(&RACE),
    compute: |asked, unit, shares| cost::compute(&RACE, asked, unit, shares),
    owns: |_| true,
    show: |settings, rows| cost_page::show(&RACE, settings, rows),
};

const RACE: Race = Race {
    name: "cost-arms",
    roads: &[Road::Fast(Value::Is), Road::Fast(Value::Fluid), Road::Fast(Value::Decomposed), Road::Bisection],
    sizes,
    shape: |_, size| (size, 2),
    power: 1.0,
    has_omega: false,
    heading: "What a gradient step costs: arms",
    label: "arms (two states)",
};

const SIZES: [usize; 11] = [10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000];

fn sizes(settings: &Settings) -> Vec<usize> {
    let most = settings.arms.unwrap_or(if settings.is_quick { 100_000 } else { 1_000_000 });
    SIZES.into_iter().filter(|size| *size <= most.max(SIZES[0])).collect()
}
