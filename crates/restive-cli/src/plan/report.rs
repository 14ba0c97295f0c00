//! What `restive plan` answers, as text.

use crate::shared::display::counted;
use crate::shared::display::{Decimals, grouped, write_aligned};
use restive_pipeline::identification::not_stated;
use restive_pipeline::{ArmEffects, Bound, Nouns, Plan, PlanEffects, PolicyName};
use restive_tables::show::{cell, path};
use std::io::{self, Write};
use std::path::Path;

/// As text: the first rows, and a summary.
pub(crate) fn write_text(plan: &Plan, text: &mut Vec<u8>, rows: usize, out: Option<&Path>) -> io::Result<()> {
    let shown = &plan.plan[..plan.plan.len().min(rows)];
    if !shown.is_empty() {
        let decimals = Decimals::suiting(shown.iter().map(|row| row.worth.value()));
        let pays = plan.effects.identified().map(|_| "is_beneficial");
        let rest = [plan.score_name(), "rank", "inclusion"];
        let header = [&["instance", "arm"], plan.columns(), &rest, pays.as_slice()].concat();
        let mut table = vec![header.into_iter().map(String::from).collect::<Vec<_>>()];
        table.extend(shown.iter().map(|row| {
            let mut cells = vec![cell(&row.instance), cell(&row.arm)];
            cells.extend(row.place.texts());
            cells.extend([
                decimals.format(row.worth.value()),
                row.rank.to_string(),
                format!("{:.3}", row.inclusion),
            ]);
            let pays = |effects: ArmEffects| if effects.is_beneficial { "yes" } else { "not beneficial" };
            cells.extend(row.effects.map(|effects| pays(effects).into()));
            cells
        }));
        write_aligned(text, &table)?;
        match (plan.plan.len() - shown.len()) as u64 {
            0 => writeln!(text)?,
            more => {
                writeln!(text, "… {} more; --out FILE writes all, --rows N shows more\n", grouped(more))?;
            }
        }
    }
    let without =
        plan.plan.iter().filter(|row| row.effects.is_some_and(|effects| !effects.is_beneficial)).count();
    write!(text, "{} to pull", counted(plan.plan.len() as u64, "arm"))?;
    if without > 0 {
        write!(text, ", {} of them not beneficial", grouped(without as u64))?;
    }
    write!(text, "; budget {} per instance", plan.budget)?;
    match out {
        Some(out) => writeln!(text, "; wrote {}", path(out))?,
        None => writeln!(text)?,
    }
    writeln!(text, "{}", policy(plan))?;
    if let Some(said) = not_stated(plan.effects.identification()) {
        writeln!(text, "effects of pulls: {said}")?;
    }
    let nouns = Nouns { pull: "pull", step: "decision", people: ["arm", "arms"], unit: "reward" };
    match plan.effects.identified() {
        Some(PlanEffects { certificate: Some(certificate), .. }) => {
            for (name, said) in certificate.lines(nouns) {
                writeln!(text, "{name}: {said}")?;
            }
        }
        Some(effects) => writeln!(text, "{}", reach(plan, effects.bound))?,
        None => {}
    }
    plan.history.iter().try_for_each(|history| writeln!(text, "{history}"))
}

/// What arms are ranked by, in words.
fn policy(plan: &Plan) -> String {
    let is_stated = plan.effects.identified().is_some();
    match (plan.policy, plan.index_discount) {
        (PolicyName::Whittle, Some(discount)) if !is_stated => format!(
            "policy: whittle, for a programme without an end; score: the order of the model, at a discount of {discount:.4}"
        ),
        _ if !is_stated => {
            format!("policy: horizon, {} left with this one; score: the order of the model", steps(plan))
        }
        (PolicyName::Whittle, Some(discount)) => format!(
            "policy: whittle, for a programme without an end; index: the reward that a pull would just be worth, at a discount of \
             {discount:.4}"
        ),
        (PolicyName::Whittle, None) => {
            "policy: whittle, for one decision (horizon = 1 in study.toml); index: the reward that a pull adds at this step and the next"
                .into()
        }
        (PolicyName::Horizon, _) => {
            let left = steps(plan);
            format!(
                "policy: horizon, {left} left with this one; advantage: the reward that a pull adds until the end"
            )
        }
    }
}

fn steps(plan: &Plan) -> String {
    match plan.steps {
        [fewest, most] if fewest == most => counted(most as u64, "decision"),
        [fewest, most] => format!("{fewest} to {} decisions", grouped(most as u64)),
    }
}

/// What no policy exceeds, in words.
fn reach(plan: &Plan, bound: Bound) -> String {
    let Bound { any_policy, no_action, arms } = bound;
    let ahead = match plan.policy {
        PolicyName::Whittle => format!("over a window of {}", steps(plan)),
        PolicyName::Horizon => "until the end".into(),
    };
    let arms = counted(arms as u64, "arm");
    format!(
        "bound: {ahead} no policy brings {arms} more than {any_policy:.1} of expected reward by these transitions; without a pull \
         {no_action:.1}"
    )
}
