//! An [`App`](gateway::app::App) over in-process emulators and a settable clock: for `local`, tests and benches.
//!
//! Missing resources of a deployment (table, queues, secrets, settings) are created at the start, so that a
//! local system starts on an empty or an existing data directory.

pub mod aws;
mod browsers;
mod embedded;
mod error;
pub mod faults;
pub mod forgeries;
pub mod guard;
mod intercept;
mod names;
mod options;
mod remote;
mod resources;
mod shadow;
mod stream;
mod table;

pub use aws_credential_types::Credentials;

pub use browsers::is_private_host;
pub use embedded::Embedded;
pub use error::AnyError;
pub use names::{
    DUE_QUEUE, MAIL_QUEUE, RUNNER_QUEUE, SECRETS, SLOW_WEBHOOK_QUEUE, TABLE, WEBHOOK_QUEUE,
};
pub use options::Options;
pub use remote::Elsewhere;
pub use shadow::Shadow;
pub use stream::{StreamRecords, Unhandled};
pub use table::{TTL_ATTRIBUTE, table_definition};
