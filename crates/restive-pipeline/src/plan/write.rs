//! A plan as a table, `.csv` or `.parquet`.

use super::{Plan, PolicyName, SCORE};
use restive_tables::{Cells, recognise_table, write_private_table, write_table};
use std::path::Path;

/// The columns of what a ranking goes by: a state, or a label where states are seen at pulls only.
const STATE: &[&str] = &["state"];
const LABEL: &[&str] = &["last_state", "since"];

impl Plan {
    /// The columns of what the ranking goes by.
    pub fn columns(&self) -> &'static [&'static str] {
        if self.is_labelled { LABEL } else { STATE }
    }

    /// Refuses a table that is no plan.
    pub fn recognise(path: &Path) -> restive_tables::Result<()> {
        recognise_table(path, "a plan", |columns| {
            let rest = columns.strip_prefix(&["instance", "arm"]);
            let stated = |policy: &PolicyName| [policy.worth(), "rank", "inclusion", "is_beneficial"];
            let place = |policy: &PolicyName| rest.and_then(|rest| rest.strip_suffix(&stated(policy)));
            let without_effects = rest.and_then(|rest| rest.strip_suffix(&[SCORE, "rank", "inclusion"]));
            // what is kept of people for the list stands before
            let is_known = |place: &[&str]| [STATE, LABEL].iter().any(|known| place.ends_with(known));
            PolicyName::ALL.iter().filter_map(place).chain(without_effects).any(is_known)
        })
    }

    /// Writes a table, `.csv` or `.parquet`. One that is there is replaced only where `replace` is set and it
    /// [is](Self::recognise) a plan.
    pub fn write(&self, path: &Path, replace: bool) -> restive_tables::Result<()> {
        let rows = self.plan.iter();
        let mut columns = vec![
            ("instance", Cells::Text(rows.clone().map(|row| row.instance.clone()).collect())),
            ("arm", Cells::Text(rows.clone().map(|row| row.arm.clone()).collect())),
        ];
        let kept = |c: usize| Cells::Text(rows.clone().map(|row| row.kept[c].clone()).collect());
        columns.extend(self.kept_columns.iter().enumerate().map(|(c, name)| (name.as_str(), kept(c))));
        let place =
            |c: usize| Cells::Whole(rows.clone().map(|row| row.place.cells()[c].map(i32::from)).collect());
        columns.extend(self.columns().iter().enumerate().map(|(c, name)| (*name, place(c))));
        columns.extend([
            (self.score_name(), Cells::Number(rows.clone().map(|row| row.worth.value()).collect())),
            ("rank", Cells::Whole(rows.clone().map(|row| Some(row.rank as i32)).collect())),
            ("inclusion", Cells::Number(rows.clone().map(|row| row.inclusion).collect())),
        ]);
        if self.effects.identified().is_some() {
            let pays = rows.clone().filter_map(|row| row.effects.map(|effects| effects.is_beneficial));
            columns.push(("is_beneficial", Cells::Truth(pays.collect())));
        }
        // a list with names is for the eyes of its owner
        match self.kept_columns.is_empty() {
            true => write_table(path, replace.then_some(Self::recognise), columns),
            false => {
                let columns: Vec<(&str, &Cells)> =
                    columns.iter().map(|(name, cells)| (*name, cells)).collect();
                write_private_table(path, replace.then_some(Self::recognise), &columns)
            }
        }
    }
}
