//! Simulated copies of three published designs, with sizes and effects as published, and plain estimates of the same logs. No real data.
//!
//! | copy | design | effect |
//! |---|---|---|
//! | postcards | Gerber, Green and Larimer (2008), APSR 102:33, the arm *Neighbors* beside the control group: 119,998 households of 1.91 people on average, a sixth of them with a postcard, one decision | turnout .297 without a postcard, +.081 |
//! | heartsteps | the micro-randomised trial HeartSteps (Klasnja et al. 2019, Ann. Behav. Med. 53:573), of the size of `data_mimicHeartSteps` in the R package MRTAnalysis: 37 people, 210 decisions, available at about 80 % of them, suggestions with probability .6 | +.022 on half hours above the median of steps, as that data set has it |
//! | oralytics | the pilot of the micro-randomised trial Oralytics (Nahum-Shani et al. 2024, Contemp. Clin. Trials 139:107464): 9 people, 35 days of two decisions, probabilities from .2 to .8 by an algorithm that learns | +.047 on brushing above the median, as its public data have it |
//!
//! Plain estimates: difference in means by household, and weighted and centred least squares.

use super::draw;
use super::people::{Declarations, Log, Person, live, study};
use super::wcls::{Decision, Estimate, difference_in_means, weighted_centred};
use ndarray::Array2;
use rand::RngExt;
use restive::data::features::Column;
use restive::instance::NO_ACTION;
use restive::random::{Random, stream};
use restive_tables::{Study, StudyBehaviour};

const STREAM: u64 = 0x7075_626c;
const DISCOUNT: f64 = 0.9;
const HORIZON: usize = 10;

/// Published design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    /// Postcards before an election, by household.
    Postcards,
    /// Suggestions to walk, at available decisions.
    HeartSteps,
    /// Prompts to brush teeth, with probabilities by an algorithm.
    Oralytics,
}

impl Published {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        ["postcards", "heartsteps", "oralytics"][self as usize]
    }

    /// Effect of a pull on the next reward.
    pub fn effect(self) -> f64 {
        [0.081, 0.022, 0.047][self as usize]
    }

    /// Copy of a seed; of the postcards with one household in `one_in`.
    pub fn simulate(self, one_in: usize, seed: u64) -> Simulated {
        let mut random = stream(seed, &[STREAM, self as u64]);
        match self {
            Self::Postcards => postcards(HOUSEHOLDS / one_in, &mut random),
            Self::HeartSteps => heartsteps(&mut random),
            Self::Oralytics => oralytics(&mut random),
        }
    }
}

/// Copy of a published design.
pub struct Simulated {
    /// Its study.
    pub study: Study,
    /// Plain estimate of the mean effect of a pull.
    pub plain: Estimate,
}

const HOUSEHOLDS: usize = 119_998;
/// Share of households with 1, 2, 3 and 4 people.
const SIZES: [f64; 4] = [0.27, 0.59, 0.1, 0.04];
const POSTCARDS_ONE_IN: usize = 6;

/// State: voted in the election before, and in this one.
fn postcards(households: usize, random: &mut Random) -> Simulated {
    let mut is_drawn = vec![false; households];
    let drawn = draw((0..households).collect(), households / POSTCARDS_ONE_IN, random);
    drawn.into_iter().for_each(|home| is_drawn[home] = true);
    let (mut decisions, mut names, mut ages) = (Vec::new(), Vec::new(), Vec::new());
    for home in 0..households {
        let is_steady = random.random::<bool>();
        let (mut people, mut left) = (1, random.random::<f64>() - SIZES[0]);
        while left >= 0.0 && people < SIZES.len() {
            left -= SIZES[people];
            people += 1;
        }
        for _ in 0..people {
            let has_voted = random.random::<f64>() < if is_steady { 0.5 } else { 0.3 };
            let state = f64::from(u8::from(has_voted));
            let is_pulled = is_drawn[home];
            let effect = if is_pulled { Published::Postcards.effect() } else { 0.0 };
            let level = if is_steady { 0.335 } else { 0.035 };
            let chance = level + 0.28 * state + effect;
            let outcome = f64::from(u8::from(random.random::<f64>() < chance));
            let propensity = 1.0 / POSTCARDS_ONE_IN as f64;
            decisions.push(Decision { unit: home, state, is_pulled, propensity, outcome });
            names.push(format!("h{home}"));
            ages.push(f64::from(random.random_range(18..90u8)));
        }
    }
    let people = decisions.len();
    let mut log =
        Log { state: Array2::zeros((2, people)), action: Array2::from_elem((2, people), NO_ACTION) };
    for (i, decision) in decisions.iter().enumerate() {
        (log.state[[0, i]], log.state[[1, i]]) = (decision.state as u16, decision.outcome as u16);
        log.action[[0, i]] = u8::from(decision.is_pulled);
    }
    let pulls = decisions.iter().filter(|decision| decision.is_pulled).count();
    let declarations =
        Declarations { cluster: Some(("household", names)), ..Declarations::uniform(pulls, 1, DISCOUNT) };
    let study = study(vec![("age".into(), Column::Number(ages))], log, declarations);
    Simulated { study, plain: difference_in_means(&decisions) }
}

/// People of a micro-randomised trial, with a constant effect.
fn participants(hidden: &[f64], effect: f64, random: &mut Random) -> Vec<Person> {
    let person = |hidden: &f64| {
        let mut person = Person::new(*hidden, 0.0, [0.3, 0.5], false, random);
        person.effect = effect;
        person
    };
    hidden.iter().map(person).collect()
}

/// State: more steps than the median in the half hour after the decision before.
fn heartsteps(random: &mut Random) -> Simulated {
    const PEOPLE: usize = 37;
    const DECISIONS: usize = 210;
    const CHANCE: f64 = 0.6;
    let hidden: Vec<f64> = (0..PEOPLE).map(|_| random.random()).collect();
    let people = participants(&hidden, Published::HeartSteps.effect(), random);
    let mut available = Array2::from_elem((DECISIONS + 1, PEOPLE), true);
    for i in 0..PEOPLE {
        for t in 0..=DECISIONS {
            let is_before = t == 0 || available[[t - 1, i]];
            let chance = if is_before { 0.8 + 0.15 * hidden[i] } else { 0.5 };
            available[[t, i]] = random.random::<f64>() < chance;
        }
    }
    let at_random = |t: usize, _: &[u16], random: &mut Random| -> Vec<bool> {
        (0..PEOPLE).map(|i| available[[t, i]] && random.random::<f64>() < CHANCE).collect()
    };
    let log = live(&people, DECISIONS, random, at_random, |_, _| vec![0.0; PEOPLE]);
    let probability = Array2::from_elem((DECISIONS + 1, PEOPLE), CHANCE);
    trial(&hidden, log, probability, Some(available))
}

/// State: brushed better than the median after the decision before.
fn oralytics(random: &mut Random) -> Simulated {
    const PEOPLE: usize = 9;
    const DECISIONS: usize = 70;
    let hidden: Vec<f64> = (0..PEOPLE).map(|_| random.random()).collect();
    let people = participants(&hidden, Published::Oralytics.effect(), random);
    let mut probability = Array2::from_elem((DECISIONS + 1, PEOPLE), 0.5);
    let mut good = [1.0; PEOPLE];
    // people who have brushed well less often are prompted more often
    let by_algorithm = |t: usize, state: &[u16], random: &mut Random| -> Vec<bool> {
        let one = |i: usize| {
            good[i] += f64::from(state[i]);
            probability[[t, i]] = 0.8 - 0.6 * good[i] / (t + 3) as f64;
            random.random::<f64>() < probability[[t, i]]
        };
        (0..PEOPLE).map(one).collect()
    };
    let log = live(&people, DECISIONS, random, by_algorithm, |_, _| vec![0.0; PEOPLE]);
    trial(&hidden, log, probability, None)
}

/// Study and plain estimate of a micro-randomised trial with recorded probabilities of a pull, `[T,N]`.
fn trial(hidden: &[f64], log: Log, probability: Array2<f64>, available: Option<Array2<bool>>) -> Simulated {
    let (steps, people) = log.state.dim();
    let is_available = |t: usize, i: usize| available.as_ref().is_none_or(|available| available[[t, i]]);
    let mut decisions = Vec::new();
    for t in 0..steps - 1 {
        for i in (0..people).filter(|i| is_available(t, *i)) {
            decisions.push(Decision {
                unit: i,
                state: f64::from(log.state[[t, i]]),
                is_pulled: log.action[[t, i]] == 1,
                propensity: probability[[t, i]],
                outcome: f64::from(log.state[[t + 1, i]]),
            });
        }
    }
    let plain = weighted_centred(&decisions);
    let propensity = Array2::from_shape_fn((steps, people), |(t, i)| match log.action[[t, i]] {
        _ if !is_available(t, i) => 1.0,
        1 => probability[[t, i]],
        0 => 1.0 - probability[[t, i]],
        _ => 1.0,
    });
    let declarations = Declarations {
        behaviour: StudyBehaviour::Logged,
        propensity: Some(propensity),
        available,
        ..Declarations::uniform(people / 2, HORIZON, DISCOUNT)
    };
    let ages = hidden.iter().map(|hidden| (20.0 + 40.0 * hidden).round()).collect();
    let study = study(vec![("age".into(), Column::Number(ages))], log, declarations);
    Simulated { study, plain }
}
