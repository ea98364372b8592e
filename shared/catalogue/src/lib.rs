//! What a store shows, and what it has in stock.
//!
//! - A [`product`] and its variants, in [`collection`]s and a [`category`]; [`related_products`] are
//!   shown beside it.
//! - [`inventory`]: how many there are, at each [`location`].
//! - [`search`]: what products are found by; [`words`]: what that and their order is made of.
//! - Pages: [`navigation`], [`policy`], [`media`] over [`blob`]s.
//! - [`workflows`]: products and stock as they are written.
//! - What customers say: [`review`], [`form`], [`wishlist`].

pub mod blob;
pub mod category;
pub mod collection;
pub mod form;
pub mod inventory;
pub mod location;
pub mod media;
pub mod navigation;
pub mod policy;
pub mod product;
pub mod related_products;
pub mod review;
pub mod search;
pub mod wishlist;
pub mod words;
pub mod workflows;
