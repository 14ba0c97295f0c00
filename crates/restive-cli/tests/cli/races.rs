//! Two processes that write to one programme at once: the result is that of one after the other, in one of the two orders.

use crate::harness::{Cli, stderr};
use crate::programme::{Programme, options};
use restive_ledger::{Ledger, Lock};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Number of races of each kind; `RESTIVE_RACES` asks for more, by hand.
fn races() -> usize {
    std::env::var("RESTIVE_RACES").ok().and_then(|count| count.parse().ok()).unwrap_or(4)
}

/// A programme whose exports have gone on for a week since the import; those before are in `early`.
fn programme() -> Programme {
    let programme = Programme::cached(&options(), &"races", |mut programme| {
        programme.train();
        copy(&programme.path("exports"), &programme.path("early"));
        programme.advance_week(Vec::<String>::new());
    });
    programme.write("programme/rules.toml", "budget = 24\n");
    programme
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => _ = fs::copy(entry.path(), target).unwrap(),
        }
    }
}

/// What a programme holds, but for its models, its lock and the database file of its record: contents by name.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_string();
            match path.is_dir() {
                true if name != "models" => folders.push(path),
                false if !name.starts_with("ledger.db") => _ = found.insert(name, fs::read(&path).unwrap()),
                _ => {}
            }
        }
    }
    found
}

/// Periods and lists on record.
fn plans(cli: &Cli, folder: &str) -> Vec<Value> {
    if !cli.path(folder).join("ledger.db").exists() {
        return Vec::new();
    }
    let list = cli.run(&format!("audit list {folder} --json")).success().json();
    let plain = |plan: &Value| serde_json::json!([plan["period_start"], plan["listed"], plan["people"]]);
    list.as_array().unwrap().iter().map(plain).collect()
}

/// Runs two commands on copies of the programme: one after the other in both orders, and at once. `{}` stands for the copy.
fn race(commands: [&str; 2]) {
    let programme = programme();
    let run = |command: &str, copy: &str| programme.run(&command.replace("{}", copy));
    let orders = [[0, 1], [1, 0]].map(|order| {
        let name = format!("order-{}", order[0]);
        copy(&programme.path("programme"), &programme.path(&name));
        for k in order {
            run(commands[k], &name).success();
        }
        (contents(&programme.path(&name)), plans(&programme, &name))
    });
    assert_ne!(orders[0], orders[1], "the order makes no difference");
    for race in 0..races() {
        let name = format!("race-{race}");
        copy(&programme.path("programme"), &programme.path(&name));
        std::thread::scope(|scope| {
            let runs = commands.map(|command| {
                let run = || run(command, &name).success();
                scope.spawn(run)
            });
            for run in runs {
                run.join().unwrap();
            }
        });
        let found = (contents(&programme.path(&name)), plans(&programme, &name));
        if !orders.contains(&found) {
            let differing = |order: &BTreeMap<String, Vec<u8>>| -> Vec<String> {
                let names = order.keys().chain(found.0.keys());
                names.filter(|name| order.get(*name) != found.0.get(*name)).cloned().collect()
            };
            panic!("race {race}: {:?} {:?}, {:?}", differing(&orders[0].0), differing(&orders[1].0), found.1);
        }
        fs::remove_dir_all(programme.path(&name)).unwrap();
    }
}

#[test]
fn two_imports_at_once_leave_one_import_after_the_other() {
    race(["import early/mapping.toml --out {}", "import exports/mapping.toml --out {}"]);
}

#[test]
fn import_and_plan_at_once_leave_one_after_the_other() {
    race(["import exports/mapping.toml --out {}", "plan {} --rows 0"]);
}

#[test]
fn writer_that_waits_in_vain_is_told_who_writes() {
    let programme = programme();
    let lock = Lock::take(&programme.path("programme/ledger.db")).unwrap();
    let said = stderr(&programme.run("import exports/mapping.toml --out programme").failure().code(1));
    let process = format!("process {} (cli-", std::process::id());
    assert!(said.contains(&process), "{said}");
    assert!(
        said.contains("is writing to the programme; wait until it ends, or end it, and try again"),
        "{said}"
    );
    // reading waits for nobody
    programme.run("programme status programme").success();
    drop(lock);
    programme.run("import exports/mapping.toml --out programme").success();
    assert!(
        !programme.path("programme/ledger.db").exists()
            || Ledger::read(&programme.path("programme/ledger.db")).is_ok()
    );
}
