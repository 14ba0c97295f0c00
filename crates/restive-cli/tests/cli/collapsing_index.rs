//! `restive index --observation collapsing`: indices of beliefs, against their definition, and what is refused.

use crate::arms::{COMPACT, compact_arms, csv, f64_bytes, full, full_columns, index, npy};
use crate::harness::{assert_output, cli, stderr};
use std::fs;

const DISCOUNT: f64 = 0.6;

/// The index of a belief with reward 0, 1 by its definition: the subsidy at which both actions are equally good, by bisection
/// over value iteration on all 2T beliefs.
fn by_definition(p: [f64; 4], chain: usize, state: usize, since: usize) -> f64 {
    let belief: Vec<[f64; 2]> = (0..chain)
        .scan([p[1], p[3]], |b, _| {
            let now = *b;
            *b = now.map(|b| (1.0 - b) * p[0] + b * p[2]);
            Some(now)
        })
        .collect();
    let advantage = |subsidy: f64| {
        let mut value = vec![[0.0f64; 2]; chain];
        let acts = |value: &[[f64; 2]], s: usize, h: usize| {
            let (b, next) = (belief[h][s], value[(h + 1).min(chain - 1)][s]);
            [b + subsidy + DISCOUNT * next, b + DISCOUNT * (b * value[0][1] + (1.0 - b) * value[0][0])]
        };
        for _ in 0..90 {
            value = (0..chain)
                .map(|h| {
                    [0, 1].map(|s| {
                        let [rest, pull] = acts(&value, s, h);
                        rest.max(pull)
                    })
                })
                .collect();
        }
        let [rest, pull] = acts(&value, state, since);
        pull - rest
    };
    let (mut low, mut high) = (-4.0, 4.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if advantage(middle) > 0.0 { low = middle } else { high = middle }
    }
    low
}

#[test]
fn indices_of_beliefs_obey_the_definition_in_the_order_of_their_columns() {
    let (folder, arms) = (cli(), compact_arms(30, 7));
    folder.write("arms.csv", csv(&COMPACT, arms.as_flattened()));
    let options = format!("arms.csv --observation collapsing --discount {DISCOUNT}");
    let (finite, infinite) =
        (format!("{options} --chain 3"), format!("{options} --chain infinite --beliefs 4"));
    let answers = index(&folder, &finite, "w.csv");
    let header = fs::read_to_string(folder.path("w.csv")).unwrap().lines().next().unwrap().to_string();
    assert_eq!(header, "arm,w_0_0,w_0_1,w_0_2,w_1_0,w_1_1,w_1_2,is_indexable");
    let open = index(&folder, &infinite, "open.csv");
    for ((arm, answer), open) in arms.iter().zip(&answers).zip(&open) {
        assert_eq!((answer.index.len(), open.index.len()), (6, 8));
        for (s, h) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)] {
            // below discount 1/2 every arm is indexable; at 0.6 nearly every one: bisection finds the one crossing
            if answer.is_indexable == Some(true) {
                let expected = by_definition(*arm, 3, s, h);
                assert!(
                    (answer.index[3 * s + h] - expected).abs() < 1e-9,
                    "{arm:?} ({s},{h}): {answer:?}, {expected}"
                );
            }
            // beliefs that have gone on for long hardly move: a long chain is an infinite one
            let expected = by_definition(*arm, 60, s, h);
            assert!(
                (open.index[4 * s + h] - expected).abs() < 1e-8,
                "{arm:?} ({s},{h}): {open:?}, {expected}"
            );
        }
        assert_eq!(open.is_indexable, Some(true));
    }
    // the same from every format to every format
    folder.write("arms.npy", npy("<f8", "(30, 2, 2, 2)", &f64_bytes(&full(&arms))));
    for out in ["w.parquet", "w.npy"] {
        let again = index(&folder, &finite.replace("arms.csv", "arms.npy"), out);
        for (a, b) in answers.iter().zip(again) {
            assert!(a.index.iter().zip(&b.index).all(|(a, b)| (a - b).abs() < 1e-12), "{out}");
            assert_eq!(a.is_indexable, b.is_indexable);
        }
    }
}

#[test]
fn an_infinite_chain_of_ten_beliefs_is_the_default() {
    let folder = cli();
    folder.write("arms.csv", csv(&COMPACT, &[0.2, 0.8, 0.5, 0.5]));
    let plain = index(&folder, "arms.csv --observation collapsing", "a.csv");
    let said = index(&folder, "arms.csv --observation collapsing --chain infinite --beliefs 10", "b.csv");
    assert_eq!((plain[0].index.len(), &plain[0].index), (20, &said[0].index));
    let shown = folder.run("index arms.csv --observation collapsing").success();
    let header: Vec<&str> = shown.stdout.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(
        header,
        ["arm", "w_0_0", "w_0_1", "w_0_2", "w_0_3", "w_0_4", "w_0_5", "…", "w_1_9", "is_indexable"]
    );
    assert_output("index-collapsing", &[&shown]);
    let json = folder.run("index arms.csv --observation collapsing --json").success().json();
    let counts = ["arms", "states", "not_indexable"].map(|name| json[name].as_u64().unwrap());
    assert_eq!((counts, &json["discount"]), ([1, 2, 0], &0.99.into()));
    assert_eq!(json["chain"], "infinite");
    let json = folder.run("index arms.csv --observation collapsing --chain 4 --json").success().json();
    assert_eq!([&json["chain"], &json["algorithm"]], ["4", "collapsing, finite chain"]);
}

#[test]
fn more_states_have_finite_chains_and_their_last_crossings() {
    let folder = cli();
    folder.write("three.csv", csv(&full_columns(3), &[1.0 / 3.0; 18]));
    let run = "three.csv --observation collapsing --chain 2";
    let answers = index(&folder, run, "w.csv");
    assert_eq!(answers[0].index.len(), 6);
    assert!(answers[0].index.iter().all(|w| w.abs() < 1e-12), "a pull changes nothing");
    folder.run(&format!("index {run} --verbose --out v.csv")).success();
    let header = fs::read_to_string(folder.path("v.csv")).unwrap();
    assert!(header.contains(",last_2_1,status,residual\n"), "{header}");
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = cli();
    folder.write("arms.csv", csv(&COMPACT, &[0.2, 0.8, 0.5, 0.5]));
    folder.write("three.csv", csv(&full_columns(3), &[1.0 / 3.0; 18]));
    let cases = [
        (
            "arms.csv --chain 10",
            "--chain: a state that is always seen has none; it needs --observation collapsing",
        ),
        ("arms.csv --beliefs 10", "--beliefs: a state that is always seen has none"),
        ("arms.csv --observation collapsing --chain 0", "expected a whole number, at least 1, or infinite"),
        ("arms.csv --observation collapsing --chain -1", "expected a whole number, at least 1, or infinite"),
        (
            "arms.csv --observation collapsing --chain long",
            "expected a whole number, at least 1, or infinite",
        ),
        ("arms.csv --observation collapsing --beliefs 0", "--beliefs"),
        (
            "arms.csv --observation collapsing --chain 4 --beliefs 4",
            "--beliefs: a finite chain has an index for each",
        ),
        (
            "arms.csv --observation collapsing --chain 50001",
            "--chain: found 50001, expected at most 50000 for 2 states: an arm may have 100000 beliefs",
        ),
        (
            "arms.csv --observation collapsing --beliefs 99999999999",
            "--beliefs: found 99999999999, expected at most",
        ),
        (
            "arms.csv --observation collapsing --algorithm general",
            "--algorithm: with --observation collapsing",
        ),
        (
            "three.csv --observation collapsing",
            "--chain infinite: three.csv: states: found 3, expected 2 for an infinite chain; take a long finite one",
        ),
        (
            "arms.csv --observation collapsing --rewards 0/-0.1,1/0.9",
            "--chain infinite: arms.csv: reward: found -0.1, expected the same for both actions for an infinite chain",
        ),
        ("arms.csv --observation sometimes", "sometimes"),
    ];
    for (arguments, part) in cases {
        for out in ["", " --out w.csv"] {
            let run = folder.run(&format!("index {arguments}{out}")).code(2);
            let message = stderr(&run);
            assert!(message.starts_with("restive: ") && message.contains(part), "{arguments}: {message}");
            assert_eq!(message.lines().count(), 1, "{arguments}: {message}");
            assert_eq!(folder.listing(), ["arms.csv", "three.csv"], "{arguments}");
        }
    }
    // a reward by action has finite chains
    folder.run("index arms.csv --observation collapsing --chain 10 --rewards 0/-0.1,1/0.9").success();
}

/// Freezing the last belief makes some arms non-indexable: the warning names the columns that there are.
#[test]
fn a_warning_names_the_columns_of_beliefs() {
    let folder = cli();
    folder.write("arms.csv", csv(&COMPACT, &[0.85, 0.4, 0.1, 0.5]));
    let arguments = "index arms.csv --observation collapsing --chain 10 --discount 0.99 --out w.csv";
    assert_output("index-not-indexable", &[&folder.run(arguments).success()]);
    assert_eq!(folder.run(&format!("{arguments} --json --force")).success().json()["not_indexable"], 1);
}
