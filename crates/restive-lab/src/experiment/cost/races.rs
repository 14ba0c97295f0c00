//! `cost-arms`: what a gradient step costs against the number of arms, with two states. `cost-states`: against the number of
//! states, with 100 arms.

use super::{Contender, Race, compute, page, units};
use crate::experiment::Experiment;
use crate::experiment::units::Settings;
use restive::training::Value;

pub(crate) const ARMS: Experiment = Experiment {
    name: OVER_ARMS.name,
    axis: Some("arms"),
    units: |_| units(&OVER_ARMS),
    compute: |asked, unit, shares| compute(&OVER_ARMS, asked, unit, shares),
    owns: |_| true,
    show: |settings, rows| page::show(&OVER_ARMS, settings, rows),
};

pub(crate) const STATES: Experiment = Experiment {
    name: OVER_STATES.name,
    axis: Some("states"),
    units: |_| units(&OVER_STATES),
    compute: |asked, unit, shares| compute(&OVER_STATES, asked, unit, shares),
    owns: |_| true,
    show: |settings, rows| page::show(&OVER_STATES, settings, rows),
};

const OVER_ARMS: Race = Race {
    name: "cost-arms",
    contenders: &[
        Contender::Fast(Value::Is),
        Contender::Fast(Value::Fluid),
        Contender::Fast(Value::Decomposed),
        Contender::Bisection,
    ],
    sizes: |settings: &Settings| {
        let sizes = [10, 30, 100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000];
        let most = settings.arms.unwrap_or(if settings.is_quick { 100_000 } else { 1_000_000 });
        sizes.into_iter().filter(|size| *size <= most.max(sizes[0])).collect()
    },
    shape: |_, size| (size, 2),
    power: 1.0,
    has_omega: false,
    heading: "What a gradient step costs: arms",
    label: "arms (two states)",
};

const OVER_STATES: Race = Race {
    name: "cost-states",
    contenders: &[Contender::Fast(Value::Is), Contender::Bisection],
    // up to 20 where the arms are few as well
    sizes: |settings: &Settings| {
        let most = if settings.arms.is_some() { 20 } else { usize::MAX };
        [2, 3, 5, 7, 10, 20, 30, 50, 100, 200].into_iter().filter(|size| *size <= most).collect()
    },
    shape: |settings, size| (settings.arms.unwrap_or(100), size),
    power: 1.0,
    has_omega: true,
    heading: "What a gradient step costs: states",
    label: "states (100 arms)",
};
