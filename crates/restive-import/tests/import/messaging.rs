//! Messages and tasks: sheets, encodings, numbers in three forms, references and offsets.

use crate::kit::*;

#[test]
fn rapidpro_has_sheets_encodings_and_numbers_in_three_forms() {
    let world = World::new();
    world.write(
        "registry.csv",
        "id,name,phone\nP1,Ada,+250 788 383 381\nP2,Zoë,0788383382\nP3,Eve,250788383383\n",
    );
    world.write("calls.csv", CALLS);
    let header = "Date,Contact UUID,Contact Name,URN Scheme,URN Value,Flow,Direction,Text";
    let rows = [
        "2026-03-03 10:00:00,c1,Ada,tel,250788383381,f,IN,oui",
        "2026-03-09 00:15:00,c2,Zoë,tel,250(78) 8 383 382,f,IN,déjà",
        "2026-03-17 10:00:00,c2,Zoë,tel,0788383382,f,IN,oui",
        "2026-03-17 10:00:00,c3,Eve,tel,788383383,f,IN,oui",
        "2026-03-03 10:00:00,c3,Eve,tel,788383383,f,OUT,?",
    ];
    let text = format!("{header}\n{}\n", rows.join("\n"));
    let wide: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let latin: Vec<u8> = text.chars().map(|c| c as u32 as u8).collect();
    world.write("utf16.csv", wide).write("latin.csv", latin);
    let mut book = rust_xlsxwriter::Workbook::new();
    for part in [&rows[..2], &rows[2..]] {
        let sheet = book.add_worksheet();
        for (r, row) in [header].iter().chain(part).enumerate() {
            for (c, cell) in row.split(',').enumerate() {
                sheet.write_string(r as u32, c as u16, cell).unwrap();
            }
        }
    }
    book.save(world.path("sheets.xlsx")).unwrap();
    for (file, name) in [("utf16.csv", "utf16"), ("latin.csv", "latin"), ("sheets.xlsx", "sheets")] {
        let mapping = world.init(&["registry.csv", file, "calls.csv"]);
        assert!(mapping.contains("[[events]]\n# RapidPro or TextIt messages\n"), "{mapping}");
        assert!(!mapping.contains("Zo") && !mapping.contains("788"), "{mapping}");
        let answers = ("where =", "where = { Direction = \"IN\" }");
        let rwanda = ("country =", "country = \"RW\"");
        let imported = world.import(&decided(&mapping, &[rwanda, answers, ONE, SILENCE, OUTCOME]));
        assert_eq!(told(&imported), TOLD, "{file}");
        assert_eq!(placed(&imported, name), [4, 0, 0, 1, 0, 0], "{file}");
    }
    world.write(
        "runs.csv",
        "Started,Modified,Exited,Contact UUID,URN Value,Run UUID\n2026-03-03 10:00:00,,,c1,250788383381,r1\n2026-03-10 10:00:00,,,c2,0788383382,r2\n",
    );
    let mapping = world.init(&["registry.csv", "runs.csv", "calls.csv"]);
    assert!(mapping.contains("[[events]]\n# RapidPro or TextIt runs\n"), "{mapping}");
    let imported =
        world.import(&decided(&mapping, &[("country =", "country = \"RW\""), ONE, SILENCE, OUTCOME]));
    assert_eq!(told(&imported), ["P1 100 00.", "P2 010 11.", "P3 000 10."]);
}

#[test]
fn fhir_tasks_are_split_at_their_references_and_turned_to_the_programmes_clock() {
    let world = World::new();
    world.write("registry.csv", REGISTRY);
    // 23:30 at +02:00 on Sunday 15 March is 03:00 on Monday in India
    world.write(
        "tasks.csv",
        "id,status,executionPeriod.end,for.reference,owner.reference\n\
         t1,completed,2026-03-11T10:00:00+02:00,Patient/P2,Practitioner/w1\n\
         t2,completed,2026-03-15T23:30:00+02:00,Patient/P2,Practitioner/w1\n\
         t3,completed,2026-03-12T10:00:00+02:00,Patient/P3,Practitioner/w1\n\
         t4,cancelled,2026-03-18T10:00:00+02:00,Patient/P3,Practitioner/w1\n\
         t5,failed,2026-03-18T10:00:00+02:00,Patient/P1,Practitioner/w1\n",
    );
    world.write(
        "messages.csv",
        "person,date,seconds\nP1,2026-03-03,45\nP2,2026-03-10,45\nP2,2026-03-17,40\nP3,2026-03-18,40\n",
    );
    let mapping = world.init(&["registry.csv", "messages.csv", "tasks.csv"]);
    assert!(mapping.contains("[actions]\n# FHIR tasks\n"), "{mapping}");
    assert!(mapping.contains("person = { column = \"for.reference\", after = \"/\" }"), "{mapping}");
    let status = (
        "outcome =",
        "outcome = { column = \"status\", made = \"completed\", not_made = \"cancelled\", unknown = \"failed\" }",
    );
    let mapping = decided(&mapping, &[INDIA, LEAST, SILENCE, status]);
    assert_eq!(told(&world.import(&mapping)), ["P1 100 0..", "P2 011 11.", "P3 001 10."]);
    let said = world.refused(&mapping.replace("after = \"/\"", "after = \"\""));
    assert!(said.ends_with("after: found \"\", expected what ids stand after, such as \"/\""), "{said}");
}
