//! Whether rows that are off are found, and rows that are not are left alone: programmes with people who differ, over seeds.

use ndarray::Array3;
use rand::RngExt;
use restive::Trajectories;
use restive::evidence::{Alignment, AlignmentVerdict};
use restive::instance::{Logged, NO_ACTION, UNSEEN};
use restive::random::stream;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Choice {
    Lot,
    Rota,
    Worse,
    /// whoever was badly off twice
    TwiceWorse,
    Better,
}

const PEOPLE: usize = 600;
const WEEKS: usize = 20;
const CALLS: usize = 60;

/// States and actions of people who differ, some weeks missing.
fn programme(choice: Choice, effect: f64, seed: u64) -> (Array3<u16>, Array3<u8>) {
    let mut random = stream(seed, &[choice as u64]);
    let own: Vec<f64> = (0..PEOPLE).map(|_| 0.3 * (random.random::<f64>() - 0.5)).collect();
    let mut state = Array3::<u16>::zeros((1, WEEKS + 1, PEOPLE));
    let mut action = Array3::<u8>::zeros((1, WEEKS + 1, PEOPLE));
    state.slice_mut(ndarray::s![0, 0, ..]).mapv_inplace(|_| u16::from(random.random::<f64>() < 0.5));
    for t in 0..WEEKS {
        let mut order: Vec<(f64, usize)> = (0..PEOPLE)
            .map(|i| {
                let now = f64::from(state[[0, t, i]]);
                let then = if t > 0 { f64::from(state[[0, t - 1, i]]) } else { 0.0 };
                let luck = random.random::<f64>();
                let key = match choice {
                    Choice::Lot => luck,
                    Choice::Rota => ((i + PEOPLE * WEEKS - CALLS * t) % PEOPLE) as f64,
                    Choice::Worse => now + luck * 1.3,
                    Choice::TwiceWorse => now + then + luck * 1.5,
                    Choice::Better => -now + luck * 1.3,
                };
                (key, i)
            })
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        order[..CALLS].iter().for_each(|(_, i)| action[[0, t, *i]] = 1);
        for i in 0..PEOPLE {
            let chance =
                0.25 + own[i] + 0.4 * f64::from(state[[0, t, i]]) + effect * f64::from(action[[0, t, i]]);
            state[[0, t + 1, i]] = u16::from(random.random::<f64>() < chance.clamp(0.0, 1.0));
        }
    }
    for s in state.iter_mut() {
        if random.random::<f64>() < 0.03 {
            *s = UNSEEN;
        }
    }
    (state, action)
}

/// The log with the states of row t + `early` in row t.
fn verdict(choice: Choice, effect: f64, seed: u64, early: isize) -> AlignmentVerdict {
    let (state, mut action) = programme(choice, effect, seed);
    let rows = WEEKS as isize + 1;
    let moved = Array3::from_shape_fn(state.raw_dim(), |(j, t, i)| {
        let from = t as isize + early;
        if (0..rows).contains(&from) { state[[j, from as usize, i]] } else { UNSEEN }
    });
    action.slice_mut(ndarray::s![0, WEEKS, ..]).fill(NO_ACTION);
    let logged = Logged { state: moved, action, propensity: None, reward: None, available: None };
    let log = Trajectories::new(logged, 2).unwrap();
    Alignment::new(&[&log], &[0.0, 1.0]).verdict()
}

fn count(choice: Choice, effect: f64, early: isize, wanted: &[AlignmentVerdict]) -> usize {
    (0..20).filter(|seed| wanted.contains(&verdict(choice, effect, *seed, early))).count()
}

#[test]
fn honest_logs_are_left_alone() {
    use AlignmentVerdict::*;
    for choice in [Choice::Lot, Choice::Rota, Choice::Worse, Choice::TwiceWorse] {
        assert_eq!(count(choice, 0.2, 0, &[AsItShould]), 20, "{choice:?}");
        // calls that do nothing: one in a thousand is taken for harm, and people who differ make it a few
        assert!(count(choice, 0.0, 0, &[AsItShould, NothingSeen]) >= 19, "{choice:?}");
        assert_eq!(count(choice, 0.0, 0, &[StatesEarly, StatesLate, Doubtful]), 0, "{choice:?}");
    }
    // where those who are well are called, the effect is what says that rows are right; without one nobody can tell
    assert_eq!(count(Choice::Better, 0.2, 0, &[AsItShould]), 20);
    // (an effect of 2.5 errors is seen by chance once in 160 and ends the doubt; of 20, two or more such are one in 150)
    assert!(count(Choice::Better, 0.0, 0, &[Doubtful]) >= 19);
}

#[test]
fn outcomes_beside_their_call_are_found() {
    use AlignmentVerdict::*;
    for choice in [Choice::Lot, Choice::Rota, Choice::Worse, Choice::TwiceWorse] {
        assert!(count(choice, 0.2, 1, &[StatesEarly]) >= 19, "{choice:?}");
    }
    // half the effect: what is not certain is at least doubtful
    assert!(count(Choice::Lot, 0.1, 1, &[StatesEarly, Doubtful]) >= 19);
    assert!(count(Choice::Better, 0.2, 1, &[Doubtful]) >= 19);
}

#[test]
fn outcomes_two_rows_below_their_call_are_found() {
    for choice in [Choice::Lot, Choice::Rota, Choice::Worse] {
        assert!(count(choice, 0.2, -1, &[AlignmentVerdict::StatesLate]) >= 19, "{choice:?}");
    }
}

#[test]
fn of_nothing_nothing_is_said() {
    for (steps, arms) in [(1, 1), (2, 1), (3, 2), (2, 500)] {
        let state = Array3::from_elem((1, steps, arms), UNSEEN);
        let action = Array3::from_elem((1, steps, arms), 1);
        let log =
            Trajectories::new(Logged { state, action, propensity: None, reward: None, available: None }, 2)
                .unwrap();
        assert_eq!(Alignment::new(&[&log], &[0.0, 1.0]).verdict(), AlignmentVerdict::NothingSeen);
    }
}
