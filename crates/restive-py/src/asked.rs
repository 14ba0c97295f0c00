//! What a training or an evaluation is asked for, from keywords.

use crate::refusal::of_pipeline;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use restive::policy::Temperature;
use restive::predictor::Precision;
use restive_pipeline::options::PRECISION;
use restive_pipeline::{Asked, EvaluateAsked, PRECISION_CAP, temperature};
use std::str::FromStr;

fn given<'py>(asked: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    asked.get_item(name).map(|given| given.filter(|given| !given.is_none()))
}

fn refused(name: &str, found: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    PyValueError::new_err(format!("{name}: found {found:?}, expected {expected}"))
}

fn choice<T: FromStr<Err = String>>(name: &str, text: &Bound<'_, PyAny>) -> PyResult<T> {
    let parsed = match text.extract::<String>() {
        Ok(text) => text.parse(),
        Err(_) => Err(format!("found {text:?}, expected text")),
    };
    parsed.map_err(|message| PyValueError::new_err(format!("{name}: {message}")))
}

/// The temperature of a soft policy, where there is one.
fn softness(asked: &Bound<'_, PyDict>) -> PyResult<Option<Temperature>> {
    let Some(found) = given(asked, "temperature")? else { return Ok(None) };
    let text = found.extract::<String>().unwrap_or_default();
    let expected = |text: String| refused("temperature", &found, text.trim_start_matches("expected "));
    temperature(&text).map(Some).map_err(expected)
}

/// What an evaluation is asked for, from keywords; what is None has its default.
pub(crate) fn evaluation_asked(asked: &Bound<'_, PyDict>) -> PyResult<EvaluateAsked> {
    let mut resolved = EvaluateAsked::default();
    if let Some(x) = given(asked, "part")? {
        resolved.part = Some(choice("part", &x)?);
    }
    if let Some(x) = given(asked, "ratio")? {
        resolved.ratio = choice("ratio", &x)?;
    }
    if let Some(x) = given(asked, "estimators")? {
        resolved.estimators = choice("estimators", &x)?;
    }
    resolved.start = given(asked, "start")?.map(|x| choice("start", &x)).transpose()?;
    resolved.behaviour = given(asked, "behaviour")?.map(|x| choice("behaviour", &x)).transpose()?;
    resolved.temperature = softness(asked)?.unwrap_or(resolved.temperature);
    let discount = given(asked, "index_discount")?;
    resolved.index_discount = discount
        .map(|x| x.extract::<f64>().map_err(|_| refused("index_discount", &x, "a number")))
        .transpose()?;
    let count = |name: &str, default: u64| match given(asked, name)? {
        Some(x) => x.extract::<u64>().map_err(|_| refused(name, &x, "a whole number, not negative")),
        None => Ok(default),
    };
    let some = |name: &str| -> PyResult<Option<usize>> {
        given(asked, name)?.map(|_| count(name, 0).map(|x| x as usize)).transpose()
    };
    resolved.runs = some("runs")?;
    resolved.resamples = some("resamples")?;
    resolved.folds = count("folds", resolved.folds as u64)? as usize;
    resolved.deals = some("deals")?;
    resolved.seed = count("seed", resolved.seed)?;
    resolved.check().map_err(of_pipeline)?;
    Ok(resolved)
}

/// What is asked for, from keywords; what is None is left to the profile.
pub(crate) fn asked_for(asked: &Bound<'_, PyDict>) -> PyResult<Asked> {
    let given = |name: &str| given(asked, name);
    let number = |name| {
        given(name)?.map(|x| x.extract::<f64>().map_err(|_| refused(name, &x, "a number"))).transpose()
    };
    let count = |name| {
        let expected = "a whole number, not negative";
        given(name)?.map(|x| x.extract::<u64>().map_err(|_| refused(name, &x, expected))).transpose()
    };
    let mut resolved = Asked::default();
    if let Some(x) = given("objective")? {
        resolved.objective = choice("objective", &x)?;
    }
    if let Some(x) = given("predictor")? {
        resolved.predictor = Some(choice("predictor", &x)?);
    }
    if let Some(x) = given("profile")? {
        resolved.profile = choice("profile", &x)?;
    }
    resolved.preset = given("preset")?.map(|x| choice("preset", &x)).transpose()?;
    resolved.value = given("value")?.map(|x| choice("value", &x)).transpose()?;
    resolved.temperature = softness(asked)?;
    if let Some(x) = given("precision")? {
        let is_held_out = x.extract::<String>().is_ok_and(|text| text == "held-out");
        resolved.precision = Some(match is_held_out {
            true => Precision::HeldOut { cap: PRECISION_CAP },
            false => {
                let found = x.extract::<f64>();
                Precision::Fixed(found.map_err(|_| refused("precision", &x, PRECISION.expected))?)
            }
        });
    }
    if let Some(x) = given("hidden")? {
        let found = x.extract::<Vec<usize>>();
        resolved.hidden = Some(found.map_err(|_| refused("hidden", &x, "a list of whole numbers"))?);
    }
    if let Some(x) = given("drop")? {
        resolved.drop = x.extract::<Vec<String>>().map_err(|_| refused("drop", &x, "a list of names"))?;
    }
    if let Some(x) = given("standardise")? {
        let found = x.extract::<bool>();
        resolved.standardise = Some(found.map_err(|_| refused("standardise", &x, "True, False or None"))?);
    }
    resolved.index_discount = number("index_discount")?;
    resolved.learning_rate = number("learning_rate")?;
    resolved.dropout = number("dropout")?;
    resolved.epochs = count("epochs")?.map(|epochs| epochs as usize);
    resolved.ensemble = count("ensemble")?.map_or(resolved.ensemble, |ensemble| ensemble as usize);
    resolved.seed = count("seed")?.unwrap_or(resolved.seed);
    resolved.check().map_err(of_pipeline)?;
    Ok(resolved)
}
