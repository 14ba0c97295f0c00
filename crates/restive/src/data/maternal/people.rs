//! The people of a synthetic programme: what is known of them, and how one thing goes with another.
//!
//! The features are those that the paper lists. What it publishes of the people (means and shares of those who were selected)
//! sets the middle of each distribution; how features hang together is our assumption:
//!
//! - schooling and income share a factor (correlation 0.35 of their latent normals), schooling makes an own phone likelier,
//!   and whose phone it is moves the preferred call slot;
//! - poorer people enrol through the community more often, and later in pregnancy than those who enrol at a hospital;
//! - a woman has given birth where the weeks at enrolment and the weeks since her first call pass her term;
//! - older and less schooled women have been pregnant more often; gravidity counts this pregnancy, parity past births, live
//!   births and stillbirths their outcomes.

use crate::data::domain::normal;
use crate::data::features::{Column, Features};
use crate::error::Result;
use crate::random::Random;
use rand::RngExt;

/// Age in five groups.
pub const AGE_GROUPS: [&str; 5] = ["under 20", "20 to 24", "25 to 29", "30 to 34", "35 and over"];
/// Monthly family income in rupees: eight brackets, and the amount that stands for each.
pub const INCOMES: [(&str, f64); 8] = [
    ("up to 5000", 2_500.0),
    ("5001 to 10000", 7_500.0),
    ("10001 to 15000", 12_500.0),
    ("15001 to 20000", 17_500.0),
    ("20001 to 25000", 22_500.0),
    ("25001 to 30000", 27_500.0),
    ("30001 to 40000", 35_000.0),
    ("above 40000", 50_000.0),
];
/// Schooling in seven levels, from the lowest.
pub const EDUCATION: [&str; 7] =
    ["no schooling", "classes 1 to 5", "classes 6 to 9", "class 10", "class 12", "graduate", "postgraduate"];
/// Language of the messages. The paper names the first two of five.
pub const LANGUAGES: [&str; 5] = ["Hindi", "Marathi", "Gujarati", "Kannada", "English"];
/// Whose phone it is.
pub const PHONE_OWNERS: [&str; 3] = ["woman", "husband", "family"];
/// When calls are preferred.
pub const CALL_SLOTS: [&str; 5] =
    ["8:30 to 10:30", "10:30 to 12:30", "12:30 to 15:30", "15:30 to 17:30", "17:30 to 19:30"];
/// Where people enrolled. The paper names the first two of three.
pub const CHANNELS: [&str; 3] = ["community", "hospital", "other"];
/// Monthly family income in rupees below which people count as poor: the World Bank's 3.20 dollars a day for each of four, at
/// 75 rupees, rounded to the border of a bracket.
pub const POVERTY_LINE: f64 = 30_000.0;

/// The monthly income in rupees that stands for a bracket.
pub fn rupees(bracket: &str) -> Option<f64> {
    INCOMES.iter().find(|(name, _)| *name == bracket).map(|(_, amount)| *amount)
}

/// The level of schooling, 1 to 7.
pub fn schooling(level: &str) -> Option<usize> {
    EDUCATION.iter().position(|name| *name == level).map(|k| k + 1)
}

/// Age in years: beside its five groups, which the paper's list has, and left out of the encoding.
pub(super) const AGE: &str = "age";

/// What is known of n people, drawn one after the other.
pub(super) fn draw(n: usize, random: &mut Random) -> Result<Features> {
    let people: Vec<Person> = (0..n).map(|_| Person::draw(random)).collect();
    let number = |field: fn(&Person) -> f64| Column::Number(people.iter().map(field).collect());
    let text = |field: fn(&Person) -> &'static str| {
        Column::Text(people.iter().map(|person| Some(field(person).to_string())).collect())
    };
    let columns = [
        ("weeks pregnant at enrolment", number(|p| p.weeks)),
        (AGE, number(|p| p.age)),
        ("age group", text(|p| AGE_GROUPS[(((p.age - 15.0) / 5.0).max(0.0) as usize).min(4)])),
        ("income", text(|p| INCOMES[p.income].0)),
        ("education", text(|p| EDUCATION[p.education])),
        ("language", text(|p| LANGUAGES[p.language])),
        ("phone owner", text(|p| PHONE_OWNERS[p.phone])),
        ("call slot", text(|p| CALL_SLOTS[p.slot])),
        ("enrolment channel", text(|p| CHANNELS[p.channel])),
        ("has given birth", number(|p| p.has_given_birth)),
        ("days since first call", number(|p| p.days)),
        ("gravidity", number(|p| p.gravidity)),
        ("parity", number(|p| p.parity)),
        ("stillbirths", number(|p| p.stillbirths)),
        ("live births", number(|p| p.live_births)),
    ];
    Features::new(n, columns.into_iter().map(|(name, column)| (name.to_string(), column)).collect())
}

struct Person {
    weeks: f64,
    age: f64,
    income: usize,
    education: usize,
    language: usize,
    phone: usize,
    slot: usize,
    channel: usize,
    has_given_birth: f64,
    days: f64,
    gravidity: f64,
    parity: f64,
    stillbirths: f64,
    live_births: f64,
}

impl Person {
    fn draw(random: &mut Random) -> Self {
        // normal quantiles of the shares 10, 16, 36, 21, 11, 4.5 and 1.5 %: a mean level of 3.27
        const LEVELS: [f64; 6] = [-1.2816, -0.6433, 0.3055, 0.9542, 1.5548, 2.1701];
        const BRACKETS: [f64; 7] = [5e3, 1e4, 1.5e4, 2e4, 2.5e4, 3e4, 4e4];
        let schooled = normal(random);
        let education = LEVELS.iter().filter(|level| schooled > **level).count();
        // median 7,400 rupees a month (3.3 dollars a day), mean 11,100 (10,400 by the amounts of brackets), 94 % below the poverty line
        let rich = 0.35 * schooled + (1.0f64 - 0.35 * 0.35).sqrt() * normal(random);
        let rupees = 7_400.0 * (0.9 * rich).exp();
        let income = BRACKETS.iter().filter(|bracket| rupees > **bracket).count();

        let language = pick(&[0.56, 0.42, 0.008, 0.006, 0.006], random);
        let phone = match random.random::<f64>() < logistic(1.75 + 0.35 * schooled) {
            true => 0,
            false => pick(&[0.0, 0.88, 0.12], random),
        };
        let slots = [[0.12, 0.22, 0.33, 0.23, 0.10], [0.15, 0.08, 0.10, 0.17, 0.50]][usize::from(phone > 0)];
        let slot = pick(&slots, random);
        let community = 0.99 * logistic(0.35 - 0.3 * rich);
        let channel = pick(&[community, 0.99 - community, 0.01], random);

        let middle = if channel == 1 { 18.0 } else { 23.0 };
        let weeks = (middle + 7.0 * normal(random)).round().clamp(4.0, 40.0);
        let days = random.random_range(14..=84) as f64;
        let term = 39.0 + 1.5 * normal(random);
        let has_given_birth = f64::from(weeks + days / 7.0 > term);

        let age = (24.6 * (0.16 * normal(random)).exp() + 0.5 * schooled).round().clamp(16.0, 45.0);
        let before = poisson((0.13 * (age - 19.0)).max(0.05) * (-0.15 * schooled).exp(), random).min(9);
        let (mut live, mut still) = (0, 0);
        for _ in 0..before {
            match pick(&[0.86, 0.02, 0.12], random) {
                0 => live += 1,
                1 => still += 1,
                _ => {} // it was no birth
            }
        }
        Self {
            weeks,
            age,
            income,
            education,
            language,
            phone,
            slot,
            channel,
            has_given_birth,
            days,
            gravidity: f64::from(before + 1),
            parity: f64::from(live + still),
            stillbirths: f64::from(still),
            live_births: f64::from(live),
        }
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// A position, with these probabilities.
fn pick(shares: &[f64], random: &mut Random) -> usize {
    let mut left: f64 = random.random();
    for (k, share) in shares.iter().enumerate() {
        left -= share;
        if left < 0.0 {
            return k;
        }
    }
    shares.len() - 1
}

/// A Poisson number with a small mean, by the product of uniform numbers.
fn poisson(mean: f64, random: &mut Random) -> u32 {
    let (limit, mut product, mut count) = ((-mean).exp(), random.random::<f64>(), 0);
    while product > limit {
        product *= random.random::<f64>();
        count += 1;
    }
    count
}
