//! The objects of templates, built from the public answers of the storefront API. Their members have the
//! names of Shopify's reference; what has no meaning here is empty.

pub(crate) mod cart;
pub(crate) mod collection;
pub(crate) mod color;
pub(crate) mod customer;
pub(crate) mod font;
pub(crate) mod links;
pub(crate) mod media;
pub(crate) mod plain;
pub(crate) mod product;
pub(crate) mod record;
pub(crate) mod request;
pub(crate) mod store;
pub(crate) mod suggestions;
pub(crate) mod swatch;
