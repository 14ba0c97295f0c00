//! Plans and what became of them, in the study of the next import: worked out by hand.

use super::kit::World;
use restive::instance::NO_ACTION;
use restive_import::{Contact, ImportAsked, Imported, PlannedOutcome, PlannedPerson, PlannedWeek, Result};
use restive_tables::{Cells, Contacts, Study, write_private_table};

const MAPPING: &str = r#"
period = { every = "week" }
state = { at_least = 30, silence = "lowest" }
[people]
file = "registry.csv"
id = "id"
keep = ["name"]
features.district = "text"
[[events]]
file = "messages.csv"
person = "who"
time = "when"
value = "seconds"
[actions]
file = "calls.csv"
person = "who"
time = "when"
outcome = { column = "what", reached = ["Spoke"], made = ["rang out"], not_made = "cancelled", unknown = "?" }
"#;

/// Six people and five weeks, from 2 March to 5 April 2026; row 0 has the calls of the week of 9 March.
fn world(calls: &str) -> World {
    let world = World::new();
    world.write("registry.csv", "id,name,district\nB1,a,n\nB2,b,s\nB3,c,n\nB4,d,s\nB5,e,n\nB6,f,s\n");
    let mut messages = "who,when,seconds\n".to_string();
    for monday in ["2026-03-02", "2026-03-09", "2026-03-16", "2026-03-23", "2026-03-30"] {
        messages += &format!("B1,{monday},45\n");
    }
    for sunday in ["2026-03-08", "2026-03-15", "2026-03-22", "2026-03-29", "2026-04-05"] {
        messages += &format!("B2,{sunday},5\n");
    }
    world.write("messages.csv", messages);
    world.write("calls.csv", format!("who,when,what\nB5,2026-03-10,Spoke\n{calls}"));
    world
}

fn person(arm: &str, probability: f64, is_listed: bool, outcome: Option<(Contact, &str)>) -> PlannedPerson {
    let outcome =
        outcome.map(|(contact, code)| PlannedOutcome { contact, day: None, code: code.to_string() });
    PlannedPerson { arm: arm.into(), probability, is_listed, outcome }
}

fn week(first_day: &str, people: Vec<PlannedPerson>) -> PlannedWeek {
    PlannedWeek { plan: format!("plan of {first_day}"), first_day: first_day.parse().unwrap(), people }
}

/// Two plans: one that was worked off, but for two people, and one of which nobody has told.
fn plans() -> Vec<PlannedWeek> {
    vec![
        week(
            "2026-03-16",
            vec![
                person("B1", 1.0, true, Some((Contact::Reached, "reached"))),
                person("B2", 0.25, true, Some((Contact::NotReached, "no answer"))),
                person("B3", 0.25, false, None),
                person("B4", 0.5, true, Some((Contact::NotCalled, "not called"))),
                person("B5", 0.25, false, None),
            ],
        ),
        week("2026-03-23", vec![person("B1", 0.5, true, None), person("B2", 0.5, false, None)]),
    ]
}

fn import(world: &World, mapping: &str, planned: Vec<PlannedWeek>) -> Result<Imported> {
    world.asked(mapping, &ImportAsked { planned, ..ImportAsked::default() })
}

/// Action and propensity of a row; 9 and −1 stand for what is not known.
fn row(imported: &Imported, t: usize) -> (Vec<u8>, Vec<f64>) {
    let log = &imported.study.instances[0].trajectories;
    let action: Vec<u8> = log.action().slice(ndarray::s![0, t, ..]).to_vec();
    let propensity = match log.propensity() {
        None => vec![-1.0; action.len()],
        Some(all) => all.slice(ndarray::s![0, t, ..]).to_vec(),
    };
    let propensity = propensity.into_iter().zip(&action);
    let propensity = propensity.map(|(p, a)| if p.is_nan() || *a == NO_ACTION { -1.0 } else { p }).collect();
    (action.into_iter().map(|a| if a == NO_ACTION { 9 } else { a }).collect(), propensity)
}

#[test]
fn what_was_drawn_and_what_happened_become_actions_and_propensities() {
    let world = world("B5,2026-03-18,rang out\n");
    let imported = import(&world, MAPPING, plans()).unwrap();
    // before the plans: the log alone, and nobody knows how likely
    assert_eq!(row(&imported, 0), (vec![0, 0, 0, 0, 1, 0], vec![-1.0; 6]));
    // B4 was listed and not called, B5 called and not listed, B6 could not be drawn
    assert_eq!(row(&imported, 1), (vec![1, 1, 0, 0, 1, 0], vec![1.0, 0.25, 0.75, -1.0, -1.0, 1.0]));
    // the log ends before: whether B1 was called is not known
    assert_eq!(row(&imported, 2), (vec![9, 0, 0, 0, 0, 0], vec![-1.0, 0.5, 1.0, 1.0, 1.0, 1.0]));
    assert_eq!(row(&imported, 3), (vec![0; 6], vec![-1.0; 6]));
    let told = imported.summary.planned.unwrap();
    assert_eq!((told.weeks, told.propensities, told.without_outcome, told.strangers), (2, 9, 1, 0));
    assert_eq!(
        told.to_string(),
        "planned weeks 2, propensities known for 9 rows, 1 listed person without an outcome yet"
    );
    assert_eq!(imported.summary.calls, 4);
    // without plans there is no column
    let plain = import(&world, MAPPING, Vec::new()).unwrap();
    assert!(plain.study.instances[0].trajectories.propensity().is_none() && plain.summary.planned.is_none());
    assert_eq!(row(&plain, 1).0, [0, 0, 0, 0, 1, 0]);
}

#[test]
fn the_log_of_calls_and_the_plan_tell_of_one_call() {
    // the log has the call of B1 that the plan waits for; with its outcome told as well it is still one
    let world = world("B1,2026-03-24,Spoke\n");
    let mut told = plans();
    for planned in [plans(), {
        told[1].people[0].outcome =
            Some(PlannedOutcome { contact: Contact::Reached, day: None, code: "reached".into() });
        told
    }] {
        let imported = import(&world, MAPPING, planned).unwrap();
        assert_eq!(row(&imported, 2), (vec![1, 0, 0, 0, 0, 0], vec![0.5, 0.5, 1.0, 1.0, 1.0, 1.0]));
    }
    // a log that goes on and is silent about B1: she was not called
    let silent = import(&self::world("B3,2026-03-31,Spoke\n"), MAPPING, plans()).unwrap();
    assert_eq!(row(&silent, 2), (vec![0; 6], vec![-1.0, 0.5, 1.0, 1.0, 1.0, 1.0]));
    // a call of a year that is to come is a typing error and says nothing
    let typed = import(&self::world("B3,2062-03-31,Spoke\n"), MAPPING, plans()).unwrap();
    assert_eq!(row(&typed, 2).0[0], 9);
    // a call of which the log cannot say whether it was made, and one that was cancelled
    for (word, expected) in [("?", 9), ("cancelled", 0)] {
        let said = import(&self::world(&format!("B1,2026-03-24,{word}\n")), MAPPING, plans()).unwrap();
        assert_eq!((row(&said, 2).0[0], row(&said, 2).1[0]), (expected, -1.0), "{word}");
    }
}

#[test]
fn calls_may_count_only_where_somebody_was_reached() {
    let reached = MAPPING.replace("[actions]", "[actions]\ncounts = \"reached\"");
    let world = world("B5,2026-03-18,rang out\nB6,2026-03-19,Spoke\n");
    let imported = import(&world, &reached, plans()).unwrap();
    // B2 and B5 were called and not reached; who picks up is not drawn: no propensities
    assert_eq!(row(&imported, 1), (vec![1, 0, 0, 0, 0, 1], vec![-1.0; 6]));
    for (from, to, expected) in [
        ("reached = [\"Spoke\"], ", "", "found no outcome that is a call"),
        ("counts = \"reached\"", "counts = \"tried\"", "found \"tried\", expected \"made\""),
    ] {
        let said = import(&world, &reached.replace(from, to), plans()).err().unwrap().to_string();
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn the_last_call_and_what_came_of_it_are_kept_for_the_next_list() {
    let world = world("B5,2026-03-18,rang out\nB6,2026-03-19,cancelled\n");
    let asked =
        ImportAsked { out: Some(world.path("programme")), planned: plans(), ..ImportAsked::default() };
    world.asked(MAPPING, &asked).unwrap();
    let contacts = || Contacts::read(&world.imported().people()).unwrap();
    let last = |contacts: &Contacts, arm: &str| {
        let contact = contacts.person(arm).unwrap();
        format!("{} {}", contact.last_call, contact.last_outcome)
    };
    let expected = [
        ("B1", "2026-03-16 reached"),
        ("B2", "2026-03-16 no answer"),
        ("B3", " "),
        ("B4", " "),
        ("B5", "2026-03-18 rang out"),
        ("B6", " "),
    ];
    let people = contacts();
    expected.iter().for_each(|(arm, expected)| assert_eq!(last(&people, arm), *expected, "{arm}"));
    assert_eq!(
        (people.kept.as_slice(), people.cell("B3", "name").unwrap()),
        (&["name".to_string()][..], Some("c"))
    );
    assert_eq!((people.cell("B3", "phone").unwrap(), people.person("B3").unwrap().id.as_str()), (None, "B3"));
    assert!(people.person("B9").is_err() && people.may_be_called("B3").unwrap());
    // an export that begins later: what came of earlier calls is still known
    world.write("calls.csv", "who,when,what\nB6,2026-03-31,Spoke\n");
    world.asked(MAPPING, &asked).unwrap();
    let people = contacts();
    assert_eq!(last(&people, "B5"), "2026-03-18 rang out");
    assert_eq!(last(&people, "B6"), "2026-03-31 Spoke");
    // the study comes back with its propensities
    let study = Study::read(&world.imported().study()).unwrap();
    assert_eq!(study.instances[0].trajectories.known_propensities(), (9, 24));
    // the people of an earlier version
    let text = |cell: &str| Cells::Text(vec![cell.into()]);
    let truth = |yes: bool| Cells::Truth(vec![yes]);
    let cells = [text("B1"), text("1"), text("2026-01-01"), text(""), truth(true), truth(true), text("Ada")];
    let names = Contacts::COLUMNS.into_iter().chain(["name"]);
    let columns: Vec<(&str, &Cells)> = names.zip(&cells).collect();
    write_private_table(&world.path("old.parquet"), None, &columns).unwrap();
    let old = Contacts::read(&world.path("old.parquet")).unwrap();
    let ada = old.person("B1").unwrap();
    assert_eq!((ada.last_call.as_str(), ada.kept.as_slice()), ("", &["Ada".to_string()][..]));
    assert!(ada.do_not_call && ada.is_there && !ada.may_be_called() && ada.joined == "2026-01-01");
}

#[test]
fn people_who_are_one_by_now_and_people_who_are_gone() {
    let world = world("");
    // B2 and B4 have one number
    world.write("registry.csv", "id,name,district\nB1,a,n\nB2,x,s\nB3,c,n\nB4,x,s\nB5,e,n\nB6,f,s\n");
    let merging = MAPPING.replace("id = \"id\"\n", "id = \"id\"\nsame = { column = \"name\" }\n");
    let mut planned = plans();
    planned[0].people.push(person("B9", 0.5, false, None));
    let imported = import(&world, &merging, planned).unwrap();
    assert_eq!(imported.study.instances[0].arms, ["B1", "B2", "B3", "B5", "B6"]);
    // called as B2; how likely either of two names was to be called is not known
    assert_eq!(row(&imported, 1), (vec![1, 1, 0, 0, 0], vec![1.0, -1.0, 0.75, 0.75, 1.0]));
    assert_eq!(imported.summary.planned.unwrap().strangers, 1);
    assert!(imported.summary.notes.iter().any(|note| note.starts_with("1 person in plans")));
}

#[test]
fn plans_that_cannot_be_are_refused() {
    let world = world("");
    let refused = |planned: Vec<PlannedWeek>| import(&world, MAPPING, planned).err().unwrap().to_string();
    let said = refused(vec![week("2026-03-17", Vec::new())]);
    assert!(said.contains("found calls from 2026-03-17, expected the first day of a week"), "{said}");
    let said = refused(vec![week("2026-03-16", Vec::new()), week("2026-03-16", Vec::new())]);
    assert!(said.contains("found a second plan for 2026-03-16, expected one"), "{said}");
    for probability in [1.5, -0.1, f64::NAN] {
        let said = refused(vec![week("2026-03-16", vec![person("B1", probability, true, None)])]);
        assert!(said.contains("expected one from 0 to 1"), "{said}");
    }
    // a period that the study has not reached, and probabilities that contradict the list
    let early =
        import(&world, MAPPING, vec![week("2026-04-06", vec![person("B1", 0.5, true, None)])]).unwrap();
    assert_eq!(early.summary.planned.unwrap().weeks, 0);
    assert!(early.study.instances[0].trajectories.propensity().is_none());
    let reached = Some((Contact::Reached, "reached"));
    let people = vec![person("B1", 0.0, true, reached), person("B2", 1.0, false, None)];
    let odd = import(&world, MAPPING, vec![week("2026-03-16", people)]).unwrap();
    assert_eq!(row(&odd, 1), (vec![1, 0, 0, 0, 0, 0], vec![-1.0, -1.0, 1.0, 1.0, 1.0, 1.0]));
}
