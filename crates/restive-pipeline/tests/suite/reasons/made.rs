//! A programme whose people differ in ways that a table knows, and in ways that only their records do.

use ndarray::Array3;
use rand::RngExt;
use restive::data::features::{Column, Features};
use restive::instance::{Logged, NO_ACTION, Observation};
use restive::predictor::Precision;
use restive::random::stream;
use restive::{Reward, Trajectories};
use restive_pipeline::{Asked, PredictorName, Trained, Training};
use restive_tables::{Study, StudyBehaviour, StudyInstance, StudySettings};
use std::sync::OnceLock;

const WEEKS: usize = 16;
const OWNERS: [&str; 3] = ["herself", "husband", "shared"];
const SCHOOLS: [&str; 3] = ["no schooling", "primary", "secondary"];

/// The people of these numbers: everybody is drawn from a stream of her own.
pub(super) fn study(people: &[u64]) -> Study {
    let n = people.len();
    let mut state = Array3::zeros((1, WEEKS + 1, n));
    let mut action = Array3::zeros((1, WEEKS + 1, n));
    action.slice_mut(ndarray::s![0, WEEKS, ..]).fill(NO_ACTION);
    let (mut age, mut income, mut owner, mut school) = (vec![], vec![], vec![], vec![]);
    for (i, number) in people.iter().enumerate() {
        let mut random = stream(5, &[91, *number]);
        let (years, phone, taught) =
            (random.random_range(18..40), random.random_range(0..3), random.random_range(0..3));
        age.push(if random.random_bool(0.1) { f64::NAN } else { f64::from(years) });
        income.push((random.random_range(20..200) * 100).into());
        owner.push(Some(OWNERS[phone].to_string()));
        school.push(random.random_bool(0.9).then(|| SCHOOLS[taught].to_string()));
        let own = 2.4 * (random.random::<f64>() - 0.5);
        let level = own - 0.04 * f64::from(years - 29) + 0.5 * (taught as f64 - 1.0);
        let effect = 0.7 + [0.0, 0.9, 0.2][phone] - 0.4 * (taught as f64 - 1.0);
        let mut s = usize::from(random.random_bool(0.5));
        state[[0, 0, i]] = s as u16;
        for t in 0..WEEKS {
            let called = random.random_bool(0.25);
            let z = level + [-0.9, 0.9][s] + if called { effect } else { 0.0 };
            s = usize::from(random.random_bool(1.0 / (1.0 + f64::exp(-z))));
            (state[[0, t + 1, i]], action[[0, t, i]]) = (s as u16, u8::from(called));
        }
    }
    let columns = vec![
        ("age".into(), Column::Number(age)),
        ("income".into(), Column::Number(income)),
        ("phone_owner".into(), Column::Text(owner)),
        ("education".into(), Column::Text(school)),
    ];
    let logged = Logged { state, action, propensity: None, reward: None, available: None };
    let settings = StudySettings {
        name: None,
        notes: None,
        unit: Some("engaged weeks".into()),
        reward: Reward::linear(2),
        discount: 0.9,
        budget: 20,
        horizon: 8,
        ends: None,
        observation: Observation::Full,
        behaviour: StudyBehaviour::Estimated,
        cluster: None,
        assignment: Default::default(),
        text: Vec::new(),
        silenced: Default::default(),
    };
    let instance = StudyInstance {
        name: "0".into(),
        arms: people.iter().map(|number| number.to_string()).collect(),
        features: Features::new(n, columns).unwrap(),
        split: None,
        clusters: None,
        trajectory_names: vec!["1".into()],
        trajectories: Trajectories::new(logged, 2).unwrap(),
        truth: None,
    };
    Study { settings, instances: vec![instance] }
}

pub(super) fn people() -> Vec<u64> {
    (0..400).collect()
}

fn trained(asked: &Asked) -> Trained {
    let study = study(&people());
    let training = Training::new(&study, asked, "a test").unwrap();
    let progressed =
        training.run(Default::default(), None, |_| Ok::<_, restive_pipeline::Error>(())).unwrap();
    crate::identified(Trained::new(training.model(progressed.members, progressed.histories)).unwrap())
}

/// Linear on the scale of log-odds.
pub(super) fn by_effect() -> &'static Trained {
    static MODEL: OnceLock<Trained> = OnceLock::new();
    MODEL.get_or_init(|| {
        let precision = Some(Precision::Fixed(3.0));
        trained(&Asked { predictor: Some(PredictorName::Effect), precision, ..Asked::default() })
    })
}

/// As trained unless said otherwise: whatever folds choose.
pub(super) fn by_auto() -> &'static Trained {
    static MODEL: OnceLock<Trained> = OnceLock::new();
    MODEL.get_or_init(|| trained(&Asked { epochs: Some(8), ..Asked::default() }))
}
