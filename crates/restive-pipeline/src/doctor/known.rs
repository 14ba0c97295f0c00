//! What is known of people, as standardised numbers `[N,F]` for tests of association: numbers, and categories of columns that have
//! few. Of at most [`MOST`] columns, the first ones; what is missing is an average. No model is made of them.

use ndarray::Array2;
use restive::data::features::{Column, Features};
use restive_tables::Study;
use std::collections::BTreeMap;

/// Columns of numbers.
const MOST: usize = 40;
/// Categories of a column that is taken.
const CATEGORIES: usize = 12;

pub(super) struct Known {
    /// the feature of each column
    pub names: Vec<String>,
    /// `[N,F]`
    pub values: Array2<f64>,
    /// of all instances
    pub features: Option<Features>,
}

impl Known {
    pub(super) fn new(study: &Study) -> Self {
        let tables: Vec<&Features> = study.instances.iter().map(|instance| &instance.features).collect();
        let features = (!tables.is_empty()).then(|| Features::stack(&tables));
        let (mut names, mut columns) = (Vec::new(), Vec::new());
        for (name, column) in features.iter().flat_map(|all| all.names().iter().zip(all.columns())) {
            let made = match column {
                Column::Number(values) => standardised(values).into_iter().collect(),
                Column::Text(values) => categories(values),
            };
            for column in made {
                if columns.len() < MOST {
                    names.push(name.clone());
                    columns.push(column);
                }
            }
        }
        let people = features.as_ref().map_or(0, Features::arms);
        let values = Array2::from_shape_fn((people, columns.len()), |(i, f)| columns[f][i]);
        Self { names, values, features }
    }
}

/// Mean 0 and variance 1, missing ones 0; none where they do not differ.
fn standardised(values: &[f64]) -> Option<Vec<f64>> {
    let known: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
    let n = known.len() as f64;
    let scale = known.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if !(scale > 0.0) {
        return None;
    }
    let mean = known.iter().map(|x| x / scale).sum::<f64>() / n;
    let deviation = (known.iter().map(|x| (x / scale - mean).powi(2)).sum::<f64>() / n).sqrt();
    (deviation > 1e-12).then(|| {
        values.iter().map(|x| if x.is_finite() { (x / scale - mean) / deviation } else { 0.0 }).collect()
    })
}

/// One column for each category but the most frequent.
fn categories(values: &[Option<String>]) -> Vec<Vec<f64>> {
    let mut counts = BTreeMap::<&str, usize>::new();
    for value in values.iter().flatten() {
        *counts.entry(value).or_default() += 1;
        if counts.len() > CATEGORIES {
            return Vec::new();
        }
    }
    let most = counts.iter().max_by_key(|(_, count)| **count).map(|(name, _)| *name);
    let others = counts.keys().filter(|name| Some(**name) != most);
    let column = |category: &&str| {
        let is: Vec<f64> =
            values.iter().map(|value| f64::from(u8::from(value.as_deref() == Some(*category)))).collect();
        standardised(&is)
    };
    others.filter_map(column).collect()
}
