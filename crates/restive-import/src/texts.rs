//! Many short texts in one piece of memory.

/// Texts by position.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    all: String,
    ends: Vec<usize>,
}

impl Texts {
    pub(crate) fn push(&mut self, text: &str) {
        self.all.push_str(text);
        self.ends.push(self.all.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, k: usize) -> &str {
        let start = if k == 0 { 0 } else { self.ends[k - 1] };
        &self.all[start..self.ends[k]]
    }
}
