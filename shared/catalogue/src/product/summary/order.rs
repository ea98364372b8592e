//! The sort orders of product lists. Each is an index, read in one direction or the other; the same
//! keys sort summaries that are already in memory.

use core_types::id::{ProductId, StoreId};
use core_types::key;
use core_types::money::MAX_AMOUNT;
use table::Query;
use table::item::Index;

use super::ProductSummary;
use crate::words;

/// The characters of a title that are compared (our choice); the id decides among equal ones.
const TITLE: usize = 60;

/// A sort order of a list of products. The id decides among equals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryOrder {
    /// The newest first.
    Newest,
    /// The oldest first.
    Oldest,
    /// By lowest price, the cheapest first.
    PriceAscending,
    /// By lowest price, the dearest first.
    PriceDescending,
    /// By title, regardless of case and accents.
    Title,
    /// The best rated first.
    BestRated,
}

/// What the orders compare of a product.
#[derive(Debug, Clone, Copy)]
pub struct SortFields<'a> {
    /// The product's id, which sorts by creation.
    pub id: &'a ProductId,
    /// The title.
    pub title: &'a str,
    /// The lowest price of its variants, in minor units.
    pub price: i64,
    /// The number of its reviews, and the sum of their stars.
    pub rating: (u64, u64),
}

impl<'a> From<&'a ProductSummary> for SortFields<'a> {
    fn from(summary: &'a ProductSummary) -> Self {
        Self {
            id: summary.id(),
            title: &summary.title,
            price: summary.price_min(),
            rating: (summary.rating_count, summary.rating_sum),
        }
    }
}

impl SummaryOrder {
    /// The index that has this order.
    pub const fn index(self) -> Index {
        match self {
            Self::Newest | Self::Oldest => Index::Gsi1,
            Self::PriceAscending | Self::PriceDescending => Index::Gsi2,
            Self::Title => Index::Gsi4,
            Self::BestRated => Index::Gsi7,
        }
    }

    /// The query for a store's active products, in this order.
    pub fn query(self, store: &StoreId) -> Query {
        let query = Query::index(self.index(), key::summaries_in(store));
        if matches!(self, Self::Newest | Self::PriceDescending) {
            query.newest_first()
        } else {
            query
        }
    }

    /// The sort key of a product: text that ascends in this order.
    pub fn key<'a>(self, product: impl Into<SortFields<'a>>) -> String {
        let SortFields { id, title, price, rating } = product.into();
        match self {
            Self::Newest => newest_first(id),
            Self::Oldest => id.digits().to_owned(),
            Self::PriceAscending => format!("{price:011}#{}", id.digits()),
            Self::PriceDescending => {
                format!("{:011}#{}", MAX_AMOUNT.saturating_sub(price), newest_first(id))
            }
            // No title has two blanks, so a title comes before those that it is a prefix of.
            Self::Title => format!("{}  {}", words::sort_key(title, TITLE), id.digits()),
            Self::BestRated => {
                format!("{:05}#{}", 10_000_u64.saturating_sub(score(rating)), id.digits())
            }
        }
    }
}

/// The rating of a product for sorting, in thousandths of a star. Five reviews of three stars are added
/// to every product, so that one review of 5 does not beat a hundred of 4.9 (our choice).
fn score((count, sum): (u64, u64)) -> u64 {
    let sum = sum.saturating_add(15).saturating_mul(1_000);
    sum.checked_div(count.saturating_add(5)).unwrap_or(0)
}

/// The digits of an id, mirrored so that the newest product sorts first.
pub fn newest_first(id: &ProductId) -> String {
    mirrored(id.digits())
}

/// The id whose [`newest_first`] digits these are.
pub fn id_of(newest_first: &str) -> Option<ProductId> {
    ProductId::parse(&format!("{}{}", ProductId::PREFIX, mirrored(newest_first)))
}

/// Hexadecimal digits, each replaced by its complement to `f`.
fn mirrored(digits: &str) -> String {
    let mirror = |c: char| {
        let digit =
            c.to_digit(16).and_then(|digit| char::from_digit(15_u32.saturating_sub(digit), 16));
        digit.unwrap_or(c)
    };
    digits.chars().map(mirror).collect()
}

#[cfg(test)]
mod tests {
    use primitives::clock::Timestamp;

    use super::*;
    use crate::product::tests::product;
    use crate::product::{Product, ProductStatus};

    fn summary(title: &str, prices: &[i64], (count, sum): (u64, u64), at: i64) -> ProductSummary {
        ProductSummary::of(
            &Product {
                id: ProductId::mint(Timestamp::from_millis(at)),
                title: title.into(),
                status: ProductStatus::Active,
                prices: prices.to_vec(),
                rating_count: count,
                rating_sum: sum,
                ..product()
            },
            &[],
        )
    }

    #[test]
    fn keys_ascend_in_their_order() {
        let summaries = [
            summary("Éclair", &[500, 900], (0, 0), 1_000),
            summary("eclair 2", &[100], (1, 5), 2_000),
            summary("Zebra", &[MAX_AMOUNT], (100, 490), 3_000),
            summary("apple", &[0], (4, 4), 4_000),
        ];
        for (order, expected) in [
            (SummaryOrder::Oldest, ["Éclair", "eclair 2", "Zebra", "apple"]),
            (SummaryOrder::Newest, ["apple", "Zebra", "eclair 2", "Éclair"]),
            (SummaryOrder::PriceAscending, ["apple", "eclair 2", "Éclair", "Zebra"]),
            (SummaryOrder::PriceDescending, ["Zebra", "Éclair", "eclair 2", "apple"]),
            (SummaryOrder::Title, ["apple", "Éclair", "eclair 2", "Zebra"]),
            (SummaryOrder::BestRated, ["Zebra", "eclair 2", "Éclair", "apple"]),
        ] {
            let mut sorted: Vec<&ProductSummary> = summaries.iter().collect();
            sorted.sort_by_key(|summary| order.key(*summary));
            let titles: Vec<&str> = sorted.iter().map(|summary| summary.title.as_str()).collect();
            assert_eq!(titles, expected, "{order:?}");
        }
    }

    #[test]
    fn mirrored_ids_are_found_again() {
        let id = ProductId::mint(Timestamp::from_millis(7));
        assert_eq!(id_of(&newest_first(&id)), Some(id));
        assert_eq!(id_of("x"), None);
    }
}
