//! Answers of the pipeline about simulated logs, as `restive evaluate` gives them, beside the truth.

use super::{Honest, Ranking, Shape, World};
use ndarray::Array2;
use restive_pipeline::{Doctor, EvaluateAsked, Interval, Outcome, Severity, evidence_of_scores};
use restive_tables::Study;

/// p below which a ranking is shown.
const LEVEL: f64 = 0.05;

/// What is true or false of a world, by the name of the figure.
pub type Figures = Vec<(&'static str, bool)>;

/// p and 95 % intervals of a log and a ranking.
pub struct Found {
    /// Of a ranking that finds nobody.
    pub p: f64,
    /// Mean effect of a pull on the next reward.
    pub mean_effect: [f64; 2],
    /// Gain of the ranking over random pulls, of all people together.
    pub gain: [f64; 2],
    /// Mean effect of a course on a person's later rewards.
    pub course: Option<[f64; 2]>,
}

/// Answer of the pipeline.
pub enum Answer {
    /// The numbers.
    Found(Found),
    /// Reason of a refusal, and the remedy.
    Refused(String),
}

/// Answer of the pipeline about a study of one instance, with scores `[N,2]`.
pub fn evaluate(study: &Study, scores: &Array2<f64>, asked: &EvaluateAsked) -> Answer {
    match evidence_of_scores(study, std::slice::from_ref(scores), asked).expect("a simulated study") {
        Outcome::Answer(answer) => Answer::Found(Found {
            p: answer.p,
            mean_effect: ends(answer.mean_effect),
            gain: ends(answer.total_gain),
            course: answer.course.map(ends),
        }),
        Outcome::Refused { reason, what_to_do } => Answer::Refused(format!("{reason}; {what_to_do}")),
    }
}

/// Figures of a world whose study declares its shape.
pub fn of_declared(world: &World, asked: &EvaluateAsked) -> Figures {
    let mut figures = Figures::new();
    for ranking in &world.rankings {
        let answer = evaluate(&world.declared, &ranking.scores, asked);
        figures.push(("answered", matches!(answer, Answer::Found(_))));
        if let Answer::Found(found) = answer {
            figures.extend(of_found(world, ranking, &found));
        }
    }
    figures
}

/// Figures of the same log in a study that declares no shape: whether the shape is named, and whether the ranking is shown although
/// pulls have no effect.
pub fn of_undeclared(world: &World, shape: Shape, asked: &EvaluateAsked) -> Figures {
    let study = world.undeclared();
    let answer = evaluate(&study, &world.rankings[0].scores, asked);
    let is_refused_for_it = matches!(&answer, Answer::Refused(text) if text.contains(shape.remedy()));
    let is_detected = is_refused_for_it || is_flagged(&study, &[shape.check()]);
    let mut figures = vec![("detected", is_detected), ("answered", matches!(answer, Answer::Found(_)))];
    if !world.has_effect() {
        figures.push(("yes", matches!(&answer, Answer::Found(found) if found.p < LEVEL)));
    }
    figures
}

/// Figures of a log without a shape.
pub fn of_honest(study: &Study, scores: &Array2<f64>, asked: &EvaluateAsked) -> Figures {
    let (is_refused, is_accused) = match evaluate(study, scores, asked) {
        Answer::Found(_) => (false, false),
        Answer::Refused(text) => (true, Honest::is_accused_by(&text)),
    };
    let is_flagged = is_flagged(study, &Shape::ALL.map(Shape::check));
    vec![("false alarm", is_accused || is_flagged), ("refused otherwise", is_refused && !is_accused)]
}

/// Figures of numbers, beside the truth.
pub fn of_found(world: &World, ranking: &Ranking, found: &Found) -> Figures {
    let is_rejected = found.p < LEVEL;
    if ranking.is_noise {
        return vec![("rejected by noise", is_rejected)];
    }
    let mut figures = vec![
        ("effect covered", covers(found.mean_effect, world.mean_effect)),
        ("gain covered", covers(found.gain, ranking.gain)),
    ];
    if let (Some(truth), Some(course)) = (world.course, found.course) {
        figures.push(("course covered", covers(course, truth)));
    }
    if !world.has_effect() {
        figures.push(("rejected", is_rejected));
    }
    figures
}

fn ends(interval: Interval) -> [f64; 2] {
    [interval.low, interval.high]
}

fn covers([low, high]: [f64; 2], truth: f64) -> bool {
    low <= truth && truth <= high
}

/// Whether one of the checks of the doctor finds more than a note.
fn is_flagged(study: &Study, checks: &[&str]) -> bool {
    let findings = Doctor::new(study).findings;
    findings.iter().any(|finding| checks.contains(&finding.name) && finding.severity > Severity::Note)
}
