//! What of a product says which others are like it.

use core_types::id::CategoryId;
use serde::{Deserialize, Serialize};

use super::{Product, ProductSummary};

/// Tags that likeness is validated by (our choice).
const MAX_TAGS: usize = 10;

/// What a product is likened by, which is known before it is read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Outline {
    /// Where it belongs.
    pub category_id: Option<CategoryId>,
    /// What it is, in the merchant's words.
    pub product_type: Option<String>,
    /// Who makes it.
    pub vendor: Option<String>,
    /// The first of its tags.
    pub tags: Vec<String>,
}

impl Outline {
    /// How much two products have in common: category before type before maker, and the tags.
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
    /// What it is likened by.
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
    /// What it is likened by.
    pub fn outline(&self) -> Outline {
        Outline {
            category_id: self.category_id.clone(),
            product_type: self.product_type.clone(),
            vendor: self.vendor.clone(),
            tags: self.tags.iter().take(MAX_TAGS).cloned().collect(),
        }
    }
}
