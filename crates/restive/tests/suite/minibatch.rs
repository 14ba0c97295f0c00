//! Training by minibatches: whole instances where nothing is cut, the same bits after a stop and on any number of threads, and a loss as
//! good as that of whole instances with half the work.

use restive::Instance;
use restive::data::domain::Domain;
use restive::predictor::PredictorKind;
use restive::training::{Auto, Config, TwoStage};

fn instances(arms: usize) -> Vec<Instance> {
    Domain { instances: 3, arms, budget: arms / 5, trajectories: 2, ..Domain::two_state() }
        .generate(2)
        .unwrap()
}

fn config(batch: Option<usize>, epochs: usize) -> Config {
    let kind = PredictorKind::Network { hidden: vec![8], dropout: 0.2 };
    Config { kind, epochs, batch, ..Config::recommended(&[]) }
}

#[test]
fn studies_of_up_to_twenty_thousand_arms_take_whole_instances() {
    assert_eq!(Config::passes(&[]), (None, 7000));
    assert_eq!(Config::passes(&[20_000]), (None, 7000));
    assert_eq!(Config::passes(&[20_000; 7]), (None, 1000));
    // 18 steps an epoch, and 18 + 1
    assert_eq!(Config::passes(&[70_000]), (Some(4096), 389));
    assert_eq!(Config::passes(&[70_000, 100]), (Some(4096), 369));
    assert_eq!(Config::published().batch, None);
    assert_eq!(Config::paper().batch, None);
}

#[test]
fn a_batch_that_holds_every_instance_is_training_on_whole_ones() {
    let data = instances(30);
    let run = |batch| {
        let mut training = TwoStage::new(config(batch, 4), &data[..2], &data[2..]).unwrap();
        while !training.is_finished() {
            training.epoch();
        }
        training.snapshot()
    };
    assert_eq!(run(None), run(Some(30)));
    assert_ne!(run(None), run(Some(29)));
}

#[test]
fn minibatches_go_on_after_any_epoch_and_on_any_threads_to_the_same_bits() {
    let data = instances(3000);
    let new = || TwoStage::new(config(Some(1100), 5), &data[..2], &data[2..]).unwrap();
    let on = |threads: usize, work: &(dyn Fn() -> restive::training::Snapshot + Sync)| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
    };
    let straight = || {
        let mut training = new();
        for _ in 0..5 {
            training.epoch();
        }
        training.snapshot()
    };
    let whole = on(1, &straight);
    assert_eq!(on(2, &straight), whole);
    for stop in 1..5 {
        let resumed = || {
            let mut before = new();
            for _ in 0..stop {
                before.epoch();
            }
            let mut after = new();
            after.restore(&before.snapshot()).unwrap();
            for _ in stop..5 {
                after.epoch();
            }
            after.snapshot()
        };
        assert_eq!(on(2, &resumed), whole, "stopped after {stop}");
    }
}

#[test]
fn networks_in_folds_take_minibatches_and_go_on_to_the_same_bits() {
    let data = instances(60);
    let new = || Auto::new(config(Some(20), 3), &data[..2], &data[2..]).unwrap();
    let finish = |mut auto: Auto| {
        while !auto.is_finished() {
            auto.round();
        }
        auto.snapshot()
    };
    let whole = finish(new());
    let mut before = new();
    before.round();
    let mut after = new();
    after.restore(&before.snapshot()).unwrap();
    assert_eq!(finish(after), whole);
    let uncut = finish(Auto::new(config(None, 3), &data[..2], &data[2..]).unwrap());
    assert_ne!(uncut, whole);
}

#[test]
fn minibatches_reach_the_loss_of_whole_instances_with_half_the_work() {
    let mut apart = Vec::new();
    for seed in 0..4 {
        let domain = Domain { instances: 2, arms: 2000, budget: 400, trajectories: 2, ..Domain::two_state() };
        let data = domain.generate(10 + seed).unwrap();
        let lowest = |batch: Option<usize>, epochs: usize| {
            let kind = PredictorKind::Network { hidden: vec![16], dropout: 0.0 };
            let config = Config { kind, seed, epochs, batch, ..Config::recommended(&data[..1]) };
            let mut training = TwoStage::new(config, &data[..1], &data[1..]).unwrap();
            while !training.is_finished() {
                training.epoch();
            }
            training.history().iter().filter_map(|epoch| epoch.validation_loss).fold(f64::INFINITY, f64::min)
        };
        // 400 steps of 2,000 arms, and 1,600 of 250: half the work
        let (whole, cut) = (lowest(None, 400), lowest(Some(250), 200));
        apart.push((cut - whole) / whole);
    }
    println!("loss of minibatches over that of whole instances, less 1: {apart:?}");
    // knowing nothing loses a tenth and more against a fit; a thousandth of the loss is beyond what any plan would notice
    assert!(apart.iter().all(|apart| *apart < 2e-3), "{apart:?}");
}
