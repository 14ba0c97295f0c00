//! How a training went, for the card of its model, and what should be known of it.

use crate::loss::{Loss, loss};
use crate::message::{Message, Opt, message};
use crate::nothing::frequencies_loss;
use crate::words::counted;
use restive::Instance;
use restive::data::split::Part;
use restive::predictor::Ensemble;
use restive::training::{Choice, EpochReport, Finished, Fitted, Status, Verdict, auto};
use restive_tables::model::Card;
use restive_tables::model::configuration::{Configuration, Kept, Seen};
use restive_tables::model::history::{
    ChoiceOutcome, FitHistory, FitStatus, FoldValues, FoldsVerdict, Lead, Leads, Losses, MemberHistory,
    PartLoss, PredictorChoice, Strengths, TriedBase,
};

/// How one fit of an ensemble went.
pub fn member_history(seed: u64, trained: &Finished) -> MemberHistory {
    MemberHistory {
        seed,
        fit: fit_history(&trained.fitted),
        choice: trained.choice.as_ref().map(predictor_choice),
        selection: trained.selection.as_ref().map(|(verdict, _)| folds_verdict(verdict)),
        two_stage: trained.before().map(fit_history),
    }
}

fn fit_history(fitted: &Fitted) -> FitHistory {
    let epochs = &fitted.history;
    let column = |value: fn(&EpochReport) -> Option<f64>| epochs.iter().map(value).collect::<Vec<_>>();
    let has_value = epochs.iter().any(|epoch| epoch.train_value.is_some());
    FitHistory {
        status: match fitted.status {
            Status::Running => FitStatus::Running,
            Status::Completed => FitStatus::Completed,
            Status::StoppedEarly => FitStatus::StoppedEarly,
            Status::Diverged => FitStatus::Diverged,
            Status::Converged => FitStatus::Converged,
            Status::NotConverged => FitStatus::NotConverged,
        },
        kept_epoch: epochs.iter().rposition(|epoch| epoch.is_best),
        train_loss: column(|epoch| Some(epoch.train_loss)),
        validation_loss: column(|epoch| epoch.validation_loss),
        train_value: has_value.then(|| column(|epoch| epoch.train_value)),
        learning_rate: column(|epoch| Some(epoch.learning_rate)),
    }
}

fn predictor_choice(verdict: &auto::Verdict) -> PredictorChoice {
    let base = |base: &auto::BaseVerdict| TriedBase {
        name: base.name.name().into(),
        weight: base.weight,
        pool_weight: base.pool_weight,
        loss: Some(base.loss),
    };
    PredictorChoice {
        outcome: match verdict.outcome {
            auto::Outcome::Single => ChoiceOutcome::Single,
            auto::Outcome::Pool => ChoiceOutcome::Pool,
            auto::Outcome::Frequencies => ChoiceOutcome::Frequencies,
        },
        bases: verdict.bases.iter().map(base).collect(),
        pool_gain: verdict.gain.map(|(gain, error)| Lead { mean: Some(gain), standard_error: Some(error) }),
        loss: Some(verdict.loss),
        frequencies_loss: Some(verdict.frequencies),
        transitions: verdict.moves as u64,
        folds: verdict.folds,
    }
}

fn folds_verdict(verdict: &Verdict) -> FoldsVerdict {
    let lead = |k: usize| {
        verdict.leads.map(|leads| Lead { mean: Some(leads[k].0), standard_error: Some(leads[k].1) })
    };
    let values = |[two_stage, weak, strong]: [f64; 3]| FoldValues {
        two_stage: Some(two_stage),
        weak: Some(weak),
        strong: Some(strong),
    };
    let [passive, active] = verdict.strength;
    FoldsVerdict {
        choice: verdict.choice.name().parse().expect("candidates have the same names in files"),
        lead_over_two_stage: Leads { weak: lead(0), strong: lead(1) },
        value_per_arm: verdict.folds.iter().copied().map(values).collect(),
        strength: Strengths { passive, active },
    }
}

/// What the folds of a fit chose.
pub(crate) fn chosen(history: &MemberHistory) -> Option<Choice> {
    let candidate = history.selection.as_ref()?.choice.name();
    Choice::ALL.into_iter().find(|choice| choice.name() == candidate)
}

/// The losses of each part under the finished ensemble: per trajectory, the mean over instances as published; per
/// transition (or sighting, where states are seen at pulls only), over all of them. A part without arms has none.
pub fn losses(ensemble: &Ensemble, parts: &[Vec<Instance>; 3]) -> Losses {
    let [train, validation, test] = Part::ALL.map(|part| {
        let instances = &parts[part as usize];
        (!instances.is_empty()).then(|| {
            let predictions: Vec<_> =
                instances.iter().map(|instance| ensemble.predict(instance.features())).collect();
            let Loss { per_trajectory, per_transition, transitions } =
                loss(instances, &predictions.iter().map(|p| p.view()).collect::<Vec<_>>());
            PartLoss {
                per_trajectory: Some(per_trajectory),
                per_transition: Some(per_transition),
                transitions: transitions as u64,
            }
        })
    });
    let frequencies = frequencies_loss(&parts[0], &parts[1]);
    Losses { train, validation, test, frequencies }
}

/// What should be known before a finished training is trusted.
pub fn warnings(card: &Card) -> Vec<Message> {
    let mut warnings = Vec::new();
    let (members, configuration) = (&card.history.members, &card.configuration);
    let count = |status| members.iter().filter(|member| member.fit.status == status).count();
    if let diverged @ 1.. = count(FitStatus::Diverged) {
        let fits = counted(members.len() as u64, "fit");
        let what = format!(
            "{diverged} of {fits} diverged: the last parameters with a finite loss were kept; try a lower "
        );
        warnings.push(message!(what, Opt("learning-rate")));
    }
    if count(FitStatus::NotConverged) > 0 {
        warnings.push("the model did not converge: its parameters are not the best ones".into());
    }
    let keeps_best = configuration.steps.as_ref().is_some_and(|steps| steps.keep == Kept::Best);
    if configuration.split.validation.arms == 0 && keeps_best {
        warnings.push("no validation part: the last epoch was kept, nothing says when to stop".into());
    }
    // a loss that is no finite number is absent once it has been read from a card
    let blind = (card.predictor.states as f64).ln();
    let losses = card.history.loss.unwrap_or_default();
    let parts = [("training", losses.train), ("validation", losses.validation), ("test", losses.test)];
    let worse = parts.into_iter().find_map(|(part, loss)| {
        let loss = loss?.per_transition.filter(|loss| !loss.is_nan()).unwrap_or(f64::INFINITY);
        (loss > blind).then_some((part, loss))
    });
    if let Some((part, loss)) = worse {
        let what = counted_thing(configuration);
        let said =
            format!("the {part} loss per {what}, {loss:.3}, is above {blind:.3}, that of knowing nothing");
        warnings.push(match configuration.standardise {
            true => said.into(),
            false => message!(said, "; try ", Opt("standardise"), " yes"),
        });
    }
    let known = losses.validation.and_then(|loss| loss.per_transition);
    if let (Some(found), Some(nothing)) = (known, losses.frequencies)
        && worse.is_none()
        && found > nothing
    {
        let what = counted_thing(configuration);
        warnings.push(
            format!(
                "validation arms do not show this model to be better than the bare frequencies of moves: a loss of {found:.4} per \
                 {what} against {nothing:.4}"
            )
            .into(),
        );
    }
    warnings
}

/// What the loss counts: transitions, or sightings where states are seen at pulls only.
pub fn counted_thing(configuration: &Configuration) -> &'static str {
    match configuration.observation {
        Seen::Full => "transition",
        Seen::Collapsing => "sighting",
    }
}
