//! What cannot be is refused, with its place and what would do.

use super::{HEADER, INFINITE, THREE, text};

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "1,0,A,1,1,,0\n1,0,B,,,1,1\n1,1,A,1,2,0,1\n1,1,B,1,0,,0\n1,2,A,0,0,,\n1,2,B,1,1,,\n";
    assert!(text(folder.path(), THREE, &format!("{HEADER}{rows}")).is_ok());
    let cases: [(&str, &str, &[&str]); 12] = [
        (
            "1,0,A,1,1,,0",
            "1,0,A,1,1,1,0",
            &["line 2 (arm A), column state", "found 1, expected an empty cell"],
        ),
        ("1,2,A,0,0,,", "1,2,A,0,0,1,", &["line 6 (arm A), column state", "found 1, expected an empty cell"]),
        (
            "1,0,B,,,1,1",
            "1,0,B,,,,1",
            &["line 3 (arm B), column state", "found an empty cell, expected the state that the pull saw"],
        ),
        (
            "1,0,B,,,1,1",
            "1,0,B,,,2,1",
            &["line 3 (arm B), column state", "found 2, expected a state from 0 to 1"],
        ),
        (
            "1,1,B,1,0",
            "1,1,B,0,0",
            &["line 5 (arm B), column since", "found last_state 0, since 0, expected last_state 1, since 0"],
        ),
        (
            "1,1,A,1,2",
            "1,1,A,1,1",
            &["line 4 (arm A)", "found last_state 1, since 1, expected last_state 1, since 2"],
        ),
        (
            "1,2,B,1,1",
            "1,2,B,1,0",
            &["line 7 (arm B)", "found last_state 1, since 0, expected last_state 1, since 1"],
        ),
        (
            "1,0,A,1,1",
            "1,0,A,1,3",
            &["line 2 (arm A), column since", "found 3, expected a whole number from 0 to 2"],
        ),
        (
            "1,0,A,1,1",
            "1,0,A,2,1",
            &["line 2 (arm A), column last_state", "found 2, expected a state from 0 to 1"],
        ),
        (
            "1,0,A,1,1",
            "1,0,A,1,",
            &["line 2 (arm A), column since", "found an empty cell, expected a whole number"],
        ),
        ("1,0,A,1,1", "1,0,A,,1", &["line 2 (arm A), column last_state", "found an empty cell"]),
        ("1,0,A,1,1", "1,0,A,1,0.5", &["line 2 (arm A), column since", "found 0.5"]),
    ];
    for (from, to, parts) in cases {
        assert!(rows.contains(from), "{from}");
        let message =
            text(folder.path(), THREE, &format!("{HEADER}{}", rows.replacen(from, to, 1))).unwrap_err();
        for part in parts {
            assert!(message.contains(part), "no {part:?} in {message}");
        }
        assert!(!message.contains('\n'), "{message}");
    }
    // a label that is first said later is welcome, unless it takes a pull that was not there
    let later = rows.replacen("1,0,A,1,1,,0", "1,0,A,,,,0", 1);
    assert!(text(folder.path(), THREE, &format!("{HEADER}{later}")).is_ok());
    let pulled = later.replacen("1,1,A,1,2", "1,1,A,1,0", 1);
    let message = text(folder.path(), THREE, &format!("{HEADER}{pulled}")).unwrap_err();
    assert!(message.contains("line 4 (arm A)") && message.contains("expected since above 0"), "{message}");
    let message =
        text(folder.path(), THREE, "trajectory,t,arm,since,state,action\n1,0,A,1,,0\n").unwrap_err();
    assert!(message.contains("last_state") && message.contains("a label is both"), "{message}");
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let rows = format!("{HEADER}1,0,A,1,1,,0\n");
    let collapsing = "observation = \"collapsing\"\n";
    let cases = [
        (
            "chain = 3".to_string(),
            "line 6, column 9: chain: found 3, expected none: it belongs to observation = \"collapsing\"",
        ),
        ("beliefs = 3".into(), "beliefs: found 3, expected none"),
        (collapsing.into(), "found no chain, expected a line chain = …"),
        (
            format!("{collapsing}chain = 0"),
            "line 7, column 9: chain: found 0, expected a whole number of labels, at least 1, or \"infinite\"",
        ),
        (format!("{collapsing}chain = \"long\""), "chain: found \"long\""),
        (
            format!("{collapsing}chain = 3\nbeliefs = 4"),
            "beliefs: found 4, expected none: it belongs to chain = \"infinite\"",
        ),
        (
            format!("{INFINITE}\nbeliefs = 0"),
            "beliefs: found 0, expected a whole number of labels, at least 1",
        ),
        (
            format!("{collapsing}chain = 3000"),
            "chain: found 3000, expected at most 2048 labels for each of 2 states",
        ),
        (
            format!("{INFINITE}\nrewards = [0, [1, 0.5]]"),
            "chain: found \"infinite\", expected a whole number of labels: an infinite chain needs 2 states",
        ),
        (
            "observation = \"some\"".into(),
            "observation: found \"some\", expected \"full\" (at every step) or \"collapsing\" (at pulls only)",
        ),
    ];
    for (settings, part) in cases {
        let message = text(folder.path(), &settings, &rows).unwrap_err();
        assert!(message.contains(part), "no {part:?} in {message}");
    }
    let long = format!("{HEADER}1,0,A,1,2046,,0\n");
    let message = text(folder.path(), INFINITE, &long).unwrap_err();
    assert!(message.contains("a longest gap of 2048 steps and a horizon of 3"), "{message}");
}
