//! Several questions at once: Holm's correction.
//!
//! Of m true null hypotheses, each tested at level α, some are rejected by chance more often than α. Holm (1979) takes the p-values in
//! rising order and asks p₍ₖ₎·(m + 1 − k) < α, until one fails: the chance that any true null hypothesis is rejected is then at most
//! α, however the tests depend on each other.

/// The p-values corrected for being several, each in its place: a hypothesis is rejected at level α where its corrected p-value is
/// below α.
///
/// ```
/// use restive::statistics::holm;
///
/// let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
/// let rejected: Vec<bool> = corrected.iter().map(|p| *p < 0.05).collect();
/// assert_eq!(rejected, [true, false, false, true]); // uncorrected, all four would be
/// ```
pub fn holm(p: &[f64]) -> Vec<f64> {
    assert!(p.iter().all(|p| (0.0..=1.0).contains(p)), "p-values: from 0 to 1");
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut corrected = vec![0.0; p.len()];
    let mut least: f64 = 0.0;
    for (before, place) in order.into_iter().enumerate() {
        least = least.max((p[place] * (p.len() - before) as f64).min(1.0));
        corrected[place] = least;
    }
    corrected
}
