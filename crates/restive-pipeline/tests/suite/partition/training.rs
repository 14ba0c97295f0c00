//! Models of partitions against models in memory.

use super::passes::{deal, people_table, train_by_partitions};
use restive_pipeline::{Asked, PredictorName, Training};
use restive_tables::{Roll, Study, write_people};
use restive_testkit::Chance;
use restive_testkit::random_study::{LearnableOptions, RandomStudy};

#[test]
fn partitions_train_the_model_of_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    for run in 0..6 {
        let (mut chance, there) = (Chance::new(run), folder.path().join(run.to_string()));
        let (groups, states) = (1 + run as usize % 2, 2 + run as usize % 3 / 2);
        let options = LearnableOptions { arms: 280, groups, states, ends: None };
        let random = RandomStudy::learnable(run + 505, &options);
        random.write(&there.join("study"));
        let study = Study::read(&there.join("study")).unwrap();
        write_people(&Roll::read(&there.join("study")).unwrap(), &there.join("people"), 3).unwrap();
        let parts = deal(&people_table(&there.join("people")), 4, 40, &mut chance);
        let predictor = if run % 2 == 0 { PredictorName::Hierarchical } else { PredictorName::Effect };
        let asked = Asked { predictor: Some(predictor), drop: vec!["own".into()], ..Asked::default() };
        let training = Training::new(&study, &asked, "a study").unwrap();
        let done = training.run(Default::default(), None, |_| Ok::<_, restive_pipeline::Error>(())).unwrap();
        let truth = training.model(done.members, done.histories);
        let (found, passes) = train_by_partitions(&asked, &random.settings, &parts, &mut chance).unwrap();
        assert!(passes < 200, "{passes}");
        for ((name, shape, found), (also, same, truth)) in found.model.weights.iter().zip(&truth.weights) {
            assert_eq!((name, shape), (also, same));
            for (a, b) in found.iter().zip(truth) {
                assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "run {run} {name}: {a} not {b}");
            }
        }
        let (found, truth) = (&found.model.card, &truth.card);
        assert_eq!(found.configuration, truth.configuration);
        assert_eq!((found.reference.is_some(), found.encoding.names()), (true, truth.encoding.names()));
        let [found, truth] = [found, truth].map(|card| card.history.loss.unwrap());
        for (found, truth) in
            [(found.train, truth.train), (found.validation, truth.validation), (found.test, truth.test)]
        {
            let (found, truth) = (found.unwrap(), truth.unwrap());
            assert_eq!(found.transitions, truth.transitions);
            let [found, truth] = [found, truth].map(|loss| loss.per_transition.unwrap());
            assert!((found - truth).abs() < 1e-9, "{found} not {truth}");
        }
    }
}
