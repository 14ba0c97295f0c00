//! A trial that has ended: the page *Evidence* shows its result.

use crate::harness::{WebUi, assert_words, done_job, part};
use crate::world::World;
use restive_programme::{AnalyseAsked, DesignAsked};

#[test]
fn a_trial_that_is_over_is_told_with_its_result() {
    let mut world = World::new();
    let files = world.files();
    world.train();
    files.write("programme/rules.toml", "budget = 8\n");
    world.open().init().unwrap();

    // a trial of two weeks
    let options = DesignAsked {
        id: Some("spring".into()),
        weeks: 2,
        share: 0.5,
        by: None,
        strata: vec![],
        cluster_sd: 0.0,
        trials: 8,
        seed: 3,
    };
    let designed = world.open().design_trial(&options, |_| {}).unwrap();
    let protocol = files.path("protocol.toml");
    std::fs::write(&protocol, designed.protocol.text(designed.people, "week")).unwrap();
    world.open().assign_trial(&protocol, world.now()).unwrap();
    for _ in 0..2 {
        let list = world.plan();
        let reached = world.receive_outcomes(&list, false);
        world.advance(&reached);
    }
    let programme = world.open();
    let found = programme.analyse_trial(&AnalyseAsked::default()).unwrap();
    programme.end_trial("as agreed", world.now()).unwrap();

    let ui = WebUi::start_in(files, |_| {});
    let mut planner = ui.planner();
    let begun = planner.post("/evidence/judge", &[]);
    done_job(&mut planner, &begun);
    let page = planner.get("/evidence").body;
    let told = page.split("<dt>result</dt><dd>").nth(1).unwrap_or_else(|| panic!("{page}"));
    let told = told.split("</dd>").next().unwrap().replace("&#39;", "'").replace("&#38;", "&");
    assert_eq!(told, found.sentence);
    assert_words("evidence_trial", part(&page, "<dl class=\"lines\"", "</dl>"));
}
