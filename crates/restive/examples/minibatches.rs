//! What minibatches cost and bring: whole instances against minibatches on one synthetic instance of many arms, over some seeds, each to the
//! end of the recommended profile. `minibatches ARMS SEEDS [STEPS [FIRST]]`; steps of the whole instance default to
//! those of the profile, the first seed is 0.

use restive::data::domain::Domain;
use restive::evaluation::likelihood;
use restive::training::{Config, TwoStage};
use std::time::Instant;

fn main() -> restive::Result<()> {
    let asked: Vec<usize> = std::env::args().skip(1).filter_map(|x| x.parse().ok()).collect();
    let (arms, seeds) = (asked.first().copied().unwrap_or(50_000), asked.get(1).copied().unwrap_or(3));
    let steps = asked.get(2).copied().unwrap_or(Config::STEPS);
    let first = asked.get(3).copied().unwrap_or(0);
    println!("seed  training      epochs  kept    validation loss   of the truth   seconds");
    for seed in (first as u64..).take(seeds) {
        let domain = Domain { instances: 2, arms, budget: arms / 50, trajectories: 1, ..Domain::two_state() };
        let data = domain.generate(seed)?;
        let (train, validation) = data.split_at(1);
        let counts = validation[0].trajectories().counts();
        let truth = likelihood(&counts, validation[0].truth().expect("synthetic").view()).per_transition;
        for (name, batch) in [("minibatches", Some(Config::BATCH)), ("whole", None)] {
            let mut config = Config { seed, batch, ..Config::recommended(train) };
            if batch.is_none() {
                config.epochs = steps;
                config.keep = restive::training::Keep::Best { patience: steps.div_ceil(5) };
            }
            let began = Instant::now();
            let mut training = TwoStage::new(config, train, validation)?;
            while !training.is_finished() {
                training.epoch();
            }
            let seconds = began.elapsed().as_secs_f64();
            let (epochs, kept) =
                (training.history().len(), training.history().iter().rposition(|e| e.is_best).unwrap_or(0));
            let p = training.best().predict(validation[0].features());
            let loss = likelihood(&counts, p.view()).per_transition;
            println!("{seed:4}  {name:12} {epochs:7} {kept:5}  {loss:17.6}  {truth:13.6}  {seconds:8.1}");
        }
    }
    Ok(())
}
