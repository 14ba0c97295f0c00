//! Log-odds: the chance of a pull without the loss of either end.
//!
//! A soft policy pulls with a chance p = σ(z) = 1/(1 + e^−z). Where p is near 1, a number holds p but no longer 1 − p: from
//! z = 37 on p *is* 1, and a decision not to pull seems impossible instead of unlikely. Importance sampling divides by
//! such chances, so the *log-odds* z = ln p/(1 − p) are what a policy hands on. Both chances follow to full relative precision,
//!
//! ```text
//! p = σ(z)      1 − p = σ(−z)      ln p = min(z, 0) − ln(1 + e^−|z|)
//! ```
//!
//! and −∞ and ∞ are the chances 0 and 1, exactly.
//!
//! ```
//! use restive::policy::{log_odds, sigmoid};
//!
//! assert_eq!(log_odds(1.0), f64::INFINITY);
//! assert!((sigmoid(-800.0f64.ln()) * 801.0 - 1.0).abs() < 1e-14);
//! assert!(sigmoid(50.0) == 1.0 && sigmoid(-50.0) > 0.0); // 1 − p is there, one sign away
//! ```

/// ln p/(1 − p).
pub fn log_odds(pull: f64) -> f64 {
    (pull / (1.0 - pull)).ln()
}

/// σ(z), the chance with these log-odds.
pub fn sigmoid(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// ln σ(z), however small.
pub(crate) fn log_sigmoid(log_odds: f64) -> f64 {
    log_odds.min(0.0) - (-log_odds.abs()).exp().ln_1p()
}
