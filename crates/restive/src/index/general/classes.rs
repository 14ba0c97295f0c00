//! Whether a chain has one recurrent class: the condition for an average reward that does not depend on the start.
//!
//! A chain has one recurrent class exactly when some state can be reached from every state. Search backwards along the
//! transitions, from one state after the other that has not been found yet: if there is such a state, the last one from
//! which a search had to start is one (it can reach those found after it only, and nothing found before reaches it unless
//! from there). One more search from it settles the question. Two searches over M² entries; no rounding is involved, only
//! which entries are 0.

/// Memory for the searches, reused.
#[derive(Debug, Clone)]
pub(in crate::index) struct Classes {
    found: Vec<bool>,
    open: Vec<usize>,
}

impl Classes {
    pub(in crate::index) fn new(states: usize) -> Self {
        Self { found: vec![false; states], open: Vec::with_capacity(states) }
    }

    /// Whether the chain whose row s is `row(s)` has one recurrent class.
    pub(in crate::index) fn is_unichain<'a>(&mut self, row: impl Fn(usize) -> &'a [f64]) -> bool {
        let m = self.found.len();
        self.found.fill(false);
        let mut candidate = 0;
        for s in 0..m {
            if !self.found[s] {
                candidate = s;
                self.search_back(s, &row);
            }
        }
        self.found.fill(false);
        self.search_back(candidate, &row);
        self.found.iter().all(|found| *found)
    }

    /// Finds every state that can reach `to`.
    fn search_back<'a>(&mut self, to: usize, row: &impl Fn(usize) -> &'a [f64]) {
        self.found[to] = true;
        self.open.push(to);
        while let Some(next) = self.open.pop() {
            for s in 0..self.found.len() {
                if !self.found[s] && row(s)[next] > 0.0 {
                    self.found[s] = true;
                    self.open.push(s);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Classes;

    fn is_unichain(chain: &[&[f64]]) -> bool {
        Classes::new(chain.len()).is_unichain(|s| chain[s])
    }

    #[test]
    fn recurrent_classes_are_counted() {
        assert!(is_unichain(&[&[1.0]]));
        assert!(is_unichain(&[&[0.5, 0.5], &[0.0, 1.0]]), "one absorbing state");
        assert!(is_unichain(&[&[0.0, 1.0], &[1.0, 0.0]]), "periodic, but one class");
        assert!(!is_unichain(&[&[1.0, 0.0], &[0.0, 1.0]]), "two absorbing states");
        let between: [&[f64]; 3] = [&[1.0, 0.0, 0.0], &[0.5, 0.0, 0.5], &[0.0, 0.0, 1.0]];
        assert!(!is_unichain(&between), "a transient state between two absorbing ones");
        let ring: [&[f64]; 4] = [&[0., 1., 0., 0.], &[0., 0., 1., 0.], &[0., 0., 0., 1.], &[0., 1., 0., 0.]];
        assert!(is_unichain(&ring), "a transient state before a ring");
    }
}
