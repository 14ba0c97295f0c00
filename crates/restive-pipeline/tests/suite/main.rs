//! The pipeline without a face: what it answers in memory, held against the library.

mod cross_fit;
mod doctor;
mod evaluate;
mod generate;
mod identification;
mod oracle;
mod partition;
mod passing;
mod plan;
mod published_designs;
mod ranked;
mod reasons;
mod recipe;
mod recorded;
mod rules;
mod shapes;
mod shapes_coverage;
mod shapes_worlds;
mod unknowns;

use restive::data::domain::Domain;
use restive_pipeline::generate::Synthetic;
use restive_pipeline::{Asked, Trained, Training};
use restive_tables::Study;

/// A small study, and a model that has learnt a little of it.
fn learnt() -> (Trained, Study) {
    let domain =
        Domain { instances: 4, arms: 12, budget: 3, horizon: 5, trajectories: 6, ..Domain::two_state() };
    let study = Synthetic::TwoState(domain).study(5).unwrap();
    let asked = Asked { epochs: Some(3), ..Asked::default() };
    let training = Training::new(&study, &asked, "a test").unwrap();
    let progressed =
        training.run(Default::default(), None, |_| Ok::<_, restive_pipeline::Error>(())).unwrap();
    (identified(Trained::new(training.model(progressed.members, progressed.histories)).unwrap()), study)
}

/// The model as if its log had identified effects: what plans state is tested, not whether they may state it.
fn identified(mut trained: Trained) -> Trained {
    trained.model.card.identification = restive_pipeline::Identification::Identified;
    trained
}

/// The numbers of effects that are identified.
fn stated<T: Clone>(effects: restive_pipeline::Effects<T>) -> T {
    effects.identified().expect("identified effects").clone()
}
