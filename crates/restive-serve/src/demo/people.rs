//! Who the invented women are, and how they would live.
//!
//! A woman is engaged in a week if she heard 30 seconds of its message. Alone she stays engaged, or comes back, with chances of her own. A
//! call that reaches her helps little, but much where she has lapsed, shares a phone and has little schooling: something to be found.

use jiff::ToSpan;
use jiff::civil::Date;
use rand::RngExt;
use restive::random::{Random, stream};
use std::collections::HashSet;

const FIRST: [&str; 16] = [
    "Aarti", "Asha", "Bhavna", "Deepa", "Farida", "Gauri", "Hema", "Jyoti", "Kavita", "Lata", "Meena",
    "Neha", "Pooja", "Rekha", "Sunita", "Usha",
];
// words for sample, example, imaginary, supposed: nobody is called that
const LAST: [&str; 6] = ["Namunekar", "Udaharan", "Kalpanik", "Misalkar", "Manlekar", "Pratirup"];
pub(super) const EDUCATION: [&str; 4] = ["none", "primary", "secondary", "higher"];
const CENTRES: [&str; 4] = ["East", "Hill", "Port", "West"];
const LANGUAGES: [&str; 3] = ["Gujarati", "Hindi", "Marathi"];
const WORKERS: [&str; 4] = ["Caller A", "Caller B", "Caller C", "Caller D"];

/// Somebody invented.
pub(super) struct Woman {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) phone: String,
    pub(super) language: &'static str,
    pub(super) centre: &'static str,
    pub(super) worker: &'static str,
    pub(super) household: String,
    pub(super) education: usize,
    pub(super) shares_phone: bool,
    pub(super) age: u32,
    pub(super) do_not_call: bool,
    /// left alone in either state, and what a call that reaches her adds
    alone: [f64; 2],
    adds: [f64; 2],
    /// by week, whether she was engaged
    pub(super) engaged: Vec<bool>,
}

/// All of them, and what has happened so far.
pub(super) struct World {
    /// the first day
    pub(super) first: Date,
    pub(super) women: Vec<Woman>,
    /// calls that were made before there were lists: week, woman
    pub(super) calls: Vec<(usize, usize)>,
    pub(super) weeks: usize,
    luck: Random,
}

impl World {
    pub(super) fn new(people: usize, seed: u64, first: Date) -> Self {
        let mut luck = stream(seed, &[0x776f_726c]);
        let women = (0..people).map(|k| Woman::new(k, &mut luck)).collect();
        Self { first, women, calls: Vec::new(), weeks: 0, luck }
    }

    /// A day of a week.
    pub(super) fn day(&self, week: usize, weekday: i64) -> Date {
        self.first.saturating_add((week as i64 * 7 + weekday).days())
    }

    /// So many of them by lot.
    pub(super) fn by_lot(&mut self, n: usize) -> HashSet<usize> {
        let mut drawn = HashSet::new();
        let most = n.min(self.women.len() / 2);
        while drawn.len() < most {
            let one = self.luck.random_range(0..self.women.len());
            if !self.women[one].do_not_call {
                drawn.insert(one);
            }
        }
        drawn
    }

    /// Plays a week in which these were called; `noted` is whether the programme's own log has the calls.
    pub(super) fn live(&mut self, called: &HashSet<usize>, noted: bool) {
        for (k, woman) in self.women.iter_mut().enumerate() {
            let before = usize::from(woman.engaged.last().copied().unwrap_or(k % 2 == 0));
            let helped = if called.contains(&k) { woman.adds[before] } else { 0.0 };
            woman.engaged.push(self.luck.random::<f64>() < woman.alone[before] + helped);
        }
        if noted {
            let mut called: Vec<usize> = called.iter().copied().collect();
            called.sort_unstable();
            self.calls.extend(called.into_iter().map(|one| (self.weeks, one)));
        }
        self.weeks += 1;
    }

    /// Which one has an id.
    pub(super) fn number(&self, id: &str) -> Option<usize> {
        self.women.iter().position(|woman| woman.id == id)
    }
}

impl Woman {
    fn new(k: usize, luck: &mut Random) -> Self {
        let mut pick = |n: usize| luck.random_range(0..n);
        let (education, worker, household) = (pick(4), pick(4), pick(1 + k / 3 + 1));
        let name = format!("{} {}", FIRST[pick(FIRST.len())], LAST[pick(LAST.len())]);
        let (language, centre, age) = (LANGUAGES[pick(3)], CENTRES[worker], 18 + pick(22) as u32);
        let shares_phone = luck.random::<f64>() < if education <= 1 { 0.5 } else { 0.25 };
        let own = 0.2 * (luck.random::<f64>() - 0.5);
        let treatable = education <= 1 && shares_phone;
        let good = own + 0.03 * education as f64 - 0.05 * f64::from(u8::from(shares_phone));
        Self {
            id: format!("MB-{:05}", k + 1),
            name,
            phone: format!("99999{:05}", (7919 * k + 1234) % 100_000),
            language,
            centre,
            worker: WORKERS[worker],
            household: format!("H-{household:04}"),
            education,
            shares_phone,
            age,
            do_not_call: luck.random::<f64>() < 0.03,
            alone: [(0.16 + good).clamp(0.03, 0.5), (0.72 + good).clamp(0.4, 0.95)],
            adds: if treatable { [0.4, 0.04] } else { [0.05, 0.01] },
            engaged: Vec::new(),
        }
    }
}
