//! Synthetic domains: instances as dictionaries of arrays, for `restive.generate` to dress.

use crate::border::{Number, Seed, Whole};
use crate::error::{check_memory, raise, wrong};
use crate::index::chain_of;
use crate::refusal::of_pipeline;
use crate::study::NativeStudy;
use crate::threads;
use ndarray::{ArrayView3, Axis, s};
use numpy::{PyArray2, PyArray3, PyArray4};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use restive::Instance;
use restive::data::domain::Domain;
use restive::data::maternal::Maternal;
use restive::instance::{NO_ACTION, Observation, Trajectories, UNSEEN};
use restive_pipeline::generate::Synthetic;

/// The sizes that the caller has named, each to be taken once.
struct Sizes<'py>(Bound<'py, PyDict>);

impl<'py> Sizes<'py> {
    fn take(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found = self.0.get_item(name)?;
        if found.is_some() {
            self.0.del_item(name)?;
        }
        Ok(found)
    }

    /// Replaces a count where the caller has named it.
    fn count(&self, name: &str, target: &mut usize) -> PyResult<()> {
        if let Some(found) = self.take(name)? {
            *target = found.extract::<Whole>()?.between(name, 0, u32::MAX as usize)?;
        }
        Ok(())
    }

    /// Replaces a number where the caller has named it.
    fn number(&self, name: &str, target: &mut f64) -> PyResult<()> {
        if let Some(found) = self.take(name)? {
            *target = found.extract::<Number>()?.0;
        }
        Ok(())
    }

    /// Refuses what nobody has taken.
    fn finish(&self, domain: &str) -> PyResult<()> {
        match self.0.keys().iter().next() {
            None => Ok(()),
            Some(name) => {
                Err(wrong("sizes", &format!("those of the domain {domain:?}"), name.cast::<PyString>()?))
            }
        }
    }
}

/// What to generate, as the caller describes it.
fn described(domain: &str, sizes: Bound<'_, PyDict>) -> PyResult<Synthetic> {
    let sizes = Sizes(sizes.copy()?);
    let described = match domain {
        "maternal" => Synthetic::Maternal(maternal(&sizes)?),
        "two-state" => Synthetic::TwoState(synthetic(domain, Domain::two_state(), &sizes)?),
        "five-state" => Synthetic::FiveState(synthetic(domain, Domain::five_state(), &sizes)?),
        "collapsing" => Synthetic::Collapsing(synthetic(domain, Domain::collapsing(), &sizes)?),
        _ => {
            let expected = "'two-state', 'five-state', 'collapsing' or 'maternal'";
            return Err(wrong("domain", expected, format_args!("{domain:?}")));
        }
    };
    sizes.finish(domain)?;
    Ok(described)
}

/// The instances of a domain, a dictionary each; `restive.generate` says what is in them.
#[pyfunction]
fn _generate<'py>(
    py: Python<'py>,
    domain: &str,
    seed: Seed,
    sizes: Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyList>> {
    let seed = seed.0;
    let instances = match described(domain, sizes)? {
        Synthetic::Maternal(programme) => {
            let Maternal { groups, people, weeks, .. } = programme;
            check_memory("instances", &[groups, people, weeks + 1 + 43 + 16])?;
            threads::run(py, || programme.generate(seed))?.map_err(raise)?.instances
        }
        Synthetic::TwoState(made) | Synthetic::FiveState(made) | Synthetic::Collapsing(made) => {
            let Domain { instances, arms, horizon, trajectories, states, .. } = made;
            let log = trajectories.saturating_mul(horizon + 1).saturating_mul(3);
            let each = states.saturating_mul(states).saturating_mul(8).saturating_add(log);
            check_memory("instances", &[instances, arms, each.saturating_add(160)])?;
            threads::run(py, || made.generate(seed))?.map_err(raise)?
        }
    };
    PyList::new(py, instances.iter().map(|instance| dictionary(py, instance)).collect::<PyResult<Vec<_>>>()?)
}

/// The study that `restive generate` writes.
#[pyfunction]
fn _generate_study(
    py: Python<'_>,
    domain: &str,
    seed: Seed,
    sizes: Bound<'_, PyDict>,
) -> PyResult<NativeStudy> {
    let (seed, described) = (seed.0, described(domain, sizes)?);
    Ok(NativeStudy { study: threads::run(py, || described.study(seed))?.map_err(of_pipeline)?, folder: None })
}

fn synthetic(name: &str, mut domain: Domain, sizes: &Sizes<'_>) -> PyResult<Domain> {
    sizes.count("states", &mut domain.states)?;
    sizes.count("instances", &mut domain.instances)?;
    sizes.count("arms", &mut domain.arms)?;
    sizes.count("budget", &mut domain.budget)?;
    sizes.count("horizon", &mut domain.horizon)?;
    sizes.count("trajectories", &mut domain.trajectories)?;
    sizes.count("features_kept", &mut domain.features_kept)?;
    sizes.number("margin", &mut domain.margin)?;
    sizes.number("feature_noise", &mut domain.feature_noise)?;
    sizes.number("discount", &mut domain.discount)?;
    if name == "collapsing"
        && let Some(chain) = sizes.take("chain")?
    {
        let beliefs = sizes.take("beliefs")?.map(|beliefs| beliefs.extract()).transpose()?;
        if let Some(chain) = chain_of("collapsing", Some(&chain), beliefs)? {
            domain.observation = Observation::Collapsing(chain);
        }
    }
    Ok(domain)
}

fn maternal(sizes: &Sizes<'_>) -> PyResult<Maternal> {
    let mut programme = Maternal::default();
    sizes.count("groups", &mut programme.groups)?;
    sizes.count("people", &mut programme.people)?;
    sizes.count("budget", &mut programme.budget)?;
    sizes.count("weeks", &mut programme.weeks)?;
    sizes.number("discount", &mut programme.discount)?;
    sizes.number("stay_disengaged", &mut programme.stay_disengaged)?;
    sizes.number("stay_engaged", &mut programme.stay_engaged)?;
    sizes.number("baseline_spread", &mut programme.baseline_spread)?;
    sizes.number("effect", &mut programme.effect)?;
    sizes.number("effect_spread", &mut programme.effect_spread)?;
    sizes.number("explained_baseline", &mut programme.explained_baseline)?;
    sizes.number("explained_effect", &mut programme.explained_effect)?;
    Ok(programme)
}

/// An instance as arrays, by the names of `restive.Instance`.
pub(crate) fn dictionary<'py>(py: Python<'py>, instance: &Instance) -> PyResult<Bound<'py, PyDict>> {
    let log = instance.trajectories();
    let decided = s![.., ..log.steps() - 1, ..];
    let state = log.state().mapv(|s| if s == UNSEEN { -1 } else { i64::from(s) });
    let action = log.action().slice(decided).mapv(|a| if a == NO_ACTION { -1 } else { a as i8 });
    let decisions =
        |array: ArrayView3<'_, f64>| PyArray3::from_owned_array(py, array.slice(decided).to_owned());
    let parts = PyDict::new(py);
    parts.set_item("features", PyArray2::from_owned_array(py, instance.features().to_owned()))?;
    parts.set_item("state", PyArray3::from_owned_array(py, state))?;
    parts.set_item("action", PyArray3::from_owned_array(py, action))?;
    parts.set_item("propensity", log.propensity().map(decisions))?;
    parts.set_item("reward", log.reward().map(decisions))?;
    let available = log.available().map(|all| PyArray3::from_owned_array(py, all.to_owned()));
    parts.set_item("available", available)?;
    parts.set_item("rewards", PyArray2::from_owned_array(py, instance.reward().view().to_owned()))?;
    parts.set_item("P", instance.truth().map(|p| PyArray4::from_owned_array(py, p.view().to_owned())))?;
    parts.set_item("budget", instance.budget())?;
    parts.set_item("discount", instance.discount())?;
    parts.set_item("chain", instance.observation().chain().map(|chain| chain.beliefs()))?;
    parts.set_item("last", last(py, log)?)?;
    Ok(parts)
}

/// What was logged at the last step besides states, `[J,N]`; none where nothing was.
fn last<'py>(py: Python<'py>, log: &Trajectories) -> PyResult<Option<Bound<'py, PyDict>>> {
    let step = log.steps() - 1;
    let action = log.action().index_axis_move(Axis(1), step);
    let of = |values: ArrayView3<'_, f64>| values.index_axis_move(Axis(1), step).to_owned();
    let reward = log.reward().map(of);
    let is_earned = reward.as_ref().is_some_and(|reward| reward.iter().any(|r| !r.is_nan()));
    if !is_earned && action.iter().all(|a| *a == NO_ACTION) {
        return Ok(None);
    }
    let parts = PyDict::new(py);
    let action = action.mapv(|a| if a == NO_ACTION { -1 } else { a as i8 });
    parts.set_item("action", PyArray2::from_owned_array(py, action))?;
    let numbers = |array| PyArray2::from_owned_array(py, array);
    parts.set_item("propensity", log.propensity().map(of).map(numbers))?;
    parts.set_item("reward", reward.map(numbers))?;
    Ok(Some(parts))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_generate, module)?)?;
    module.add_function(wrap_pyfunction!(_generate_study, module)?)
}
