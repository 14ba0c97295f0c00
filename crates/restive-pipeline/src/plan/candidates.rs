//! Eligibility for places, and the reasons of people who are not eligible.
//!
//! No rule can put these people on a list:
//! - people who were never seen, if they therefore have no state,
//! - people in a state from which the training saw no transition, because a prediction there rests on no data,
//! - people who are gone,
//! - people who must not be called.
//!
//! A person who is not available at this decision by the log is not called either, but counts at later decisions.
//!
//! All other reasons are rules of the programme. The price of a rule is the value that the list would gain without it. Therefore all rules
//! that keep a person out are stored, not only the first.

use super::asked::InTrial;
use crate::error::{Error, Result};
use crate::rules::Rules;
use crate::rules::people::Known;
use restive_tables::show;
use std::collections::HashMap;

/// Rules that can keep people out, at most: one bit each.
pub(crate) const MOST: usize = 64;

/// Reason of people in a state without a prediction.
const UNOBSERVED: &str = "in a state from which the training saw no move";

/// Reason of people who cannot be called at the decision that is planned.
const UNAVAILABLE: &str = "not available at this decision";

/// The rule that holds unless another is written.
pub(crate) const WRONG_NUMBER: &str = "wrong number at the last call";

/// Eligibility of the people of one instance.
pub(crate) struct Candidates {
    /// Whether only rules or a trial can keep the person out, `[N]`.
    pub(crate) is_there: Vec<bool>,
    /// Whether the person is in a state from which the training saw no transition, `[N]`.
    is_unobserved: Vec<bool>,
    /// Whether the person can be called at the decision that is planned, `[N]`; `None`: all can.
    is_available: Option<Vec<bool>>,
    /// Rules that keep the person out, one bit each, `[N]`.
    pub(crate) out_by: Vec<u64>,
    /// Names of these rules, for messages.
    pub(crate) rules: Vec<String>,
    /// Whether the person has to be on the list, `[N]`.
    pub(crate) must: Vec<bool>,
    /// Whether the person is in the control group of a trial and therefore not called, `[N]`.
    pub(crate) is_control: Vec<bool>,
    /// Number of people with a state who are gone, without those who must not be called.
    pub(crate) gone: usize,
    /// Number of people with a state who must not be called.
    pub(crate) not_to_be_called: usize,
    /// Number of people who could be called if the training had seen a transition from their state.
    pub(crate) unobserved: usize,
    /// Number of people who could be called at another decision.
    pub(crate) unavailable: usize,
    /// Ids in the rules that belong to these people.
    pub(crate) named: Vec<String>,
}

impl Candidates {
    /// Checks the people of one instance. `standing` is the state or label that each person is ranked by, `None` if there is none. The
    /// training saw no transition from the states `unobserved`. `available`: whether each person can be called at this decision; `None`: all can.
    pub(crate) fn new(
        rules: &Rules,
        known: &Known<'_>,
        standing: &[Option<u16>],
        unobserved: &[u16],
        available: Option<&[bool]>,
        trial: Option<&InTrial>,
    ) -> Result<Self> {
        let arms = known.arms;
        let n = arms.len();
        let is_unobserved = |state: &Option<u16>| state.is_some_and(|state| unobserved.contains(&state));
        let mut all = Self {
            is_there: standing.iter().map(Option::is_some).collect(),
            is_unobserved: standing.iter().map(is_unobserved).collect(),
            is_available: available.map(<[bool]>::to_vec),
            out_by: vec![0; n],
            rules: Vec::new(),
            must: vec![false; n],
            is_control: vec![false; n],
            gone: 0,
            not_to_be_called: 0,
            unobserved: 0,
            unavailable: 0,
            named: Vec::new(),
        };
        if let Some(trial) = trial {
            let is_control =
                |arm: &String| trial.groups.get(arm).is_some_and(|group| *group == trial.control);
            all.is_control = arms.iter().map(is_control).collect();
        }
        for i in 0..n {
            if let Some(person) = known.person(i).filter(|_| all.is_there[i]) {
                all.not_to_be_called += usize::from(person.do_not_call);
                all.gone += usize::from(!person.do_not_call && !person.is_there);
                all.is_there[i] = person.is_there && !person.do_not_call;
            }
            all.unobserved += usize::from(all.is_there[i] && all.is_unobserved[i]);
            all.is_there[i] &= !all.is_unobserved[i];
            all.unavailable += usize::from(all.is_there[i] && !all.is_available(i));
        }
        all.by_name(rules, known)?;
        if !rules.calls_wrong_numbers {
            all.keep_out(WRONG_NUMBER, |i| known.last_outcome(i) == "wrong number")?;
        }
        for cool_down in &rules.cool_downs {
            known.need_last_call(rules, "cool_down")?;
            let is_after =
                |i: usize| cool_down.after.is_empty() || cool_down.after.contains(&known.last_outcome(i));
            let is_recent = |i: usize| known.recency[i].last_call.is_some_and(|ago| ago < cool_down.periods);
            all.keep_out(&cool_down.words(), |i| is_recent(i) && is_after(i))?;
        }
        for leave_out in &rules.leave_outs {
            let find = |name| Ok((name, known.find(rules, leave_out.at, name)?));
            let columns = leave_out.condition.columns().into_iter().map(find);
            let columns: HashMap<&str, _> = columns.collect::<Result<_>>()?;
            let holds = |i| leave_out.condition.holds(&|name: &str| known.value(columns[name], i));
            all.keep_out(&leave_out.because, holds)?;
        }
        all.check_must(rules, known)?;
        Ok(all)
    }

    /// A rule that keeps some people out.
    fn keep_out(&mut self, words: &str, is_out: impl Fn(usize) -> bool) -> Result<()> {
        if self.rules.len() == MOST {
            return Err(Error::Data(
                format!("rules: found more than {MOST} that leave people out, expected fewer").into(),
            ));
        }
        let bit = 1 << self.rules.len();
        self.rules.push(words.into());
        (0..self.out_by.len()).filter(|i| is_out(*i)).for_each(|i| self.out_by[i] |= bit);
        Ok(())
    }

    /// Those whom the rules name.
    fn by_name(&mut self, rules: &Rules, known: &Known<'_>) -> Result<()> {
        if rules.must_call.is_empty() && rules.never_call.is_empty() {
            return Ok(());
        }
        let mut position: HashMap<&str, Option<usize>> =
            rules.must_call.iter().chain(&rules.never_call).map(|id| (id.as_str(), None)).collect();
        for (i, arm) in known.arms.iter().enumerate() {
            let ids = [Some(arm.as_str()), known.person(i).map(|person| person.id.as_str())];
            for id in ids.into_iter().flatten() {
                position.get_mut(id).into_iter().for_each(|position| *position = Some(i));
            }
        }
        let found =
            |ids: &[String]| -> Vec<usize> { ids.iter().filter_map(|id| position[id.as_str()]).collect() };
        found(&rules.must_call).into_iter().for_each(|i| self.must[i] = true);
        let mut never = vec![false; self.must.len()];
        found(&rules.never_call).into_iter().for_each(|i| never[i] = true);
        if !rules.never_call.is_empty() {
            self.keep_out("never_call", |i| never[i])?;
        }
        let found = position.iter().filter(|(_, position)| position.is_some());
        self.named = found.map(|(id, _)| id.to_string()).collect();
        Ok(())
    }

    /// Refuses that somebody has to be called who may not be.
    fn check_must(&self, rules: &Rules, known: &Known<'_>) -> Result<()> {
        let Some(i) = (0..self.must.len()).find(|i| self.must[*i] && !self.may(*i)) else { return Ok(()) };
        let path = show::path(rules.path());
        let name = show::name(&known.arms[i]);
        let why = match self.is_there[i] {
            false if self.is_unobserved[i] => format!("is {UNOBSERVED}"),
            false => "is gone, not to be called or was never seen".into(),
            true if !self.is_available(i) => format!("is {UNAVAILABLE}"),
            true if self.is_control[i] => "is left alone by the trial that runs".into(),
            true => {
                let k = self.out_by[i].trailing_zeros() as usize;
                format!("is kept out by another rule ({})", self.rules[k])
            }
        };
        Err(Error::Data(
            format!("{path}: must_call: {name} {why}, expected somebody who may be called").into(),
        ))
    }

    /// Whether somebody may have a place.
    pub(crate) fn may(&self, i: usize) -> bool {
        self.is_close(i) && self.out_by[i] == 0
    }

    /// Whether nothing but rules keeps a person out at this decision.
    pub(crate) fn is_close(&self, i: usize) -> bool {
        self.is_there[i] && self.is_available(i) && !self.is_control[i]
    }

    /// Whether a person could be called at the decision that is planned; true if the log does not say.
    fn is_available(&self, i: usize) -> bool {
        self.is_available.as_ref().is_none_or(|available| available[i])
    }

    /// Whom nothing but rules keeps out now or later, `[N]`: the people that a plan can do something for.
    pub(crate) fn is_callable(&self) -> Vec<bool> {
        self.is_there
            .iter()
            .zip(&self.is_control)
            .map(|(is_there, is_control)| *is_there && !is_control)
            .collect()
    }

    /// Whether somebody would be chosen from if no trial left her alone.
    pub(crate) fn is_apart(&self, i: usize) -> bool {
        self.is_there[i] && self.is_available(i) && self.is_control[i] && self.out_by[i] == 0
    }

    /// Why somebody may not have a place; none where she may.
    pub(crate) fn why_not(&self, i: usize, known: &Known<'_>) -> Option<String> {
        let person = known.person(i);
        match () {
            _ if person.is_some_and(|person| person.do_not_call) => Some("not to be called".into()),
            _ if person.is_some_and(|person| !person.is_there) => Some("gone".into()),
            _ if self.is_unobserved[i] => Some(UNOBSERVED.into()),
            _ if !self.is_there[i] => Some("never seen".into()),
            _ if !self.is_available(i) => Some(UNAVAILABLE.into()),
            _ if self.out_by[i] != 0 => {
                let rules = self.rules.iter().enumerate().filter(|(k, _)| self.out_by[i] >> k & 1 == 1);
                Some(rules.map(|(_, rule)| rule.as_str()).collect::<Vec<_>>().join("; "))
            }
            _ => None,
        }
    }

    /// How many people each rule keeps out who could be called otherwise.
    pub(crate) fn kept_out(&self, rule: usize) -> usize {
        let is_there = |i: usize| self.is_there[i] && self.is_available(i);
        let is_out = |i: &usize| is_there(*i) && self.out_by[*i] & (1 << rule) != 0;
        (0..self.out_by.len()).filter(is_out).count()
    }
}

/// Somebody whom the rules name is not in the study.
pub(crate) fn nobody(rules: &Rules, what: &str, id: &str) -> Error {
    let (path, name) = (show::path(rules.path()), show::name(id));
    Error::Data(
        format!("{path}: {what}: found nobody with the id {name}, expected a person of the study").into(),
    )
}
