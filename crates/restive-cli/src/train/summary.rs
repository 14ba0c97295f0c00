//! What a training says of itself: its epochs, its losses, its warnings, for the eye.

use crate::shared::display::counted;
use crate::shared::display::{duration, grouped, write_aligned};
use restive::data::split::Part;
use restive::training::EpochReport;
use restive_pipeline::card::{self, counted_thing};
use restive_tables::model::Card;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// One epoch as a line of JSON; a loss that is no finite number is null.
pub(crate) fn epoch_line(member: usize, stage: &str, report: &EpochReport) -> Value {
    json!({
        "event": "epoch",
        "member": member,
        "stage": stage,
        "epoch": report.epoch,
        "train_loss": report.train_loss,
        "validation_loss": report.validation_loss,
        "train_value": report.train_value,
        "learning_rate": report.learning_rate,
        "is_best": report.is_best,
    })
}

/// The end of a training.
pub(crate) struct Outcome<'a> {
    out: &'a Path,
    card: Card,
    warnings: Vec<String>,
    seconds: f64,
    /// whether it was trained now, or was there already
    is_new: bool,
}

impl<'a> Outcome<'a> {
    pub(crate) fn new(
        out: &'a Path,
        card: &Card,
        mut warnings: Vec<String>,
        took: Duration,
        is_new: bool,
    ) -> Self {
        warnings.extend(card::warnings(card));
        Self { out, card: card.clone(), warnings, seconds: took.as_secs_f64(), is_new }
    }

    /// To standard output, warnings to standard error.
    pub(crate) fn print(&self, as_json: bool) -> anyhow::Result<()> {
        crate::print(|text| if as_json { writeln!(text, "{}", self.json()) } else { self.write_text(text) })?;
        self.warnings.iter().for_each(|warning| eprintln!("restive: warning: {warning}"));
        Ok(())
    }

    fn json(&self) -> Value {
        let member = |member: &Value| {
            let mut all = json!({
                "seed": member["seed"],
                "status": member["status"],
                "epochs": epochs(member),
                "kept_epoch": member["kept_epoch"],
            });
            if member["selection"].is_object() {
                all["selection"] = member["selection"].clone();
            }
            all
        };
        json!({
            "event": "summary",
            "out": self.out.display().to_string(),
            "restive": self.card.restive,
            "fingerprint": self.card.fingerprint,
            "predictor": self.card.predictor,
            "configuration": self.card.configuration,
            "members": self.members().map(member).collect::<Vec<_>>(),
            "loss": self.card.history["loss"],
            "is_new": self.is_new,
            "seconds": self.seconds,
            "warnings": self.warnings,
        })
    }

    fn members(&self) -> impl Iterator<Item = &Value> {
        self.card.history["members"].as_array().into_iter().flatten()
    }

    fn write_text(&self, text: &mut Vec<u8>) -> io::Result<()> {
        let configuration = &self.card.configuration;
        let word = |name: &str| configuration[name].as_str().unwrap_or("").to_string();
        let (features, states) = (&self.card.predictor["features"], &self.card.predictor["states"]);
        let kind = match (word("predictor").as_str(), &configuration["hidden"]) {
            ("network", Value::Array(hidden)) => {
                let widths: Vec<String> = hidden.iter().map(Value::to_string).collect();
                format!("network with {} hidden units", widths.join(", "))
            }
            ("effect", _) => format!("effect, precision {}", self.card.predictor["precision"]),
            (other, _) => other.into(),
        };
        writeln!(text, "profile    {}", word("profile"))?;
        writeln!(text, "predictor  {kind}; features {features}, states {states}")?;
        if word("objective") == "decision-focused" {
            let discount = configuration["index_discount"].as_f64().unwrap_or(f64::NAN);
            writeln!(
                text,
                "objective  decision-focused, value {}, index discount {discount:.4}",
                word("value")
            )?;
        }
        if let Some(answer) = self.members().next().and_then(answer) {
            writeln!(text, "answer     {answer}")?;
        }
        const SHOWN: usize = 10;
        for (k, member) in self.members().enumerate().take(SHOWN) {
            let fit = if self.members().count() == 1 { "fit".into() } else { format!("fit {}", k + 1) };
            let kept = match member["kept_epoch"].as_u64() {
                Some(epoch) => format!("kept number {}", epoch + 1),
                None => "kept the initial parameters".into(),
            };
            let made = counted(epochs(member) as u64, "epoch");
            writeln!(text, "{fit:<9}  {}: {made}, {kept}", member["status"].as_str().unwrap_or(""))?;
        }
        if let more @ 1.. = self.members().count().saturating_sub(SHOWN) {
            writeln!(text, "… {more} more fits")?;
        }
        writeln!(text)?;
        let what = counted_thing(configuration);
        let header =
            ["part", "instances", "arms", &format!("{what}s"), "loss per trajectory", &format!("per {what}")];
        let mut table = vec![header.map(String::from).to_vec()];
        for part in Part::ALL.map(Part::name) {
            let (dealt, loss) = (&configuration["split"][part], &self.card.history["loss"][part]);
            let count = |value: &Value| value.as_u64().map_or("–".into(), grouped);
            let number =
                |value: &Value, digits| value.as_f64().map_or("–".into(), |x| format!("{x:.digits$}"));
            table.push(vec![
                part.into(),
                count(&dealt["instances"]),
                count(&dealt["arms"]),
                count(&loss["transitions"]),
                number(&loss["per_trajectory"], 3),
                number(&loss["per_transition"], 5),
            ]);
        }
        write_aligned(text, &table)?;
        let did = if self.is_new { "wrote" } else { "nothing to do, this training is already in" };
        writeln!(text, "\n{}; {did} {}", duration(self.seconds), self.out.display())
    }
}

/// What the folds said of the first fit, in words.
fn answer(member: &Value) -> Option<String> {
    let selection = member["selection"].as_object()?;
    let choice = selection["choice"].as_str()?;
    let folds = selection["value_per_arm"].as_array()?.len();
    let lead = |preset: &str| {
        let lead = &selection["lead_over_two_stage"][preset];
        Some((lead["mean"].as_f64()?, lead["standard_error"].as_f64()?))
    };
    let (Some(weak), Some(strong)) = (lead("weak"), lead("strong")) else {
        return Some(match choice {
            "two-stage" => "two-stage is enough: too few arms to compare on".into(),
            preset => format!("{preset}, as asked; not compared with two-stage"),
        });
    };
    let shown = |(mean, error): (f64, f64)| format!("{mean:+.4} ± {error:.4}");
    let (best, lead) = if strong.0 > weak.0 { ("strong", strong) } else { ("weak", weak) };
    Some(match choice {
        "two-stage" if lead.0 <= 0.0 => format!(
            "two-stage is enough: over {folds} folds neither preset gains on it ({best} {} per arm)",
            shown(lead)
        ),
        "two-stage" => format!(
            "two-stage is enough: over {folds} folds {best} leads it by {} per arm, not by a standard error",
            shown(lead)
        ),
        preset => format!("{preset}: leads two-stage by {} per arm over {folds} folds", shown(lead)),
    })
}

fn epochs(member: &Value) -> usize {
    member["train_loss"].as_array().map_or(0, Vec::len)
}
