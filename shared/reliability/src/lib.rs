//! How the platform is doing, what is done about it, and the proof of it.
//!
//! - [`queues`]: what is in the queues, as SQS says it; [`metrics`]: what the functions have counted;
//!   [`runs`]: what was tried last.
//! - [`rules`]: what is held to be trouble, as the alarms of `template.yaml` hold it; [`watch`] looks once
//!   a minute, and opens and resolves an [`incident`] for each.
//! - [`canary`]: the store that drills and load tests are made on, and what receives its events;
//!   [`drill`]: a fault that is injected for it, and how the service recovers; [`load_test`]: requests to its
//!   storefront, at a rate, and how they were answered.
//! - [`evidence`]: a chain of records of what was measured, each bound to the one before it.
//! - [`report`]: what was promised, held against the evidence of a period.

pub mod canary;
pub mod drill;
pub mod evidence;
pub mod incident;
pub mod load_test;
pub mod metrics;
pub mod queues;
pub mod report;
pub mod rules;
pub mod runs;
pub mod watch;
