//! Synthetic domains, as in the published experiments.
//!
//! **Transitions.** For every arm and state the passive and the active row are uniform on the simplex, drawn again until the
//! expected reward of the next state is larger by a margin when the arm is pulled.
//!
//! **Features.** A fixed random network turns the flattened transitions of an arm (2M² numbers, in the order state, action,
//! next state) into features: two hidden layers of 64 ReLU units and a linear layer of 16, Glorot-uniform weights and no
//! biases. One network is shared by all instances of a seed. Noise may be added, and features withheld.
//!
//! **Trajectories.** Every arm starts in a uniform state; at each step K of the N arms are pulled at random. Where states are
//! seen at pulls only ([`Domain::collapsing`]), arms start at a uniform [label](crate::belief), what is logged are labels, and
//! the logged reward is that expected under the true belief. In an infinite chain they start early enough not to reach the
//! last label that is kept: uniform over all but the last H of each state.

use crate::belief::{beliefs, label};
use crate::error::{Error, Result};
use crate::instance::{
    Chain, Instance, Layout, Logged, Observation, Parts, Reward, RewardView, Trajectories, Transition,
    check_discount,
};
use crate::interrupt;
use crate::policy::Policy;
use crate::random::{Random, stream};
use crate::simulation::{Initial, Setting, trajectories};
use ndarray::{Array2, Array3, Array4, ArrayView4};
use rand::RngExt;
use rayon::prelude::*;

/// The streams of a domain: no other use of a seed begins with it.
const DOMAIN: u64 = 0x646f_6d61_696e;
/// Units of each hidden layer of the network that makes the features.
const HIDDEN: usize = 64;
/// Features before any are withheld.
pub const FEATURES: usize = 16;

/// What to generate; [`Domain::two_state`] and [`Domain::five_state`] are the published choices.
#[derive(Debug, Clone, PartialEq)]
pub struct Domain {
    /// M
    pub states: usize,
    /// how many instances
    pub instances: usize,
    /// N
    pub arms: usize,
    /// K
    pub budget: usize,
    /// decisions per trajectory
    pub horizon: usize,
    /// J, trajectories per instance
    pub trajectories: usize,
    /// by how much a pull must raise the expected reward of the next state
    pub margin: f64,
    /// standard deviation of the noise added to every feature
    pub feature_noise: f64,
    /// how many of the 16 features are kept
    pub features_kept: usize,
    /// γ
    pub discount: f64,
    /// when states are seen
    pub observation: Observation,
}

impl Domain {
    /// Two states, 10 instances of 100 arms, budget 20, 9 decisions, 100 trajectories.
    pub fn two_state() -> Self {
        Self {
            states: 2,
            instances: 10,
            arms: 100,
            budget: 20,
            horizon: 9,
            trajectories: 100,
            margin: 0.2,
            feature_noise: 0.0,
            features_kept: FEATURES,
            discount: 0.99,
            observation: Observation::Full,
        }
    }

    /// The same with five states.
    pub fn five_state() -> Self {
        Self { states: 5, ..Self::two_state() }
    }

    /// Two states that are seen at pulls only, in chains of 10 labels.
    pub fn collapsing() -> Self {
        Self { observation: Observation::Collapsing(Chain::Finite(10)), ..Self::two_state() }
    }

    /// Checks that the numbers make a domain.
    fn check(&self) -> Result<()> {
        let range = |what, expected, found| Err(Error::Range { what, expected, found });
        let positive = [("states", self.states), ("instances", self.instances), ("arms", self.arms)];
        let more = [
            ("horizon", self.horizon),
            ("trajectories", self.trajectories),
            ("features kept", self.features_kept),
        ];
        for (what, found) in positive.into_iter().chain(more) {
            if found == 0 {
                return range(what, "at least 1", 0.0);
            }
        }
        if self.states > 64 {
            return range("states", "at most 64 in a synthetic domain", self.states as f64);
        }
        let labels = self.observation.labels(self.states);
        if labels == 0 || labels > 4096 {
            return range("labels of all chains", "at least 1 and at most 4096", labels as f64);
        }
        if let Observation::Collapsing(Chain::Infinite { beliefs }) = self.observation
            && beliefs <= self.horizon
        {
            return range("labels of an infinite chain", "more than the horizon", beliefs as f64);
        }
        if self.budget > self.arms {
            return range("budget", "at most the number of arms", self.budget as f64);
        }
        if self.features_kept > FEATURES {
            return range("features kept", "at most 16", self.features_kept as f64);
        }
        // two rows drawn at random differ by more than this too rarely to wait for
        if !(-1.0..=0.6).contains(&self.margin) {
            return range("margin", "a number from -1 to 0.6", self.margin);
        }
        if !(self.feature_noise >= 0.0 && self.feature_noise.is_finite()) {
            return range("feature noise", "a number of at least 0", self.feature_noise);
        }
        check_discount(self.discount)
    }

    /// The instances of a seed: with true transitions, features `[N,F]` and trajectories.
    ///
    /// ```
    /// use restive::data::domain::Domain;
    ///
    /// let domain = Domain { instances: 2, arms: 5, budget: 1, trajectories: 3, ..Domain::two_state() };
    /// let instances = domain.generate(7)?;
    /// assert_eq!(instances[1].features().shape(), [5, 16]);
    /// assert_eq!(instances[1].trajectories().state().shape(), [3, 10, 5]);
    /// # Ok::<(), restive::Error>(())
    /// ```
    pub fn generate(&self, seed: u64) -> Result<Vec<Instance>> {
        self.check()?;
        let network = Features::new(2 * self.states * self.states, &mut stream(seed, &[DOMAIN, 0]));
        (0..self.instances).into_par_iter().map(|k| self.instance(&network, seed, k as u64)).collect()
    }

    fn instance(&self, network: &Features, seed: u64, k: u64) -> Result<Instance> {
        let reward = if self.states == 1 { Reward::of_state(&[0.0])? } else { Reward::linear(self.states) };
        let truth =
            Transition::new(self.transitions(&reward, &mut stream(seed, &[DOMAIN, 1, k])), Layout::Nsas)?;
        let mut features = network.apply(truth.view());
        let mut noise = stream(seed, &[DOMAIN, 2, k]);
        features.iter_mut().for_each(|x| *x += self.feature_noise * normal(&mut noise));
        let features = features.slice(ndarray::s![.., ..self.features_kept]).to_owned();
        let labelled = match self.observation {
            Observation::Full => None,
            Observation::Collapsing(chain) => {
                let belief = beliefs(truth.view(), chain.beliefs()).belief;
                let own = belief.reward(reward.view());
                Some((belief, own))
            }
        };
        let setting = Setting {
            motion: labelled.as_ref().map_or(truth.view().into(), |(belief, _)| belief.into()),
            reward: labelled.as_ref().map_or((&reward).into(), |(_, own)| RewardView::by_arm(own.view())),
            discount: self.discount,
            budget: self.budget,
            horizon: self.horizon,
        };
        let rollout_seed = stream(seed, &[DOMAIN, 3, k]).random();
        let initial = self.initial(&mut stream(seed, &[DOMAIN, 4, k]));
        let mut log = trajectories(&setting, &initial, &Policy::Random, self.trajectories, rollout_seed);
        if labelled.is_some() {
            log = with_reward(&log, setting.reward)?;
        }
        Instance::new(Parts {
            features,
            trajectories: log,
            reward,
            budget: self.budget,
            discount: self.discount,
            truth: Some(truth),
            observation: self.observation,
            clusters: None,
        })
    }

    /// Where the arms start, `[J,N]`.
    fn initial(&self, random: &mut Random) -> Initial {
        let Observation::Collapsing(Chain::Infinite { beliefs }) = self.observation else {
            return Initial::Uniform;
        };
        let mut draw = || {
            let (s, h) = (random.random_range(..self.states), random.random_range(..beliefs - self.horizon));
            label(s, h, beliefs) as u16
        };
        Initial::States(Array2::from_shape_simple_fn((self.trajectories, self.arms), &mut draw))
    }

    /// `[N,M,2,M]`
    fn transitions(&self, reward: &Reward, random: &mut Random) -> Array4<f64> {
        let m = self.states;
        let mut p = Array4::zeros((self.arms, m, 2, m));
        let expected =
            |row: &[f64]| -> f64 { row.iter().enumerate().map(|(s, p)| p * reward.view()[[s, 0]]).sum() };
        for i in 0..self.arms {
            interrupt::check();
            for s in 0..m {
                let (passive, active) = loop {
                    let (passive, active) = (simplex(m, random), simplex(m, random));
                    if m == 1 || expected(&active) > expected(&passive) + self.margin {
                        break (passive, active);
                    }
                };
                for next in 0..m {
                    p[[i, s, 0, next]] = passive[next];
                    p[[i, s, 1, next]] = active[next];
                }
            }
        }
        p
    }
}

/// The log with what was earned written down, because a table of rewards by state does not know labels.
fn with_reward(log: &Trajectories, reward: RewardView<'_>) -> Result<Trajectories> {
    let (state, action) = (log.state().to_owned(), log.action().to_owned());
    let earned = Array3::from_shape_fn(state.dim(), |at| {
        reward.at(at.2, usize::from(state[at]), usize::from(action[at] == 1))
    });
    let propensity = log.propensity().map(|p| p.to_owned());
    Trajectories::new(
        Logged { state, action, propensity, reward: Some(earned), available: None },
        log.states(),
    )
}

/// Uniform on the simplex: exponentials over their sum.
fn simplex(m: usize, random: &mut Random) -> Vec<f64> {
    let draws: Vec<f64> = (0..m).map(|_| -(1.0 - random.random::<f64>()).ln()).collect();
    let sum: f64 = draws.iter().sum();
    draws.iter().map(|x| x / sum).collect()
}

/// Standard normal, by the Box–Muller transform.
pub(super) fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

/// The fixed network: weights of three layers.
struct Features {
    layers: [Array2<f64>; 3],
}

impl Features {
    fn new(inputs: usize, random: &mut Random) -> Self {
        let mut glorot = |from: usize, to: usize| {
            let limit = (6.0 / (from + to) as f64).sqrt();
            Array2::from_shape_simple_fn((from, to), || limit * (2.0 * random.random::<f64>() - 1.0))
        };
        Self { layers: [glorot(inputs, HIDDEN), glorot(HIDDEN, HIDDEN), glorot(HIDDEN, FEATURES)] }
    }

    /// `[N,16]`
    fn apply(&self, transition: ArrayView4<'_, f64>) -> Array2<f64> {
        let n = transition.shape()[0];
        let flat = transition.to_shape((n, transition.len() / n)).expect("contiguous").to_owned();
        let relu = |x: Array2<f64>| x.mapv_into(|x| x.max(0.0));
        relu(relu(flat.dot(&self.layers[0])).dot(&self.layers[1])).dot(&self.layers[2])
    }
}
