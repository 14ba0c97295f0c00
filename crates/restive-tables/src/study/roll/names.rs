//! Names one behind the other in one buffer, and a table that finds them.
//!
//! A name starts at an offset of 32 bits from the start of its block of names, so that it takes its bytes and 4 more. The
//! table is open addressing with linear probing: slots hold half of a hash and a position, at most three quarters of them are taken. Only where the halves
//! are the same is what a slot points to looked at, far away in memory; and it is compared in the end, so that the answer is exact whatever the hash.

/// Names of a block; of the longest names it takes 2³⁰ bytes.
const BLOCK: usize = 1 << 14;

/// Names by position.
#[derive(Default)]
pub(super) struct Names {
    bytes: Vec<u8>,
    /// from the start of the block
    starts: Vec<u32>,
    blocks: Vec<usize>,
}

impl Names {
    pub(super) fn reserve(&mut self, names: usize) {
        self.starts.reserve_exact(names);
    }

    pub(super) fn push(&mut self, name: &str) {
        if self.starts.len().is_multiple_of(BLOCK) {
            self.blocks.push(self.bytes.len());
        }
        let block = self.blocks.last().copied().unwrap_or(0);
        self.starts.push((self.bytes.len() - block) as u32);
        self.bytes.extend_from_slice(name.as_bytes());
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The bytes of a name.
    #[inline]
    pub(super) fn bytes(&self, position: usize) -> &[u8] {
        let start = |at: usize| self.blocks[at / BLOCK] + self.starts[at] as usize;
        let end = if position + 1 < self.starts.len() { start(position + 1) } else { self.bytes.len() };
        &self.bytes[start(position)..end]
    }

    pub(super) fn name(&self, position: usize) -> &str {
        std::str::from_utf8(self.bytes(position)).expect("a name is text")
    }
}

const EMPTY: u64 = u64::MAX;

/// Positions by the hash of what they hold.
#[derive(Default)]
pub(super) struct Index {
    /// as many as a power of two: the upper half of a hash, and a position
    slots: Vec<u64>,
    taken: usize,
}

/// Where a search has come: a slot, and the position in it; none where it is empty.
pub(super) type Probe = (usize, Option<u32>);

impl Index {
    /// With room for so many.
    pub(super) fn with_room(positions: usize) -> Self {
        let slots = (positions + positions / 3 + 1).next_power_of_two().max(16);
        Self { slots: vec![EMPTY; slots], taken: 0 }
    }

    /// Whether another one needs a larger table first.
    pub(super) fn is_full(&self) -> bool {
        4 * (self.taken + 1) > 3 * self.slots.len()
    }

    /// The first slot that may hold what has this hash, or the empty one where the search ends.
    #[inline]
    pub(super) fn first(&self, hash: u64) -> Probe {
        self.probe(hash as usize & (self.slots.len() - 1), hash)
    }

    /// The same from a slot on.
    #[inline]
    fn probe(&self, mut slot: usize, hash: u64) -> Probe {
        loop {
            match self.slots[slot] {
                EMPTY => return (slot, None),
                entry if (entry ^ hash) >> 32 == 0 => return (slot, Some(entry as u32)),
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
    }

    /// The position that `is_it`, where there is one, from where a search has come; otherwise the slot where it would be.
    #[inline]
    pub(super) fn find(
        &self,
        hash: u64,
        mut probe: Probe,
        is_it: impl Fn(usize) -> bool,
    ) -> std::result::Result<u32, usize> {
        loop {
            match probe {
                (slot, None) => return Err(slot),
                (_, Some(position)) if is_it(position as usize) => return Ok(position),
                (slot, Some(_)) => probe = self.probe((slot + 1) & (self.slots.len() - 1), hash),
            }
        }
    }

    /// Puts a position into the slot where a search for it ended.
    pub(super) fn put(&mut self, slot: usize, hash: u64, position: u32) {
        self.slots[slot] = hash >> 32 << 32 | u64::from(position);
        self.taken += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_and_are_found_whatever_the_hash() {
        let mut names = Names::default();
        let written: Vec<String> = (0..3 * BLOCK + 5).map(|i| "x".repeat(i % 7) + &i.to_string()).collect();
        let mut index = Index::with_room(written.len());
        // a hash that clashes all the time
        let hash = |name: &[u8]| name.iter().map(|byte| u64::from(*byte)).sum::<u64>() * 64;
        for (i, name) in written.iter().enumerate() {
            names.push(name);
            if i % 97 == 0 {
                let hash = hash(name.as_bytes());
                let slot = index.find(hash, index.first(hash), |p| names.bytes(p) == name.as_bytes());
                index.put(slot.unwrap_err(), hash, i as u32);
            }
        }
        assert_eq!(names.len(), written.len());
        for (i, name) in written.iter().enumerate() {
            assert_eq!(names.name(i), name);
            let hash = hash(name.as_bytes());
            let found = index.find(hash, index.first(hash), |p| names.bytes(p) == name.as_bytes());
            assert_eq!(found.ok(), (i % 97 == 0).then_some(i as u32));
        }
    }

    #[test]
    fn a_table_is_never_more_than_three_quarters_full() {
        for room in [0, 1, 11, 12, 13, 1000] {
            let mut index = Index::with_room(room);
            for position in 0..room {
                assert!(!index.is_full());
                let slot = index.find(7, index.first(7), |_| false).unwrap_err();
                index.put(slot, 7, position as u32);
            }
        }
    }
}
