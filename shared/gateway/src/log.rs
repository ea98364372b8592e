//! Logs: one JSON object a line on standard output. A line never holds a secret, a mail address
//! or a whole IP address: callers pass ids, codes and counts.

use tracing_subscriber::EnvFilter;

/// Starts logging as JSON; `default` is the filter when `RUST_LOG` says nothing.
pub fn init(default: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    let subscriber =
        tracing_subscriber::fmt().json().flatten_event(true).with_env_filter(filter).finish();
    // A second call, as in tests, keeps the first subscriber.
    let _ = tracing::subscriber::set_global_default(subscriber);
}
