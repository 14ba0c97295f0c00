//! A week as one file: whole, the same again, and of nothing but its week.

use crate::common::{now, programme, tell};
use restive_programme::{Code, Edit, Programme, VerifyAsked};
use restive_testkit::ProgrammeFixture;
use std::io::Read;

fn file(bytes: &[u8], name: &str) -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    let mut content = Vec::new();
    archive.by_name(&format!("week-2026-03-02/{name}")).unwrap().read_to_end(&mut content).unwrap();
    content
}

fn text(bytes: &[u8], name: &str) -> String {
    String::from_utf8(file(bytes, name)).unwrap()
}

fn lived_through() -> (ProgrammeFixture, Programme, Vec<String>) {
    let (kept, programme) = programme();
    let all: Vec<String> = programme.list(None).unwrap().rows.into_iter().map(|row| row.id).collect();
    programme.edit("2026-03-02", 0, Edit::LeaveOut, &all[1], "Asha", "=is away", now()).unwrap();
    programme.finalise("2026-03-02", 1, "Asha", now()).unwrap();
    tell(&programme, &all[0], Code::NoAnswer, Some("rang, twice")).unwrap();
    tell(&programme, &all[0], Code::Reached, None).unwrap();
    (kept, programme, all)
}

#[test]
fn a_week_is_put_away_whole() {
    let (_kept, programme, all) = lived_through();
    let made = programme.archive("2026-03-02").unwrap();
    let changes = text(&made.bytes, "changes.csv");
    assert!(
        changes.contains(&format!("left out,{},Asha,'=is away", all[1])) && changes.contains(",final,"),
        "{changes}"
    );
    let outcomes = text(&made.bytes, "outcomes.csv");
    assert!(
        outcomes.contains(&format!("{},reached,2026-03-02,,Bela,2026-03-02T08:00:00Z,now", all[0])),
        "{outcomes}"
    );
    assert!(outcomes.contains("no_answer,2026-03-02,\"rang, twice\",Bela"), "{outcomes}");
    assert_eq!(text(&made.bytes, "rules.toml"), std::fs::read_to_string(programme.rules_file()).unwrap());
    let list: serde_json::Value = serde_json::from_slice(&file(&made.bytes, "list.json")).unwrap();
    assert!(list.to_string().contains(&all[0]) && !list.to_string().contains(&all[1]));
    assert!(file(&made.bytes, "list.xlsx").starts_with(b"PK"));
    assert!(text(&made.bytes, "list.html").contains(&all[0]));
    let certificate: serde_json::Value =
        serde_json::from_slice(&file(&made.bytes, "certificate.json")).unwrap();
    assert!(certificate.is_object());
    // every file is in the sums, and the sums are right
    let sums = text(&made.bytes, "SHA256SUMS");
    assert_eq!(sums.lines().count(), made.names.len() - 1);
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").unwrap();
        let found = <sha2::Sha256 as sha2::Digest>::digest(file(&made.bytes, name));
        assert_eq!(found.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), sum, "{name}");
    }
    // what it says of verifying is true
    let readme = text(&made.bytes, "README.txt");
    assert!(readme.contains(&format!("--head {}", made.head)) && made.head.len() == 64);
    let asked = VerifyAsked { head: Some(made.head.clone()), ..VerifyAsked::default() };
    assert!(programme.verify(&asked, |_, _| {}).unwrap().is_well());
    let asked = VerifyAsked { head: Some("0".repeat(64)), ..VerifyAsked::default() };
    assert!(!programme.verify(&asked, |_, _| {}).unwrap().is_well());
}

#[test]
fn made_again_it_is_the_same_until_something_is_said() {
    let (_kept, programme, all) = lived_through();
    let one = programme.archive("2026-03-02").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let again = programme.archive("2026-03-02").unwrap();
    assert!(one.bytes == again.bytes && one.head == again.head);
    tell(&programme, &all[2], Code::Moved, None).unwrap();
    // what is taken back stays in it, as what it is
    let known = restive_ledger::Ledger::read(&programme.ledger()).unwrap().outcomes("2026-03-02").unwrap();
    let moved = known.iter().find(|one| one.code == Code::Moved).unwrap();
    let mark = restive_programme::seen(Some(moved));
    programme.take_back("2026-03-02", &all[2], &mark, "Bela", now()).unwrap();
    let taken = programme.archive("2026-03-02").unwrap();
    let line =
        text(&taken.bytes, "outcomes.csv").lines().find(|line| line.contains("moved")).unwrap().to_string();
    assert!(line.starts_with(&all[2]) && line.contains("withdrawn by Bela at 20"), "{line}");
    assert_eq!(programme.week_on_record("2026-03-02").unwrap().withdrawn, 1);
    let later = programme.archive("2026-03-02").unwrap();
    assert!(one.bytes != later.bytes && one.head != later.head);
    // the earlier head still leads to the later record
    let asked = VerifyAsked { head: Some(one.head), ..VerifyAsked::default() };
    assert!(programme.verify(&asked, |_, _| {}).unwrap().is_well());
    assert!(programme.archive("2020-01-06").is_err());
}

#[test]
fn a_week_on_record_is_told_without_its_people() {
    let (_kept, programme, all) = lived_through();
    let week = programme.week_on_record("2026-03-02").unwrap();
    let shown = programme.audit_show(None).unwrap();
    assert_eq!((week.entry.listed, week.entry.overrides, week.amended), (5, 1, 1));
    assert_eq!((&week.rules, &week.summary, &week.outcomes), (&shown.rules, &shown.summary, &shown.outcomes));
    assert_eq!(week.is_final().map(|change| change.who.as_str()), Some("Asha"));
    assert_eq!(week.changes.len(), 2);
    assert_eq!(programme.head().unwrap(), programme.verify(&VerifyAsked::default(), |_, _| {}).unwrap().head);
    assert!(programme.week_on_record("2020-01-06").is_err() && all.len() == 6);
}
