//! Checks of the recorded states.
//!
//! `states-never-change`: states that never change contain no information on the effect of a call. A prediction from a state without an
//! observed next state rests on no data.
//!
//! `revealed-by-calls`: if next states are missing more often for people who were not called, the outcomes of these people are guesses, and
//! so is the effect. The difference in the share of missing next states is a slope within steps, with standard errors clustered by person.

use super::finding::{Finding, Severity};
use super::log::{Log, seen};
use crate::words::{counted, percent};
use restive::instance::NO_ACTION;
use restive::statistics::{WithinRow, within};

const CHANGE: &str = "states-never-change";
const REVEALED: &str = "revealed-by-calls";

pub(super) fn states_never_change(log: &Log<'_>) -> Finding {
    if !log.is_full {
        return Finding::collapsing(CHANGE);
    }
    let (mut occurs, mut has_next) = (vec![false; log.states], vec![false; log.states]);
    // the state that each person was first seen in, sightings, whether another was seen
    let mut people = vec![(None, 0usize, false); log.people];
    for moment in log.moments() {
        for (i, state) in moment.state.iter().enumerate() {
            if let Some(s) = seen(*state) {
                let person = &mut people[moment.first + i];
                occurs[s] = true;
                person.2 |= *person.0.get_or_insert(s) != s;
                person.1 += 1;
            }
        }
        let Some(next) = moment.next else { continue };
        for ((state, action), next) in moment.state.iter().zip(&moment.action).zip(&next) {
            if let (Some(s), Some(_), true) = (seen(*state), seen(*next), *action != NO_ACTION) {
                has_next[s] = true;
            }
        }
    }
    let often: Vec<bool> = people.iter().filter(|person| person.1 >= 3).map(|person| person.2).collect();
    if often.is_empty() {
        return Finding::note(CHANGE, "Cannot tell: nobody was seen three times.");
    }
    let still = often.iter().filter(|has_changed| !**has_changed).count();
    let share = still as f64 / often.len() as f64;
    let some = |is_one: &dyn Fn(usize) -> bool| -> Vec<String> {
        (0..log.states).filter(|s| is_one(*s)).take(5).map(|s| s.to_string()).collect()
    };
    let (never, ends) = (some(&|s| !occurs[s]), some(&|s| occurs[s] && !has_next[s]));
    let found = format!(
        "{} of those who were seen at least three times never changed their state ({}).",
        counted(still as u64, "person").replace("persons", "people"),
        percent(share)
    );
    let mut unseen = match never.is_empty() {
        true => String::new(),
        false => format!(" Never seen: state {}.", never.join(", ")),
    };
    if !ends.is_empty() {
        unseen += &format!(" No next state was ever seen from state {}.", ends.join(", "));
    }
    match () {
        () if share == 1.0 => Finding::new(
            CHANGE,
            Severity::Serious,
            format!("No state ever changes, so nothing can be learnt of what a call does.{unseen}"),
            "check that the column state has the state of each step, and not of each person",
        ),
        () if share > 0.8 => Finding::new(
            CHANGE,
            Severity::Warning,
            found + &unseen,
            "draw the line between states where people cross it, or take longer steps",
        ),
        () if !ends.is_empty() => Finding::new(
            CHANGE,
            Severity::Warning,
            found + &unseen,
            "record what becomes of people in this state: until then nothing is known of them there, and plans leave them out",
        ),
        () if !never.is_empty() => {
            Finding::new(CHANGE, Severity::Note, found + &unseen, "leave out states that do not occur")
        }
        () => Finding::fine(CHANGE, found),
    }
}

pub(super) fn revealed_by_calls(log: &Log<'_>) -> Finding {
    if !log.is_full {
        return Finding::note(
            REVEALED,
            "States are seen at calls only, as observation = \"collapsing\" says: what a call does is learnt from the model's beliefs, and no \
             comparison with those who were not called can check it.",
        );
    }
    let mut rows = Vec::new();
    let (mut missing, mut all) = ([0usize; 2], [0usize; 2]);
    for (group, moment) in log.moments().into_iter().enumerate() {
        let Some(next) = moment.next.filter(|next| next.iter().any(|s| seen(*s).is_some())) else { continue };
        for (i, (&a, &next)) in moment.action.iter().zip(&next).enumerate() {
            if a != NO_ACTION {
                let is_missing = seen(next).is_none();
                all[usize::from(a)] += 1;
                missing[usize::from(a)] += usize::from(is_missing);
                let (group, cluster) = (group as u32, (moment.first + i) as u32);
                rows.push(WithinRow { group, cluster, x: f64::from(a), y: f64::from(u8::from(is_missing)) });
            }
        }
    }
    if all.contains(&0) {
        return Finding::note(
            REVEALED,
            "Cannot tell: there are no decisions in which some were called and others were not.",
        );
    }
    let share = |a: usize| missing[a] as f64 / all[a] as f64;
    let found = format!(
        "The next state is missing of {} of those who were called and of {} of the others.",
        percent(share(1)),
        percent(share(0))
    );
    let what = "find out why; record outcomes of everybody, or say observation = \"collapsing\" where states are seen at calls only";
    // without any spread all or none is missing on each side
    let (slope, z) = match within(&rows) {
        Ok(found) => (found.slope, found.z()),
        Err(_) => (share(1) - share(0), if share(1) == share(0) { 0.0 } else { f64::INFINITY }),
    };
    match z.abs() > 4.0 {
        true if slope.abs() > 0.2 => Finding::new(REVEALED, Severity::Serious, found, what),
        true if slope.abs() > 0.02 => Finding::new(REVEALED, Severity::Warning, found, what),
        _ => Finding::fine(REVEALED, found),
    }
}
