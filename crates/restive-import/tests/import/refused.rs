//! Mappings that cannot be: one line each, with the place, and nothing written.

use crate::kit::*;

/// A mapping with one part exchanged is refused with these words, and nothing is written.
fn refused(from: &str, to: &str, expected: &str) {
    let world = programme();
    assert!(MAPPING.contains(from), "{from}");
    let said = world.refused(&MAPPING.replacen(from, to, 1));
    assert_eq!(said, format!("mapping.toml: {expected}"));
    assert!(!world.path("programme").exists());
    // an earlier import stays as it is
    let first = world.grow(MAPPING).unwrap();
    world.refused(&MAPPING.replacen(from, to, 1));
    let study = restive_tables::Study::read(&world.imported().study()).unwrap();
    assert_eq!(study.fingerprint(), first.study.fingerprint());
}

#[test]
fn columns_and_files_that_are_not_there() {
    refused(
        "value = \"seconds\"",
        "value = \"Seconds\"",
        "line 16, column 9: found no column \"Seconds\" in messages.csv (\"seconds\" is there), expected one of \"person\", \"date\", \"seconds\"",
    );
    refused(
        "\"messages.csv\"",
        "\"message.csv\"",
        "line 13, column 8: message.csv: found no such file, expected the export; there is messages.csv, calls.csv, registry.csv",
    );
    refused(
        "\"messages.csv\"",
        "\"march/m.csv\"",
        "line 13, column 8: march/m.csv: found no folder march, expected the folder of the export",
    );
}

#[test]
fn words_that_mean_nothing() {
    refused(
        "country = \"IN\"",
        "country = \"India\"",
        "line 1, column 11: country: found \"India\", expected two letters such as \"IN\" or \"RW\"",
    );
    refused(
        "country = \"IN\"",
        "zone = \"Asia/Bombai\"",
        "line 1, column 8: zone: found \"Asia/Bombai\", expected a zone such as \"Asia/Kolkata\", \"Africa/Kigali\" or \"UTC\"",
    );
    refused(
        "person = \"person\"",
        "encoding = \"utf-9\"\nperson = \"person\"",
        "line 14, column 12: encoding: found \"utf-9\", expected one such as \"utf-8\", \"utf-16le\" or \"iso-8859-1\"",
    );
    refused(
        "time = \"date\"",
        "time = { column = \"date\", format = \"%d/%q\" }",
        "line 15, column 36: format: found \"%d/%q\", which reads no date, expected \"iso\", \"epoch\", \"epoch ms\", \"rfc2822\", \"serial\" or \
         a pattern such as \"%d/%m/%Y\" or \"%d-%b-%Y %H:%M\"",
    );
    refused(
        "silence = \"lowest\"",
        "silence = \"quiet\"",
        "line 19, column 11: silence: found \"quiet\", expected \"lowest\", \"unknown\" or \"not enrolled\"",
    );
    refused(
        "every = \"week\"",
        "every = \"fortnight\"",
        "line 3, column 9: every: found \"fortnight\", expected \"week\" (from Monday), \"week from Sunday\", \"month\" or \"10 days\"",
    );
}

#[test]
fn keys_and_types() {
    refused(
        "value = \"seconds\"",
        "valeu = \"seconds\"",
        "line 16, column 1: found \"valeu\" in [events], expected one of file, delimiter, encoding, escape, skip, header, person, time, key, \
         where, through, name, value",
    );
    refused(
        "at_least = [30]",
        "at_least = [\"30\"]",
        "line 18, column 13: at_least: found \"30\", expected numbers",
    );
    refused(
        "id = \"id\"",
        "id = 7",
        "line 8, column 6: id: found a value of the kind integer, expected a column, or a table { column = …, … }",
    );
    refused("[state]", "[state", "line 17, column 7: unclosed table, expected `]`");
    refused("country = \"IN\"", "country", "line 1, column 8: key with no value, expected `=`");
}

#[test]
fn rules_that_contradict_each_other() {
    refused(
        "district = \"text\"",
        "phone = \"text\"",
        "line 11, column 1: found column \"phone\" in keep and as the feature phone, expected one of them: what is kept for the list is \
         never learnt from",
    );
    refused(
        "not_made = \"cancelled\"",
        "not_made = \"No Answer\"",
        "line 24, column 77: not_made: found \"No Answer\" a second time, expected each outcome in one list",
    );
    refused(
        "until = 2026-03-23",
        "until = 2026-03-02",
        "line 5, column 9: until: found 2026-03-02, expected a day after from = 2026-03-02",
    );
    refused(
        "[people.features]",
        "left = \"district\"\n[people.features]",
        "line 10, column 8: left: found 3 cells that the mapping does not list in column \"district\" of registry.csv: 3 not shown here (the \
         first in line 2), expected each word in yes (has left) or in no, such as left = { column = \"district\", yes = [], no = [] }",
    );
    refused(
        "[people.features]",
        "left = \"phone\"\n[people.features]",
        "line 10, column 8: left: found no date with the year first in column \"phone\" of registry.csv, expected { column = \"phone\", format = \
         … }",
    );
    let exits = "[exits]\nfile = \"calls.csv\"\nperson = \"person\"\ntime = \"when\"\n";
    let world = programme();
    let both = MAPPING.replace("id = \"id\"", "id = \"id\"\nleft = \"phone\"");
    assert_eq!(
        world.refused(&format!("{both}{exits}")),
        "mapping.toml: line 9, column 8: left: found a column beside a section [exits], expected one of them"
    );
}

#[test]
fn a_period_that_is_longer_than_the_data() {
    refused(
        "every = \"week\"\nfrom = 2026-03-02\nuntil = 2026-03-23\n",
        "every = \"month\"\n",
        "line 3, column 9: found records in 1 month, expected at least two whole months between from and until: a state before a decision \
         and one after it",
    );
}
