//! A slope within groups: y on x, with a mean of its own for every group and errors that allow for rows that belong together.
//!
//! With x̃ and ỹ the deviations from the means of the row's group, b = Σ x̃ỹ / Σ x̃². Rows of one cluster (the weeks of one person)
//! may depend on each other in any way: with u_c = Σ_{rows of c} x̃(ỹ − b x̃) / Σ x̃² the error is √(Σ u_c²), times what the groups'
//! means have taken, n/(n − G − 1) in the square. The u_c are kept, so that two slopes over the same clusters can be compared: the
//! error of b − b′ is √(Σ (u_c − u′_c)²), [`Within::less`]. Groups in which x does not vary say nothing and are left out.
//!
//! ```
//! use restive::statistics::{WithinRow, within};
//!
//! // two weeks with means of their own; in both y rises by about 2 with x
//! let row = |group, cluster, x, y| WithinRow { group, cluster, x, y };
//! let rows = [row(0, 0, 0.0, 1.0), row(0, 1, 1.0, 3.1), row(1, 0, 0.0, 9.0), row(1, 1, 1.0, 10.9), row(1, 2, 2.0, 13.0)];
//! let found = within(&rows)?;
//! assert!((found.slope - 2.0).abs() < 0.05 && found.z() > 10.0);
//! # Ok::<(), restive::statistics::Undefined>(())
//! ```

use super::Undefined;

/// One row: a number y, what may explain it, the group that has a mean of its own, and the cluster it belongs to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WithinRow {
    /// counted from 0 without gaps, near enough
    pub group: u32,
    /// counted from 0 without gaps, near enough
    pub cluster: u32,
    /// what may explain y
    pub x: f64,
    /// what is to be explained
    pub y: f64,
}

/// A slope within groups.
#[derive(Debug, Clone, PartialEq)]
pub struct Within {
    /// b
    pub slope: f64,
    /// its standard error, by clusters
    pub error: f64,
    /// rows of groups in which x varies
    pub rows: usize,
    /// the share of the variance of y within groups that x explains, from 0 to 1
    pub explained: f64,
    /// u_c times √(n/(n − G − 1)), by cluster
    influence: Vec<f64>,
}

impl Within {
    /// The slope in standard errors.
    pub fn z(&self) -> f64 {
        self.slope / self.error
    }

    /// This slope less another of the same clusters, in standard errors; 0 where neither is uncertain.
    pub fn less(&self, other: &Self) -> f64 {
        let clusters = self.influence.len().max(other.influence.len());
        let at = |of: &Self, c: usize| of.influence.get(c).copied().unwrap_or(0.0);
        let square: f64 = (0..clusters).map(|c| (at(self, c) - at(other, c)).powi(2)).sum();
        if square > 0.0 { (self.slope - other.slope) / square.sqrt() } else { 0.0 }
    }
}

#[derive(Clone, Copy)]
struct Group {
    rows: u32,
    x: f64,
    y: f64,
    least: f64,
    most: f64,
}

/// The slope of y on x within groups.
pub fn within(rows: &[WithinRow]) -> Result<Within, Undefined> {
    let groups = rows.iter().map(|row| row.group as usize + 1).max().unwrap_or(0);
    let clusters = rows.iter().map(|row| row.cluster as usize + 1).max().unwrap_or(0);
    let nothing = Group { rows: 0, x: 0.0, y: 0.0, least: f64::INFINITY, most: f64::NEG_INFINITY };
    let mut all = vec![nothing; groups];
    for (position, row) in rows.iter().enumerate() {
        if !(row.x.is_finite() && row.y.is_finite()) {
            return Err(Undefined::NotFinite { position });
        }
        let group = &mut all[row.group as usize];
        group.rows += 1;
        group.x += row.x;
        group.y += row.y;
        group.least = group.least.min(row.x);
        group.most = group.most.max(row.x);
    }
    let varies = |group: &Group| group.most > group.least;
    for group in all.iter_mut().filter(|group| group.rows > 0) {
        group.x /= f64::from(group.rows);
        group.y /= f64::from(group.rows);
    }
    let (mut xx, mut xy, mut yy, mut used) = (0.0, 0.0, 0.0, 0usize);
    for row in rows {
        let group = &all[row.group as usize];
        if varies(group) {
            let (x, y) = (row.x - group.x, row.y - group.y);
            xx += x * x;
            xy += x * y;
            yy += y * y;
            used += 1;
        }
    }
    let groups = all.iter().filter(|group| varies(group)).count();
    if used < groups + 2 {
        return Err(Undefined::TooFew { found: used, expected: groups + 2 });
    }
    if !(xx > 0.0 && yy > 0.0) {
        return Err(Undefined::NoSpread);
    }
    let slope = xy / xx;
    let taken = (used as f64 / (used - groups - 1) as f64).sqrt();
    let mut influence = vec![0.0; clusters];
    for row in rows {
        let group = &all[row.group as usize];
        if varies(group) {
            let (x, y) = (row.x - group.x, row.y - group.y);
            influence[row.cluster as usize] += taken * x * (y - slope * x) / xx;
        }
    }
    let error = influence.iter().map(|u| u * u).sum::<f64>().sqrt();
    if !(error > 0.0) {
        return Err(Undefined::NoSpread);
    }
    Ok(Within { slope, error, rows: used, explained: (slope * xy / yy).min(1.0), influence })
}
