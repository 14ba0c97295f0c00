//! The table of true transitions, passed by once: checked as in a study that is read whole, hashed, and not kept.

use super::people::People;
use crate::by_name;
use crate::error::Result;
use crate::study::arms::expected_name;
use crate::study::fingerprint::sums::Bytes;
use crate::study::table::Origin;
use crate::study::truth::{ONE_ROW, TruthTable, second, unknown};
use ndarray::Array4;
use restive::{Layout, Transition};
use std::path::Path;

/// The sum of the hashes of everybody's true transitions.
pub(super) fn read(path: &Path, people: &People, m: usize) -> Result<u128> {
    let mut truth = TruthTable::open(Origin::File(path), people.instances.len(), m)?;
    let mut has_row = vec![false; people.len()];
    let (mut sum, mut bytes) = (0u128, Bytes::default());
    while let Some(batch) = truth.table.next_batch()? {
        for row in 0..batch.rows {
            let [instance, arm] = truth.names(&batch, row);
            let bad = |found: String, expected: &str| Err(truth.bad(&batch, row, found, expected));
            let Some(k) = (if truth.has_instance { people.find_instance(instance) } else { Some(0) }) else {
                let names = people.instances.iter().map(String::as_str);
                let expected = expected_name(instance, "an instance of the table of arms", names);
                return bad(unknown(None, instance), &expected);
            };
            let Some(position) = people.find(k, arm) else {
                let expected = expected_name(arm, "an arm of the table of arms", people.names_of(k));
                return bad(unknown(Some(instance), arm), &expected);
            };
            if std::mem::replace(&mut has_row[position], true) {
                return bad(second(instance), ONE_ROW);
            }
            let mut values = Array4::zeros((1, m, 2, m));
            truth.fill(&batch, row, values.as_slice_mut().expect("contiguous"))?;
            let values = Transition::new(values, Layout::Nsas).map_err(|error| match error {
                restive::Error::Transition { fault, .. } => truth.refused(batch.row(row), arm, fault),
                other => unreachable!("the shape was made here: {other}"),
            })?;
            sum = sum.wrapping_add(bytes.truth(&people.instances[k], arm, values.view().iter()));
        }
    }
    let absent = (0..people.len()).filter(|position| !has_row[*position]);
    let first = absent.min_by(|a, b| {
        let [(k, _), (other, _)] = [*a, *b].map(|position| people.place(position));
        k.cmp(&other).then_with(|| by_name(people.name(*a), people.name(*b)))
    });
    match first {
        None => Ok(sum),
        Some(position) => {
            Err(truth.absent(&people.instances[people.place(position).0], people.name(position)))
        }
    }
}
