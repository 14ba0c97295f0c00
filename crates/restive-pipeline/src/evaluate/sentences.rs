//! What the evidence says, in sentences that every face shows alike.

use super::answer::{EvidenceAnswer, Interval};
use crate::words::{counted, grouped, percent};

/// p below which chance is not believed.
const UNLIKELY: f64 = 0.05;
/// Minimum number of people, or clusters, that an interval rests on.
const LEAST_UNITS: usize = 30;
/// The share of planned pulls that did not go as they were drawn from which on it is said that this matters.
const MUCH: f64 = 0.05;

impl EvidenceAnswer {
    /// What a reward of 1 is called.
    pub fn unit(&self) -> &str {
        self.unit.as_deref().unwrap_or("reward")
    }

    /// What is counted, over which time.
    pub fn counted(&self) -> String {
        if self.assignment.is_some() {
            return format!(
                "{} per 100 people over all decisions after the first of a person, later ones discounted by {}",
                self.unit(),
                self.discount
            );
        }
        format!(
            "{} per 100 people over a programme of {}, the state after each of them counted, later ones discounted by {}",
            self.unit(),
            counted(self.horizon as u64, "decision"),
            self.discount
        )
    }

    /// Who is judged, by what.
    pub fn judged(&self) -> String {
        let people = format!("{} people", grouped(self.people as u64));
        let whom = match self.folds {
            Some(folds) => format!(
                "{people} in {folds} folds, each by a model of this recipe that never saw them: the recipe is judged, not this one fit"
            ),
            None => format!("{people} whom the model never saw"),
        };
        let (calls, logged) = (grouped(self.calls as u64), grouped(self.logged_calls as u64));
        let calls = if self.calls == self.logged_calls { logged } else { format!("{calls} of {logged}") };
        let decisions = counted(self.decisions as u64, "logged decision");
        let (once, clusters) = (self.once(), self.by_cluster());
        format!(
            "{whom}; on {calls} pulls at {decisions}, {}{once}{}{clusters}",
            self.design,
            self.recorded_chances()
        )
    }

    /// Unit of the assignment; nothing if pulls are assigned at every decision.
    fn once(&self) -> &'static str {
        match self.assignment {
            Some(_) => ", once per person: only the first decision of a person counts",
            None => "",
        }
    }

    /// Unit of intervals; nothing without clusters.
    fn by_cluster(&self) -> String {
        self.clusters.map_or_else(String::new, |clusters| {
            format!("; intervals are by cluster, of which there are {}", grouped(clusters as u64))
        })
    }

    /// What rests on recorded chances; nothing where there are none.
    fn recorded_chances(&self) -> String {
        let Some(recorded) = &self.recorded else { return String::new() };
        let pulls = match recorded.calls {
            calls if calls == self.calls => "all of them".into(),
            calls => format!("{} of them", grouped(calls as u64)),
        };
        let decisions = counted(recorded.decisions as u64, "decision");
        let sure = match recorded.sure {
            0 => String::new(),
            sure => format!(", not about the {} that were certain", counted(sure as u64, "pull")),
        };
        format!(
            "; {pulls} with recorded chances, at {decisions}: there the answer is about those who could have been drawn{sure}"
        )
    }

    /// p that counts: for all looks, where there were several.
    pub fn believed_p(&self) -> f64 {
        self.p_for_all_looks.unwrap_or(self.p)
    }

    /// Whether the ranking is shown to find them.
    pub fn is_found(&self) -> bool {
        !self.ranks_alike && self.believed_p() < UNLIKELY
    }

    /// Does the ranking find those for whom a pull makes a difference?
    pub fn found(&self) -> String {
        if self.ranks_alike {
            return "Nothing to judge: the ranking gives all people in the same state the same number".into();
        }
        let p = if self.p < 0.001 { "p < 0.001".to_string() } else { format!("p = {:.3}", self.p) };
        let how = match self.deals {
            Some(deals) => format!("pulls dealt anew {} times", grouped(deals as u64)),
            None => "by the normal law".into(),
        };
        let looks = match (self.looks, self.p_for_all_looks) {
            (Some(looks), Some(all)) if looks > 1 => format!(
                "; {looks} recipes have been judged on these people: for all of them together p = {all:.3}"
            ),
            _ => String::new(),
        };
        let verdict = match (self.is_found(), self.p < UNLIKELY) {
            (true, _) => "Yes",
            (false, true) => "Perhaps: alone it would be shown, among so many looks it is not",
            (false, false) => "Not shown",
        };
        format!("{verdict}: {p} ({how}){looks}")
    }

    /// How much more than random pulls would the plan bring?
    pub fn brings(&self) -> String {
        if self.ranks_alike {
            return "Nothing to judge: among people in the same state the plan is a random one".into();
        }
        let unit = self.unit();
        let gain = signed(self.gain);
        let detectable = number(self.detectable);
        match self.is_found() {
            true if self.gain.low > 0.0 => format!("{gain} {unit} per 100 people"),
            true => format!(
                "{gain} {unit} per 100 people: those at the top are too few to say how much, though the ranking as a whole is right"
            ),
            false => format!(
                "{gain} {unit} per 100 people: with so much chance in it that nothing is shown; had the gain been {detectable} or more, it \
                 would have been found four times in five"
            ),
        }
    }

    /// What random pulls bring, and those that were made.
    pub fn random(&self) -> String {
        let unit = self.unit();
        let (random, brought) = (signed(self.random_over_none), signed(self.brought));
        let left_out = self.recorded.map_or(0, |recorded| recorded.sure + recorded.unlisted);
        let logged = counted((self.logged_calls - left_out) as u64, "logged pull");
        let which = if left_out > 0 { " that could have gone to others" } else { "" };
        format!("{random} {unit} per 100 people over none; the {logged}{which} brought {brought} in all")
    }

    /// Effect of the whole course on a person, if pulls are assigned per person.
    pub fn course(&self) -> Option<String> {
        let course = signed(self.course?);
        Some(format!(
            "{course} {} per person who is assigned pulls, over nobody: all rewards after the first decision, later ones discounted by {}",
            self.unit(),
            self.discount
        ))
    }

    /// Whether predicted effects are as large as those that are seen.
    pub fn calibrated(&self) -> Option<String> {
        if self.effects_alike {
            return Some(
                "nothing to calibrate: the predicted effects of all people in the same state are equal"
                    .into(),
            );
        }
        let slope = self.calibration?;
        Some(format!(
            "{:.2} [{:.2}, {:.2}] of a predicted effect is seen (1: as large as predicted, 0: predictions say nothing)",
            slope.value, slope.low, slope.high
        ))
    }

    /// What to know before it is trusted.
    pub fn cautions(&self) -> Vec<String> {
        let mut cautions = Vec::new();
        let (units, what) = match self.clusters {
            Some(clusters) => (clusters, "cluster"),
            None => (self.people, "person"),
        };
        if units < LEAST_UNITS {
            let units = counted(units as u64, what).replace("persons", "people");
            cautions.push(format!("too few for an interval: {units}, expected at least {LEAST_UNITS}"));
        }
        if let Some(changed) = self.changed.filter(|changed| *changed > 0) {
            cautions.push(format!(
                "{} changed after the first decision: the answer is about the first assignment, whatever followed",
                counted(changed as u64, "action")
            ));
        }
        if let Some(recorded) = self.recorded.filter(|recorded| recorded.share_left_out > 0.0) {
            let parts = [
                (recorded.not_called, "listed and not pulled"),
                (recorded.unlisted, "pulled and not listed"),
                (recorded.untold, "without an outcome yet"),
            ];
            let parts = parts.into_iter().filter(|(count, _)| *count > 0);
            let parts: Vec<String> =
                parts.map(|(count, what)| format!("{} {what}", grouped(count as u64))).collect();
            let share = percent(recorded.share_left_out);
            let bias = match recorded.share_left_out > MUCH {
                true => {
                    ": more than 5 %; if those who were pulled as drawn differ from those who were not, the answer is off"
                }
                false => "",
            };
            cautions.push(format!("left out, {share} of the planned pulls: {}{bias}", parts.join(", ")));
        }
        if self.off_the_line.abs() > 2.5 {
            let side = if self.off_the_line > 0.0 { "better" } else { "worse" };
            cautions.push(format!(
                "those at the very top fare {side} than the ranks say, by {:.1} standard errors",
                self.off_the_line.abs()
            ));
        }
        cautions
    }
}

/// A number with its interval.
pub fn signed(of: Interval) -> String {
    format!("{:+.*} [{:.*}, {:.*}]", decimals(of), of.value, decimals(of), of.low, decimals(of), of.high)
}

fn decimals(of: Interval) -> usize {
    let width = (of.high - of.low).abs();
    match width {
        w if !(w > 0.0) => 2,
        w => ((1.0 - w.log10().floor()).clamp(0.0, 6.0)) as usize,
    }
}

fn number(x: f64) -> String {
    let decimals = if x > 0.0 { ((1.0 - x.log10().floor()).clamp(0.0, 6.0)) as usize } else { 2 };
    format!("{x:.decimals$}")
}
