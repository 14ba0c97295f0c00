//! The numbers themselves, against answers that can be had without the program.

use crate::arms::{COMPACT, compact_arms, csv, full_columns, index, read_answers};
use crate::harness::{assert_output, cli};

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-9
}

/// The index of a two-state arm with reward 0, 1 by its definition: the subsidy at which both actions are equally
/// good, found by bisection over exact values of all four policies.
fn index_by_definition(p: [f64; 4], discount: f64, state: usize) -> f64 {
    let advantage = |subsidy: f64| {
        let value = |policy: [usize; 2]| {
            // v = r + γ P v, solved by Cramer's rule
            let up = [p[policy[0]], p[2 + policy[1]]];
            let r = [0, 1].map(|s| s as f64 + if policy[s] == 0 { subsidy } else { 0.0 });
            let a = [
                [1.0 - discount * (1.0 - up[0]), -discount * up[0]],
                [-discount * (1.0 - up[1]), 1.0 - discount * up[1]],
            ];
            let det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
            [(r[0] * a[1][1] - a[0][1] * r[1]) / det, (a[0][0] * r[1] - a[1][0] * r[0]) / det]
        };
        let values = [[0, 0], [0, 1], [1, 0], [1, 1]].map(value);
        let best = [0, 1].map(|s| values.iter().map(|v| v[s]).fold(f64::MIN, f64::max));
        let q = |a: usize| {
            let up = p[2 * state + a];
            discount * (up * best[1] + (1.0 - up) * best[0]) + if a == 0 { subsidy } else { 0.0 }
        };
        q(1) - q(0)
    };
    let (mut low, mut high) = (-20.0, 20.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if advantage(middle) > 0.0 { low = middle } else { high = middle }
    }
    low
}

#[test]
fn the_papers_worked_example_is_6_over_17_and_0() {
    let folder = cli();
    folder.write("arm.csv", csv(&COMPACT, &[0.2, 0.8, 0.5, 0.5]));
    for algorithm in ["auto", "two-state", "general"] {
        let answers = index(&folder, &format!("arm.csv --discount 0.5 --algorithm {algorithm}"), "w.csv");
        assert!(close(answers[0].index[0], 6.0 / 17.0) && close(answers[0].index[1], 0.0), "{answers:?}");
        assert_eq!(answers[0].is_indexable, Some(true));
    }
}

#[test]
fn two_state_indices_obey_the_definition() {
    let (folder, arms) = (cli(), compact_arms(60, 1));
    folder.write("arms.csv", csv(&COMPACT, arms.as_flattened()));
    for discount in [0.0, 0.3, 0.9] {
        let answers = index(&folder, &format!("arms.csv --discount {discount}"), "w.csv");
        for (arm, answer) in arms.iter().zip(answers) {
            for s in 0..2 {
                let expected = index_by_definition(*arm, discount, s);
                assert!(close(answer.index[s], expected), "{arm:?} at {discount}: {answer:?}, {expected}");
            }
        }
    }
}

#[test]
fn an_inert_action_is_worth_nothing_for_any_number_of_states() {
    for states in 1..=4 {
        let folder = cli();
        // both actions: to any state with the same probability
        let row = vec![1.0 / states as f64; 2 * states * states];
        folder.write("arm.csv", csv(&full_columns(states), &row));
        let answers = index(&folder, "arm.csv", "w.csv");
        assert_eq!(answers[0].index.len(), states);
        assert!(answers[0].index.iter().all(|w| close(*w, 0.0)), "{answers:?}");
        assert_eq!(answers[0].is_indexable, Some(true));
    }
}

#[test]
fn rewards_may_depend_on_the_action() {
    // An inert action that earns 0.25 more in state 0 and 0.5 less in state 1 is worth exactly that.
    for states in [2, 3] {
        let (folder, rewards) = (cli(), ["0/0.25,1/0.5", "0/0.25,1/0.5,-1/-1"][states - 2]);
        folder.write("arm.csv", csv(&full_columns(states), &vec![1.0 / states as f64; 2 * states * states]));
        let answers = index(&folder, &format!("arm.csv --rewards {rewards}"), "w.csv");
        assert!(close(answers[0].index[0], 0.25) && close(answers[0].index[1], -0.5), "{answers:?}");
    }
}

#[test]
fn a_negative_reward_may_come_first() {
    // Adding a constant to the reward changes no index.
    let folder = cli();
    folder.write("arm.csv", csv(&COMPACT, &[0.2, 0.8, 0.5, 0.5]));
    let shifted = index(&folder, "arm.csv --discount 0.5 --rewards -3,-2", "w.csv");
    assert!(close(shifted[0].index[0], 6.0 / 17.0), "{shifted:?}");
}

#[test]
fn bisection_agrees_within_its_tolerance() {
    let folder = cli();
    folder.write("arm.csv", csv(&COMPACT, &[0.2, 0.8, 0.5, 0.5]));
    let answers = index(&folder, "arm.csv --discount 0.5 --algorithm bisection --tolerance 1e-4", "w.csv");
    // a few tolerances: the values under the bisection have one of their own
    assert!((answers[0].index[0] - 6.0 / 17.0).abs() < 1e-3, "{answers:?}");
    assert_eq!(answers[0].is_indexable, None, "bisection does not examine indexability");
}

#[test]
fn an_arm_without_index_has_an_empty_verdict_in_every_format() {
    let folder = cli();
    // at discount 1 the second arm never leaves its state, whatever is done
    folder.write("arms.csv", csv(&COMPACT, &[0.2, 0.8, 0.5, 0.5, 0.0, 0.0, 1.0, 1.0]));
    for out in ["w.csv", "w.parquet", "w.npy"] {
        let answers = index(&folder, "arms.csv --discount 1", out);
        assert_eq!(answers[0].is_indexable, Some(true), "{out}");
        assert!(answers[1].index.iter().all(|w| w.is_nan()), "{out}: {answers:?}");
        assert_eq!(answers[1].is_indexable, None, "{out}");
    }
}

/// An arm that is not indexable, by hand. State 0 never changes. State 1 stays there and earns 1 when pulled, and
/// falls to state 0 when not. State 2 earns 2 and falls to state 0 when pulled, and moves to state 1 when not. At
/// discount 0.9 with subsidy m:
///
/// - state 0: a pull earns 0 and passivity m, so it is passive from m = 0; V(0) = 10 max(m, 0).
/// - state 1: a pull for ever is worth 10, passivity m + 0.9 V(0), so it is passive from m = 1.
/// - state 2: a pull is worth 2 + 0.9 V(0), passivity m + 0.9 V(1). For m < 0 that is 2 against m + 9: passive from
///   m = −7. For 0 < m < 1 it is 2 + 9m against m + 9: active again from m = 7/8. For m > 1 it is 2 + 9m against
///   10m: passive for good from m = 2.
#[test]
fn an_arm_that_is_not_indexable_is_reported_with_both_crossings() {
    let folder = cli();
    let to = |next: usize| (0..3).map(move |s| f64::from(u8::from(s == next)));
    let row: Vec<f64> = [0, 0, 0, 1, 1, 0].into_iter().flat_map(to).collect();
    folder.write("arm.csv", csv(&full_columns(3), &row));
    let arguments = "index arm.csv --rewards 0,0/1,0/2 --discount 0.9";
    let run = folder.run(&format!("{arguments} --verbose --out w.csv")).success();
    assert!(run.stderr.starts_with("restive: warning: 1 of 1 arms "), "{}", run.stderr);
    assert_eq!(read_answers(&folder.path("w.csv"))[0].is_indexable, Some(false));
    let written = std::fs::read_to_string(folder.path("w.csv")).unwrap();
    let cells: Vec<&str> = written.lines().nth(1).unwrap().split(',').collect();
    let numbers: Vec<f64> = [1, 2, 3, 5, 6, 7].iter().map(|&c: &usize| cells[c].parse().unwrap()).collect();
    let expected = [0.0, 1.0, -7.0, 0.0, 1.0, 2.0];
    assert!(numbers.iter().zip(expected).all(|(found, expected)| close(*found, expected)), "{written}");
    assert_output("index-no-single-price", &[&run, &folder.run(arguments).success()]);
    let summary = folder.run(&format!("{arguments} --json")).success().json();
    assert_eq!((&summary["not_indexable"], &summary["share_not_indexable"]), (&1.into(), &1.0.into()));
    assert_eq!(
        (&summary["arms"], &summary["states"], &summary["discount"]),
        (&1.into(), &3.into(), &0.9.into())
    );
}
