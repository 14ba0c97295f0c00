//! Tails of the three distributions that tests need: normal, t, chi-square.
//!
//! **Normal.** P(|Z| > z) = erfc(z/√2): below 1 by the series of erf, whose terms are all positive; above by the continued fraction
//! of the upper incomplete gamma function.
//!
//! **t.** P(|T| > t) = I_x(f/2, ½) with x = f/(f + t²), the incomplete beta function by its continued fraction. Its factor
//! 1/B(a, ½) = Γ(a + ½)/(Γ(a)·√π) is a *ratio* of gamma functions: taken from Stirling's series as one number it keeps its digits
//! for any freedom, where a difference of two large logarithms would not.
//!
//! **Chi-square.** The freedom k is whole, so the tail is a finite sum of positive terms,
//! Q(k/2, y) = Q(k/2 − 1, y) + y^(k/2−1) e^(−y)/Γ(k/2) with y = x/2, from Q(½, y) = erfc(√y) or Q(1, y) = e^(−y).
//!
//! All are good to 1e-13 of the answer, far into the tail.

use std::f64::consts::{PI, SQRT_2};

/// Terms of a continued fraction or series; a hundred are plenty.
const TERMS: usize = 10_000;

/// P(|Z| > z) of a standard normal Z.
pub(super) fn normal(z: f64) -> f64 {
    erfc(z.abs() / SQRT_2)
}

/// P(Z > z) of a standard normal Z.
pub fn normal_tail(z: f64) -> f64 {
    let half = 0.5 * normal(z);
    if z > 0.0 { half } else { 1.0 - half }
}

/// The z with P(Z < z) = p of a standard normal Z, p between 0 and 1.
///
/// ```
/// use restive::statistics::normal_quantile;
///
/// assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-14);
/// assert!((normal_quantile(1e-10) + 6.361_340_902_404_056).abs() < 1e-13);
/// ```
pub fn normal_quantile(p: f64) -> f64 {
    if p == 0.5 {
        return 0.0;
    }
    let tail = p.min(1.0 - p);
    // ln of the tail is concave: Newton's method on it from above falls to the root and never passes it
    let mut z = (-2.0 * tail.ln()).sqrt();
    for _ in 0..100 {
        let found = normal_tail(z);
        let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
        let step = (found / tail).ln() * found / density;
        z += step;
        if step.abs() < 1e-15 * z.max(1e-3) {
            break;
        }
    }
    if p < 0.5 { -z } else { z }
}

/// P(|T| > t) of a t distribution with this freedom, any number above 0.
pub(super) fn t(t: f64, freedom: f64) -> f64 {
    let (a, b) = (0.5 * freedom, 0.5);
    let square = t * t / freedom;
    if square.is_infinite() {
        return 0.0;
    }
    let (x, y) = (1.0 / (1.0 + square), square / (1.0 + square)); // x + y = 1
    // x^a y^b/B(a, b)
    let factor = (-a * square.ln_1p()).exp() * y.sqrt() * half_step(a) / PI.sqrt();
    if x < (a + 1.0) / (a + b + 2.0) {
        factor / a * beta_fraction(a, b, x)
    } else {
        1.0 - factor / b * beta_fraction(b, a, y)
    }
}

/// The t with P(|T| > t) = 0.05, Student's 97.5 % quantile: half the width of a 95 % interval in standard errors. NaN where
/// there is no freedom.
///
/// ```
/// assert!((restive::statistics::student_quantile(1.0) - 12.706_204_736_174_7).abs() < 1e-12);
/// ```
pub fn student_quantile(freedom: f64) -> f64 {
    if !(freedom > 0.0) {
        return f64::NAN;
    }
    // the tail is convex and falls: Newton's method from the left climbs to the root and never passes it
    let mut root = 1.9599;
    for _ in 0..200 {
        let density = half_step(0.5 * freedom) / (freedom * PI).sqrt()
            * (-0.5 * (freedom + 1.0) * (root * root / freedom).ln_1p()).exp();
        let step = (t(root, freedom) - 0.05) / (2.0 * density);
        root += step;
        if step.abs() < 1e-15 * root {
            break;
        }
    }
    root
}

/// P(X > x) of a chi-square distribution with k degrees of freedom, k at least 1.
pub(super) fn chi_square(x: f64, freedom: usize) -> f64 {
    let y = 0.5 * x;
    if y <= 0.0 {
        return 1.0;
    }
    let is_odd = freedom % 2 == 1;
    let (mut sum, mut a) = if is_odd { (erfc(y.sqrt()), 0.5) } else { ((-y).exp(), 1.0) };
    // ln of y^a e^(−y)/Γ(a + 1); Γ(3/2) = √π/2 and Γ(2) = 1
    let mut log = a * y.ln() - y - if is_odd { (0.5 * PI.sqrt()).ln() } else { 0.0 };
    for _ in 0..(freedom - 1) / 2 {
        sum += log.exp();
        a += 1.0;
        log += (y / a).ln();
    }
    sum.min(1.0)
}

fn erfc(z: f64) -> f64 {
    let factor = 2.0 / PI.sqrt() * (-z * z).exp();
    if z < 1.0 {
        // erf = factor · Σ 2ⁿ z^(2n+1)/(1·3·…·(2n+1))
        let (mut term, mut sum) = (z, 0.0);
        for n in 1..TERMS {
            sum += term;
            term *= 2.0 * z * z / (2 * n + 1) as f64;
            if term < 1e-17 * sum {
                break;
            }
        }
        return 1.0 - factor * sum;
    }
    // Γ(½, z²) = e^(−z²) z/(z² + ½ − ½·1/(z² + 5/2 − …)), by Lentz's method
    let mut b = z * z + 0.5;
    let (mut c, mut d) = (f64::INFINITY, 1.0 / b);
    let mut fraction = d;
    for n in 1..TERMS {
        let a = -(n as f64) * (n as f64 - 0.5);
        b += 2.0;
        d = 1.0 / (a * d + b);
        c = b + a / c;
        let change = c * d;
        fraction *= change;
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
    }
    0.5 * factor * z * fraction
}

/// Γ(a + ½)/Γ(a)
fn half_step(a: f64) -> f64 {
    // upwards until Stirling's series is exact: Γ(a + ½)/Γ(a) = a/(a + ½) · Γ(a + 3/2)/Γ(a + 1)
    let (mut a, mut factor) = (a, 1.0);
    while a < 20.0 {
        factor *= a / (a + 0.5);
        a += 1.0;
    }
    let log = a * (0.5 / a).ln_1p() + 0.5 * a.ln() - 0.5 + stirling(a + 0.5) - stirling(a);
    factor * log.exp()
}

/// ln Γ(x) − (x − ½) ln x + x − ½ ln 2π, for x of 20 and more.
pub(super) fn stirling(x: f64) -> f64 {
    let s = 1.0 / (x * x);
    (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s * (1.0 / 1680.0 - s / 1188.0)))) / x
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
pub(super) fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let (mut c, mut d) = (1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for m in 1..TERMS {
        let m = m as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / (1.0 + term * d);
            c = 1.0 + term / c;
            change *= c * d;
        }
        fraction *= change;
        if (change - 1.0).abs() < 1e-16 {
            break;
        }
    }
    fraction
}
