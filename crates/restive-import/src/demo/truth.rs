//! Files of the truth behind the exports.

use super::people::rounded;
use super::tables::{ExportFile, Form, PlantedCount};
use super::{CallOutcome, SyntheticProgramme};

impl SyntheticProgramme {
    pub(super) fn truth_files(&self, planted: &[PlantedCount]) -> Vec<ExportFile> {
        let file = |name, header: &[&str], rows: Vec<Vec<String>>| ExportFile {
            name,
            bytes: Form::PLAIN.write(header, rows),
        };
        let of_planted = |one: &PlantedCount| vec![one.file.into(), one.what.into(), one.count.to_string()];
        let truth = ["arm", "p_0_0_1", "p_0_1_1", "p_1_0_1", "p_1_1_1"];
        let calls = ["week", "id", "reached", "engaged_before", "engaged_after", "engaged_without", "helped"];
        vec![
            file("truth/truth.csv", &truth, self.probability_rows()),
            file("truth/people.csv", &PEOPLE, self.people_rows()),
            file("truth/calls.csv", &calls, self.call_rows()),
            file("truth/planted.csv", &["file", "what", "count"], planted.iter().map(of_planted).collect()),
        ]
    }

    fn probability_rows(&self) -> Vec<Vec<String>> {
        let cases = [(false, false), (false, true), (true, false), (true, true)];
        let row = |person: &super::Person| {
            let probabilities = cases
                .iter()
                .map(|(was_engaged, is_called)| person.probability(*was_engaged, *is_called).to_string());
            std::iter::once(person.id.clone()).chain(probabilities).collect()
        };
        self.people.iter().map(row).collect()
    }

    fn people_rows(&self) -> Vec<Vec<String>> {
        let yes_no = |is: bool| if is { "yes" } else { "no" }.to_string();
        let or_empty = |text: Option<String>| text.unwrap_or_default();
        let row = |(k, person): (usize, &super::Person)| {
            let states = &self.states[k];
            let letter = |week: usize, known: &dyn Fn(bool) -> char| states[week].map_or('.', known);
            let listened: String = (0..self.weeks())
                .map(|week| letter(week, &|engaged| if engaged { 'L' } else { 'n' }))
                .collect();
            let called: String = (0..self.weeks())
                .map(|week| letter(week, &|_| if self.is_called(k, week) { 'C' } else { '-' }))
                .collect();
            vec![
                person.id.clone(),
                or_empty(person.second_id.clone()),
                format!("+91{}", person.phone),
                person.worker.clone(),
                person.centre.into(),
                person.household.clone(),
                person.village.clone(),
                person.district.into(),
                person.registered.to_string(),
                person.born.to_string(),
                or_empty(person.exit.map(|day| day.to_string())),
                yes_no(person.do_not_call),
                person.education.into(),
                person.age.to_string(),
                person.income.to_string(),
                person.children.to_string(),
                person.language.into(),
                person.phone_owner.into(),
                person.first_week.to_string(),
                person.last_week.unwrap_or(self.weeks() - 1).to_string(),
                rounded(person.inclination).to_string(),
                rounded(person.effect[0]).to_string(),
                rounded(person.effect[1]).to_string(),
                listened,
                called,
            ]
        };
        self.people.iter().enumerate().map(row).collect()
    }

    fn call_rows(&self) -> Vec<Vec<String>> {
        let digit = |is: bool| u8::from(is).to_string();
        let row = |call: &super::Call| {
            let helped = i8::from(call.engaged_after) - i8::from(call.engaged_without);
            vec![
                call.week.to_string(),
                self.people[call.person].id.clone(),
                digit(call.outcome == CallOutcome::Reached),
                digit(call.engaged_before),
                digit(call.engaged_after),
                digit(call.engaged_without),
                helped.to_string(),
            ]
        };
        self.calls().map(row).collect()
    }
}

const PEOPLE: [&str; 25] = [
    "id",
    "second_id",
    "phone",
    "worker",
    "centre",
    "household",
    "village",
    "district",
    "registered",
    "date_of_birth",
    "exit_date",
    "dnd",
    "education",
    "age",
    "income",
    "children",
    "language",
    "phone_owner",
    "first_week",
    "last_week",
    "inclination",
    "effect_if_not_engaged",
    "effect_if_engaged",
    "listened",
    "called",
];
