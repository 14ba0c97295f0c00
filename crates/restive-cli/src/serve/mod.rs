//! `restive serve`: the desk, a programme's pages on the planner's own machine.

mod browser;

use crate::shared::failure::Usage;
use crate::shared::progress::Progress;
use crate::shared::say;
use crate::shared::signals::say_when_interrupted;
use clap::Args;
use restive_serve::demo::{self, DemoAsked};
use restive_serve::{Opened, Server};
use restive_tables::show;
use std::io::{BufRead, IsTerminal, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

const ABOUT: &str = "\
Open the desk: a programme's pages, in the browser, on your own machine.

This week's list with its reasons, changes by hand with theirs, a workbook and a page for callers. Everything is inside this program: \
nothing is fetched from anywhere, nothing leaves the machine, and no other machine can reach it. The browser is opened with an address that \
works once; press Enter here for another. Ctrl-C closes the desk; what was written stays.

For several people: --users FILE, which restive user add writes, asks everybody for a name and a password and knows three roles: a planner \
decides, a caller says what came of calls, a viewer looks. Only with it may --address be one that other machines reach, and then with \
--tls-cert and --tls-key, or with --insecure-http where something else keeps the way.

--demo makes an invented programme in a new folder, in seconds, and opens its desk.";

const EXAMPLES: &str = "\
Examples:
  restive serve --demo
  restive serve calls
  restive serve calls --no-open --port 8421
  restive serve calls --users users.toml --address 0.0.0.0 --host desk.example --tls-cert cert.pem --tls-key key.pem";

/// Open the desk: a programme's pages in the browser, on your own machine
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_help = EXAMPLES)]
pub(crate) struct ServeArguments {
    /// The folder that restive import filled; with --demo a new folder [default: restive-desk]
    #[arg(value_name = "PROGRAMME", required_unless_present = "demo")]
    programme: Option<PathBuf>,

    /// Make an invented programme first
    #[arg(long)]
    demo: bool,

    /// People of the invented programme
    #[arg(long, value_name = "N", requires = "demo", default_value_t = 400, value_parser = clap::value_parser!(u32).range(40..=100_000))]
    people: u32,

    /// The port [default: 8421, or a free one]
    #[arg(long, value_name = "N")]
    port: Option<u16>,

    /// Print the address and open no browser
    #[arg(long)]
    no_open: bool,

    /// What you are called in the record [default: your name on this machine]
    #[arg(long = "as", value_name = "NAME", conflicts_with = "users")]
    planner: Option<String>,

    /// Who may enter by a password: a file that restive user add wrote
    #[arg(long, value_name = "FILE")]
    users: Option<PathBuf>,

    /// The address to listen at; any but loopback needs --users
    #[arg(long, value_name = "IP", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    address: IpAddr,

    /// Another name by which the desk may be asked
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,

    /// A certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// Its private key, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Let names and passwords cross the network in the open
    #[arg(long)]
    insecure_http: bool,
}

pub(crate) fn run(arguments: &ServeArguments) -> anyhow::Result<()> {
    let folder = match arguments.demo {
        true => make(arguments)?,
        false => arguments.programme.clone().unwrap_or_default(),
    };
    let asked = Opened {
        address: arguments.address,
        port: arguments.port,
        hosts: arguments.hosts.clone(),
        users: arguments.users.clone(),
        planner: planner(arguments)?,
        tls: arguments.tls_cert.clone().zip(arguments.tls_key.clone()),
        insecure_http: arguments.insecure_http,
        warn: |text| say::warning(text),
        ..Opened::new(folder)
    };
    let server = Server::open(&asked)?;
    let entrance = server.entrance()?;
    say_when_interrupted("the desk is closed; what was written stays".into());
    say::print(|text| {
        writeln!(text, "The desk is open: {entrance}")?;
        match asked.users {
            Some(_) => writeln!(text, "Ctrl-C closes it."),
            None => writeln!(text, "The address works once. Enter shows another, Ctrl-C closes the desk."),
        }
    })?;
    if !arguments.no_open {
        browser::open(&entrance);
    }
    let asking = server.clone();
    // where there is nobody at a keyboard there is nobody to press a key
    if asked.users.is_none() && std::io::stdin().is_terminal() {
        std::thread::spawn(move || {
            for _line in std::io::stdin().lock().lines().map_while(Result::ok) {
                if let Ok(entrance) = asking.entrance() {
                    let _ = say::print(|text| writeln!(text, "{entrance}"));
                }
            }
        });
    }
    Ok(server.run()?)
}

/// Makes the invented programme; one that an earlier demo made is opened again.
fn make(arguments: &ServeArguments) -> anyhow::Result<PathBuf> {
    let folder = arguments.programme.clone().unwrap_or_else(|| "restive-desk".into());
    let made = folder.join("programme");
    if restive_programme::Programme::is_one(&made) {
        say::note(format_args!("{}: an earlier demo, opened again", show::path(&folder)));
        return Ok(made);
    }
    let progress = Progress::new("steps");
    let asked = DemoAsked { people: arguments.people as usize, ..DemoAsked::default() };
    Ok(demo::make(&folder, &asked, |share, what| progress.say(share, what.into()))?)
}

/// What the one planner is called.
fn planner(arguments: &ServeArguments) -> anyhow::Result<String> {
    if let Some(name) = &arguments.planner {
        return match name.trim() {
            "" => Err(Usage("--as: found no name, expected one".into()).into()),
            name => Ok(name.into()),
        };
    }
    let known = ["USER", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
    Ok(known.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "planner".into()))
}
