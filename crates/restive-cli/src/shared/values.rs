//! Values that options of several commands take.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::fmt::Debug;
use std::str::FromStr;

use restive_pipeline::options::INDEX_DISCOUNT;
pub(crate) use restive_pipeline::temperature;
use restive_pipeline::threads::MOST_THREADS;

pub(crate) fn discount(text: &str) -> Result<f64, String> {
    INDEX_DISCOUNT.parse(text)
}

/// How many threads to compute with.
pub(crate) fn threads() -> impl TypedValueParser<Value = u16> {
    clap::value_parser!(u16).range(1..=i64::from(MOST_THREADS))
}

/// A choice by its name; help lists all of them with their sentences.
pub(crate) fn choice<T: FromStr<Err: Debug> + Clone + Send + Sync + 'static>(
    described: impl Iterator<Item = (&'static str, &'static str)>,
) -> impl TypedValueParser<Value = T> {
    let values = described.map(|(name, sentence)| PossibleValue::new(name).help(sentence));
    PossibleValuesParser::new(values).map(|name| name.parse().expect("one of those that are listed"))
}

pub(crate) fn yes_or_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("expected yes or no".into()),
    }
}
