//! An import made again without a command line, a model trained anew, and what came of lists.

use crate::common::{import, programme, tell};
use restive_pipeline::{Asked, FolderTraining, PredictorName, Progressed};
use restive_programme::{Code, Programme};
use restive_tables::Model;
use std::fmt::Write;

#[test]
fn an_import_is_made_again_from_where_the_exports_are() {
    let (fixture, programme) = programme();
    let exports = fixture.exports();
    let noted = programme.exports().unwrap().unwrap();
    assert_eq!(noted.mapping, exports.canonicalize().unwrap().join("mapping.toml"));
    assert!(noted.mapping.is_absolute() && noted.pseudonymise.is_none() && !noted.parquet);
    // a path that is not relative is read as well
    let text = format!("mapping = {:?}\n", exports.join("mapping.toml").display().to_string());
    std::fs::write(programme.folder().join("exports.toml"), text).unwrap();
    let phone = &fixture.truth().people()[0].phone;
    let mut messages = std::fs::read_to_string(exports.join("messages.csv")).unwrap();
    let lines = messages.lines().count();
    for k in 0..30 {
        writeln!(messages, "sid {k},,,+91{phone},,,no day {k},,,60").unwrap();
    }
    std::fs::write(exports.join("messages.csv"), messages).unwrap();
    let imported = programme.import_again(|_, _| {}).unwrap();
    assert_eq!(imported.summary.reasons.iter().map(|reason| reason.rows).sum::<u64>(), 30);
    assert!(programme.quarantine(5).unwrap().is_empty(), "of the import before");
    let programme = Programme::open(programme.folder()).unwrap();
    let some = programme.quarantine(5).unwrap();
    assert!(some.len() == 5 && some[0].file == "messages.csv" && some[0].what == "row");
    assert_eq!(some[0].line, (lines + 1).to_string());
    assert!(!some.iter().any(|row| row.reason.contains("no day")));
    assert_eq!(programme.quarantine(100).unwrap().len(), 30);
    // rules that were changed are refused, as the command line refuses them
    let mapping = std::fs::read_to_string(exports.join("mapping.toml")).unwrap();
    std::fs::write(exports.join("mapping.toml"), mapping.replace("at_least = 30", "at_least = 20")).unwrap();
    let refused = programme.import_again(|_, _| {}).err().unwrap().to_string();
    assert!(refused.contains("differs in state"), "{refused}");
    std::fs::remove_file(exports.join("mapping.toml")).unwrap();
    let refused = programme.import_again(|_, _| {}).err().unwrap().to_string();
    assert!(refused.contains("found no mapping"), "{refused}");
    std::fs::write(programme.folder().join("exports.toml"), "nonsense").unwrap();
    assert!(programme.exports().is_err());
    std::fs::remove_file(programme.folder().join("exports.toml")).unwrap();
    let refused = programme.import_again(|_, _| {}).err().unwrap().to_string();
    assert!(
        programme.exports().unwrap().is_none() && refused.contains("restive import MAPPING"),
        "{refused}"
    );
}

#[test]
fn a_programme_finds_its_exports_after_both_were_moved() {
    let (fixture, programme) = programme();
    let exports = fixture.exports();
    let import = |mapping: &std::path::Path| {
        import(mapping, programme.folder());
        std::fs::read_to_string(programme.folder().join("exports.toml")).unwrap()
    };
    let text = import(&exports.join("mapping.toml"));
    assert!(text.contains("mapping = \"../exports/mapping.toml\""), "{text}");
    let inside = programme.folder().join("mine");
    std::fs::create_dir(&inside).unwrap();
    for name in ["mapping.toml", "registry.csv", "messages.csv", "calls.csv"] {
        std::fs::copy(exports.join(name), inside.join(name)).unwrap();
    }
    let text = import(&inside.join("mapping.toml"));
    assert!(text.contains("mapping = \"mine/mapping.toml\""), "{text}");
    // elsewhere by its whole path
    let elsewhere = tempfile::tempdir().unwrap();
    for name in ["mapping.toml", "registry.csv", "messages.csv", "calls.csv"] {
        std::fs::copy(exports.join(name), elsewhere.path().join(name)).unwrap();
    }
    let away = elsewhere.path().join("mapping.toml").canonicalize().unwrap();
    let text = import(&away);
    assert!(text.contains(&format!("mapping = {:?}", away.display().to_string())), "{text}");

    import(&exports.join("mapping.toml"));
    let new = tempfile::tempdir().unwrap();
    for name in ["programme", "exports"] {
        std::fs::rename(fixture.folder().path(name), new.path().join(name)).unwrap();
    }
    let moved = Programme::open(&new.path().join("programme")).unwrap();
    let mapping = moved.exports().unwrap().unwrap().mapping;
    assert_eq!(mapping, new.path().canonicalize().unwrap().join("exports/mapping.toml"));
    moved.import_again(|_, _| {}).unwrap();
}

#[test]
fn a_model_is_the_one_of_the_command_line_and_takes_no_name_that_is_taken() {
    let (_kept, programme) = programme();
    let day = jiff::civil::date(2026, 3, 9);
    // a training that the command line was interrupted in keeps its name
    std::fs::write(programme.models_folder().join("2026-03-09.checkpoint"), "").unwrap();
    let asked = Asked { predictor: Some(PredictorName::Effect), ..Asked::default() };
    let mut shares = Vec::new();
    let new = programme.train(&asked, day, |share, _| shares.push(share)).unwrap();
    assert_eq!((new.entry.name.as_str(), new.entry.number), ("2026-03-09-2", 2));
    assert!(shares.windows(2).all(|pair| pair[0] <= pair[1]), "{shares:?}");
    let shown = programme.folder().display().to_string();
    let training = FolderTraining::new(&programme.study(), &asked, &shown, |_| {}).unwrap();
    let done = training.run::<restive_pipeline::Error>(Progressed::default(), |_| Ok(())).unwrap();
    let out = programme.folder().join("by-hand");
    training.model(done.members, done.histories).unwrap().write(&out, false).unwrap();
    for file in Model::FILES {
        let read = |folder: &std::path::Path| std::fs::read(folder.join(file)).unwrap();
        assert_eq!(read(&new.entry.folder), read(&out), "{file}");
    }
    let chosen = programme.model(None, &programme.rules().unwrap()).unwrap();
    assert_eq!(chosen, new.entry);
}

#[test]
fn what_came_of_lists_is_counted() {
    let (_kept, programme) = programme();
    let list = programme.list(None).unwrap();
    let ids: Vec<&str> = list.rows.iter().map(|row| row.id.as_str()).collect();
    for (id, code) in ids.iter().zip([Code::Reached, Code::NoAnswer, Code::Refused, Code::NotCalled]) {
        tell(&programme, id, code, None).unwrap();
    }
    let weeks = programme.weeks_told(&programme.backdrop().unwrap(), 13).unwrap();
    assert_eq!(weeks.len(), 1);
    let week = &weeks[0];
    assert_eq!((week.listed, week.told, week.called, week.answered, week.reached), (ids.len(), 4, 3, 2, 1));
    assert!(programme.weeks_told(&programme.backdrop().unwrap(), 0).unwrap().is_empty());
    std::fs::remove_file(programme.ledger()).unwrap();
    let programme = Programme::open(programme.folder()).unwrap();
    assert!(programme.weeks_told(&programme.backdrop().unwrap(), 13).unwrap().is_empty());
}
