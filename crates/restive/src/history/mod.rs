//! A person's own record beside the prediction.

pub mod carry;
pub mod fit_carry;
pub mod gauss;
mod past;

pub use carry::Carry;
pub use fit_carry::{CarryFit, fit_carry};
pub use gauss::{Gauss, GaussEnd, GaussFit, fit_gauss, fit_gauss_with};
pub use past::Past;
