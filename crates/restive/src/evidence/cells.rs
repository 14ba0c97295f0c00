//! Numbers for groups of rows that come block by block: within a block (a step) a cell is one of a few, and only those that
//! occur get a number, so that there are never more groups than rows.

/// Gives numbers to cells.
#[derive(Debug)]
pub struct Cells {
    /// the block in which a cell was last seen, and its number there
    seen: Vec<(u32, u32)>,
    block: u32,
    groups: u32,
}

impl Cells {
    /// For cells below a number.
    pub fn new(cells: usize) -> Self {
        Self { seen: vec![(0, 0); cells], block: 0, groups: 0 }
    }

    /// Begins the next block.
    pub fn begin(&mut self) {
        self.block += 1;
    }

    /// The number of a cell of this block.
    pub fn group(&mut self, cell: usize) -> u32 {
        let (block, number) = &mut self.seen[cell];
        if *block != self.block {
            (*block, *number) = (self.block, self.groups);
            self.groups += 1;
        }
        *number
    }
}
