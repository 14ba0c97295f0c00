//! A synthetic programme shaped like the maternal one of the paper, whose data cannot be shared.
//!
//! **It is not real data**, and nothing about real people follows from it. It has the sizes of the published study (7,668 people
//! in 12 groups of 639, 18 calls a week in each, seven weeks, one trajectory) and its list of [features](INCOMES); published
//! aggregates set the middle of distributions, and everything else is an assumption that is a field of [`Maternal`].
//!
//! **People** have the paper's 14 features, encoded into its 43 columns: weeks pregnant at enrolment, age in 5 groups, income in
//! 8 brackets, 7 levels of education, 5 languages, 3 phone owners, 5 call slots, 3 enrolment channels, whether they have given
//! birth, days since the first call, gravidity, parity, stillbirths, live births. The raw table holds age in years as well.
//!
//! **States** are 0, not engaging, and 1, engaging. Left alone, people mostly stay where they are; a call shifts the log-odds
//! of engaging next week by an effect of the person's own. Log-odds are linear in features plus noise of the person's own, so
//! that features explain 40 % of the baseline and 30 % of the effect. That shape is what an effect model assumes, and favours it.
//!
//! **The log** is one trajectory of seven decisions by round robin, the people of a group in their order, so that nobody is
//! called twice and 7·18 of 639 people, 20 %, are called once: as published, which is why seven weeks are seven decisions and
//! not six. People start in the stationary distribution of being left alone, because the paper says that they had nearly
//! reached it. A rota has no propensities, and the log holds none: treating it as 18 of 639 at random is an assumption that
//! has to be made by name.
//!
//! ```
//! use restive::data::maternal::Maternal;
//!
//! let programme = Maternal { groups: 4, people: 50, budget: 2, ..Maternal::default() }.generate(7)?;
//! assert_eq!(programme.instances[3].features().shape(), [50, 43]);
//! assert_eq!(programme.instances[3].trajectories().state().shape(), [1, 8, 50]);
//! assert!(programme.people[3].column("income").is_some());
//! # Ok::<(), restive::Error>(())
//! ```

mod moves;
mod people;

pub use people::{
    AGE_GROUPS, CALL_SLOTS, CHANNELS, EDUCATION, INCOMES, LANGUAGES, PHONE_OWNERS, POVERTY_LINE, rupees,
    schooling,
};

use super::encoding::{Encoding, Standardise};
use super::features::Features;
use super::split::{Part, Split};
use crate::error::{Error, Result};
use crate::instance::{
    Instance, Logged, Observation, Parts, Reward, Trajectories, Transition, check_discount,
};
use crate::policy::Policy;
use crate::random::{Random, stream};
use crate::simulation::{Initial, Setting, trajectories};
use moves::{Score, transitions};
use ndarray::Array2;
use rand::RngExt;
use rayon::prelude::*;

/// The streams of a programme: no other use of a seed begins with it.
const MATERNAL: u64 = 0x6d61_7465_726e;
/// People of the reference population, which is the same for every seed.
const REFERENCE: usize = 20_000;

/// What to generate; the default has the published sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct Maternal {
    /// how many groups; each is an instance
    pub groups: usize,
    /// N, the people of a group
    pub people: usize,
    /// K, calls per week in a group
    pub budget: usize,
    /// decisions of the trajectory
    pub weeks: usize,
    /// γ
    pub discount: f64,
    /// probability that a typical person who does not engage, left alone, does not engage next week either
    pub stay_disengaged: f64,
    /// probability that a typical person who engages, left alone, engages next week as well
    pub stay_engaged: f64,
    /// standard deviation over people of the log-odds of engaging when left alone
    pub baseline_spread: f64,
    /// mean over people of what a call adds to the log-odds of engaging next week
    pub effect: f64,
    /// standard deviation over people of that effect
    pub effect_spread: f64,
    /// share of the variance of the baseline that features explain
    pub explained_baseline: f64,
    /// share of the variance of the effect that features explain
    pub explained_effect: f64,
}

impl Default for Maternal {
    fn default() -> Self {
        Self {
            groups: 12,
            people: 639,
            budget: 18,
            weeks: 7,
            discount: 0.99,
            stay_disengaged: 0.87,
            stay_engaged: 0.75,
            baseline_spread: 1.0,
            effect: 0.5,
            effect_spread: 0.8,
            explained_baseline: 0.4,
            explained_effect: 0.3,
        }
    }
}

/// A synthetic programme: group k in place k of each list.
#[derive(Debug, Clone, PartialEq)]
pub struct Programme {
    /// how what is known of people becomes 43 numbers; learnt from a reference population, the same for every seed
    pub encoding: Encoding,
    /// what is known of the people of each group, in units and words
    pub people: Vec<Features>,
    /// the groups: encoded features, one trajectory by round robin, reward, true transitions
    pub instances: Vec<Instance>,
    /// the best prediction that features allow: what endlessly many such logs would teach, E[P(s, a, ·) given x and s]
    pub best_from_features: Vec<Transition>,
}

impl Maternal {
    /// Checks that the numbers make a programme.
    fn check(&self) -> Result<()> {
        let range = |what, expected, found| Err(Error::Range { what, expected, found });
        for (what, found) in [("groups", self.groups), ("people", self.people), ("weeks", self.weeks)] {
            if found == 0 {
                return range(what, "at least 1", 0.0);
            }
        }
        if self.budget > self.people {
            return range("budget", "at most the people of a group", self.budget as f64);
        }
        for (what, found) in [("stay disengaged", self.stay_disengaged), ("stay engaged", self.stay_engaged)]
        {
            if !(found > 0.0 && found < 1.0) {
                return range(what, "a probability between 0 and 1, both excluded", found);
            }
        }
        for (what, found) in
            [("explained baseline", self.explained_baseline), ("explained effect", self.explained_effect)]
        {
            if !(0.0..=1.0).contains(&found) {
                return range(what, "a share from 0 to 1", found);
            }
        }
        for (what, found) in
            [("baseline spread", self.baseline_spread), ("effect spread", self.effect_spread)]
        {
            if !(0.0..=20.0).contains(&found) {
                return range(what, "log-odds from 0 to 20", found);
            }
        }
        if !(-20.0..=20.0).contains(&self.effect) {
            return range("effect", "log-odds from -20 to 20", self.effect);
        }
        check_discount(self.discount)
    }

    /// The programme of a seed; the same for every number of threads.
    pub fn generate(&self, seed: u64) -> Result<Programme> {
        self.check()?;
        let population = people::draw(REFERENCE, &mut stream(0, &[MATERNAL, 0]))?;
        let encoding = Encoding::fit(&population, Standardise::Yes, &[people::AGE])?;
        let reference = encoding.encode(&population)?;
        let score = |path| Score::draw(&encoding, reference.view(), &mut stream(seed, &[MATERNAL, path]));
        let scores = [score(1), score(2)];
        let group = |k: usize| -> Result<_> {
            let random = |purpose| stream(seed, &[MATERNAL, purpose, k as u64]);
            let people = people::draw(self.people, &mut random(3))?;
            let features = encoding.encode(&people)?;
            let [truth, best] = transitions(self, [&scores[0], &scores[1]], features.view(), &mut random(4))?;
            let instance = self.instance(features, truth, &mut random(5))?;
            Ok((people, instance, best))
        };
        let groups: Vec<_> = (0..self.groups).into_par_iter().map(group).collect::<Result<_>>()?;
        let (mut people, mut instances, mut best_from_features) = (Vec::new(), Vec::new(), Vec::new());
        for (known, instance, best) in groups {
            people.push(known);
            instances.push(instance);
            best_from_features.push(best);
        }
        Ok(Programme { encoding, people, instances, best_from_features })
    }

    /// Groups to train on, to validate and to test on, in order: 8, 1 and 3 of 12, and in that proportion otherwise. Of fewer
    /// than three groups the people are split, at random by the seed.
    pub fn split(&self, seed: u64) -> Result<Split> {
        let Self { groups, people, .. } = *self;
        if groups < 3 {
            return Split::in_order(&vec![people; groups], seed);
        }
        let (validation, test) = (((groups + 6) / 12).max(1), ((3 * groups + 6) / 12).max(1));
        let part = |k: usize| match groups - k {
            left if left <= test => Part::Test,
            left if left <= test + validation => Part::Validation,
            _ => Part::Train,
        };
        Split::given(&(0..groups).map(|k| vec![part(k); people]).collect::<Vec<_>>())
    }

    fn instance(&self, features: Array2<f64>, truth: Transition, random: &mut Random) -> Result<Instance> {
        let reward = Reward::linear(2);
        let setting = Setting {
            motion: truth.view().into(),
            reward: (&reward).into(),
            discount: self.discount,
            budget: self.budget,
            horizon: self.weeks,
        };
        let start = Initial::States(stationary(&truth, random));
        let log = trajectories(&setting, &start, &Policy::RoundRobin, 1, random.random());
        let (state, action) = (log.state().to_owned(), log.action().to_owned());
        Instance::new(Parts {
            features,
            trajectories: Trajectories::new(
                Logged { state, action, propensity: None, reward: None, available: None },
                2,
            )?,
            reward,
            budget: self.budget,
            discount: self.discount,
            truth: Some(truth),
            observation: Observation::Full,
            clusters: None,
        })
    }
}

/// States drawn from what each person comes to when left alone, `[1,N]`.
fn stationary(truth: &Transition, random: &mut Random) -> Array2<u16> {
    let p = truth.view();
    Array2::from_shape_fn((1, truth.arms()), |(_, i)| {
        let (rise, fall) = (p[[i, 0, 0, 1]], p[[i, 1, 0, 0]]);
        let engaged = if rise + fall > 0.0 { rise / (rise + fall) } else { 0.5 };
        u16::from(random.random::<f64>() < engaged)
    })
}
