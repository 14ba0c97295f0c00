//! Each system's exports: recognised, mapped, and imported to the states that they were made of.

use crate::kit::*;

fn india() -> World {
    let world = World::new();
    world.write("registry.csv", REGISTRY).write("calls.csv", CALLS);
    world
}

#[test]
fn exotel_counts_talk_and_not_ringing() {
    let world = india();
    world.write(
        "cdr.csv",
        "CallSid,DateCreated,From,To,Direction,Status,StartTime,EndTime,Duration,ConversationDuration\n\
         a1,2026-03-03 09:00:00,0224,09820010001,outbound-api,completed,2026-03-03 09:00:05,2026-03-03 09:01:05,59,45\n\
         a2,2026-03-10 09:00:00,0224,09820010001,outbound-api,completed,2026-03-10 09:00:05,2026-03-10 09:01:05,44,5\n\
         a3,2026-03-10 09:00:00,0224,+919820010002,outbound-api,completed,2026-03-10 09:00:05,2026-03-10 09:01:05,50,31\n\
         a4,2026-03-17 09:00:00,0224,9820010002,outbound-api,completed,2026-03-17 09:00:05,2026-03-17 09:01:05,80,60\n\
         a5,2026-03-04 09:00:00,0224,09820010003,outbound-api,completed,2026-03-04 09:00:05,2026-03-04 09:01:05,33,3\n\
         a6,2026-03-17 09:00:00,0224,09820010003,outbound-api,completed,2026-03-17 09:00:05,2026-03-17 09:01:05,41,30\n\
         a7,2026-03-17 09:00:00,09820010001,0224,inbound,completed,2026-03-17 09:00:05,2026-03-17 09:01:05,90,90\n",
    );
    let mapping = world.init(&["registry.csv", "cdr.csv", "calls.csv"]);
    assert!(mapping.contains("[[events]]\n# telephony records (Exotel)\n"), "{mapping}");
    assert!(mapping.contains("value = \"ConversationDuration\""), "{mapping}");
    assert!(
        !mapping.contains("Ada") && !mapping.contains("98200") && !mapping.contains("10001"),
        "{mapping}"
    );
    let sent = ("where =", "where = { Direction = \"outbound-api\" }");
    let country = ("country =", "country = \"IN\"");
    let mapping = decided(&mapping, &[country, sent, LEAST, SILENCE, OUTCOME]);
    let imported = world.import(&mapping);
    assert_eq!(told(&imported), TOLD);
    assert_eq!(placed(&imported, "cdr"), [6, 0, 0, 1, 0, 0]);
    // by the ringing too, P1 would be engaged in the second week and P3 in the first
    let ringing = world.import(&mapping.replace("\"ConversationDuration\"", "\"Duration\""));
    assert_eq!(told(&ringing), ["P1 110 00.", "P2 011 11.", "P3 101 10."]);
}

#[test]
fn twilio_is_read_in_gmt_and_empty_durations_count_nothing() {
    let world = india();
    world.write(
        "twilio.csv",
        "Sid,To,From,Status,StartTime,EndTime,Duration,Direction\n\
         a1,+919820010001,+1555,completed,\"Tue, 03 Mar 2026 09:00:00 +0000\",,45,outbound-api\n\
         a2,+919820010001,+1555,busy,\"Tue, 10 Mar 2026 09:00:00 +0000\",,,outbound-api\n\
         a3,+919820010002,+1555,completed,\"Sun, 08 Mar 2026 19:00:00 +0000\",,31,outbound-api\n\
         a4,+919820010002,+1555,completed,\"Tue, 17 Mar 2026 09:00:00 GMT\",,60,outbound-api\n\
         a5,+919820010003,+1555,completed,\"Tue, 17 Mar 2026 09:00:00 +0000\",,30,outbound-api\n",
    );
    let mapping = world.init(&["registry.csv", "twilio.csv", "calls.csv"]);
    assert!(mapping.contains("[[events]]\n# Twilio calls\n"), "{mapping}");
    let country = ("country =", "country = \"IN\"");
    let mapping = decided(&mapping, &[INDIA, country, LEAST, SILENCE, OUTCOME]);
    // a3 was on Sunday evening in London and after midnight in India: a Monday
    let imported = world.import(&mapping);
    assert_eq!(told(&imported), TOLD);
    assert_eq!(placed(&imported, "twilio"), [5, 0, 0, 0, 0, 0]);
}

#[test]
fn commcare_cases_and_forms_come_in_one_archive() {
    let world = World::new();
    let cases = "number,caseid,name,risk,asked_age,closed,closed_date,last_modified_date,opened_date,owner_name\n\
        1,c1,Ada,high,---,FALSE,---,2026-03-02 10:00:00,2026-01-05 10:00:00,Asha\n\
        2,c2,Bina,---,0,FALSE,---,2026-03-02 10:00:00,2026-01-05 10:00:00,Asha\n\
        3,c3,Chitra,,,TRUE,2026-03-17 10:00:00,2026-03-02 10:00:00,2026-01-05 10:00:00,Asha\n\
        4,c4,Devi,high,3,FALSE,---,2026-03-02 10:00:00,2026-03-11 10:00:00,Asha\n\
        5,c5,Esha,high,5,FALSE,---,2026-03-02 10:00:00,2026-01-05 10:00:00,Asha\n\
        6,c6,Farah,,,FALSE,---,2026-03-02 10:00:00,2026-01-05 10:00:00,Asha\n";
    let forms = "formid,form.case.@case_id,form.fed,completed_time,started_time,username,received_on\n\
        f1,c1,yes,2026-03-08 18:00:00,2026-03-08 17:00:00,asha,2026-03-10 09:00:00\n\
        f2,c2,yes,2026-03-17 18:00:00,2026-03-17 17:00:00,asha,2026-03-17 19:00:00\n\
        f3,c4,yes,2026-03-17 18:00:00,2026-03-17 17:00:00,asha,2026-03-17 19:00:00\n";
    world.zip("export.zip", &[("cases.csv", cases), ("forms.csv", forms)]);
    world.write(
        "calls.csv",
        "person,when,outcome\nc1,2026-03-11,reached\nc2,2026-03-11,cancelled\nc1,2026-03-18,reached\n",
    );
    let mapping = world.init(&["export.zip", "calls.csv"]);
    for part in [
        "[people]\n# CommCare HQ case export\n",
        "file = \"export.zip#cases.csv\"\nid = \"caseid\"\n",
        "left = { column = \"closed_date\", no = [\"---\"] }",
        "[[events]]\n# CommCare HQ form export\nfile = \"export.zip#forms.csv\"",
        "time = \"received_on\"",
        "completed_time is the phone's clock",
        "# risk = { text = \"risk\", apart = [\"---\"] }",
    ] {
        assert!(mapping.contains(part), "{part}\n{mapping}");
    }
    assert!(!mapping.contains("Asha") && !mapping.contains("Ada"), "{mapping}");
    let mapping = decided(&mapping, &[ONE, SILENCE, OUTCOME]);
    let imported = world.import(&mapping);
    let expected = ["c1 010 11.", "c2 001 00.", "c3 00. 0..", "c4 ..1 ...", "c5 000 00.", "c6 000 00."];
    assert_eq!(told(&imported), expected);
    // by the phone's clock the form of c1 is of the first week
    let phone = mapping.replace("time = \"received_on\"", "time = \"completed_time\"");
    assert_eq!(told(&world.import(&phone))[0], "c1 100 11.");
    // not asked is neither blank nor zero
    let features = "[people.features]\nrisk = { text = \"risk\", apart = [\"---\"] }\nage = { number = \"asked_age\", apart = [\"---\"] }\n";
    let at = mapping.find("[people.features]").unwrap();
    let end = at + mapping[at..].find("\n\n").unwrap();
    let imported = world.import(&format!("{}{features}{}", &mapping[..at], &mapping[end..]));
    let columns = imported.study.instances[0].features.columns();
    let shown = format!("{columns:?}");
    assert!(shown.contains("Number([NaN, 0.0, NaN, 3.0, 5.0, NaN])"), "{shown}");
    assert!(
        shown.contains("[Some(\"not asked\"), Some(\"answered\"), Some(\"blank\"), Some(\"answered\"), Some(\"answered\"), Some(\"blank\")]"),
        "{shown}"
    );
    assert!(
        shown.contains("[Some(\"high\"), Some(\"---\"), None, Some(\"high\"), Some(\"high\"), None]"),
        "{shown}"
    );
}

#[test]
fn the_toolkit_escapes_by_backslashes_and_counts_milliseconds() {
    let world = india();
    // 2026-03-08T18:45:00Z is after midnight in India
    world.write(
        "reports.csv",
        "_id,form,patient_id,reported_date,from,contact.name,fields.note,fields.tags\n\
         r1,visit,P1,1772528400000,+91,A,\"she said \\\"later\\\", then yes\",\"[\\\"a\\\",\\\"b\\\"]\"\n\
         r2,visit,P2,1772995500000,+91,A,plain,\"[]\"\n\
         r3,visit,P2,1773738000000,+91,A,plain,\"[]\"\n\
         r4,visit,P3,1773738000000,+91,A,plain,\"[]\"\n\
         r5,other,P3,1772528400000,+91,A,plain,\"[]\"\n",
    );
    let mapping = world.init(&["registry.csv", "reports.csv", "calls.csv"]);
    assert!(mapping.contains("[[events]]\n# Community Health Toolkit reports\n"), "{mapping}");
    assert!(mapping.contains("\nescape = "), "{mapping}");
    let visits = ("where =", "where = { form = \"visit\" }");
    let imported = world.import(&decided(&mapping, &[INDIA, visits, ONE, SILENCE, OUTCOME]));
    assert_eq!(told(&imported), TOLD);
    assert_eq!(placed(&imported, "reports"), [4, 0, 0, 1, 0, 0]);
}

const DHIS2: &str = "\
    eVent000001,ACTIVE,pRogram0001,sTage000001,eNrol000001,oRgunit0001,2026-03-03T09:00:00.000Z,,,,false,false,,,,dE000000001,45,admin,false\n\
    eVent000001,ACTIVE,pRogram0001,sTage000001,eNrol000001,oRgunit0001,2026-03-03T09:00:00.000Z,,,,false,false,,,,dE000000002,7,admin,false\n\
    eVent000002,ACTIVE,pRogram0001,sTage000001,eNrol000002,oRgunit0001,2026-03-08T18:45:00.000Z,,,,false,false,,,,dE000000001,31,admin,false\n\
    eVent000003,ACTIVE,pRogram0001,sTage000001,eNrol000002,oRgunit0001,2026-03-17T09:00:00.000Z,,,,false,false,,,,dE000000001,60,admin,false\n\
    eVent000004,ACTIVE,pRogram0001,sTage000001,eNrol000003,oRgunit0001,2026-03-17T09:00:00.000Z,,,,false,false,,,,dE000000001,30,admin,false\n\
    eVent000005,ACTIVE,pRogram0001,sTage000001,eNrol000009,oRgunit0001,2026-03-17T09:00:00.000Z,,,,false,false,,,,dE000000001,30,admin,false\n";
const DHIS2_HEADER: &str = "event,status,program,programStage,enrollment,orgUnit,occurredAt,scheduledAt,latitude,longitude,followup,deleted,createdAt,updatedAt,completedAt,dataElement,value,storedBy,providedElsewhere\n";

#[test]
fn dhis2_events_find_their_people_through_enrolments() {
    let enrolments = "enrollment,status,trackedEntity,enrolledAt\neNrol000001,ACTIVE,P1,2026-01-01\neNrol000002,ACTIVE,P2,2026-01-01\neNrol000003,ACTIVE,P3,2026-01-01\n";
    let old = |text: &str| {
        text.replace("occurredAt", "eventDate").replace("trackedEntity", "trackedEntityInstance")
    };
    let header = format!("{DHIS2_HEADER}{DHIS2}");
    for (events, enrolments, is_headless) in [
        (header.clone(), enrolments.to_string(), false),
        (old(&header), old(enrolments), false),
        (DHIS2.to_string(), enrolments.to_string(), true),
    ] {
        let world = india();
        world.write("events.csv", events).write("enrolments.csv", enrolments);
        let mapping = world.init(&["registry.csv", "events.csv", "enrolments.csv", "calls.csv"]);
        assert!(mapping.contains("[[events]]\n# DHIS2 tracker events\n"), "{mapping}");
        assert!(
            mapping.contains("through = { file = \"enrolments.csv\", on = [\"enrollment\"] }"),
            "{mapping}"
        );
        assert_eq!(mapping.contains("header = [\"event\", "), is_headless);
        assert!(!mapping.contains("eVent0000"), "{mapping}");
        let element = ("where =", "where = { dataElement = \"dE000000001\" }");
        let imported = world.import(&decided(&mapping, &[INDIA, element, LEAST, SILENCE, OUTCOME]));
        assert_eq!(told(&imported), TOLD);
        assert_eq!(placed(&imported, "events"), [4, 0, 0, 1, 0, 1]);
        assert_eq!(reasons(&imported), ["events 1 row: no row of the joined file for it"]);
    }
    // without the enrolments it says what is missing
    let world = india();
    world.write("events.csv", format!("{DHIS2_HEADER}{DHIS2}"));
    let mapping = world.init(&["registry.csv", "events.csv", "calls.csv"]);
    assert!(
        mapping.contains("# DECIDE: records name no person: which file (DHIS2 tracker enrolments) does?"),
        "{mapping}"
    );
}

#[test]
fn odk_repeats_are_joined_to_their_form() {
    let world = india();
    let form = "SubmissionDate,woman,KEY,SubmitterID,ReviewState,FormVersion\n\
        2026-03-03T09:00:00.000Z,P1,uuid:1,7,,1\n2026-03-08T18:45:00.000Z,P2,uuid:2,7,,1\n\
        2026-03-17T09:00:00.000Z,P2,uuid:3,7,,1\n2026-03-17T09:00:00.000Z,P3,uuid:4,7,,1\n";
    let repeat = "minutes,PARENT_KEY,KEY\n40,uuid:1,uuid:1/visit[1]\n5,uuid:1,uuid:1/visit[2]\n31,uuid:2,uuid:2/visit[1]\n60,uuid:3,uuid:3/visit[1]\n30,uuid:4,uuid:4/visit[1]\n9,uuid:5,uuid:5/visit[1]\n";
    world.zip("visits.zip", &[("visits.csv", form), ("visits-visit.csv", repeat)]);
    let mapping = world.init(&["registry.csv", "visits.zip", "calls.csv"]);
    for part in [
        "[[events]]\n# ODK Central submissions\n",
        "[[events]]\n# ODK Central repeats\n",
        "file = \"visits.zip#visits-visit.csv\"\nthrough = { file = \"visits.zip#visits.csv\", on = [\"PARENT_KEY\", \"KEY\"] }\nperson = \"woman\"\n",
    ] {
        assert!(mapping.contains(part), "{part}\n{mapping}");
    }
    let mapping = decided(&mapping, &[INDIA, LEAST, SILENCE, OUTCOME]);
    let repeats = "file = \"visits.zip#visits-visit.csv\"\n";
    let mapping = mapping
        .replace(repeats, &format!("{repeats}name = \"repeats\"\nvalue = \"minutes\"\n"))
        .replace("[state]\n", "[state]\nfrom = \"repeats\"\n");
    let imported = world.import(&mapping.replace("measure = \"count\"", "measure = \"largest\""));
    assert_eq!(told(&imported), TOLD);
    assert_eq!(placed(&imported, "repeats"), [5, 0, 0, 0, 0, 1]);
    assert_eq!(placed(&imported, "visits"), [0, 0, 0, 4, 0, 0]);
}

#[test]
fn kobo_quotes_everything_between_semicolons_below_a_second_header() {
    let world = india();
    let rows = "\"_id\";\"_uuid\";\"woman\";\"_submission_time\";\"_validation_status\";\"_index\"\n\
        \"1\";\"u1\";\"P1\";\"2026-03-03T09:00:00\";\"\";\"1\"\n\"2\";\"u2\";\"P2\";\"2026-03-08T18:45:00\";\"\";\"2\"\n\
        \"3\";\"u3\";\"P2\";\"2026-03-17T09:00:00\";\"\";\"3\"\n\"4\";\"u4\";\"P3\";\"2026-03-17T09:00:00\";\"\";\"4\"\n";
    for (skip, text) in
        [(0, rows.to_string()), (1, format!("\"\";\"\";\"visit\";\"\";\"\";\"group\"\n{rows}"))]
    {
        world.write("kobo.csv", text);
        let mapping = world.init(&["registry.csv", "kobo.csv", "calls.csv"]);
        assert!(mapping.contains("[[events]]\n# KoboToolbox\n"), "{mapping}");
        assert_eq!(mapping.contains("skip = 1"), skip == 1, "{mapping}");
        let imported = world.import(&decided(&mapping, &[INDIA, ONE, SILENCE, OUTCOME]));
        assert_eq!(told(&imported), TOLD);
        assert_eq!(placed(&imported, "kobo"), [4, 0, 0, 0, 0, 0]);
    }
}
