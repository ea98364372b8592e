//! The HTTP and DynamoDB layer under every function. It holds no rule of commerce. The commercial names it
//! uses are closed lists of the deployment and of the public contract, each held equal to a document by a
//! test: problem codes ([`problem::Code`]), settings and secrets ([`config`]), kinds of callers and of due
//! work (docs/decisions.md §15.1). Domain crates pass in queues and origins.
//!
//! - A request: [`lambda`] (or a local server) → [`routes`] (rows, guards) → [`caller`], [`budget`],
//!   [`idempotency`] → a [`handler`] with arguments of [`request`] → a [`reply`] or a [`problem`], sent as an
//!   [`answer`]. The [`response_cache`] serves public pages for two seconds.
//! - State: [`table`] over [`item`], events written through [`outbox`], lists paged by [`page`].
//! - Outgoing: [`queue`], [`secrets`], [`egress`]. Requests that an app's bridge sends back in: [`bridged`].
//! - Cryptography: [`token`], [`password`], [`signature`], [`seal`].
//! - Dependencies of handlers: [`app`]. Context of a request: [`context`]. Measurements: [`metrics`].

mod amounts;
pub mod answer;
pub mod app;
pub mod bridged;
pub mod budget;
pub mod caller;
mod conditions;
pub mod cors;
#[cfg(feature = "openapi")]
pub mod describe;
pub mod encoding;
pub mod handler;
pub mod idempotency;
pub mod page;
mod quality;
pub mod reply;
pub mod request;
pub mod response_cache;
pub mod routes;
mod row;

/// The allocator of every serving process. A request allocates some hundred times and frees it all: a sixth
/// of its work with glibc's allocator, whose arenas also retain what each of many threads once needed.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
