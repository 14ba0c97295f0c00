//! Who is called: the strict policy of every method is deployed once on the test groups, on the true transitions and from the
//! logged first states, and what is known of the people it calls is put into numbers.
//!
//! | metric | of the people called at least once |
//! |---|---|
//! | `people` | how many they are |
//! | `mean:FEATURE` | mean of a number |
//! | `share:FEATURE=CATEGORY` | share of a category |
//! | `both` | of a pair of methods: the share of the first's people whom the second calls as well |
//! | `p:FEATURE` | of a pair: Welch's t-test of a number, chi-square test of all categories |
//! | `p:FEATURE=CATEGORY` | of a pair: chi-square test of one category against all others |
//!
//! All methods meet the same luck. A person counts once, however often called: calls to the same person are no independent
//! observations. Two methods may call the same person, which the tests, as published, take no notice of.

use super::RECOMMENDED;
use super::trained::Trained;
use crate::lab::metrics::{PUBLISHED_DISCOUNT, TestInstance};
use ndarray::{Array2, ArrayView4};
use restive::data::features::{Column, Features};
use restive::data::maternal::{
    AGE_GROUPS, CALL_SLOTS, CHANNELS, EDUCATION, INCOMES, LANGUAGES, PHONE_OWNERS, POVERTY_LINE, rupees,
    schooling,
};
use restive::policy::Policy;
use restive::statistics::{chi_square, welch_t};

/// All people of the test groups, as if they were a method's.
pub(crate) const EVERYONE: &str = "everyone";
/// Whose people are compared.
pub(crate) const PAIRS: [[&str; 2]; 2] =
    [["decision-focused", "two-stage"], [RECOMMENDED[1], RECOMMENDED[0]]];
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

/// The name of a pair in the column of methods.
pub(crate) fn pair(methods: [&str; 2]) -> String {
    methods.join(" and ")
}

/// A feature with categories.
struct Categories {
    name: &'static str,
    labels: Vec<&'static str>,
    /// of every person, `[N]`
    code: Vec<usize>,
}

/// (method, metric, value) of every method and pair; `people` has those of the test instances one after the other.
pub(crate) fn numbers(
    tests: &[TestInstance<'_>],
    people: &Features,
    all: &[Trained],
) -> Vec<(String, String, f64)> {
    let mut out = Vec::new();
    let mut called = vec![(EVERYONE, (0..people.arms()).collect::<Vec<usize>>())];
    for Trained { method, predictor, discount, .. } in all {
        let strict = |test: &TestInstance<'_>| {
            let predicted = predictor.predict(test.instance().features());
            by_index(test, predicted.view(), *discount)
        };
        called.push((method, whom(tests, strict)));
    }
    called.push(("oracle", whom(tests, |test| by_index(test, test.truth(), PUBLISHED_DISCOUNT))));
    let (numbers, categories) = (numbers_of(people), categories_of(people));
    for (method, whom) in &called {
        let mut push = |metric: String, value: f64| out.push((method.to_string(), plain(metric), value));
        push("people".into(), whom.len() as f64);
        for (name, values) in &numbers {
            push(format!("mean:{name}"), whom.iter().map(|i| values[*i]).sum::<f64>() / whom.len() as f64);
        }
        for feature in &categories {
            let counts = counts(feature, whom);
            for (label, count) in feature.labels.iter().zip(counts) {
                push(format!("share:{}={label}", feature.name), count as f64 / whom.len() as f64);
            }
        }
    }
    for methods in PAIRS {
        let of = |method| called.iter().find(|(name, _)| *name == method).map(|(_, whom)| whom);
        let [Some(first), Some(second)] = methods.map(of) else { continue };
        let mut push = |metric: String, value: f64| out.push((pair(methods), plain(metric), value));
        let both = first.iter().filter(|i| second.contains(i)).count();
        push("both".into(), both as f64 / first.len() as f64);
        for (name, values) in numbers.iter().filter(|(name, _)| NUMBERS.contains(name)) {
            let [a, b] = [first, second].map(|whom| whom.iter().map(|i| values[*i]).collect::<Vec<f64>>());
            if let Ok(test) = welch_t(&a, &b) {
                push(format!("p:{name}"), test.p);
            }
        }
        for feature in &categories {
            let [a, b] = [first, second].map(|whom| counts(feature, whom));
            let p = |a: &[u64], b: &[u64]| {
                let table: Vec<u64> = a.iter().chain(b).copied().collect();
                let table = Array2::from_shape_vec((2, a.len()), table).expect("two rows");
                chi_square(table.view()).ok().map(|test| test.p)
            };
            if let Some(p) = p(&a, &b) {
                push(format!("p:{}", feature.name), p);
            }
            for (k, label) in feature.labels.iter().enumerate() {
                let [a, b] = [(&a, first), (&b, second)].map(|(c, whom)| [c[k], whom.len() as u64 - c[k]]);
                if let Some(p) = p(&a, &b) {
                    push(format!("p:{}={label}", feature.name), p);
                }
            }
        }
    }
    out
}

/// Tables of results know no commas in names.
fn plain(name: String) -> String {
    name.replace(',', ";")
}

fn by_index(test: &TestInstance<'_>, transition: ArrayView4<'_, f64>, discount: f64) -> Policy {
    Policy::Strict(test.index(transition, discount))
}

/// The people called at least once, numbered through all test instances.
fn whom(tests: &[TestInstance<'_>], policy: impl Fn(&TestInstance<'_>) -> Policy) -> Vec<usize> {
    let (mut all, mut before) = (Vec::new(), 0);
    for test in tests {
        let pulls = test.deployed(&policy(test));
        let is_called = pulls.columns().into_iter().map(|person| person.iter().any(|pull| *pull));
        all.extend(is_called.enumerate().filter(|(_, is)| *is).map(|(i, _)| before + i));
        before += test.instance().arms();
    }
    all
}

fn counts(feature: &Categories, whom: &[usize]) -> Vec<u64> {
    let mut counts = vec![0; feature.labels.len()];
    whom.iter().for_each(|i| counts[feature.code[*i]] += 1);
    counts
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
fn numbers_of(people: &Features) -> Vec<(&'static str, Vec<f64>)> {
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

fn categories_of(people: &Features) -> Vec<Categories> {
    let of = |name: &'static str, labels: &[&'static str]| {
        let place = |word: &&str| labels.iter().position(|label| label == word).expect("a category");
        Categories { name, labels: labels.to_vec(), code: words(people, name).iter().map(place).collect() }
    };
    let brackets = INCOMES.map(|(name, _)| name);
    let weeks = number(people, "weeks pregnant at enrolment");
    let trimester = weeks.iter().map(|weeks| usize::from(*weeks >= 14.0) + usize::from(*weeks >= 28.0));
    let has_given_birth = number(people, "has given birth");
    vec![
        of("income", &brackets),
        of("education", &EDUCATION),
        Categories {
            name: "stage",
            labels: STAGES.to_vec(),
            code: has_given_birth.iter().map(|has| usize::from(*has > 0.5)).collect(),
        },
        Categories { name: "gestation", labels: TRIMESTERS.to_vec(), code: trimester.collect() },
        Categories {
            name: "poverty line",
            labels: POVERTY.to_vec(),
            code: incomes(people).iter().map(|income| usize::from(*income >= POVERTY_LINE)).collect(),
        },
        of("language", &LANGUAGES),
        of("phone owner", &PHONE_OWNERS),
        of("enrolment channel", &CHANNELS),
        of("call slot", &CALL_SLOTS),
        of("age group", &AGE_GROUPS),
    ]
}
