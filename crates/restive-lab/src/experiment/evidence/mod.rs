//! `evidence`: can the answers about a ranking from one log be believed? Worlds whose truth is known, rankings of several trainings,
//! and [regimes](self::regimes) of how logs come about: does the interval of a plan cover what it truly brings, how often is a ranking
//! that knows nobody taken for one that does, and are two rankings put in the right order?

mod logs;
mod rankings;
mod regimes;
mod run;
mod tables;
mod truth;

use crate::experiment::page::{figure, interval, text};
use crate::experiment::rows::{Row, distinct};
use crate::experiment::units::Settings;
use crate::experiment::{Experiment, Shown};
use rankings::RANKINGS;
use restive_report::{Bars, Block, Chart, Section, bars};
use run::{DEALS, FIRST_SEED, compute, units};
use tables::{Answers, tables, words};

pub(crate) const EXPERIMENT: Experiment =
    Experiment { name: "evidence", axis: Some("log"), units, compute, owns: |_| true, show };

/// Worlds, and those of a quick look.
pub(crate) const RUNS: [usize; 2] = [40, 2];
/// Of the figure, in a row.
const PANELS: usize = 3;

fn show(settings: &Settings, rows: &[Row]) -> Shown {
    let regimes = distinct(rows, |key| key.regime);
    let answers: Vec<Answers> = regimes.into_iter().map(|regime| Answers::of(rows, regime)).collect();
    let chart = chart(&answers);
    let mut blocks = vec![text(about(settings)), figure(&chart)];
    blocks.extend(tables(&answers).into_iter().map(Block::Table));
    Shown {
        section: Section { heading: "Whether evidence from one log can be believed".into(), blocks },
        figure: (chart, Some(PANELS)),
        text: words(&answers),
    }
}

fn about(settings: &Settings) -> String {
    format!(
        "Worlds with seeds from {} that no other experiment has; what they are is in the name of the regime. In each world models are trained once, \
         a judge is fitted to the people they were trained on, and both meet fresh logs of people whom neither has seen; in folds everybody is \
         judged once, by a model and a judge that never saw him. True: what the strict top K of the ranking brings over random calls in a \
         programme on the true transitions, counting the states after each decision. Plan, standard error and p are what a log says. Covered: the share of \
         95 % intervals of the plan that hold the truth, ± its standard error over worlds. Dealt anew: p by {DEALS} deals of the calls. Refused: \
         the called differ from the others by more than 3 standard errors. wrong-people: the effect model's indices, dealt to others of the \
         group. decision-focused: as published.",
        settings.seed.wrapping_add(FIRST_SEED),
    )
}

/// How often the interval covers, by ranking.
fn chart(answers: &[Answers]) -> Chart {
    let panel = |answers: &Answers| {
        let row = |method: &_| {
            let of = answers.ranking(*method)?;
            let value = interval(&of.by_world(|one| 100.0 * f64::from(u8::from(one.is_covered()))));
            Some(bars::Row { name: method.name().into(), ink: method.ink(), value })
        };
        bars::Panel {
            title: answers.regime.name().into(),
            label: "% of intervals that hold the truth".into(),
            base: Some(0.0),
            groups: vec![bars::Group {
                name: String::new(),
                rows: RANKINGS.iter().filter_map(row).collect(),
            }],
        }
    };
    let title = "How often the 95 % interval of a plan holds the truth".into();
    Chart::Bars(Bars { title, panels: answers.iter().map(panel).collect() })
}
