//! Logs: one JSON object a line on standard output. A line never holds a secret, a mail address
//! or a whole IP address: callers pass ids, codes and counts.

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;

/// Starts logging as JSON; `default` is the filter when `RUST_LOG` says nothing.
pub fn init(default: &str) {
    // What is below the filter's level is the filter's to drop.
    // The span of an invocation is the only one: a list would say it twice.
    let lines = tracing_subscriber::fmt().json().flatten_event(true).with_span_list(false);
    let subscriber = lines.with_max_level(LevelFilter::TRACE).finish().with(filter(default));
    // A second call, as in tests, keeps the first subscriber.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// What is logged: as `RUST_LOG` says, by modules and levels (`warn,gateway=debug`), otherwise as
/// `default` does. `EnvFilter` could also tell spans by their fields; for that it brings an engine for
/// regular expressions into every binary.
#[expect(clippy::disallowed_methods, reason = "of the log, which is there before the settings are")]
pub fn filter(default: &str) -> Targets {
    let said = std::env::var("RUST_LOG").ok().filter(|said| !said.is_empty());
    let parsed = said.and_then(|said| said.parse().ok());
    parsed.or_else(|| default.parse().ok()).unwrap_or_default()
}
