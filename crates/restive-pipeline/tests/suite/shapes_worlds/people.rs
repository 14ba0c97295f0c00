//! People of a simulated log: their features and levels, the log, and its study.

use super::Ranking;
use ndarray::{Array2, Axis};
use rand::RngExt;
use restive::data::features::{Column, Features};
use restive::instance::{Assignment, Logged, NO_ACTION, Observation};
use restive::random::Random;
use restive::{Reward, Trajectories};
use restive_tables::{Study, StudyBehaviour, StudyInstance, StudySettings};

/// Increase of the probability of state 1 after state 1.
pub const PERSISTENCE: f64 = 0.2;
/// Effect of a pull at distance 0, and its increase up to distance 1.
const EFFECT: [f64; 2] = [0.03, 0.14];
/// Width of the noise in `income` and in rankings.
const NOISE: f64 = 0.5;
const WARDS: [&str; 4] = ["north", "east", "south", "west"];

/// A person.
pub struct Person {
    /// Probability of state 1 after state 0 without a pull.
    pub level: f64,
    /// Increase of that probability by a pull.
    pub effect: f64,
    /// Feature that moves the effect, 0 to 1.
    pub distance: f64,
    /// Feature: the hidden trait with noise.
    pub income: f64,
    ward: usize,
}

impl Person {
    /// Person with a hidden trait from 0 to 1 that moves the level within `levels`.
    pub fn new(hidden: f64, distance: f64, levels: [f64; 2], has_effect: bool, random: &mut Random) -> Self {
        let [low, high] = levels;
        Self {
            level: low + (high - low) * hidden,
            effect: if has_effect { EFFECT[0] + EFFECT[1] * distance } else { 0.0 },
            distance,
            income: hidden + NOISE * (random.random::<f64>() - 0.5),
            ward: random.random_range(0..WARDS.len()),
        }
    }
}

/// Log of one trajectory.
pub struct Log {
    /// `[T,N]`
    pub state: Array2<u16>,
    /// `[T,N]`, the last row without actions
    pub action: Array2<u8>,
}

/// Log of some decisions. `pull` returns who is pulled at a decision, by states; `shock` what is added to everybody's probability there.
pub fn live(
    people: &[Person],
    decisions: usize,
    random: &mut Random,
    mut pull: impl FnMut(usize, &[u16], &mut Random) -> Vec<bool>,
    mut shock: impl FnMut(usize, &mut Random) -> Vec<f64>,
) -> Log {
    let n = people.len();
    let mut state = Array2::zeros((decisions + 1, n));
    let mut action = Array2::from_elem((decisions + 1, n), NO_ACTION);
    let start = |person: &Person| person.level / (1.0 - PERSISTENCE);
    let mut now: Vec<u16> =
        people.iter().map(|person| u16::from(random.random::<f64>() < start(person))).collect();
    for t in 0..decisions {
        let (pulled, shocks) = (pull(t, &now, random), shock(t, random));
        for (i, person) in people.iter().enumerate() {
            state[[t, i]] = now[i];
            action[[t, i]] = u8::from(pulled[i]);
            let pull = if pulled[i] { person.effect } else { 0.0 };
            let chance = person.level + PERSISTENCE * f64::from(now[i]) + pull + shocks[i];
            assert!((-1e-12..=1.0 + 1e-12).contains(&chance), "probability {chance}");
            now[i] = u16::from(random.random::<f64>() < chance);
        }
    }
    now.iter().enumerate().for_each(|(i, now)| state[[decisions, i]] = *now);
    Log { state, action }
}

/// Declarations of a study, and columns of its tables.
pub struct Declarations {
    pub behaviour: StudyBehaviour,
    pub budget: usize,
    pub horizon: usize,
    pub discount: f64,
    pub assignment: Assignment,
    /// Column of clusters and the cluster of each person.
    pub cluster: Option<(&'static str, Vec<String>)>,
    /// `[T,N]`
    pub available: Option<Array2<bool>>,
    /// `[T,N]`
    pub propensity: Option<Array2<f64>>,
}

impl Declarations {
    /// Pulls drawn at random at each decision among all people.
    pub fn uniform(budget: usize, horizon: usize, discount: f64) -> Self {
        Self {
            behaviour: StudyBehaviour::Uniform,
            budget,
            horizon,
            discount,
            assignment: Assignment::PerDecision,
            cluster: None,
            available: None,
            propensity: None,
        }
    }
}

/// Features of people: `distance`, `income` and `ward`.
pub fn features(people: &[Person]) -> Vec<(String, Column)> {
    let number = |of: fn(&Person) -> f64| Column::Number(people.iter().map(of).collect());
    let ward = people.iter().map(|person| Some(WARDS[person.ward].to_string())).collect();
    vec![
        ("distance".into(), number(|person| person.distance)),
        ("income".into(), number(|person| person.income)),
        ("ward".into(), Column::Text(ward)),
    ]
}

/// Study of a log of one instance.
pub fn study(columns: Vec<(String, Column)>, log: Log, declarations: Declarations) -> Study {
    let Declarations { behaviour, budget, horizon, discount, assignment, cluster, available, propensity } =
        declarations;
    let people = log.state.ncols();
    let logged = Logged {
        state: log.state.insert_axis(Axis(0)),
        action: log.action.insert_axis(Axis(0)),
        propensity: propensity.map(|p| p.insert_axis(Axis(0))),
        reward: None,
        available: available.map(|available| available.insert_axis(Axis(0))),
    };
    let (cluster, clusters) = cluster.map(|(column, names)| (column.to_string(), names)).unzip();
    let settings = StudySettings {
        name: None,
        notes: None,
        unit: None,
        reward: Reward::linear(2),
        discount,
        budget,
        horizon,
        ends: None,
        observation: Observation::Full,
        behaviour,
        text: Vec::new(),
        silenced: Default::default(),
        cluster,
        assignment,
    };
    let instance = StudyInstance {
        name: "0".into(),
        arms: (0..people).map(|i| i.to_string()).collect(),
        features: Features::new(people, columns).expect("columns of equal length"),
        split: None,
        trajectory_names: vec!["1".into()],
        trajectories: Trajectories::new(logged, 2).expect("a simulated log"),
        truth: None,
        clusters,
    };
    Study { settings, instances: vec![instance] }
}

/// Rankings of people, and their gains by scores.
pub fn rankings(
    people: &[Person],
    has_effect: bool,
    random: &mut Random,
    mut gain: impl FnMut(&[f64], &mut Random) -> f64,
) -> Vec<Ranking> {
    let mut ranking = |is_noise: bool| {
        let score = |person: &Person| {
            let noise = NOISE * (random.random::<f64>() - 0.5);
            match (is_noise, has_effect) {
                (true, _) => noise,
                (false, true) => person.distance + noise,
                (false, false) => person.income + noise,
            }
        };
        let scores: Vec<f64> = people.iter().map(score).collect();
        let gain = if has_effect { gain(&scores, &mut *random) } else { 0.0 };
        let scores = Array2::from_shape_fn((people.len(), 2), |(i, _)| scores[i]);
        Ranking { is_noise, scores, gain }
    };
    if has_effect { vec![ranking(false)] } else { vec![ranking(false), ranking(true)] }
}
