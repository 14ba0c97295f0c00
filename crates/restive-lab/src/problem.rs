//! What methods are compared on: the synthetic domains of the published experiments, and the synthetic maternal programme.

use restive::Instance;
use restive::data::domain::Domain;
use restive::data::features::Features;
use restive::data::maternal::Maternal;
use restive::data::split::Split;
use restive::evaluation::Behaviour;
use restive::policy::Policy;
use restive::training::{Config, Decision, Protocol, Recipe};
use restive_pipeline::Profile;
use restive_pipeline::generate::DomainName;

/// Instances of a seed, and how they are learnt from.
#[derive(Debug, Clone)]
pub enum Problem {
    /// its name, and its sizes
    Domain(DomainName, Domain),
    /// the synthetic programme
    Maternal(Maternal),
}

impl Problem {
    /// With the published sizes.
    pub(crate) fn published(name: DomainName) -> Self {
        match name.domain() {
            Some(domain) => Problem::Domain(name, domain),
            None => Problem::Maternal(Maternal::default()),
        }
    }

    /// Of its domain.
    pub fn name(&self) -> DomainName {
        match self {
            Problem::Domain(name, _) => *name,
            Problem::Maternal(_) => DomainName::Maternal,
        }
    }

    /// With fewer arms, of which as large a share may be pulled; for a look.
    pub(crate) fn with_arms(self, arms: usize) -> Self {
        let budget = |budget: usize, before: usize| (budget * arms).div_ceil(before).max(1);
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

    /// Training as published, or as the paper's text says.
    pub(crate) fn as_published(&self, profile: Profile, seed: u64) -> (Config, Decision) {
        let (horizon, behaviour) = (self.horizon(), self.behaviour());
        let protocol = match self {
            Problem::Domain(_, domain) => Protocol::of_domain(domain.observation),
            Problem::Maternal(_) => Protocol::Maternal,
        };
        let (config, decision) = match profile {
            Profile::Paper => (Config::paper_in(protocol), Decision::paper(horizon)),
            _ => (Config::published_in(protocol), Decision::published(horizon)),
        };
        (Config { seed, ..config }, Decision { behaviour, ..decision })
    }

    /// The recommended training.
    pub(crate) fn recipe(&self, train: &[Instance], seed: u64) -> Recipe {
        let mut recipe = Recipe::new(Config { seed, ..Config::recommended(train) }, self.horizon());
        recipe.decision.behaviour = self.behaviour();
        recipe
    }

    /// Where propensities come from: logged, or, of a rota, those of calls at random, by assumption.
    pub(crate) fn behaviour(&self) -> Behaviour {
        match self {
            Problem::Domain(..) => Behaviour::Logged,
            Problem::Maternal(_) => Behaviour::Uniform,
        }
    }

    /// The policy under which the log was made.
    pub(crate) fn logged_under(&self) -> Policy {
        match self {
            Problem::Domain(..) => Policy::Random,
            Problem::Maternal(_) => Policy::RoundRobin,
        }
    }

    /// The instances of a seed: to train on, to validate, to test on.
    pub(crate) fn parts(&self, seed: u64) -> restive::Result<[Vec<Instance>; 3]> {
        let (instances, split) = match self {
            Problem::Domain(_, domain) => {
                (domain.generate(seed)?, Split::in_order(&vec![domain.arms; domain.instances], seed)?)
            }
            Problem::Maternal(maternal) => (maternal.generate(seed)?.instances, maternal.split(seed)?),
        };
        Ok(split.cut(&instances))
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
