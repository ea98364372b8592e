//! Monitoring of the platform, incidents, failover drills, load tests, and the evidence of all of them.
//!
//! - [`queues`]: the depth of the queues, as SQS reports it; [`metrics`]: the counters of the functions;
//!   [`runs`]: summaries of the last drill, load test and replay.
//! - [`rules`]: the thresholds that open incidents, the same as those of the alarms in `template.yaml`;
//!   [`watch`] evaluates them once a minute, and opens and resolves an [`incident`] for each.
//! - [`canary`]: the store that drills and load tests run on, and the receiver of its events;
//!   [`drill`]: a fault injected for that store, and how the service recovers; [`load_test`]: requests to
//!   its storefront at a fixed rate, and how they were answered.
//! - [`evidence`]: a chain of records of measured results, each hashed over the one before it.
//! - [`report`]: the platform's targets, compared with the evidence of a period.

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
