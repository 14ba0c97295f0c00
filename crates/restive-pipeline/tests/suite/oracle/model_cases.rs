//! Models that are recorded: logistic models, pools and networks on random studies.

use super::model_record::{tolerance, tolerance_of_epochs};
use super::shuffle_rows;
use crate::passing::made::Made;
use restive::predictor::Precision;
use restive_pipeline::{Asked, PRECISION_CAP, PredictorName};
use restive_testkit::random_study::{LearnableOptions, RandomStudy};
use std::path::Path;

/// Study that a model is trained on.
pub enum Source {
    Made(Made),
    Learnable(u64, LearnableOptions),
}

/// A model to be trained.
pub struct ModelCase {
    pub name: String,
    pub source: Source,
    pub asked: Asked,
    /// Whether the model is logistic, so that it can be trained in passes.
    pub is_logistic: bool,
    /// Whether the study says to which part each arm belongs.
    pub has_split: bool,
}

impl ModelCase {
    /// Relative tolerance of the numbers of the model.
    pub fn tolerance(&self) -> fn(&str) -> f64 {
        if self.is_logistic { tolerance } else { tolerance_of_epochs }
    }

    /// Writes the study with rows as generated (order 0) or in another order.
    pub fn write(&self, order: usize, folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        match &self.source {
            Source::Made(made) => made.write_to(folder),
            Source::Learnable(seed, options) => RandomStudy::learnable(*seed, options).write(folder),
        }
        if order > 0 {
            shuffle_rows(folder, order as u64);
        }
    }
}

/// All models.
pub fn model_cases() -> Vec<ModelCase> {
    let of = |predictor| Asked { predictor: Some(predictor), ..Asked::default() };
    let (effect, hierarchical) = (of(PredictorName::Effect), of(PredictorName::Hierarchical));
    let income = || vec!["income".to_string()];
    let held_out = Precision::HeldOut { cap: PRECISION_CAP };
    let held_out = Asked { precision: Some(held_out), seed: 9, ..effect.clone() };
    let fixed = Asked { precision: Some(Precision::Fixed(7.5)), drop: income(), ..effect.clone() };
    let plain = Asked { standardise: Some(false), drop: income(), ..effect.clone() };
    let made = [
        ("one instance", Made::default()),
        ("five instances", Made { seed: 2, people: vec![150, 60, 120, 90, 80], ..Made::default() }),
        (
            "a given split",
            Made { seed: 3, people: vec![300, 400], has_split: true, trajectories: 2, ..Made::default() },
        ),
        ("three states", Made { seed: 4, states: 3, people: vec![500, 300], ..Made::default() }),
    ];
    let mut cases = Vec::new();
    for (study, made) in &made {
        for (name, asked) in [
            ("effect", &effect),
            ("effect, held out", &held_out),
            ("effect, fixed", &fixed),
            ("hierarchical", &hierarchical),
        ] {
            let (name, asked) = (format!("{name}, {study}"), asked.clone());
            let has_split = made.has_split;
            cases.push(ModelCase {
                name,
                source: Source::Made(made.clone()),
                asked,
                is_logistic: true,
                has_split,
            });
        }
    }
    let name = "effect, not standardised, one instance".into();
    let source = Source::Made(Made::default());
    cases.push(ModelCase { name, source, asked: plain, is_logistic: true, has_split: false });
    for seed in 0..4 {
        let options = LearnableOptions {
            arms: 280,
            groups: 1 + seed as usize % 2,
            states: 2 + seed as usize / 2,
            ends: None,
        };
        let drop = vec!["own".to_string()];
        let few = |predictor, epochs| Asked { epochs: Some(epochs), ..of(predictor) };
        let logistic = [("effect", &effect), ("hierarchical", &hierarchical)];
        let others = [
            ("network", Asked { hidden: Some(vec![8]), ..few(PredictorName::Network, 200) }),
            ("linear", few(PredictorName::Linear, 200)),
            ("pool", few(PredictorName::Auto, 3)),
        ];
        let logistic = logistic.into_iter().map(|(name, asked)| (name, asked.clone(), true));
        let others = others.into_iter().map(|(name, asked)| (name, asked, false));
        for (name, asked, is_logistic) in logistic.chain(others.filter(|_| seed % 2 == 0)) {
            let (name, asked) = (format!("{name}, learnable {seed}"), Asked { drop: drop.clone(), ..asked });
            let source = Source::Learnable(505 + seed, options.clone());
            cases.push(ModelCase { name, source, asked, is_logistic, has_split: true });
        }
    }
    cases
}
