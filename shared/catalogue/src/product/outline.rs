//! Outlines: the attributes by which similar products are found.

use core_types::id::CategoryId;
use serde::{Deserialize, Serialize};

use super::{Product, ProductSummary};

/// The tags of a product that similarity is computed from (our choice).
const MAX_TAGS: usize = 10;

/// The attributes by which a product is compared with others. They are also stored with its handle
/// ([`UniqueProductHandle`](super::UniqueProductHandle)), and so are known before the product is read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Outline {
    /// Its category.
    pub category_id: Option<CategoryId>,
    /// The product type, in the merchant's words.
    pub product_type: Option<String>,
    /// The vendor or manufacturer.
    pub vendor: Option<String>,
    /// The first ten of its tags.
    pub tags: Vec<String>,
}

impl Outline {
    /// The similarity of two products: 8 points for the category, 4 for the type, 2 for the vendor, and
    /// 1 for each tag in common.
    pub(crate) fn likeness(&self, other: &Self) -> usize {
        let same = |own: &Option<String>, other: &Option<String>| own.is_some() && own == other;
        let category = self.category_id.is_some() && self.category_id == other.category_id;
        let points = [
            (category, 8),
            (same(&self.product_type, &other.product_type), 4),
            (same(&self.vendor, &other.vendor), 2),
        ];
        let points = points.iter().filter(|(holds, _)| *holds).map(|(_, points)| points);
        let tags = other.tags.iter().filter(|tag| self.tags.contains(tag)).count();
        tags.saturating_add(points.sum::<usize>())
    }
}

impl ProductSummary {
    /// The outline of its product.
    pub(crate) fn outline(&self) -> Outline {
        Outline {
            category_id: self.category_id.clone(),
            product_type: self.product_type.clone(),
            vendor: self.vendor.clone(),
            tags: self.tags.iter().take(MAX_TAGS).cloned().collect(),
        }
    }
}

impl Product {
    /// Its outline.
    pub fn outline(&self) -> Outline {
        Outline {
            category_id: self.category_id.clone(),
            product_type: self.product_type.clone(),
            vendor: self.vendor.clone(),
            tags: self.tags.iter().take(MAX_TAGS).cloned().collect(),
        }
    }
}
