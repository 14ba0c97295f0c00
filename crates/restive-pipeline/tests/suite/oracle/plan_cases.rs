//! Plans that are recorded: six kinds of rules, two policies, three random studies of each kind.
//!
//! The studies have ties, missing values, arms without rows, 2 or 3 states and 1 to 3 instances. The weights of the models are rounded to
//! six significant digits and the numbers of their own records to four, so that a plan does not depend on the last digits of a training.

use super::{rounded, significant};
use restive_pipeline::{Asked, PlanAsked, PolicyName, PredictorName, Rules, Trained, Training};
use restive_tables::Study;
use restive_tables::model::Model;
use restive_testkit::random_study::{LearnableOptions, RandomStudy};
use std::path::Path;
use std::sync::{LazyLock, OnceLock};

pub const KINDS: usize = 6;
const SEEDS: usize = 3;

/// A plan to be made.
pub struct PlanCase {
    pub name: String,
    /// Number of the study.
    pub study: usize,
    /// Kind of rules, 0 to 5.
    pub kind: usize,
    pub asked: PlanAsked,
}

/// A random study and a model that was trained on it.
pub struct Planned {
    pub study: RandomStudy,
    pub trained: Trained,
}

/// Seeds of the studies. With them, rounding errors do not change a number of a list.
const RANDOM_SEEDS: [u64; KINDS * SEEDS] =
    [0, 1, 102, 3, 304, 5, 6, 7, 8, 109, 10, 11, 112, 13, 14, 915, 16, 17];

static STUDIES: LazyLock<Vec<OnceLock<Planned>>> =
    LazyLock::new(|| (0..KINDS * SEEDS).map(|_| OnceLock::new()).collect());

/// Study of a number, with its model.
pub fn planned(study: usize) -> &'static Planned {
    STUDIES[study].get_or_init(|| make(study))
}

fn make(study: usize) -> Planned {
    let (kind, seed) = (study / SEEDS, study % SEEDS);
    let random = RandomStudy::learnable(RANDOM_SEEDS[study], &options(kind, seed));
    let predictor = if seed.is_multiple_of(2) { PredictorName::Hierarchical } else { PredictorName::Effect };
    let trained = trained(&random, predictor);
    Planned { study: random, trained: Trained::new(without_last_digits(trained.model)).unwrap() }
}

fn options(kind: usize, seed: usize) -> LearnableOptions {
    LearnableOptions {
        arms: 150 + 30 * kind + 13 * seed,
        // rules that name people name them in every instance
        groups: if kind == 2 { 1 } else { 1 + (kind + seed) % 3 },
        states: if seed == 2 { 3 } else { 2 },
        ends: (seed == 1).then_some(9),
    }
}

/// Trains a model in memory.
pub fn trained(study: &RandomStudy, predictor: PredictorName) -> Trained {
    let folder = tempfile::tempdir().unwrap();
    study.write(folder.path());
    let study = Study::read(folder.path()).unwrap();
    let asked = Asked { predictor: Some(predictor), ..Asked::default() };
    let training = Training::new(&study, &asked, "a study").unwrap();
    let run = training.run(Default::default(), None, |_| Ok::<_, restive_pipeline::Error>(())).unwrap();
    Trained::new(training.model(run.members, run.histories)).unwrap()
}

fn without_last_digits(mut model: Model) -> Model {
    let weights = model.weights.iter_mut().flat_map(|(_, _, numbers)| numbers);
    weights.for_each(|weight| *weight = rounded(*weight, 6));
    let record = model.card.own_record.take().unwrap();
    let record = significant(&serde_json::to_value(record).unwrap(), 4);
    model.card.own_record = Some(serde_json::from_value(record).unwrap());
    model
}

/// All plans.
pub fn plan_cases() -> Vec<PlanCase> {
    let mut cases = Vec::new();
    for (kind, seed) in (0..KINDS).flat_map(|kind| (0..SEEDS).map(move |seed| (kind, seed))) {
        let LearnableOptions { arms, groups, ends, .. } = options(kind, seed);
        for policy in [PolicyName::Whittle, PolicyName::Horizon] {
            let is_by_horizon = policy == PolicyName::Horizon;
            let asked = PlanAsked {
                rules: rules(kind, arms),
                policy: Some(policy),
                remaining: (is_by_horizon && ends.is_none()).then_some(5),
                history: [None, Some(true), Some(false)][(kind + seed) % 3],
                only_beneficial: seed == 2,
                seed: seed as u64,
                instance: (groups > 1 && kind == 4).then(|| "g1".into()),
                ..PlanAsked::default()
            };
            let name = format!("{}, {}, study {seed}", KIND_NAMES[kind], policy.name());
            cases.push(PlanCase { name, study: kind * SEEDS + seed, kind, asked });
        }
    }
    cases
}

const KIND_NAMES: [&str; KINDS] = [
    "no rules",
    "cap and floor",
    "named people",
    "crossing caps and a condition",
    "cost and cap",
    "draw, pause and cap",
];

/// Arms that the rules of kind 2 name: two that must be called, one that must not be.
pub fn named(arms: usize) -> [String; 3] {
    [1, 2, 3].map(|i| format!("p{}", i * 7919 % arms))
}

/// Rules of every kind.
pub fn rules(kind: usize, arms: usize) -> Rules {
    let [one, other, never] = named(arms);
    let text = match kind {
        0 => return Rules::default(),
        1 => "[[limit]]\nby = \"district\"\nat_most = { north = 2, \"*\" = 4 }\nat_least = 1\n".into(),
        2 => format!("must_call = [\"{one}\", \"{other}\"]\nnever_call = [\"{never}\"]\n"),
        3 => "[[limit]]\nby = \"district\"\nat_most = 3\n[[limit]]\nby = \"age\"\nat_most = 1\n\
              [[leave_out]]\nif = \"last_seen >= 3\"\n"
            .into(),
        4 => "[cost]\ncolumn = \"own\"\nat_most = 3\n[[limit]]\nby = \"district\"\nat_most = 4\n".into(),
        _ => "explore = 0.3\n[[cool_down]]\nperiods = 2\n[[limit]]\nby = \"district\"\nat_most = 4\n".into(),
    };
    Rules::parse(Path::new("rules.toml"), &text).unwrap()
}
