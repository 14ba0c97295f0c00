//! From the records of some people to a plan for others, through the library: `cargo run --release -p restive --example quickstart`.

use restive::data::domain::Domain;
use restive::index::{Algorithm, whittle_index};
use restive::policy::strict::strict_top_k;
use restive::training::{Config, fit};

fn main() -> restive::Result<()> {
    // Arms with features and ten logged trajectories: five synthetic groups of 50 people, of whom 10 may be pulled at a step.
    let domain = Domain { instances: 5, arms: 50, budget: 10, trajectories: 10, ..Domain::two_state() };
    let groups = domain.generate(1)?;
    let (learnt_from, stop_by, today) = (&groups[..3], &groups[3..4], &groups[4]);

    // Learn: from features to transitions P(s, a, s'), until the loss on the fourth group no longer falls.
    let fitted = fit(Config::recommended(learnt_from), learnt_from, stop_by)?;
    let transition = fitted.predictor.predict(today.features()); // [N,M,2,M] of people never learnt from

    // Index: what a pull is worth in every state, looking as far ahead as the plan does, nine steps.
    let solved = whittle_index(transition.view(), today.reward().view(), 1.0 - 1.0 / 9.0, Algorithm::Auto);

    // Plan: the people with the highest index, each in the state in which they were seen last.
    let states = today.trajectories().state(); // [J,T,N]
    let (j, t) = (states.shape()[0] - 1, states.shape()[1] - 1);
    let scores: Vec<f64> = (0..50).map(|i| solved.index[[i, usize::from(states[[j, t, i]])]]).collect();
    let plan = strict_top_k(&scores, today.budget(), 0);

    println!("person  state  worth of a pull");
    for i in (0..50).filter(|i| plan.pull[*i]) {
        println!("{i:6}  {:5}  {:15.3}", states[[j, t, i]], scores[i]);
    }
    Ok(())
}
