//! `restive user`: who may enter the desk by a password.

use crate::shared::failure::Usage;
use crate::shared::say;
use clap::{Args, Subcommand};
use restive_serve::{Role, User, Users};
use restive_tables::show;
use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;

/// Who may enter the desk by a password
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  restive user add users.toml Asha --role planner\n  restive serve calls --users users.toml"
)]
pub(crate) struct UserArguments {
    #[command(subcommand)]
    command: UserCommand,
}

#[derive(Debug, Subcommand)]
enum UserCommand {
    Add(AddArguments),
}

const ABOUT: &str = "\
Add somebody to FILE, or give them a new password and role.

The password is asked for, twice and unseen, or read from the first line of standard input where that is no terminal. FILE has what \
Argon2id makes of it, and nobody but you may read FILE.

  planner    decides: everything
  caller     says what came of calls, to the people of --worker, or to everybody with --all
  viewer     looks, without names and numbers";

/// Add somebody, or give them a new password and role
#[derive(Debug, Args)]
#[command(
    long_about = ABOUT,
    after_help = "Examples:\n  restive user add users.toml Asha --role planner\n  restive user add users.toml Meera --role caller --worker Hindi"
)]
struct AddArguments {
    /// The file of users; a new one is made
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// What they are called
    #[arg(value_name = "NAME")]
    name: String,

    /// What they may do: planner, caller or viewer
    #[arg(long, value_name = "ROLE")]
    role: Role,

    /// Whose list they call: a value of the column that sheets are made by
    #[arg(long, value_name = "WORKER", conflicts_with = "all")]
    worker: Option<String>,

    /// Let a caller see and call the people of all workers
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(arguments: &UserArguments) -> anyhow::Result<()> {
    let UserCommand::Add(asked) = &arguments.command;
    // before the password is typed twice
    if asked.file.exists() {
        Users::read(&asked.file)?;
    }
    Users::check_people(asked.role, asked.worker.as_deref(), asked.all)?;
    let password = password()?;
    let user = User::new(&asked.name, asked.role, asked.worker.as_deref(), asked.all, &password)?;
    // nobody waits for a lock while a password is typed or hashed
    let is_new = Users::change(&asked.file, |users| users.put(user))?;
    let done = if is_new { "added" } else { "changed" };
    let (name, file) = (show::name(&asked.name), show::path(&asked.file));
    say::print(|text| writeln!(text, "{file}: {done} {name}, {}", asked.role))
}

fn password() -> anyhow::Result<String> {
    if !std::io::stdin().is_terminal() {
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line)?;
        return Ok(line.trim_end_matches(['\r', '\n']).into());
    }
    let password = rpassword::prompt_password("password: ")?;
    if rpassword::prompt_password("once more: ")? != password {
        return Err(Usage("found two different passwords, expected the same twice".into()).into());
    }
    Ok(password)
}
