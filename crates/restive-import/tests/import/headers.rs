//! A first line that is no header: none of its cells is in a message.

use crate::kit::*;
use restive_import::outcomes::{OutcomesAsked, read};

#[test]
fn cells_are_shown_only_if_the_mapping_names_one_of_them() {
    let world = programme();
    // of one column a message says what is there instead
    let said = world.refused(&MAPPING.replace("id = \"id\"", "id = \"person_id\""));
    assert!(said.ends_with("expected one of \"id\", \"name\", \"phone\", \"district\""), "{said}");
    // without a header the first person is in the first line
    for first in ["P1,Ada Lovelace,x,north\n", "Ada,Lovelace,,\n"] {
        world.write("registry.csv", format!("{first}{REGISTRY}"));
        let said = world.refused(MAPPING);
        assert!(
            said.contains("found no column \"id\" in registry.csv and no other that the mapping names"),
            "{said}"
        );
        assert!(!said.contains("Ada") && !said.contains("Lovelace"), "{said}");
    }
}

#[test]
fn files_of_one_source_without_headers_show_no_cells() {
    let world = programme();
    world.write("messages-1.csv", "P1,Ada,2026-03-03,\n").write("messages-2.csv", "P2,Bina,2026-03-04,\n");
    let said = world.refused(&MAPPING.replace("messages.csv", "messages-*.csv"));
    assert!(
        said.ends_with("messages-2.csv: found none of the columns, expected the columns of messages-1.csv"),
        "{said}"
    );
}

#[test]
fn zero_byte_in_a_name_makes_no_other_encoding_and_shows_no_cell() {
    let registry = "id;name;phone;district\nB1;Sita Dev\0i;9999912345;a\nB2;Gita Rao;9999912346;b\n";
    for text in
        [registry.to_string(), registry.replacen("name", "nam\0e", 1), registry.replacen("id;", "i\0d;", 1)]
    {
        let world = programme();
        world.write("registry.csv", &text);
        let said = world.refused(MAPPING);
        assert!(said.is_ascii() && !said.contains("Sita") && !said.contains("99999"), "{said}");
        let list = text.replace("district", "outcome").replace(";a", ";reached");
        world.write("list.csv", list);
        let said =
            read(&world.path("list.csv"), &OutcomesAsked::default(), |_, _| true).unwrap_err().to_string();
        assert!(said.is_ascii() && !said.contains("Sita") && !said.contains("99999"), "{said}");
    }
    // few in a long file stay in their cells
    let world = programme();
    let notes: String = (4..200).map(|i| format!("P{i},Name{i},{i},north\n")).collect();
    world.write("registry.csv", format!("{}{notes}", REGISTRY.replace("Bina", "Bi\0na")));
    assert_eq!(world.import(MAPPING).summary.people, 199);
}

#[test]
fn key_in_the_folder_of_the_programme_is_refused_however_it_is_written() {
    let world = programme();
    world.grow(MAPPING).unwrap();
    std::fs::create_dir(world.path("elsewhere")).unwrap();
    let mut keys = vec![
        world.path("programme/k.key"),
        world.path("elsewhere/../programme/k.key"),
        world.path("programme/new/k.key"),
    ];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(world.path("programme"), world.path("link")).unwrap();
        keys.push(world.path("link/k.key"));
    }
    for key in keys {
        let asked = restive_import::ImportAsked {
            out: Some(world.path("programme")),
            pseudonymise: Some(key.clone()),
            afresh: true,
            ..Default::default()
        };
        let said = match world.asked(MAPPING, &asked) {
            Ok(_) => panic!("{}", key.display()),
            Err(error) => error.to_string(),
        };
        assert!(said.contains("found the key in the folder of the programme"), "{said}");
        assert!(!key.exists());
    }
}

#[test]
fn two_columns_of_one_heading_in_a_filled_in_list_are_refused() {
    let world = World::new();
    for (header, heading) in [
        ("id,outcome,outcome,day", "outcome"),
        ("id,Outcome,day,out come", "outcome"),
        ("id,outcome,id,day", "id"),
        ("id,outcome,day,day", "day"),
    ] {
        world.write("list.csv", format!("{header}\nB1,reached,,\n"));
        let said = read(&world.path("list.csv"), &OutcomesAsked::default(), |_, _| true).unwrap_err();
        assert_eq!(said.to_string(), format!("list.csv: found 2 columns {heading}; keep one of them"));
    }
}
