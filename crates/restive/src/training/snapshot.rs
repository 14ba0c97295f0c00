//! Training on hold: named numbers, to be written to whatever file the program likes.

use super::descent::{Descent, EpochReport, Status};
use crate::error::{Error, Result};
use crate::predictor::Predictor;
use crate::predictor::logistic::{Form, Logistic, Penalties, Precision};

/// The state of training between two epochs: arrays by name.
///
/// `params`, `kept`, `adam.mean`, `adam.square` hold one number per parameter, `history.*` one per epoch (a missing
/// validation loss is NaN; two-stage training has no values), `logistic.held` the penalties of a fitted logistic model; counts are `adam.steps` and `status`.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// floating-point arrays
    pub numbers: Vec<(String, Vec<f64>)>,
    /// whole numbers
    pub counts: Vec<(String, u64)>,
}

const STATUSES: [Status; 6] = [
    Status::Running,
    Status::Completed,
    Status::StoppedEarly,
    Status::Diverged,
    Status::Converged,
    Status::NotConverged,
];

impl Descent {
    /// The state of training, to be saved.
    pub(super) fn snapshot(&self) -> Snapshot {
        let column = |field: fn(&EpochReport) -> f64| self.history.iter().map(field).collect::<Vec<f64>>();
        let held = match &self.predictor {
            Predictor::Logistic(model) => match model.form() {
                Form::Effect(Precision::Fixed(precision)) => vec![precision],
                Form::Hierarchical(Penalties::Fixed(penalties)) => penalties.to_vec(),
                Form::Effect(Precision::HeldOut { .. }) | Form::Hierarchical(Penalties::Evidence) => vec![],
            },
            Predictor::Network(_) | Predictor::Pool(_) => vec![],
        };
        let numbers = [
            ("params", self.predictor.flat().to_vec()),
            ("kept", self.kept.clone()),
            ("adam.mean", self.adam.mean.clone()),
            ("adam.square", self.adam.square.clone()),
            ("history.train_loss", column(|e| e.train_loss)),
            ("history.validation_loss", column(|e| e.validation_loss.unwrap_or(f64::NAN))),
            ("history.train_value", self.history.iter().filter_map(|e| e.train_value).collect()),
            ("history.learning_rate", column(|e| e.learning_rate)),
            ("history.is_best", column(|e| f64::from(e.is_best))),
            ("logistic.held", held),
        ];
        let status = STATUSES.iter().position(|s| *s == self.status).expect("all are listed");
        let counts = [("adam.steps", self.adam.steps), ("status", status as u64)];
        Snapshot {
            numbers: numbers.map(|(name, array)| (name.into(), array)).into(),
            counts: counts.map(|(name, count)| (name.into(), count)).into(),
        }
    }

    /// Takes the state of a snapshot.
    pub(super) fn apply(&mut self, snapshot: &Snapshot, has_validation: bool) -> Result<()> {
        let params = self.predictor.flat().len();
        let (current, kept) = (snapshot.array("params", params)?, snapshot.array("kept", params)?);
        self.kept = kept.to_vec();
        self.adam.mean = snapshot.array("adam.mean", params)?.to_vec();
        self.adam.square = snapshot.array("adam.square", params)?.to_vec();
        self.adam.steps = snapshot.count("adam.steps")?;
        let status = snapshot.count("status")?;
        let known = STATUSES.get(status as usize);
        let expected = "the number of a status";
        self.status = *known.ok_or(Error::Range { what: "snapshot", expected, found: status as f64 })?;
        if let Predictor::Logistic(model) = &mut self.predictor {
            let architecture = model.architecture();
            let form: Option<Form> = match snapshot.find("logistic.held")? {
                [precision] => Some(Precision::Fixed(*precision).into()),
                [passive, common, by_state] => Some(Penalties::Fixed([*passive, *common, *by_state]).into()),
                _ => None,
            };
            if let Some(form) = form {
                *model = Logistic::new(architecture.features, architecture.states, form)?;
            }
        }
        self.predictor.update(|params| params.copy_from_slice(current));
        let train = snapshot.find("history.train_loss")?;
        let column = |name| snapshot.array(name, train.len());
        let (validation, rate) = (column("history.validation_loss")?, column("history.learning_rate")?);
        let (best, value) = (column("history.is_best")?, snapshot.find("history.train_value")?);
        let report = |epoch: usize| EpochReport {
            epoch,
            train_loss: train[epoch],
            validation_loss: has_validation.then_some(validation[epoch]),
            train_value: value.get(epoch).copied(),
            learning_rate: rate[epoch],
            is_best: best[epoch] != 0.0,
        };
        self.history = (0..train.len()).map(report).collect();
        Ok(())
    }
}

impl Snapshot {
    /// Takes in a snapshot of one of several trainings, whose names are put behind `part` and a full stop.
    pub(super) fn extend(&mut self, part: &str, other: Snapshot) {
        let name = |name: String| format!("{part}.{name}");
        self.numbers.extend(other.numbers.into_iter().map(|(n, array)| (name(n), array)));
        self.counts.extend(other.counts.into_iter().map(|(n, count)| (name(n), count)));
    }

    /// The snapshot that was taken in under that name; empty where none was.
    pub(super) fn part(&self, part: &str) -> Snapshot {
        let strip = |name: &str| name.strip_prefix(part)?.strip_prefix('.').map(String::from);
        let numbers = self.numbers.iter().filter_map(|(name, array)| Some((strip(name)?, array.clone())));
        let counts = self.counts.iter().filter_map(|(name, count)| Some((strip(name)?, *count)));
        Snapshot { numbers: numbers.collect(), counts: counts.collect() }
    }

    fn find(&self, name: &str) -> Result<&[f64]> {
        let found = self.numbers.iter().find(|(other, _)| other == name);
        found.map(|(_, array)| &array[..]).ok_or_else(|| missing(name))
    }

    fn array(&self, name: &str, len: usize) -> Result<&[f64]> {
        let array = self.find(name)?;
        if array.len() == len {
            return Ok(array);
        }
        let found = format!("{} numbers in {name}", array.len());
        let expected = format!("{len}, of the same configuration and instances");
        Err(Error::Unsuitable { what: "snapshot", found, expected })
    }

    fn count(&self, name: &str) -> Result<u64> {
        let found = self.counts.iter().find(|(other, _)| other == name);
        found.map(|(_, count)| *count).ok_or_else(|| missing(name))
    }
}

fn missing(name: &str) -> Error {
    Error::Unsuitable { what: "snapshot", found: format!("no entry {name}"), expected: "one".into() }
}
