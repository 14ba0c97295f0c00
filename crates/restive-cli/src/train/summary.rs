//! What a training says of itself: its epochs, its losses, its warnings, for the eye.

use crate::shared::display::counted;
use crate::shared::display::{duration, grouped, write_aligned};
use crate::shared::say;
use restive::training::EpochReport;
use restive_pipeline::card::{self, counted_thing};
use restive_pipeline::{Message, PredictorName};
use restive_tables::model::history::{
    Candidate, ChoiceOutcome, FoldsVerdict, Lead, MemberHistory, PredictorChoice,
};
use restive_tables::model::{Card, WrittenPredictor};
use restive_tables::show::path;
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
    /// of the data, which were said before it began, and then of the training
    warnings: [Vec<Message>; 2],
    seconds: f64,
    /// whether it was trained now, or was there already
    is_new: bool,
}

impl<'a> Outcome<'a> {
    pub(crate) fn new(
        out: &'a Path,
        card: &Card,
        of_data: Vec<Message>,
        took: Duration,
        is_new: bool,
    ) -> Self {
        let warnings = [of_data, card::warnings(card)];
        Self { out, card: card.clone(), warnings, seconds: took.as_secs_f64(), is_new }
    }

    /// To standard output, warnings of the training to standard error.
    pub(crate) fn print(&self, as_json: bool) -> anyhow::Result<()> {
        match as_json {
            true => say::print_json_line(&self.json())?,
            false => say::print(|text| self.write_text(text))?,
        }
        self.warnings[1].iter().for_each(say::warning);
        Ok(())
    }

    fn json(&self) -> Value {
        let member = |member: &MemberHistory| {
            let mut all = json!({
                "seed": member.seed,
                "status": member.fit.status,
                "epochs": member.fit.train_loss.len(),
                "kept_epoch": member.fit.kept_epoch,
            });
            if let Some(choice) = &member.choice {
                all["choice"] = json!(choice);
            }
            if let Some(selection) = &member.selection {
                all["selection"] = json!(selection);
            }
            all
        };
        let Card { restive, fingerprint, predictor, configuration, history, .. } = &self.card;
        json!({
            "event": "summary",
            "out": self.out.display().to_string(),
            "restive": restive,
            "fingerprint": fingerprint,
            "predictor": predictor,
            "configuration": configuration,
            "members": history.members.iter().map(member).collect::<Vec<_>>(),
            "loss": history.loss,
            "is_new": self.is_new,
            "seconds": self.seconds,
            "warnings": self.warnings.concat(),
        })
    }

    fn write_text(&self, text: &mut Vec<u8>) -> io::Result<()> {
        let Card { configuration, predictor, history, .. } = &self.card;
        let kind = match (configuration.predictor, &configuration.hidden, &predictor.kind) {
            (PredictorName::Network, Some(hidden), _) => {
                let widths: Vec<String> = hidden.iter().map(usize::to_string).collect();
                format!("network with {} hidden units", widths.join(", "))
            }
            (PredictorName::Effect, _, WrittenPredictor::Effect { precision, .. }) => {
                format!("effect, precision {}", json!(precision))
            }
            (PredictorName::Hierarchical, _, WrittenPredictor::Hierarchical { penalties: Some(held) }) => {
                format!(
                    "hierarchical, penalties {:.3} passive, {:.3} common shift, {:.3} by state",
                    held.passive, held.common, held.by_state
                )
            }
            (other, ..) => other.to_string(),
        };
        writeln!(text, "profile    {}", configuration.profile)?;
        writeln!(text, "predictor  {kind}; features {}, states {}", predictor.features, predictor.states)?;
        if let Some(decision) = &configuration.decision {
            let discount = configuration.index_discount.unwrap_or(f64::NAN);
            writeln!(
                text,
                "objective  decision-focused, value {}, index discount {discount:.4}",
                decision.value
            )?;
        }
        if let Some(choice) = history.members.first().and_then(|member| member.choice.as_ref()) {
            for (k, line) in chosen(choice, counted_thing(configuration)).iter().enumerate() {
                writeln!(text, "{:<9}  {line}", if k == 0 { "chosen" } else { "" })?;
            }
        }
        if let Some(selection) = history.members.first().and_then(|member| member.selection.as_ref()) {
            writeln!(text, "answer     {}", answer(selection))?;
        }
        const SHOWN: usize = 10;
        let members = &history.members;
        for (k, member) in members.iter().enumerate().take(SHOWN) {
            let fit = if members.len() == 1 { "fit".into() } else { format!("fit {}", k + 1) };
            let kept = match member.fit.kept_epoch {
                Some(epoch) => format!("kept number {}", epoch + 1),
                None => "kept the initial parameters".into(),
            };
            let made = counted(member.fit.train_loss.len() as u64, "epoch");
            match (&member.choice, &member.selection) {
                // its epochs are those of the folds
                (Some(choice), None) => {
                    writeln!(text, "{fit:<9}  {} in {} folds", member.fit.status, choice.folds)?
                }
                _ => writeln!(text, "{fit:<9}  {}: {made}, {kept}", member.fit.status)?,
            }
        }
        if let more @ 1.. = members.len().saturating_sub(SHOWN) {
            writeln!(text, "… {more} more fits")?;
        }
        writeln!(text)?;
        let what = counted_thing(configuration);
        let header =
            ["part", "instances", "arms", &format!("{what}s"), "loss per trajectory", &format!("per {what}")];
        let mut table = vec![header.map(String::from).to_vec()];
        let (split, loss) = (&configuration.split, history.loss.unwrap_or_default());
        for (part, size, loss) in [
            ("train", split.train, loss.train),
            ("validation", split.validation, loss.validation),
            ("test", split.test, loss.test),
        ] {
            let number = |value: Option<f64>, digits| {
                value.filter(|x| x.is_finite()).map_or("–".into(), |x| format!("{x:.digits$}"))
            };
            table.push(vec![
                part.into(),
                grouped(size.instances as u64),
                grouped(size.arms as u64),
                loss.map_or("–".into(), |loss| grouped(loss.transitions)),
                number(loss.and_then(|loss| loss.per_trajectory), 3),
                number(loss.and_then(|loss| loss.per_transition), 5),
            ]);
        }
        write_aligned(text, &table)?;
        let did = if self.is_new { "wrote" } else { "nothing to do, this training is already in" };
        writeln!(text, "\n{}; {did} {}", duration(self.seconds), path(self.out))
    }
}

/// What the folds said of the predictors that were tried, in words.
fn chosen(choice: &PredictorChoice, what: &str) -> Vec<String> {
    let loss = |loss: Option<f64>| loss.map_or("–".into(), |loss| format!("{loss:.4}"));
    let tried: Vec<String> =
        choice.bases.iter().map(|base| format!("{} {}", base.name, loss(base.loss))).collect();
    let used = choice.bases.iter().filter(|base| base.weight > 0.0);
    let said = match choice.outcome {
        ChoiceOutcome::Single => {
            let name = used.map(|base| base.name.as_str()).next().unwrap_or("none");
            format!("{name}, by the mean of its {} fold fits", choice.folds)
        }
        ChoiceOutcome::Pool => {
            let weights: Vec<String> = used.map(|base| format!("{:.2} {}", base.weight, base.name)).collect();
            format!(
                "a pool of log-odds: {}, each by the mean of its {} fold fits",
                weights.join(" + "),
                choice.folds
            )
        }
        ChoiceOutcome::Frequencies => "none of them: every arm has the bare frequencies of moves".into(),
    };
    let (all, frequencies) = (grouped(choice.transitions), loss(choice.frequencies_loss));
    let mut lines = vec![
        said,
        format!(
            "loss per {what} out of fold, over {all}: {}; bare frequencies {frequencies}",
            tried.join(", ")
        ),
    ];
    if let Some(Lead { mean: Some(gain), standard_error: Some(error) }) = choice.pool_gain {
        let verdict = if choice.outcome == ChoiceOutcome::Pool { "more than" } else { "not more than" };
        lines.push(format!(
            "the pool's squared error of the next reward gains {gain:+.1} ± {error:.1} on the best of them: {verdict} a standard error"
        ));
    }
    lines
}

/// What the folds said of the first fit, in words.
fn answer(selection: &FoldsVerdict) -> String {
    let folds = selection.value_per_arm.len();
    let lead = |lead: Option<Lead>| lead.and_then(|lead| Some((lead.mean?, lead.standard_error?)));
    let leads = &selection.lead_over_two_stage;
    let (Some(weak), Some(strong)) = (lead(leads.weak), lead(leads.strong)) else {
        return match selection.choice {
            Candidate::TwoStage => "two-stage is enough: too few arms to compare on".into(),
            preset => format!("{preset}, as asked; not compared with two-stage"),
        };
    };
    let shown = |(mean, error): (f64, f64)| format!("{mean:+.4} ± {error:.4}");
    let (best, lead) = if strong.0 > weak.0 { ("strong", strong) } else { ("weak", weak) };
    match selection.choice {
        Candidate::TwoStage if lead.0 <= 0.0 => format!(
            "two-stage is enough: over {folds} folds neither preset gains on it ({best} {} per arm)",
            shown(lead)
        ),
        Candidate::TwoStage => format!(
            "two-stage is enough: over {folds} folds {best} leads it by {} per arm, not by a standard error",
            shown(lead)
        ),
        preset => format!("{preset}: leads two-stage by {} per arm over {folds} folds", shown(lead)),
    }
}
