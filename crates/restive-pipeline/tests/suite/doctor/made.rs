//! Programmes whose faults are known, because they were made with them.

use ndarray::{Array2, Array3};
use rand::RngExt;
use restive::data::features::{Column, Features};
use restive::instance::{Logged, NO_ACTION, Observation, UNSEEN};
use restive::random::stream;
use restive::{Reward, Trajectories};
use restive_pipeline::{Doctor, Finding, Severity};
use restive_tables::{Study, StudyBehaviour, StudyInstance, StudySettings};

pub(super) const PEOPLE: usize = 600;
pub(super) const WEEKS: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Choice {
    Lot,
    Rota,
    Worse,
}

/// A programme, and what is wrong with it.
#[derive(Debug, Clone)]
pub(super) struct Made {
    pub seed: u64,
    pub choice: Choice,
    pub calls: usize,
    pub effect: f64,
    /// how much people differ
    pub spread: f64,
    /// what the state of two weeks ago adds
    pub memory: f64,
    /// what every chance changes by from this week on
    pub change: Option<(usize, f64)>,
}

impl Default for Made {
    fn default() -> Self {
        Self { seed: 0, choice: Choice::Lot, calls: 60, effect: 0.2, spread: 0.3, memory: 0.0, change: None }
    }
}

/// What the programme wrote down: `[weeks + 1, people]`, and features.
pub(super) struct Written {
    pub state: Array2<u16>,
    pub action: Array2<u8>,
    pub columns: Vec<(String, Column)>,
    pub behaviour: StudyBehaviour,
    pub propensity: Option<Array2<f64>>,
}

impl Made {
    pub(super) fn written(&self) -> Written {
        let mut random = stream(self.seed, &[77, self.choice as u64]);
        let own: Vec<f64> = (0..PEOPLE).map(|_| self.spread * (random.random::<f64>() - 0.5)).collect();
        let mut state = Array2::<u16>::zeros((WEEKS + 1, PEOPLE));
        let mut action = Array2::<u8>::zeros((WEEKS + 1, PEOPLE));
        state.row_mut(0).mapv_inplace(|_| u16::from(random.random::<f64>() < 0.5));
        for t in 0..WEEKS {
            let key = |i: usize, luck: f64| match self.choice {
                Choice::Lot => luck,
                Choice::Rota => ((i + PEOPLE * WEEKS - self.calls * t) % PEOPLE) as f64,
                Choice::Worse => 0.08 * f64::from(state[[t, i]]) + luck,
            };
            let mut order: Vec<(f64, usize)> = (0..PEOPLE).map(|i| (key(i, random.random()), i)).collect();
            order.sort_by(|a, b| a.0.total_cmp(&b.0));
            order[..self.calls].iter().for_each(|(_, i)| action[[t, *i]] = 1);
            let change = self.change.filter(|(from, _)| t >= *from).map_or(0.0, |(_, by)| by);
            for i in 0..PEOPLE {
                let past = if t > 0 { self.memory * (f64::from(state[[t - 1, i]]) - 0.5) } else { 0.0 };
                let [s, a] = [f64::from(state[[t, i]]), f64::from(action[[t, i]])];
                let chance = 0.25 + own[i] + 0.4 * s + self.effect * a + past + change;
                state[[t + 1, i]] = u16::from(random.random::<f64>() < chance.clamp(0.0, 1.0));
            }
        }
        let noisy = |x: &f64| x + 0.1 * (random.random::<f64>() - 0.5);
        let age = own.iter().map(noisy).map(|x| (30.0 + 40.0 * x).round()).collect();
        let ward =
            (0..PEOPLE).map(|i| Some(["north", "south", "east", "west"][(i * 7 + 3) % 4].into())).collect();
        let columns = vec![("age".into(), Column::Number(age)), ("ward".into(), Column::Text(ward))];
        let behaviour = match self.choice {
            Choice::Lot => StudyBehaviour::Uniform,
            Choice::Rota => StudyBehaviour::RoundRobinAsUniform,
            Choice::Worse => StudyBehaviour::Estimated,
        };
        action.row_mut(WEEKS).fill(NO_ACTION);
        Written { state, action, columns, behaviour, propensity: None }
    }
}

impl Written {
    /// The states of row t + 1 in row t.
    pub(super) fn early(mut self) -> Self {
        for t in 0..WEEKS {
            let next = self.state.row(t + 1).to_owned();
            self.state.row_mut(t).assign(&next);
        }
        self.state.row_mut(WEEKS).fill(UNSEEN);
        self
    }

    pub(super) fn study(self) -> Study {
        let three = |x: Array2<u16>| x.insert_axis(ndarray::Axis(0));
        let action: Array3<u8> = self.action.insert_axis(ndarray::Axis(0));
        let propensity = self.propensity.map(|p| p.insert_axis(ndarray::Axis(0)));
        let logged = Logged { state: three(self.state), action, propensity, reward: None, available: None };
        let settings = StudySettings {
            name: None,
            notes: None,
            unit: None,
            reward: Reward::linear(2),
            discount: 0.9,
            budget: 60,
            horizon: 8,
            ends: None,
            observation: Observation::Full,
            behaviour: self.behaviour,
            cluster: None,
            assignment: Default::default(),
            text: Vec::new(),
            silenced: Default::default(),
        };
        let instance = StudyInstance {
            name: "0".into(),
            arms: (0..PEOPLE).map(|i| i.to_string()).collect(),
            features: Features::new(PEOPLE, self.columns).unwrap(),
            split: None,
            clusters: None,
            trajectory_names: vec!["1".into()],
            trajectories: Trajectories::new(logged, 2).unwrap(),
            truth: None,
        };
        Study { settings, instances: vec![instance] }
    }

    /// What one check says.
    pub(super) fn finding(self, name: &str) -> Finding {
        finding(&self.study(), name)
    }
}

pub(super) fn finding(study: &Study, name: &str) -> Finding {
    let doctor = Doctor::new(study);
    doctor.findings.into_iter().find(|finding| finding.name == name).unwrap()
}

/// How many of twenty programmes are at least so grave.
pub(super) fn of_twenty(name: &str, severity: Severity, written: impl Fn(u64) -> Written) -> usize {
    (0..20).filter(|seed| written(*seed).finding(name).severity >= severity).count()
}
