//! A disk that takes nothing more, as a limit of 0 bytes on every file: an error, and nothing that is said of the record.

use crate::programme::{Programme, options};
use crate::running::in_shell;
use std::process::{Output, Stdio};

/// Runs the program where no file can have content.
fn run(programme: &Programme, arguments: &str) -> Output {
    let script = "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"";
    in_shell(programme, script, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_an_error_and_no_fault_of_the_record() {
    let programme = Programme::cached(&options(), &(), |programme| programme.train());
    programme.run("plan programme --rows 0").success();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    // reading needs no room
    let quick = run(&programme, "audit verify programme --quick");
    assert!(quick.status.success(), "{}", text(&quick.stderr));
    // to make a plan again needs some, for its files
    let full = run(&programme, "audit verify programme");
    assert_eq!(full.status.code(), Some(1));
    let said = text(&full.stderr);
    assert!(said.contains("cannot lay out what was kept of it: "), "{said}");
    assert_eq!(text(&full.stdout), "");
    // a write says so too
    let plan = run(&programme, "plan programme --again");
    let said = text(&plan.stderr);
    assert!(plan.status.code() == Some(1) && said.contains("cannot"), "{said}");
    programme.run("audit verify programme").success();
}
