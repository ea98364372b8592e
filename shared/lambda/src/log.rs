//! Logs: one JSON object a line on standard output. A line never holds a secret, a mail address
//! or a whole IP address: callers pass ids, codes and counts.

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;

/// Starts logging as JSON; `default` is the filter when `RUST_LOG` is unset.
pub fn init(default: &str) {
    // The filter alone drops lines below its levels.
    // The span of an invocation is the only one: a list would repeat it.
    let lines = tracing_subscriber::fmt().json().flatten_event(true).with_span_list(false);
    let subscriber = lines.with_max_level(LevelFilter::TRACE).finish().with(filter(default));
    // A second call, as in tests, keeps the first subscriber.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// The filter of the log: `RUST_LOG` as modules and levels (`warn,gateway=debug`), otherwise `default`.
/// `EnvFilter` could also filter by the fields of spans, but it adds a regular-expression engine to every
/// binary.
#[expect(clippy::disallowed_methods, reason = "of the log, which is there before the settings are")]
pub fn filter(default: &str) -> Targets {
    let said = std::env::var("RUST_LOG").ok().filter(|said| !said.is_empty());
    let parsed = said.and_then(|said| said.parse().ok());
    parsed.or_else(|| default.parse().ok()).unwrap_or_default()
}
