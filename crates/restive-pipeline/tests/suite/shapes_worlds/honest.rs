//! Logs without a shape, each as its study declares it: no check of a shape may name them.
//!
//! Villages of about seven people and wards of sixty group the people, and bear on nothing but the rota by ward.

use super::people::{Declarations, Log, Person, features, live, study};
use super::{Shape, draw};
use ndarray::Array2;
use rand::RngExt;
use restive::data::features::Column;
use restive::random::{Random, stream};
use restive_tables::{Study, StudyBehaviour};

const STREAM: u64 = 0x686f_6e65;
const PEOPLE: usize = 420;
const DECISIONS: usize = 14;
const PULLS: usize = 60;
const HORIZON: usize = 8;
const DISCOUNT: f64 = 0.9;
const LEVELS: [f64; 2] = [0.15, 0.55];
const VILLAGES: usize = 60;

/// Assignment of pulls in a log without a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Honest {
    /// At random at each decision.
    AtRandom,
    /// In turn, in an order drawn at random.
    Rota,
    /// In turn, one ward of 60 people at each decision.
    RotaByWard,
    /// By state and income, with chance: the study says `estimated`.
    Estimated,
    /// With recorded propensities that differ between people.
    Logged,
}

impl Honest {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::AtRandom, Self::Rota, Self::RotaByWard, Self::Estimated, Self::Logged];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        ["at-random", "rota", "rota-by-ward", "estimated", "logged"][self as usize]
    }

    /// Whether a text names a shape: a false alarm.
    pub fn is_accused_by(text: &str) -> bool {
        Shape::ALL.iter().any(|shape| text.contains(shape.remedy()))
    }

    fn behaviour(self) -> StudyBehaviour {
        match self {
            Self::AtRandom => StudyBehaviour::Uniform,
            Self::Rota | Self::RotaByWard => StudyBehaviour::RoundRobinAsUniform,
            Self::Estimated => StudyBehaviour::Estimated,
            Self::Logged => StudyBehaviour::Logged,
        }
    }
}

/// Study of a seed, and scores of its people by `distance`, `[N,2]`.
pub fn honest(kind: Honest, has_effect: bool, seed: u64) -> (Study, Array2<f64>) {
    let mut random = stream(seed, &[STREAM, kind as u64, u64::from(has_effect)]);
    let mut people = Vec::with_capacity(PEOPLE);
    for _ in 0..PEOPLE {
        let (hidden, distance) = (random.random(), random.random());
        people.push(Person::new(hidden, distance, LEVELS, has_effect, &mut random));
    }
    let turns: Vec<usize> = match kind {
        Honest::RotaByWard => (0..PEOPLE).collect(),
        _ => draw((0..PEOPLE).collect(), PEOPLE, &mut random),
    };
    let choice = |t: usize, state: &[u16], random: &mut Random| -> Vec<bool> {
        let of = |drawn: &[usize]| {
            let mut pulled = vec![false; PEOPLE];
            drawn.iter().for_each(|i| pulled[*i] = true);
            pulled
        };
        let by_chance = |random: &mut Random, chance: &dyn Fn(usize) -> f64| -> Vec<bool> {
            (0..PEOPLE).map(|i| random.random::<f64>() < chance(i)).collect()
        };
        match kind {
            Honest::AtRandom => of(&draw((0..PEOPLE).collect(), PULLS, random)),
            Honest::Rota | Honest::RotaByWard => {
                let first = t * PULLS % PEOPLE;
                of(&turns[first..first + PULLS])
            }
            Honest::Estimated => by_chance(random, &|i| chosen(state[i], people[i].income)),
            Honest::Logged => by_chance(random, &|i| recorded(people[i].income)),
        }
    };
    let log = live(&people, DECISIONS, &mut random, choice, |_, _| vec![0.0; PEOPLE]);

    let propensity = (kind == Honest::Logged).then(|| propensities(&log, &people));
    let villages = (0..PEOPLE).map(|_| random.random_range(0..VILLAGES) as f64).collect();
    let wards = (0..PEOPLE).map(|i| Some(format!("ward {}", i / PULLS))).collect();
    let mut columns = features(&people);
    columns.push(("village".into(), Column::Number(villages)));
    columns.push(("home_ward".into(), Column::Text(wards)));
    let scores = Array2::from_shape_fn((PEOPLE, 2), |(i, _)| people[i].distance);
    let declarations = Declarations {
        behaviour: kind.behaviour(),
        propensity,
        ..Declarations::uniform(PULLS, HORIZON, DISCOUNT)
    };
    (study(columns, log, declarations), scores)
}

/// Probability of a pull by state and income.
fn chosen(state: u16, income: f64) -> f64 {
    let log_odds = -2.3 + 0.8 * f64::from(u8::from(state == 0)) + income;
    1.0 / (1.0 + (-log_odds).exp())
}

/// Recorded probability of a pull.
fn recorded(income: f64) -> f64 {
    0.1 + 0.3 * income.clamp(0.0, 1.0)
}

/// Recorded probability of each action, 1 without an action.
fn propensities(log: &Log, people: &[Person]) -> Array2<f64> {
    Array2::from_shape_fn(log.action.dim(), |(t, i)| match log.action[[t, i]] {
        1 => recorded(people[i].income),
        0 => 1.0 - recorded(people[i].income),
        _ => 1.0,
    })
}
