//! What a study says of the policy that chose its logged actions.

use restive::evaluation::Behaviour;

/// The setting `behaviour`: where the propensities of logged actions come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StudyBehaviour {
    /// the column `propensity` of the trajectories
    Logged,
    /// K of N arms at random: K/N
    Uniform,
    /// estimated from the data
    Estimated,
    /// a fixed rota, taken for K of N at random: an assumption, which reports repeat
    RoundRobinAsUniform,
    /// nothing is known of it: no importance sampling
    None,
}

impl StudyBehaviour {
    pub(super) const ALL: [Self; 5] =
        [Self::Logged, Self::Uniform, Self::Estimated, Self::RoundRobinAsUniform, Self::None];

    /// As in `study.toml`.
    pub fn name(self) -> &'static str {
        ["logged", "uniform", "estimated", "round-robin-as-uniform", "none"][self as usize]
    }

    /// Where importance sampling takes its propensities from; none: nowhere.
    pub fn source(self) -> Option<Behaviour> {
        match self {
            Self::Logged => Some(Behaviour::Logged),
            Self::Uniform | Self::RoundRobinAsUniform => Some(Behaviour::Uniform),
            Self::Estimated => Some(Behaviour::Estimated),
            Self::None => None,
        }
    }
}
