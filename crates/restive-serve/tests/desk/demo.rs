//! The demo for several numbers of people, some of which do not support an effect model.

use restive_ledger::Ledger;
use restive_programme::Programme;
use restive_serve::demo::{DemoAsked, make};
use restive_testkit::Folder;

#[test]
fn a_demo_of_any_size_has_three_weeks_with_outcomes_and_a_planned_one() {
    for people in [40, 50, 70, 120] {
        let folder = Folder::new();
        let asked = DemoAsked { people, ..DemoAsked::default() };
        let programme = make(&folder.path("demo"), &asked, |_, _| {}).unwrap();
        let programme = Programme::open(&programme).unwrap();
        let study = restive_tables::Study::read(&programme.study()).unwrap();
        let log = &study.instances[0].trajectories;
        assert_eq!((study.instances[0].arms.len(), log.steps()), (people, 16 + 3));
        let ledger = Ledger::read(&programme.ledger()).unwrap();
        assert_eq!(ledger.verify().unwrap().faults, []);
        let plans = ledger.standings().unwrap().plans;
        assert_eq!(plans.len(), 4, "{people} people");
        for (week, plan) in plans.iter().enumerate() {
            assert!((1..=(people / 16).max(4)).contains(&plan.listed), "{people} people: {plan:?}");
            assert_eq!(ledger.final_list(&plan.plan).unwrap().is_some(), week < 3);
            // outcomes of the last week before are partly missing
            match week {
                0 | 1 => assert_eq!((plan.missing, plan.outcomes), (0, plan.listed), "{people}: {plan:?}"),
                2 => assert!((1..=plan.listed).contains(&plan.missing), "{people} people: {plan:?}"),
                _ => assert_eq!(plan.outcomes, 0, "{people} people: {plan:?}"),
            }
        }
        // the log has as many calls in each week before the lists, the first one excepted
        let calls = |t: usize| (0..people).filter(|i| log.action()[[0, t, *i]] == 1).count();
        assert!((0..15).all(|t| calls(t) == (people / 16).max(4)), "{people} people");
    }
}
