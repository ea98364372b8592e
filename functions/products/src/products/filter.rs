//! Filters of a list of products.

use std::collections::{BTreeMap, HashSet};

use catalogue::collection::{self, Collection, ComparableProduct};
use catalogue::product::{Product, ProductStatus, ProductSummary};
use core_types::fields::MetadataFilter;
use core_types::id::{CollectionId, ProductId};
use primitives::clock::Timestamp;
use primitives::fields::{FromText, Text, Violation};
use primitives::input::{Given, Rules, request};
use primitives::problem::{FieldError, Problem};
use services::Services;

use super::members;

/// At most 100 product ids, separated by commas. Repeated ids count once.
#[derive(Debug, Clone)]
pub struct ProductIds(pub(super) Vec<ProductId>);

impl FromText for ProductIds {
    const EXPECTS: &'static str = "ids separated by commas";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let mut ids: Vec<ProductId> = Vec::new();
        for id in text.split(',').map(str::trim).filter(|id| !id.is_empty()) {
            let id = ProductId::from_text(id)?;
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        if ids.len() > 100 {
            return Err(Violation::new("too_many", "Must be at most 100 ids."));
        }
        Ok(Self(ids))
    }
}

primitives::text_field!(ProductIds);
primitives::string_schema!(ProductIds);

/// Filters of a list of products. A product must match all of them.
#[request]
#[derive(Debug)]
pub struct ListQuery {
    /// Only products with this status.
    pub(super) status: Option<ProductStatus>,
    /// Only products of this collection. A manual collection's products come in its own order.
    pub(super) collection_id: Option<CollectionId>,
    /// Only products of this vendor. Case is ignored.
    pub(super) vendor: Option<Text<1, 100>>,
    /// Only products with this tag. Case is ignored.
    pub(super) tag: Option<Text<1, 40>>,
    /// Search words. Each must be the beginning of a word in the title, SKUs, vendor, type or tags. Case
    /// and accents are ignored; `wi-fi` and `wifi` find each other. Matches in the title come first. Text
    /// without a word matches all products.
    pub(super) q: Option<Text<0, 100>>,
    /// The product whose variant has this SKU, together with that variant. Case is ignored. Not allowed
    /// with `barcode`, `collection_id`, `ids` or `q`.
    pub(super) sku: Option<Text<1, 100>>,
    /// Products whose variants have this barcode: one entry for each such variant. Case is ignored. Not
    /// allowed with `collection_id`, `ids` or `q`.
    pub(super) barcode: Option<Text<1, 64>>,
    /// Only products with this metadata entry, written as `name:text`. Not allowed with `q`.
    pub(super) metadata: Option<MetadataFilter>,
    /// Only products that were updated at this time or later.
    pub(super) updated_since: Option<Timestamp>,
    /// Up to 100 product ids, separated by commas. The products come in this order.
    pub(super) ids: Option<ProductIds>,
}

impl Rules for ListQuery {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        let others = ["collection_id", "ids", "q"];
        let clash = |name: &str, others: &[&str]| {
            let other = others.iter().find(|other| given.has(name) && given.has(other))?;
            let detail = format!("Cannot be combined with `{other}`.");
            Some(FieldError::new(format!("/{name}"), "not_combined", detail))
        };
        let sku = clash("sku", &others).or_else(|| clash("sku", &["barcode"]));
        let words = clash("metadata", &["q"]);
        sku.into_iter().chain(clash("barcode", &others)).chain(words).collect()
    }
}

/// The fields of a product that filters read.
pub(super) struct FilterFields<'a> {
    status: ProductStatus,
    vendor: Option<&'a str>,
    tags: &'a [String],
    /// `None` for a product summary, which holds no metadata.
    metadata: Option<&'a BTreeMap<String, String>>,
    updated_at: Timestamp,
}

impl<'a> From<&'a Product> for FilterFields<'a> {
    fn from(product: &'a Product) -> Self {
        let Product { status, vendor, tags, updated_at, .. } = product;
        let (vendor, metadata) = (vendor.as_deref(), Some(&product.metadata));
        Self { status: *status, vendor, tags, metadata, updated_at: *updated_at }
    }
}

impl<'a> From<&'a ProductSummary> for FilterFields<'a> {
    fn from(summary: &'a ProductSummary) -> Self {
        let ProductSummary { status, vendor, tags, updated_at, .. } = summary;
        let (vendor, metadata) = (vendor.as_deref(), None);
        Self { status: *status, vendor, tags, metadata, updated_at: *updated_at }
    }
}

impl ListQuery {
    pub(super) fn matches<'a>(&self, product: impl Into<FilterFields<'a>>) -> bool {
        let product = product.into();
        let same = |wanted: &str, text: &str| wanted.to_lowercase() == text.to_lowercase();
        let vendor = |wanted: &Text<1, 100>| {
            product.vendor.is_some_and(|vendor| same(wanted.as_str(), vendor))
        };
        let tag = |wanted: &Text<1, 40>| product.tags.iter().any(|tag| same(wanted.as_str(), tag));
        self.status.is_none_or(|status| product.status == status)
            && self.vendor.as_ref().is_none_or(vendor)
            && self.tag.as_ref().is_none_or(tag)
            && self
                .metadata
                .as_ref()
                .is_none_or(|wanted| product.metadata.is_some_and(|own| wanted.takes(own)))
            && self.updated_since.is_none_or(|since| product.updated_at >= since)
    }
}

/// The products that a collection filter admits; all without a collection.
pub(super) enum MembershipFilter {
    Everything,
    Listed(HashSet<ProductId>),
    Automated(Box<Collection>),
}

impl MembershipFilter {
    pub(super) async fn of(
        services: &Services,
        collection: Option<Collection>,
    ) -> Result<Self, Problem> {
        let Some(collection) = collection else { return Ok(Self::Everything) };
        Ok(match members(services, &collection).await? {
            Some(listed) => Self::Listed(listed.into_iter().collect()),
            None => Self::Automated(Box::new(collection)),
        })
    }

    pub(super) fn contains<'a>(
        &self,
        id: &ProductId,
        product: impl Into<ComparableProduct<'a>>,
    ) -> bool {
        match self {
            Self::Everything => true,
            Self::Listed(listed) => listed.contains(id),
            Self::Automated(collection) => {
                collection::matches_rules(&collection.rules, collection.mode, product)
            }
        }
    }
}
