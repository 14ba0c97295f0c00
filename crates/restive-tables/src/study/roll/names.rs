//! Names one behind the other in one buffer, and a table that finds them.
//!
//! A name starts at an offset of 32 bits from the start of its block of names, so that it takes its bytes and 4 more. The
//! table is open addressing with linear probing: slots of 32 bits hold positions, at most three quarters of them are taken, and what a
//! slot points to is compared in the end, so that the answer is exact whatever the hash.

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

const EMPTY: u32 = u32::MAX;

/// Positions by the hash of what they hold.
#[derive(Default)]
pub(super) struct Index {
    /// as many as a power of two
    slots: Vec<u32>,
    taken: usize,
}

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

    /// The first slot of a hash, and what it holds: the start of a search.
    #[inline]
    pub(super) fn first(&self, hash: u64) -> (usize, u32) {
        let slot = hash as usize & (self.slots.len() - 1);
        (slot, self.slots[slot])
    }

    /// The position that `is_it`, where there is one, from a slot on; otherwise the slot where it would be.
    #[inline]
    pub(super) fn find(
        &self,
        (mut slot, mut position): (usize, u32),
        is_it: impl Fn(usize) -> bool,
    ) -> std::result::Result<u32, usize> {
        while position != EMPTY {
            if is_it(position as usize) {
                return Ok(position);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
            position = self.slots[slot];
        }
        Err(slot)
    }

    /// Puts a position into the slot where a search for it ended.
    pub(super) fn put(&mut self, slot: usize, position: u32) {
        self.slots[slot] = position;
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
                let slot =
                    index.find(index.first(hash(name.as_bytes())), |p| names.bytes(p) == name.as_bytes());
                index.put(slot.unwrap_err(), i as u32);
            }
        }
        assert_eq!(names.len(), written.len());
        for (i, name) in written.iter().enumerate() {
            assert_eq!(names.name(i), name);
            let found = index.find(index.first(hash(name.as_bytes())), |p| names.bytes(p) == name.as_bytes());
            assert_eq!(found.ok(), (i % 97 == 0).then_some(i as u32));
        }
    }

    #[test]
    fn a_table_is_never_more_than_three_quarters_full() {
        for room in [0, 1, 11, 12, 13, 1000] {
            let mut index = Index::with_room(room);
            for position in 0..room {
                assert!(!index.is_full());
                let slot = index.find(index.first(7), |_| false).unwrap_err();
                index.put(slot, position as u32);
            }
        }
    }
}
