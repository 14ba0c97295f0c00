//! Spellings that a mapping lists and that mean something else, or nothing.

use crate::kit::*;

fn district(rule: &str) -> String {
    MAPPING.replace("district = \"text\"", &format!("district = {{ text = \"district\", {rule} }}"))
}

#[test]
fn synonym_that_is_a_word_for_missing_is_refused() {
    let world = programme();
    let said = world.refused(&district("synonyms = { north = [\"nil\"] }"));
    assert_eq!(
        said,
        "mapping.toml: line 11, column 55: synonyms: found \"nil\", which is also a word for missing and would be read as empty; if it is a word of its \
         own, write missing = [\"NA\", \"N/A\", \"n/a\", \"NULL\", \"null\", \"NaN\", \"nan\", \"---\"] at the top of the mapping"
    );
    let said = world.refused(&district("synonyms = { Nil = [\"nothing\"] }"));
    assert!(said.contains("found \"Nil\", which is also"), "{said}");
    // in any capitals, and by the mapping's own list
    let said = world
        .refused(&format!("missing = \"Unknown\"\n{}", district("synonyms = { north = [\"unknown\"] }")));
    assert!(
        said.contains("found \"unknown\"") && said.ends_with("write missing = [] at the top of the mapping"),
        "{said}"
    );
    // the line that was shown makes the word one of its own
    world.write("registry.csv", REGISTRY.replace("south", "nil"));
    let missing = "missing = [\"NA\", \"N/A\", \"n/a\", \"NULL\", \"null\", \"NaN\", \"nan\", \"---\"]\n";
    for mapping in [
        format!("{missing}{}", district("synonyms = { none = [\"nil\"] }")),
        district("apart = [\"nil\"], synonyms = { none = [\"nil\"] }"),
    ] {
        let shown = format!("{:?}", world.import(&mapping).study.instances[0].features.columns());
        assert!(shown.contains("Text([Some(\"north\"), Some(\"none\"), Some(\"north\")])"), "{shown}");
    }
}

#[test]
fn level_that_is_a_word_for_missing_is_refused() {
    let said =
        programme().refused(&MAPPING.replace(
            "value = \"seconds\"",
            "value = { column = \"seconds\", levels = { yes = 1, nil = 2 } }",
        ));
    assert!(
        said.contains("line 16, column 51: levels: found \"nil\", which is also a word for missing"),
        "{said}"
    );
}

#[test]
fn synonym_that_never_occurs_is_named() {
    let world = programme();
    let notes = |rule: &str| world.import(&district(rule)).summary.notes;
    assert_eq!(
        notes("synonyms = { upper = [\"North\", \"nroth\"], lower = [\"Lower\", \"down\"] }"),
        [
            "feature district: synonyms that occur in no cell of column district: \"down\", \"nroth\"; correct their spelling or leave them out"
        ]
    );
    assert_eq!(notes("synonyms = { upper = [\"North\"], lower = \"SOUTH\" }"), Vec::<String>::new());
}
