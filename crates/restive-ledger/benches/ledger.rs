//! A large programme over half a year: `cargo bench -p restive-ledger`. Timings decide nothing.

use divan::Bencher;
use restive_ledger::{Code, Excluded, How, Input, Ledger, NewPlan, Outcome, Planned};
use std::path::PathBuf;
use tempfile::TempDir;

const PEOPLE: usize = 100_000;
const WEEKS: i64 = 26;

fn main() {
    divan::main();
}

fn plan(period: i64) -> NewPlan {
    let first = jiff::civil::date(2026, 1, 5) + jiff::Span::new().days(7 * period);
    NewPlan {
        made_at: "2026-01-02T09:30:00Z".into(),
        period,
        period_start: first.to_string(),
        period_end: (first + jiff::Span::new().days(6)).to_string(),
        restive: "0.1.0".into(),
        model: "spring".into(),
        model_fingerprint: "m".into(),
        study_fingerprint: "s".into(),
        words_fingerprint: "w".into(),
        rules: String::new(),
        policy: "whittle".into(),
        budget: 1000,
        places: 1000,
        explore_places: 0,
        seed: 1,
        steps: 12,
        inclusion: "exact".into(),
        value: 1.0,
        summary: "{}".into(),
        asked: r#"{"week": 1}"#.into(),
        inputs: vec![Input { name: "people.csv".into(), digest: "d".into(), bytes: 9 }],
        certificate: "{}".into(),
        trial: None,
        cuts: "[]".into(),
    }
}

/// Everybody, one in a hundred on the list.
fn people() -> Vec<Planned> {
    let one = |i: usize| {
        let i = i * 7919 % PEOPLE;
        let how = if i.is_multiple_of(100) { How::Rank } else { How::NotListed };
        Planned {
            arm: format!("{:020x}", i * 0x9e37_79b9),
            probability: 0.01,
            how,
            rank: Some(i as u32 + 1),
            state: Some(i as i64 % 2),
            value: 1.0 / (i as f64 + 1.0),
            group: Some(format!("worker {}", i % 40)),
            row: how
                .is_listed()
                .then(|| r#"{"name": "Ada", "phone": "+911234567890", "why": "silent"}"#.into()),
            score: 1.0 / (i as f64 + 1.0),
            tie: i as u64,
            trial: None,
        }
    };
    (0..PEOPLE).map(one).collect()
}

fn outcomes<'a>(plan: &str, people: impl Iterator<Item = &'a Planned>) -> Vec<Outcome> {
    let outcome = |person: &Planned| Outcome {
        plan: plan.into(),
        arm: person.arm.clone(),
        code: Code::Reached,
        day: None,
        note: None,
        source: "calls.csv".into(),
        received_at: "2026-01-12T08:00:00Z".into(),
    };
    people.map(outcome).collect()
}

fn half_a_year() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let mut ledger = Ledger::open(&path).unwrap();
    let people = people();
    for period in 0..WEEKS {
        let id = ledger.record(&plan(period), &people, &[], false).unwrap();
        ledger.receive(&outcomes(&id, people.iter().filter(|one| one.how.is_listed()))).unwrap();
    }
    (folder, path)
}

/// As many again, whom a rule kept out.
fn excluded() -> Vec<Excluded> {
    let one = |i: usize| Excluded { arm: format!("x{i:020x}"), why: "called within 14 days".into() };
    (0..PEOPLE).map(one).collect()
}

/// One plan with all its people, and as many whom a rule kept out.
#[divan::bench(sample_count = 10)]
fn record(bencher: Bencher) {
    let folder = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::open(&folder.path().join("ledger.db")).unwrap();
    let (people, excluded, mut period) = (people(), excluded(), 0);
    bencher.bench_local(|| {
        period += 1;
        ledger.record(&plan(period), &people, &excluded, false).unwrap()
    });
}

/// One plan, and an outcome of everybody, which is more than any list has.
#[divan::bench(sample_count = 5)]
fn receive(bencher: Bencher) {
    let folder = tempfile::tempdir().unwrap();
    let mut ledger = Ledger::open(&folder.path().join("ledger.db")).unwrap();
    let (people, mut period) = (people(), 0);
    bencher.bench_local(|| {
        period += 1;
        let id = ledger.record(&plan(period), &people, &[], false).unwrap();
        ledger.receive(&outcomes(&id, people.iter())).unwrap()
    });
}

/// Every decision of half a year.
#[divan::bench(sample_count = 3)]
fn decided(bencher: Bencher) {
    let (_folder, path) = half_a_year();
    bencher.bench_local(|| {
        let reader = Ledger::read(&path).unwrap();
        let plans = reader.plans().unwrap();
        plans.iter().map(|plan| reader.decided(&plan.id).unwrap().len()).sum::<usize>()
    });
}

/// How things stand after half a year, and who was called.
#[divan::bench(sample_count = 3)]
fn standings(bencher: Bencher) {
    let (_folder, path) = half_a_year();
    bencher.bench_local(|| {
        let reader = Ledger::read(&path).unwrap();
        (reader.standings().unwrap().plans.len(), reader.calls().unwrap().len())
    });
}

/// Whether all of half a year is as it was written.
#[divan::bench(sample_count = 3)]
fn verify(bencher: Bencher) {
    let (_folder, path) = half_a_year();
    bencher.bench_local(|| Ledger::read(&path).unwrap().verify().unwrap().faults.len());
}
