//! Plans, people and outcomes to record.

use restive_ledger::{
    Assigned, Code, Excluded, How, Input, Kind, NewPlan, NewTrial, Outcome, Override, Planned,
};
use std::path::PathBuf;
use tempfile::TempDir;

/// A folder for a ledger, and the place in it.
pub fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    (folder, path)
}

/// The plan of a period of a week; period 0 is the week from 5 January 2026.
pub fn plan(period: i64) -> NewPlan {
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
        rules: "[calls]\neach_week = 3\n".into(),
        policy: "whittle".into(),
        budget: 3,
        places: 2,
        explore_places: 1,
        seed: 7,
        steps: 12,
        inclusion: "exact".into(),
        value: 0.5,
        summary: r#"{"a": 1}"#.into(),
        asked: r#"{"week": 1}"#.into(),
        inputs: vec![Input { name: "people.csv".into(), digest: "d".into(), bytes: 9 }],
        certificate: "{}".into(),
        trial: None,
        cuts: "[]".into(),
    }
}

/// Somebody.
pub fn person(arm: &str, how: How) -> Planned {
    Planned {
        arm: arm.into(),
        probability: 0.5,
        how,
        rank: None,
        state: None,
        value: 0.25,
        group: None,
        row: how.is_listed().then(|| "{}".into()),
        score: 0.75,
        tie: 11,
        trial: None,
    }
}

/// A plan's people: a and b by rank, c by lot, d and e not on the list.
pub fn people() -> Vec<Planned> {
    let rank = |arm, how, rank| Planned { rank: Some(rank), ..person(arm, how) };
    vec![
        rank("d", How::NotListed, 4),
        rank("b", How::Rank, 1),
        person("c", How::Draw),
        rank("a", How::Rank, 2),
        person("e", How::NotListed),
    ]
}

pub fn change(plan: &str, arm: &str, kind: Kind) -> Override {
    let (who, why) = ("Meera".into(), "she asked for it".into());
    Override { plan: plan.into(), arm: arm.into(), kind, who, why, at: "2026-01-05T07:00:00Z".into() }
}

pub fn outcome(plan: &str, arm: &str, code: Code) -> Outcome {
    Outcome {
        plan: plan.into(),
        arm: arm.into(),
        code,
        day: None,
        note: None,
        source: "calls.csv".into(),
        received_at: "2026-01-12T08:00:00Z".into(),
    }
}

pub fn arms(people: &[Planned]) -> Vec<&str> {
    people.iter().map(|person| person.arm.as_str()).collect()
}

/// Whom rules kept out of a plan.
pub fn excluded() -> Vec<Excluded> {
    [("z", "asked for no calls"), ("y", "called within 14 days"), ("x", "asked for no calls")]
        .map(|(arm, why)| Excluded { arm: arm.into(), why: why.into() })
        .into()
}

pub fn trial(id: &str) -> NewTrial {
    NewTrial {
        id: id.into(),
        made_at: "2026-01-01T08:00:00Z".into(),
        starts: "2026-01-05".into(),
        weeks: 8,
        protocol: "groups = [\"list\", \"lot\"]".into(),
        protocol_digest: "p".into(),
        seed: u64::MAX,
    }
}

/// Who is in a trial.
pub fn assigned() -> Vec<Assigned> {
    [("c", "lot", None, None), ("a", "list", Some("young"), None), ("b", "lot", Some(""), Some("north"))]
        .map(|(arm, group, stratum, cluster)| Assigned {
            arm: arm.into(),
            group: group.into(),
            stratum: stratum.map(Into::into),
            cluster: cluster.map(Into::into),
        })
        .into()
}
