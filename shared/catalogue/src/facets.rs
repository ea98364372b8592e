//! The facet index of a store: what its lists are filtered and sorted by, of all of its visible products.
//!
//! - *One short row a product* ([`FacetRow`]), some 50 to 80 bytes when packed, with the options, the price and the
//!   stock of each variant. Rows lie in chunks ([`FacetChunk`]) by the product's id, each for a range of ids. A chunk
//!   that has become too large is split, so that a product's change costs the same in every store.
//! - *Kept by the stream*: `dispatcher` sees every change of a product's summary, which covers prices, texts, status,
//!   stock and ratings. It reads the product as it is now and replaces its row ([`refresh`]). A repetition changes
//!   nothing; of two at once, the chunk's version makes the slower one read again.
//! - *Walked once a day*: a walk ([`step`]) over all products builds the index of an older store, and afterwards finds
//!   what the stream has lost.
//! - *Read whole* ([`load`]): one query, cached by each process. The head's version says whether it is still current.
//!
//! [`FacetFilter::count`] filters the rows and counts the products of each value.

mod count;
mod filter;
mod index;
mod items;
mod row;
mod update;

pub use count::{Counted, FacetValue, Facets, OptionFacet};
pub use filter::FacetFilter;
pub use index::{FacetIndex, MAX_PRODUCTS, load};
pub use items::{FacetChunk, FacetHead, FacetWalk};
pub use row::{FacetRow, FacetVariant};
pub use update::{refresh, step};
