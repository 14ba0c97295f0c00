//! `ids-shuffled`: do rows of one name belong to one person?
//!
//! **From step to step.** The state of a person foretells his next one. The slope of the next state's worth on the current one, within
//! steps, is 0 where names were dealt anew every step, and then early and late
//! steps of a name have nothing in common either; at one step it is 0 where they were dealt anew there. It is 0 as well if states have no
//! memory: an effect of calls on the next state of the same name then shows that names are kept. Without an effect, the log does not tell.
//!
//! **From features to states.** Where people differ for good (means of early and late steps agree) and there are features, something of
//! them foretells who does well: single columns, or all of them together by log-odds fitted to half of the people and tried on the
//! other. Where nothing does, features may belong to others; or they are useless.

use super::finding::{Finding, Severity};
use super::log::{Log, seen};
use ndarray::{Array2, Axis, s};
use restive::evidence::Alignment;
use restive::statistics::{Auc, Within, WithinRow, logistic, normal_tail, within};

const NAME: &str = "ids-shuffled";
/// Minimum standard score of an effect of calls that shows that names are kept.
const EFFECT: f64 = 3.5;
/// People below which features that say little and features of others look the same.
const FEW: usize = 300;
const WHAT: &str =
    "check how tables were joined: the same arm must be the same person in every row and in both tables";

pub(super) fn ids_shuffled(log: &Log<'_>, alignment: Option<&Alignment>) -> Finding {
    if !log.is_full {
        return Finding::collapsing(NAME);
    }
    let (rows, blocks) = steps(log);
    let Ok(all) = within(&rows) else {
        return Finding::note(
            NAME,
            "Cannot tell: nobody's states can be followed from one step to the next.",
        );
    };
    let kept = format!(
        "a person's state explains {:.0} % of the next one's difference (z = {:.1})",
        100.0 * all.slope,
        all.z()
    );
    let [means, early, late] = people(log);
    let differ: Vec<WithinRow> =
        (0..log.people).filter_map(|i| Some(row(log, i, early[i]?, late[i]?))).collect();
    let agree = within(&differ).ok();
    let do_agree = agree.as_ref().is_some_and(|agree| agree.z() > 3.0);
    if all.slope.abs() + 2.0 * all.error < 0.05 && !do_agree {
        let effect = alignment.and_then(|rows| rows.next.as_ref()).map(Within::z);
        return match effect.filter(|z| z.is_finite() && z.abs() > EFFECT) {
            Some(z) => Finding::fine(
                NAME,
                format!(
                    "States have no memory ({kept}), but names are kept: a call goes with the next state of the same person (z = {z:.1})."
                ),
            ),
            None => Finding::note(
                NAME,
                format!(
                    "Cannot tell: states vary, but {kept}. Either states have no memory, or names were shuffled at every step: check how \
                     tables were joined."
                ),
            ),
        };
    }
    if let Some(t) = broken(&rows, &blocks, &all) {
        let found = format!(
            "In general {kept}, but from step {t} to the next (counted from 0) nothing of it: as if names were dealt anew there."
        );
        return Finding::new(NAME, Severity::Warning, found, WHAT);
    }
    let stays = agree.filter(|found| found.slope > 0.1 && found.z() > 4.0);
    let followed = means.iter().flatten().count();
    match stays {
        Some(stays) if followed >= FEW && !log.known.names.is_empty() => match foretold(log, &means) {
            Some(by) => {
                Finding::fine(NAME, format!("From step to step {kept}, and {by} foretells who does well."))
            }
            None => Finding::new(
                NAME,
                Severity::Warning,
                format!(
                    "People differ for good (early and late steps agree, z = {:.1}), but nothing that is known of them foretells who does well: either \
                     features say nothing, or they stand beside the wrong people.",
                    stays.z()
                ),
                WHAT,
            ),
        },
        _ => Finding::fine(
            NAME,
            format!(
                "From step to step {kept}. Whether features belong to the same people cannot be told: too few people, no features, or nobody differs for good."
            ),
        ),
    }
}

/// Worth now and next, within steps; with the step of every group.
fn steps(log: &Log<'_>) -> (Vec<WithinRow>, Vec<usize>) {
    let (mut rows, mut blocks) = (Vec::new(), Vec::new());
    for moment in log.moments() {
        let group = blocks.len() as u32;
        blocks.push(moment.t);
        let Some(next) = moment.next else { continue };
        for (i, (&s, &next)) in moment.state.iter().zip(&next).enumerate() {
            if let (Some(s), Some(next)) = (seen(s), seen(next)) {
                let cluster = (moment.first + i) as u32;
                rows.push(WithinRow { group, cluster, x: log.worth[s], y: log.worth[next] });
            }
        }
    }
    (rows, blocks)
}

/// The first step from which states do not follow although they do in general.
fn broken(rows: &[WithinRow], blocks: &[usize], all: &Within) -> Option<usize> {
    let is_strong = all.slope > 0.15 && all.z() > 10.0;
    let steps = blocks.iter().max()?;
    let mut by_step = vec![Vec::new(); steps + 1];
    rows.iter().filter(|_| is_strong).for_each(|row| by_step[blocks[row.group as usize]].push(*row));
    // within its step a person is a row, so that clusters need not be told from each other
    by_step
        .iter()
        .position(|rows| within(rows).is_ok_and(|here| here.slope + 2.5 * here.error < 0.5 * all.slope))
}

/// What a person's states are worth beyond those of others at the same steps: on average, early and late.
fn people(log: &Log<'_>) -> [Vec<Option<f64>>; 3] {
    let mut sums = vec![[(0.0, 0u32); 3]; log.people];
    for moment in log.moments() {
        let worth: Vec<Option<f64>> = moment.state.iter().map(|s| seen(*s).map(|s| log.worth[s])).collect();
        let known: Vec<f64> = worth.iter().flatten().copied().collect();
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        // a gap between early and late, over which what follows from the state alone is forgotten
        let part = match 5 * moment.t / moment.steps {
            0 | 1 => Some(1),
            3 | 4 => Some(2),
            _ => None,
        };
        for (i, worth) in worth.iter().enumerate().filter_map(|(i, worth)| Some((i, (*worth)?))) {
            for part in [Some(0), part].into_iter().flatten() {
                let sum = &mut sums[moment.first + i][part];
                *sum = (sum.0 + worth - mean, sum.1 + 1);
            }
        }
    }
    let part = |part: usize| {
        sums.iter().map(|sums| (sums[part].1 > 0).then(|| sums[part].0 / f64::from(sums[part].1))).collect()
    };
    [part(0), part(1), part(2)]
}

fn row(log: &Log<'_>, i: usize, x: f64, y: f64) -> WithinRow {
    WithinRow { group: log.instance_of[i], cluster: i as u32, x, y }
}

/// What foretells who does well, in words.
fn foretold(log: &Log<'_>, means: &[Option<f64>]) -> Option<String> {
    let known = &log.known;
    let columns = known.names.len() as f64;
    let base: Vec<WithinRow> =
        means.iter().enumerate().filter_map(|(i, mean)| Some(row(log, i, 0.0, (*mean)?))).collect();
    let z = |f: usize| {
        let with = |row: &WithinRow| WithinRow { x: known.values[[row.cluster as usize, f]], ..*row };
        within(&base.iter().map(with).collect::<Vec<_>>()).map_or(0.0, |found| found.z().abs())
    };
    let strengths: Vec<f64> = (0..known.names.len()).map(z).collect();
    let best = (0..strengths.len()).max_by(|a, b| strengths[*a].total_cmp(&strengths[*b]))?;
    if 2.0 * normal_tail(strengths[best]) * columns < 0.05 {
        return Some(format!("feature {}", restive_tables::show::name(&known.names[best])));
    }
    // all of them together, on people of the other half
    let mut sorted: Vec<f64> = base.iter().map(|row| row.y).collect();
    sorted.sort_by(f64::total_cmp);
    let middle = *sorted.get(sorted.len() / 2)?;
    let people: Vec<usize> = base.iter().map(|row| row.cluster as usize).collect();
    let is_well: Vec<bool> = base.iter().map(|row| row.y > middle).collect();
    let mut x = Array2::ones((people.len(), 1 + known.names.len()));
    x.slice_mut(s![.., 1..]).assign(&known.values.select(Axis(0), &people));
    let mut auc = Auc::default();
    for fold in 0..2 {
        let of = |which: usize| (0..people.len()).filter(|k| k % 2 == which).collect::<Vec<_>>();
        let (learnt, tried) = (of(1 - fold), of(fold));
        let yes: Vec<bool> = learnt.iter().map(|k| is_well[*k]).collect();
        let weights = logistic(x.select(Axis(0), &learnt).view(), &yes, &vec![0.0; learnt.len()], 1.0);
        let scores = x.select(Axis(0), &tried).dot(&weights);
        auc.add(&mut scores.into_iter().zip(tried.iter().map(|k| is_well[*k])).collect::<Vec<_>>());
    }
    auc.z().filter(|z| *z > 2.0).map(|_| "what is known of people".into())
}
