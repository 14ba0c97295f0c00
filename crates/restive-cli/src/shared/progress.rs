//! A progress bar on a terminal; nothing where standard error is not one.

use crate::shared::display::grouped;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The bar counts thousandths of the file.
const STEPS: u64 = 1000;

pub(crate) struct Progress {
    bar: ProgressBar,
    unit: &'static str,
}

impl Progress {
    /// A bar that counts things, in the plural.
    pub(crate) fn new(unit: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}  {elapsed} (left {eta})");
        Self { bar: bar.with_style(style.expect("a valid template")), unit }
    }

    pub(crate) fn update(&self, share: f64, count: u64) {
        self.say(share, format!("{} {}", grouped(count), self.unit));
    }

    /// A message of its own instead of a count.
    pub(crate) fn say(&self, share: f64, message: String) {
        self.bar.set_message(message);
        self.bar.set_position((share * STEPS as f64) as u64);
    }
}

impl Drop for Progress {
    /// The bar goes before anything else is said.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
