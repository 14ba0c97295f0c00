//! What the judge expects before every decision, from features and earlier states only.
//!
//! What one more step in a state is worth later, averaged over the H decisions of a programme in which everybody is called as often as
//! anybody (rate c), is
//!
//! ```text
//! v(s′) = 1/H Σ_t γ^(t+1) W_{t+1}(s′),   W_t = R + γ P̄ W_{t+1},   P̄ = (1 − c) P(·, 0) + c P(·, 1)
//! ```
//!
//! with W_H = R where the state after the last call counts, else 0. With two states v(1) − v(0) is the multiplier m of an engaged
//! person. A call changes what a person is worth by Σ P(s, 1, s′) v(s′) − Σ P(s, 0, s′) v(s′).

use super::{Judge, NODES, prior, shares};
use crate::instance::{Instance, NO_ACTION, UNSEEN};
use crate::interrupt;
use crate::planning::Ending;
use ndarray::Array1;
use rayon::prelude::*;

/// The programme that a call is judged for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Outlook {
    /// H, its decisions
    pub horizon: usize,
    /// what counts after the last of them
    pub ending: Ending,
    /// calls per person and decision
    pub rate: f64,
}

/// What was expected of one person at one decision, and what came.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Foresight {
    /// j·H + t
    pub decision: u32,
    /// the state before it
    pub state: u16,
    /// the state after it, or unseen
    pub next: u16,
    /// 0, 1 or none
    pub action: u8,
    /// what the person is worth, left alone and called
    pub worth: [f64; 2],
    /// the next reward, left alone and called
    pub reward: [f64; 2],
    /// what the next state is worth, and its reward; NaN where it was not seen
    pub came: [f64; 2],
}

impl Judge {
    /// Decisions of each person in a state that was seen, in the order of trajectories and steps: by person. Decisions at which a person
    /// was not available are left out; the states after them are used like all others.
    pub(crate) fn foresee(&self, instance: &Instance, outlook: Outlook) -> Vec<Vec<Foresight>> {
        let along = self.along(instance);
        (0..instance.arms())
            .into_par_iter()
            .map(|i| {
                if i % 1024 == 0 {
                    interrupt::check();
                }
                self.foresee_one(instance, outlook, i, along.each_ref().map(|along| along[i]))
            })
            .collect()
    }

    fn foresee_one(
        &self,
        instance: &Instance,
        outlook: Outlook,
        i: usize,
        along: [f64; 3],
    ) -> Vec<Foresight> {
        let (log, m) = (instance.trajectories(), self.place.states);
        let (state, action) = (log.state(), log.action());
        let (trajectories, steps) = (log.trajectories(), log.steps());
        let moves = self.moves_of(along);
        let worth = self.worth(instance, outlook, &moves);
        let reward = instance.reward().view();
        let mut weight = prior();
        let mut found = Vec::with_capacity(trajectories * (steps - 1));
        for j in 0..trajectories {
            let mut is_begun = false;
            for t in 0..steps {
                let now = state[[j, t, i]];
                if now == UNSEEN {
                    continue;
                }
                let s = usize::from(now);
                if !is_begun {
                    let first = self.firsts_of(along);
                    weigh(&mut weight, |k| first[k * m + s]);
                    is_begun = true;
                }
                if t + 1 == steps {
                    break;
                }
                let next = state[[j, t + 1, i]];
                let at = |k: usize, a: usize, next: usize| moves[((k * m + s) * 2 + a) * m + next];
                if action[[j, t, i]] != NO_ACTION && log.is_available([j, t, i]) {
                    let mean = |of: &dyn Fn(usize) -> f64| -> f64 {
                        weight.iter().enumerate().map(|(k, w)| w * of(k)).sum()
                    };
                    let value: Vec<f64> = (0..m).map(|x| mean(&|k| worth[k * m + x])).collect();
                    let (mut of_worth, mut of_reward) = ([0.0; 2], [0.0; 2]);
                    for a in 0..2 {
                        for x in 0..m {
                            let p = mean(&|k| at(k, a, x));
                            of_worth[a] += p * value[x];
                            of_reward[a] += p * reward[[x, 0]];
                        }
                    }
                    let came = match next {
                        UNSEEN => [f64::NAN; 2],
                        x => [value[usize::from(x)], reward[[usize::from(x), 0]]],
                    };
                    found.push(Foresight {
                        decision: (j * (steps - 1) + t) as u32,
                        state: now,
                        next,
                        action: action[[j, t, i]],
                        worth: of_worth,
                        reward: of_reward,
                        came,
                    });
                }
                if next != UNSEEN {
                    // whoever was called counts as left alone: dealing calls anew leaves the judge as it is
                    weigh(&mut weight, |k| at(k, 0, usize::from(next)));
                }
            }
        }
        found
    }

    /// P(s, a, s′) at every node, `[9,M,2,M]`.
    pub(super) fn moves_of(&self, along: [f64; 3]) -> Vec<f64> {
        let (place, m) = (self.place, self.place.states);
        let mut moves = vec![0.0; NODES.len() * m * 2 * m];
        for ((k, s, a), shared) in moves.chunks_exact_mut(m).enumerate().map(|(at, row)| {
            let (k, rest) = (at / (2 * m), at % (2 * m));
            ((k, rest / 2, rest % 2), row)
        }) {
            let call = if a == 1 { self.theta[place.delta(s)] } else { 0.0 };
            let eta = call + along[0] + self.scale[s] * along[1] + self.theta[place.sigma()] * NODES[k];
            shares(place, &self.theta, &self.scale, s, eta, shared);
        }
        moves
    }

    /// P(first state) at every node, `[9,M]`.
    pub(super) fn firsts_of(&self, along: [f64; 3]) -> Vec<f64> {
        let (place, m) = (self.place, self.place.states);
        let mut firsts = vec![0.0; NODES.len() * m];
        for (u, shared) in NODES.into_iter().zip(firsts.chunks_exact_mut(m)) {
            let eta = along[2] + self.theta[place.sigma_first()] * u;
            shares(place, &self.theta, &self.scale, place.first(), eta, shared);
        }
        firsts
    }

    /// v(s′) at every node, `[9,M]`.
    fn worth(&self, instance: &Instance, outlook: Outlook, moves: &[f64]) -> Vec<f64> {
        let Outlook { horizon, ending, rate } = outlook;
        let (m, discount, reward) = (self.place.states, instance.discount(), instance.reward().view());
        let mixed: Vec<f64> = (0..m).map(|s| (1.0 - rate) * reward[[s, 0]] + rate * reward[[s, 1]]).collect();
        let mut all = Vec::with_capacity(NODES.len() * m);
        for node in moves.chunks_exact(2 * m * m) {
            let mut later = match ending {
                Ending::State => Array1::from(mixed.clone()),
                Ending::Nothing => Array1::zeros(m),
            };
            let mut mean = Array1::<f64>::zeros(m);
            for t in (0..horizon).rev() {
                mean.scaled_add(discount.powi(t as i32 + 1) / horizon as f64, &later);
                let mut now = Array1::zeros(m);
                for s in 0..m {
                    let row = |a: usize| &node[(s * 2 + a) * m..][..m];
                    let ahead: f64 =
                        (0..m).map(|x| ((1.0 - rate) * row(0)[x] + rate * row(1)[x]) * later[x]).sum();
                    now[s] = mixed[s] + discount * ahead;
                }
                later = now;
            }
            all.extend(mean);
        }
        all
    }
}

/// Bayes: the weights times a likelihood, to sum 1.
pub(super) fn weigh(weight: &mut [f64; NODES.len()], likelihood: impl Fn(usize) -> f64) {
    let mut sum = 0.0;
    for (k, w) in weight.iter_mut().enumerate() {
        *w *= likelihood(k).max(f64::MIN_POSITIVE);
        sum += *w;
    }
    weight.iter_mut().for_each(|w| *w /= sum);
}
