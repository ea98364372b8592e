//! The machinery under every function. It knows no rule of commerce; what it calls by commerce's
//! names are closed lists of the deployment and of the public contract, which a document or a test
//! is held equal to: problem codes ([`problem::Code`]), settings and secrets ([`config`]), kinds of
//! callers and of due work (docs/decisions.md §15.1). Queues and origins the rooms give to it.
//!
//! - A request: [`lambda`] (or a local server) → [`routes`] (rows, guards) → [`caller`],
//!   [`budget`], [`idempotency`] → a [`handler`] with arguments of [`request`] → a [`reply`] or
//!   a [`problem`], sent as an [`answer`]; public ones are [`kept`] for a moment.
//! - State: [`table`] over [`item`], announced through [`outbox`], paged by [`page`].
//! - Outside: [`queue`], [`secrets`], [`egress`]; what comes back in from there is [`bridged`].
//! - Cryptography: [`token`], [`password`], [`signature`], [`seal`].
//! - What a handler can reach is [`app`]; what is known of its request is [`context`]; what is counted of
//!   all of them is [`metrics`].

pub mod amounts;
pub mod answer;
pub mod app;
pub mod bridged;
pub mod budget;
pub mod cache;
pub mod caller;
pub mod canary;
pub mod clock;
pub mod config;
pub mod connector;
pub mod context;
pub mod cors;
#[cfg(feature = "openapi")]
pub mod describe;
pub mod egress;
pub mod handler;
pub mod id;
pub mod idempotency;
pub mod item;
pub mod lambda;
pub mod log;
mod members;
pub mod metrics;
pub mod outbox;
pub mod page;
pub mod password;
pub mod problem;
pub mod queue;
pub mod reply;
pub mod request;
pub mod response_cache;
pub mod routes;
pub mod seal;
pub mod secrets;
pub mod signature;
pub mod size;
pub mod table;
pub mod token;

/// Of every process that serves: a request allocates some hundred times and frees it all, which is a
/// sixth of its work with glibc's allocator, whose arenas keep what each of many threads once needed.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
