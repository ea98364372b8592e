//! What a shopper asks a list of products for.

use std::collections::HashSet;

use catalogue::collection::{Collection, SortOrder, holds};
use catalogue::product::Product;
use gateway::problem::FieldError;
use gateway::request::{Flag, Given, Int, Judgement, Rules, Text, Written, request};
use ground::fields::Handle;
use ground::id::CategoryId;
use ground::money::MAX_AMOUNT;

gateway::words! {
    /// The order of a list of products.
    ProductSort {
        /// The newest first.
        Newest = "-created_at",
        /// The oldest first.
        Oldest = "created_at",
        /// The cheapest first.
        Cheapest = "price",
        /// The dearest first.
        Dearest = "-price",
        /// By title.
        Title = "title",
        /// The best rated first.
        Best = "best",
    }
}

/// Which products, in which order.
#[request]
#[derive(Debug)]
pub struct ListQuery {
    /// Only products that hold every one of these words in title, vendor, type or tags.
    pub q: Option<Text<1, 100>>,
    /// Only this category and those below it.
    pub category: Option<Handle>,
    /// Only this collection; in its own order, unless `sort` says another.
    pub collection: Option<Handle>,
    /// Only products with this tag, whatever its case.
    pub tag: Option<Text<1, 255>>,
    /// Only products with a variant for this much or more, in minor units; with `max_price`, one
    /// between the two.
    pub min_price: Option<Written<Int<0, MAX_AMOUNT>>>,
    /// Only products with a variant for this much or less, in minor units.
    pub max_price: Option<Written<Int<0, MAX_AMOUNT>>>,
    /// Only products that can be bought now, or may be; or, with `false`, that cannot.
    pub in_stock: Option<Written<Flag>>,
    /// The order; the newest first unless said otherwise.
    pub sort: Option<ProductSort>,
}

impl Rules for ListQuery {
    async fn broken(given: Given<'_>, _: &Judgement<'_>) -> Vec<FieldError> {
        let price = |name: &str| Some(given.get::<Written<Int<0, MAX_AMOUNT>>>(name)?.0.0);
        match price("min_price").zip(price("max_price")) {
            Some((min, max)) if min > max => {
                let detail = "Must not be below `min_price`.";
                vec![FieldError::new("/max_price", "below_min_price", detail)]
            }
            _ => Vec::new(),
        }
    }
}

/// Which products pass.
#[derive(Debug)]
pub struct Filter {
    words: Vec<String>,
    tag: Option<String>,
    min_price: Option<i64>,
    max_price: Option<i64>,
    /// Any of these categories.
    categories: Option<HashSet<CategoryId>>,
    /// What the rules of this automated collection hold.
    automated: Option<Collection>,
}

impl Filter {
    /// What is asked for, with the categories and the automated collection it names.
    pub fn new(
        ask: &ListQuery,
        categories: Option<HashSet<CategoryId>>,
        automated: Option<Collection>,
    ) -> Self {
        let words = ask.q.as_ref().map(|q| q.as_str().to_lowercase()).unwrap_or_default();
        Self {
            words: words.split_whitespace().map(str::to_owned).collect(),
            tag: ask.tag.as_ref().map(|tag| tag.as_str().to_lowercase()),
            min_price: ask.min_price.map(|Written(Int(amount))| amount),
            max_price: ask.max_price.map(|Written(Int(amount))| amount),
            categories,
            automated,
        }
    }

    /// Whether every visible product passes: then an index serves the list as it is.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
            && self.tag.is_none()
            && self.min_price.is_none()
            && self.max_price.is_none()
            && self.categories.is_none()
            && self.automated.is_none()
    }

    /// Whether shoppers who ask for this see the product.
    pub fn admits(&self, product: &Product) -> bool {
        let is_tagged = |tag: &String| product.tags.iter().any(|own| own.to_lowercase() == *tag);
        let category = product.category_id.as_ref();
        let among = |wanted: &HashSet<_>| category.is_some_and(|own| wanted.contains(own));
        product.is_visible()
            && self.costs(product)
            && self.categories.as_ref().is_none_or(among)
            && self.tag.as_ref().is_none_or(is_tagged)
            && self.holds_words(product)
            && self
                .automated
                .as_ref()
                .is_none_or(|collection| holds(&collection.rules, collection.mode, product))
    }

    /// Whether some variant costs as much as is asked for.
    fn costs(&self, product: &Product) -> bool {
        let (min, max) = (self.min_price.unwrap_or(0), self.max_price.unwrap_or(MAX_AMOUNT));
        product.prices.iter().any(|price| (min..=max).contains(price))
    }

    fn holds_words(&self, product: &Product) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let texts = [Some(&product.title), product.vendor.as_ref(), product.product_type.as_ref()];
        let texts = texts.into_iter().flatten().chain(&product.tags);
        let text = texts.map(|text| text.to_lowercase()).collect::<Vec<_>>().join("\n");
        self.words.iter().all(|word| text.contains(word))
    }
}

impl ProductSort {
    /// The order that a merchant chose for a collection; none when it is the collection's own.
    pub fn of(order: SortOrder) -> Option<Self> {
        match order {
            SortOrder::Manual => None,
            SortOrder::Newest => Some(Self::Newest),
            SortOrder::Oldest => Some(Self::Oldest),
            SortOrder::Cheapest => Some(Self::Cheapest),
            SortOrder::Dearest => Some(Self::Dearest),
            SortOrder::Title => Some(Self::Title),
        }
    }

    /// What sorts a product, as text that sorts so; the id decides among equals.
    pub fn key(self, product: &Product) -> String {
        let id = &product.id;
        let dear = MAX_AMOUNT.saturating_sub(product.price_max());
        match self {
            Self::Oldest => format!("{}#{id}", product.created_at),
            Self::Newest => {
                let age = i64::MAX.saturating_sub(product.created_at.millis());
                format!("{age:020}#{id}")
            }
            Self::Cheapest => format!("{:012}#{id}", product.price_min()),
            Self::Dearest => format!("{dear:012}#{id}"),
            Self::Title => format!("{}#{id}", product.title.to_lowercase()),
            Self::Best => format!("{:08}#{id}", 10_000_u64.saturating_sub(score(product))),
        }
    }
}

/// How good a product is rated, in thousandths of a star. Five reviews of three stars are added to
/// everybody's, so that one review of five does not beat a hundred of 4.9 (our choice).
fn score(product: &Product) -> u64 {
    let sum = product.rating_sum.saturating_add(15).saturating_mul(1_000);
    sum.checked_div(product.rating_count.saturating_add(5)).unwrap_or(0)
}
