//! The two questions that come first: does the ranking find those for whom a pull makes a difference, and how much more than random
//! pulls would its plan bring?
//!
//! What is answered, and when no answer is given, is [`restive::evidence`]; here a study and what is said of it become its design,
//! people become groups with a judge who never saw them, and numbers become those of a programme: reward over the study's horizon per
//! 100 people, the state after the last pull counted, as plans count it.
//!
//! Where the log says of some decisions how likely each action was, and not of others, those chances are used, and the declared
//! behaviour is that of the rest; with `none` or `logged` the rest is left out. A log that says it of all decisions leaves nothing to
//! declare: `estimated` and `none` are then `logged`, and who says `uniform` or `rota` is taken at his word.

use super::answer::{Decile, EvidenceAnswer, Given, Interval, Outcome, PolicyGain, RecordedAnswer};
use super::judges::Judges;
use crate::error::{Error, Result};
use crate::identification::{
    Refusal, assumption, check, constant_features, design_words, objection, settings_of,
};
use ndarray::{Array3, Axis};
use restive::data::split::Group;
use restive::evidence::{Design, Evidence, EvidenceSettings, Gain, Judged, Ranking};
use restive::instance::Assignment;
use restive_tables::Study;

/// People in folds, their judges, and the evidence of their log.
pub(crate) struct Gathered {
    pub judges: Judges,
    pub evidence: Evidence,
    pub settings: EvidenceSettings,
    /// what is dealt among how many people is per 100 of them
    pub per_hundred: f64,
}

impl Gathered {
    pub(crate) fn new(
        study: &Study,
        drop: &[String],
        folds: &[&[Group]],
        design: Design,
        seed: u64,
    ) -> Result<Self> {
        let judges = Judges::fit(study, drop, folds)?;
        let judged: Vec<Judged<'_>> = folds
            .iter()
            .zip(&judges.judges)
            .flat_map(|(fold, judge)| fold.iter().map(move |group| (group, judge)))
            .map(|(group, judge)| Judged {
                instance: &judges.instances[group.instance],
                arms: &group.arms,
                judge,
            })
            .collect();
        let settings = settings_of(study, design, seed);
        let evidence = Evidence::new(&judged, settings)?;
        let per_hundred = 100.0 / evidence.people() as f64;
        Ok(Self { judges, evidence, settings, per_hundred })
    }

    /// Why a ranking gets no answer, if it gets none.
    pub(crate) fn refusal(&self, ranking: &Ranking) -> Option<Refusal> {
        objection(&self.evidence, self.settings.design, Some(ranking), None, None)
    }

    /// What has to be taken for granted, of the declared design and of recorded chances.
    fn assumptions(&self, recorded: Option<&RecordedAnswer>) -> Vec<String> {
        let design = self.settings.design;
        let mut all = Vec::new();
        // where all of it was recorded nothing else was declared
        if recorded.is_none_or(|recorded| recorded.calls < self.evidence.calls()) {
            all.push(assumption(design).to_string());
        }
        if recorded.is_some() && (design != Design::Logged || all.is_empty()) {
            all.push(assumption(Design::Logged).to_string());
        }
        all
    }

    fn hundred(&self, gain: Gain) -> Interval {
        gain.times(self.per_hundred).into()
    }

    /// The answers to both questions.
    pub(crate) fn answer(&self, ranking: &Ranking, given: Given) -> EvidenceAnswer {
        let evidence = &self.evidence;
        let redealt = given.deals.and_then(|deals| evidence.redealt(ranking, deals));
        let p = redealt.unwrap_or(ranking.p);
        let deciles = evidence.deciles(ranking);
        let bars = deciles.ranked.into_iter().zip(deciles.shuffled);
        let over_random = |gain: Gain, of: Gain| Gain { value: gain.value - of.value, error: gain.error };
        let random = evidence.random();
        let mut policies = Vec::new();
        if !given.ranks_alike {
            policies.push(PolicyGain::measured("plan", self.hundred(ranking.plan)));
        }
        let is_per_person = self.settings.assignment == Assignment::PerPerson;
        let recorded = RecordedAnswer::new(evidence.recorded());
        if matches!(self.settings.design, Design::Logged | Design::Estimated) || recorded.is_some() {
            let practice = over_random(evidence.practice(), random);
            policies.push(PolicyGain::measured("practice", self.hundred(practice)));
        }
        EvidenceAnswer {
            unit: given.unit,
            horizon: self.settings.horizon,
            discount: self.judges.instances[0].discount(),
            people: evidence.people(),
            folds: given.folds,
            calls: evidence.calls(),
            logged_calls: evidence.logged_calls(),
            decisions: evidence.decisions(),
            design: design_words(self.settings.design),
            assignment: is_per_person.then_some("per-person"),
            changed: is_per_person.then(|| evidence.changed()),
            clusters: evidence.clusters(),
            assumptions: self.assumptions(recorded.as_ref()),
            recorded,
            statistic: ranking.statistic,
            p,
            deals: given.deals.filter(|_| redealt.is_some()),
            looks: given.looks,
            p_for_all_looks: given.looks.map(|looks| (p * looks as f64).min(1.0)),
            gain: self.hundred(ranking.plan),
            total_gain: ranking.plan.into(),
            detectable: ranking.detectable * self.per_hundred,
            random_over_none: self.hundred(random),
            brought: evidence.brought().into(),
            course: evidence.course().map(Interval::from),
            calibration: None,
            ranks_alike: given.ranks_alike,
            effects_alike: false,
            off_the_line: ranking.off_the_line,
            deciles: bars
                .map(|(ranked, shuffled)| Decile { ranked: ranked.into(), shuffled: shuffled.into() })
                .collect(),
            mean_effect: deciles.mean.into(),
            policies,
        }
    }
}

/// Whether tables `[1 or D,n,M]` give all people of a group the same number in every state, up to rounding.
pub(super) fn are_alike(tables: &[Array3<f64>]) -> bool {
    const ROUNDING: f64 = 1e-9;
    let is_flat = |lane: ndarray::ArrayView1<'_, f64>| {
        let ends = lane
            .iter()
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(*x), high.max(*x)]);
        ends[1] - ends[0] <= ROUNDING * ends[0].abs().max(ends[1].abs())
    };
    tables.iter().all(|table| table.lanes(Axis(1)).into_iter().all(is_flat))
}

/// Anybody's ranking: a number for every arm and state of each instance, `[N,M]`; higher is pulled first.
pub fn evidence_of_scores(
    study: &Study,
    scores: &[ndarray::Array2<f64>],
    asked: &super::EvaluateAsked,
) -> Result<Outcome> {
    asked.check()?;
    check_scores(study, scores)?;
    let drop = constant_features(study);
    let design = match check(study, &drop, asked.behaviour)? {
        Ok(design) => design,
        Err(refusal) => return Ok(refusal.into()),
    };
    let people = crate::prepare::every_arm(study);
    let folds = crate::cross_fit::cut(&people, study, asked.folds, asked.seed)?.0;
    let views: Vec<&[Group]> = folds.iter().map(Vec::as_slice).collect();
    let gathered = Gathered::new(study, &drop, &views, design, asked.seed)?;
    let own = |group: &Group| scores[group.instance].select(Axis(0), &group.arms);
    let tables: Vec<Array3<f64>> =
        folds.iter().flatten().map(|group| own(group).insert_axis(Axis(0))).collect();
    let ranking = gathered.evidence.ranking(&tables)?;
    if let Some(refusal) = gathered.refusal(&ranking) {
        return Ok(refusal.into());
    }
    let unit = study.settings.unit.clone();
    let deals = asked.dealt(gathered.evidence.people(), gathered.evidence.calls());
    let given = Given { unit, folds: None, looks: None, deals, ranks_alike: are_alike(&tables) };
    let mut answer = gathered.answer(&ranking, given);
    answer.assumptions.push("the scores were not learnt from these people".into());
    Ok(Outcome::Answer(Box::new(answer)))
}

fn check_scores(study: &Study, scores: &[ndarray::Array2<f64>]) -> Result<()> {
    let states = study.settings.reward.states();
    if scores.len() != study.instances.len() {
        let (found, expected) = (scores.len(), study.instances.len());
        return Err(Error::Data(
            format!("scores: found {found} tables, expected {expected}, one for each instance").into(),
        ));
    }
    for (table, instance) in scores.iter().zip(&study.instances) {
        let (found, expected) = (table.shape().to_vec(), [instance.arms.len(), states]);
        if found != expected {
            let name = restive_tables::show::name(&instance.name);
            let said = format!(
                "scores: instance {name}: found the shape {found:?}, expected {expected:?} (arms, states)"
            );
            return Err(Error::Data(said.into()));
        }
    }
    Ok(())
}
