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
use super::asked::BehaviourName;
use super::judges::Judges;
use crate::error::{Error, Result, refuse};
use crate::message::{Message, Opt, message};
use crate::words::{counted, grouped};
use ndarray::Array3;
use restive::data::features::Column;
use restive::data::split::Group;
use restive::evidence::{Balance, Design, Evidence, EvidenceSettings, Gain, Judged, Ranking};
use restive::instance::Observation;
use restive::planning::Ending;
use restive_tables::{Study, StudyBehaviour};

/// Pulls that evidence takes at least.
pub const LEAST_CALLS: usize = 200;
/// The share of pulls out of turn at which a rota is none.
const OUT_OF_TURN: f64 = 0.05;

/// No answer, and what to do.
pub(super) fn no(reason: impl Into<Message>, what_to_do: impl Into<Message>) -> Outcome {
    Outcome::Refused { reason: reason.into(), what_to_do: what_to_do.into() }
}

/// How pulls came to whom they came, as asked or as the study says; or why nothing can be said.
pub(super) fn design(
    study: &Study,
    asked: Option<BehaviourName>,
) -> Result<std::result::Result<Design, Outcome>> {
    if study.settings.observation != Observation::Full {
        return Ok(Err(no(
            "states are seen at pulls only, so what became of those who were not pulled is not known, and nobody can be held against \
             those who were",
            message!(
                "try the plan beside random pulls, and compare; ",
                Opt("estimators"),
                " published simulates what the log says of the arms, which is no evidence"
            ),
        )));
    }
    let design = match asked {
        Some(BehaviourName::Logged) => Some(Design::Logged),
        Some(BehaviourName::Uniform) => Some(Design::Uniform),
        Some(BehaviourName::Rota) => Some(Design::Rota),
        Some(BehaviourName::Estimated) => Some(Design::Estimated),
        Some(BehaviourName::None) => None,
        None => match study.settings.behaviour {
            StudyBehaviour::Logged => Some(Design::Logged),
            StudyBehaviour::Uniform => Some(Design::Uniform),
            StudyBehaviour::Estimated => Some(Design::Estimated),
            StudyBehaviour::RoundRobinAsUniform => Some(Design::Rota),
            StudyBehaviour::None => None,
        },
    };
    let has_column = study.instances.iter().all(|instance| instance.trajectories.propensity().is_some());
    let (known, actions) = known_propensities(study);
    let design = match design {
        None if known > 0 && has_column => Some(Design::Logged),
        // what is known of every decision need not be estimated, unless somebody asks for it
        Some(Design::Estimated) if asked.is_none() && known > 0 && known == actions => Some(Design::Logged),
        design => design,
    };
    if design == Some(Design::Logged) && !has_column {
        let why = " logged: found no column propensity in the trajectories, expected one";
        refuse!(Opt("behaviour"), why);
    }
    Ok(design.ok_or_else(|| {
        no(
            "nobody says how those who were pulled were chosen, so they may have been chosen for what would have become of them anyway",
            message!(
                "say it, in study.toml or by ",
                Opt("behaviour"),
                ": uniform where it was by lot, rota where everybody was pulled in turn in an order that has nothing to do with them, estimated \
                 where the choice looked at nothing that the tables do not show"
            ),
        )
    }))
}

/// Actions whose propensity is known, and all actions.
fn known_propensities(study: &Study) -> (usize, usize) {
    let each = study.instances.iter().map(|instance| instance.trajectories.known_propensities());
    each.fold((0, 0), |(known, actions), one| (known + one.0, actions + one.1))
}

/// What the pulls were taken for, in a few words.
pub(super) fn design_words(design: Design) -> &'static str {
    match design {
        Design::Uniform => "dealt by lot",
        Design::Rota => "made in turn",
        Design::Logged => "made with logged propensities",
        Design::Estimated => "chosen by what the tables show",
    }
}

/// What has to be taken for granted.
fn assumption(design: Design) -> &'static str {
    match design {
        Design::Uniform => "pulls were dealt by lot among all",
        Design::Rota => "the order of the rota has nothing to do with outcomes",
        Design::Logged => "the logged propensities are those by which pulls were drawn",
        Design::Estimated => {
            "whoever chose looked at nothing that bears on outcomes and that the tables do not show"
        }
    }
}

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
        let horizon = study.settings.horizon;
        let (known, actions) = known_propensities(study);
        let uses_recorded = known > 0 && known < actions;
        let settings = EvidenceSettings { design, uses_recorded, horizon, ending: Ending::State, seed };
        let evidence = Evidence::new(&judged, settings)?;
        let per_hundred = 100.0 / evidence.people() as f64;
        Ok(Self { judges, evidence, settings, per_hundred })
    }

    /// Why a ranking gets no answer, if it gets none.
    pub(crate) fn refusal(&self, balance: &Balance) -> Option<Outcome> {
        let evidence = &self.evidence;
        let (logged, out_of_turn) = (evidence.logged_calls(), evidence.out_of_turn());
        if self.settings.design == Design::Rota && out_of_turn as f64 > OUT_OF_TURN * logged as f64 {
            let turn = counted(out_of_turn as u64, "pull");
            return Some(no(
                format!("{turn} of {} out of turn: that was no rota", grouped(logged as u64)),
                message!("say how it was: ", Opt("behaviour"), " uniform or estimated"),
            ));
        }
        let calls = evidence.calls();
        if calls < LEAST_CALLS {
            let found = format!(
                "{} of people who might as well not have been pulled, with a next state that was seen; expected at least \
                 {LEAST_CALLS}",
                counted(calls as u64, "pull")
            );
            return Some(no(found, "go on with pulls by lot or in turn, and judge when there are more"));
        }
        let (what, score) = balance.objection()?;
        let reason = format!(
            "those who were pulled differ from the others in {what} by {:.1} standard errors: they were chosen, and not {}",
            score.abs(),
            design_words(self.settings.design)
        );
        let what_to_do = match (self.settings.design, what) {
            (Design::Uniform, "earlier calls") => {
                message!("if everybody was pulled in turn, say ", Opt("behaviour"), " rota")
            }
            (Design::Estimated, _) => {
                message!(
                    "add to the table of arms what the choice looked at; without it nobody can tell what pulls did"
                )
            }
            (_, "seen next states") => message!(
                "see why next states are missing more often of some than of others: a week that is recorded for those who were pulled only \
                 tells nothing"
            ),
            _ => message!(
                "if the choice looked at states or features, say ",
                Opt("behaviour"),
                " estimated; if it looked at anything else, add it to the table of arms first"
            ),
        };
        Some(no(reason, what_to_do))
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
        let mut policies = vec![PolicyGain::measured("plan", self.hundred(ranking.plan))];
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
            calibration: None,
            off_the_line: ranking.off_the_line,
            deciles: bars
                .map(|(ranked, shuffled)| Decile { ranked: ranked.into(), shuffled: shuffled.into() })
                .collect(),
            mean_effect: deciles.mean.into(),
            policies,
        }
    }
}

/// Anybody's ranking: a number for every arm and state of each instance, `[N,M]`; higher is pulled first.
pub fn evidence_of_scores(
    study: &Study,
    scores: &[ndarray::Array2<f64>],
    asked: &super::EvaluateAsked,
) -> Result<Outcome> {
    asked.check()?;
    let design = match design(study, asked.behaviour)? {
        Ok(design) => design,
        Err(refused) => return Ok(refused),
    };
    check_scores(study, scores)?;
    let people = crate::prepare::every_arm(study);
    let folds = crate::cross_fit::cut(&people, &study.arms(), asked.folds, asked.seed)?.0;
    let views: Vec<&[Group]> = folds.iter().map(Vec::as_slice).collect();
    let gathered = Gathered::new(study, &same_for_all(study), &views, design, asked.seed)?;
    let own = |group: &Group| scores[group.instance].select(ndarray::Axis(0), &group.arms);
    let tables: Vec<Array3<f64>> =
        folds.iter().flatten().map(|group| own(group).insert_axis(ndarray::Axis(0))).collect();
    let ranking = gathered.evidence.ranking(&tables)?;
    if let Some(refused) = gathered.refusal(&gathered.evidence.balance(&ranking)) {
        return Ok(refused);
    }
    let unit = study.settings.unit.clone();
    let deals = asked.dealt(gathered.evidence.people(), gathered.evidence.calls());
    let given = Given { unit, folds: None, looks: None, deals };
    let mut answer = gathered.answer(&ranking, given);
    answer.assumptions.push("the scores were not learnt from these people".into());
    Ok(Outcome::Answer(Box::new(answer)))
}

/// Features that say nothing, because everybody has the same or nobody any.
fn same_for_all(study: &Study) -> Vec<String> {
    let features = study.features(&crate::prepare::every_arm(study));
    let is_same = |name: &String| match features.column(name) {
        Some(Column::Number(x)) => {
            let known: Vec<f64> = x.iter().copied().filter(|x| !x.is_nan()).collect();
            known.windows(2).all(|pair| pair[0] == pair[1])
        }
        Some(Column::Text(x)) => {
            let known: Vec<_> = x.iter().flatten().collect();
            known.windows(2).all(|pair| pair[0] == pair[1])
        }
        None => false,
    };
    features.names().iter().filter(|name| is_same(name)).cloned().collect()
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
