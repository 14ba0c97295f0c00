//! Ten weeks of a programme whose truth is known: does the evidence of its own lists cover the truth, and what do the weeks bring?
//!
//! ```text
//! cargo run --release --example ten_weeks -- FIRST LAST      one line of JSON for each seed from FIRST to LAST
//! ```
//!
//! In each world 6,000 people of a synthetic maternal programme were called in turn for eight weeks, 600 a week; a model is trained on that.
//! Then ten weeks follow, 600 calls each, under several ways of choosing, all with the same luck: what happens to a person next week is
//! decided by one uniform number for person and week, held against the chance that her action gives.
//!
//! | way | whom |
//! |---|---|
//! | plan | the list by the model and everybody's own record, a tenth of the places drawn by lot |
//! | all_by_rank | the same without a draw |
//! | no_history | by the model alone, without a draw |
//! | random | by lot |
//! | oracle | by the index of the true transitions |
//! | nobody | no calls |
//!
//! Afterwards the log of `plan` is judged by the probabilities that its lists wrote down: the mean effect of a call on those who could have
//! been drawn, with its 95 % interval, against the true mean over the same people and weeks.

use ndarray::{Array2, Array3, s};
use rand::RngExt;
use restive::data::maternal::Maternal;
use restive::index::whittle_index;
use restive::instance::{Logged, NO_ACTION, Observation};
use restive::policy::strict::strict_top_k;
use restive::random::stream;
use restive::{Trajectories, Transition};
use restive_pipeline::generate::Synthetic;
use restive_pipeline::{
    Applied, Asked, EvaluateAsked, Outcome, PlanAsked, PredictorName, Trained, Training, evidence_of_scores,
};
use restive_tables::{Study, StudyBehaviour};

const PEOPLE: usize = 6_000;
const CALLS: usize = 600;
const BEFORE: usize = 8;
const WEEKS: usize = 10;
const EXPLORE: f64 = 0.1;
const LUCK: u64 = 0x7765_656b;

type Answer<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Answer<()> {
    let numbers: Vec<u64> = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let [first, last] = numbers[..] else { return Err("ten_weeks FIRST LAST: two seeds".into()) };
    for seed in first..=last {
        println!("{}", world(seed)?);
    }
    Ok(())
}

/// Who is called in a week, and with which probability that was so.
type Choice = (Vec<bool>, Vec<f64>);

struct World {
    study: Study,
    truth: Transition,
    /// `[WEEKS,N]`
    luck: Array2<f64>,
}

/// A programme after its weeks.
struct Lived {
    study: Study,
    /// engaged weeks per 100 people
    value: f64,
}

impl World {
    fn new(seed: u64) -> Answer<Self> {
        let maternal =
            Maternal { groups: 1, people: PEOPLE, budget: CALLS, weeks: BEFORE, ..Maternal::default() };
        let mut study = Synthetic::Maternal(maternal).study(seed)?;
        // only what lists wrote down counts as evidence
        study.settings.behaviour = StudyBehaviour::Logged;
        let truth = study.instances[0].truth.take().ok_or("a synthetic programme knows its truth")?;
        let mut random = stream(seed, &[LUCK]);
        let luck = Array2::from_shape_fn((WEEKS, PEOPLE), |_| random.random());
        Ok(Self { study, truth, luck })
    }

    /// Lives through ten weeks.
    fn live(&self, mut choose: impl FnMut(&Study, usize) -> Answer<Choice>) -> Answer<Lived> {
        let mut study = self.study.clone();
        let p = self.truth.view();
        let mut value = 0.0;
        for week in 0..WEEKS {
            let (called, inclusion) = choose(&study, week)?;
            let log = &study.instances[0].trajectories;
            let t = log.steps() - 1;
            let grown = |(j, u, i): (usize, usize, usize)| (j, u.min(t), i);
            let mut state = Array3::from_shape_fn((1, t + 2, PEOPLE), |at| log.state()[grown(at)]);
            let mut action = Array3::from_elem((1, t + 2, PEOPLE), NO_ACTION);
            action.slice_mut(s![.., ..=t, ..]).assign(&log.action());
            let mut propensity = Array3::from_elem((1, t + 2, PEOPLE), f64::NAN);
            if let Some(known) = log.propensity() {
                propensity.slice_mut(s![.., ..=t, ..]).assign(&known);
            }
            for i in 0..PEOPLE {
                let (now, a) = (usize::from(state[[0, t, i]]), usize::from(called[i]));
                action[[0, t, i]] = a as u8;
                propensity[[0, t, i]] = if called[i] { inclusion[i] } else { 1.0 - inclusion[i] };
                let next = u16::from(self.luck[[week, i]] < p[[i, now, a, 1]]);
                state[[0, t + 1, i]] = next;
                value += f64::from(next);
            }
            let logged =
                Logged { state, action, propensity: Some(propensity), reward: None, available: None };
            study.instances[0].trajectories = Trajectories::new(logged, 2)?;
        }
        Ok(Lived { study, value: 100.0 * value / PEOPLE as f64 })
    }

    fn states(study: &Study) -> Vec<u16> {
        let state = study.instances[0].trajectories.state();
        state.slice(s![0, -1, ..]).to_vec()
    }

    /// By a number for every person and state.
    fn by_table(&self, table: &Array2<f64>, seed: u64) -> Answer<Lived> {
        self.live(|study, week| {
            let score: Vec<f64> =
                Self::states(study).iter().enumerate().map(|(i, s)| table[[i, usize::from(*s)]]).collect();
            let top = strict_top_k(&score, CALLS, seed.wrapping_add(week as u64));
            Ok((top.pull, top.inclusion))
        })
    }

    /// By the lists of a model.
    fn by_plan(&self, trained: &Trained, history: bool, explore: f64, seed: u64) -> Answer<Lived> {
        self.live(|study, week| {
            let applied = Applied::new(trained, study, "the model", "the study")?;
            let asked = PlanAsked {
                history: Some(history),
                explore: Some(explore),
                seed,
                period: Some(week.to_string()),
                ..PlanAsked::default()
            };
            let plan = applied.plan(&asked)?;
            let (mut called, mut inclusion) = (vec![false; PEOPLE], vec![0.0; PEOPLE]);
            for eligible in &plan.eligible {
                inclusion[eligible.arm] = eligible.inclusion;
                called[eligible.arm] = eligible.chosen != restive_pipeline::Chosen::No;
            }
            Ok((called, inclusion))
        })
    }

    /// The true mean effect of a call on those who could have been drawn, and how many of them were.
    fn true_effect(&self, lived: &Study) -> (f64, usize) {
        let log = &lived.instances[0].trajectories;
        let (state, action, p) = (log.state(), log.action(), self.truth.view());
        let propensity = log.propensity().expect("lists write them down");
        let (mut sum, mut rows, mut drawn) = (0.0, 0usize, 0);
        for t in log.steps() - 1 - WEEKS..log.steps() - 1 {
            for i in 0..PEOPLE {
                let chance = propensity[[0, t, i]];
                if chance > 0.0 && chance < 1.0 {
                    let now = usize::from(state[[0, t, i]]);
                    sum += p[[i, now, 1, 1]] - p[[i, now, 0, 1]];
                    rows += 1;
                    drawn += usize::from(action[[0, t, i]] == 1);
                }
            }
        }
        (sum / rows as f64, drawn)
    }
}

fn world(seed: u64) -> Answer<String> {
    let world = World::new(seed)?;
    let asked = Asked { predictor: Some(PredictorName::Effect), seed, ..Asked::default() };
    let training = Training::new(&world.study, &asked, "the study")?;
    let trained = training.run(Default::default(), None, |_| Ok::<_, restive_pipeline::Error>(()))?;
    let trained = Trained::new(training.model(trained.members, trained.histories))?;

    let plan = world.by_plan(&trained, true, EXPLORE, seed)?;
    let all_by_rank = world.by_plan(&trained, true, 0.0, seed)?;
    let no_history = world.by_plan(&trained, false, 0.0, seed)?;
    let random = world.by_table(&Array2::zeros((PEOPLE, 2)), seed)?;
    let reward = world.study.settings.reward.view();
    let index = whittle_index(world.truth.view(), reward, 0.9, Observation::Full).index;
    let oracle = world.by_table(&index, seed)?;
    let nobody = world.live(|_, _| Ok((vec![false; PEOPLE], vec![0.0; PEOPLE])))?;

    let applied = Applied::new(&trained, &plan.study, "the model", "the study")?;
    let reward = &world.study.settings.reward;
    let scores = applied.index(None).table(&applied.predictions[0], reward, Observation::Full)?.0;
    let asked = EvaluateAsked { seed, ..EvaluateAsked::default() };
    let (effect, drawn) = world.true_effect(&plan.study);
    let found = match evidence_of_scores(&plan.study, &[scores], &asked)? {
        Outcome::Answer(answer) => {
            let found = answer.mean_effect;
            let is_covered = found.low <= effect && effect <= found.high;
            format!(
                "\"effect\":{:.6},\"low\":{:.6},\"high\":{:.6},\"true\":{effect:.6},\"covered\":{is_covered},\"calls\":{}",
                found.value, found.low, found.high, answer.calls
            )
        }
        Outcome::Refused { reason, .. } => format!("\"refused\":\"{reason}\",\"true\":{effect:.6}"),
    };
    let values = [
        ("plan", plan.value),
        ("all_by_rank", all_by_rank.value),
        ("no_history", no_history.value),
        ("random", random.value),
        ("oracle", oracle.value),
        ("nobody", nobody.value),
    ];
    let values = values.map(|(name, value)| format!("\"{name}\":{value:.3}")).join(",");
    Ok(format!("{{\"seed\":{seed},{values},\"drawn\":{drawn},{found}}}"))
}
