//! The browser of this machine, opened with an address. Where there is none, the address was printed.

use std::process::{Command, Stdio};

pub(super) fn open(address: &str) {
    let (program, before): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(before).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut child) = command.spawn() {
        // waited for, so that nothing is left of it
        std::thread::spawn(move || _ = child.wait());
    }
}
