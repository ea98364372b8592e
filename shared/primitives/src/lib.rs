//! The types that every layer uses. This crate knows neither the table nor routes nor commerce.
//!
//! - [`problem`]: errors, as RFC 9457 writes them; [`fields`]: the types of request fields, and their errors;
//!   [`input`]: the types that are made of them; [`schema`]: JSON Schemas of those.
//! - [`clock`], [`id`]: time, and ids that sort by time.
//! - [`version`]: the version that a change expects.
//! - [`context`]: the request under way, for logs, events and counters.
//! - [`currency`]: the decimals of currencies. [`setting`]: a setting of the deployment.
//! - [`deflate`], [`members`], [`size`]: bytes and JSON text.

pub mod clock;
pub mod context;
pub mod currency;
pub mod deflate;
pub mod fields;
pub mod id;
pub mod input;
pub mod members;
pub mod problem;
pub mod schema;
pub mod setting;
pub mod size;
pub mod version;
