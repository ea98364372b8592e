//! The command line as its users see it: the built binary against a local system.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

mod api;
mod cli;
mod files;
mod listen;
mod login;
mod theme;
