//! What methods are compared on: the synthetic domains of the published experiments, and the synthetic maternal programme.

use crate::lab::compare;
use restive::Instance;
use restive::data::domain::Domain;
use restive::data::features::Features;
use restive::data::maternal::Maternal;
use restive::data::split::Part;
use restive::evaluation::Behaviour;
use restive::training::Protocol;
use restive_pipeline::generate::DomainName;

/// Instances of a seed, and how they are learnt from.
#[derive(Debug, Clone)]
pub(crate) enum Problem {
    /// its name, and its sizes
    Domain(&'static str, Domain),
    Maternal(Maternal),
}

impl Problem {
    /// The published sizes.
    pub(crate) fn all() -> Vec<Problem> {
        let problem = |name: &DomainName| match name.domain() {
            Some(domain) => Problem::Domain(name.name(), domain),
            None => Problem::Maternal(Maternal::default()),
        };
        DomainName::ALL.iter().map(problem).collect()
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Problem::Domain(name, _) => name,
            Problem::Maternal(_) => "maternal",
        }
    }

    /// With fewer arms, of which as large a share may be pulled; for a look.
    pub(crate) fn with_arms(self, arms: usize) -> Self {
        let budget = |budget: usize, of: usize| (budget * arms).div_ceil(of).max(1);
        match self {
            Problem::Domain(name, domain) => {
                Problem::Domain(name, Domain { arms, budget: budget(domain.budget, domain.arms), ..domain })
            }
            Problem::Maternal(all) => {
                Problem::Maternal(Maternal { people: arms, budget: budget(all.budget, all.people), ..all })
            }
        }
    }

    /// H, the decisions of a deployment.
    pub(crate) fn horizon(&self) -> usize {
        match self {
            Problem::Domain(_, domain) => domain.horizon,
            Problem::Maternal(maternal) => maternal.weeks,
        }
    }

    /// The published experiment whose length of training it has.
    pub(crate) fn protocol(&self) -> Protocol {
        match self {
            Problem::Domain(_, domain) => Protocol::of_domain(domain.observation),
            Problem::Maternal(_) => Protocol::Maternal,
        }
    }

    /// Where propensities come from: logged, or, of a rota, those of calls at random, by assumption.
    pub(crate) fn behaviour(&self) -> Behaviour {
        match self {
            Problem::Domain(..) => Behaviour::Logged,
            Problem::Maternal(_) => Behaviour::Uniform,
        }
    }

    /// The instances of a seed: to train on, to validate, to test on.
    pub(crate) fn parts(&self, seed: u64) -> restive::Result<[Vec<Instance>; 3]> {
        let (instances, split) = match self {
            Problem::Domain(_, domain) => return compare::parts(&domain.generate(seed)?, seed),
            Problem::Maternal(maternal) => (maternal.generate(seed)?.instances, maternal.split(seed)?),
        };
        Ok(Part::ALL.map(|part| split.part(part).iter().map(|group| group.select(&instances)).collect()))
    }

    /// What is known of the people of the test instances, one after the other, in units and words: of the maternal programme.
    pub(crate) fn test_people(&self, seed: u64) -> restive::Result<Option<Features>> {
        let Problem::Maternal(maternal) = self else { return Ok(None) };
        let (people, split) = (maternal.generate(seed)?.people, maternal.split(seed)?);
        let tables: Vec<Features> =
            split.test.iter().map(|group| people[group.instance].select_arms(&group.arms)).collect();
        Ok(Some(Features::stack(&tables)))
    }
}
