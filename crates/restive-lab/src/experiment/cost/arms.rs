//! `cost-arms`: what a gradient step costs against the number of arms, with two states.

use super::{Race, Contender, page};
use crate::experiment::Experiment;
use crate::experiment::units::Settings;
use restive::training::Value;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: RACE.name,
    axis: Some("arms"),
    units: |_| super::units(&RACE),
    compute: |asked, unit, shares| super::compute(&RACE, asked, unit, shares),
    owns: |_| true,
    show: |settings, rows| page::show(&RACE, settings, rows),
};

const RACE: Race = Race {
    name: "cost-arms",
    contenders: &[Contender::Fast(Value::Is), Contender::Fast(Value::Fluid), Contender::Fast(Value::Decomposed), Contender::Bisection],
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
