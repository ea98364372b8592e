//! Random sequences of commerce, by seed, in one process: checkouts, payments, refunds, disputes, gift cards, codes,
//! stock, redaction, merges and imports, with faults of the table, lost answers, processes that end, and messages
//! that are lost or come twice. All requests are HTTP, without a socket; the clock is the simulation's.
//!
//! A small model knows only what must be true in the end: money in is money out and money held, stock is conserved,
//! a cart becomes one order, codes and uses are counted, every event has arrived and those of an entity in order,
//! one request has one effect, and nothing is a server error.
//!
//! - [`Sequence::of`]: what sixteen people and machines do, by a seed.
//! - [`Base`]: the store that each begins with, prepared once; [`World`]: a system with what it talks to.
//! - [`run`]: a sequence, and what was wrong; [`shrink`]: the shortest that still fails.
//! - [`Plant`]: bugs that are planted beside the system, to show that they are found.
//! - [`simulate`]: many seeds, on all cores.

mod actions;
mod background;
mod base;
mod check;
mod client;
mod many;
mod model;
mod network;
mod plant;
mod random;
mod run;
mod shrink;
mod step;
mod world;

pub use base::Base;
pub use many::{Failure, Outcome, Seeds, simulate};
pub use plant::Plant;
pub use run::{Ran, run};
pub use shrink::shrink;
pub use step::{Sequence, Step};
pub use world::World;
