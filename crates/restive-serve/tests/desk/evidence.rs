//! The page *Evidence*: the same numbers and sentences as `restive evaluate`, and a model trained anew.

use crate::harness::{WebUi, assert_main, assert_words, done_job, notices};
use restive_pipeline::{Asked, EvaluateAsked, FolderTraining, Progressed};
use restive_programme::Programme;
use restive_programme::evidence::{Terms, judge, page};
use restive_tables::Model;

#[test]
fn the_ranking_is_judged_as_the_command_line_judges_it() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    assert_main("evidence", &planner.get("/evidence"));
    let begun = planner.post("/evidence/judge", &[]);
    assert_main("job_judge", &done_job(&mut planner, &begun));
    let page_shown = planner.get("/evidence");
    assert_main("evidence_judged", &page_shown);
    let shown = page_shown.body;
    let programme = Programme::open(&ui.folder).unwrap();
    let [model, study] = programme.to_judge().unwrap();
    let again = judge([&model, &study], &EvaluateAsked::default(), |_| Ok::<_, restive_programme::Error>(()))
        .unwrap();
    let said = page(&again.evaluated, &again.study, Terms::People);
    for section in &said.sections {
        assert!(shown.contains(&section.fragment(3)), "{}", section.heading);
    }
    assert!(shown.contains(&again.model_fingerprint) && shown.contains(&again.study_fingerprint));
    assert!(!shown.contains(" pull") && !shown.contains(" arms"), "{shown}");
    assert!(!shown.contains(" style=\""));
    // the list that was final two weeks ago, with what came of it
    let weeks = programme.weeks_told(&programme.backdrop().unwrap(), 13).unwrap();
    assert_eq!(weeks.len(), 3);
    for week in &weeks {
        assert!(shown.contains(&format!(
            "<th scope=\"row\" class=\"day\">{}</th><td class=\"number\">{}</td>",
            week.first_day, week.listed
        )));
    }
    assert!(!shown.contains("class=\"notice"));
    std::fs::write(model.join("card.json"), std::fs::read_to_string(model.join("card.json")).unwrap() + " ")
        .unwrap();
    assert_words("evidence_old", &notices(&planner.get("/evidence")));
}

#[test]
fn a_model_is_trained_as_the_command_line_trains_it() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let programme = Programme::open(&ui.folder).unwrap();
    let before = programme.models().unwrap();
    let begun = planner.post("/evidence/train", &[]);
    done_job(&mut planner, &begun);
    let models = programme.models().unwrap();
    assert_eq!(models.len(), before.len() + 1);
    let new = models.last().unwrap();
    let study = programme.study();
    let training =
        FolderTraining::new(&study, &Asked::default(), &ui.folder.display().to_string(), |_| {}).unwrap();
    let run = training.run::<restive_pipeline::Error>(Progressed::default(), |_| Ok(())).unwrap();
    let model = training.model(run.members, run.histories).unwrap();
    let out = ui.folder.join("by-hand");
    model.write(&out, false).unwrap();
    for file in Model::FILES {
        assert_eq!(
            std::fs::read(new.folder.join(file)).unwrap(),
            std::fs::read(out.join(file)).unwrap(),
            "{file}"
        );
    }
    assert!(planner.get("/evidence").body.contains(&new.name));
}
