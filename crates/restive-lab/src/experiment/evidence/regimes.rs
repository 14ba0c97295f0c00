//! The regimes of `evidence`: programmes, how their logs came about, and what is said of the design.

use super::logs::{Calls, Logging};
use crate::Regime;
use crate::experiment::Asked;
use crate::problem::Problem;
use restive::Instance;
use restive::data::domain::Domain;
use restive::data::maternal::Maternal;
use restive::evidence::Design;

/// Log-odds of engaging that everybody loses from week to week.
const DRIFT: f64 = -0.15;
/// Of states that are lost, and of people who join later.
const MISSING: f64 = 0.2;
/// Instances of a domain to train on, to validate and to judge.
const DOMAIN_PARTS: [usize; 3] = [7, 1, 12];
/// Worlds of the runs that are asked for: where each has several logs, where only errors by size are asked for, where each has one log.
const WORLDS: [f64; 3] = [0.6, 0.25, 1.0];
/// Logs of a world, and of a quick look.
const LOGS: [usize; 2] = [10, 4];

/// A regime.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    pub(super) regime: Regime,
    pub(super) problem: Problem,
    pub(super) logging: Logging,
    pub(super) design: Design,
    /// fresh logs of the judged people of a world; none: everybody is judged once, by a model that never saw him
    pub(super) logs: Option<usize>,
    /// worlds of the runs that are asked for
    share: f64,
    /// how long a world takes beside others
    pub(super) weight: u32,
}

/// The regimes of a quick look.
const QUICK: [Regime; 3] = [Regime::Lot, Regime::NoEffect, Regime::FiveStateLot];

/// A group of a quick look, in the programme.
const QUICK_PEOPLE: usize = 213;

/// The regimes of the domains that were asked for; a few of them, and fewer people, for a quick look.
pub(super) fn setups(asked: &Asked) -> Vec<Setup> {
    let is_quick = asked.settings.is_quick;
    let sized = |problem: &Problem| match problem {
        Problem::Maternal(_) if is_quick && asked.settings.arms.is_none() => {
            problem.clone().with_arms(QUICK_PEOPLE)
        }
        _ => problem.clone(),
    };
    let mut all: Vec<Setup> = asked.problems.iter().map(sized).flat_map(|sized| setups_of(&sized)).collect();
    all.retain(|setup| asked.is_regime_asked(setup.regime));
    if is_quick {
        all.retain(|setup| QUICK.contains(&setup.regime));
        all.iter_mut().for_each(|setup| setup.logs = setup.logs.map(|_| LOGS[1]));
    }
    all
}

fn setups_of(problem: &Problem) -> Vec<Setup> {
    let plain = Logging { calls: Calls::ByLot, drift: 0.0, lost: 0.0, late: 0.0, is_settled: true };
    let setup = |regime, problem, logging: Logging, weight| Setup {
        regime,
        problem,
        design: match logging.calls {
            Calls::InTurn => Design::Rota,
            Calls::ByLot => Design::Uniform,
            Calls::Chosen => Design::Estimated,
        },
        logging,
        logs: Some(LOGS[0]),
        share: WORLDS[0],
        weight,
    };
    let whole = match problem {
        Problem::Domain(name, domain) => {
            let regime = match domain.states {
                _ if domain.observation.chain().is_some() => return Vec::new(),
                2 => Regime::TwoStateLot,
                _ => Regime::FiveStateLot,
            };
            let domain = Domain { trajectories: 1, instances: DOMAIN_PARTS.iter().sum(), ..domain.clone() };
            let anywhere = Logging { is_settled: false, ..plain };
            return vec![setup(regime, Problem::Domain(*name, domain), anywhere, 5)];
        }
        Problem::Maternal(whole) => whole,
    };
    let in_turn = Logging { calls: Calls::InTurn, ..plain };
    let sized = |times: usize, of: usize| Maternal {
        people: (whole.people * times).div_ceil(of),
        budget: (whole.budget * times).div_ceil(of),
        ..whole.clone()
    };
    let of = |regime, maternal: Maternal, logging, weight| {
        setup(regime, Problem::Maternal(maternal), logging, weight)
    };
    let by_size = |setup: Setup| Setup { share: WORLDS[1], ..setup };
    let in_folds = |setup: Setup| Setup { logs: None, share: WORLDS[2], ..setup };
    let without_effect = Maternal { effect: 0.0, effect_spread: 0.0, ..whole.clone() };
    let partly = Logging { lost: MISSING, late: MISSING, ..plain };
    vec![
        of(Regime::Rota, whole.clone(), in_turn, 20),
        of(Regime::Lot, whole.clone(), plain, 20),
        of(Regime::Drift, whole.clone(), Logging { drift: DRIFT, ..in_turn }, 20),
        of(Regime::Missing, whole.clone(), partly, 20),
        of(Regime::Chosen, whole.clone(), Logging { calls: Calls::Chosen, ..plain }, 20),
        of(Regime::NoEffect, without_effect, plain, 20),
        by_size(of(Regime::LotThird, sized(1, 3), plain, 7)),
        by_size(of(Regime::LotTriple, sized(3, 1), plain, 60)),
        in_folds(of(Regime::RotaFolds, whole.clone(), in_turn, 70)),
        in_folds(of(Regime::LotFolds, whole.clone(), plain, 70)),
    ]
}

impl Setup {
    /// Of so many runs.
    pub(super) fn worlds(&self, runs: usize) -> usize {
        (self.share * runs as f64).ceil() as usize
    }

    /// The instances of a seed: to train on, to validate, to judge.
    pub(super) fn parts(&self, seed: u64) -> restive::Result<[Vec<Instance>; 3]> {
        let Problem::Domain(_, domain) = &self.problem else { return self.problem.parts(seed) };
        let mut all = domain.generate(seed)?.into_iter();
        Ok(DOMAIN_PARTS.map(|count| all.by_ref().take(count).collect()))
    }

    pub(super) fn horizon(&self) -> usize {
        self.problem.horizon()
    }

    /// Whether the oracle ranks anybody: not where calls have no effect.
    pub(super) fn has_effect(&self) -> bool {
        self.regime != Regime::NoEffect
    }
}
