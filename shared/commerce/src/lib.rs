//! Events across all domain crates.
//!
//! - [`topics`]: the catalogue of all topics. [`event_types`]: its representation in responses.
//! - [`event_filter`]: the event types in a request. [`readers`]: the scopes that a change of a subscription,
//!   delivery or replay requires.
//! - [`audience`]: the subscriptions that receive an event. [`replays`]: the deliveries that a replay
//!   creates.
//!
//! ```text
//! core → identity → catalogue → sales → themes ───────┐
//!               └→ platform → delivery → reliability ─┴→ commerce
//! ```

pub mod audience;
pub mod event_filter;
pub mod event_types;
pub mod readers;
pub mod replays;
pub mod topics;
