//! Training on hold, on disk: `MODEL.checkpoint` beside the model to be.
//!
//! It holds the members of the ensemble that are finished (as a model does, `member_K.BLOCK`, their epochs in the card's
//! history) and the snapshot of the member in training (`now.NAME`, `now.count.NAME`), under the card of the model to be:
//! configuration, encoding, seed, fingerprint of the study, version of restive. Training goes on only from a checkpoint in
//! which all of these are the same.

use crate::shared::signals::say_when_interrupted;
use anyhow::{Context, anyhow, bail};
use restive::predictor::Ensemble;
use restive::training::Snapshot;
use restive_pipeline::{Progressed, rebuild, weights};
use restive_tables::model::{Card, History, Model, PredictorCard};
use restive_tables::{check_file, remove_file};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// At most one checkpoint in this time, but for the first; an epoch that is lost is made again, in the same way.
const PAUSE: Duration = Duration::from_millis(200);
const NOW: &str = "now.";
const COUNT: &str = "count.";

/// The file of the checkpoint, and when it was last written.
pub(crate) struct Checkpoint {
    path: PathBuf,
    written: Option<Instant>,
    /// whether one is there, of this training or to be replaced
    is_there: bool,
}

/// Whether training begins anew where there is a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anew {
    Never,
    /// where it is of another training
    IfOther,
    Always,
}

impl Checkpoint {
    /// The checkpoint of a model folder; the folder must have a name.
    pub(crate) fn beside(out: &Path) -> Self {
        let mut name = out.file_name().expect("checked by the caller").to_os_string();
        name.push(".checkpoint");
        Self { path: out.with_file_name(name), written: None, is_there: false }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn is_due(&self) -> bool {
        self.written.is_none_or(|written| written.elapsed() >= PAUSE)
    }

    pub(crate) fn write(&mut self, card: &Card, progressed: &Progressed) -> anyhow::Result<()> {
        let mut card = card.clone();
        let mut arrays = Vec::new();
        if let Some(first) = progressed.members.first() {
            card.predictor = PredictorCard::new(&first.architecture(), progressed.members.len());
            arrays = weights(&Ensemble { members: progressed.members.clone() });
        }
        card.history = History { members: progressed.histories.clone(), loss: None };
        if let Some(now) = &progressed.now {
            let numbers = now.numbers.iter().map(|(name, array)| (format!("{NOW}{name}"), halves(array)));
            let counts = now
                .counts
                .iter()
                .map(|(name, count)| (format!("{NOW}{COUNT}{name}"), halves(&[f64::from_bits(*count)])));
            arrays.extend(numbers.chain(counts).map(|(name, array)| (name, vec![array.len()], array)));
        }
        Model { card, weights: arrays }.write_checkpoint(&self.path, self.is_there)?;
        (self.written, self.is_there) = (Some(Instant::now()), true);
        say_when_interrupted(format!(
            "{} holds what was trained: the same command goes on from there",
            self.path.display()
        ));
        Ok(())
    }

    /// What an earlier run left, where it did. One of another training is refused, or `anew` to be replaced; what is no
    /// checkpoint is never replaced.
    pub(crate) fn find(&mut self, card: &Card, anew: Anew) -> anyhow::Result<Option<Progressed>> {
        check_file(&self.path, Some(Model::recognise_checkpoint))?;
        self.is_there = self.path.exists();
        match anew {
            _ if !self.is_there => Ok(None),
            Anew::Always => Ok(None),
            Anew::IfOther => Ok(self.read(card).unwrap_or_default()),
            Anew::Never => self.read(card),
        }
    }

    fn read(&self, card: &Card) -> anyhow::Result<Option<Progressed>> {
        let found = Model::read_checkpoint(&self.path).map_err(|e| anyhow!("{e}; --restart begins anew"))?;
        if let Some(difference) = difference(&found.card, card) {
            bail!(
                "{}: found a checkpoint of another training ({difference}); --restart begins anew",
                self.path.display()
            );
        }
        let progressed = parse(found).with_context(|| format!("{}", self.path.display()))?;
        Ok(Some(progressed))
    }

    /// Removes the file, where there is one.
    pub(crate) fn remove(&self) -> anyhow::Result<()> {
        if !self.is_there || Model::recognise_checkpoint(&self.path).is_err() {
            return Ok(());
        }
        Ok(remove_file(&self.path)?)
    }
}

fn parse(found: Model) -> anyhow::Result<Progressed> {
    let histories = found.card.history.members.clone();
    let members = if histories.is_empty() { vec![] } else { rebuild(&found)?.members };
    if members.len() != histories.len() {
        bail!("found {} members and the history of {}", members.len(), histories.len());
    }
    let mut now = Snapshot { numbers: vec![], counts: vec![] };
    for (name, _, array) in &found.weights {
        let Some(name) = name.strip_prefix(NOW) else { continue };
        let whole = whole(array).with_context(|| format!("array {name}: expected pairs of 32 bits"))?;
        match (name.strip_prefix(COUNT), &whole[..]) {
            (Some(name), [count]) => now.counts.push((name.into(), count.to_bits())),
            (Some(name), _) => bail!("array {name}: expected one count"),
            (None, _) => now.numbers.push((name.into(), whole)),
        }
    }
    Ok(Progressed { members, histories, now: (!now.numbers.is_empty()).then_some(now) })
}

/// What two cards of trainings differ in, in words: was, now.
pub(crate) fn difference(was: &Card, now: &Card) -> Option<String> {
    let texts = [("restive", &was.restive, &now.restive), ("study", &was.fingerprint, &now.fingerprint)];
    if let Some((what, was, now)) = texts.into_iter().find(|(_, was, now)| was != now) {
        return Some(format!("{what}: was {was}, now {now}"));
    }
    let entries = |configuration| serde_json::to_value(configuration).expect("plain values");
    let (before, after) = (entries(&was.configuration), entries(&now.configuration));
    let (before, after) = (before.as_object().expect("named"), after.as_object().expect("named"));
    // what was asked for stands before what follows from it
    let first = ["objective", "predictor", "profile"].map(String::from);
    // which options were given shows in what they came to, and is for other data
    let names = first.iter().chain(after.keys()).chain(before.keys()).filter(|name| *name != "asked");
    let shown = |value: Option<&Value>| value.map_or("absent".into(), Value::to_string);
    let differs = names.into_iter().find(|name| before.get(*name) != after.get(*name));
    match differs {
        Some(name) => {
            Some(format!("{name}: was {}, now {}", shown(before.get(name)), shown(after.get(name))))
        }
        None => (was.encoding != now.encoding).then(|| "the encoding of the features".into()),
    }
}

/// Any numbers, NaN and infinities too, as finite ones: the upper and the lower 32 bits of each.
fn halves(numbers: &[f64]) -> Vec<f64> {
    let half = |bits: u64| f64::from(bits as u32);
    numbers.iter().flat_map(|x| [half(x.to_bits() >> 32), half(x.to_bits())]).collect()
}

fn whole(halves: &[f64]) -> Option<Vec<f64>> {
    let (pairs, rest) = halves.as_chunks::<2>();
    let bits = |half: f64| (half == f64::from(half as u32)).then_some(u64::from(half as u32));
    let join = |[upper, lower]: &[f64; 2]| Some(f64::from_bits((bits(*upper)? << 32) | bits(*lower)?));
    if rest.is_empty() { pairs.iter().map(join).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_survives_in_halves() {
        let numbers =
            [0.0, -0.0, 1.5e-310, f64::MAX, f64::INFINITY, f64::from_bits(u64::MAX), std::f64::consts::PI];
        let back = whole(&halves(&numbers)).unwrap();
        assert!(numbers.iter().zip(&back).all(|(a, b)| a.to_bits() == b.to_bits()));
        assert!(halves(&numbers).iter().all(|x| x.is_finite()));
        assert!(whole(&[1.0]).is_none() && whole(&[0.5, 1.0]).is_none() && whole(&[-1.0, 0.0]).is_none());
    }
}
