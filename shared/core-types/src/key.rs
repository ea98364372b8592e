//! Every key of the table (docs/data-model.md), one file per room: a room spells its keys there, and
//! there alone. They are one list to those who use them, because they share one table: two rooms
//! cannot give two keys the same name. `<t>` is a [`Timestamp`](gateway::clock::Timestamp) as text.

mod catalogue;
mod delivery;
mod identity;
mod platform;
mod reliability;
mod sales;
mod themes;
mod transfers;

use gateway::item::{Index, Key};

pub use catalogue::*;
pub use delivery::*;
pub use identity::*;
pub use platform::*;
pub use reliability::*;
pub use sales::*;
pub use themes::*;
pub use transfers::*;

/// An entry of a secondary index.
pub type IndexKey = (Index, Key);

fn gsi1(pk: String, sk: impl Into<String>) -> IndexKey {
    (Index::Gsi1, Key::new(pk, sk))
}

fn gsi2(pk: String, sk: impl Into<String>) -> IndexKey {
    (Index::Gsi2, Key::new(pk, sk))
}

fn gsi4(pk: String, sk: impl Into<String>) -> IndexKey {
    (Index::Gsi4, Key::new(pk, sk))
}

/// A row that holds keys alone: it is written once, and a list reads the items that it shows.
fn gsi5(pk: String, sk: impl Into<String>) -> IndexKey {
    (Index::Gsi5, Key::new(pk, sk))
}

/// Such a row of the second order.
fn gsi6(pk: String, sk: impl Into<String>) -> IndexKey {
    (Index::Gsi6, Key::new(pk, sk))
}

fn gsi7(pk: String, sk: impl Into<String>) -> IndexKey {
    (Index::Gsi7, Key::new(pk, sk))
}
