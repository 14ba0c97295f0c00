//! The picture: what a call does to the next reward, by where people stand in the ranking, and the same with people shuffled.
//!
//! People are cut into ten by their place in the group, best first. A bar is the mean effect of all calls plus how far the effects of
//! its rows lie above those of others in the same cells; its standard error is by [cluster](super::clusters). Shuffled, each person has the
//! place of another of the group: what chance alone would draw.

use super::ranking::{Gain, Ranking, squares};
use super::rows::Evidence;
use crate::random::stream;
use rand::RngExt;

/// The stream of the shuffle.
const SHUFFLED: u64 = 0x7368_7566;
/// Bars of the picture.
pub const DECILES: usize = 10;

/// The effect of a call on the next reward by decile of the ranking, best first.
#[derive(Debug, Clone, PartialEq)]
pub struct Deciles {
    /// as ranked
    pub ranked: [Gain; DECILES],
    /// with people shuffled
    pub shuffled: [Gain; DECILES],
    /// of all calls
    pub mean: Gain,
}

impl Evidence {
    /// The picture of a ranking.
    pub fn deciles(&self, ranking: &Ranking) -> Deciles {
        let place = &ranking.ranks.place;
        let mut random = stream(self.settings.seed, &[SHUFFLED]);
        let mut whose: Vec<usize> = (0..self.people).collect();
        for group in &self.groups {
            let own = &mut whose[group.people.clone()];
            for i in (1..own.len()).rev() {
                own.swap(i, random.random_range(0..=i));
            }
        }
        // the mean place of everybody: what is handed on
        let (mut sum, mut rows) = (vec![0.0; self.people], vec![0.0; self.people]);
        for (row, place) in self.rows.iter().zip(place) {
            sum[row.person as usize] += place;
            rows[row.person as usize] += 1.0;
        }
        let handed_on: Vec<f64> = self
            .rows
            .iter()
            .map(|row| {
                let from = whose[row.person as usize];
                if rows[from] > 0.0 { sum[from] / rows[from] } else { 0.5 }
            })
            .collect();
        let (effects, scored) = self.reward_scores();
        let all = scored.iter().filter(|scored| **scored).count().max(1) as f64;
        let mean = effects.iter().sum::<f64>() / all;
        let of_mean = self.by_cluster(
            effects.iter().zip(&scored).map(|(x, scored)| if *scored { (x - mean) / all } else { 0.0 }),
        );
        let centred = self.centred(&effects, &scored);
        let bars = |place: &[f64]| -> [Gain; DECILES] {
            std::array::from_fn(|decile| {
                let is_in =
                    |k: usize| scored[k] && ((place[k] * DECILES as f64) as usize).min(DECILES - 1) == decile;
                let rows = (0..self.rows.len()).filter(|k| is_in(*k)).count() as f64;
                if rows == 0.0 {
                    return Gain { value: f64::NAN, error: f64::NAN };
                }
                let above =
                    (0..self.rows.len()).filter(|k| is_in(*k)).map(|k| centred[k]).sum::<f64>() / rows;
                let mut influence = self.by_cluster(
                    (0..self.rows.len()).map(|k| if is_in(k) { (centred[k] - above) / rows } else { 0.0 }),
                );
                influence.iter_mut().zip(&of_mean).for_each(|(x, of_mean)| *x += of_mean);
                Gain { value: mean + above, error: squares(&influence).sqrt() }
            })
        };
        Deciles {
            ranked: bars(place),
            shuffled: bars(&handed_on),
            mean: Gain { value: mean, error: squares(&of_mean).sqrt() },
        }
    }
}
