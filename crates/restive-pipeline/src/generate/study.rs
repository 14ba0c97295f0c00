//! Generated instances under names: numbers for instances, arms and trajectories, and features f_00, f_01, …

use super::DomainName;
use restive::Instance;
use restive::data::features::{Column, Features};
use restive::data::maternal::{Maternal, Programme};
use restive::data::split::Split;
use restive_tables::{Study, StudyBehaviour, StudyInstance, StudySettings};

/// The study of the instances that a domain has generated from a seed.
pub fn study_of(name: DomainName, seed: u64, generated: Vec<Instance>) -> Study {
    let arms: Vec<usize> = generated.iter().map(Instance::arms).collect();
    let features = generated.iter().map(numbered).collect();
    let about = About {
        name: format!("{}, seed {seed}", name.name()),
        notes: None,
        unit: None,
        behaviour: StudyBehaviour::Logged,
    };
    named(about, Split::in_order(&arms, seed), features, generated)
}

/// The study of a programme.
pub(super) fn of_programme(maternal: &Maternal, seed: u64, programme: Programme) -> Study {
    let about = About {
        name: format!("maternal, synthetic, seed {seed}"),
        notes: Some(
            "Synthetic, shaped like the published maternal programme: not real data. Age is there in years and in groups; \
             without the years the encoded features are the paper's 43 columns."
                .into(),
        ),
        unit: Some("engaged weeks".into()),
        behaviour: StudyBehaviour::RoundRobinAsUniform,
    };
    named(about, maternal.split(seed), programme.people, programme.instances)
}

/// The features of an instance as a table.
fn numbered(instance: &Instance) -> Features {
    let columns = instance.features();
    let columns = columns.columns().into_iter().enumerate();
    let columns = columns.map(|(c, values)| (format!("f_{c:02}"), Column::Number(values.to_vec())));
    Features::new(instance.arms(), columns.collect()).expect("finite numbers under names of their own")
}

/// What differs between studies, besides their instances.
struct About {
    name: String,
    notes: Option<String>,
    unit: Option<String>,
    behaviour: StudyBehaviour,
}

fn named(
    about: About,
    split: restive::Result<Split>,
    features: Vec<Features>,
    generated: Vec<Instance>,
) -> Study {
    let numbers = |count: usize| (0..count).map(|i| i.to_string()).collect::<Vec<_>>();
    let first = &generated[0];
    let settings = StudySettings {
        name: Some(about.name),
        notes: about.notes,
        unit: about.unit,
        reward: first.reward().clone(),
        discount: first.discount(),
        budget: first.budget(),
        ends: None,
        horizon: first.trajectories().steps() - 1,
        observation: first.observation(),
        behaviour: about.behaviour,
        cluster: None,
        assignment: Default::default(),
        text: Vec::new(),
        silenced: Default::default(),
    };
    // too few arms for three parts: then the study does not say
    let split = split.ok().map(|split| split.parts());
    let instances = generated.into_iter().zip(features).enumerate();
    let instances = instances.map(|(k, (instance, features))| StudyInstance {
        name: k.to_string(),
        arms: numbers(instance.arms()),
        features,
        split: split.as_ref().map(|parts| parts[k].clone()),
        clusters: None,
        trajectory_names: numbers(instance.trajectories().trajectories()),
        trajectories: instance.trajectories().clone(),
        truth: instance.truth().cloned(),
    });
    Study { settings, instances: instances.collect() }
}
