//! Rows in any order make the same study.

use crate::kit::*;

/// Rows below the header, turned round by so many and every other one last.
fn turned(text: &str, by: usize) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let header = lines.remove(0);
    let by = by % lines.len();
    lines.rotate_left(by);
    let (even, odd): (Vec<_>, Vec<_>) = lines.iter().enumerate().partition(|(k, _)| k % 2 == 0);
    let all: Vec<&str> = odd.into_iter().chain(even).map(|(_, line)| *line).collect();
    format!("{header}\n{}\n", all.join("\n"))
}

#[test]
fn rows_in_any_order_make_the_same_study() {
    for measure in ["largest", "sum", "mean", "last", "count"] {
        let world = programme();
        let messages = format!(
            "{MESSAGES}P1,2026-03-03,29\nP1,2026-03-03,46.7\nP2,2026-03-10,0.1\nP2,2026-03-10,0.2\nP1,2026-03-03,45\n"
        );
        world.write("messages.csv", &messages);
        let mapping = MAPPING.replace("[state]\n", &format!("[state]\nmeasure = \"{measure}\"\n"));
        let first = world.import(&mapping);
        for by in 0..5 {
            world.write("registry.csv", turned(REGISTRY, by)).write("calls.csv", turned(CALLS, by));
            world.write("messages.csv", turned(&messages, by));
            let again = world.import(&mapping);
            assert_eq!(again.study.fingerprint(), first.study.fingerprint(), "{measure} {by}");
            assert_eq!(placed(&again, "messages"), [10, 1, 0, 0, 0, 0]);
        }
    }
}

#[test]
fn a_log_in_two_files_is_the_log_in_one() {
    let world = programme();
    let whole = world.import(MAPPING);
    let lines: Vec<&str> = MESSAGES.lines().collect();
    world.write("m-1.csv", format!("{}\n", lines[..4].join("\n")));
    // columns in another order, and a row that both have
    let turned = |line: &&str| line.split(',').rev().collect::<Vec<_>>().join(",");
    let rest: Vec<String> = [lines[0], lines[3]].iter().chain(&lines[4..]).map(turned).collect();
    world.write("m-2.csv", format!("{}\n", rest.join("\n")));
    let parts = world.import(&MAPPING.replace("messages.csv", "m-*.csv"));
    assert_eq!(parts.study.fingerprint(), whole.study.fingerprint());
    assert_eq!(placed(&parts, "m"), [6, 1, 0, 0, 0, 0]);
}
