//! The fourteen points of a local server's security, and the tests that stand for each: the table is checked, so that none goes unnoticed. What no
//! other file has is here: no address that somebody gave is fetched, and pages can be used without seeing and without pointing.

use crate::harness::{WebUi, finished_job};
use crate::world::{WorldOptions, world};
use restive_programme::Programme;
use restive_testkit::form_encoded;
use std::net::TcpListener;
use std::path::Path;

/// What is to hold, and where it is tested: file and test.
const POINTS: [(&str, &[(&str, &str)]); 14] = [
    (
        "1 bound to 127.0.0.1; anything else needs users and passwords",
        &[("src/security/address.rs", "only_this_machine_without_users_and_a_kept_way")],
    ),
    (
        "2 a random token, exchanged once for a cookie",
        &[
            ("tests/desk/door.rs", "a_token_opens_once_and_leaves_no_secret_in_the_address"),
            ("tests/desk/door.rs", "without_a_token_there_is_nothing_to_see"),
        ],
    ),
    (
        "3 a list of allowed names against DNS rebinding",
        &[("tests/desk/attack.rs", "another_name_is_not_answered_to")],
    ),
    (
        "4 writes from our own pages alone",
        &[
            ("tests/desk/attack.rs", "writes_from_elsewhere_change_nothing"),
            ("tests/desk/routes.rs", "writes_without_a_session_are_answered_in_one_way"),
        ],
    ),
    (
        "5 cookies SameSite and HttpOnly",
        &[("tests/desk/door.rs", "a_token_opens_once_and_leaves_no_secret_in_the_address")],
    ),
    ("6 no CORS", &[("tests/desk/attack.rs", "every_answer_tells_the_browser_what_it_may_do")]),
    (
        "7 no frame, no sniffing, a policy of our own, no inline script",
        &[
            ("tests/desk/attack.rs", "every_answer_tells_the_browser_what_it_may_do"),
            ("tests/desk/hostile.rs", "names_are_words_on_every_page_and_in_every_file"),
        ],
    ),
    (
        "8 no secret in an address",
        &[("tests/desk/door.rs", "a_token_opens_once_and_leaves_no_secret_in_the_address")],
    ),
    ("9 no address fetched that somebody gave", &[("tests/desk/points.rs", "no_address_is_fetched")]),
    (
        "10 no folder served",
        &[
            ("tests/desk/attack.rs", "paths_lead_nowhere_else"),
            ("tests/desk/weight.rs", "addresses_lead_to_pages_alone"),
        ],
    ),
    (
        "11 no cell is a formula",
        &[
            ("tests/desk/attack.rs", "script_in_names_and_formulas_are_words"),
            ("tests/desk/hostile.rs", "names_are_words_on_every_page_and_in_every_file"),
        ],
    ),
    (
        "12 all assets inside the program",
        &[("tests/desk/attack.rs", "every_answer_tells_the_browser_what_it_may_do")],
    ),
    ("13 by keyboard and screen reader", &[("tests/desk/points.rs", "pages_have_names_for_everything")]),
    (
        "14 Excel, and a week as one file",
        &[
            ("tests/desk/attack.rs", "script_in_names_and_formulas_are_words"),
            ("tests/desk/record.rs", "a_week_is_one_file_and_the_same_again"),
        ],
    ),
];

#[test]
fn every_point_has_its_tests() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (k, (point, tests)) in POINTS.iter().enumerate() {
        assert!(point.starts_with(&format!("{} ", k + 1)) && !tests.is_empty(), "{point}");
        for (file, test) in *tests {
            let text = std::fs::read_to_string(here.join(file)).unwrap();
            assert!(
                text.contains(&format!("#[test]\nfn {test}()"))
                    || text.contains(&format!("#[test]\n    fn {test}()")),
                "{point}: {file} has no {test}"
            );
        }
    }
}

#[test]
fn no_address_is_fetched() {
    let files = world(&WorldOptions::default());
    let folder = files.path("programme");
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let address = format!("http://{}", elsewhere.local_addr().unwrap());
    // a mapping that is an address, and one whose files are
    let own = files.path("mapping.toml");
    let text = std::fs::read_to_string(Programme::open(&folder).unwrap().imported().mapping()).unwrap();
    assert!(text.contains("\"registry.csv\""), "{text}");
    std::fs::write(&own, text.replace("\"registry.csv\"", &format!("\"{address}/registry.csv\""))).unwrap();
    let exports = folder.join("exports.toml");
    let ui = WebUi::start_in(files, |_| {});
    let mut planner = ui.planner();
    for mapping in [format!("{address}/mapping.toml"), own.display().to_string()] {
        std::fs::write(&exports, format!("mapping = {mapping:?}\n")).unwrap();
        let begun = planner.post("/data/import", &[]);
        let page = finished_job(&mut planner, &begun).body;
        assert!(page.contains("Nothing was written"), "{page}");
    }
    // nor does an answer send anybody there
    for back in [address.as_str(), "//elsewhere.example/", "/\\elsewhere.example"] {
        let answer = planner.post("/language", &[("language", "en"), ("back", back)]);
        let to = answer.header("location").unwrap_or("/").to_string();
        assert!(to.starts_with('/') && !to.starts_with("//") && !to.contains('\\'), "{back}: {to}");
        let path = format!("/week?find={}", form_encoded(back));
        assert_eq!(planner.get(&path).status, 200);
    }
    let nobody = elsewhere.accept().unwrap_err();
    assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock);
}

/// Every tag of a kind on a page, to its end.
fn tags<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!("<{name}");
    let found = page.match_indices(&start).map(|(at, _)| &page[at..]);
    let is_it = |tag: &&str| tag[start.len()..].starts_with([' ', '>']);
    found.filter(is_it).map(|tag| tag.split_once('>').map_or(tag, |(tag, _)| tag)).collect()
}

fn value<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split_once('"')).map(|(value, _)| value)
}

#[test]
fn pages_have_names_for_everything() {
    let ui = WebUi::start();
    let mut planner = ui.planner();
    let id = Programme::open(&ui.folder).unwrap().list(None).unwrap().rows[0].id.clone();
    let paths = [
        "/week",
        "/week/edit?do=add",
        "/outcomes",
        "/capacity",
        "/evidence",
        "/fairness",
        "/data",
        "/person",
        "/record",
    ];
    let paths = paths.iter().map(ToString::to_string).chain([format!("/person/{id}"), "/nothing".into()]);
    let paths: Vec<String> = paths.collect();
    for language in ["en", "es"] {
        planner.post("/language", &[("language", language), ("back", "/week")]);
        for path in &paths {
            let page = planner.get(path).body;
            assert!(page.contains(&format!("<html lang=\"{language}\">")), "{path}");
            assert_eq!((tags(&page, "h1").len(), tags(&page, "main").len()), (1, 1), "{path}");
            assert!(page.contains("class=\"skip\" href=\"#main\""), "{path}");
            for field in [tags(&page, "input"), tags(&page, "select"), tags(&page, "textarea")].concat() {
                let is_named = value(field, "aria-label").is_some()
                    || value(field, "id").is_some_and(|id| page.contains(&format!("<label for=\"{id}\"")));
                assert!(is_named || value(field, "type") == Some("hidden"), "{path}: {field}");
            }
            assert_eq!(tags(&page, "table").len(), tags(&page, "caption").len(), "{path}");
            assert_eq!(tags(&page, "fieldset").len(), tags(&page, "legend").len(), "{path}");
            tags(&page, "th")
                .iter()
                .for_each(|cell| assert!(value(cell, "scope").is_some(), "{path}: {cell}"));
            for picture in tags(&page, "svg") {
                let is_told = value(picture, "aria-label").or(value(picture, "aria-labelledby")).is_some();
                assert!(is_told || value(picture, "aria-hidden") == Some("true"), "{path}: {picture}");
            }
            // nothing takes the focus out of its order
            let odd = page.match_indices("tabindex=\"").any(|(at, mark)| {
                !["0\"", "-1"].iter().any(|fine| page[at + mark.len()..].starts_with(fine))
            });
            assert!(!odd, "{path}");
        }
    }
}
