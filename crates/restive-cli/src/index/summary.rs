//! What a run says of itself: one line, or JSON, and what a reader should be warned of.

use super::arguments::IndexArguments;
use super::observation::chain_name;
use super::solve::{Question, STATUSES, Tally};
use crate::shared::display::{counted, duration, grouped, peak_memory, percent};
use restive::index::IndexStatus;
use restive_tables::show::plain;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

#[derive(Debug, Serialize)]
pub(crate) struct IndexSummary {
    input: String,
    arms: u64,
    states: usize,
    discount: f64,
    algorithm: &'static str,
    /// of beliefs, where the state is seen only at pulls; otherwise null
    chain: Option<String>,
    seconds: f64,
    arms_per_second: f64,
    not_indexable: u64,
    share_not_indexable: f64,
    /// arms per status, by name
    statuses: BTreeMap<&'static str, u64>,
    /// null where no arm has one
    worst_residual: Option<f64>,
    /// null where nothing was written
    out: Option<String>,
    /// null where the system does not say
    peak_memory_bytes: Option<u64>,
    #[serde(skip)]
    tally: Tally,
}

impl IndexSummary {
    pub(crate) fn new(
        arguments: &IndexArguments,
        question: &Question,
        states: usize,
        tally: Tally,
        elapsed: Duration,
    ) -> Self {
        let seconds = elapsed.as_secs_f64();
        Self {
            input: arguments.arms.display().to_string(),
            arms: tally.arms,
            states,
            discount: question.discount,
            algorithm: question.algorithm_name(),
            chain: question.chain().map(chain_name),
            seconds,
            arms_per_second: tally.arms as f64 / seconds.max(1e-9),
            not_indexable: tally.not_indexable,
            share_not_indexable: tally.not_indexable as f64 / tally.arms.max(1) as f64,
            statuses: STATUSES.iter().map(|status| (status.name(), tally.count(*status))).collect(),
            worst_residual: tally.worst_residual,
            out: arguments.out.as_ref().map(|out| out.display().to_string()),
            peak_memory_bytes: peak_memory(),
            tally,
        }
    }

    pub(crate) fn arms(&self) -> u64 {
        self.arms
    }

    pub(crate) fn write_line(&self, text: &mut Vec<u8>) -> io::Result<()> {
        let (undetermined, unexamined) =
            (self.tally.count(IndexStatus::Undetermined), self.tally.count(IndexStatus::Approximate));
        let verdict = match (self.not_indexable, undetermined) {
            _ if unexamined > 0 => "indexability not examined".to_string(),
            (0, 0) => "all indexable".to_string(),
            (not, 0) => format!("{} not indexable ({})", grouped(not), percent(self.share_not_indexable)),
            (not, unknown) => format!("{} not indexable, {} undetermined", grouped(not), grouped(unknown)),
        };
        let (arms, states) = (counted(self.arms, "arm"), counted(self.states as u64, "state"));
        let time = duration(self.seconds);
        let chain = self.chain.as_ref().map_or(String::new(), |chain| format!(", chain {chain}"));
        write!(text, "{arms}, {states}{chain}, discount {}: {verdict}; {time}", self.discount)?;
        match &self.out {
            Some(out) => writeln!(text, "; wrote {}", plain(out)),
            None => writeln!(text),
        }
    }

    /// One line for each thing that the numbers alone do not say.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let arms = grouped(self.arms);
        let column = if self.chain.is_some() { "w_S_H" } else { "w_S" };
        let cases = [
            (
                self.not_indexable,
                "not indexable: there is no single price of a pull in some states, so w_S is only the first \
                 subsidy at which a state is left alone and a ranking by it is a heuristic; --verbose adds the last",
            ),
            (
                self.tally.count(IndexStatus::Approximate),
                "approximate: bisection does not examine indexability, so is_indexable is empty; \
                 --algorithm general does",
            ),
            (
                self.tally.count(IndexStatus::IllConditioned),
                "ill-conditioned: rounding may have cost digits; --verbose adds the residual, an estimate of the relative error",
            ),
            (
                self.tally.count(IndexStatus::Undetermined),
                "undetermined: no index could be computed (at discount 1, when the average reward depends on where an arm \
                 starts), so w_S is NaN and is_indexable is empty",
            ),
        ];
        let cases = cases.into_iter().filter(|(count, _)| *count > 0);
        cases
            .map(|(count, meaning)| {
                let verb = if count == 1 { "is" } else { "are" };
                format!("{} of {arms} arms {verb} {}", grouped(count), meaning.replace("w_S", column))
            })
            .collect()
    }
}
