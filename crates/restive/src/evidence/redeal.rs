//! Permutation test: the size of a slope that chance makes, by redrawing the calls.
//!
//! If calls had no effect, outcomes would not depend on the people called, so a log with its calls assigned to others by the
//! same design is as good a log. p = (1 + draws with a statistic at least as large)/(1 + draws). Under this hypothesis p is exact.
//! Because the statistic is a slope over its standard error, p is also right for many people if all calls have the same effect.
//!
//! | design | what changes hands |
//! |---|---|
//! | uniform | the calls of each decision, within the group |
//! | rota | whole schedules, within the group; nothing where records are missing, or some decisions were planned otherwise |
//! | logged, and every decision with recorded chances | the calls of each decision among people of the same propensity; where few have it, everybody draws his own |
//! | estimated | nothing: propensities that were fitted to the calls cannot assign them again |
//!
//! If calls were assigned to whole clusters, they are exchanged between clusters instead ([`Exchange`]).

use super::design::{Deal, Design};
use super::exchange::Exchange;
use super::ranking::Ranking;
use super::rows::{Evidence, GroupRows};
use crate::interrupt;
use crate::random::{Random, stream};
use rand::RngExt;
use rayon::prelude::*;

/// The stream of deals.
const DEALS: u64 = 0x6465_616c;
/// People of one propensity whose calls are dealt among themselves.
pub(super) const ENOUGH: usize = 20;
/// Propensities closer than this are the same.
pub(super) const SAME: f64 = 1e-9;

impl Evidence {
    /// p of a ranking by `deals` deals of the calls; none where the design says of no other deal that it was as likely.
    pub fn redealt(&self, ranking: &Ranking, deals: usize) -> Option<f64> {
        let is_possible = match self.settings.design {
            Design::Uniform | Design::Logged => true,
            Design::Rota => !self.has_recorded() && self.groups.iter().all(|group| group.deal.is_complete),
            Design::Estimated => false,
        };
        is_possible.then(|| {
            let found = self.statistics(ranking, deals);
            let as_large = found.iter().filter(|statistic| **statistic >= ranking.statistic).count();
            (1 + as_large) as f64 / (1 + deals) as f64
        })
    }

    /// The statistic under each deal.
    fn statistics(&self, ranking: &Ranking, deals: usize) -> Vec<f64> {
        let exchanges = self.exchanges();
        let one = |k: usize| {
            interrupt::check();
            let mut random = stream(self.settings.seed, &[DEALS, k as u64]);
            let again = |(g, group): (usize, &GroupRows)| {
                let exchange = exchanges.as_ref().map(|exchanges| &exchanges[g]);
                group.deal.again(self.settings.design, exchange, &mut random)
            };
            let dealt: Vec<Deal> = self.groups.iter().enumerate().map(again).collect();
            let scores = self.score(&dealt.iter().collect::<Vec<_>>());
            self.slope(&ranking.ranks.z, &scores.worth, &scores.is_scored, false).statistic()
        };
        (0..deals).into_par_iter().map(one).collect()
    }
}

impl Deal {
    /// Deal with the calls redrawn by the design; between whole clusters if there is an exchange.
    fn again(&self, design: Design, exchange: Option<&Exchange>, random: &mut Random) -> Self {
        let mut dealt = self.clone();
        if let Some(exchange) = exchange {
            exchange.apply(&mut dealt, random);
            return dealt;
        }
        let (decisions, people) = self.is_called.dim();
        match design {
            Design::Rota => {
                let mut order: Vec<usize> = (0..people).collect();
                shuffle(&mut order, random);
                for d in 0..decisions {
                    for (i, from) in order.iter().enumerate() {
                        dealt.is_called[[d, i]] = self.is_called[[d, *from]];
                        dealt.is_eligible[[d, i]] = self.is_eligible[[d, *from]];
                    }
                }
            }
            Design::Uniform | Design::Logged | Design::Estimated => {
                for d in 0..decisions {
                    let mut whom: Vec<usize> = (0..people).filter(|i| self.is_eligible[[d, *i]]).collect();
                    let given = match &self.given {
                        Some(given) if design != Design::Uniform || self.is_recorded[d] => given,
                        _ => {
                            dealt.among(d, &whom, random);
                            continue;
                        }
                    };
                    whom.sort_by(|a, b| given[[d, *a]].total_cmp(&given[[d, *b]]));
                    // 1 − 0.8 is not 0.2 to the last digit
                    for same in whom.chunk_by(|a, b| given[[d, *b]] - given[[d, *a]] < SAME) {
                        if same.len() >= ENOUGH {
                            dealt.among(d, same, random);
                        } else {
                            for i in same {
                                dealt.is_called[[d, *i]] = random.random::<f64>() < given[[d, *i]];
                            }
                        }
                    }
                }
            }
        }
        dealt
    }

    /// Propensity by which a call is redrawn; NaN if it is a share, which every draw keeps.
    pub(super) fn chance_of_redeal(&self, design: Design, at: [usize; 2]) -> f64 {
        match &self.given {
            Some(given) if design != Design::Uniform || self.is_recorded[at[0]] => given[at],
            _ => f64::NAN,
        }
    }

    /// The calls of a decision change hands among some people.
    fn among(&mut self, d: usize, whom: &[usize], random: &mut Random) {
        let mut order: Vec<usize> = whom.to_vec();
        shuffle(&mut order, random);
        let calls: Vec<bool> = whom.iter().map(|i| self.is_called[[d, *i]]).collect();
        order.iter().zip(calls).for_each(|(i, call)| self.is_called[[d, *i]] = call);
    }
}

pub(super) fn shuffle(order: &mut [usize], random: &mut Random) {
    for i in (1..order.len()).rev() {
        order.swap(i, random.random_range(0..=i));
    }
}
