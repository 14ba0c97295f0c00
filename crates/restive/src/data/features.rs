//! What is known of arms, before it is numbers: columns of measurements and of words.
//!
//! A [`Column`] holds numbers, NaN where one is missing, or text, `None` where it is missing. [`Features`] are columns of
//! equal length with a name each. An [`Encoding`](super::encoding::Encoding) turns them into the array `[N,F]` that a
//! predictor reads.
//!
//! ```
//! use restive::data::features::{Column, Features};
//!
//! let age = Column::Number(vec![31.0, f64::NAN, 24.0]);
//! let district = Column::Text(vec![Some("north".into()), None, Some("south".into())]);
//! let known = Features::new(3, vec![("age".into(), age), ("district".into(), district)])?;
//! assert_eq!(known.select_arms(&[2]).arms(), 1);
//! # Ok::<(), restive::Error>(())
//! ```

use crate::error::{Error, FeatureFault, Result};
use std::borrow::Borrow;

/// One feature of every arm.
#[derive(Debug, Clone)]
pub enum Column {
    /// measurements; NaN: missing
    Number(Vec<f64>),
    /// words, each a category; `None`: missing
    Text(Vec<Option<String>>),
}

impl Column {
    /// N
    pub fn len(&self) -> usize {
        match self {
            Column::Number(values) => values.len(),
            Column::Text(values) => values.len(),
        }
    }

    /// Whether there are no arms.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it holds, in a word: numbers or text.
    pub fn kind(&self) -> &'static str {
        match self {
            Column::Number(_) => "numbers",
            Column::Text(_) => "text",
        }
    }

    /// How many arms miss it.
    pub fn missing(&self) -> usize {
        match self {
            Column::Number(values) => values.iter().filter(|x| x.is_nan()).count(),
            Column::Text(values) => values.iter().filter(|x| x.is_none()).count(),
        }
    }

    fn select(&self, arms: &[usize]) -> Self {
        match self {
            Column::Number(values) => Column::Number(arms.iter().map(|&i| values[i]).collect()),
            Column::Text(values) => Column::Text(arms.iter().map(|&i| values[i].clone()).collect()),
        }
    }
}

impl PartialEq for Column {
    /// Two missing numbers are alike.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Column::Number(a), Column::Number(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
            }
            (Column::Text(a), Column::Text(b)) => a == b,
            _ => false,
        }
    }
}

/// Named columns of N arms.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    arms: usize,
    names: Vec<String>,
    columns: Vec<Column>,
}

impl Features {
    /// Checks that every column has a name of its own and one entry per arm, and that no number is infinite. An empty text
    /// is a missing one.
    pub fn new(arms: usize, columns: Vec<(String, Column)>) -> Result<Self> {
        let (mut names, mut checked) = (Vec::<String>::new(), Vec::new());
        for (name, mut column) in columns {
            let refuse = |fault| Err(Error::Feature { column: name.clone(), fault });
            if names.contains(&name) {
                return refuse(FeatureFault::Duplicate);
            }
            if column.len() != arms {
                let (expected, found) = (format!("[{arms}], one entry per arm"), vec![column.len()]);
                return Err(Error::Shape { what: "features", expected, found });
            }
            match &mut column {
                Column::Number(values) => {
                    if let Some(arm) = values.iter().position(|x| x.is_infinite()) {
                        return refuse(FeatureFault::Infinite { arm });
                    }
                }
                Column::Text(values) => values.iter_mut().for_each(|text| {
                    text.take_if(|text| text.is_empty());
                }),
            }
            names.push(name);
            checked.push(column);
        }
        Ok(Self { arms, names, columns: checked })
    }

    /// N
    pub fn arms(&self) -> usize {
        self.arms
    }

    /// The names of the columns, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The columns, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.names.iter().position(|n| n == name).map(|c| &self.columns[c])
    }

    /// Some of the arms, in the given order.
    pub fn select_arms(&self, arms: &[usize]) -> Self {
        let columns = self.columns.iter().map(|column| column.select(arms)).collect();
        Self { arms: arms.len(), names: self.names.clone(), columns }
    }

    /// The arms of several tables with the same columns, one after the other. Panics where the columns differ.
    pub fn stack<F: Borrow<Features>>(tables: &[F]) -> Self {
        let mut stacked = tables.first().expect("at least one table").borrow().clone();
        for table in tables[1..].iter().map(Borrow::borrow) {
            assert_eq!(table.names, stacked.names, "features: the same columns in every table");
            stacked.arms += table.arms;
            for (column, more) in stacked.columns.iter_mut().zip(&table.columns) {
                match (column, more) {
                    (Column::Number(values), Column::Number(more)) => values.extend(more),
                    (Column::Text(values), Column::Text(more)) => values.extend(more.iter().cloned()),
                    (column, more) => panic!("features: {} and {} in one column", column.kind(), more.kind()),
                }
            }
        }
        stacked
    }
}
