//! Models there and back, and every way to refuse one.

use restive::data::encoding::{ColumnKind, EncodedColumn, Encoding, Standardise};
use restive::data::reference::{Reference, Typical};
use restive_tables::Model;
use restive_tables::model::history::MemberHistory;
use restive_tables::model::{Card, Configuration, History, Identification, SCHEMA};
use serde_json::json;
use std::fs;
use std::path::Path;

fn configuration() -> Configuration {
    let size = json!({"instances": 1, "arms": 8});
    serde_json::from_value(json!({
        "objective": "two-stage", "profile": "published", "predictor": "network", "hidden": [64], "dropout": 0.1,
        "epochs": 50, "has_idle_epoch": true, "learning_rate": 0.01, "schedule": "constant", "epsilon": 1e-7,
        "keep": "last", "patience": null, "index_discount": null, "ensemble": 1, "seed": 7, "standardise": false,
        "drop": [], "observation": "full",
        "split": {"origin": "study", "train": size, "validation": size, "test": size},
    }))
    .unwrap()
}

/// A fit of some epochs, one loss of which is no finite number.
fn member(epochs: usize) -> MemberHistory {
    serde_json::from_value(json!({
        "seed": 3, "status": "stopped early", "kept_epoch": null, "train_loss": vec![Some(0.1 + 0.2); epochs],
        "validation_loss": vec![None::<f64>; epochs], "learning_rate": vec![0.01; epochs],
    }))
    .unwrap()
}

fn model() -> Model {
    let columns = vec![
        EncodedColumn {
            name: "age".into(),
            kind: ColumnKind::Number { mean: 1.0 / 3.0, sd: 0.1 },
            has_missing: true,
        },
        EncodedColumn {
            name: "district".into(),
            kind: ColumnKind::Text { categories: vec!["a, b".into(), "ñ".into()] },
            has_missing: false,
        },
    ];
    let card = Card {
        restive: "0.1.0".into(),
        predictor: serde_json::from_value(
            json!({"kind": "network", "hidden": [64], "dropout": 0.1, "features": 3, "states": 2, "members": 1}),
        )
        .unwrap(),
        encoding: Encoding { standardise: Standardise::Yes, columns, dropped: vec!["id".into()] },
        reference: Some(Reference {
            columns: vec![Typical::Number(1.0 / 3.0), Typical::Category("ñ".into())],
        }),
        configuration: configuration(),
        seed: u64::MAX,
        fingerprint: "00ff".repeat(8),
        identification: Identification::Unknown { reason: "fewer than 200 calls".into() },
        history: History { members: vec![member(1)], loss: None },
        own_record: None,
        unobserved_states: Vec::new(),
        notes: "two\nlines".into(),
    };
    let weights = vec![
        ("bias".to_string(), vec![2], vec![-0.0, f64::MIN_POSITIVE / 2.0]),
        ("empty".to_string(), vec![0, 3], vec![]),
        ("hidden".to_string(), vec![2, 3], vec![1.0 / 3.0, 2.0, 3.0, 4.0, 5.0, f64::MAX]),
        ("scalar".to_string(), vec![], vec![0.1]),
    ];
    Model { card, weights }
}

fn refused(result: restive_tables::Result<Model>, parts: &[&str]) {
    let message = result.unwrap_err().to_string();
    for part in parts {
        assert!(message.contains(part), "no {part:?} in {message}");
    }
    assert!(!message.contains('\n'), "{message}");
}

fn listing(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn what_is_written_is_what_is_read() {
    let (folder, mut model) = (tempfile::tempdir().unwrap(), model());
    let path = folder.path().join("model");
    model.write(&path, false).unwrap();
    let read = Model::read(&path).unwrap();
    assert_eq!(read, model);
    assert!(read.weights[0].2[0].is_sign_negative());
    refused(model.write(&path, false).map(|()| model.clone()), &["a folder with files"]);
    model.card.notes = "again".into();
    model.write(&path, true).unwrap();
    assert_eq!(Model::read(&path).unwrap(), model);

    assert_eq!(model.array("bias", &[2]).unwrap().len(), 2);
    let misfit = |name, shape: &[usize]| model.array(name, shape).unwrap_err().to_string();
    let expected = "weights.safetensors: array bias: found shape [2], expected an array of shape [3]";
    assert_eq!(misfit("bias", &[3]), expected);
    assert!(misfit("none", &[2]).contains("array none: found none"));

    let checkpoint = folder.path().join("checkpoint.safetensors");
    for epoch in 0..3 {
        model.card.history.members.push(member(epoch));
        model.write_checkpoint(&checkpoint, epoch > 0).unwrap();
        assert_eq!(Model::read_checkpoint(&checkpoint).unwrap(), model);
    }
    assert_eq!(listing(folder.path()), 2, "nothing is left behind");
}

#[test]
fn weights_that_are_no_weights_are_not_written() {
    let folder = tempfile::tempdir().unwrap();
    type Change = fn(&mut Model);
    let cases: [(Change, &str); 3] = [
        (|m| m.weights[0].2[0] = f64::NAN, "array bias: found NaN, expected finite numbers"),
        (|m| m.weights[0].1 = vec![3], "array bias: found 2 numbers, expected 3, as the shape [3] says"),
        (|m| m.weights[1].0 = "bias".into(), "array bias: found a second array of the name"),
    ];
    for (change, message) in cases {
        let mut bad = model();
        change(&mut bad);
        for result in [
            bad.write(&folder.path().join("m"), false),
            bad.write_checkpoint(&folder.path().join("c"), false),
        ] {
            refused(result.map(|()| model()), &[message]);
        }
    }
    assert_eq!(listing(folder.path()), 0);
}

#[test]
fn models_that_cannot_be_trusted_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    model().write(&path, false).unwrap();
    let (card_path, weights_path) = (path.join("card.json"), path.join("weights.safetensors"));
    let (card, weights) = (fs::read_to_string(&card_path).unwrap(), fs::read(&weights_path).unwrap());

    let with_card = |text: String| {
        fs::write(&card_path, text).unwrap();
        Model::read(&path)
    };
    let schema = format!("\"schema\": {SCHEMA}");
    assert!(card.contains(&schema));
    let expected = ["found schema 99 (written by restive 0.1.0), expected schema 1"];
    refused(with_card(card.replace(&schema, "\"schema\": 99")), &expected);
    refused(with_card(card.replace("\"seed\"", "\"sed\"")), &["card.json", "sed"]);
    refused(
        with_card(card.replace("\"seed\"", "\"code\": \"import os\", \"seed\"")),
        &["unknown field `code`"],
    );
    refused(with_card(card.replace("two-stage", "three-stage")), &["configuration: ", "three-stage"]);
    refused(
        with_card(card.replace("\"network\",\n    \"members", "\"code\",\n    \"members")),
        &["predictor: ", "code"],
    );
    refused(with_card(card.replace("stopped early", "stopped")), &["history: ", "stopped"]);
    refused(with_card(card.replace("\"sd\": 0.1", "\"sd\": 0.0")), &["sd 0 of feature \"age\""]);
    refused(with_card(card.replace("a, b", "ö")), &["categories of feature \"district\" out of order"]);
    refused(with_card(card[..card.len() / 2].into()), &["card.json", "expected JSON"]);
    refused(with_card("{}".into()), &["found no schema, expected the card of a model"]);
    let hash = card.lines().find(|line| line.starts_with("  \"weights\"")).unwrap();
    refused(with_card(card.replace(hash, "")), &["card.json: weights: found nothing, expected the hash"]);
    with_card(card).unwrap();

    // every cut of the arrays is noticed, and every flipped bit
    for place in 0..weights.len() {
        fs::write(&weights_path, &weights[..place]).unwrap();
        refused(Model::read(&path), &["weights.safetensors: found an unreadable safetensors file"]);
        let mut damaged = weights.clone();
        damaged[place] ^= 0xff;
        fs::write(&weights_path, damaged).unwrap();
        refused(Model::read(&path), &["weights.safetensors"]);
    }
    // the weights of another model, whole and of the same shapes
    let mut other = model();
    other.weights[2].2[1] += 1e-9;
    other.write(&folder.path().join("other"), false).unwrap();
    fs::copy(folder.path().join("other/weights.safetensors"), &weights_path).unwrap();
    refused(Model::read(&path), &["found weights with the hash ", "as card.json says: one of the two files"]);
    let mut not_finite = weights.clone();
    let last = weights.len() - 8;
    not_finite[last..].copy_from_slice(&f64::INFINITY.to_le_bytes());
    fs::write(&weights_path, not_finite).unwrap();
    refused(Model::read(&path), &["found inf, expected finite numbers"]);
    let text = String::from_utf8_lossy(&weights).into_owned();
    assert!(text.contains("\"dtype\":\"F64\""));
    let integers: Vec<u8> = replace(&weights, b"\"F64\"", b"\"I64\"");
    fs::write(&weights_path, integers).unwrap();
    refused(Model::read(&path), &["found numbers of type I64, expected F64"]);
    fs::remove_file(&weights_path).unwrap();
    refused(Model::read(&path), &["weights.safetensors: cannot open: no such file"]);
    refused(Model::read_checkpoint(&path.join("none")), &["cannot open: no such file"]);
}

fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for place in 0..out.len() - from.len() {
        if out[place..].starts_with(from) {
            out[place..place + to.len()].copy_from_slice(to);
        }
    }
    out
}

/// A model whose card is changed as text before it is read.
fn with_card(change: impl Fn(&mut serde_json::Value)) -> restive_tables::Result<Model> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    model().write(&path, false).unwrap();
    let card = path.join("card.json");
    let mut value = serde_json::from_slice(&fs::read(&card).unwrap()).unwrap();
    change(&mut value);
    fs::write(&card, value.to_string()).unwrap();
    Model::read(&path)
}

#[test]
fn a_card_of_an_earlier_version_has_no_reference() {
    let read = with_card(|card| drop(card.as_object_mut().unwrap().remove("reference"))).unwrap();
    assert_eq!(read.card.reference, None);
    // and gets none by being written again
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("again");
    read.write(&path, false).unwrap();
    assert!(!fs::read_to_string(path.join("card.json")).unwrap().contains("reference"));
    // a category that is not known is no category
    let unknown = with_card(|card| card["reference"]["district"] = json!(null)).unwrap();
    let columns = vec![Typical::Number(1.0 / 3.0), Typical::NoneOfTheKnown];
    assert_eq!(unknown.card.reference, Some(Reference { columns }));
}

#[test]
fn a_reference_that_the_encoding_cannot_read_is_refused() {
    type Change = fn(&mut serde_json::Value);
    let cases: [(Change, &[&str]); 5] = [
        (|r| r["district"] = json!("z"), &["reference: \"z\"", "a category of feature \"district\""]),
        (|r| r["district"] = json!(3), &["reference: a number", "a category of feature"]),
        (|r| r["age"] = json!("old"), &["reference: text", "the mean of feature \"age\""]),
        (|r| drop(r.as_object_mut().unwrap().remove("age")), &["nothing of feature \"age\""]),
        (|r| r["shoe"] = json!(40), &["feature \"shoe\"", "the features of the encoding and no other"]),
    ];
    for (change, parts) in cases {
        refused(with_card(|card| change(&mut card["reference"])), parts);
    }
}

#[test]
fn refusal_beside_a_model_is_on_its_card_until_the_model_is_replaced() {
    let (folder, model) = (tempfile::tempdir().unwrap(), model());
    let path = folder.path().join("model");
    model.write(&path, false).unwrap();
    for reason in ["first", "second"] {
        let refusal = Identification::NotIdentified { reason: reason.into() };
        Model::refuse(&path, &refusal).unwrap();
        assert_eq!(Model::read(&path).unwrap().card.identification, refusal);
    }
    model.write(&path, true).unwrap();
    assert_eq!(Model::read(&path).unwrap(), model);
    assert!(!path.join(Model::REFUSAL).exists());

    fs::write(path.join(Model::REFUSAL), "").unwrap();
    refused(Model::read(&path), &["refusal.json", "expected the refusal of an evaluation"]);
}
