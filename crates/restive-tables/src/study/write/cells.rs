//! The columns of a study's tables and their cells, as they are written.

use crate::study::StudyInstance;
use arrow_array::{ArrayRef, Float64Array, Int32Array, StringArray};
use arrow_schema::DataType;
use restive::data::features::Column;
use restive::instance::{NO_ACTION, UNSEEN};
use std::sync::Arc;

pub(super) fn names(names: &[&str]) -> Vec<(String, DataType)> {
    names.iter().map(|name| (name.to_string(), DataType::Utf8)).collect()
}

fn repeated(name: &str, count: usize) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(std::iter::repeat_n(name, count)))
}

pub(super) fn arm_cells(instance: &StudyInstance, has_clusters: bool) -> Vec<ArrayRef> {
    let mut cells = vec![repeated(&instance.name, instance.arms.len())];
    cells.push(Arc::new(StringArray::from_iter_values(&instance.arms)));
    cells.extend(instance.features.columns().iter().map(|column| -> ArrayRef {
        match column {
            Column::Number(values) => Arc::new(Float64Array::from_iter(values.iter().map(|x| known(*x)))),
            Column::Text(values) => Arc::new(StringArray::from_iter(values)),
        }
    }));
    cells.extend(
        instance
            .clusters
            .iter()
            .filter(|_| has_clusters)
            .map(|names| -> ArrayRef { Arc::new(StringArray::from_iter_values(names)) }),
    );
    cells.extend(instance.split.iter().map(|parts| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(parts.iter().map(|part| part.name())))
    }));
    cells
}

fn known(x: f64) -> Option<f64> {
    (!x.is_nan()).then_some(x)
}

pub(super) fn truth_columns(m: usize) -> Vec<(String, DataType)> {
    let mut columns = names(&["instance", "arm"]);
    let entry = |k: usize| format!("p_{}_{}_{}", k / (2 * m), k / m % 2, k % m);
    columns.extend((0..2 * m * m).map(|k| (entry(k), DataType::Float64)));
    columns
}

pub(super) fn truth_cells(instance: &StudyInstance) -> Vec<ArrayRef> {
    let truth = instance.truth.as_ref().expect("truth is known of all instances or of none");
    let mut cells = vec![repeated(&instance.name, instance.arms.len())];
    cells.push(Arc::new(StringArray::from_iter_values(&instance.arms)));
    let p = truth.view();
    let p = p.as_slice().expect("contiguous");
    let width = p.len() / instance.arms.len();
    cells.extend((0..width).map(|k| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values(p.iter().skip(k).step_by(width).copied()))
    }));
    cells
}

/// What the table of trajectories has.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// of each state, where states are seen at pulls only
    pub(super) labels: Option<usize>,
    pub(super) has_propensity: bool,
    pub(super) has_reward: bool,
    pub(super) has_available: bool,
    /// whether the names of trajectories do not say in which order they come
    pub(super) has_order: bool,
}

pub(super) fn trajectory_columns(
    Shape { labels, has_propensity, has_reward, has_available, has_order }: Shape,
) -> Vec<(String, DataType)> {
    let mut columns = names(&["instance", "trajectory"]);
    columns.push(("t".into(), DataType::Int32));
    columns.extend(names(&["arm"]));
    let labels: &[&str] = if labels.is_some() { &["last_state", "since"] } else { &[] };
    let whole = labels.iter().chain(&["state", "action"]);
    columns.extend(whole.map(|name| (name.to_string(), DataType::Int32)));
    columns.extend(has_propensity.then(|| ("propensity".into(), DataType::Float64)));
    columns.extend(has_reward.then(|| ("reward".into(), DataType::Float64)));
    columns.extend(has_available.then(|| ("available".into(), DataType::Int32)));
    columns.extend(has_order.then(|| ("order".into(), DataType::Int32)));
    columns
}

/// The rows of some steps of one trajectory. Where nothing is known there is no row, but for the first arm, whose rows say how many steps
/// and trajectories there are. In chains of `labels` the state is what a pull saw, which is what the next label begins with.
pub(super) fn trajectory_cells(
    instance: &StudyInstance,
    j: usize,
    steps: std::ops::Range<usize>,
    Shape { labels, has_propensity, has_reward, has_available, has_order }: Shape,
) -> Vec<ArrayRef> {
    let logged = &instance.trajectories;
    let (state, action) = (logged.state(), logged.action());
    let reward = |t: usize, i: usize| logged.reward().and_then(|all| known(all[[j, t, i]]));
    let is_known = |t, i| {
        state[[j, t, i]] != UNSEEN
            || action[[j, t, i]] != NO_ACTION
            || reward(t, i).is_some()
            || !logged.is_available([j, t, i])
    };
    let all = steps.flat_map(|t| (0..logged.arms()).map(move |i| (t, i)));
    let rows: Vec<(usize, usize)> = all.filter(|(t, i)| *i == 0 || is_known(*t, *i)).collect();
    let whole = |cell: &dyn Fn(usize, usize) -> Option<i32>| -> ArrayRef {
        Arc::new(Int32Array::from_iter(rows.iter().map(|(t, i)| cell(*t, *i))))
    };
    let number = |cell: &dyn Fn(usize, usize) -> Option<f64>| -> ArrayRef {
        Arc::new(Float64Array::from_iter(rows.iter().map(|(t, i)| cell(*t, *i))))
    };
    let mut cells = vec![repeated(&instance.name, rows.len())];
    cells.push(repeated(&instance.trajectory_names[j], rows.len()));
    cells.push(whole(&|t, _| Some(t as i32)));
    cells.push(Arc::new(StringArray::from_iter_values(rows.iter().map(|(_, i)| &instance.arms[*i]))));
    let state = |t: usize, i: usize| Some(state[[j, t, i]]).filter(|s| *s != UNSEEN).map(i32::from);
    match labels.map(|labels| labels as i32) {
        None => cells.push(whole(&state)),
        Some(labels) => {
            cells.push(whole(&|t, i| state(t, i).map(|label| label / labels)));
            cells.push(whole(&|t, i| state(t, i).map(|label| label % labels)));
            cells.push(whole(&|t, i| match action[[j, t, i]] {
                1 if t + 1 < logged.steps() => state(t + 1, i).map(|label| label / labels),
                _ => None,
            }));
        }
    }
    cells.push(whole(&|t, i| Some(action[[j, t, i]]).filter(|a| *a != NO_ACTION).map(i32::from)));
    if has_propensity {
        let propensity = logged.propensity();
        cells.push(number(&|t, i| {
            let logged = propensity.as_ref().filter(|_| action[[j, t, i]] != NO_ACTION);
            logged.and_then(|values| known(values[[j, t, i]]))
        }));
    }
    if has_reward {
        cells.push(number(&reward));
    }
    if has_available {
        cells.push(whole(&|t, i| Some(i32::from(logged.is_available([j, t, i])))));
    }
    if has_order {
        cells.push(whole(&|_, _| Some(j as i32)));
    }
    cells
}
