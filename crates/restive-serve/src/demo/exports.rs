//! What the systems of the invented programme would write, and the mapping that says what it means.

use super::people::{EDUCATION, World};
use rand::RngExt;
use std::fmt::Write;

const MAPPING: &str = r#"country = "IN"
period = { every = "week" }
study = { unit = "engaged weeks" }
state = { at_least = 30, silence = "lowest", names = ["not engaged", "engaged"] }
[people]
file = "registry.csv"
id = "id"
keep = ["name", "phone", "worker", "centre", "language", "household"]
joined = { column = "registered" }
do_not_call = { column = "dnd", is = "yes" }
features.age = { number = "age" }
features.education = "text"
features.phone_owner = "text"
[[events]]
file = "messages.csv"
person = "id"
time = "sent"
value = "seconds"
[actions]
file = "calls.csv"
person = "id"
time = "called"
"#;

/// The rules of the invented programme.
pub(super) fn rules(budget: usize) -> String {
    let each = budget.div_ceil(3);
    format!(
        "budget = {budget}\nexplore = 0.1\nworker = \"worker\"\n\n[[limit]]\nby = \"worker\"\nat_most = {each}\n\n\
         [[limit]]\nby = \"household\"\nat_most = 1\n\n[[cool_down]]\nperiods = 2\n"
    )
}

/// Name and content of each file.
pub(super) fn files(world: &World) -> [(&'static str, String); 4] {
    let mut registry = String::from(
        "id,name,phone,worker,centre,language,household,registered,age,education,phone_owner,dnd\n",
    );
    let mut messages = String::from("id,sent,seconds\n");
    let registered = world.day(0, -21);
    for (k, woman) in world.women.iter().enumerate() {
        let owner = if woman.shares_phone { "shared" } else { "own" };
        let never = if woman.do_not_call { "yes" } else { "" };
        let _ = writeln!(
            registry,
            "{},{},{},{},{},{},{},{registered},{},{},{owner},{never}",
            woman.id,
            woman.name,
            woman.phone,
            woman.worker,
            woman.centre,
            woman.language,
            woman.household,
            woman.age,
            EDUCATION[woman.education],
        );
        // the same seconds whenever the file is written again
        let mut luck = restive::random::stream(2, &[k as u64]);
        for (week, engaged) in woman.engaged.iter().enumerate() {
            let seconds: u32 = if *engaged { luck.random_range(30..120) } else { luck.random_range(0..30) };
            let _ = writeln!(messages, "{},{},{seconds}", woman.id, world.day(week, 5));
        }
    }
    let mut calls = String::from("id,called\n");
    for (week, one) in &world.calls {
        let _ = writeln!(calls, "{},{}", world.women[*one].id, world.day(*week, 1 + (*one % 3) as i64));
    }
    [
        ("registry.csv", registry),
        ("messages.csv", messages),
        ("calls.csv", calls),
        ("mapping.toml", MAPPING.into()),
    ]
}
