//! `cost-states`: what a gradient step costs against the number of states, with 100 arms.

use super::{Race, Contender, page};
use crate::experiment::Experiment;
use crate::experiment::units::Settings;
use restive::training::Value;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: RACE.name,
    axis: Some("states"),
    units: |_| super::units(&RACE),
    compute: |asked, unit, shares| super::compute(&RACE, asked, unit, shares),
    owns: |_| true,
    show: |settings, rows| page::show(&RACE, settings, rows),
};

const RACE: Race = Race {
    name: "cost-states",
    contenders: &[Contender::Fast(Value::Is), Contender::Bisection],
    sizes,
    shape: |settings, size| (settings.arms.unwrap_or(100), size),
    power: 1.0,
    has_omega: true,
    heading: "What a gradient step costs: states",
    label: "states (100 arms)",
};

const SIZES: [usize; 10] = [2, 3, 5, 7, 10, 20, 30, 50, 100, 200];

/// All, or up to 20 where the arms are few as well.
fn sizes(settings: &Settings) -> Vec<usize> {
    let most = if settings.arms.is_some() { 20 } else { SIZES[SIZES.len() - 1] };
    SIZES.into_iter().filter(|size| *size <= most).collect()
}
