//! A person's own record beside the prediction.

pub mod carry;
pub mod fit_carry;
mod past;

pub use carry::Carry;
pub use fit_carry::{CarryFit, fit_carry};
pub use past::Past;
