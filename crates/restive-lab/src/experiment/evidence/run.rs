//! One world of a regime: models are trained and a judge is fitted once, then both meet fresh logs of people whom neither has seen.
//!
//! In folds there is one log: whole groups are left out in turn, the models are trained and the judge is fitted without them (one of the
//! other groups validates), and everybody is judged once.

use super::logs::Log;
use super::rankings::{RANKINGS, Ranked, Trained, oracle, wrong_people};
use super::regimes::{Setup, setups};
use super::truth::{self, True};
use crate::experiment::rows::{Row, Rows};
use crate::experiment::units::Unit;
use crate::experiment::{Asked, Shares};
use crate::{Method, Metric};
use ndarray::Axis;
use restive::Instance;
use restive::data::split::{Group, folds};
use restive::evidence::{Evidence, EvidenceSettings, Judge, Judged};
use restive::instance::Assignment;
use restive::planning::Ending;
use restive::random::stream;

/// Far from the seeds of other experiments: world r has the seed asked for, plus this, plus r.
pub(super) const FIRST_SEED: u64 = 7_000;
/// Calls are dealt anew so often.
pub(super) const DEALS: usize = 99;
const FOLDS: usize = 5;
/// The stream of wrong people.
const WRONG: u64 = 0x7772_6f6e;
/// The part of a world's logs that models learn from; judged ones follow.
const LEARNT: u64 = 0;

pub(super) fn units(asked: &Asked) -> Vec<Unit> {
    let worlds = |setup: Setup| Unit::runs("evidence", setup.regime, setup.worlds(asked.runs), setup.weight);
    setups(asked).into_iter().flat_map(worlds).collect()
}

pub(super) fn compute(asked: &Asked, unit: &Unit, shares: Shares<'_>) -> anyhow::Result<Vec<Row>> {
    let all = setups(asked);
    let setup = all.iter().find(|setup| setup.regime == unit.regime).expect("a unit of a regime");
    let seed = asked.settings.run_seed(unit.run).wrapping_add(FIRST_SEED);
    let mut rows = Rows::new(unit, seed);
    match setup.logs {
        Some(logs) => with_fresh_logs(setup, logs, seed, &mut rows, shares)?,
        None => in_folds(setup, seed, unit.run, &mut rows, shares)?,
    }
    Ok(rows.finish())
}

fn with_fresh_logs(
    setup: &Setup,
    logs: usize,
    seed: u64,
    rows: &mut Rows,
    shares: Shares<'_>,
) -> restive::Result<()> {
    let [train, validation, judged] = setup.parts(seed)?;
    let split = train.len();
    let learnt = setup.logging.logs(&[train, validation].concat(), seed, LEARNT)?;
    let learnt: Vec<Instance> = learnt.into_iter().map(|log| log.instance).collect();
    let trained = Trained::new(setup, [&learnt[..split], &learnt[split..]], seed, 0)?;
    let judge = Judge::fit(&learnt)?;
    shares(0.6);
    let tables = judged.iter().map(|group| tables(setup, &trained, group)).collect();
    let ranked = transposed(tables);
    let judges = vec![&judge; judged.len()];
    for k in 0..logs {
        let log = setup.logging.logs(&judged, seed, LEARNT + 1 + k as u64)?;
        Measured { setup, logs: &log, judges: &judges, seed, number: k }.measure(&ranked, rows)?;
        shares(0.6 + 0.4 * (k + 1) as f64 / logs as f64);
    }
    Ok(())
}

fn in_folds(
    setup: &Setup,
    seed: u64,
    world: usize,
    rows: &mut Rows,
    shares: Shares<'_>,
) -> restive::Result<()> {
    let people = setup.parts(seed)?.concat();
    let logs = setup.logging.logs(&people, seed, LEARNT)?;
    let instances: Vec<Instance> = logs.iter().map(|log| log.instance.clone()).collect();
    let groups: Vec<Group> = instances
        .iter()
        .enumerate()
        .map(|(instance, group)| Group { instance, arms: (0..group.arms()).collect() })
        .collect();
    let folds = folds(&groups, FOLDS, seed)?;
    let (mut judges, mut by_group) = (Vec::new(), vec![None; instances.len()]);
    for (k, fold) in folds.iter().enumerate() {
        let is_left_out = |group: usize| fold.iter().any(|left| left.instance == group);
        let others: Vec<Instance> = (0..instances.len())
            .filter(|group| !is_left_out(*group))
            .map(|group| instances[group].clone())
            .collect();
        let (validation, train) = others.split_last().expect("several groups");
        let trained = Trained::new(setup, [train, std::slice::from_ref(validation)], seed, world)?;
        judges.push(Judge::fit(&others)?);
        for left in fold {
            by_group[left.instance] = Some((k, tables(setup, &trained, &instances[left.instance])));
        }
        shares(0.95 * (k + 1) as f64 / folds.len() as f64);
    }
    let by_group = by_group.into_iter().map(|found| found.expect("every group is left out once"));
    let (of_fold, tables): (Vec<usize>, Vec<_>) = by_group.unzip();
    let judges: Vec<&Judge> = of_fold.into_iter().map(|k| &judges[k]).collect();
    Measured { setup, logs: &logs, judges: &judges, seed, number: 0 }.measure(&transposed(tables), rows)
}

/// Those of a group: of everything that was trained, and of the truth.
fn tables(setup: &Setup, trained: &Trained, group: &Instance) -> Vec<(Method, ndarray::Array2<f64>)> {
    let mut tables = trained.tables(setup, group);
    if setup.has_effect() {
        tables.push((Method::OracleMatched, oracle(setup, group)));
    }
    tables
}

/// From group by group to ranking by ranking.
fn transposed(groups: Vec<Vec<(Method, ndarray::Array2<f64>)>>) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> =
        groups[0].iter().map(|(method, _)| Ranked { method: *method, tables: Vec::new() }).collect();
    for group in groups {
        for (ranked, (_, table)) in ranked.iter_mut().zip(group) {
            ranked.tables.push(table);
        }
    }
    ranked
}

/// A log of all judged people.
struct Measured<'a> {
    setup: &'a Setup,
    logs: &'a [Log],
    /// of each group
    judges: &'a [&'a Judge],
    seed: u64,
    /// which of the world
    number: usize,
}

impl Measured<'_> {
    /// Everything about every ranking, and about every two of them.
    fn measure(&self, ranked: &[Ranked], rows: &mut Rows) -> restive::Result<()> {
        let &Self { setup, logs, judges, seed, number } = self;
        let everyone: Vec<Vec<usize>> = logs.iter().map(|log| (0..log.instance.arms()).collect()).collect();
        let judged: Vec<Judged<'_>> = (logs.iter().zip(&everyone).zip(judges))
            .map(|((log, arms), judge)| Judged { instance: &log.instance, arms, judge })
            .collect();
        let settings = EvidenceSettings {
            design: setup.design,
            uses_recorded: false,
            horizon: setup.horizon(),
            ending: Ending::State,
            seed: seed.wrapping_add(number as u64),
            assignment: Assignment::PerDecision,
        };
        let evidence = Evidence::new(&judged, settings)?;
        let effect = ranked.iter().find(|ranked| ranked.method == Method::SingleEffect).expect("trained");
        let wrong = wrong_people(effect, &mut stream(seed, &[WRONG, number as u64]));
        let by_method =
            |method: &Method| ranked.iter().chain([&wrong]).find(|ranked| ranked.method == *method);
        let mut found = Vec::new();
        for ranked in RANKINGS.iter().filter_map(by_method) {
            let tables: Vec<_> =
                ranked.tables.iter().map(|table| table.clone().insert_axis(Axis(0))).collect();
            let ranking = evidence.ranking(&tables)?;
            let True { value, variance, within } = (logs.iter().zip(&ranked.tables).enumerate())
                .map(|(k, (log, table))| {
                    let seed = seed.wrapping_mul(1000).wrapping_add((number * logs.len() + k) as u64);
                    truth::gain(&log.instance, &log.start, table, setup.horizon(), seed)
                })
                .sum();
            let is_objected = evidence.balance(Some(&ranking)).objection().is_some();
            let redealt = evidence.redealt(&ranking, DEALS).unwrap_or(f64::NAN);
            for (metric, value) in [
                (Metric::Truth, value),
                (Metric::TruthError, variance.sqrt()),
                (Metric::TruthWithin, within),
                (Metric::Plan, ranking.plan.value),
                (Metric::PlanError, ranking.plan.error),
                (Metric::Gain, ranking.gain.value),
                (Metric::GainError, ranking.gain.error),
                (Metric::Top, ranking.top.value),
                (Metric::TopError, ranking.top.error),
                (Metric::PNormal, ranking.p),
                (Metric::PRedealt, redealt),
                (Metric::Objected, f64::from(u8::from(is_objected))),
                (Metric::Calls, evidence.calls() as f64),
                (Metric::Groups, logs.len() as f64),
            ] {
                rows.push(ranked.method, metric, number as f64, value);
            }
            found.push((ranked.method, ranking));
        }
        for (k, (method, ranking)) in found.iter().enumerate() {
            for (other, its) in &found[k + 1..] {
                let less = ranking.less(its);
                rows.push(*method, Metric::Less(*other), number as f64, less.value);
                rows.push(*method, Metric::LessError(*other), number as f64, less.error);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DomainName;
    use crate::Regime;
    use crate::experiment::Settings;
    use crate::experiment::evidence::tables::Answers;
    use crate::experiment::rows::{Key, values};
    use restive_pipeline::Profile;

    /// A world of few people.
    fn world(regime: Regime) -> Vec<Row> {
        let settings = Settings {
            restive: String::new(),
            seed: 1,
            profile: Profile::Published,
            is_quick: true,
            arms: Some(40),
        };
        let asked = Asked::new(settings, 1, &[regime.domain()]);
        let unit = Unit { kind: "evidence", regime, method: None, run: 0, weight: 1 };
        compute(&asked, &unit, &|_| ()).unwrap()
    }

    #[test]
    fn who_knows_everything_gains_and_who_knows_nobody_does_not() {
        for regime in [Regime::Lot, Regime::FiveStateLot] {
            let rows = world(regime);
            let truth = |method| {
                let of = |log| values(&rows, Key::new(regime, method, Metric::Truth).at(f64::from(log)));
                let all: Vec<f64> = (0..2).flat_map(of).collect();
                assert_eq!(all.len(), 2);
                all.iter().sum::<f64>() / 2.0
            };
            let (oracle, wrong) = (truth(Method::OracleMatched), truth(Method::WrongPeople));
            assert!(oracle > 1.0 && wrong.abs() < 0.5 * oracle, "{} {oracle} {wrong}", regime.name());
            for method in RANKINGS {
                assert!(truth(method) <= oracle + 0.2 * oracle, "{} {}", regime.name(), method.name());
                for metric in [Metric::PNormal, Metric::PRedealt] {
                    let p = values(&rows, Key::new(regime, method, metric).at(0.0))[0];
                    assert!((0.0..=1.0).contains(&p), "{metric} {p}");
                }
            }
            assert!(Answers::of(&rows, regime).ranking(Method::Auto).is_some());
        }
    }

    #[test]
    fn every_regime_is_a_variant_of_its_domain() {
        for name in DomainName::ALL {
            let settings = Settings {
                restive: String::new(),
                seed: 1,
                profile: Profile::Published,
                is_quick: false,
                arms: None,
            };
            let asked = Asked::new(settings, 1, &[*name]);
            assert!(units(&asked).iter().all(|unit| unit.regime.domain() == *name));
        }
    }
}
