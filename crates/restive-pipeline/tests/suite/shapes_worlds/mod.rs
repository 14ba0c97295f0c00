//! Simulated logs whose pulls have a shape, with their truth: availability, clusters, treatments that last; and logs without a shape.
//!
//! Two states, reward 1 in state 1. The probability that a person is in state 1 at the next step is
//!
//! ```text
//! level + PERSISTENCE·s + effect·a + shock
//! ```
//!
//! with the state s, the action a, a level and an effect of the person, and a shock of the person's household. A hidden trait moves the
//! level and, depending on the shape, who can be pulled. The feature `distance` moves the effect, `income` is the trait with noise.
//!
//! | shape | pulls | trait |
//! |---|---|---|
//! | availability | at random among the people who can be pulled, by a two-state chain of each person | moves the chain |
//! | clusters | whole households of 1 to 5 people, at random at each decision | of the household, as is the shock |
//! | lasting | people at random, once for all decisions | moves the level only |
//!
//! **Truth.** The effect of a pull does not depend on the state. So the difference that a pull at decision t makes to the state at
//! t + k is effect·PERSISTENCE^(k − 1), and gains are sums over the people that a ranking puts first ([`gain`]).
//!
//! Shared by the tests and by `examples/shapes.rs`.

pub mod answers;
mod availability;
mod clusters;
mod courses;
mod gain;
mod honest;
mod people;
pub mod published;
pub mod shares;
mod wcls;

pub use honest::{Honest, honest};

use ndarray::Array2;
use rand::RngExt;
use restive::Trajectories;
use restive::data::features::{Column, Features};
use restive::instance::{Assignment, Logged};
use restive::random::{Random, stream};
use restive_tables::{Study, StudyBehaviour};

/// Stream of random scores.
const NOISE: u64 = 0x6e6f_6973;

/// Shape of the pulls of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Some people cannot be pulled at some decisions; the study says `uniform`.
    Availability,
    /// Like `Availability`, but the study says `estimated`.
    AvailabilityEstimated,
    /// Whole households are pulled.
    Clusters,
    /// Pulls are assigned once per person.
    Lasting,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Self; 4] =
        [Self::Availability, Self::AvailabilityEstimated, Self::Clusters, Self::Lasting];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        ["availability", "availability-estimated", "clusters", "lasting"][self as usize]
    }

    /// Check of the doctor that names the shape.
    pub fn check(self) -> &'static str {
        ["availability", "availability", "clusters", "assignment"][self as usize]
    }

    /// Words of a refusal that names the shape: the declaration to add.
    pub fn remedy(self) -> &'static str {
        ["column available", "column available", "declare cluster", "declare assignment"][self as usize]
    }
}

/// Scores that are fixed before the log, with the truth about them.
pub struct Ranking {
    /// Whether the scores are random numbers.
    pub is_noise: bool,
    /// Score of each person and state, `[N,2]`.
    pub scores: Array2<f64>,
    /// Reward that the people with the highest scores bring over random ones, of all people together.
    pub gain: f64,
}

/// A log with its truth.
pub struct World {
    /// Study that declares the shape.
    pub declared: Study,
    /// Rankings: with an effect one by `distance` with noise, without an effect one by `income` with noise and one of noise.
    pub rankings: Vec<Ranking>,
    /// Mean effect of a pull on the next reward, over all rows of people who could be pulled.
    pub mean_effect: f64,
    /// Lasting pulls: mean effect of the course on the discounted sum of a person's later rewards.
    pub course: Option<f64>,
}

impl World {
    /// World of a seed; without an effect a pull changes nothing.
    pub fn new(shape: Shape, has_effect: bool, seed: u64) -> Self {
        match shape {
            Shape::Availability => availability::world(StudyBehaviour::Uniform, has_effect, seed),
            Shape::AvailabilityEstimated => availability::world(StudyBehaviour::Estimated, has_effect, seed),
            Shape::Clusters => clusters::world(has_effect, seed),
            Shape::Lasting => courses::world(has_effect, seed),
        }
    }

    /// Whether pulls have an effect.
    pub fn has_effect(&self) -> bool {
        self.mean_effect != 0.0
    }

    /// The same log in a study that declares no shape; names of clusters are a feature then.
    pub fn undeclared(&self) -> Study {
        let mut study = self.declared.clone();
        study.settings.assignment = Assignment::PerDecision;
        let column = study.settings.cluster.take();
        for instance in &mut study.instances {
            if let (Some(column), Some(names)) = (&column, instance.clusters.take()) {
                let names = Column::Text(names.into_iter().map(Some).collect());
                instance.features = with_column(&instance.features, column, names);
            }
            let log = &instance.trajectories;
            let logged = Logged {
                state: log.state().to_owned(),
                action: log.action().to_owned(),
                propensity: log.propensity().map(|p| p.to_owned()),
                reward: None,
                available: None,
            };
            instance.trajectories = Trajectories::new(logged, 2).expect("the log without availability");
        }
        study
    }
}

/// Features with one column more.
fn with_column(features: &Features, name: &str, column: Column) -> Features {
    let own = |name: &String| (name.clone(), features.column(name).expect("a column by its name").clone());
    let mut columns: Vec<(String, Column)> = features.names().iter().map(own).collect();
    columns.push((name.into(), column));
    Features::new(features.arms(), columns).expect("columns of equal length")
}

/// Random scores of people, `[N,2]`, the same in both states.
pub fn noise(people: usize, seed: u64) -> Array2<f64> {
    let mut random = stream(seed, &[NOISE]);
    let scores: Vec<f64> = (0..people).map(|_| random.random()).collect();
    Array2::from_shape_fn((people, 2), |(i, _)| scores[i])
}

/// `count` of some positions, at random.
fn draw(mut from: Vec<usize>, count: usize, random: &mut Random) -> Vec<usize> {
    assert!(count <= from.len(), "found {} to draw {count} from", from.len());
    for k in 0..count {
        let other = random.random_range(k..from.len());
        from.swap(k, other);
    }
    from.truncate(count);
    from
}
