//! Cards of trained models.

use serde_json::json;
use std::fs;
use std::path::Path;

/// Writes on the card of a model that effects of calls are identified: fixtures have too few calls for that, and their suites test
/// what is stated.
///
/// # Panics
/// If the folder has no card.
pub fn identify_effects(model: &Path) {
    let path = model.join("card.json");
    let mut card: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert!(card.get("identification").is_some(), "no card of a model: {}", path.display());
    card["identification"] = json!("identified");
    fs::write(&path, card.to_string()).unwrap();
}
