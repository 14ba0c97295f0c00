//! Programme folder of a synthetic programme, made in seconds, for a first use of the web UI and for tests.
//!
//! Writes the exports of a [`SyntheticProgramme`] without faults, imports them and trains a model. A few weeks of lists with
//! outcomes follow, so that no page is empty. The last of these weeks ends before today.

use crate::error::{Error, Result};
use jiff::civil::{Date, Weekday};
use jiff::{Timestamp, ToSpan, Zoned};
use rand::RngExt;
use restive_import::demo::{ProgrammeOptions, SyntheticProgramme};
use restive_import::{ImportAsked, Input, Mapping};
use restive_ledger::{Code, Ledger, Outcome};
use restive_pipeline::{Asked, FolderTraining, PredictorName, Progressed};
use restive_programme::{Programme, WeekAsked, grow};
use restive_tables::{make_folder, show, write_files};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Options of the demo.
#[derive(Debug, Clone)]
pub struct DemoAsked {
    /// Number of people. Default: 400.
    pub people: usize,
    /// Number of weeks before the first list. Default: 16.
    pub weeks: usize,
    /// Number of weeks with a list and outcomes. Default: 3.
    pub played: usize,
    /// Whether the list of this week is planned as well. Default: true.
    pub planned: bool,
    /// Seed of all random numbers. Default: 1.
    pub seed: u64,
}

impl Default for DemoAsked {
    fn default() -> Self {
        Self { people: 400, weeks: 16, played: 3, planned: true, seed: 1 }
    }
}

/// Makes the programme in a folder that is not there yet; `say` hears how far it is. The folder to serve.
pub fn make(folder: &Path, asked: &DemoAsked, mut say: impl FnMut(f64, &str)) -> Result<PathBuf> {
    if folder.exists() {
        return Err(Error::Refused(format!(
            "{}: found it there already, expected a place for a new folder",
            show::path(folder)
        )));
    }
    let io = |doing| Error::io(show::path(folder), doing);
    make_folder(&folder.join("exports")).map_err(io("make"))?;
    let programme_folder = folder.join("programme");
    let today = Zoned::now().date();
    let first = monday(today).saturating_sub(((asked.weeks + asked.played) as i64 * 7).days());
    let budget = (asked.people / 16).max(4);
    let options = ProgrammeOptions {
        people: asked.people,
        weeks: asked.weeks,
        calls: budget,
        workers: 4,
        turnover: false,
        faults: false,
        first_day: first,
        seed: asked.seed,
        ..ProgrammeOptions::default()
    };
    let mut synthetic = SyntheticProgramme::new(&options)?;
    let steps = (asked.played + 2) as f64;
    say(0.0, "the exports");
    import(folder, &programme_folder, &synthetic)?;
    say(1.0 / steps, "the model");
    train(&programme_folder)?;
    write_files(&[(programme_folder.join("rules.toml"), rules(budget).as_bytes())], None)?;
    Programme::open(&programme_folder)?.init()?;
    for week in 0..asked.played {
        say((week + 2) as f64 / steps, "the weeks");
        let reached = play(&programme_folder, asked.seed, week + 1 == asked.played)?;
        synthetic.advance_week(&reached, false)?;
        import(folder, &programme_folder, &synthetic)?;
    }
    if asked.planned {
        Programme::open(&programme_folder)?.plan(&WeekAsked::default(), Timestamp::now())?;
    }
    say(1.0, "done");
    Ok(programme_folder)
}

/// Rules of the synthetic programme.
fn rules(budget: usize) -> String {
    let each = budget.div_ceil(3);
    format!(
        "budget = {budget}\nexplore = 0.1\nworker = \"worker\"\n\n[[limit]]\nby = \"worker\"\nat_most = {each}\n\n\
         [[limit]]\nby = \"household\"\nat_most = 1\n\n[[cool_down]]\nperiods = 2\n"
    )
}

fn monday(day: Date) -> Date {
    day.saturating_sub(i64::from(day.weekday().since(Weekday::Monday)).days())
}

fn import(folder: &Path, programme: &Path, synthetic: &SyntheticProgramme) -> Result<()> {
    let exports = folder.join("exports");
    for file in synthetic.exports() {
        std::fs::write(exports.join(file.name), file.bytes)
            .map_err(Error::io(show::path(&exports), "write"))?;
    }
    let mapping = Mapping::read(&exports.join("mapping.toml"))?;
    let input = Input::Files { base: mapping.text.base() };
    let asked = ImportAsked { out: Some(programme.into()), ..ImportAsked::default() };
    grow(&mapping, &input, &asked, |_, _| {})?;
    Ok(())
}

/// Trains an effect model or, if few people do not support one, the predictor that suits the data.
fn train(folder: &Path) -> Result<()> {
    match train_predictor(folder, PredictorName::Effect) {
        Err(Error::Pipeline(error)) if matches!(*error, restive_pipeline::Error::Data(_)) => {
            train_predictor(folder, PredictorName::Auto)
        }
        done => done,
    }
}

fn train_predictor(folder: &Path, predictor: PredictorName) -> Result<()> {
    let programme = Programme::open(folder)?;
    let out = programme.new_model(Zoned::now().date())?;
    let asked = Asked { predictor: Some(predictor), ..Asked::default() };
    let training = FolderTraining::new(&programme.study(), &asked, "study", |_| {})?;
    let done = training.run::<restive_pipeline::Error>(Progressed::default(), |_| Ok(()))?;
    training.model(done.members, done.histories)?.write(&out, false)?;
    Ok(())
}

/// Plans a week and records outcomes; returns the ids of the people who were reached. In the last week some outcomes are missing.
fn play(folder: &Path, seed: u64, is_last: bool) -> Result<HashSet<String>> {
    let programme = Programme::open(folder)?;
    let period = programme.period()?;
    let at = |day: Date, hour: i8| {
        let moment = day.at(hour, 0, 0, 0).to_zoned(jiff::tz::TimeZone::UTC);
        moment.map_or(Timestamp::now(), |moment| moment.timestamp())
    };
    let week = programme.plan(&WeekAsked::default(), at(period.first_day, 7))?;
    let mut luck = restive::random::stream(seed, &[0x64656d6f, period.number as u64]);
    let mut reached = HashSet::new();
    let mut outcomes = Vec::new();
    for (k, (arm, _)) in week.rows.iter().enumerate() {
        let draw: f64 = luck.random();
        let code = match draw {
            x if x < 0.68 => Code::Reached,
            x if x < 0.86 => Code::NoAnswer,
            x if x < 0.90 => Code::Later,
            x if x < 0.93 => Code::WrongNumber,
            x if x < 0.96 => Code::Refused,
            _ => Code::NotCalled,
        };
        // the first one always: no programme knows everything in time
        let late = (luck.random::<f64>() < 0.12 || k == 0) && is_last;
        if code == Code::Reached {
            reached.insert(arm.clone());
        }
        if late {
            continue;
        }
        outcomes.push(Outcome {
            plan: week.record.id.clone(),
            arm: arm.clone(),
            code,
            day: Some(period.first_day.saturating_add((luck.random_range(1..5) as i64).days()).to_string()),
            note: None,
            source: "demo".into(),
            received_at: at(period.last_day, 18).strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        });
    }
    let mut ledger = Ledger::open(&programme.ledger())?;
    ledger.finalise(
        &week.record.id,
        "demo",
        &at(period.first_day, 8).strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    )?;
    ledger.receive(&outcomes)?;
    Ok(reached)
}
