//! `coverage`: how much of what could have been seen was, by step. `joining-and-leaving`: who came late and who left early, and
//! whether those who left were worse off than others at the same step (a slope within steps, errors by person). `not-seen-for-long`: of
//! whom the last that is known is old.
//!
//! Steps before the first recorded state of any person are empty by construction: states are not missing there, and no person joins after
//! them.

use super::finding::{Finding, Severity};
use super::log::{Log, seen};
use crate::words::{counted, percent};
use restive::instance::NO_ACTION;
use restive::statistics::{WithinRow, within};
use restive_tables::Roll;

const COVERAGE: &str = "coverage";
const LEAVING: &str = "joining-and-leaving";
const LONG: &str = "not-seen-for-long";

fn people(count: usize) -> String {
    counted(count as u64, "person").replace("persons", "people")
}

pub(super) fn coverage(log: &Log<'_>) -> Finding {
    let mut steps: Vec<Step> = Vec::new();
    for moment in log.moments() {
        let has_record =
            moment.state.iter().any(|s| seen(*s).is_some()) || moment.action.iter().any(|a| *a != NO_ACTION);
        if has_record {
            steps.resize(steps.len().max(moment.t + 1), (0, 0));
            steps[moment.t].0 += moment.state.iter().filter(|s| seen(**s).is_some()).count();
            steps[moment.t].1 += moment.state.len();
        }
    }
    say_coverage(&steps, log.people, log.is_full)
}

/// The same of very many people, all of whom are counted.
pub(super) fn coverage_of(roll: &Roll) -> Finding {
    let mut steps: Vec<Step> = Vec::new();
    for instance in roll.instances() {
        for (seen, decisions) in instance.seen.iter().zip(&instance.decisions) {
            for t in (0..instance.steps).filter(|t| seen[*t] > 0 || decisions[*t] > 0) {
                steps.resize(steps.len().max(t + 1), (0, 0));
                steps[t] = (steps[t].0 + seen[t], steps[t].1 + instance.people);
            }
        }
    }
    say_coverage(&steps, roll.people(), true)
}

/// How many were seen at a step, and how many there are.
type Step = (usize, usize);

fn say_coverage(steps: &[Step], everybody: usize, is_full: bool) -> Finding {
    // without any recorded state no step is empty by construction
    let empty = steps.iter().position(|step| step.0 > 0).unwrap_or(0);
    let (seen, all) = steps[empty..].iter().fold((0, 0), |(a, b), step| (a + step.0, b + step.1));
    if all == 0 {
        return Finding::new(
            COVERAGE,
            Severity::Serious,
            "There is no record of anybody: nothing can be learnt.",
            "add trajectories",
        );
    }
    let what = if is_full { "states" } else { "labels" };
    let share = |(seen, all): (usize, usize)| seen as f64 / all.max(1) as f64;
    let known = share((seen, all));
    let worst = steps
        .iter()
        .enumerate()
        .skip(empty)
        .filter(|(_, step)| step.1 > 0)
        .min_by(|a, b| share(*a.1).total_cmp(&share(*b.1)));
    let (t, least) = worst.map_or((0, known), |(t, step)| (t, share(*step)));
    let empty_steps = match empty {
        0 => String::new(),
        empty => format!("; steps before {empty} have no recorded state and are not counted"),
    };
    let found = format!(
        "{} of the {what} of {} at {} are known; fewest at step {t} (counted from 0), {}{empty_steps}.",
        percent(known),
        people(everybody),
        counted((steps.len() - empty) as u64, "step"),
        percent(least)
    );
    let what = "find out why states are missing, and of whom: what is not seen is not learnt from, and if the worse off are missing, answers are too good";
    match () {
        () if !is_full => Finding::fine(COVERAGE, found),
        () if known < 0.5 || least < 0.5 * known => Finding::new(COVERAGE, Severity::Warning, found, what),
        () if known < 0.9 => Finding::new(COVERAGE, Severity::Note, found, what),
        () => Finding::fine(COVERAGE, found),
    }
}

/// The first and the last step at which a person was seen in a trajectory, and those at which any person was.
struct Span {
    first: Option<usize>,
    last: usize,
    /// First step with a recorded state of any person.
    begin: Option<usize>,
    end: usize,
}

/// By trajectory, then by arm, with the number of the first person: in the order of [`Log::moments`].
fn spans(log: &Log<'_>) -> Vec<(usize, Vec<Span>)> {
    let mut all: Vec<(usize, Vec<Span>)> = Vec::new();
    for moment in log.moments() {
        if moment.t == 0 {
            let unseen = moment.state.iter().map(|_| Span { first: None, last: 0, begin: None, end: 0 });
            all.push((moment.first, unseen.collect()));
        }
        let Some((_, spans)) = all.last_mut() else { continue };
        let mut is_any = false;
        for (span, s) in spans.iter_mut().zip(&moment.state).filter(|(_, s)| seen(**s).is_some()) {
            let _ = s;
            span.first.get_or_insert(moment.t);
            span.last = moment.t;
            is_any = true;
        }
        if is_any {
            spans.iter_mut().for_each(|span| {
                span.begin.get_or_insert(moment.t);
                span.end = moment.t;
            });
        }
    }
    all
}

pub(super) fn joining_and_leaving(log: &Log<'_>) -> Finding {
    if !log.is_full {
        return Finding::collapsing(LEAVING);
    }
    let spans = spans(log);
    let there: Vec<&Span> =
        spans.iter().flat_map(|(_, spans)| spans).filter(|span| span.first.is_some()).collect();
    if there.is_empty() {
        return Finding::note(LEAVING, "Cannot tell: nobody was seen.");
    }
    let late = there.iter().filter(|span| span.first > span.begin).count();
    let is_late_log = there.iter().any(|span| span.begin > Some(0));
    let early = there.iter().filter(|span| span.last < span.end).count();
    let (joined, left) = (late as f64 / there.len() as f64, early as f64 / there.len() as f64);
    let mut rows = Vec::new();
    let (mut which, mut group) = (0usize, 0u32);
    for moment in log.moments() {
        which += usize::from(moment.t == 0);
        group += 1;
        let (first, spans) = &spans[which - 1];
        for (i, (span, s)) in spans.iter().zip(&moment.state).enumerate() {
            if let Some(s) = seen(*s).filter(|_| moment.t < span.end) {
                let x = f64::from(u8::from(span.last == moment.t));
                rows.push(WithinRow { group, cluster: (first + i) as u32, x, y: log.worth[s] });
            }
        }
    }
    let worse = within(&rows).ok().filter(|worse| early > 0 && worse.z() < -3.5 && worse.slope < -0.05);
    let mut found = format!(
        "{} joined after the first step, {} was not seen until the end.",
        percent(joined),
        percent(left)
    );
    if is_late_log {
        found += " Steps before the first recorded state do not count.";
    }
    let what = "find out why people leave: what is learnt from those who stay holds for those who stay";
    match worse {
        Some(worse) if left > 0.05 => {
            found += &format!(
                " Those who left were {:.1} points of 100 worse off than others when last seen (z = {:.1}).",
                -100.0 * worse.slope,
                worse.z()
            );
            Finding::new(LEAVING, Severity::Warning, found, what)
        }
        _ if left > 0.25 => Finding::new(LEAVING, Severity::Warning, found, what),
        _ if left > 0.1 || joined > 0.25 => Finding::note(LEAVING, found),
        _ => Finding::fine(LEAVING, found),
    }
}

pub(super) fn not_seen_for_long(log: &Log<'_>) -> Finding {
    // by person: steps since the last sighting, in his latest trajectory
    let mut since: Vec<Option<usize>> = vec![None; log.people];
    let (mut is_known, mut longest) = (vec![false; log.people], 0);
    for (first, spans) in spans(log) {
        for (i, span) in spans.iter().enumerate() {
            longest = longest.max(span.end);
            if span.first.is_some() {
                since[first + i] = Some(span.end - span.last);
                is_known[first + i] = true;
            }
        }
    }
    let known: Vec<usize> = since.into_iter().flatten().collect();
    let newcomers = is_known.iter().filter(|known| !**known).count();
    if known.is_empty() {
        return Finding::note(LONG, "Cannot tell: nobody was seen.");
    }
    let limit = 4.max(longest / 4);
    let long = known.iter().filter(|since| **since >= limit).count();
    let share = long as f64 / known.len() as f64;
    let never = if newcomers > 0 { format!("; {} never", people(newcomers)) } else { String::new() };
    let found = format!(
        "{} ({}) not seen for {limit} steps or more before the end{never}.",
        people(long),
        percent(share)
    );
    let what = "see whether they are still there before a plan spends calls on them: take out who has left";
    match () {
        () if share > 0.2 => Finding::new(LONG, Severity::Warning, found, what),
        () if share > 0.02 => Finding::new(LONG, Severity::Note, found, what),
        () => Finding::fine(LONG, found),
    }
}
