//! Two processes that write to one programme at once, commands or the web UI: the result is that of one after the other, in one of the two
//! orders.

use crate::desk::{planner, serve};
use crate::harness::{Cli, stderr};
use crate::programme::{Programme, options};
use restive_ledger::{Ledger, Lock};
use restive_testkit::HttpClient;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// A write that is ready to begin.
type Write = Box<dyn FnOnce() + Send>;

/// Prepares a write to the programme in a folder of the harness.
type Prepare<'a> = &'a dyn Fn(&Cli, &str) -> Write;

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

/// Contents of a programme by name, without its models, its lock, the database file of its record and the notes of the web UI.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_string();
            match path.is_dir() {
                true if name != "models" => folders.push(path),
                // they contain times
                false if name.starts_with("ledger.db") || name == "desk.jsonl" => {}
                false => _ = found.insert(name, fs::read(&path).unwrap()),
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

/// Returns the preparation of a command, in which `{}` stands for the folder.
fn command(command: &'static str) -> impl Fn(&Cli, &str) -> Write {
    move |cli: &Cli, folder: &str| -> Write {
        let (cli, command) = (cli.clone(), command.replace("{}", folder));
        Box::new(move || _ = cli.run(&command).success())
    }
}

/// Starts the web UI; the write sets a smaller budget in the rules.
fn set_budget(cli: &Cli, folder: &str) -> Write {
    let (cli, folder, desk) = (cli.clone(), folder.to_string(), serve(cli, folder));
    let mut planner = planner(&desk);
    let rules = planner.get("/capacity").hidden("rules");
    Box::new(move || {
        let answer = planner.post("/capacity/set", &[("n0", "12"), ("rules", &rules)]);
        assert_eq!(answer.status, 303, "{}", answer.body);
        assert_eq!(cli.read(&format!("{folder}/rules.toml")), "budget = 12\n");
        assert!(cli.read(&format!("{folder}/desk.jsonl")).contains("budget 24 to 12"));
        drop(desk);
    })
}

/// Starts the web UI; the write makes the list of the next period.
fn make_list(cli: &Cli, folder: &str) -> Write {
    let (cli, folder, desk) = (cli.clone(), folder.to_string(), serve(cli, folder));
    let mut planner = planner(&desk);
    Box::new(move || {
        let begun = planner.post("/week/plan", &[]);
        assert_eq!(begun.status, 303, "{}", begun.body);
        finish_job(&mut planner, begun.header("location").unwrap());
        assert!(cli.read(&format!("{folder}/desk.jsonl")).contains("job.plan"));
        drop(desk);
    })
}

/// Waits for the end of a job of the web UI.
///
/// # Panics
/// If the job fails or does not end within a minute.
fn finish_job(planner: &mut HttpClient, page: &str) {
    for _ in 0..2400 {
        let job = planner.get(page);
        if !job.body.contains("http-equiv=\"refresh\"") {
            assert!(job.body.contains("It is done."), "{}", job.body);
            return;
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    panic!("{page} has not ended");
}

/// Performs two writes on copies of the programme: one after the other in both orders, and at once. If `is_staggered`, the delay of the
/// second write grows from race to race, up to the time that both take: without it a running web UI would always be the first.
fn race(writes: [Prepare<'_>; 2], is_staggered: bool) {
    let programme = programme();
    let ready = |name: &str| {
        copy(&programme.path("programme"), &programme.path(name));
        writes.map(|prepare| prepare(&programme, name))
    };
    let mut time = Duration::ZERO;
    let orders = [false, true].map(|is_reversed| {
        let name = format!("order-{is_reversed}");
        let mut ready = ready(&name);
        if is_reversed {
            ready.reverse();
        }
        let begun = Instant::now();
        ready.into_iter().for_each(|write| write());
        time = begun.elapsed();
        (contents(&programme.path(&name)), plans(&programme, &name))
    });
    assert_ne!(orders[0], orders[1], "the order makes no difference");
    for race in 0..races() {
        let name = format!("race-{race}");
        let [first, second] = ready(&name);
        let delay = if is_staggered { time * race as u32 / races() as u32 } else { Duration::ZERO };
        std::thread::scope(|scope| {
            let runs = [(first, Duration::ZERO), (second, delay)].map(|(write, delay)| {
                scope.spawn(move || {
                    std::thread::sleep(delay);
                    write();
                })
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
    let [early, late] =
        ["import early/mapping.toml --out {}", "import exports/mapping.toml --out {}"].map(command);
    race([&early, &late], false);
}

#[test]
fn import_and_plan_at_once_leave_one_after_the_other() {
    race([&command("import exports/mapping.toml --out {}"), &command("plan {} --rows 0")], false);
}

#[test]
fn plan_and_rules_of_the_web_ui_at_once_leave_one_after_the_other() {
    race([&command("plan {} --rows 0"), &set_budget], true);
}

#[test]
fn import_and_list_of_the_web_ui_at_once_leave_one_after_the_other() {
    race([&command("import exports/mapping.toml --out {}"), &make_list], true);
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
