//! What all emulators claim to be: one account, in one region.

/// The region that the emulators claim to be in.
pub const REGION: &str = "us-east-1";
/// The account that owns the emulated queues.
pub const ACCOUNT: &str = "000000000000";

/// The request id of every response of the emulators.
pub(super) const REQUEST_ID: &str = "local";
