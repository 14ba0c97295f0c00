//! Synthetic studies whose truth is known: the domains of the published experiments, and a programme shaped like the maternal one.
//!
//! A [`Synthetic`] says what to generate, starting from the published sizes; [`Synthetic::study`] makes it, and the same seed gives
//! the same study. Instances and arms are named by numbers. The column `split` deals instances to train, validation and test in
//! order; where there are too few arms for three parts, the study does not say.
//!
//! ```
//! use restive::data::domain::Domain;
//! use restive_pipeline::generate::Synthetic;
//!
//! let small = Domain { instances: 4, arms: 12, budget: 3, trajectories: 2, ..Domain::two_state() };
//! let study = Synthetic::TwoState(small).study(7)?;
//! assert_eq!(study.settings.name.as_deref(), Some("two-state, seed 7"));
//! # Ok::<(), restive_pipeline::Error>(())
//! ```

mod chain;
mod study;

pub use chain::{ChainLength, collapsing};
pub use study::study_of;

use crate::error::{Error, Result};
use restive::data::domain::Domain;
use restive::data::maternal::Maternal;
use restive_tables::Study;
use restive_tables::memory::require;

restive_tables::choices! {
    /// What can be generated, by name.
    DomainName {
        /// Two states: disengaged and engaged
        TwoState = "two-state",
        /// Five states, from worst to best
        FiveState = "five-state",
        /// States that are seen at pulls only
        Collapsing = "collapsing",
        /// A synthetic programme shaped like the maternal one of the paper
        Maternal = "maternal",
    }
}

impl DomainName {
    /// The published sizes of a domain; none of the programme.
    pub fn domain(self) -> Option<Domain> {
        match Synthetic::published(self) {
            Synthetic::TwoState(domain) | Synthetic::FiveState(domain) | Synthetic::Collapsing(domain) => {
                Some(domain)
            }
            Synthetic::Maternal(_) => None,
        }
    }
}

/// What to generate.
#[derive(Debug, Clone, PartialEq)]
pub enum Synthetic {
    /// two states: disengaged and engaged
    TwoState(Domain),
    /// five states, from worst to best
    FiveState(Domain),
    /// states that are seen at pulls only
    Collapsing(Domain),
    /// a programme shaped like the maternal one of the paper
    Maternal(Maternal),
}

impl Synthetic {
    /// With the published sizes.
    pub fn published(name: DomainName) -> Self {
        match name {
            DomainName::TwoState => Self::TwoState(Domain::two_state()),
            DomainName::FiveState => Self::FiveState(Domain::five_state()),
            DomainName::Collapsing => Self::Collapsing(Domain::collapsing()),
            DomainName::Maternal => Self::Maternal(Maternal::default()),
        }
    }

    /// What it is called.
    pub fn name(&self) -> DomainName {
        match self {
            Self::TwoState(_) => DomainName::TwoState,
            Self::FiveState(_) => DomainName::FiveState,
            Self::Collapsing(_) => DomainName::Collapsing,
            Self::Maternal(_) => DomainName::Maternal,
        }
    }

    /// The study of a seed; refused where it would not fit into memory.
    pub fn study(&self, seed: u64) -> Result<Study> {
        self.check_memory()?;
        let wrong = |error: restive::Error| Error::Asked(error.to_string().into());
        match self {
            Self::TwoState(domain) | Self::FiveState(domain) | Self::Collapsing(domain) => {
                Ok(study_of(self.name(), seed, domain.generate(seed).map_err(wrong)?))
            }
            Self::Maternal(maternal) => {
                Ok(study::of_programme(maternal, seed, maternal.generate(seed).map_err(wrong)?))
            }
        }
    }

    /// What takes memory: a few bytes per arm and step, some hundred numbers and words per arm, and where states are seen at pulls
    /// only the beliefs of its labels. More than so many cells are absurd; the records alone must fit into what there is.
    fn check_memory(&self) -> Result<()> {
        const MOST_CELLS: f64 = 1e9;
        const CELLS_PER_ARM: f64 = 200.0;
        let (arms, logged, beliefs, what) = match self {
            Self::TwoState(domain) | Self::FiveState(domain) | Self::Collapsing(domain) => {
                let labels = domain.observation.chain().map_or(0.0, |chain| chain.beliefs() as f64);
                (
                    domain.instances as f64 * domain.arms as f64,
                    domain.trajectories as f64 * (domain.horizon as f64 + 1.0),
                    2.0 * (domain.states as f64).powi(2) * labels,
                    "arms, trajectories, steps and labels",
                )
            }
            Self::Maternal(maternal) => {
                let people = maternal.groups as f64 * maternal.people as f64;
                (people, maternal.weeks as f64, 0.0, "people and weeks")
            }
        };
        let cells = arms * (logged + CELLS_PER_ARM + beliefs);
        if cells > MOST_CELLS {
            let message = format!("found {cells:.1e} cells of {what}, expected at most {MOST_CELLS:e}");
            return Err(Error::Asked(message.into()));
        }
        // a state and an action; domains log how likely it was, too
        let bytes = if let Self::Maternal(_) = self { 3.0 } else { 11.0 };
        let (records, words) = (arms * logged, format!("{logged} records of each of {arms} arms"));
        Ok(require(self.name(), words, bytes * records)?)
    }
}
