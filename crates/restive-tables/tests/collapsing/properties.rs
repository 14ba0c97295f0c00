//! Tables by chance: labels are those by hand, nothing panics, and a label is refused exactly where no unlogged pulls explain it.

use super::{HEADER, INFINITE, text};
use proptest::prelude::*;
use restive::instance::UNSEEN;
use restive_tables::{Format, Study};

/// Labels by the table of the reader's documentation, one arm at a time.
fn by_hand(rows: &[(bool, bool)], start: Option<(u16, u16)>) -> Vec<u16> {
    let (mut label, mut all) = (start, Vec::new());
    for &(is_pulled, seen) in rows.iter().chain(&[(false, false)]) {
        all.push(label.map_or(UNSEEN, |(s, h)| s * 64 + h));
        label = if is_pulled { Some((seen.into(), 0)) } else { label.map(|(s, h)| (s, h + 1)) };
    }
    all
}

proptest! {
    #![proptest_config(proptest::test_runner::Config { rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn labels_are_those_by_hand(
        rows in prop::collection::vec((any::<bool>(), any::<bool>()), 1..20),
        start in prop::option::of((0u16..2, 0u16..40)),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut log = HEADER.to_string();
        for (t, (is_pulled, seen)) in rows.iter().enumerate() {
            let label = start.filter(|_| t == 0).map_or(",".into(), |(s, h)| format!("{s},{h}"));
            let state = if *is_pulled { u8::from(*seen).to_string() } else { String::new() };
            log += &format!("1,{t},A,{label},{state},{}\n", u8::from(*is_pulled));
        }
        let read = text(folder.path(), "observation = \"collapsing\"\nchain = 64", &log).unwrap();
        let state = read.instances[0].trajectories.state();
        prop_assert_eq!(state.slice(ndarray::s![0, .., 0]).to_vec(), by_hand(&rows, start));
        let again = folder.path().join("again");
        read.write(&again, Format::Parquet, false, |_| ()).unwrap();
        let back = Study::read(&again).unwrap();
        prop_assert_eq!(back.instances[0].trajectories.state(), state);
        prop_assert_eq!(back.fingerprint(), read.fingerprint());
    }

    #[test]
    fn no_table_makes_the_reader_panic(
        rows in prop::collection::vec("1,[0-3],[AB],([012]|-1|),([0-3]|9|65535|1e9|0.5|),([012]|),([01]|)\n", 1..8),
        chain in prop::sample::select(vec!["1", "3", "\"infinite\"", "\"infinite\"\nbeliefs = 2"]),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let settings = format!("observation = \"collapsing\"\nchain = {chain}");
        match text(folder.path(), &settings, &(HEADER.to_string() + &rows.concat())) {
            Err(message) => prop_assert!(!message.contains('\n'), "{}", message),
            Ok(read) => {
                let again = folder.path().join("again");
                read.write(&again, Format::Csv, false, |_| ()).unwrap();
                prop_assert_eq!(Study::read(&again).unwrap().fingerprint(), read.fingerprint());
            }
        }
    }
}

/// A step as a table tells it: no row at all, or a row with perhaps an action (0, or 1 and what it saw) and perhaps a label.
type Told = Option<(Option<Option<u16>>, Option<(u16, u16)>)>;

/// Whether any pulls at steps without a record, and anything before the log, make all that a table says of an arm true: by
/// trying all of them. `age` is how many steps ago the arm was seen, as `since` counts.
fn is_possible(steps: &[Told], (seen, age): (u16, u16), last: Option<u16>) -> bool {
    let Some((now, later)) = steps.split_first() else { return true };
    let (action, label) = now.unwrap_or((None, None));
    let is_told = |(s, h): (u16, u16)| s == seen && (h == age || last == Some(h) && age > h);
    let left = || is_possible(later, (seen, age + 1), last);
    let pulled = |x: u16| is_possible(later, (x, 0), last);
    label.is_none_or(is_told)
        && match action {
            Some(None) => left(),
            Some(Some(x)) => pulled(x),
            None => left() || pulled(0) || pulled(1),
        }
}

proptest! {
    #![proptest_config(proptest::test_runner::Config { rng_seed: proptest::test_runner::RngSeed::Fixed(2), failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn a_label_is_refused_where_no_unlogged_pulls_explain_it(
        chain in prop::sample::select(vec![Some(1u16), Some(2), Some(3), Some(4), None]),
        cells in prop::collection::vec((0u8..10, 0u8..6, 0u16..2, 0u16..2, 0u16..4), 2..7),
    ) {
        let steps: Vec<Told> = cells.iter().map(|&(row, action, saw, s, h)| (row > 2).then(|| {
            let action = match action { 0..2 => None, 2..5 => Some(None), _ => Some(Some(saw)) };
            let label = (row > 6).then_some((s, chain.map_or(h, |chain| h.min(chain - 1))));
            (action, label)
        })).collect();
        let mut log = HEADER.to_string();
        for (t, told) in steps.iter().enumerate() {
            let Some((action, label)) = told else { continue };
            let label = label.map_or(",".into(), |(s, h)| format!("{s},{h}"));
            let action = match action { None => ",".into(), Some(None) => ",0".into(), Some(Some(x)) => format!("{x},1") };
            log += &format!("1,{t},A,{label},{action}\n");
        }
        // so that the log begins at 0 and has an arm that is left alone
        log += "1,0,B,,,,0\n";
        let folder = tempfile::tempdir().unwrap();
        let settings = match chain {
            Some(chain) => format!("observation = \"collapsing\"\nchain = {chain}"),
            None => format!("{INFINITE}\nbeliefs = 20"),
        };
        let read = text(folder.path(), &settings, &log);
        // a chain that ends without saying so is refused for that
        prop_assume!(!read.as_ref().is_err_and(|message| message.contains("found a gap of")));
        let starts = (0..2).flat_map(|s| (0..16).map(move |age| (s, age)));
        let expected = starts.into_iter().any(|start| is_possible(&steps, start, chain.map(|chain| chain - 1)));
        prop_assert_eq!(read.is_ok(), expected, "{:?}\n{}", read.err(), log);
    }
}
