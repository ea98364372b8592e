//! The catalogue of a store: its products, their stock, and the content of its pages.
//!
//! - A [`product`] and its variants, in [`collection`]s and a [`category`], with [`related_products`].
//! - [`inventory`]: the stock of each variant at each [`location`].
//! - [`search`]: the index that finds products; [`words`]: normalized text for search and sorting.
//! - [`facets`]: the index by which lists are filtered, and the products of each value counted.
//! - Pages: [`navigation`], [`policy`], [`media`] over [`blob`]s.
//! - [`workflows`]: writes of products and of stock.
//! - Content from customers: [`review`], [`form`], [`wishlist`].

pub mod blob;
pub mod category;
pub mod collection;
pub mod facets;
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
