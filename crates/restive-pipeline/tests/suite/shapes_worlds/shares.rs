//! Shares of worlds of which something is true.

use super::answers::Figures;
use std::collections::BTreeMap;

/// Share of worlds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Share {
    /// Worlds of which it is true.
    pub hits: usize,
    /// All worlds.
    pub worlds: usize,
}

/// Shares by the name of the figure.
#[derive(Debug, Clone, Default)]
pub struct Shares(pub BTreeMap<&'static str, Share>);

impl Shares {
    /// Shares of the figures of worlds.
    pub fn new(worlds: impl IntoIterator<Item = Figures>) -> Self {
        let mut shares = Self::default();
        for (name, is_hit) in worlds.into_iter().flatten() {
            let share = shares.0.entry(name).or_default();
            share.worlds += 1;
            share.hits += usize::from(is_hit);
        }
        shares
    }

    /// Share of a figure, of 0 worlds if no world has it.
    pub fn get(&self, name: &str) -> Share {
        self.0.get(name).copied().unwrap_or_default()
    }
}
