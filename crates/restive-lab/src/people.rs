//! What is known of the people of the maternal programme: features that are numbers, and features with categories.

use restive::data::features::{Column, Features};
use restive::data::maternal::{
    AGE_GROUPS, CALL_SLOTS, CHANNELS, EDUCATION, INCOMES, LANGUAGES, PHONE_OWNERS, POVERTY_LINE, rupees,
    schooling,
};
use restive::fairness::Groups;

/// Features that are numbers.
pub(crate) const NUMBERS: [&str; 7] = [
    "age",
    "weeks pregnant at enrolment",
    "days since first call",
    "gravidity",
    "parity",
    "stillbirths",
    "live births",
];
/// Stages of pregnancy, gestational age at enrolment, and the poverty line.
pub(crate) const STAGES: [&str; 2] = ["pregnant", "delivered"];
pub(crate) const TRIMESTERS: [&str; 3] = ["first trimester", "second trimester", "third trimester"];
pub(crate) const POVERTY: [&str; 2] = ["below", "above"];

const BRACKETS: [&str; INCOMES.len()] = {
    let mut names = [""; INCOMES.len()];
    let mut k = 0;
    while k < names.len() {
        names[k] = INCOMES[k].0;
        k += 1;
    }
    names
};

/// The features with categories, then the numbers, which have none.
pub(crate) static FEATURES: [(&str, &[&str]); 17] = [
    ("income", &BRACKETS),
    ("education", &EDUCATION),
    ("stage", &STAGES),
    ("gestation", &TRIMESTERS),
    ("poverty line", &POVERTY),
    ("language", &LANGUAGES),
    ("phone owner", &PHONE_OWNERS),
    ("enrolment channel", &CHANNELS),
    ("call slot", &CALL_SLOTS),
    ("age group", &AGE_GROUPS),
    (NUMBERS[0], &[]),
    (NUMBERS[1], &[]),
    (NUMBERS[2], &[]),
    (NUMBERS[3], &[]),
    (NUMBERS[4], &[]),
    (NUMBERS[5], &[]),
    (NUMBERS[6], &[]),
];

/// Tables of results know no commas in names.
pub(crate) fn plain(name: &str) -> String {
    name.replace(',', ";")
}

/// A feature with categories.
pub(crate) struct Categories {
    pub(crate) name: &'static str,
    pub(crate) labels: &'static [&'static str],
    /// of every person
    pub(crate) groups: Groups,
}

fn number<'a>(people: &'a Features, name: &str) -> &'a [f64] {
    match people.column(name) {
        Some(Column::Number(values)) => values,
        _ => panic!("{name}: a number of the programme"),
    }
}

/// A text column; the programme knows everything of everyone.
fn words<'a>(people: &'a Features, name: &str) -> Vec<&'a str> {
    match people.column(name) {
        Some(Column::Text(values)) => {
            values.iter().map(|word| word.as_deref().expect("nothing is missing")).collect()
        }
        _ => panic!("{name}: a text of the programme"),
    }
}

/// The numbers, and income and schooling by the amounts that stand for their categories.
pub(crate) fn numbers_of(people: &Features) -> Vec<(&'static str, Vec<f64>)> {
    let mut all: Vec<(&str, Vec<f64>)> =
        NUMBERS.iter().map(|name| (*name, number(people, name).to_vec())).collect();
    all.push(("income", incomes(people)));
    let level = |word: &&str| schooling(word).expect("a level") as f64;
    all.push(("education", words(people, "education").iter().map(level).collect()));
    all
}

/// In rupees a month.
fn incomes(people: &Features) -> Vec<f64> {
    words(people, "income").iter().map(|word| rupees(word).expect("a bracket")).collect()
}

/// In the order of [`FEATURES`].
pub(crate) fn categories_of(people: &Features) -> Vec<Categories> {
    let code = |name: &str, labels: &[&str]| -> Vec<usize> {
        let place = |word: &&str| labels.iter().position(|label| label == word).expect("a category");
        match name {
            "stage" => number(people, "has given birth").iter().map(|has| usize::from(*has > 0.5)).collect(),
            "gestation" => {
                let weeks = number(people, "weeks pregnant at enrolment").iter();
                weeks.map(|weeks| usize::from(*weeks >= 14.0) + usize::from(*weeks >= 28.0)).collect()
            }
            "poverty line" => incomes(people).iter().map(|x| usize::from(*x >= POVERTY_LINE)).collect(),
            text => words(people, text).iter().map(place).collect(),
        }
    };
    let with_categories = FEATURES.iter().filter(|(_, labels)| !labels.is_empty());
    let groups = |name: &str, labels: &[&str]| {
        let names = labels.iter().map(ToString::to_string).collect();
        let of: Vec<Option<u32>> = code(name, labels).into_iter().map(|k| Some(k as u32)).collect();
        Groups::new(names, &of, "").expect("every code is that of a label")
    };
    with_categories.map(|(name, labels)| Categories { name, labels, groups: groups(name, labels) }).collect()
}
