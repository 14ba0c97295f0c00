//! Parameters by name: blocks of one flat vector.

use crate::error::{Error, Result};
use ndarray::{ArrayD, ArrayViewD};

/// A named stretch of the flat vector; blocks follow each other.
pub(super) struct Block {
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
}

impl Block {
    pub(super) fn new(name: impl Into<String>, shape: &[usize]) -> Self {
        Self { name: name.into(), shape: shape.to_vec() }
    }

    fn len(&self) -> usize {
        self.shape.iter().product()
    }
}

pub(super) fn views<'a>(blocks: &[Block], mut flat: &'a [f64]) -> Vec<(String, ArrayViewD<'a, f64>)> {
    let mut views = Vec::with_capacity(blocks.len());
    for block in blocks {
        let (head, rest) = flat.split_at(block.len());
        flat = rest;
        views.push((
            block.name.clone(),
            ArrayViewD::from_shape(block.shape.clone(), head).expect("its length"),
        ));
    }
    views
}

/// The flat vector of some named arrays: every block once, in its shape, finite.
pub(super) fn flatten(blocks: &[Block], named: &[(String, ArrayD<f64>)]) -> Result<Vec<f64>> {
    let mismatch =
        |expected: String, found: &[usize]| Error::Shape { what: "params", expected, found: found.to_vec() };
    if let Some((name, array)) = named.iter().find(|(name, _)| blocks.iter().all(|block| block.name != *name))
    {
        let known: Vec<&str> = blocks.iter().map(|block| block.name.as_str()).collect();
        return Err(mismatch(format!("{} and not {name}", known.join(", ")), array.shape()));
    }
    let mut flat = Vec::new();
    for block in blocks {
        let mut same = named.iter().filter(|(name, _)| *name == block.name);
        let (Some((_, array)), None) = (same.next(), same.next()) else {
            return Err(mismatch(format!("{} of shape {:?}, once", block.name, block.shape), &[]));
        };
        if array.shape() != block.shape {
            return Err(mismatch(format!("{} of shape {:?}", block.name, block.shape), array.shape()));
        }
        if let Some((position, &found)) = array.iter().enumerate().find(|(_, x)| !x.is_finite()) {
            return Err(Error::NotFinite { what: "params", position: flat.len() + position, found });
        }
        flat.extend(array.iter());
    }
    Ok(flat)
}
