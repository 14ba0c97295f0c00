//! What a training is asked for, from the parameters of an estimator.

use crate::refusal::of_pipeline;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use restive::predictor::Precision;
use restive_pipeline::options::PRECISION;
use restive_pipeline::{Asked, PRECISION_CAP, temperature};
use std::str::FromStr;

/// What is asked for, from keywords; what is None is left to the profile.
pub(crate) fn asked_for(asked: &Bound<'_, PyDict>) -> PyResult<Asked> {
    let given = |name: &str| asked.get_item(name).map(|given| given.filter(|given| !given.is_none()));
    let refused = |name: &str, found: &Bound<'_, PyAny>, expected: &str| {
        PyValueError::new_err(format!("{name}: found {found:?}, expected {expected}"))
    };
    fn choice<T: FromStr<Err = String>>(name: &str, text: &Bound<'_, PyAny>) -> PyResult<T> {
        let parsed = match text.extract::<String>() {
            Ok(text) => text.parse(),
            Err(_) => Err(format!("found {text:?}, expected text")),
        };
        parsed.map_err(|message| PyValueError::new_err(format!("{name}: {message}")))
    }
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
        resolved.predictor = choice("predictor", &x)?;
    }
    if let Some(x) = given("profile")? {
        resolved.profile = choice("profile", &x)?;
    }
    resolved.preset = given("preset")?.map(|x| choice("preset", &x)).transpose()?;
    resolved.value = given("value")?.map(|x| choice("value", &x)).transpose()?;
    if let Some(x) = given("temperature")? {
        let text = x.extract::<String>().unwrap_or_default();
        let expected = |text: String| refused("temperature", &x, text.trim_start_matches("expected "));
        resolved.temperature = Some(temperature(&text).map_err(expected)?);
    }
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
    resolved.seed = count("random_state")?.unwrap_or(resolved.seed);
    resolved.check().map_err(of_pipeline)?;
    Ok(resolved)
}
