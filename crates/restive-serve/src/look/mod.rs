//! How a page is made: words, the frame around it, small pictures, refusals.

pub(crate) mod answer;
pub(crate) mod assets;
pub(crate) mod base;
pub(crate) mod chance;
pub(crate) mod refusal;
pub(crate) mod spoken;
pub(crate) mod told;
pub(crate) mod typed;
pub(crate) mod words;
