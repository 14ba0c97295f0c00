//! Trials of an index policy: the inner half of `restive.trial`.

use crate::border::{Seed, check_shape, floats, integers};
use crate::error::raise;
use crate::threads::run;
use ndarray::{Array1, Array2, Ix1, Ix2, Ix4};
use numpy::PyReadonlyArrayDyn;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use restive::trial::{
    Analysis, Asked, Clusters, Design, Effect, Estimator, Gap, Group, Interval, Parts, Power, Record, Rule,
    Rules, Simulated, Unit, World, analyse, assign, power,
};
use restive::{Layout, Transition};

fn matrix(what: &str, object: &Bound<'_, PyAny>, rows: usize) -> PyResult<Array2<f64>> {
    let array: PyReadonlyArrayDyn<'_, f64> = floats(what, object)?;
    let view = array.as_array();
    check_shape(
        what,
        &format!("shape [{rows}, …]"),
        view.shape(),
        view.ndim() == 2 && view.shape()[0] == rows,
    )?;
    Ok(view.into_dimensionality::<Ix2>().expect("two axes").to_owned())
}

fn truths(what: &str, object: &Bound<'_, PyAny>) -> PyResult<Vec<bool>> {
    let array = floats(what, object)?;
    let view = array.as_array();
    match view.iter().find(|x| **x != 0.0 && **x != 1.0) {
        Some(found) => Err(PyValueError::new_err(format!("{what}: found {found}, expected 0 or 1"))),
        None => Ok(view.iter().map(|x| *x == 1.0).collect()),
    }
}

fn estimator(name: &str) -> PyResult<Estimator> {
    Estimator::ALL.into_iter().find(|estimator| estimator.name() == name).ok_or_else(|| {
        let names = Estimator::ALL.map(Estimator::name).join(", ");
        PyValueError::new_err(format!("estimator: found {name:?}, expected one of {names}"))
    })
}

fn interval<'py>(py: Python<'py>, of: Option<Interval>) -> PyResult<Option<Bound<'py, PyDict>>> {
    of.map(|of| {
        let said = PyDict::new(py);
        for (name, number) in [("estimate", of.estimate), ("se", of.se), ("low", of.low), ("high", of.high)] {
            said.set_item(name, number)?;
        }
        Ok(said)
    })
    .transpose()
}

fn effect<'py>(py: Python<'py>, of: &Effect) -> PyResult<Bound<'py, PyDict>> {
    let said = PyDict::new(py);
    for (name, number) in [
        ("estimate", of.estimate),
        ("se", of.se),
        ("low", of.low),
        ("high", of.high),
        ("detectable", of.detectable()),
    ] {
        said.set_item(name, number)?;
    }
    said.set_item("people", of.people)?;
    said.set_item("called", of.called)?;
    said.set_item("per_person_called", interval(py, of.per_person_called())?)?;
    said.set_item("per_call", interval(py, of.per_call())?)?;
    Ok(said)
}

/// All estimators on one record, as a dict.
#[pyfunction]
fn trial_analyse<'py>(
    py: Python<'py>,
    policy: &Bound<'py, PyAny>,
    outcome: &Bound<'py, PyAny>,
    called: &Bound<'py, PyAny>,
    score: Option<&Bound<'py, PyAny>>,
    tie: Option<&Bound<'py, PyAny>>,
    control_score: Option<&Bound<'py, PyAny>>,
    prognosis: Option<&Bound<'py, PyAny>>,
    covariates: Option<&Bound<'py, PyAny>>,
    cluster: Option<&Bound<'py, PyAny>>,
    protocol: Option<&str>,
) -> PyResult<Bound<'py, PyDict>> {
    let group: Vec<Group> = truths("policy", policy)?
        .into_iter()
        .map(|is| if is { Group::Policy } else { Group::Control })
        .collect();
    let n = group.len();
    let outcome = matrix("outcome", outcome, n)?;
    let shape = outcome.raw_dim();
    let call = Array2::from_shape_vec(shape, truths("called", called)?)
        .map_err(|_| PyValueError::new_err("called: found another shape, expected that of outcome"))?;
    let same = |what: &str, object: &Bound<'py, PyAny>| -> PyResult<Array2<f64>> {
        let found = matrix(what, object, n)?;
        check_shape(what, "the shape of outcome", found.shape(), found.raw_dim() == shape)?;
        Ok(found)
    };
    let rules = match (score, tie) {
        (Some(score), Some(tie)) => {
            let tie = same("tie", tie)?;
            let policy = Rule::of_lists(same("score", score)?, &tie, &call, &group, Group::Policy);
            let control = control_score
                .map(|score| {
                    Ok::<_, PyErr>(Rule::of_lists(
                        same("control_score", score)?,
                        &tie,
                        &call,
                        &group,
                        Group::Control,
                    ))
                })
                .transpose()?;
            let prognosis = prognosis.map(|object| same("prognosis", object)).transpose()?;
            Ok(Rules { policy, control, tie, prognosis })
        }
        _ => Err(Gap::NotLogged),
    };
    let covariates = match covariates {
        Some(object) => matrix("covariates", object, n)?,
        None => Array2::zeros((n, 0)),
    };
    let cluster = match cluster {
        Some(object) => {
            let array = integers("cluster", object)?;
            let numbers: Vec<i64> = array.as_array().iter().copied().collect();
            let mut known = numbers.clone();
            known.sort_unstable();
            known.dedup();
            let number = |x: &i64| known.binary_search(x).expect("one of them");
            Some(numbers.iter().map(number).collect::<Vec<usize>>())
        }
        None => None,
    };
    let record = Record::new(Parts { group, outcome, call, covariates, cluster, rules }).map_err(raise)?;
    let asked = Asked { protocol: protocol.map(estimator).transpose()? };
    let found = run(py, || analyse(&record, &asked))?;
    said(py, &found)
}

fn said<'py>(py: Python<'py>, found: &Analysis) -> PyResult<Bound<'py, PyDict>> {
    let said = PyDict::new(py);
    let effects = PyDict::new(py);
    for (estimator, answer) in &found.effects {
        match answer {
            Ok(answer) => effects.set_item(estimator.name(), effect(py, answer)?)?,
            Err(refusal) => effects.set_item(estimator.name(), refusal.to_string())?,
        }
    }
    said.set_item("effects", effects)?;
    said.set_item("primary", found.primary.map(Estimator::name))?;
    said.set_item("departs_from_protocol", found.departs_from_protocol)?;
    said.set_item("apart", found.apart)?;
    said.set_item("is_contradictory", found.is_contradictory())?;
    said.set_item("missing_p", found.missing.map(|missing| missing.test.p))?;
    Ok(said)
}

/// The arm of each unit, by position in the shares.
#[pyfunction]
fn trial_assign(
    ids: Vec<String>,
    score: &Bound<'_, PyAny>,
    stratum: Vec<String>,
    shares: Vec<usize>,
    seed: Seed,
) -> PyResult<Vec<usize>> {
    let score = floats("score", score)?;
    let score = score.as_array();
    let n = ids.len();
    check_shape("score", &format!("shape [{n}]"), score.shape(), score.shape() == [n])?;
    check_shape("stratum", &format!("shape [{n}]"), &[stratum.len()], stratum.len() == n)?;
    let mut known: Vec<&String> = stratum.iter().collect();
    known.sort_unstable();
    known.dedup();
    let units: Vec<Unit<'_>> = (0..n)
        .map(|i| Unit {
            id: &ids[i],
            stratum: known.binary_search(&&stratum[i]).expect("one of them"),
            score: score[i],
        })
        .collect();
    assign(&units, &shares, seed.0).map_err(raise)
}

/// What every estimator does at every size and effect, a dict each.
#[pyfunction]
fn trial_power<'py>(
    py: Python<'py>,
    transitions: &Bound<'py, PyAny>,
    reward: &Bound<'py, PyAny>,
    start: &Bound<'py, PyAny>,
    index: &Bound<'py, PyAny>,
    control_index: Option<&Bound<'py, PyAny>>,
    weeks: usize,
    shares: [usize; 2],
    budget: [usize; 2],
    missing: f64,
    clusters: Option<(Vec<usize>, f64)>,
    sizes: Vec<f64>,
    effects: Vec<f64>,
    trials: usize,
    seed: Seed,
) -> PyResult<Bound<'py, PyList>> {
    let rows = floats("transitions", transitions)?;
    let rows = rows.as_array();
    check_shape("transitions", "shape [N,M,2,M]", rows.shape(), rows.ndim() == 4)?;
    let rows = rows.into_dimensionality::<Ix4>().expect("four axes").to_owned();
    let transition = Transition::new(rows, Layout::Nsas).map_err(raise)?;
    let reward = floats("reward", reward)?;
    check_shape("reward", "shape [M]", reward.as_array().shape(), reward.as_array().ndim() == 1)?;
    let reward: Array1<f64> = reward.as_array().into_dimensionality::<Ix1>().expect("one axis").to_owned();
    let n = transition.arms();
    let start = matrix("start", start, n)?;
    let index = matrix("index", index, n)?;
    let control = control_index.map(|object| matrix("control_index", object, n)).transpose()?;
    let design = Design {
        weeks,
        shares,
        budget,
        missing,
        clusters: clusters.map(|(of, sd)| Clusters { of, sd }),
        sizes,
    };
    let found = run(py, || {
        let world = World {
            transition: &transition,
            reward: reward.as_slice().expect("contiguous"),
            start: start.view(),
            index: index.view(),
            control: control.as_ref().map(|table| table.view()),
        };
        power(&world, &design, &effects, trials, seed.0)
    })?
    .map_err(raise)?;
    PyList::new(py, found.iter().map(|row| at(py, row)).collect::<PyResult<Vec<_>>>()?)
}

fn at<'py>(py: Python<'py>, of: &Power) -> PyResult<Bound<'py, PyDict>> {
    let said = PyDict::new(py);
    said.set_item("estimator", of.estimator.name())?;
    said.set_item("answered", of.answered)?;
    said.set_item("refused", of.refused.map(|refusal| refusal.to_string()))?;
    for (name, number) in [
        ("size", of.size),
        ("effect", of.effect),
        ("people", of.people),
        ("called", of.called),
        ("sd", of.sd),
        ("detectable", of.detectable),
    ] {
        said.set_item(name, number)?;
    }
    for (name, Simulated { value, error }) in [
        ("truth", of.truth),
        ("estimate", of.estimate),
        ("bias", of.bias),
        ("se", of.se),
        ("coverage", of.coverage),
        ("rejection", of.rejection),
    ] {
        said.set_item(name, value)?;
        said.set_item(format!("{name}_error"), error)?;
    }
    said.set_item("detectable_per_person_called", of.detectable_per_person_called)?;
    Ok(said)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(trial_analyse, module)?)?;
    module.add_function(wrap_pyfunction!(trial_assign, module)?)?;
    module.add_function(wrap_pyfunction!(trial_power, module)?)
}
