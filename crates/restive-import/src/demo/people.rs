//! People of a synthetic programme: recorded properties and hidden probabilities.

use super::draws::{Draws, Purpose};
use super::options::{Effect, ProgrammeOptions};
use jiff::ToSpan;
use jiff::civil::Date;

const FIRST_NAMES: [&str; 24] = [
    "Aarti", "Asha", "Bhavna", "Chhaya", "Deepa", "Farida", "Gauri", "Hema", "Jyoti", "Kavita", "Lata",
    "Madhuri", "Meena", "Nasreen", "Neha", "Pooja", "Rekha", "Rukhsana", "Sangita", "Seema", "Shabana",
    "Sunita", "Usha", "Vandana",
];
// made from Hindi and Marathi words for sample, example, imaginary, supposed, copied: not surnames
const LAST_NAMES: [&str; 8] =
    ["Namunekar", "Udaharan", "Kalpanik", "Misalkar", "Nakliwal", "Manlekar", "Sankalpi", "Pratirup"];
/// Levels of schooling.
pub(super) const EDUCATION: [&str; 4] = ["no schooling", "primary", "secondary", "higher"];
const CENTRES: [&str; 4] = ["East", "Hill", "Port", "West"];
const LANGUAGES: [&str; 3] = ["Hindi", "Marathi", "Gujarati"];
/// Language of one person in fifty.
const RARE_LANGUAGE: &str = "Konkani";
const OWNERS: [&str; 3] = ["woman", "husband", "family"];
const VILLAGES: usize = 30;
/// People with two registrations if the exports have faults.
const TWICE: usize = 12;
/// Largest addition of the hidden trait to the probability of being engaged.
const OWN: f64 = 0.16;

/// Probability that the first attempt of a call reaches the person.
pub(super) const REACHED: f64 = 0.72;
/// Probability that the number is wrong.
pub(super) const WRONG_NUMBER: f64 = 0.03;
/// Probability of a second attempt if the first was not answered.
pub(super) const TRIED_AGAIN: f64 = 0.4;
/// Probability that the second attempt reaches the person.
pub(super) const REACHED_THEN: f64 = 0.6;

/// A person of a synthetic programme.
#[derive(Debug, Clone, PartialEq)]
pub struct Person {
    /// Id, `MB-00001` and on, in the order of registration.
    pub id: String,
    /// Id of a second registration with the same phone; written only if the exports have faults.
    pub second_id: Option<String>,
    /// Day of the second registration.
    pub second_registered: Option<Date>,
    /// Invented name.
    pub name: String,
    /// Ten digits of an invented phone number, without the country.
    pub phone: String,
    /// Caseworker.
    pub worker: String,
    /// Health centre of the caseworker.
    pub centre: &'static str,
    /// Household, with one caseworker, village and district for all of its people.
    pub household: String,
    /// Village, one of 30.
    pub village: String,
    /// District of the village: `north`, `south` or `east`.
    pub district: &'static str,
    /// Language; one person in fifty has the fourth.
    pub language: &'static str,
    /// Schooling: `no schooling`, `primary`, `secondary` or `higher`.
    pub education: &'static str,
    /// Income in rupees a month.
    pub income: u32,
    /// Number of children.
    pub children: usize,
    /// Day of birth.
    pub born: Date,
    /// Age on the day of registration, in years of 365 days.
    pub age: usize,
    /// Owner of the phone: `woman`, `husband` or `family`.
    pub phone_owner: &'static str,
    /// Whether the person objects to calls.
    pub do_not_call: bool,
    /// Day of registration, in the week before the first messages or earlier.
    pub registered: Date,
    /// First week with messages, from 0.
    pub first_week: usize,
    /// Last week with messages; `None`: the person does not leave.
    pub last_week: Option<usize>,
    /// First day after the person has left; `None`: the person does not leave.
    pub exit: Option<Date>,
    /// Hidden trait from −1 to 1: inclination to be engaged that no feature explains.
    pub inclination: f64,
    /// Hidden probability of being engaged without a call, by the state of the week before.
    pub passive: [f64; 2],
    /// Hidden addition to that probability in a week in which a call reaches the person.
    pub effect: [f64; 2],
}

impl Person {
    /// Probability that a call reaches the person, at the first or the second attempt.
    pub const REACHED: f64 = REACHED + (1.0 - REACHED - WRONG_NUMBER) * TRIED_AGAIN * REACHED_THEN;

    /// Probability of being engaged in a week, given the state of the week before and whether the person is called.
    ///
    /// A call that is made reaches the person with probability [`Person::REACHED`].
    pub fn probability(&self, was_engaged: bool, is_called: bool) -> f64 {
        let state = usize::from(was_engaged);
        let added = if is_called { Self::REACHED * self.effect[state] } else { 0.0 };
        rounded(self.passive[state] + added)
    }

    /// Whether the person has messages in a week.
    pub fn is_present(&self, week: usize) -> bool {
        self.first_week <= week && self.last_week.is_none_or(|last| week <= last)
    }
}

/// The number with six decimals.
pub(super) fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

/// First day of a week, and days after it.
pub(super) fn day(first_day: Date, week: usize, days: i64) -> Date {
    first_day.saturating_add((7 * week as i64 + days).days())
}

/// Draws all people, in the order of registration.
pub(super) fn people(options: &ProgrammeOptions) -> Vec<Person> {
    let mut draws = Draws::new(options.seed, Purpose::People, &[]);
    let mut household = (0, 0, 0);
    let mut size = 0;
    let mut households = 0;
    let mut people: Vec<Person> = (0..options.people)
        .map(|_| {
            let joins = draws.is(0.4) && (1..4).contains(&size);
            let fresh = (households + 1, draws.below(options.workers), draws.below(VILLAGES));
            if joins {
                size += 1;
            } else {
                (household, households, size) = (fresh, households + 1, 1);
            }
            person(&mut draws, options, household)
        })
        .collect();
    people.sort_by_key(|person| person.registered);
    for (k, person) in people.iter_mut().enumerate() {
        person.id = format!("MB-{:05}", k + 1);
        // different for all people: 7919 and 100000 have no common factor
        person.phone = format!("99999{:05}", (7919 * k + 1234) % 100_000);
    }
    let all: Vec<usize> = (0..people.len()).collect();
    for k in draws.sample(&all, (people.len() / 50).max(1), |_| 1.0) {
        people[k].language = RARE_LANGUAGE;
    }
    for k in draws.sample(&all, (people.len() * 3 / 100).max(1), |_| 1.0) {
        people[k].do_not_call = true;
    }
    let settled: Vec<usize> =
        all.into_iter().filter(|k| !people[*k].do_not_call && people[*k].exit.is_none()).collect();
    let count = people.len();
    for (n, k) in draws.sample(&settled, TWICE.min(count / 10), |_| 1.0).into_iter().enumerate() {
        let person = &mut people[k];
        person.second_id = Some(format!("MB-{:05}", count + n + 1));
        person.second_registered =
            Some(person.registered.saturating_add((14 + draws.below(40) as i64).days()));
    }
    people
}

fn person(draws: &mut Draws, options: &ProgrammeOptions, household: (usize, usize, usize)) -> Person {
    let (household, worker, village) = household;
    let level = draws.place(&[0.16, 0.32, 0.36, 0.16]);
    let owner_shares = if level <= 1 { [0.52, 0.34, 0.14] } else { [0.78, 0.17, 0.05] };
    let phone_owner = OWNERS[draws.place(&owner_shares)];
    let age_days = 18 * 365 + draws.below(11 * 365) + draws.below(11 * 365);
    let (late, late_week) = (draws.unit(), draws.below((options.weeks - 3).min(9)));
    let is_late = options.turnover && late < 1.0 / 3.0;
    let first_week = if is_late { 1 + late_week } else { 0 };
    // people register in the week before their first messages, or long before the records begin
    let (weekday, earlier) = (draws.below(7) as i64, draws.below(84) as i64);
    let registered = day(options.first_day, first_week, weekday - 7 - if is_late { 0 } else { earlier });
    let born = registered.saturating_sub((age_days as i64).days());
    let luck = draws.unit();
    let spread = (9000 + 4000 * level) as f64;
    let income = 2500 + (spread * (draws.unit() + luck * luck * luck)) as u32;
    let children = draws.place(&[0.3, 0.3, 0.22, 0.12, 0.06]);
    let language = LANGUAGES[draws.place(&[0.55, 0.35, 0.1])];
    let name = format!("{} {}", draws.choose(&FIRST_NAMES), draws.choose(&LAST_NAMES));
    let (leaves, share, weekday) = (draws.unit(), draws.unit(), draws.below(4) as i64);
    let exits = options.weeks.saturating_sub(first_week + 4);
    let last_week = (options.turnover && leaves < 0.05 && exits > 0)
        .then(|| first_week + 3 + (share * exits as f64) as usize);
    let mut person = Person {
        id: String::new(),
        second_id: None,
        second_registered: None,
        name,
        phone: String::new(),
        worker: format!("Caller {}", char::from(b'A' + worker as u8)),
        centre: CENTRES[worker % CENTRES.len()],
        household: format!("H-{household:05}"),
        village: format!("Village {:02}", village + 1),
        district: ProgrammeOptions::DISTRICTS[village % ProgrammeOptions::DISTRICTS.len()],
        language,
        education: EDUCATION[level],
        income,
        children,
        born,
        age: age_days / 365,
        phone_owner,
        do_not_call: false,
        registered,
        first_week,
        last_week,
        exit: last_week.map(|last| day(options.first_day, last + 1, weekday)),
        inclination: draws.unit() + draws.unit() - 1.0,
        passive: [0.0; 2],
        effect: [0.0; 2],
    };
    set_probabilities(&mut person, level, &options.effect, [draws.unit(), draws.unit()]);
    person
}

fn set_probabilities(person: &mut Person, level: usize, effect: &Effect, luck: [f64; 2]) {
    let shares_phone = person.phone_owner != OWNERS[0];
    let better = 0.025 * (level as f64 - 1.5) + 0.03 * f64::from(person.income > 12_000)
        - 0.04 * f64::from(shares_phone)
        - 0.015 * (person.children as f64 - 2.0)
        + 0.003 * (person.age as f64 - 26.0)
        + OWN * person.inclination;
    let passive = [(0.17 + better).clamp(0.04, 0.45), (0.74 + better).clamp(0.45, 0.93)];
    person.passive = passive.map(rounded);
    person.effect = match effect {
        Effect::Schooling if level <= 1 && shares_phone => [0.42 + 0.1 * luck[0], 0.05],
        Effect::Schooling => [0.03 * luck[1], 0.01],
        Effect::InDistrict { district, chance } if person.district == district => {
            person.passive.map(|passive| (chance - passive).max(0.0))
        }
        Effect::InDistrict { .. } => [0.05; 2],
    };
}
