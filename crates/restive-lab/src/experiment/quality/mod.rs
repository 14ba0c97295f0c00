//! `quality`: which training helps when the plan is deployed, in which [regime](self::regimes), and what planning with
//! the arms' own history adds. Everything is a share of the way from random pulls to the oracle, in %, of the same run; so
//! differences are in points, and paired by run.

mod default;
mod difference;
mod logs;
mod regimes;
mod run;
mod sentences;
pub(super) mod singles;
mod tables;

use crate::experiment::page::{figure, interval, text};
use crate::experiment::rows::{Row, distinct, runs};
use crate::experiment::units::Settings;
use crate::experiment::{Experiment, Shown};
use crate::{DomainName, Regime};
use difference::{AUTO_GAIN, Comparison, HISTORIES, HISTORY_GAIN, HORIZON_GAIN, TRAININGS, over};
use restive_report::{Bars, Block, Chart, Ink, Section, bars};
use run::{FIRST_SEED, compute, units};
use sentences::sentences;
use tables::{tables, words};

pub(crate) const EXPERIMENT: Experiment =
    Experiment { name: "quality", axis: Some("history"), units, compute, owns: |_| true, show };

/// Runs, and those of a quick look.
pub(crate) const RUNS: [usize; 2] = [12, 2];
/// Of the figure, in a row.
const PANELS: usize = 4;

fn show(settings: &Settings, rows: &[Row]) -> Shown {
    let regimes = distinct(rows, |key| key.regime);
    let said = sentences(rows, &regimes);
    let chart = chart(rows, &regimes);
    let mut blocks = vec![text(about(settings, rows))];
    blocks.extend(said.iter().map(text));
    blocks.push(figure(&chart));
    blocks.extend(tables(rows, &regimes).map(Block::Table));
    Shown {
        section: Section { heading: "Which training helps as deployed".into(), blocks },
        figure: (chart, Some(PANELS)),
        text: words(rows, &regimes) + "\n" + &said.join("\n") + "\n",
    }
}

fn about(settings: &Settings, rows: &[Row]) -> String {
    format!(
        "{} runs of every regime, with seeds from {} that no other experiment has. Every number is the value of the strict top K on the true \
         transitions of test instances, as a share of the way from random pulls to the oracle (indices of the true transitions at discount \
         0.99), ± its standard error over the runs. Published trainings plan with index discount 0.99, the others, but for one column, with \
         1 − 1/H. recommended: what folds of the training instances chose between two-stage training, weak and strong. strong: the \
         strong preset whatever the folds said. control: the same in a world in which all two-stage predictions are true, so that no data speak. \
         history: predictions weighed against so many logged steps of each test arm. auto: several predictors by likelihood, of which folds of the \
         training arms choose. horizon: a plan with prices for the steps that are left instead of an index. Records of auto: as many steps, \
         listened to by the rule that training arms learnt out of fold, if they say that it helps; forced: in any case. The single predictors \
         linear, effect and hierarchical were trained beside the network, to convergence.",
        runs(rows),
        settings.seed.wrapping_add(FIRST_SEED),
    )
}

fn chart(rows: &[Row], regimes: &[Regime]) -> Chart {
    let domains = distinct(rows, |key| key.regime.domain());
    let panel = |(comparison, ink): (Comparison, Ink)| {
        let found = over(rows, regimes, comparison);
        let group = |domain: &DomainName| {
            let own = regimes.iter().filter(|regime| regime.domain() == *domain);
            let row = |regime: &Regime| {
                let difference = found.iter().find(|difference| difference.regime == *regime);
                let points = difference.map_or_else(Vec::new, |difference| difference.points());
                bars::Row { name: regime.name().into(), ink, value: interval(&points) }
            };
            bars::Group { name: String::new(), rows: own.map(row).collect() }
        };
        bars::Panel {
            title: comparison.name.into(),
            label: "points".into(),
            base: Some(0.0),
            groups: domains.iter().map(group).collect(),
        }
    };
    let trainings = TRAININGS.into_iter().zip([Ink::Purple, Ink::Grey, Ink::Grey, Ink::Grey]);
    let history = (HISTORIES[1].1, Ink::Blue);
    let parts = [AUTO_GAIN, HORIZON_GAIN, HISTORY_GAIN].map(|comparison| (comparison, Ink::Black));
    let panels = trainings.chain([history]).chain(parts).map(panel).collect();
    let title = "Points of the way from random to oracle, as deployed".into();
    Chart::Bars(Bars { title, panels })
}
