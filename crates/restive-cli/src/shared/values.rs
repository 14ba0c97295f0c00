//! Values that options of several commands take.

pub(crate) use restive_pipeline::{temperature, temperature_text};

pub(crate) fn discount(text: &str) -> Result<f64, String> {
    let found = text.parse::<f64>().map_err(|_| "expected a number from 0 to 1".to_string())?;
    restive::check_discount(found).map(|()| found).map_err(|_| "expected a number from 0 to 1".into())
}
