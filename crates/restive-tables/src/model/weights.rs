//! Named arrays of float64 as safetensors: a header of names and shapes, then the numbers, little-endian.

use crate::error::{Error, Result};
use crate::show;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde::Deserialize;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Named arrays: (name, shape, values in row-major order).
pub type Weights = Vec<(String, Vec<usize>, Vec<f64>)>;

pub(super) fn serialise(
    path: &Path,
    weights: &Weights,
    header: Option<HashMap<String, String>>,
) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(weights.len());
    for (k, (name, shape, values)) in weights.iter().enumerate() {
        if weights[..k].iter().any(|(other, ..)| other == name) {
            return Err(Error::content(path, array(name), "a second array of the name", "one"));
        }
        check(path, name, values)?;
        let size = shape.iter().product::<usize>();
        if size != values.len() {
            let found = format!("{} numbers", values.len());
            return Err(Error::content(
                path,
                array(name),
                found,
                format!("{size}, as the shape {shape:?} says"),
            ));
        }
        bytes.push(values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    }
    let views = weights.iter().zip(&bytes).map(|((name, shape, _), bytes)| {
        (name, TensorView::new(Dtype::F64, shape.clone(), bytes).expect("as many bytes as the shape says"))
    });
    serialize(views, header)
        .map_err(|e| Error::content(path, "", show::sentence(&e.to_string()), "arrays that can be written"))
}

/// The arrays, sorted by name, and the texts of the header.
pub(super) fn deserialise(path: &Path, bytes: &[u8]) -> Result<(Weights, HashMap<String, String>)> {
    let damaged = |found: String| damaged(path, &found);
    let arrays = SafeTensors::deserialize(bytes).map_err(|e| damaged(e.to_string()))?;
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|e| damaged(e.to_string()))?;
    let mut weights = Weights::new();
    for (name, view) in arrays.iter() {
        if view.dtype() != Dtype::F64 {
            return Err(Error::content(
                path,
                array(name),
                format!("numbers of type {:?}", view.dtype()),
                "F64",
            ));
        }
        let values: Vec<f64> = view.data().as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
        check(path, name, &values)?;
        weights.push((name.into(), view.shape().to_vec(), values));
    }
    weights.sort_by(|a, b| a.0.cmp(&b.0));
    Ok((weights, header.metadata().clone().unwrap_or_default()))
}

/// The texts of the header alone, which a file that was cut off still has.
pub(super) fn read_header(path: &Path) -> Result<HashMap<String, String>> {
    const LONGEST: u64 = 100 << 20;
    #[derive(Deserialize)]
    struct Header {
        #[serde(rename = "__metadata__", default)]
        texts: HashMap<String, String>,
    }
    let mut file = File::open(path).map_err(Error::io(path, "open"))?;
    let mut length = [0; 8];
    file.read_exact(&mut length).map_err(|_| damaged(path, "no header"))?;
    let (length, mut text) = (u64::from_le_bytes(length), Vec::new());
    file.take(length.min(LONGEST)).read_to_end(&mut text).map_err(Error::io(path, "read"))?;
    let header: Header = serde_json::from_slice(&text).map_err(|_| damaged(path, "no header"))?;
    Ok(header.texts)
}

fn damaged(path: &Path, found: &str) -> Error {
    Error::Damaged { path: path.into(), format: "safetensors", found: show::sentence(found) }
}

fn check(path: &Path, name: &str, values: &[f64]) -> Result<()> {
    match values.iter().find(|x| !x.is_finite()) {
        Some(found) => Err(Error::content(path, array(name), found.to_string(), "finite numbers")),
        None => Ok(()),
    }
}

fn array(name: &str) -> String {
    format!("array {}", show::name(name))
}
