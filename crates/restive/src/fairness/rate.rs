//! Rates of weeks, with intervals by person.
//!
//! With x of e weeks for each of n people, r = Σ x/Σ e, and person i moves it by u = (x − r·e)/Σ e. Its variance is n/(n − 1)·Σ u²,
//! whatever the weeks of a person have in common. A proportion of m independent observations has the variance r(1 − r)/m: that m,
//! at least 1 and at most Σ e, goes into Wilson's interval. A rate of 0 or 1 does not vary, and m is then the number of people, as if the weeks of
//! a person were one. Two rates of the same people correlate by Σ u·u′/√(Σ u² Σ u′²).

use super::row::Change;
use crate::statistics::{Proportion, proportion_difference, proportion_of};

/// x of e weeks.
pub(super) type Weeks<'a> = (&'a [u32], &'a [u32]);

/// The rate of some people; nothing where there are no weeks.
pub(super) fn rate(members: &[usize], (x, e): Weeks<'_>) -> Option<Proportion> {
    let sum = |of: &[u32]| members.iter().map(|&i| u64::from(of[i])).sum::<u64>() as f64;
    let (found, weeks) = (sum(x), sum(e));
    if weeks == 0.0 {
        return None;
    }
    let share = found / weeks;
    let people = members.iter().filter(|&&i| e[i] > 0).count() as f64;
    let of = if people == weeks {
        weeks
    } else if share == 0.0 || share == 1.0 || people < 2.0 {
        people
    } else {
        let squares: f64 = moves(members, (x, e)).map(|u| u * u).sum();
        (share * (1.0 - share) * (people - 1.0) / (people * squares)).clamp(1.0, weeks)
    };
    Some(proportion_of(share, of))
}

/// How far each person moves the rate.
fn moves<'a>(members: &'a [usize], (x, e): Weeks<'a>) -> impl Iterator<Item = f64> + 'a {
    let sum = |of: &[u32]| members.iter().map(|&i| u64::from(of[i])).sum::<u64>() as f64;
    let (found, weeks) = (sum(x), sum(e));
    let share = if weeks > 0.0 { found / weeks } else { 0.0 };
    members.iter().map(move |&i| (f64::from(x[i]) - share * f64::from(e[i])) / weeks.max(1.0))
}

/// The rate of some people now less that of the last period; nothing where either has no weeks.
pub(super) fn change(members: &[usize], now: Weeks<'_>, last: Weeks<'_>) -> Option<Change> {
    let (after, before) = (rate(members, now)?, rate(members, last)?);
    let (mut both, mut squares, mut others) = (0.0, 0.0, 0.0);
    for (u, v) in moves(members, now).zip(moves(members, last)) {
        both += u * v;
        squares += u * u;
        others += v * v;
    }
    let size = f64::sqrt(squares) * f64::sqrt(others);
    let correlation = if size > 0.0 { (both / size).clamp(-1.0, 1.0) } else { 0.0 };
    let people = |of: &[u32]| members.iter().filter(|&&i| of[i] > 0).count() as u64;
    Some(Change {
        before,
        could_before: people(last.1),
        listed_before: people(last.0),
        difference: proportion_difference(&after, &before, correlation),
    })
}
