//! Adam (Kingma and Ba, 2015): steps in units of the gradient's own recent size.
//!
//! m ← β₁m + (1−β₁)g, v ← β₂v + (1−β₂)g², and the step is −rate · m̂/(√v̂ + ε) with m̂ = m/(1−β₁ᵗ), v̂ = v/(1−β₂ᵗ). The
//! moments and the count of steps are the whole state: saved and restored, the optimiser goes on bit for bit.
//!
//! ```
//! use restive::predictor::adam::Adam;
//!
//! let (mut x, mut adam) = (vec![1.0], Adam::new(1, 1e-8));
//! for _ in 0..500 {
//!     let gradient = [2.0 * x[0]]; // of x²
//!     adam.step(&mut x, &gradient, 0.01);
//! }
//! assert!(x[0].abs() < 1e-2);
//! ```

/// Moments of the gradient.
#[derive(Debug, Clone, PartialEq)]
pub struct Adam {
    /// β₁, how slowly the mean forgets
    pub beta_mean: f64,
    /// β₂, how slowly the mean square forgets
    pub beta_square: f64,
    /// ε, what keeps the step finite where gradients vanish
    pub epsilon: f64,
    /// m: the mean, before correction
    pub mean: Vec<f64>,
    /// v: the mean square, before correction
    pub square: Vec<f64>,
    /// t: steps made
    pub steps: u64,
}

impl Adam {
    /// For so many parameters, with β₁ = 0.9 and β₂ = 0.999.
    pub fn new(params: usize, epsilon: f64) -> Self {
        let (mean, square) = (vec![0.0; params], vec![0.0; params]);
        Self { beta_mean: 0.9, beta_square: 0.999, epsilon, mean, square, steps: 0 }
    }

    /// One step down the gradient.
    pub fn step(&mut self, params: &mut [f64], gradient: &[f64], rate: f64) {
        assert_eq!(params.len(), self.mean.len(), "as many parameters as moments");
        assert_eq!(gradient.len(), self.mean.len(), "as many derivatives as parameters");
        self.steps += 1;
        let t = self.steps as f64;
        let (b1, b2) = (self.beta_mean, self.beta_square);
        let (c1, c2) = (1.0 / (1.0 - b1.powf(t)), 1.0 / (1.0 - b2.powf(t)));
        let moments = self.mean.iter_mut().zip(&mut self.square);
        for ((x, &g), (m, v)) in params.iter_mut().zip(gradient).zip(moments) {
            *m = b1 * *m + (1.0 - b1) * g;
            *v = b2 * *v + (1.0 - b2) * g * g;
            *x -= rate * (c1 * *m) / ((c2 * *v).sqrt() + self.epsilon);
        }
    }
}
