//! Progress bars, on a terminal alone.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output::Output;

/// A bar on standard error: nothing is drawn into a file, or where notes are not wanted.
pub fn bar(output: Output, what: &'static str, total: u64) -> ProgressBar {
    let target = if output.quiet || output.json {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr()
    };
    let bar = ProgressBar::with_draw_target(Some(total), target);
    let style = ProgressStyle::with_template("{prefix:12} [{bar:30}] {bytes}/{total_bytes} {msg}");
    if let Ok(style) = style {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_prefix(what);
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
