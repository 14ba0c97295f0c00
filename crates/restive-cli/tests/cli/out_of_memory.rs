//! Too little memory: foreseen where sizes are known, and otherwise an end in words that leaves nothing behind.
//!
//! The shell limits the addresses that the program may have, which Linux keeps to.

use crate::harness::{Cli, cli};
use std::process::{Command, Output};

const CODE: Option<i32> = Some(3);

/// Runs the program with so many megabytes of addresses, one thread and one heap.
fn within(megabytes: usize, folder: &Cli, arguments: &str) -> Output {
    let limited = format!("ulimit -v {}; exec \"$RESTIVE\" {arguments}", megabytes * 1000);
    Command::new("sh")
        .args(["-c", &limited])
        .env("RESTIVE", env!("CARGO_BIN_EXE_restive"))
        .env("RAYON_NUM_THREADS", "1")
        .env("MALLOC_ARENA_MAX", "1")
        .current_dir(folder.path(""))
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn what_cannot_fit_is_refused_with_what_it_takes_and_what_there_is() {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let folder = cli();
    // 10 instances of 20,000 arms, 100 trajectories of 10 steps, 11 bytes each
    let run = within(1500, &folder, "generate two-state --arms 20000 --out g");
    assert_eq!(run.status.code(), CODE, "{}", said(&run));
    let words = said(&run);
    assert!(words.starts_with("restive: two-state: found 1."), "{words}");
    assert!(
        words.contains(" GB of memory left, expected 2.2 GB for 1000 records of each of 200000 arms"),
        "{words}"
    );
    assert!(folder.listing().is_empty());

    // two rows, one of them far away: 1,500 arms and 65,536 steps, 3 bytes each
    std::fs::create_dir(folder.path("s")).unwrap();
    folder.write(
        "s/study.toml",
        "states = 2\ndiscount = 0.9\nbudget = 1\nhorizon = 4\nbehaviour = \"uniform\"\n",
    );
    let arms: String = (0..1500).map(|i| format!("{i},{i}\n")).collect();
    folder.write("s/arms.csv", format!("arm,x\n{arms}"));
    folder.write("s/trajectories.csv", "trajectory,t,arm,state,action\n1,0,1,0,1\n1,65535,1,1,\n");
    let run = within(300, &folder, "study s");
    assert_eq!(run.status.code(), CODE, "{}", said(&run));
    let words = said(&run);
    assert!(words.starts_with("restive: s/trajectories.csv: found "), "{words}");
    assert!(
        words.ends_with(
            "MB of memory left, expected 295 MB for 98304000 more records, one per step and arm\n"
        ),
        "{words}"
    );

    // a file that is read whole, of a size that takes no room on the disk
    std::fs::create_dir(folder.path("m")).unwrap();
    std::fs::File::create(folder.path("m/card.json")).unwrap().set_len(2_000_000_000).unwrap();
    let words = said(&within(1000, &folder, "plan m s"));
    assert!(
        words.starts_with("restive: m/card.json: found ")
            && words.ends_with("expected 2.0 GB for the file\n"),
        "{words}"
    );
}

/// A study of a million records is made, and memory runs out while it is written: with ever more of it, the program ends at other places
/// and at last not at all.
#[test]
fn where_memory_runs_out_the_program_says_so_and_leaves_no_draft() {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let folder = cli();
    let sizes = "--instances 1 --trajectories 1 --arms 1000 --horizon 1000 --format csv";
    let mut ended = 0;
    for megabytes in (100..1000).step_by(30) {
        let run = within(megabytes, &folder, &format!("generate two-state {sizes} --out g"));
        if run.status.success() {
            break;
        }
        assert_eq!(run.status.code(), CODE, "{megabytes}: {run:?}");
        let words = said(&run);
        let is_met =
            words == "restive: found no memory left, expected more; files in the making are removed\n";
        assert!(is_met || words.contains("of memory left, expected"), "{megabytes}: {words}");
        ended += usize::from(is_met);
        assert!(folder.listing().is_empty(), "{megabytes}: {:?}", folder.listing());
    }
    assert_eq!(folder.listing(), ["g"]);
    assert!(ended > 0);
}
