//! How likely the logged actions were: the propensities that importance sampling divides by.
//!
//! Three sources, and the result says which ([`Behaviour`]):
//!
//! - **logged**: the log holds the probability of every action; a log with the probabilities of some actions only is refused.
//! - **uniform**: K of N arms were pulled at random, so a pull had probability K/N. An assumption that the caller makes. A
//!   deterministic design such as round robin counts as uniform only if the caller requests it. Where a step of a whole instance
//!   has more pulls than today's K, the budget was larger then: as many of N at random as were pulled ([`Propensity::of_instance`]).
//! - **estimated**: at each step, the share of arms that were pulled, pooled over arms and trajectories. It is right where
//!   the choice did not look at the arm or its state; nothing in the data can show that it did not.
//!
//! **Availability.** An arm that was not available had no choice: its propensity is 1. K of N is then K of the available arms of the step, and
//! shares are computed over the available arms.
//!
//! A logged action whose propensity is 0 is refused: data and assumption contradict each other. Nothing is clipped.
//! **Overlap** is the other half: a target that would act where the behaviour never did cannot be judged from the log.
//! Behaviour gave the action that was *not* logged the probability 1 − propensity; where that is 0 and the target gives
//! it more, the decision is without overlap ([`without_overlap`] counts them). A log of round robin whose propensities say 1
//! is without overlap almost everywhere, which is the truth about it.
//!
//! ```
//! use restive::data::domain::Domain;
//! use restive::evaluation::{Behaviour, Propensity};
//!
//! let domain = Domain { instances: 1, arms: 10, budget: 2, trajectories: 5, ..Domain::two_state() };
//! let log = domain.generate(1)?[0].trajectories().clone();
//! let [uniform, logged] = [Behaviour::Uniform, Behaviour::Logged].map(|source| Propensity::new(&log, source, 2));
//! assert_eq!(uniform?.values, logged?.values);
//! assert!(Propensity::new(&log, Behaviour::Uniform, 0).is_err()); // yet there were pulls
//! # Ok::<(), restive::Error>(())
//! ```

use crate::error::{Error, Result};
use crate::instance::{Instance, NO_ACTION, Trajectories, UNSEEN};
use ndarray::{Array2, Array3, ArrayView3};

/// Where propensities come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// from the log
    Logged,
    /// K of N arms at random, by assumption
    Uniform,
    /// the share of arms pulled at each step
    Estimated,
}

impl Behaviour {
    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Behaviour::Logged => "logged",
            Behaviour::Uniform => "uniform",
            Behaviour::Estimated => "estimated",
        }
    }
}

/// The probability of every logged action, and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Propensity {
    /// `[J,H,N]`, H decisions; above 0, and 1 where there is no action
    pub values: Array3<f64>,
    /// the source
    pub behaviour: Behaviour,
}

impl Propensity {
    /// The propensities of the logged actions, K (`budget`) being the pulls per step of a uniform behaviour; an error where
    /// there is no log of them or a logged action has none.
    pub fn new(trajectories: &Trajectories, behaviour: Behaviour, budget: usize) -> Result<Self> {
        Self::with_budgets(trajectories, behaviour, |_, _| budget)
    }

    /// The same for an instance with all arms that shared its budget. Where a step has more pulls than the budget of today, a
    /// uniform behaviour is taken to have had as many as were pulled. A *part* of an instance may have more pulls than its share
    /// of the budget by chance: its propensities are those of the whole.
    pub fn of_instance(instance: &Instance, behaviour: Behaviour) -> Result<Self> {
        let pulls = instance.trajectories().pulls();
        Self::with_budgets(instance.trajectories(), behaviour, |j, t| instance.budget().max(pulls[[j, t]]))
    }

    /// `budget` says how many arms a uniform behaviour pulled, by trajectory and step.
    fn with_budgets(
        trajectories: &Trajectories,
        behaviour: Behaviour,
        budget: impl Fn(usize, usize) -> usize,
    ) -> Result<Self> {
        let (j, steps, n) = trajectories.state().dim();
        let h = steps - 1;
        let action = trajectories.action();
        let share = |pull: &dyn Fn(usize, usize) -> f64| {
            Array3::from_shape_fn((j, h, n), |(j, t, i)| match action[[j, t, i]] {
                _ if !trajectories.is_available([j, t, i]) => 1.0,
                NO_ACTION => 1.0,
                1 => pull(j, t),
                _ => 1.0 - pull(j, t),
            })
        };
        let values = match behaviour {
            Behaviour::Logged => match trajectories.propensity() {
                Some(logged) => {
                    let (known, actions) = trajectories.known_propensities();
                    if known < actions {
                        return Err(Error::Unsuitable {
                            what: "propensity",
                            found: format!("{} of {actions} actions of which it is not known", actions - known),
                            expected: "that of every action, or another behaviour (uniform, estimated) that needs none".into(),
                        });
                    }
                    logged.slice(ndarray::s![.., ..h, ..]).to_owned()
                }
                None => {
                    return Err(Error::Unsuitable {
                        what: "propensity",
                        found: "none".into(),
                        expected: format!("[{j}, {steps}, {n}], logged with every action"),
                    });
                }
            },
            Behaviour::Uniform => {
                let available = |j: usize, t: usize| {
                    trajectories.available().map_or(n, |available| {
                        available.slice(ndarray::s![j, t, ..]).iter().filter(|available| **available).count()
                    })
                };
                let shares = Array2::from_shape_fn((j, h), |(j, t)| {
                    let n = available(j, t);
                    budget(j, t).min(n) as f64 / n as f64
                });
                share(&|j, t| shares[[j, t]])
            }
            Behaviour::Estimated => {
                let shares: Vec<f64> = (0..h).map(|t| share_of_pulls(trajectories, t)).collect();
                share(&|_, t| shares[t])
            }
        };
        for ((j, t, i), &found) in values.indexed_iter() {
            if !(found > 0.0) {
                return Err(Error::Step {
                    what: "propensity",
                    trajectory: j,
                    step: t,
                    arm: i,
                    expected: format!(
                        "above 0 for an action that was taken ({} behaviour)",
                        behaviour.name()
                    ),
                    found: found.to_string(),
                });
            }
        }
        Ok(Self { values, behaviour })
    }

    /// The propensities, or why they show no other policy. What the log itself contradicts is an error: a logged
    /// propensity of 0 for an action that was taken.
    pub fn or_hindrance(
        trajectories: &Trajectories,
        behaviour: Behaviour,
        budget: usize,
    ) -> Result<std::result::Result<Self, Hindrance>> {
        let propensity = match Self::new(trajectories, behaviour, budget) {
            Err(_) if behaviour == Behaviour::Uniform => return Ok(Err(Hindrance::Impossible)),
            other => other?,
        };
        let decided = trajectories.action();
        let decided = decided.slice(ndarray::s![.., ..trajectories.steps() - 1, ..]);
        let is_certain = decided.iter().zip(&propensity.values).all(|(a, p)| *a == NO_ACTION || *p >= 1.0);
        Ok(if is_certain { Err(Hindrance::Certain) } else { Ok(propensity) })
    }
}

/// Why a log cannot show what another policy would have brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hindrance {
    /// an action was taken that the assumed behaviour never takes: K of N is nobody or everybody, and the log is not
    Impossible,
    /// every action was certain: no other action was ever possible
    Certain,
}

impl Hindrance {
    /// What it is, as a clause.
    pub const fn words(self) -> &'static str {
        match self {
            Hindrance::Impossible => {
                "actions were taken that K of N arms at random cannot be (K is 0 or N, and the log has both pulled and left alone)"
            }
            Hindrance::Certain => {
                "every logged action was certain (a propensity of 1, as where K is 0 or N), which shows no other policy"
            }
        }
    }
}

/// The share of recorded actions of available arms at a step that are pulls; 0 if no action is recorded.
fn share_of_pulls(trajectories: &Trajectories, t: usize) -> f64 {
    let (mut pulls, mut actions) = (0usize, 0usize);
    for ((j, i), &a) in trajectories.action().index_axis(ndarray::Axis(1), t).indexed_iter() {
        if trajectories.is_available([j, t, i]) {
            pulls += usize::from(a == 1);
            actions += usize::from(a != NO_ACTION);
        }
    }
    pulls as f64 / actions.max(1) as f64
}

/// How many logged decisions the target (the log-odds of its pulls, `[J,H,N]`) would take otherwise with some probability, while
/// the behaviour could not have.
pub fn without_overlap(
    trajectories: &Trajectories,
    propensity: &Propensity,
    log_odds: ArrayView3<'_, f64>,
) -> usize {
    assert_eq!(log_odds.shape(), propensity.values.shape(), "log_odds: [J,H,N]");
    let action = trajectories.action();
    let missed = log_odds.indexed_iter().filter(|((j, t, i), z)| {
        let might_differ = match action[[*j, *t, *i]] {
            _ if !trajectories.is_available([*j, *t, *i]) => return false,
            NO_ACTION => return false,
            1 => **z < f64::INFINITY,
            _ => **z > f64::NEG_INFINITY,
        };
        might_differ && propensity.values[[*j, *t, *i]] >= 1.0
    });
    missed.count()
}

/// How the distribution of states moves over the steps of the log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// the largest difference between a state's share at a step and its share over all steps
    pub largest: f64,
    /// the chi-square statistic of the table steps × states against equal shares
    pub chi_square: f64,
    /// its degrees of freedom
    pub freedom: usize,
}

impl Drift {
    /// More than three standard deviations above what a chi-square variable is on average.
    ///
    /// The states of one arm at successive steps resemble each other, which makes the statistic smaller than independent
    /// records would: a warning is a warning, and silence is not proof.
    pub fn is_visible(&self) -> bool {
        self.chi_square > self.freedom as f64 + 3.0 * (2.0 * self.freedom as f64).sqrt()
    }
}

/// Compares the states of every decision step with those of all: the segmented estimator assumes that they do not drift.
pub fn drift(trajectories: &Trajectories) -> Drift {
    let (h, m) = (trajectories.steps() - 1, trajectories.states());
    let mut table = Array2::<f64>::zeros((h, m));
    for ((_, t, _), &s) in trajectories.state().indexed_iter() {
        if t < h && s != UNSEEN {
            table[[t, usize::from(s)]] += 1.0;
        }
    }
    let total = table.sum().max(1.0);
    let share: Vec<f64> = table.columns().into_iter().map(|column| column.sum() / total).collect();
    let (mut largest, mut chi_square) = (0.0f64, 0.0);
    let mut steps_seen = 0;
    for step in table.rows() {
        let seen = step.sum();
        if seen == 0.0 {
            continue;
        }
        steps_seen += 1;
        for (count, share) in step.iter().zip(&share).filter(|(_, share)| **share > 0.0) {
            largest = largest.max((count / seen - share).abs());
            chi_square += (count - seen * share).powi(2) / (seen * share);
        }
    }
    let kinds = share.iter().filter(|share| **share > 0.0).count();
    let freedom = usize::saturating_sub(steps_seen, 1) * kinds.saturating_sub(1);
    Drift { largest, chi_square, freedom }
}
