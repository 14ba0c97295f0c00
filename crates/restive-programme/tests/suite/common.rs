//! A small synthetic programme, of which every test has a copy: eight recorded weeks, a model, and a list for the ninth.

use jiff::Timestamp;
use restive_import::{ImportAsked, Input, Mapping};
use restive_pipeline::{Asked, FolderTraining, PredictorName, Progressed};
use restive_programme::{Code, Entered, OneOutcome, Programme, WeekAsked, grow, seen};
use restive_testkit::cache::Cache;
use restive_testkit::{ProgrammeFixture, ProgrammeOptions, identify_effects};
use std::path::Path;

const RULES: &str = "budget = 6\nworker = \"worker\"\n\n[[cool_down]]\nperiods = 2\n";

/// Number of recorded weeks.
pub const WEEKS: usize = 8;

/// Time of all plans, edits and outcomes.
pub fn now() -> Timestamp {
    "2026-03-02T08:00:00Z".parse().unwrap()
}

/// Returns a copy of the programme.
pub fn programme() -> (ProgrammeFixture, Programme) {
    let options = ProgrammeOptions {
        people: 40,
        weeks: WEEKS,
        calls: 5,
        workers: 2,
        // a model of effects can be fitted to these few people, and one has a wrong number
        seed: 5,
        ..ProgrammeFixture::plain_options()
    };
    let fixture =
        ProgrammeFixture::cached(Cache::new("programme-suite"), &options, |fixture| prepare(&fixture));
    let programme = Programme::open(&fixture.programme()).unwrap();
    (fixture, programme)
}

fn prepare(fixture: &ProgrammeFixture) {
    import(&fixture.mapping(), &fixture.programme());
    let programme = Programme::open(&fixture.programme()).unwrap();
    let asked = Asked { predictor: Some(PredictorName::Effect), ..Asked::default() };
    let training = FolderTraining::new(&programme.study(), &asked, "study", |_| {}).unwrap();
    let done = training.run::<restive_pipeline::Error>(Progressed::default(), |_| Ok(())).unwrap();
    let model = programme.new_model(jiff::civil::date(2026, 3, 1)).unwrap();
    training.model(done.members, done.histories).unwrap().write(&model, false).unwrap();
    identify_effects(&model);
    std::fs::write(programme.rules_file(), RULES).unwrap();
    programme.init().unwrap();
    programme.plan(&WeekAsked::default(), now()).unwrap();
}

/// Imports exports into the folder of a programme.
pub fn import(mapping: &Path, programme: &Path) {
    let mapping = Mapping::read(mapping).unwrap();
    let asked = ImportAsked { out: Some(programme.into()), ..ImportAsked::default() };
    grow(&mapping, &Input::Files { base: mapping.text.base() }, &asked, |_, _| {}).unwrap();
}

/// Records the outcome of a call of the list, as Bela who has seen the outcome on record.
pub fn tell(
    programme: &Programme,
    id: &str,
    code: Code,
    note: Option<&str>,
) -> restive_programme::Result<Entered> {
    let backdrop = programme.backdrop()?;
    let draft = programme.draft(&backdrop, None)?.expect("a list");
    let known = draft.rows.iter().find(|row| row.contact.id == id).and_then(|row| row.outcome.as_ref());
    let told =
        OneOutcome { plan: &draft.record.id, id, code, day: Some(jiff::civil::date(2026, 3, 2)), note };
    programme.tell(&told, &seen(known.map(std::sync::Arc::as_ref)), "Bela", now())
}
