//! Evidence of pulls that are assigned once per person and last, against plain loops over people, and against chance.

use super::evidence_log::{BUDGET, Log, STATES, assert_close, assert_uniform, settings, table};
use ndarray::{Array2, Array3, array};
use rand::RngExt;
use restive::evidence::{Design, Evidence, EvidenceSettings, Gain};
use restive::instance::{Assignment, NO_ACTION, UNSEEN};
use restive::random::stream;
use restive::{Error, Reward};

fn per_person(design: Design) -> EvidenceSettings {
    EvidenceSettings { assignment: Assignment::PerPerson, ..settings(design) }
}

/// 40 % of arms are pulled from their first decision on, and fare better by `effect`. Of those who do not begin with the others, the first
/// decision is one later. One later state in seven is not seen, and the first decision is in a state below `states`.
fn lasting(arms: usize, states: usize, late: f64, effect: f64, seed: u64) -> Log {
    let (mut random, steps) = (stream(seed, &[40]), 6);
    let mut state = Array2::from_elem((steps, arms), UNSEEN);
    let mut action = Array2::from_elem((steps, arms), NO_ACTION);
    for i in 0..arms {
        let begin = usize::from(random.random::<f64>() < late);
        let is_pulled = random.random::<f64>() < 0.4;
        state[[begin, i]] = random.random_range(0..states as u16);
        for t in begin..steps {
            let up = 0.3 + if is_pulled { effect } else { 0.0 };
            if t > begin {
                let next = if random.random::<f64>() < up { 2 } else { random.random_range(0..2) };
                state[[t, i]] = if random.random::<f64>() < 0.15 { UNSEEN } else { next };
            }
            if t + 1 < steps {
                action[[t, i]] = u8::from(is_pulled);
            }
        }
    }
    Log {
        state,
        action,
        available: None,
        propensity: None,
        clusters: None,
        reward: Reward::linear(STATES),
        discount: 0.9,
    }
}

/// An arm at its first decision.
struct Person {
    arm: usize,
    cell: (usize, u16),
    is_pulled: bool,
    /// Chance of a pull.
    chance: f64,
    outcome: f64,
}

/// Everyone with a first decision in a state that was seen; chances are shares by step unless propensities are recorded.
fn people(log: &Log) -> Vec<Person> {
    let (steps, reward) = (log.state.nrows(), log.reward.view());
    let first = |i: usize| (0..steps - 1).find(|t| log.is_open(*t, i));
    let is_pulled = |t: usize, i: usize| log.action[[t, i]] == 1;
    let mut people = Vec::new();
    for i in 0..log.arms() {
        let Some(t) = first(i).filter(|t| log.state[[*t, i]] != UNSEEN) else { continue };
        let with_it: Vec<usize> = (0..log.arms()).filter(|other| first(*other) == Some(t)).collect();
        let pulls = with_it.iter().filter(|other| is_pulled(t, **other)).count();
        let chance = match &log.propensity {
            Some(recorded) if is_pulled(t, i) => recorded[[t, i]],
            Some(recorded) => 1.0 - recorded[[t, i]],
            None => pulls as f64 / with_it.len() as f64,
        };
        let at = |u: usize| reward[[usize::from(log.state[[u, i]]), 0]];
        let seen: Vec<usize> = (t + 1..steps).filter(|u| log.state[[*u, i]] != UNSEEN).collect();
        let mean = seen.iter().map(|u| at(*u)).sum::<f64>() / seen.len() as f64;
        let mut outcome = 0.0;
        for u in t + 1..steps {
            let reward = if seen.contains(&u) { at(u) } else { mean };
            outcome += log.discount.powi((u - t) as i32) * reward;
        }
        if !seen.is_empty() {
            let cell = (t, log.state[[t, i]]);
            people.push(Person { arm: i, cell, is_pulled: is_pulled(t, i), chance, outcome });
        }
    }
    people
}

fn mean_of(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// Score of each person of whose cell at least two clusters have either action: doubly robust, by the means of other clusters.
fn scores<'a>(log: &Log, people: &'a [Person]) -> Vec<(&'a Person, f64)> {
    let like = |one: &Person, is_pulled: bool| -> Vec<&'a Person> {
        people.iter().filter(|other| other.cell == one.cell && other.is_pulled == is_pulled).collect()
    };
    let clusters = |some: &[&Person]| {
        let mut all: Vec<usize> = some.iter().map(|person| log.cluster(person.arm)).collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    };
    let mut scores = Vec::new();
    for one in people {
        let both = [false, true].map(|is_pulled| like(one, is_pulled));
        if both.iter().any(|some| clusters(some) < 2) {
            continue;
        }
        let [alone, pulled] = both.map(|some| {
            let others = some.into_iter().filter(|other| log.cluster(other.arm) != log.cluster(one.arm));
            mean_of(others.map(|other| other.outcome))
        });
        let residual = match one.is_pulled {
            true => (one.outcome - pulled) / one.chance,
            false => -(one.outcome - alone) / (1.0 - one.chance),
        };
        scores.push((one, pulled - alone + residual));
    }
    scores
}

/// Mean score, with the error by cluster.
fn by_hand(log: &Log, scores: &[(&Person, f64)]) -> Gain {
    let mean = mean_of(scores.iter().map(|(_, score)| *score));
    let most = (0..log.arms()).map(|i| log.cluster(i)).max().unwrap();
    let part = |cluster: usize| -> f64 {
        let own = scores.iter().filter(|(person, _)| log.cluster(person.arm) == cluster);
        own.map(|(_, score)| (score - mean) / scores.len() as f64).sum()
    };
    Gain { value: mean, error: (0..=most).map(|cluster| part(cluster).powi(2)).sum::<f64>().sqrt() }
}

fn assert_same(found: Gain, expected: Gain) {
    assert_close(found.value, expected.value);
    assert_close(found.error, expected.error);
}

fn difference_in_means(people: &[Person]) -> f64 {
    let [alone, pulled] = [false, true].map(|is_pulled| {
        mean_of(people.iter().filter(|person| person.is_pulled == is_pulled).map(|person| person.outcome))
    });
    pulled - alone
}

/// With one state and a lot, e = n₁/n, so that Σ (a/e − (1 − a)/(1 − e)) y/n (Horvitz and Thompson) is the difference in means; and
/// the residuals of a doubly robust score by means of others have mean 0 in either group, so that its mean is the same.
#[test]
fn course_is_the_difference_in_means_of_one_state() {
    for seed in 0..5 {
        let log = lasting(40, 1, 0.0, 0.2, seed);
        let found = log.evidence(per_person(Design::Uniform));
        let people = people(&log);
        let weighted = mean_of(people.iter().map(|person| match person.is_pulled {
            true => person.outcome / person.chance,
            false => -person.outcome / (1.0 - person.chance),
        }));
        let course = found.course().unwrap();
        assert_close(course.value, difference_in_means(&people));
        assert_close(course.value, weighted);
        assert_same(course, by_hand(&log, &scores(&log, &people)));
        assert_same(found.random(), course.times(BUDGET as f64));
        assert_eq!(found.programme_calls(), BUDGET as f64);
        assert_eq!(found.logged_calls(), people.iter().filter(|person| person.is_pulled).count());
        assert_eq!(found.changed(), 0);
        // every decision for itself
        let each = log.evidence(settings(Design::Uniform));
        assert_eq!((each.course(), each.changed()), (None, 0));
        assert!(each.logged_calls() > found.logged_calls());
    }
}

#[test]
fn first_decisions_are_compared_within_step_and_state() {
    let mut left_out = 0;
    for seed in 0..6 {
        let mut log = lasting(60, 3, 0.3, 0.2, seed);
        for clusters in [None, Some((0..60).map(|i| i / 3).collect())] {
            log.clusters = clusters;
            let found = log.evidence(per_person(Design::Uniform));
            let people = people(&log);
            let scores = scores(&log, &people);
            left_out += people.len() - scores.len();
            assert_same(found.course().unwrap(), by_hand(&log, &scores));
            assert_eq!(found.calls(), scores.iter().filter(|(person, _)| person.is_pulled).count());
        }
    }
    assert!(left_out > 0);
}

#[test]
fn people_of_a_cluster_are_assigned_together() {
    for seed in 0..5 {
        let mut log = lasting(60, 2, 0.0, 0.2, seed);
        // households of 3 have the actions of their first member
        log.action = Array2::from_shape_fn(log.action.dim(), |(t, i)| log.action[[t, i - i % 3]]);
        log.clusters = Some((0..60).map(|i| i / 3).collect());
        let found = log.evidence(per_person(Design::Uniform));
        let people = people(&log);
        assert_same(found.course().unwrap(), by_hand(&log, &scores(&log, &people)));
        let by_person = Log { clusters: None, ..log }.evidence(per_person(Design::Uniform));
        assert_ne!(found.course().unwrap().error, by_person.course().unwrap().error);
    }
}

#[test]
fn recorded_propensities_of_first_decisions_are_used_and_later_ones_are_not() {
    for seed in 0..5 {
        let mut log = lasting(60, 2, 0.3, 0.2, seed);
        let first = |i: usize| (0..5).find(|t| log.action[[*t, i]] != NO_ACTION);
        let recorded = Array2::from_shape_fn(log.action.dim(), |(t, i)| match first(i) == Some(t) {
            true if log.action[[t, i]] == 1 => [0.3, 0.5][i % 2],
            true => [0.7, 0.5][i % 2],
            false => 1.0,
        });
        log.propensity = Some(recorded);
        let found = log.evidence(per_person(Design::Logged));
        let people = people(&log);
        assert_same(found.course().unwrap(), by_hand(&log, &scores(&log, &people)));
        let recorded = found.recorded();
        assert_eq!((recorded.decisions, recorded.sure, recorded.not_called, recorded.untold), (2, 0, 0, 0));
        assert_eq!(recorded.calls, found.calls());
    }
}

#[test]
fn later_actions_change_no_estimate_and_are_counted() {
    let log = lasting(40, 2, 0.2, 0.2, 1);
    let mut other = log.clone();
    let mut changed = 0;
    for i in 0..10 {
        let was = other.action[[4, i]];
        other.action[[4, i]] = 1 - was;
        changed += 1;
    }
    let said = |log: &Log| {
        let found = log.evidence(per_person(Design::Uniform));
        let ranking = found.ranking(&[table(40)]).unwrap();
        let p = found.redealt(&ranking, 50);
        (
            (found.course(), found.balance(Some(&ranking)), ranking.plan, found.logged_calls(), p),
            found.changed(),
        )
    };
    let [(same, none), (as_well, some)] = [said(&log), said(&other)];
    assert_eq!(same, as_well);
    assert_eq!((none, some), (0, changed));
}

#[test]
fn first_decisions_are_the_first_that_are_available() {
    let no = NO_ACTION;
    let mut log = lasting(6, 1, 0.0, 0.0, 0);
    log.state = Array2::ones((4, 6));
    // unchanged, stopped, begun late, joined late, one decision only, not available when first not pulled
    log.action =
        array![[1, 1, 0, no, 1, 0], [1, 0, 0, 1, no, 1], [1, 0, 1, 1, no, 1], [no, no, no, no, no, no]];
    log.available = Some(Array2::from_shape_fn((4, 6), |(t, i)| t > 0 || i < 5));
    let found = log.evidence(per_person(Design::Uniform));
    assert_eq!(found.changed(), 2);
    // all but the third were pulled at first
    assert_eq!(found.logged_calls(), 5);
    log.available = None;
    let found = log.evidence(per_person(Design::Uniform));
    assert_eq!((found.changed(), found.logged_calls()), (3, 4));
}

#[test]
fn a_pull_that_is_rewarded_at_once_is_counted_once() {
    let mut log = lasting(40, 1, 0.0, 0.2, 2);
    let plain = log.evidence(per_person(Design::Uniform)).course().unwrap();
    log.reward = Reward::of_state_and_action(array![[0.0, -0.25], [0.5, 0.5], [1.0, 1.5]]).unwrap();
    let found = log.evidence(per_person(Design::Uniform)).course().unwrap();
    assert_close(found.value, plain.value - 0.25);
    assert_close(found.error, plain.error);
}

#[test]
fn turns_cannot_be_taken_once() {
    let instance = lasting(20, 1, 0.0, 0.0, 0).instance();
    let everyone: Vec<usize> = (0..20).collect();
    let refused = Evidence::without_judge(&[(&instance, &everyone[..])], per_person(Design::Rota));
    assert!(matches!(refused.err(), Some(Error::Unsuitable { what: "design", .. })));
}

#[test]
fn top_and_next_reward_are_those_of_first_decisions() {
    for seed in 0..5 {
        let log = lasting(60, 2, 0.3, 0.2, seed);
        let found = log.evidence(per_person(Design::Uniform));
        let table = table(60);
        let ranking = found.ranking(std::slice::from_ref(&table)).unwrap();

        // the two highest of the group, in whichever step they begin
        let people = people(&log);
        let scores = scores(&log, &people);
        let rank = |person: &Person| table[[0, person.arm, usize::from(person.cell.1)]];
        let mut best: Vec<&Person> = people.iter().collect();
        best.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
        let of_top: Vec<f64> = scores
            .iter()
            .filter(|(person, _)| best[..BUDGET].iter().any(|top| top.arm == person.arm))
            .map(|(person, score)| {
                let cell = scores.iter().filter(|(other, _)| other.cell == person.cell);
                score - mean_of(cell.map(|(_, score)| *score))
            })
            .collect();
        let expected = BUDGET as f64 * of_top.iter().sum::<f64>() / of_top.len().max(1) as f64;
        assert_close(ranking.top.value, expected);

        // the next reward, without a judge
        let effects = people.iter().filter_map(|person| {
            let next = log.state[[person.cell.0 + 1, person.arm]];
            let reward = (next != UNSEEN).then(|| log.reward.view()[[usize::from(next), 0]])?;
            Some(if person.is_pulled { reward / person.chance } else { -reward / (1.0 - person.chance) })
        });
        assert_close(found.deciles(&ranking).mean.value, mean_of(effects));
    }
}

#[test]
fn pulls_that_do_nothing_make_p_uniform() {
    let mut all: Vec<f64> = (0..80)
        .map(|seed| {
            let log = lasting(60, 3, 0.2, 0.0, 100 + seed);
            let mut random = stream(seed, &[41]);
            let table = Array3::from_shape_simple_fn((1, 60, STATES), || random.random::<f64>());
            let found = log.evidence(per_person(Design::Uniform));
            found.redealt(&found.ranking(&[table]).unwrap(), 99).unwrap()
        })
        .collect();
    assert_uniform(&mut all);
}
