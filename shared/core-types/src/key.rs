//! Every key of the table (docs/data-model.md), one file per domain crate, which builds its keys there alone.
//! The files form one namespace, because they share one table: two crates cannot give two keys the same name.
//! [`list`] has the partitions of its indexes. `<t>` is a [`Timestamp`](primitives::clock::Timestamp) as text.

mod catalogue;
mod delivery;
mod identity;
pub mod list;
mod platform;
mod reliability;
mod sales;
mod themes;
mod transfers;

use table::item::{Index, Key};

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

/// An entry of a keys-only index: it is written once, and a list reads the items of its page.
fn gsi5(pk: String, sk: impl Into<String>) -> IndexKey {
    (Index::Gsi5, Key::new(pk, sk))
}

/// An entry of the second keys-only index.
fn gsi6(pk: String, sk: impl Into<String>) -> IndexKey {
    (Index::Gsi6, Key::new(pk, sk))
}

fn gsi7(pk: String, sk: impl Into<String>) -> IndexKey {
    (Index::Gsi7, Key::new(pk, sk))
}
