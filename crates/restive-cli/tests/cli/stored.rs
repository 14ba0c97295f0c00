//! Models that earlier versions wrote are read, mean what they meant, and lose nothing.
//!
//! `tests/stored` has models of version 0.1.0 in every predictor and objective, the studies they were trained on, and the plans
//! that the version planned with them.

use crate::harness::{cli, stderr};
use restive_tables::Model;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn stored() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stored")
}

fn models() -> Vec<PathBuf> {
    let entries = fs::read_dir(stored()).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.join("card.json").exists()).collect()
}

#[test]
fn every_stored_model_plans_as_it_did() {
    let all = models();
    assert_eq!(all.len(), 9);
    for model in all {
        let folder = cli();
        let name = model.file_name().unwrap().to_str().unwrap();
        let study = if name.starts_with("labels") { "labels" } else { "study" };
        let (model, study) = (model.display(), stored().join(study));
        folder.run(&format!("plan {model} {} --seed 1 --out plan.csv", study.display())).success();
        let expected = fs::read_to_string(stored().join(format!("plans/{name}.csv"))).unwrap();
        assert_eq!(fs::read_to_string(folder.path("plan.csv")).unwrap(), expected, "{name}");
    }
}

#[test]
fn a_stored_card_is_written_back_to_the_byte() {
    for model in models() {
        let folder = cli();
        Model::read(&model).unwrap().write(&folder.path("copy"), false).unwrap();
        for file in ["card.json", "weights.safetensors"] {
            let bytes = |folder: &Path| fs::read(folder.join(file)).unwrap();
            assert!(bytes(&model) == bytes(&folder.path("copy")), "{}/{file}", model.display());
        }
    }
}

#[test]
fn a_card_of_an_unknown_version_is_refused_with_both_versions() {
    let folder = cli();
    fs::create_dir(folder.path("model")).unwrap();
    for file in ["card.json", "weights.safetensors"] {
        fs::copy(stored().join("network").join(file), folder.path("model").join(file)).unwrap();
    }
    let card = fs::read_to_string(folder.path("model/card.json")).unwrap();
    let card = card.replace("\"schema\": 1", "\"schema\": 2").replace("\"0.1.0\"", "\"9.0.0\"");
    fs::write(folder.path("model/card.json"), card).unwrap();
    let study = stored().join("study");
    let said = stderr(&folder.run(&format!("plan model {}", study.display())).failure().code(1));
    assert!(said.contains("found schema 2 (written by restive 9.0.0), expected schema 1"), "{said}");
}
