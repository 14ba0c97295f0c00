//! Plans that are recorded: six kinds of rules, two policies, three random studies of each kind, and two studies more.
//!
//! The studies have ties, missing values, arms without rows, 2 or 3 states and 1 to 3 instances. One study more has values that no
//! training arm has, one has states that are observed at pulls only. Most models are logistic, two are pools and one is a network.
//! Weights of models are rounded to six significant digits and the numbers of their own records to four, so that a plan does not depend
//! on the last digits of a training.

use super::{rounded, significant};
use restive_pipeline::{Asked, PlanAsked, PolicyName, PredictorName, Rules, Trained, Training};
use restive_tables::Study;
use restive_tables::model::Model;
use restive_testkit::random_study::{LearnableOptions, RandomStudy};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;
use std::sync::{LazyLock, OnceLock};

pub const KINDS: usize = 6;
const SEEDS: usize = 3;
/// Study with values that no training arm has.
const UNSEEN_VALUES: usize = KINDS * SEEDS;
/// Study with states that are observed at pulls only.
const STATES_AT_PULLS: usize = UNSEEN_VALUES + 1;
const STUDIES: usize = STATES_AT_PULLS + 1;

/// A plan to be made.
pub struct PlanCase {
    pub name: String,
    /// Number of the study.
    pub study: usize,
    /// Kind of rules, 0 to 5.
    pub kind: usize,
    /// Policy of the plan, whether requested or chosen by default.
    pub policy: PolicyName,
    pub asked: PlanAsked,
}

impl PlanCase {
    /// Whether states are observed at pulls only, so that the study must be in memory.
    pub fn is_labelled(&self) -> bool {
        self.study == STATES_AT_PULLS
    }
}

/// A random study and a model that was trained on it.
pub struct Planned {
    pub study: RandomStudy,
    pub trained: Trained,
}

/// Epochs of a network.
const EPOCHS: usize = 3;

/// Seeds of the studies. With them, rounding errors do not change a number of a list.
const RANDOM_SEEDS: [u64; STUDIES] =
    [0, 1, 102, 3, 304, 5, 6, 7, 8, 109, 10, 11, 112, 113, 14, 915, 16, 17, 318, 19];

static PLANNED: LazyLock<Vec<OnceLock<Planned>>> =
    LazyLock::new(|| (0..STUDIES).map(|_| OnceLock::new()).collect());

/// Study of a number, with its model.
pub fn planned(study: usize) -> &'static Planned {
    PLANNED[study].get_or_init(|| make(study))
}

fn make(study: usize) -> Planned {
    let mut random = RandomStudy::learnable(RANDOM_SEEDS[study], &options(study));
    if study == STATES_AT_PULLS {
        observe_at_pulls(&mut random);
    }
    let trained = trained(&random, predictor(study));
    if study == UNSEEN_VALUES {
        add_unseen_values(&mut random);
    }
    Planned {
        study: random,
        trained: crate::identified(Trained::new(without_last_digits(trained.model)).unwrap()),
    }
}

fn options(study: usize) -> LearnableOptions {
    let (kind, seed) = (study / SEEDS, study % SEEDS);
    LearnableOptions {
        arms: 150 + 30 * (kind % KINDS) + 13 * seed,
        // rules that name people name them in every instance
        groups: if kind == 2 { 1 } else { 1 + (kind + seed) % 3 },
        states: if seed == 2 { 3 } else { 2 },
        ends: (seed == 1).then_some(9),
    }
}

fn predictor(study: usize) -> PredictorName {
    match study {
        4 => PredictorName::Auto,
        13 => PredictorName::Network,
        STATES_AT_PULLS => PredictorName::Auto,
        _ if (study % SEEDS).is_multiple_of(2) => PredictorName::Hierarchical,
        _ => PredictorName::Effect,
    }
}

/// Removes the states of arms that are not pulled.
fn observe_at_pulls(study: &mut RandomStudy) {
    study.settings += "observation = \"collapsing\"\nchain = 8\n";
    let [state, action] = ["state", "action"].map(|name| study.trajectories.column(name));
    for row in &mut study.trajectories.rows {
        match (row[action].as_str(), row[state].is_empty()) {
            // each pull observes a state
            ("1", true) => row[action] = "0".into(),
            ("1", false) => {}
            _ => row[state].clear(),
        }
    }
}

/// Gives some arms a district that no training arm has, and all arms the same number.
fn add_unseen_values(study: &mut RandomStudy) {
    let [district, own] = ["district", "own"].map(|name| study.arms.column(name));
    for (i, row) in study.arms.rows.iter_mut().enumerate() {
        if i % 40 == 7 {
            row[district] = "west".into();
        }
        row[own] = "1".into();
    }
}

/// Trains a model in memory; a network for a few epochs.
pub fn trained(study: &RandomStudy, predictor: PredictorName) -> Trained {
    let folder = tempfile::tempdir().unwrap();
    study.write(folder.path());
    let study = Study::read(folder.path()).unwrap();
    let has_epochs = !matches!(predictor, PredictorName::Effect | PredictorName::Hierarchical);
    let asked =
        Asked { predictor: Some(predictor), epochs: has_epochs.then_some(EPOCHS), ..Asked::default() };
    let training = Training::new(&study, &asked, "a study").unwrap();
    let run = training.run(Default::default(), None, |_| Ok::<_, restive_pipeline::Error>(())).unwrap();
    crate::identified(Trained::new(training.model(run.members, run.histories)).unwrap())
}

fn without_last_digits(mut model: Model) -> Model {
    let weights = model.weights.iter_mut().flat_map(|(_, _, numbers)| numbers);
    weights.for_each(|weight| *weight = rounded(*weight, 6));
    model.card.predictor = rounded_part(&model.card.predictor, 6);
    model.card.own_record = rounded_part(&model.card.own_record, 4);
    model
}

/// Rounds all numbers of a part of a card to significant digits.
fn rounded_part<T: Serialize + DeserializeOwned>(part: &T, digits: usize) -> T {
    serde_json::from_value(significant(&serde_json::to_value(part).unwrap(), digits)).unwrap()
}

/// All plans.
pub fn plan_cases() -> Vec<PlanCase> {
    let mut cases = Vec::new();
    for study in 0..STUDIES {
        let (kind, seed) = (study / SEEDS % KINDS, study % SEEDS);
        let LearnableOptions { arms, groups, ends, .. } = options(study);
        for policy in [PolicyName::Whittle, PolicyName::Horizon] {
            let is_by_horizon = policy == PolicyName::Horizon;
            let asked = PlanAsked {
                rules: rules(kind, arms),
                // by default the horizon if the end is known
                policy: (seed != 0).then_some(policy),
                remaining: (is_by_horizon && ends.is_none()).then_some(5),
                history: [None, Some(true), Some(false)][(kind + seed) % 3],
                only_beneficial: seed == 2,
                seed: seed as u64,
                instance: (groups > 1 && kind == 4).then(|| "g1".into()),
                ..PlanAsked::default()
            };
            let study_name = match study {
                UNSEEN_VALUES => "study with unseen values".into(),
                STATES_AT_PULLS => "study with states at pulls".into(),
                _ => format!("study {seed}"),
            };
            let name = format!("{}, {}, {study_name}", KIND_NAMES[kind], policy.name());
            cases.push(PlanCase { name, study, kind, policy, asked });
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
