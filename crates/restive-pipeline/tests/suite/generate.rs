//! Synthetic studies hold what the library generates, under names.

use restive::data::domain::Domain;
use restive::data::encoding::{Encoding, Standardise};
use restive::data::maternal::Maternal;
use restive::data::split::Part;
use restive::instance::{Chain, Observation};
use restive_pipeline::Error;
use restive_pipeline::generate::{ChainLength, DomainName, Synthetic, collapsing};
use restive_tables::StudyBehaviour;

fn small(published: Domain) -> Domain {
    Domain { instances: 4, arms: 12, budget: 3, horizon: 5, trajectories: 2, ..published }
}

#[test]
fn a_domain_becomes_a_study_with_its_numbers_and_its_parts() {
    let labels =
        collapsing(small(Domain::collapsing()), Some(3), Some(ChainLength::Finite(4)), None).unwrap();
    for synthetic in [
        Synthetic::TwoState(small(Domain::two_state())),
        Synthetic::FiveState(small(Domain::five_state())),
        Synthetic::Collapsing(labels),
    ] {
        let (Synthetic::TwoState(domain) | Synthetic::FiveState(domain) | Synthetic::Collapsing(domain)) =
            &synthetic
        else {
            panic!("a domain")
        };
        let study = synthetic.study(7).unwrap();
        let split = study.given_split().unwrap().unwrap();
        assert_eq!(Part::ALL.map(|part| split.part(part).len()), [2, 1, 1]);
        let encoding = Encoding::fit(&study.features(&split.train), Standardise::No, &[]).unwrap();
        assert_eq!(study.instances(&encoding).unwrap(), domain.generate(7).unwrap());
        let name = format!("{}, seed 7", synthetic.name().name());
        assert_eq!((study.settings.name, study.settings.horizon), (Some(name), 5));
    }
}

#[test]
fn a_programme_becomes_a_study_that_says_what_it_is() {
    let maternal = Maternal { groups: 4, people: 60, budget: 3, ..Maternal::default() };
    let (study, programme) =
        (Synthetic::Maternal(maternal.clone()).study(3).unwrap(), maternal.generate(3).unwrap());
    assert_eq!(study.settings.behaviour, StudyBehaviour::RoundRobinAsUniform);
    assert_eq!(study.instances(&programme.encoding).unwrap(), programme.instances);
    assert_eq!(study.given_split().unwrap(), maternal.split(3));
}

#[test]
fn names_lead_to_the_published_sizes() {
    for name in DomainName::ALL {
        assert_eq!(Synthetic::published(*name).name(), *name);
        assert_eq!(name.name().parse(), Ok(*name));
    }
    assert!("three-state".parse::<DomainName>().is_err());
    assert_eq!(DomainName::Maternal.domain(), None);
}

#[test]
fn chains_are_as_asked_for() {
    let sizes = || small(Domain::collapsing());
    let chain =
        |states, chain, beliefs| collapsing(sizes(), states, chain, beliefs).map(|made| made.observation);
    assert_eq!(chain(None, None, None).unwrap(), Domain::collapsing().observation);
    let infinite = |beliefs| Observation::Collapsing(Chain::Infinite { beliefs });
    assert_eq!(chain(None, Some(ChainLength::Infinite), None).unwrap(), infinite(15));
    assert_eq!(chain(None, Some(ChainLength::Infinite), Some(8)).unwrap(), infinite(8));
    for (states, length, beliefs) in [
        (Some(1), None, None),
        (None, None, Some(8)),
        (None, Some(ChainLength::Finite(3)), Some(8)),
        (Some(3), Some(ChainLength::Infinite), None),
    ] {
        assert!(
            matches!(chain(states, length, beliefs), Err(Error::Asked(_))),
            "{states:?} {length:?} {beliefs:?}"
        );
    }
}

#[test]
fn what_does_not_fit_into_memory_is_refused_before_it_is_made() {
    let domain = Domain { arms: 1_000_000, ..Domain::two_state() };
    let programme = Maternal { people: usize::MAX, ..Maternal::default() };
    for synthetic in [Synthetic::TwoState(domain), Synthetic::Maternal(programme)] {
        let refusal = synthetic.study(1).unwrap_err().to_string();
        assert!(refusal.contains("cells of"), "{refusal}");
    }
}
