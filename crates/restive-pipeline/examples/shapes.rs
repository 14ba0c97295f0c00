//! Evidence from logs whose pulls have a shape, declared and not declared, in simulated worlds with a known truth.
//!
//! ```text
//! cargo run --release -p restive-pipeline --example shapes -- [--worlds 400] [--seed 0] [--shape NAME] [--out bench/results/shapes.jsonl]
//! ```
//!
//! Prints one line for each shape, with and without an effect of pulls, and appends a JSON line of the same figures to the file of
//! `--out`. Figures are shares of worlds ± 1.96 standard errors.
//!
//! | study | source of the figures |
//! |---|---|
//! | declared | the pipeline, for the study that declares its shape |
//! | undeclared | the pipeline, for the same log without the declaration |
//! | unchecked | the evidence alone, for the undeclared log: the answer if nothing had been detected |
//!
//! | figure | of |
//! |---|---|
//! | rejected | worlds without an effect: p below .05 for a ranking by a feature that the hidden trait moves |
//! | rejected by noise | like `rejected`, for a random ranking |
//! | effect covered, gain covered, course covered | 95 % intervals that contain the truth |
//! | detected | the doctor or a refusal names the shape |
//! | yes | worlds without an effect: the pipeline answers, with p below .05 |
//! | answered | answers of the pipeline |
//! | false alarm, refused otherwise | logs without a shape: a shape is named; any other refusal |
//!
//! Names for `--shape`: availability, availability-estimated, clusters, lasting, honest, published. `published` compares copies of three
//! published designs with plain estimates, one copy of each for every 100 worlds.

#[path = "../tests/suite/shapes_worlds/mod.rs"]
mod shapes_worlds;

use ndarray::{Array2, Axis};
use rayon::prelude::*;
use restive::data::encoding::Standardise;
use restive::data::split::{Group, arm_folds};
use restive::evidence::{Design, Evidence, EvidenceSettings, Judge, Judged};
use restive::planning::Ending;
use restive_pipeline::{EvaluateAsked, prepare};
use restive_tables::{Study, StudyBehaviour};
use serde_json::{Map, Value, json};
use shapes_worlds::answers::{
    Answer, Figures, Found, evaluate, of_declared, of_found, of_honest, of_undeclared,
};
use shapes_worlds::published::Published;
use shapes_worlds::shares::{Share, Shares};
use shapes_worlds::{Honest, Ranking, Shape, World, honest};
use std::fs::OpenOptions;
use std::io::Write;

/// Columns of the table.
const FIGURES: [&str; 9] = [
    "rejected",
    "rejected by noise",
    "effect covered",
    "gain covered",
    "course covered",
    "detected",
    "yes",
    "false alarm",
    "refused otherwise",
];
/// Half the width of a 95 % interval in standard errors.
const REACH: f64 = 1.96;
/// Exchanges of pulls, unless a number is given.
const EXCHANGES: usize = 999;
/// Worlds for each copy of a published design.
const WORLDS_PER_COPY: usize = 100;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let run = Run::from_arguments()?;
    println!("{:<24}{:<8}{:<12}{:>7}  figures", "shape", "effect", "study", "worlds");
    for shape in Shape::ALL.into_iter().filter(|shape| run.has(shape.name())) {
        for has_effect in [false, true] {
            run.shape(shape, has_effect)?;
        }
    }
    if run.has("honest") {
        for (kind, has_effect) in Honest::ALL.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
            let world = |seed: u64| {
                let (study, scores) = honest(kind, has_effect, seed);
                of_honest(&study, &scores, &asked(seed))
            };
            run.report(kind.name(), has_effect, "honest", &run.shares(world))?;
        }
    }
    if run.has("published") {
        run.published()?;
    }
    Ok(())
}

/// Options of a run.
struct Run {
    worlds: usize,
    seed: u64,
    shape: Option<String>,
    out: Option<String>,
}

impl Run {
    fn from_arguments() -> Outcome<Self> {
        let mut run = Self { worlds: 400, seed: 0, shape: None, out: None };
        let mut arguments = std::env::args().skip(1);
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name}: found no value, expected one"))?;
            match name.as_str() {
                "--worlds" => run.worlds = value.parse()?,
                "--seed" => run.seed = value.parse()?,
                "--shape" => run.shape = Some(value),
                "--out" => run.out = Some(value),
                _ => return Err(format!("found {name}, expected --worlds, --seed, --shape or --out").into()),
            }
        }
        Ok(run)
    }

    /// Whether a shape is requested.
    fn has(&self, name: &str) -> bool {
        self.shape.as_deref().is_none_or(|shape| shape == name)
    }

    fn seeds(&self) -> impl IndexedParallelIterator<Item = u64> {
        let first = self.seed;
        (0..self.worlds).into_par_iter().map(move |k| first.wrapping_add(k as u64))
    }

    fn shares(&self, world: impl Fn(u64) -> Figures + Send + Sync) -> Shares {
        Shares::new(self.seeds().map(world).collect::<Vec<_>>())
    }

    /// The figures of a shape: declared, undeclared and unchecked.
    fn shape(&self, shape: Shape, has_effect: bool) -> Outcome<()> {
        let all = |seed: u64| {
            let (world, asked) = (World::new(shape, has_effect, seed), asked(seed));
            let unchecked = of_unchecked(&world, &asked);
            [of_declared(&world, &asked), of_undeclared(&world, shape, &asked), unchecked]
        };
        let mut worlds: Vec<[Figures; 3]> = self.seeds().map(all).collect();
        for (k, study) in ["declared", "undeclared", "unchecked"].into_iter().enumerate() {
            let shares = Shares::new(worlds.iter_mut().map(|figures| std::mem::take(&mut figures[k])));
            self.report(shape.name(), has_effect, study, &shares)?;
        }
        Ok(())
    }

    /// Prints figures, and appends them to the file.
    fn report(&self, shape: &str, has_effect: bool, study: &str, shares: &Shares) -> Outcome<()> {
        let effect = if has_effect { "some" } else { "none" };
        let figures: Vec<String> = FIGURES
            .iter()
            .map(|name| (name, shares.get(name)))
            .filter(|(_, share)| share.worlds > 0)
            .map(|(name, share)| format!("{name} {:.3} ± {:.3}", value(share), REACH * error(share)))
            .collect();
        let answered = shares.get("answered");
        let answers =
            if answered.worlds > 0 { format!("; answered {:.3}", value(answered)) } else { String::new() };
        println!("{shape:<24}{effect:<8}{study:<12}{:>7}  {}{answers}", self.worlds, figures.join("; "));
        let figures = shares.0.iter().map(|(name, share)| {
            let figure = json!({ "share": value(*share), "error": error(*share), "worlds": share.worlds });
            ((*name).to_string(), figure)
        });
        let figures: Map<String, Value> = figures.collect();
        let (worlds, seed) = (self.worlds, self.seed);
        self.append(json!({
            "shape": shape, "effect": has_effect, "study": study, "worlds": worlds, "seed": seed, "figures": figures
        }))
    }

    /// Copies of published designs beside plain estimates.
    fn published(&self) -> Outcome<()> {
        for design in [Published::Postcards, Published::HeartSteps, Published::Oralytics] {
            for seed in (0..self.worlds.div_ceil(WORLDS_PER_COPY)).map(|k| self.seed.wrapping_add(k as u64)) {
                let copy = design.simulate(1, seed);
                let scores = shapes_worlds::noise(copy.study.instances[0].arms.len(), seed);
                let found = match evaluate(&copy.study, &scores, &asked(seed)) {
                    Answer::Found(found) => found,
                    Answer::Refused(reason) => {
                        println!("{:<24}seed {seed}: refused: {reason}", design.name());
                        continue;
                    }
                };
                let [low, high] = found.mean_effect;
                let (own, plain) = (0.5 * (low + high), copy.plain);
                let apart = (own - plain.value) / plain.error;
                println!(
                    "{:<24}seed {seed}: effect {own:+.4} [{low:+.4}, {high:+.4}]; plain {:+.4}, standard error {:.4}: {apart:+.2} standard \
                     errors apart; published {:+.3}",
                    design.name(),
                    plain.value,
                    plain.error,
                    design.effect()
                );
                self.append(json!({
                    "design": design.name(), "seed": seed, "effect": own, "low": low, "high": high, "plain": plain.value,
                    "plain_error": plain.error, "published": design.effect()
                }))?;
            }
        }
        Ok(())
    }

    /// Appends a line to the file, if there is one.
    fn append(&self, line: Value) -> Outcome<()> {
        if let Some(path) = &self.out {
            let mut file = OpenOptions::new().create(true).append(true).open(path)?;
            writeln!(file, "{line}")?;
        }
        Ok(())
    }
}

fn asked(seed: u64) -> EvaluateAsked {
    EvaluateAsked { seed, ..EvaluateAsked::default() }
}

/// Figures of the undeclared log by the evidence alone.
fn of_unchecked(world: &World, asked: &EvaluateAsked) -> Figures {
    let study = world.undeclared();
    let drop: Vec<String> = world.declared.settings.cluster.iter().cloned().collect();
    let one = |ranking: &Ranking| {
        let found = evaluate_unchecked(&study, &drop, &ranking.scores, asked).expect("a simulated study");
        of_found(world, ranking, &found)
    };
    let mut figures: Figures = world.rankings.iter().flat_map(one).collect();
    if world.course.is_some() {
        // a gain of pulls at every decision is not that of courses
        figures.retain(|(name, _)| *name != "gain covered");
    }
    figures
}

/// Like [`evaluate`], but by the evidence alone: without checks of the assignment, and without the features of `drop`.
fn evaluate_unchecked(
    study: &Study,
    drop: &[String],
    scores: &Array2<f64>,
    asked: &EvaluateAsked,
) -> restive_pipeline::Result<Found> {
    let everyone = [Group { instance: 0, arms: (0..scores.nrows()).collect() }];
    let encoding = prepare::encoding(study, &everyone, Standardise::Yes, drop)?;
    let instances = study.instances(&encoding)?;
    let instance = &instances[0];
    let folds = arm_folds(&everyone, asked.folds, asked.seed)?.concat();
    let judge = |fold: &Group| {
        let is_other = |arm: &usize| fold.arms.binary_search(arm).is_err();
        let others: Vec<usize> = (0..instance.arms()).filter(is_other).collect();
        Judge::fit(&[instance.select_arms(&others)])
    };
    let judges = folds.iter().map(judge).collect::<restive::Result<Vec<Judge>>>()?;
    let judged: Vec<Judged<'_>> =
        folds.iter().zip(&judges).map(|(fold, judge)| Judged { instance, arms: &fold.arms, judge }).collect();
    let settings = EvidenceSettings {
        design: match study.settings.behaviour {
            StudyBehaviour::Estimated => Design::Estimated,
            _ => Design::Uniform,
        },
        uses_recorded: false,
        horizon: study.settings.horizon,
        ending: Ending::State,
        seed: asked.seed,
        assignment: study.settings.assignment,
    };
    let evidence = Evidence::new(&judged, settings)?;
    let table = |fold: &Group| scores.select(Axis(0), &fold.arms).insert_axis(Axis(0));
    let ranking = evidence.ranking(&folds.iter().map(table).collect::<Vec<_>>())?;
    Ok(Found {
        p: evidence.redealt(&ranking, asked.deals.unwrap_or(EXCHANGES)).unwrap_or(ranking.p),
        mean_effect: evidence.deciles(&ranking).mean.interval(),
        gain: ranking.plan.interval(),
        course: evidence.course().map(|course| course.interval()),
    })
}

fn value(share: Share) -> f64 {
    share.hits as f64 / share.worlds.max(1) as f64
}

/// Standard error of a share.
fn error(share: Share) -> f64 {
    let p = value(share);
    (p * (1.0 - p) / share.worlds.max(1) as f64).sqrt()
}
