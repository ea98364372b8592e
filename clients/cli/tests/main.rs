//! The command line as its users see it: the built binary against a local system.

mod api;
mod cli;
mod files;
mod listen;
mod login;
mod theme;
