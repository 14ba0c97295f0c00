//! A progress bar on a terminal; nothing where standard error is not one.

use crate::display::grouped;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The bar counts thousandths of the file.
const STEPS: u64 = 1000;

pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr());
        let style =
            ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg} arms  {elapsed} (left {eta})");
        Self(bar.with_style(style.expect("a valid template")))
    }

    pub(crate) fn update(&self, share: f64, arms: u64) {
        self.0.set_message(grouped(arms));
        self.0.set_position((share * STEPS as f64) as u64);
    }
}

impl Drop for Progress {
    /// The bar goes before anything else is said.
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
