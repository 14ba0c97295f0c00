//! Answers: the sums that a [`Question`] asks for, over the arms of a piece, of a partition, of all.
//!
//! Of each row (s, a): the slope of −Σ n·ln P by its weights, `[M−1,F+1]`, and its curvature, a matrix `[F+1,F+1]` for each pair of
//! log-odds, of which one half is kept. Nothing in them depends on the penalties.
//!
//! **The same bits for every number of threads.** A piece is cut into groups of 4,096 arms, which threads share; their sums are added in
//! order. Other pieces make other groups, and move a sum by rounding alone: values and slopes are carried in two numbers each, so that a
//! hundred thousand pieces round no more than one.

use super::super::super::chunks::{CHUNK, in_order};
use super::super::design::Columns;
use super::question::Question;
use super::tally::{Asked, Tally};
use crate::bytes::{Reader, Writer};
use crate::error::{Error, Result};
use crate::twofold::Twofold;
use ndarray::{ArrayView2, ArrayView4, s};

/// Chunks of a group; part of the arithmetic.
const GROUP: usize = 4;
/// Groups whose sums are held at a time.
const WAVE: usize = 32;
const NAME: &str = "sums 1";

/// What a question asks for, summed over some arms.
#[derive(Debug, Clone, PartialEq)]
pub struct Sums {
    /// that of the question
    number: u64,
    /// F
    features: usize,
    /// M
    states: usize,
    arms: u64,
    held_out_arms: u64,
    observed: f64,
    pub(super) reach: f64,
    /// −Σ n·ln P of the arms, of the held-out arms, and its slope `[2M,M−1,F+1]`
    values: Vec<Twofold>,
    /// `[2M,pairs,F+1,F+1]`, of each matrix the lower half by rows
    grams: Vec<f64>,
}

/// Where the values of the arms and of the held-out arms lie among the twofold numbers, and where the slope begins.
const VALUE: usize = 0;
const HELD_OUT: usize = 1;
const SLOPE: usize = 2;

impl Sums {
    /// Over nobody yet.
    pub fn new(question: &Question) -> Self {
        let Question { number, features, states, .. } = *question;
        let (numbers, grams) = lengths(features, states);
        let values = vec![Twofold::default(); numbers];
        let (arms, held_out_arms, observed, reach) = (0, 0, 0.0, 0.0);
        Self {
            number,
            features,
            states,
            arms,
            held_out_arms,
            observed,
            reach,
            values,
            grams: vec![0.0; grams],
        }
    }

    /// Adds arms to learn from: encoded features `[n,F]` and counts of moves `[n,M,2,M]`.
    pub fn add(&mut self, question: &Question, features: ArrayView2<'_, f64>, counts: ArrayView4<'_, f64>) {
        let columns = Columns::new(features);
        let asked = Asked::new(question, &columns);
        let piece = self.piece(question, features, counts, &asked, Tally::add);
        self.arms += features.nrows() as u64;
        self.observed += piece.observed;
        self.reach = self.reach.max(piece.reach);
        self.values[VALUE].add(piece.value);
        // from the order of the piece to that of the features
        let place: Vec<usize> = columns.places().collect();
        let width = place.len();
        for (to, from) in piece.slope.chunks_exact(width).enumerate() {
            from.iter().zip(&place).for_each(|(x, g)| self.values[SLOPE + to * width + g].add(*x));
        }
        let half = width * (width + 1) / 2;
        for (to, from) in self.grams.chunks_exact_mut(half).zip(piece.grams.chunks_exact(width * width)) {
            for (g, h) in (0..width).flat_map(|g| (0..=g).map(move |h| (g, h))) {
                let (high, low) = (place[g].max(place[h]), place[g].min(place[h]));
                to[high * (high + 1) / 2 + low] += from[g * width + h];
            }
        }
    }

    /// Adds held-out arms, where [they are asked](Question::asks_held_out).
    pub fn add_held_out(
        &mut self,
        question: &Question,
        features: ArrayView2<'_, f64>,
        counts: ArrayView4<'_, f64>,
    ) {
        let columns = Columns::new(features);
        let asked = Asked::new(question, &columns);
        let piece = self.piece(question, features, counts, &asked, Tally::add_value);
        self.held_out_arms += features.nrows() as u64;
        self.values[HELD_OUT].add(piece.value);
    }

    /// Group by group, in order.
    fn piece(
        &self,
        question: &Question,
        features: ArrayView2<'_, f64>,
        counts: ArrayView4<'_, f64>,
        asked: &Asked<'_>,
        add: impl Fn(&mut Tally, &Asked<'_>, ArrayView2<'_, f64>, ArrayView2<'_, f64>) + Sync,
    ) -> Tally {
        let (n, m) = (features.nrows(), self.states);
        assert_eq!((question.number, question.states), (self.number, m), "sums: those of this question");
        assert_eq!(features.ncols(), self.features, "features: [n,F]");
        assert_eq!(counts.shape(), [n, m, 2, m], "counts: [n,M,2,M]");
        let counts = counts.to_shape((n, 2 * m * m)).expect("[n,M,2,M]");
        let starts: Vec<usize> = (0..n).step_by(GROUP * CHUNK).collect();
        let mut total = Tally::new(asked);
        for wave in starts.chunks(WAVE) {
            let groups = in_order(wave.to_vec(), |_, first| {
                let mut tally = Tally::new(asked);
                for first in (first..n.min(first + GROUP * CHUNK)).step_by(CHUNK) {
                    let arms = s![first..n.min(first + CHUNK), ..];
                    add(&mut tally, asked, features.slice(arms), counts.slice(arms));
                }
                tally
            });
            groups.iter().for_each(|group| total.merge(group));
        }
        total
    }

    /// Adds those of other arms; they must answer the same question.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.check(other.number, other.features, other.states)?;
        self.arms += other.arms;
        self.held_out_arms += other.held_out_arms;
        self.observed += other.observed;
        self.reach = self.reach.max(other.reach);
        self.values.iter_mut().zip(&other.values).for_each(|(to, from)| to.merge(*from));
        self.grams.iter_mut().zip(&other.grams).for_each(|(to, from)| *to += from);
        Ok(())
    }

    /// An error where these are not sums of this question.
    pub(super) fn check(&self, number: u64, features: usize, states: usize) -> Result<()> {
        if (self.number, self.features, self.states) == (number, features, states) {
            return Ok(());
        }
        let words = |number: u64, features: usize, states: usize| {
            format!("those of question {number} with {features} features and {states} states")
        };
        let found = words(self.number, self.features, self.states);
        Err(Error::Unsuitable { what: "sums", found, expected: words(number, features, states) })
    }

    /// How many arms to learn from are in them.
    pub fn arms(&self) -> u64 {
        self.arms
    }

    /// How many held-out arms are in them.
    pub fn held_out_arms(&self) -> u64 {
        self.held_out_arms
    }

    /// As bytes, to be sent to whoever merges.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::new(NAME);
        writer.whole(self.number);
        writer.count(self.features);
        writer.count(self.states);
        writer.whole(self.arms);
        writer.whole(self.held_out_arms);
        writer.number(self.observed);
        writer.number(self.reach);
        writer.numbers(&self.values.iter().map(|value| value.high).collect::<Vec<_>>());
        writer.numbers(&self.values.iter().map(|value| value.low).collect::<Vec<_>>());
        writer.numbers(&self.grams);
        writer.finish()
    }

    /// And back.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(NAME, bytes)?;
        let (number, features, states) = (reader.whole()?, reader.count()?, reader.count()?);
        let (arms, held_out_arms) = (reader.whole()?, reader.whole()?);
        let (observed, reach) = (reader.number()?, reader.number()?);
        let (high, low, grams) = (reader.numbers()?, reader.numbers()?, reader.numbers()?);
        // sizes beyond these could not have been written
        let is_sane = (1..1 << 16).contains(&states) && features < 1 << 24;
        let (numbers, halves) = if is_sane { lengths(features, states) } else { (0, 0) };
        if [high.len(), low.len()] != [numbers; 2] || grams.len() != halves {
            return Err(reader.refuse("other sizes"));
        }
        reader.finish()?;
        let values = high.into_iter().zip(low).map(|(high, low)| Twofold { high, low }).collect();
        Ok(Self { number, features, states, arms, held_out_arms, observed, reach, values, grams })
    }

    /// −Σ n·ln P.
    pub(super) fn value(&self) -> f64 {
        self.values[VALUE].get()
    }

    /// And of the held-out arms.
    pub(super) fn held_out(&self) -> f64 {
        self.values[HELD_OUT].get()
    }

    /// Moves that were seen, at least 1.
    pub(super) fn observed(&self) -> f64 {
        self.observed.max(1.0)
    }

    /// The derivative by the weight of column g in the k-th log-odds of row 2s + a.
    pub(super) fn slope(&self, row: usize, k: usize, g: usize) -> f64 {
        self.values[SLOPE + (row * (self.states - 1) + k) * (self.features + 1) + g].get()
    }

    /// The curvature of row 2s + a between (k, g) and (l, h), k ≥ l given by its pair.
    pub(super) fn gram(&self, row: usize, pair: usize, g: usize, h: usize) -> f64 {
        let (width, q) = (self.features + 1, self.states - 1);
        let (high, low) = (g.max(h), g.min(h));
        let half = width * (width + 1) / 2;
        self.grams[(row * (q * (q + 1) / 2) + pair) * half + high * (high + 1) / 2 + low]
    }
}

/// Of the twofold numbers, and of the halves of all matrices.
fn lengths(features: usize, states: usize) -> (usize, usize) {
    let (m, q, width) = (states, states - 1, features + 1);
    (SLOPE + 2 * m * q * width, m * q * (q + 1) * (width * (width + 1) / 2))
}
