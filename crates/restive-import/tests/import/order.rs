//! Rows in any order make the same study.

use crate::demo::{assert_is_truth, file, programme, small};
use crate::kit::{World, placed};
use rand::seq::SliceRandom;
use restive::random::stream;
use restive_import::demo::ProgrammeOptions;

/// The next number after 30.
const ABOVE_30: f64 = 30.0_f64.next_up();

fn smaller(faults: bool) -> ProgrammeOptions {
    ProgrammeOptions { people: 60, weeks: 8, calls: 6, faults, ..small() }
}

/// The table with the rows below its header in random order.
fn shuffled(table: &[u8], seed: u64) -> Vec<u8> {
    let mut rows: Vec<&[u8]> = table.split_inclusive(|byte| *byte == b'\n').collect();
    rows[1..].shuffle(&mut stream(seed, &[table.len() as u64]));
    rows.concat()
}

/// The messages, and for every fifth one four others of the same person and time: with 0.1, 0.6 and 29.3 seconds, whose sum is 30
/// or [`ABOVE_30`] by the order of addition, and a repeated row. Second result: the number of these messages.
fn with_simultaneous(messages: &[u8]) -> (Vec<u8>, u64) {
    let text = std::str::from_utf8(messages).unwrap();
    let (mut table, mut count) = (messages.to_vec(), 0);
    for line in text.lines().skip(1).step_by(5) {
        let start = line.rsplit_once(',').unwrap().0;
        for seconds in ["0.1", "0.6", "29.3", "29.3"] {
            table.extend(format!("{start},{seconds}\n").bytes());
        }
        count += 1;
    }
    (table, count)
}

#[test]
fn rows_in_any_order_make_the_same_study() {
    assert_eq!((29.3 + 0.1 + 0.6, 0.1 + 0.6 + 29.3), (ABOVE_30, 30.0));
    let synthetic = programme(smaller(false));
    let clean = synthetic.exports();
    let [registry, messages, calls] =
        ["registry.csv", "messages.csv", "calls.csv"].map(|name| file(&clean, name));
    let rows = messages.iter().filter(|byte| **byte == b'\n').count() as u64 - 1;
    let (messages, simultaneous) = with_simultaneous(&messages);
    for (measure, at_least) in
        [("largest", 30.0), ("sum", ABOVE_30), ("mean", 20.0), ("last", 30.0), ("count", 2.0)]
    {
        let world = World::new();
        let from = "at_least = 30";
        assert!(synthetic.mapping().contains(from));
        let to = format!("measure = \"{measure}\", at_least = {at_least}");
        let mapping = synthetic.mapping().replace(from, &to);
        world.write("registry.csv", &registry).write("messages.csv", &messages).write("calls.csv", &calls);
        let first = world.import(&mapping);
        let states = first.study.instances[0].trajectories.state();
        assert!(
            states.iter().any(|state| *state == 0) && states.iter().any(|state| *state == 1),
            "{measure}"
        );
        for seed in 0..3 {
            world.write("registry.csv", shuffled(&registry, seed)).write("calls.csv", shuffled(&calls, seed));
            world.write("messages.csv", shuffled(&messages, seed));
            let again = world.import(&mapping);
            assert_eq!(again.study.fingerprint(), first.study.fingerprint(), "{measure}, seed {seed}");
            let expected = [rows + 3 * simultaneous, simultaneous, 0, 0, 0, 0];
            assert_eq!(placed(&again, "messages"), expected, "{measure}, seed {seed}");
        }
    }
}

/// Of two registrations with one phone the first row counts, so that the registry keeps its order.
#[test]
fn logs_with_faults_in_any_order_make_the_same_study() {
    let synthetic = programme(smaller(true));
    let exports = synthetic.exports();
    let world = World::exported(&synthetic);
    let first = world.import(&synthetic.mapping());
    for seed in 0..3 {
        for name in ["messages.csv", "calls.csv"] {
            world.write(name, shuffled(&file(&exports, name), seed));
        }
        let again = world.import(&synthetic.mapping());
        assert_is_truth(&synthetic, &again);
        assert_eq!(again.study.fingerprint(), first.study.fingerprint(), "seed {seed}");
        for source in ["messages", "actions"] {
            assert_eq!(placed(&again, source), placed(&first, source), "{source}, seed {seed}");
        }
    }
}

#[test]
fn a_log_in_two_files_is_the_log_in_one() {
    let synthetic = programme(smaller(false));
    let world = World::exported(&synthetic);
    let whole = world.import(&synthetic.mapping());
    let messages = String::from_utf8(file(&synthetic.exports(), "messages.csv")).unwrap();
    let lines: Vec<&str> = messages.lines().collect();
    let middle = lines.len() / 2;
    world.write("m-1.csv", format!("{}\n", lines[..=middle].join("\n")));
    // columns in another order, and a row that both have
    let turned = |line: &&str| line.split(',').rev().collect::<Vec<_>>().join(",");
    let rest: Vec<String> = [lines[0]].iter().chain(&lines[middle..]).map(turned).collect();
    world.write("m-2.csv", format!("{}\n", rest.join("\n")));
    let parts = world.import(&synthetic.mapping().replace("messages.csv", "m-*.csv"));
    assert_is_truth(&synthetic, &parts);
    assert_eq!(parts.study.fingerprint(), whole.study.fingerprint());
    assert_eq!(placed(&parts, "m"), [lines.len() as u64 - 1, 1, 0, 0, 0, 0]);
}
