//! Themes: from a package to what a storefront is shown in, and back.

mod editing;
mod lifecycle;
mod malformed_requests;
mod marketplace;
mod packages;
mod pages;
mod previews;
mod public;
mod purchases;
mod races;
mod releases;
mod sale;
mod sections;
mod shopify;
mod unverified_purchases;
