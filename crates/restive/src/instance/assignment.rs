//! Unit of assignment over time: pulls that are assigned at every decision, or once per arm.

/// Unit of assignment of pulls over time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Assignment {
    /// Assigned again at every decision.
    #[default]
    PerDecision,
    /// Assigned once per arm, at its first decision; the action lasts for the later decisions of the arm.
    PerPerson,
}
