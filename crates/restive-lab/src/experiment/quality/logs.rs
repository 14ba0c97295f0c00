//! How the logs of the programme-shaped regimes came about.
//!
//! **By a hunch.** A rota calls people whatever they do; caseworkers do not. Here a caseworker guesses how likely each person is to
//! engage next week if left alone: the *true* log-odds, which features tell in part only, with noise as large as their spread over
//! people, drawn anew for every person and week. The K people who look worst, each beside others in the same state, are
//! called. What a call seems to do is then confounded with whom it was made to, and no feature undoes that. Training and validation
//! logs start where the generated ones do; records of test people come about in the same way. No propensities are logged, and trainings that need
//! some take calls for random ones, as a programme would that does not know better.
//!
//! **Partly seen.** Of the states of training and validation people, each was not seen with probability 0.3. Calls are known. The records
//! of test people are whole.

use crate::trial::Trial;
use ndarray::{Array2, Array3, ArrayView4, Axis};
use rand::RngExt;
use restive::evaluation::first_states;
use restive::instance::{Logged, Parts, UNSEEN};
use restive::policy::{Policy, log_odds};
use restive::random::{Random, stream};
use restive::simulation::{Setting, trajectories};
use restive::{Instance, Trajectories};

/// The streams of these logs: no other use of a seed begins with it.
const LOGS: u64 = 0x6c6f_6773;
/// The share of states that are not seen.
const UNSEEN_SHARE: f64 = 0.3;

/// How a log came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Logging {
    /// as its domain has it
    AsGenerated,
    /// calls by a caseworker's hunch
    ByHunch,
    /// states that are not seen
    PartlySeen,
}

impl Logging {
    /// Instances to train on and to validate with logs that came about so.
    pub(crate) fn of_both(self, both: [Vec<Instance>; 2], seed: u64) -> restive::Result<[Vec<Instance>; 2]> {
        let [train, validation] = both;
        Ok([self.logged(train, seed, 0)?, self.logged(validation, seed, 1)?])
    }

    fn logged(self, instances: Vec<Instance>, seed: u64, part: u64) -> restive::Result<Vec<Instance>> {
        let log = |(k, instance): (usize, Instance)| {
            let random = &mut stream(seed, &[LOGS, part, k as u64]);
            let trajectories = match self {
                Logging::AsGenerated => return Ok(instance),
                Logging::ByHunch => by_hunch(&instance, random)?,
                Logging::PartlySeen => partly_seen(instance.trajectories(), random)?,
            };
            Instance::new(Parts { trajectories, ..instance.parts().clone() })
        };
        instances.into_iter().enumerate().map(log).collect()
    }

    /// Trials whose records, of so many steps at most, come about so.
    pub(crate) fn of_trials<'a>(self, trials: Vec<Trial<'a>>, steps: usize, seed: u64) -> Vec<Trial<'a>> {
        if self != Logging::ByHunch {
            return trials;
        }
        let with_hunch = |(k, trial): (usize, Trial<'a>)| {
            let policy = hunch(trial.truth(), steps, &mut stream(seed, &[LOGS, 2, k as u64]));
            trial.logged_under(policy)
        };
        trials.into_iter().enumerate().map(with_hunch).collect()
    }
}

/// The caseworker's guesses: who looks worst has the highest score. A longer list begins with the shorter ones.
fn hunch(truth: ArrayView4<'_, f64>, weeks: usize, random: &mut Random) -> Policy {
    let (people, states) = (truth.len_of(Axis(0)), truth.len_of(Axis(1)));
    let mut engaging = Array2::from_shape_fn((people, states), |(i, s)| log_odds(truth[[i, s, 0, 1]]));
    for mut state in engaging.columns_mut() {
        let (mean, sd) = (state.mean().expect("people"), state.std(0.0).max(f64::MIN_POSITIVE));
        state.mapv_inplace(|x| (x - mean) / sd);
    }
    // of the logistic distribution, with a standard deviation of 1
    let scale = 3f64.sqrt() / std::f64::consts::PI;
    let noise = Array2::from_shape_simple_fn((weeks, people), || scale * log_odds(random.random()));
    Policy::Horizon(Array3::from_shape_fn((weeks, people, states), |(t, i, s)| {
        noise[[t, i]] - engaging[[i, s]]
    }))
}

fn by_hunch(instance: &Instance, random: &mut Random) -> restive::Result<Trajectories> {
    let truth = instance.truth().expect("synthetic instances know their truth").view();
    let log = instance.trajectories();
    let setting = Setting {
        motion: truth.into(),
        reward: instance.reward().into(),
        discount: instance.discount(),
        budget: instance.budget(),
        horizon: log.steps() - 1,
    };
    let policy = hunch(truth, setting.horizon, random);
    let start = first_states(log, instance.observation());
    let made = trajectories(&setting, &start, &policy, log.trajectories(), random.random());
    let (state, action) = (made.state().to_owned(), made.action().to_owned());
    Trajectories::new(Logged { state, action, propensity: None, reward: None, available: None }, log.states())
}

fn partly_seen(log: &Trajectories, random: &mut Random) -> restive::Result<Trajectories> {
    let state = log.state().mapv(|s| if random.random::<f64>() < UNSEEN_SHARE { UNSEEN } else { s });
    let (action, propensity) = (log.action().to_owned(), log.propensity().map(|p| p.to_owned()));
    Trajectories::new(Logged { state, action, propensity, reward: None, available: None }, log.states())
}

#[cfg(test)]
mod tests {
    use super::*;
    use restive::data::maternal::Maternal;

    fn people() -> Vec<Instance> {
        let maternal = Maternal { groups: 3, people: 300, budget: 9, ..Maternal::default() };
        maternal.generate(5).unwrap().instances
    }

    #[test]
    fn a_hunch_calls_people_who_would_engage_less() {
        let before = people();
        let after = Logging::ByHunch.logged(before.clone(), 5, 0).unwrap();
        for (before, after) in before.iter().zip(&after) {
            let (log, truth) = (after.trajectories(), after.truth().unwrap().view());
            assert_eq!(log.state().dim(), before.trajectories().state().dim());
            assert_eq!(
                log.state().index_axis(Axis(1), 0),
                before.trajectories().state().index_axis(Axis(1), 0)
            );
            assert!(log.propensity().is_none() && log.pulls().iter().take(7).all(|calls| *calls == 9));
            let rise = |i: usize| log_odds(truth[[i, 0, 0, 1]]);
            let actions = log.action();
            let calls = actions.indexed_iter().filter(|(_, a)| **a == 1);
            let called: Vec<f64> = calls.map(|((_, _, i), _)| rise(i)).collect();
            let all = (0..300).map(rise).sum::<f64>() / 300.0;
            // the spread over people is 1
            assert!(called.iter().sum::<f64>() / (called.len() as f64) < all - 0.5);
            // and not the same people every week
            let calls = log.action().map_axis(Axis(1), |steps| steps.iter().any(|a| *a == 1));
            assert!(calls.iter().filter(|is_called| **is_called).count() > 2 * 9);
        }
    }

    #[test]
    fn longer_records_begin_with_the_shorter_ones() {
        let people = people();
        let truth = people[0].truth().unwrap().view();
        let [short, long] = [9, 27].map(|weeks| hunch(truth, weeks, &mut stream(1, &[2])));
        let (Policy::Horizon(short), Policy::Horizon(long)) = (short, long) else { panic!("tables by week") };
        assert_eq!(short, long.slice(ndarray::s![..9, .., ..]));
    }

    #[test]
    fn three_states_in_ten_are_not_seen_and_calls_are_kept() {
        let before = people();
        let after = Logging::PartlySeen.logged(before.clone(), 5, 0).unwrap();
        for (before, after) in before.iter().zip(&after) {
            let [before, after] = [before, after].map(Instance::trajectories);
            assert_eq!(before.action(), after.action());
            let states = after.state();
            let unseen = states.iter().filter(|s| **s == UNSEEN).count() as f64 / states.len() as f64;
            assert!((unseen - UNSEEN_SHARE).abs() < 0.05, "{unseen}"); // five standard errors of 2,400 states
            assert!(states.iter().zip(before.state()).all(|(s, was)| *s == UNSEEN || s == was));
        }
    }
}
